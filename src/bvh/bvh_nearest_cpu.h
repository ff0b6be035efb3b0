/* SPDX-License-Identifier: MIT */
/* bvh_nearest_cpu.h: search for the slots of a box tree nearest to a point, one version per
 * instruction set. */
#ifndef CAROM_SRC_BVH_BVH_NEAREST_CPU_H
#define CAROM_SRC_BVH_BVH_NEAREST_CPU_H

#include "base/isa.h"
#include "bvh/bvh.h"

/* A point in the tree's frame; coordinates up to 2^200. `margin` is an upper bound of the error of
 * a box's gap to the point along an axis, plus at least 2^-48 of the largest coordinate in the tree
 * and in `at`. */
typedef struct carom_bvh_point {
    double at[3], margin;
} carom_bvh_point;

/* Receives the slots of a block that may be near enough, as a bit mask of its lanes that is not
 * empty, and returns the distance up to which to continue; a negative one stops the search. */
typedef double carom_bvh_near_fn(void *user, uint32_t block, uint32_t lanes);

/* Calls `visit` for every block with slots whose boxes may be within distance `limit`, at most
 * 2^400 or infinite, or within what `visit` returned last. Nearer blocks come first, approximately.
 * Returns the number of nodes opened. */
CAROM_CPU_DECLARE(uint64_t, carom_bvh_nearest, const carom_bvh *bvh, const carom_bvh_point *point,
                  double limit, carom_bvh_near_fn *visit, void *user);

#endif
