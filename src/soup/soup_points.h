/* SPDX-License-Identifier: MIT */
/* soup_points.h: what the queries of points and rays share. */
#ifndef CAROM_SRC_SOUP_SOUP_POINTS_H
#define CAROM_SRC_SOUP_SOUP_POINTS_H

#include "base/array.h"
#include "bvh/bvh_winding.h"
#include "soup/soup.h"
#include "soup/soup_points_device.h"

CAROM_RESULT_FILL(carom_soup_ray_hits);

/* A worker and what it remembers from one query to the next. */
typedef struct carom_soup_turn {
    uint32_t worker;
    uint32_t slot; /* near which the last answer was; CAROM_BVH_NONE: not known */
} carom_soup_turn;

/* A batch of points or rays: `answer` answers the one of index i. The structs of the queries begin
 * with this. */
typedef struct carom_soup_batch {
    carom_context *context;
    const carom_soup *soup;
    carom_status (*answer)(const struct carom_soup_batch *batch, uint64_t i, carom_soup_turn *turn);
    const uint32_t *order; /* NULL: as given */
} carom_soup_batch;

/* Answers all `count` of them on all threads, as one phase of progress. */
carom_status carom_soup_batch_run(const carom_soup_batch *batch, const char *what, uint64_t count);

/* Sets the order of a batch of points along a Morton curve, so that each finds what it needs in the
 * caches. Takes scratch of worker 0. */
carom_status carom_soup_batch_sort(carom_soup_batch *batch, const carom_vec3 *points,
                                   uint64_t count);

/* First lines of a public function that answers `count` points or rays. */
#define CAROM_REQUIRE_BATCH(context, soup, queries, count, results)                                \
    CAROM_ENTER(context);                                                                          \
    CAROM_REQUIRE_INPUT(soup, "soup");                                                             \
    CAROM_REQUIRE_INPUTS(queries, count, #queries);                                                \
    CAROM_REQUIRE_OUTPUTS(results, count, #results)

/* Returns CAROM_OK if the soup can be searched and all points are finite. */
carom_status carom_soup_check_points(carom_context *context, const carom_soup *soup,
                                     const carom_vec3 *points, uint64_t count);

/* Returns CAROM_OK if all points are finite. */
carom_status carom_soup_points_finite(carom_context *context, const carom_vec3 *points,
                                      uint64_t count);

/* Whether the faces that are not removed are balanced; the soup keeps the answer. */
carom_status carom_soup_find_balanced(carom_context *context, const carom_soup *soup,
                                      bool *balanced);

/* The queries of soup_points.h on the GPU: soup_points_device.c. */
carom_status carom_soup_device_closest_points(carom_context *context, const carom_soup *soup,
                                              const carom_vec3 *points, uint64_t count,
                                              carom_hit *hits);

carom_status carom_soup_device_cast_rays(carom_context *context, const carom_soup *soup,
                                         const carom_ray *rays, uint64_t count, carom_hit *hits);
carom_status carom_soup_device_query_rays(carom_context *context, const carom_soup *soup,
                                          const carom_ray *rays, uint64_t count,
                                          carom_soup_ray_hits *hits);
/* What a GPU leaves to the host of it. */
carom_ray_list_fn carom_soup_rays_list;

carom_status carom_soup_device_winding(carom_context *context, const carom_soup *soup,
                                       const carom_vec3 *points, uint64_t count, int32_t *windings);
carom_status carom_soup_device_signed_distances(carom_context *context, const carom_soup *soup,
                                                const carom_vec3 *points, uint64_t count,
                                                double *distances, carom_hit *hits);

carom_status carom_soup_device_winding_fractions(carom_context *context, const carom_soup *soup,
                                                 const carom_vec3 *points, uint64_t count,
                                                 double *windings);

/* What the GPU computes generalised winding numbers from: the tree of a soup on the CPU
 * (carom_soup_lend_cpu), and its moments. Takes scratch of worker 0. */
carom_status carom_soup_make_field(carom_context *context, const carom_soup *on_cpu,
                                   carom_device_field *field);

/* The nearest face of one point. The search starts at turn->slot and sets it. */
carom_hit carom_soup_find_nearest(carom_context *context, const carom_soup *soup, carom_vec3 point,
                                  carom_soup_turn *turn);

#endif
