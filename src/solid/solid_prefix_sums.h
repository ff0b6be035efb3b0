/* SPDX-License-Identifier: MIT */
/* solid_prefix_sums.h: integrals over ranges of a mesh's triangles, prepared before any query. */
#ifndef CAROM_SRC_SOLID_SOLID_PREFIX_SUMS_H
#define CAROM_SRC_SOLID_SOLID_PREFIX_SUMS_H

#include "base/double_double.h"
#include "base/sum_item.h"
#include "geom/pose.h"
#include "soup/soup_view.h"

/* Integrals over triangles with unit normals n, y = 2^exponent (x - centre): */
#define CAROM_SOLID_NORMAL 0u  /* of n: 3 */
#define CAROM_SOLID_FIRST  3u  /* 3 times that of y_i n_j: 9, row by row */
#define CAROM_SOLID_SECOND 12u /* 3 times that of y_i (y . n): 3 */
#define CAROM_SOLID_AREA   15u /* of 1 */
#define CAROM_SOLID_SUMS   16u

/* Sums are in fixed point. So the sum over a range is the exact difference of two prefix sums, and
 * a small part of a large mesh loses no precision. */
#define CAROM_SOLID_BLOCK 8u /* triangles from one stored prefix sum to the next */

typedef struct carom_solid_sum {
    uint64_t low, high;
} carom_solid_sum;

typedef struct carom_solid_prefix_sums {
    carom_vec3 centre;
    int exponent;
    int scales[CAROM_SOLID_SUMS];
    double area; /* of all triangles, in the unit of y; the sums round to 2^-126 of it and some */
    carom_solid_sum *blocks; /* CAROM_SOLID_SUMS per block: over all triangles before it */
    uint64_t block_count;
} carom_solid_prefix_sums;

/* The sums over ranges of triangles, in the mesh's own frame and in fixed point. They are placed in
 * the world last (carom_solid_moments_place). */
typedef struct carom_solid_moments {
    carom_sum sums[CAROM_SOLID_SUMS];
} carom_solid_moments;

/* The integrals of one kind, as doubles, in world coordinates about some origin. */
typedef struct carom_solid_integrals {
    double volume;     /* 1/3 of x . n */
    carom_vec3 moment; /* 1/4 of x (x . n) */
    double area;
    carom_vec3 normal; /* of n */
    carom_vec3 turn;   /* of x x n */
    /* Upper bounds of their distance from the exact integrals over the mesh transformed by the
     * given matrix; for vectors, per component. */
    double volume_error, moment_error, area_error, normal_error, turn_error;
} carom_solid_integrals;

carom_status carom_solid_prefix_sums_make(carom_context *context, const carom_allocator *allocator,
                                          const carom_soup_view *soup,
                                          carom_solid_prefix_sums *sums);

/* Adds `weight` times the sum over the first `block` blocks. */
void carom_solid_moments_add(const carom_solid_prefix_sums *sums, carom_solid_moments *moments,
                             uint64_t block, int weight);

/* Bits of the fixed point of areas that are dropped, so that sums of products with winding numbers
 * fit. */
#define CAROM_SOLID_AREA_SHIFT 40

/* An upper bound of `times` the area of triangles [first, last): up to a block more at either end.
 * In fixed point, CAROM_SOLID_AREA_SHIFT bits above the scale of the sums. */
carom_sum carom_solid_area_between(const carom_solid_prefix_sums *sums, uint64_t first,
                                   uint64_t last, int times);

/* The integrals in a pose, about the point `origin` of the world, in units of 2^-exponent. */
carom_solid_integrals carom_solid_moments_place(const carom_solid_prefix_sums *sums,
                                                const carom_solid_moments *moments,
                                                const carom_frame *frame, carom_vec3 origin,
                                                int exponent);

#endif
