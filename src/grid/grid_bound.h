/* SPDX-License-Identifier: MIT */
/* grid_bound.h: an upper bound of the overlapping pairs of balls in any pose. */
#ifndef CAROM_SRC_GRID_GRID_BOUND_H
#define CAROM_SRC_GRID_GRID_BOUND_H

#include "base/context.h"
#include "carom/geom.h"

/* A set of balls, in a frame whose lengths are 2^scale_exponent times those that two sets have in
 * common. */
typedef struct carom_grid_balls {
    uint32_t count;
    carom_ball (*ball)(const void *user, uint32_t index); /* negative radius: left out */
    const void *user;
    int scale_exponent;
} carom_grid_balls;

/* Gives an upper bound of the pairs of overlapping balls of `a` and `b`, however each set is moved
 * as a whole, or of those of `a` with itself where b is NULL. UINT64_MAX: that or more.
 * Cost: O(n) expected, on one thread, as one phase of progress. Scratch of worker 0. */
carom_status carom_grid_bound(carom_context *context, const carom_grid_balls *a,
                              const carom_grid_balls *b, uint64_t *bound);

#endif
