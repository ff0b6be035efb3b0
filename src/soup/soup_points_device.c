/* SPDX-License-Identifier: MIT */
/* Points and rays with soups of contexts of backend cuda: the calls of soup_points.h passed on to
 * the GPU library, and those of cuda.h. */
#include "soup/soup_points_device.h"

#include "base/progress.h"
#include "geom/nearer.h"
#include "geom/ray.h"
#include "soup/soup_points.h"
#include "soup/soup_rays_item.h"

static const carom_cuda_points *points_device_table(void) {
    return carom_device_table(CAROM_CUDA_POINTS);
}

static carom_status points_device_check(carom_context *context, const carom_soup *soup) {
    CAROM_TRY(carom_soup_device_check_tree(context, soup));
    return carom_context_require_table(context, points_device_table(), "points and rays");
}

/* ---- Arrays of the host ---------------------------------------------------------------------- */

/* Ends a query of which so many points or rays were decided on the host. */
static carom_status points_device_end(carom_context *context, carom_status status,
                                      uint64_t on_host) {
    context->work = (carom_work){.undecided = on_host};
    return carom_progress_finish(context, carom_device_pass(context, status));
}

carom_status carom_soup_device_closest_points(carom_context *context, const carom_soup *soup,
                                              const carom_vec3 *points, uint64_t count,
                                              carom_hit *hits) {
    uint64_t on_host = 0;
    CAROM_TRY(points_device_check(context, soup));
    CAROM_TRY(carom_soup_points_finite(context, points, count));
    CAROM_TRY(carom_cuda_finish(context));
    carom_progress_begin(context, "finding nearest faces", 0);
    carom_status status = points_device_table()->closest_of_host(
        context->device, soup->device, points, count, hits, carom_not_farther, &on_host);
    return points_device_end(context, status, on_host);
}

/* As soup_rays_offer, of all triangles. */
static carom_hit points_device_decide_ray(const carom_device_ray_open *entries, uint64_t count) {
    const carom_device_ray_open *best = NULL;
    const carom_ray *ray = &entries->ray;
    carom_ray_view view;
    carom_ray_hit first, hit;
    carom_ray_begin(ray->origin, ray->direction, ray->length, &entries->frame, &view);
    for (const carom_device_ray_open *e = entries; e < entries + count; ++e) {
        if (!carom_ray_meet(&view, e->triangle.corner, &hit) || !carom_ray_within(&view, &hit))
            continue;
        int order = best == NULL ? -1 : carom_ray_compare(&view, &hit, &first);
        if (order > 0 || (order == 0 && e->face >= best->face)) continue;
        best = e;
        first = hit;
    }
    if (best == NULL) return carom_rays_miss(ray);
    carom_hit result = carom_rays_hit(ray, best->face, best->normal);
    carom_ray_answer(&view, &first, &result.distance, &result.point);
    return result;
}

carom_status carom_soup_device_cast_rays(carom_context *context, const carom_soup *soup,
                                         const carom_ray *rays, uint64_t count, carom_hit *hits) {
    uint64_t on_host = 0;
    CAROM_TRY(points_device_check(context, soup));
    CAROM_TRY(carom_rays_check(context, rays, count));
    CAROM_TRY(carom_cuda_finish(context));
    carom_progress_begin(context, "casting rays", 0);
    carom_status status = points_device_table()->cast_of_host(
        context->device, soup->device, rays, count, hits, points_device_decide_ray, &on_host);
    return points_device_end(context, status, on_host);
}

/* Rays of the host that are searched together. */
#define POINTS_DEVICE_RAYS 1048576u

/* The hits of some rays, in scratch of worker 0. */
typedef struct device_ray_hits {
    const carom_soup_ray_hit *data;
    uint64_t count;
} device_ray_hits;

/* Searches for some rays and reads the hits, which the next query overwrites. */
static carom_status points_device_query_some(carom_context *context, const carom_soup *soup,
                                             const carom_ray *rays, uint64_t first, uint64_t count,
                                             device_ray_hits *found) {
    carom_cuda_ray_hits hits;
    CAROM_TRY(carom_device_pass(
        context, points_device_table()->query_of_host(context->device, soup->device, rays + first,
                                                      (uint32_t)count, (uint32_t)first, &hits,
                                                      carom_soup_rays_list, context)));
    context->work.undecided += hits.host_items;
    carom_soup_ray_hit *data =
        CAROM_ARENA_TAKE(carom_scratch(context, 0), carom_soup_ray_hit, hits.count + 1);
    if (data == NULL)
        return carom_fail_memory(context, hits.count * sizeof(*data), "the faces of rays");
    *found = (device_ray_hits){data, hits.count};
    return carom_cuda_read(context, data, hits.data, hits.count * sizeof(*data));
}

static carom_status points_device_query_all(carom_context *context, const carom_soup *soup,
                                            const carom_ray *rays, uint64_t count,
                                            carom_soup_ray_hits *hits) {
    uint64_t parts = count / POINTS_DEVICE_RAYS + 1, all = 0, space, at = 0;
    device_ray_hits *found = CAROM_ARENA_TAKE(carom_scratch(context, 0), device_ray_hits, parts);
    if (found == NULL) return carom_fail_memory(context, parts * sizeof(*found), "casting rays");
    for (uint64_t i = 0; i < parts; ++i) {
        uint64_t first = i * POINTS_DEVICE_RAYS;
        found[i] = (device_ray_hits){0};
        if (first < count)
            CAROM_TRY(points_device_query_some(context, soup, rays, first,
                                               CAROM_MIN(count - first, POINTS_DEVICE_RAYS),
                                               &found[i]));
        all += found[i].count;
        if (carom_progress_stop(context, 0)) return CAROM_CANCELLED;
    }
    CAROM_TRY(carom_soup_ray_hits_begin(context, &context->allocator, hits, all, &space));
    for (uint64_t i = 0; i < parts && at < space; ++i) {
        uint64_t some = CAROM_MIN(found[i].count, space - at);
        if (some != 0) memcpy(hits->data + at, found[i].data, some * sizeof(*hits->data));
        at += some;
    }
    return carom_soup_ray_hits_end(hits);
}

carom_status carom_soup_device_query_rays(carom_context *context, const carom_soup *soup,
                                          const carom_ray *rays, uint64_t count,
                                          carom_soup_ray_hits *hits) {
    CAROM_TRY(points_device_check(context, soup));
    CAROM_TRY(carom_rays_check(context, rays, count));
    CAROM_TRY(carom_cuda_finish(context));
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    context->work = (carom_work){0};
    carom_progress_begin(context, "casting rays", 0);
    carom_status status = points_device_query_all(context, soup, rays, count, hits);
    carom_arena_rewind(scratch, mark);
    return carom_progress_finish(context, status);
}

carom_status carom_soup_device_winding(carom_context *context, const carom_soup *soup,
                                       const carom_vec3 *points, uint64_t count,
                                       int32_t *windings) {
    CAROM_TRY(points_device_check(context, soup));
    CAROM_TRY(carom_soup_points_finite(context, points, count));
    CAROM_TRY(carom_cuda_finish(context));
    carom_progress_begin(context, "counting windings", 0);
    carom_status status = points_device_table()->winding_of_host(context->device, soup->device,
                                                                 points, count, windings);
    return points_device_end(context, status, 0);
}

/* ---- Generalised winding numbers ------------------------------------------------------------- */

/* A tree of the CPU and its moments, in scratch of worker 0. */
typedef struct device_field {
    carom_soup_loan loan;
    carom_device_field field;
    carom_arena_mark mark;
} device_field;

static void device_field_free(carom_context *context, device_field *f) {
    carom_soup_end_loan(&f->loan);
    carom_arena_rewind(carom_scratch(context, 0), f->mark);
}

/* On failure there is nothing to free. */
static carom_status device_field_make(carom_context *context, const carom_soup *soup,
                                      device_field *f) {
    f->mark = carom_arena_get_mark(carom_scratch(context, 0));
    carom_status status = carom_soup_lend_cpu(context, soup, NULL, &f->loan);
    if (status == CAROM_OK) status = carom_soup_make_field(context, f->loan.soup, &f->field);
    if (status != CAROM_OK) device_field_free(context, f);
    return status;
}

carom_status carom_soup_device_winding_fractions(carom_context *context, const carom_soup *soup,
                                                 const carom_vec3 *points, uint64_t count,
                                                 double *windings) {
    device_field f;
    CAROM_TRY(points_device_check(context, soup));
    CAROM_TRY(carom_soup_points_finite(context, points, count));
    CAROM_TRY(carom_cuda_finish(context));
    if (count == 0) return CAROM_OK;
    CAROM_TRY(device_field_make(context, soup, &f));
    carom_progress_begin(context, "adding solid angles", 0);
    carom_status status = points_device_table()->fractions_of_host(context->device, &f.field,
                                                                   points, count, windings);
    device_field_free(context, &f);
    return points_device_end(context, status, 0);
}

/* The field if the soup is not balanced; *field is then that of *f, else NULL. */
static carom_status points_device_field(carom_context *context, const carom_soup *soup,
                                        device_field *f, const carom_device_field **field) {
    bool balanced;
    *field = NULL;
    CAROM_TRY(carom_soup_find_balanced(context, soup, &balanced));
    if (balanced) return CAROM_OK;
    CAROM_TRY(device_field_make(context, soup, f));
    *field = &f->field;
    return CAROM_OK;
}

carom_status carom_soup_device_signed_distances(carom_context *context, const carom_soup *soup,
                                                const carom_vec3 *points, uint64_t count,
                                                double *distances, carom_hit *hits) {
    uint64_t on_host = 0;
    device_field f;
    const carom_device_field *field;
    CAROM_TRY(points_device_check(context, soup));
    CAROM_TRY(carom_soup_points_finite(context, points, count));
    CAROM_TRY(points_device_field(context, soup, &f, &field));
    carom_status status = carom_cuda_finish(context);
    if (status == CAROM_OK) {
        carom_progress_begin(context, "finding signed distances", 0);
        status = points_device_table()->signed_of_host(context->device, soup->device, field, points,
                                                       count, distances, hits, carom_not_farther,
                                                       &on_host);
        status = points_device_end(context, status, on_host);
    }
    if (field != NULL) device_field_free(context, &f);
    return status;
}

/* ---- Arrays in device memory ----------------------------------------------------------------- */

carom_status carom_cuda_soup_closest_points(carom_context *context, const carom_soup *soup,
                                            const carom_vec3 *device_points, uint64_t count,
                                            carom_hit *device_hits) {
    CAROM_REQUIRE_BATCH(context, soup, device_points, count, device_hits);
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    CAROM_TRY(points_device_check(context, soup));
    return carom_device_pass(context,
                             points_device_table()->closest(device, soup->device, device_points,
                                                            count, device_hits, carom_not_farther));
}

carom_status carom_cuda_soup_cast_rays(carom_context *context, const carom_soup *soup,
                                       const carom_ray *device_rays, uint64_t count,
                                       carom_hit *device_hits) {
    CAROM_REQUIRE_BATCH(context, soup, device_rays, count, device_hits);
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    CAROM_TRY(points_device_check(context, soup));
    return carom_device_pass(context,
                             points_device_table()->cast(device, soup->device, device_rays, count,
                                                         device_hits, points_device_decide_ray));
}

void carom_cuda_ray_hits_free(carom_context *context, carom_cuda_ray_hits *hits) {
    carom_device *device;
    CAROM_ENTER_VOID(context);
    CAROM_REQUIRE_OR(hits != NULL, CAROM_ARE_NULL("hits"), );
    if (carom_device_of(context, "device memory", &device) != CAROM_OK) return;
    if (carom_cuda_finish(context) != CAROM_OK || hits->memory == NULL) return;
    points_device_table()->ray_hits_free(hits);
}

carom_status carom_cuda_soup_query_rays(carom_context *context, const carom_soup *soup,
                                        const carom_ray *device_rays, uint64_t count,
                                        carom_cuda_ray_hits *hits) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(soup, "soup");
    CAROM_REQUIRE_INPUTS(device_rays, count, "device_rays");
    CAROM_REQUIRE_OUTPUT(hits, "hits");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    CAROM_TRY(points_device_check(context, soup));
    if (count > UINT32_MAX)
        return carom_fail(context, CAROM_TOO_LARGE, "%llu rays are too many to number",
                          (unsigned long long)count);
    return carom_device_pass(
        context, points_device_table()->query(device, soup->device, device_rays, (uint32_t)count,
                                              hits, carom_soup_rays_list, context));
}

carom_status carom_cuda_soup_winding(carom_context *context, const carom_soup *soup,
                                     const carom_vec3 *device_points, uint64_t count,
                                     int32_t *device_windings) {
    CAROM_REQUIRE_BATCH(context, soup, device_points, count, device_windings);
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    CAROM_TRY(points_device_check(context, soup));
    return carom_device_pass(context,
                             points_device_table()->winding(device, soup->device, device_points,
                                                            count, device_windings));
}

carom_status carom_cuda_soup_winding_fractions(carom_context *context, const carom_soup *soup,
                                               const carom_vec3 *device_points, uint64_t count,
                                               double *device_windings) {
    CAROM_REQUIRE_BATCH(context, soup, device_points, count, device_windings);
    carom_device *device;
    device_field f;
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    CAROM_TRY(points_device_check(context, soup));
    CAROM_TRY(carom_cuda_finish(context)); /* no frame can be recorded */
    CAROM_TRY(device_field_make(context, soup, &f));
    carom_status status =
        points_device_table()->fractions(device, &f.field, device_points, count, device_windings);
    device_field_free(context, &f);
    return carom_device_pass(context, status);
}

carom_status carom_cuda_soup_signed_distances(carom_context *context, const carom_soup *soup,
                                              const carom_vec3 *device_points, uint64_t count,
                                              double *device_distances, carom_hit *device_hits) {
    CAROM_REQUIRE_BATCH(context, soup, device_points, count, device_distances);
    CAROM_REQUIRE_OUTPUTS(device_hits, count, "device_hits");
    carom_device *device;
    device_field f;
    const carom_device_field *field;
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    CAROM_TRY(points_device_check(context, soup));
    CAROM_TRY(points_device_field(context, soup, &f, &field));
    carom_status status =
        points_device_table()->signed_distances(device, soup->device, field, device_points, count,
                                                device_distances, device_hits, carom_not_farther);
    if (field != NULL) device_field_free(context, &f);
    return carom_device_pass(context, status);
}
