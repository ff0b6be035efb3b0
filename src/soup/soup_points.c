/* SPDX-License-Identifier: MIT */
/* Point queries: the nearest face, and the winding number of the soup around a point.
 *
 * Nearest face: boxes are opened in order of distance, up to the best distance so far
 * (bvh_nearest_cpu.c). Faces are compared by distances in doubles. All faces within the error of
 * the least distance are kept, and at the end exact comparisons (nearer.h) find the nearest of
 * them, or the one with the lowest index if several are equally near. The search continues up to
 * the least distance plus that error, and the distance of a box is a lower bound, so none of them
 * is missed.
 *
 * Winding number: a ray is cast upwards from the point, and each face it crosses counts with the
 * sign of its orientation. The point is perturbed symbolically by (epsilon, epsilon^2) across the
 * ray, so the ray never passes through an edge or a corner, and exact signs decide every crossing
 * (simulation of simplicity: Edelsbrunner, Muecke 1990). Points on the soup itself are detected
 * first, exactly. */
#include "base/progress.h"
#include "bvh/bvh_cpu.h"
#include "bvh/bvh_nearest_cpu.h"
#include "geom/distance_item.h"
#include "geom/nearer.h"
#include "soup/soup.h"

#define POINTS_PER_RANGE 16u

static carom_status check_points(carom_context *context, const carom_vec3 *points, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i)
        if (!isfinite(points[i].x) || !isfinite(points[i].y) || !isfinite(points[i].z))
            return carom_fail(context, CAROM_BAD_INPUT,
                              "point %llu is not finite: leave it out or mend it",
                              (unsigned long long)i);
    return CAROM_OK;
}

/* A point in the frame of the soup's boxes; infinite if it overflows. */
static void to_frame(const carom_soup *soup, carom_vec3 p, double out[3]) {
    out[0] = p.x * soup->scale - soup->origin.x;
    out[1] = p.y * soup->scale - soup->origin.y;
    out[2] = p.z * soup->scale - soup->origin.z;
}

/* ---- Nearest face ---------------------------------------------------------------------------- */

/* Beyond this distance boxes cannot distinguish which face is nearest. */
#define FARTHEST 0x1p200

typedef struct nearest {
    carom_context *context;
    const carom_soup *soup;
    const carom_vec3 *points;
    carom_soup_hit *hits;
} nearest;

/* A candidate for the nearest face. */
typedef struct candidate {
    carom_soup_hit hit;
    uint32_t place;
} candidate;

/* About six faces meet at a corner. If there are more candidates, they are reduced to the nearest.
 */
#define MOST_CANDIDATES 16u

/* The search for one point. Distances are compared in the frame of the boxes, where they do not
 * overflow. */
typedef struct seeker {
    carom_context *context;
    const carom_soup *soup;
    carom_vec3 point;
    double error; /* upper bound of the sum of the errors of two distances */
    double least; /* of all distances */
    uint32_t worker, offers, count;
    candidate candidates[MOST_CANDIDATES]; /* all faces within least + error */
} seeker;

/* The error relative to the size of soup and point per axis. The extent of point and face is at
 * most 2 sqrt(3) of the size, so two distances with an error of 1e-15 of their extents have a total
 * error of 7e-15 of the size; this is four times as much. */
#define DISTANCE_ERROR 0x1p-45

/* From the centre of a sphere all faces are about equally near, so the clock is checked now and
 * then. */
#define OFFERS_PER_LOOK 1024u

static carom_triangle triangle_at(const seeker *s, uint32_t place) {
    return carom_soup_triangle(s->soup, s->soup->placed + 3 * (uint64_t)place);
}

/* Whether doubles show that a distance is not the least. */
static bool too_far(const seeker *s, double distance) {
    return distance * s->soup->scale > s->least + s->error;
}

/* Reduces the candidates to the nearest one, the lowest of those equally near. Triangles are in the
 * order of their faces. */
static void choose(seeker *s) {
    const uint32_t *items = s->soup->bvh.items;
    const candidate *best = NULL;
    carom_triangle nearest;
    for (const candidate *c = s->candidates; c < s->candidates + s->count; ++c) {
        if (too_far(s, c->hit.distance)) continue;
        carom_triangle t = triangle_at(s, c->place);
        if (best == NULL ||
            (items[c->place] < items[best->place] ? carom_not_farther(s->point, &t, &nearest)
                                                  : !carom_not_farther(s->point, &nearest, &t))) {
            best = c;
            nearest = t;
        }
    }
    /* One is left: the face of the least distance, or one found to be as near or nearer. */
    s->candidates[0] = *best;
    s->count = 1;
}

static double offer(void *user, uint32_t place) {
    seeker *s = user;
    const carom_soup *soup = s->soup;
    if (++s->offers % OFFERS_PER_LOOK == 0 && carom_progress_stop(s->context, s->worker))
        return -1.0; /* nothing can be nearer: the search ends */
    carom_triangle t = triangle_at(s, place);
    carom_closest closest;
    carom_near_point_triangle(s->point, t.corner, &closest);
    if (!too_far(s, closest.distance)) {
        double distance = closest.distance * soup->scale; /* may underflow */
        if (distance + s->error < s->least) s->count = 0;
        if (s->count == MOST_CANDIDATES) choose(s);
        if (distance < s->least) s->least = distance;
        uint32_t face = carom_soup_face(soup, soup->bvh.items[place]);
        s->candidates[s->count++] = (candidate){{face, closest.distance, closest.b}, place};
    }
    double limit = s->least + s->error;
    return limit <= FARTHEST ? limit : HUGE_VAL;
}

/* Distances are computed relative to the point. For a distant point this rounds the face's corners,
 * and the closest point may lie beside the face. Then it is computed again relative to the face. */
static void settle_point(const seeker *s, candidate *best) {
    carom_triangle t = triangle_at(s, best->place);
    const carom_vec3 *p = t.corner;
    double away = carom_vec_largest(carom_vec_sub(s->point, p[0]));
    double size = carom_vec_largest(carom_vec_sub(p[1], p[0]));
    size = CAROM_MAX(carom_vec_largest(carom_vec_sub(p[2], p[0])), size);
    if (!(away > 2.0 * size)) return;
    carom_triangle point = {{s->point, s->point, s->point}};
    carom_closest closest;
    carom_near_triangles(p, point.corner, &closest);
    best->hit.point = closest.a;
}

static carom_soup_hit find_nearest(const nearest *n, carom_vec3 point, uint32_t worker) {
    seeker s;
    s.context = n->context;
    s.soup = n->soup;
    s.point = point;
    s.worker = worker;
    s.offers = s.count = 0;
    s.least = HUGE_VAL;
    carom_bvh_point at;
    to_frame(n->soup, point, at.at);
    double size = 0.0;
    for (int k = 0; k < 3; ++k) {
        double low = (double)n->soup->bounds.low[k], high = (double)n->soup->bounds.high[k];
        size = CAROM_MAX(fabs(at.at[k]), size);
        size = CAROM_MAX(CAROM_MAX(fabs(low), fabs(high)), size);
    }
    at.margin = 0x1p-46 * size;
    /* The distances themselves are rounded to multiples of 2^-1074; 2^-1000 exceeds the error of an
     * underflow in the frame. */
    s.error = DISTANCE_ERROR * size + (0x1p-1073 * n->soup->scale + 0x1p-1000);
    if (!(size <= FARTHEST)) { /* every box may contain the nearest face */
        at.at[0] = at.at[1] = at.at[2] = 0.0;
        at.margin = FARTHEST;
        s.error = HUGE_VAL;
    }
    CAROM_CPU_CALL(n->context, carom_bvh_nearest)(&n->soup->bvh, &at, HUGE_VAL, offer, &s);
    if (s.count == 0) return (carom_soup_hit){CAROM_NO_FACE, HUGE_VAL, point};
    if (s.count > 1) choose(&s);
    settle_point(&s, &s.candidates[0]);
    return s.candidates[0].hit;
}

static carom_status nearest_range(void *argument, carom_range range) {
    nearest *n = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        n->hits[i] = find_nearest(n, n->points[i], range.worker);
        if (carom_progress_stop(n->context, range.worker)) return CAROM_CANCELLED;
    }
    return CAROM_OK;
}

carom_status carom_soup_closest_points(carom_context *context, const carom_soup *soup,
                                       const carom_vec3 *points, uint64_t count,
                                       carom_soup_hit *hits) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(soup != NULL, "the soup is NULL");
    CAROM_REQUIRE(count == 0 || (points != NULL && hits != NULL), "points or hits are NULL");
    CAROM_TRY(carom_soup_check_ready(context, soup));
    CAROM_TRY(check_points(context, points, count));
    nearest n = {context, soup, points, hits};
    return carom_parallel_phase(context, "finding nearest faces", count, POINTS_PER_RANGE,
                                nearest_range, &n);
}

/* ---- Winding number -------------------------------------------------------------------------- */

typedef struct windings {
    carom_context *context;
    const carom_soup *soup;
    const carom_vec3 *points;
    int32_t *results;
} windings;

typedef struct count {
    const carom_soup *soup;
    carom_vec3 point;
    int32_t winding;
    bool on_surface;
} count;

/* The side of the line a b, seen from above, on which the perturbed point lies; 0 only if a and b
 * project to the same point. */
static int moved_side(carom_vec3 a, carom_vec3 b, carom_vec3 p) {
    int side = carom_orient2d(a.x, a.y, b.x, b.y, p.x, p.y);
    if (side != 0) return side;
    if (a.y != b.y) return a.y > b.y ? 1 : -1;
    return (b.x > a.x) - (b.x < a.x);
}

static void count_face(count *c, const carom_triangle *t) {
    const carom_vec3 *p = t->corner;
    carom_triangle point;
    point.corner[0] = point.corner[1] = point.corner[2] = c->point;
    double low = CAROM_MIN(CAROM_MIN(p[0].z, p[1].z), p[2].z);
    if (low <= c->point.z && carom_triangle_meet(t, &point)) {
        c->on_surface = true;
        return;
    }
    int side = moved_side(p[0], p[1], c->point);
    if (side == 0 || moved_side(p[1], p[2], c->point) != side ||
        moved_side(p[2], p[0], c->point) != side)
        return;
    /* A face that is counter-clockwise seen from above faces upwards; it is crossed if the point is
     * below. */
    if (carom_orient3d(p[0], p[1], p[2], c->point) * side < 0) c->winding += side;
}

static bool count_found(carom_bvh_found *found) {
    count *c = found->user;
    for (uint32_t i = 0; i < found->count && !c->on_surface; ++i) {
        carom_triangle t =
            carom_soup_triangle(c->soup, c->soup->placed + 3 * (uint64_t)found->b[i]);
        count_face(c, &t);
    }
    found->count = 0;
    return !c->on_surface;
}

/* The box of the ray upwards from the point, rounded outwards. No box extends beyond the range of
 * floats. */
static carom_box box_above(const carom_soup *soup, carom_vec3 point) {
    double p[3];
    carom_box box;
    to_frame(soup, point, p);
    for (int k = 0; k < 3; ++k) {
        p[k] = CAROM_MIN(CAROM_MAX(p[k], -FARTHEST), FARTHEST);
        double margin = 0x1p-50 * fabs(p[k]) + (double)FLT_MIN;
        box.low[k] = carom_float_down(p[k] - margin, 0.0);
        box.high[k] = k == 2 ? HUGE_VALF : carom_float_up(p[k] + margin, 0.0);
    }
    return box;
}

static carom_status winding_range(void *argument, carom_range range) {
    windings *w = argument;
    carom_arena *scratch = carom_scratch(w->context, range.worker);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_bvh_found *found = CAROM_ARENA_TAKE(scratch, carom_bvh_found, 1);
    if (found == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        count c = {.soup = w->soup, .point = w->points[i]};
        carom_box box = box_above(w->soup, w->points[i]);
        found->count = 0;
        found->visits = 0;
        found->flush = count_found;
        found->user = &c;
        if (CAROM_CPU_CALL(w->context, carom_bvh_find_box)(&w->soup->bvh, &box, 0, found))
            (void)count_found(found);
        w->results[i] = c.on_surface ? CAROM_ON_SURFACE : c.winding;
        if (carom_progress_stop(w->context, range.worker)) break;
    }
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

carom_status carom_soup_winding(carom_context *context, const carom_soup *soup,
                                const carom_vec3 *points, uint64_t count, int32_t *results) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(soup != NULL, "the soup is NULL");
    CAROM_REQUIRE(count == 0 || (points != NULL && results != NULL), "points or windings are NULL");
    CAROM_TRY(carom_soup_check_ready(context, soup));
    CAROM_TRY(check_points(context, points, count));
    windings w = {context, soup, points, results};
    return carom_parallel_phase(context, "counting windings", count, POINTS_PER_RANGE,
                                winding_range, &w);
}
