/* SPDX-License-Identifier: MIT */
/* soup_points.h: what the queries of points and rays share. */
#ifndef CAROM_SRC_SOUP_SOUP_POINTS_H
#define CAROM_SRC_SOUP_SOUP_POINTS_H

#include "bvh/bvh_winding.h"
#include "soup/soup.h"

/* A batch of points or rays: `answer` answers number `i` of them on any worker. The structs of the
 * queries begin with this. */
typedef struct carom_soup_batch {
    carom_context *context;
    const carom_soup *soup;
    carom_status (*answer)(const struct carom_soup_batch *batch, uint64_t i, uint32_t worker);
} carom_soup_batch;

/* Answers all `count` of them on all threads, as one phase of progress. */
carom_status carom_soup_batch_run(const carom_soup_batch *batch, const char *what, uint64_t count);

/* Returns CAROM_OK if the soup can be searched and all points are finite. */
carom_status carom_soup_check_points(carom_context *context, const carom_soup *soup,
                                     const carom_vec3 *points, uint64_t count);

/* The nearest face of one point. */
carom_soup_hit carom_soup_find_nearest(carom_context *context, const carom_soup *soup,
                                       carom_vec3 point, uint32_t worker);

#endif
