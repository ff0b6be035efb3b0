/* SPDX-License-Identifier: MIT */
/* Ray casting: the first face that a ray meets.
 *
 * The tree's boxes are visited in the order in which the ray enters them (bvh_ray_cpu.c). The box
 * test is conservative. Which faces are met, and which of them first, is decided exactly
 * (ray_item.h): in doubles where their error bounds allow it, else in integers. */
#include "bvh/bvh_ray_cpu.h"
#include "geom/ray.h"
#include "soup/soup_pairs.h"
#include "soup/soup_points.h"
#include "soup/soup_rays_item.h"

typedef struct ray_query {
    carom_soup_batch batch;
    const carom_ray *rays;
    carom_hit *hits;
    carom_ray_frame frame;
} ray_query;

/* The search for the first face of one ray. */
typedef struct soup_rays_ray_search {
    const carom_soup *soup;
    carom_ray_view view;
    double margin; /* of boxes */
    uint32_t face; /* CAROM_NONE: none met so far */
    carom_ray_hit first;
} soup_rays_ray_search;

static double soup_rays_offer(void *user, uint32_t slot) {
    soup_rays_ray_search *f = user;
    const carom_soup *soup = f->soup;
    carom_triangle triangle = carom_soup_triangle(soup, soup->slot_corners + 3 * (uint64_t)slot);
    uint32_t face = carom_soup_face(soup, soup->bvh.items[slot]);
    carom_ray_hit hit;
    if (carom_ray_meet(&f->view, triangle.corner, &hit) && carom_ray_within(&f->view, &hit)) {
        int order = f->face == CAROM_NONE ? -1 : carom_ray_compare(&f->view, &hit, &f->first);
        if (order < 0 || (order == 0 && face < f->face)) {
            f->face = face;
            f->first = hit;
        }
    }
    double end = f->view.limit_high;
    if (f->face != CAROM_NONE) end = CAROM_MIN(f->first.high, end);
    return carom_bvh_ray_limit(end, f->margin);
}

/* The normal of a face, of any length: that of its triangle whose sides at the first corner are
 * nearest to a right angle. */
static carom_vec3 face_normal(const carom_soup *soup, uint32_t face) {
    carom_soup_span span = carom_soup_span_of(soup, face);
    carom_vec3 best = carom_vec(0.0, 0.0, 0.0);
    for (uint32_t i = span.first; i < span.end; ++i) {
        carom_triangle t = carom_soup_triangle(soup, soup->corners + 3 * (uint64_t)i);
        best = carom_rays_better_normal(best, &t);
    }
    return best;
}

static carom_hit soup_rays_cast(const ray_query *q, const carom_ray *ray) {
    soup_rays_ray_search f;
    f.soup = q->batch.soup;
    f.face = CAROM_NONE;
    carom_ray_begin(ray->origin, ray->direction, ray->length, &q->frame, &f.view);
    if (f.view.misses) return carom_rays_miss(ray);
    carom_bvh_ray path = carom_rays_path(&f.view);
    f.margin = path.margin;
    double limit = carom_bvh_ray_limit(f.view.limit_high, f.margin);
    CAROM_CPU_CALL(q->batch.context, carom_bvh_cast)
    (&q->batch.soup->bvh, &path, limit, soup_rays_offer, &f);
    if (f.face == CAROM_NONE) return carom_rays_miss(ray);
    carom_hit hit = carom_rays_hit(ray, f.face, face_normal(f.soup, f.face));
    carom_ray_answer(&f.view, &f.first, &hit.distance, &hit.point);
    return hit;
}

/* The frame of the soup's boxes. */
static carom_ray_frame soup_rays_frame_of(const carom_soup *soup) {
    carom_ray_frame frame = {soup->scale, {soup->origin.x, soup->origin.y, soup->origin.z}, 0.0};
    for (int k = 0; k < 3 && soup->vertex_count != 0; ++k) {
        double low = fabs((double)soup->bounds.low[k]), high = fabs((double)soup->bounds.high[k]);
        frame.reach = CAROM_MAX(CAROM_MAX(low, high), frame.reach);
    }
    return frame;
}

static carom_status answer_ray(const carom_soup_batch *batch, uint64_t i, carom_soup_turn *turn) {
    const ray_query *q = (const ray_query *)batch;
    (void)turn;
    q->hits[i] = soup_rays_cast(q, &q->rays[i]);
    return CAROM_OK;
}

carom_status carom_soup_cast_rays(carom_context *context, const carom_soup *soup,
                                  const carom_ray *rays, uint64_t count, carom_hit *hits) {
    CAROM_REQUIRE_BATCH(context, soup, rays, count, hits);
    if (carom_soup_on_device(context))
        return carom_soup_device_cast_rays(context, soup, rays, count, hits);
    CAROM_TRY(carom_soup_check_ready(context, soup));
    CAROM_TRY(carom_rays_check(context, rays, count));
    ray_query q = {{context, soup, answer_ray, NULL}, rays, hits, soup_rays_frame_of(soup)};
    return carom_soup_batch_run(&q.batch, "casting rays", count);
}
