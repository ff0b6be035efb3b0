/* SPDX-License-Identifier: MIT */
/* grid2013.h: the hierarchical grid of Weller, Frese and Zachmann (2013) as printed, to be measured
 * beside ours: levels a factor of two apart, every sphere in the at most eight cells that it meets,
 * Algorithms 1 to 3, buckets of 24 in a table of 16 MB, the volume of the inner spheres' overlaps.
 * Mended as ours is: cells are at least as wide as the spheres on their level. */
#ifndef CAROM_BENCH_GRID2013_H
#define CAROM_BENCH_GRID2013_H

#include "carom/carom.h"

typedef struct grid2013_bucket grid2013_bucket;

typedef struct grid2013 {
    const carom_packing_sphere *spheres; /* borrowed */
    uint32_t count;
    double least;   /* diameter */
    uint32_t top;   /* the highest level in use */
    uint8_t *level; /* of each sphere */
    grid2013_bucket *buckets;
    uint32_t bucket_count, overflow_count, overflow_capacity; /* those that continue others */
} grid2013;

/* Enters spheres, which must outlive the grid. False: no memory. Free it in any case. */
bool grid2013_build(const carom_packing_spheres *spheres, grid2013 *grid);
/* The same again in the memory of the last time, as for spheres that have moved. */
bool grid2013_refill(grid2013 *grid);
void grid2013_free(grid2013 *grid);

typedef struct grid2013_result {
    double volume;  /* of the overlaps of all pairs */
    uint64_t pairs; /* of spheres that overlap */
    uint64_t cells; /* that were looked up */
    uint64_t tests; /* of a sphere with an entry of a bucket */
} grid2013_result;

/* Algorithm 1 on one thread. */
void grid2013_query(const grid2013 *a, const grid2013 *b, const carom_pose *pose_b,
                    grid2013_result *result);

#endif
