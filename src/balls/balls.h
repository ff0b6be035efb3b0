/* SPDX-License-Identifier: MIT */
/* balls.h: spheres of a packing and their grid. */
#ifndef CAROM_SRC_BALLS_BALLS_H
#define CAROM_SRC_BALLS_BALLS_H

#include "balls/balls_item.h"
#include "base/context.h"
#include "carom/balls.h"

/* The arrays that a view points to, and their capacities. */
typedef struct carom_balls_grid {
    carom_balls_view view;
    carom_balls_sphere *spheres;
    double *x, *y, *z;
    float *reach, *near;
    uint32_t *starts;
    carom_balls_block *blocks;
    uint32_t *displacements; /* of CAROM_GRID_HASH_PERFECT */
    uint64_t sphere_capacity, bucket_capacity, block_capacity, group_capacity;
    uint64_t entries;
} carom_balls_grid;

/* Columns are padded, so that vector loads may read past the last. */
#define CAROM_BALLS_PADDING 16u

struct carom_balls {
    carom_allocator allocator;
    carom_grid_def def;
    carom_balls_grid grid;
    carom_balls_grid spare; /* that the next update fills */
};

/* Enters spheres in a grid; takes memory from `allocator` only if the capacity is too small. On
 * failure the grid's contents are unspecified. */
carom_status carom_balls_build(carom_context *context, const carom_allocator *allocator,
                               const carom_grid_def *def, const carom_packing *packing,
                               const char *what, carom_balls_grid *grid);

/* For tests and fuzzers: NULL, or the first invariant that does not hold. */
const char *carom_balls_validate(const carom_balls *balls);

#endif
