/* SPDX-License-Identifier: MIT */
/* balls.h: spheres of a packing and their grid. */
#ifndef CAROM_SRC_BALLS_BALLS_H
#define CAROM_SRC_BALLS_BALLS_H

#include "balls/balls_device.h"
#include "base/context.h"
#include "carom/balls.h"
#include "spheres/spheres_overlap.h"

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
    carom_balls_grid spare;     /* that the next update fills */
    carom_device_balls *device; /* the arrays on the GPU; NULL on the CPU. The grid has none then */
};

/* Enters spheres in a grid; takes memory from `allocator` only if the capacity is too small. On
 * failure the grid's contents are unspecified. */
carom_status carom_balls_build(carom_context *context, const carom_allocator *allocator,
                               const carom_grid_def *def, const carom_spheres_view *spheres,
                               const char *what, carom_balls_grid *grid);

/* The view of spheres without arrays, and with the table of a grid for the GPU. */
carom_status carom_balls_describe(carom_context *context, const carom_grid_def *def,
                                  const carom_spheres_view *spheres, const char *what,
                                  carom_balls_view *view);

/* CAROM_OK if the context computes where both packings are. */
carom_status carom_balls_check_backend(carom_context *context, const carom_balls *a,
                                       const carom_balls *b);

/* ---- The same on the GPU: balls_device.c ----------------------------------------------------- */

/* Whether the context computes on the GPU: the functions below then answer. */
static inline bool carom_balls_on_device(const carom_context *context) {
    return context->backend == CAROM_BACKEND_CUDA;
}

/* Enters spheres; on failure nothing has changed but what is on the device. */
carom_status carom_balls_device_build(carom_context *context, carom_balls *balls,
                                      const carom_spheres_view *spheres, const char *what);
void carom_balls_device_release(carom_balls *balls);
uint64_t carom_balls_device_bytes(const carom_balls *balls);
uint64_t carom_balls_device_entries(const carom_balls *balls);

/* Poses and scales have been checked. */
carom_status carom_balls_device_overlap(carom_context *context, const carom_balls_pair *queries,
                                        uint64_t count, bool skip_limits,
                                        carom_packing_overlap *overlaps);
/* `pairs` NULL: they are counted only; `any`: one of them is enough. */
carom_status carom_balls_device_pairs(carom_context *context, const carom_balls_pair *query,
                                      carom_balls_pair_kind kind, bool any, carom_pairs *pairs,
                                      uint64_t *count);

/* For tests and fuzzers: NULL, or the first invariant that does not hold. */
const char *carom_balls_validate(const carom_balls *balls);

#endif
