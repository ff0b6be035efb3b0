/* SPDX-License-Identifier: MIT */
/* The first face a ray meets.
 *
 * Nodes are opened in the order in which the ray enters them; which faces it meets is decided
 * exactly (ray_item.h). A box is widened by more than the rounding of the slab test (Kay, Kajiya
 * 1986), so that no face is passed over: being right may cost a box more, never a face. */
#include "base/progress.h"
#include "geom/ray_item.h"
#include "soup/soup.h"

#define RAYS_A_RANGE 16u

typedef struct caster {
    const carom_soup *soup;
    const carom_ray *rays;
    carom_soup_hit *hits;
    carom_context *context;
} caster;

typedef struct open_node {
    double enters;
    uint32_t level, number;
} open_node;

/* A ray in the frame of the soup's boxes. */
typedef struct slabs {
    double from[3], inverse[3]; /* inverse 0: parallel to the slab */
} slabs;

/* Where the ray enters each of 16 boxes, a little too early; infinite where it misses. */
static void enter_node(const carom_bvh_node *node, const slabs *ray, double reach,
                       double enters[]) {
    for (uint32_t i = 0; i < CAROM_BVH_WIDTH; ++i) {
        double first = 0.0, last = reach;
        for (int k = 0; k < 3; ++k) {
            double low = (double)node->low[k][i], high = (double)node->high[k][i];
            double margin = 0x1p-45 * (fabs(ray->from[k]) + CAROM_MAX(fabs(low), fabs(high)));
            low -= margin;
            high += margin;
            if (ray->inverse[k] == 0.0) {
                if (!(low <= ray->from[k] && ray->from[k] <= high)) first = HUGE_VAL;
                continue;
            }
            double a = (low - ray->from[k]) * ray->inverse[k];
            double b = (high - ray->from[k]) * ray->inverse[k];
            double in = CAROM_MIN(a, b), out = CAROM_MAX(a, b);
            in -= 0x1p-45 * fabs(in);
            out += 0x1p-45 * fabs(out);
            first = CAROM_MAX(first, in);
            last = CAROM_MIN(last, out);
        }
        enters[i] = first <= last && node->low[0][i] <= node->high[0][i] ? first : HUGE_VAL;
    }
}

static void offer(const caster *c, const carom_ray_points *ray, uint32_t place, double length,
                  carom_soup_hit *best) {
    carom_triangle triangle = carom_soup_triangle(c->soup, c->soup->placed + 3 * (uint64_t)place);
    uint32_t face = carom_soup_face(c->soup, c->soup->bvh.items[place]);
    double t;
    if (!carom_ray_meet(ray, triangle.corner, &t) || t > length) return;
    if (t < best->distance || (t == best->distance && face < best->face)) {
        best->face = face;
        best->distance = t;
    }
}

static carom_soup_hit cast(const caster *c, const carom_ray *ray) {
    const carom_soup *soup = c->soup;
    const carom_bvh *bvh = &soup->bvh;
    double length = ray->length > 0.0 ? ray->length : HUGE_VAL;
    carom_soup_hit best = {CAROM_NO_FACE, HUGE_VAL, ray->origin};
    carom_ray_points points = {ray->origin, carom_vec_add(ray->origin, ray->direction)};
    carom_vec3 way = carom_vec_sub(points.through, points.from);
    const double from[3] = {ray->origin.x, ray->origin.y, ray->origin.z};
    const double step[3] = {way.x, way.y, way.z};
    const double origin[3] = {soup->origin.x, soup->origin.y, soup->origin.z};
    slabs slabs;
    for (int k = 0; k < 3; ++k) {
        slabs.from[k] = from[k] * soup->scale - origin[k];
        double scaled = step[k] * soup->scale;
        slabs.inverse[k] = scaled != 0.0 && isfinite(1.0 / scaled) ? 1.0 / scaled : 0.0;
    }
    open_node stack[CAROM_BVH_LEVELS * CAROM_BVH_WIDTH];
    double enters[CAROM_BVH_WIDTH];
    uint32_t count = 0;
    if (bvh->level_count != 0) stack[count++] = (open_node){0.0, bvh->level_count - 1, 0};
    while (count > 0) {
        open_node node = stack[--count];
        double reach = CAROM_MIN(best.distance, length) * (1.0 + 0x1p-45);
        if (node.enters > reach) continue;
        enter_node(&carom_bvh_level(bvh, node.level)[node.number], &slabs, reach, enters);
        uint32_t first = count;
        for (uint32_t i = 0; i < CAROM_BVH_WIDTH; ++i) {
            if (!(enters[i] < HUGE_VAL)) continue;
            uint32_t child = node.number * CAROM_BVH_WIDTH + i, at = count;
            if (node.level == 0) {
                offer(c, &points, child, length, &best);
                continue;
            }
            for (++count; at > first && stack[at - 1].enters < enters[i]; --at)
                stack[at] = stack[at - 1];
            stack[at] = (open_node){enters[i], node.level - 1, child};
        }
    }
    if (best.face != CAROM_NO_FACE)
        best.point = carom_vec_add(points.from, carom_vec_scale(way, best.distance));
    return best;
}

static carom_status cast_range(void *argument, carom_range range) {
    caster *c = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        c->hits[i] = cast(c, &c->rays[i]);
        if (carom_progress_stop(c->context, range.worker)) return CAROM_CANCELLED;
    }
    return CAROM_OK;
}

static carom_status check_rays(carom_context *context, const carom_ray *rays, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        const carom_ray *ray = &rays[i];
        carom_vec3 through = carom_vec_add(ray->origin, ray->direction);
        bool finite = isfinite(ray->origin.x) && isfinite(ray->origin.y) &&
                      isfinite(ray->origin.z) && isfinite(through.x) && isfinite(through.y) &&
                      isfinite(through.z) && !isnan(ray->length) && ray->length >= 0.0;
        bool moves =
            through.x != ray->origin.x || through.y != ray->origin.y || through.z != ray->origin.z;
        if (!finite || !moves)
            return carom_fail(context, CAROM_BAD_INPUT, "ray %llu %s; mend it or leave it out",
                              (unsigned long long)i,
                              finite ? "has a direction too short to leave its origin"
                                     : "is not finite or has a negative length");
    }
    return CAROM_OK;
}

carom_status carom_soup_cast_rays(carom_context *context, const carom_soup *soup,
                                  const carom_ray *rays, uint64_t count, carom_soup_hit *hits) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(soup != NULL, "the soup is NULL");
    CAROM_REQUIRE(count == 0 || (rays != NULL && hits != NULL), "rays or hits are NULL");
    CAROM_TRY(carom_soup_check_ready(context, soup));
    CAROM_TRY(check_rays(context, rays, count));
    caster c = {soup, rays, hits, context};
    return carom_parallel_phase(context, "casting rays", count, RAYS_A_RANGE, cast_range, &c);
}
