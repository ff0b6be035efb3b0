/* SPDX-License-Identifier: MIT */
/* solid_prefix_sums.h: integrals over ranges of a mesh's triangles, prepared before any query. */
#ifndef CAROM_SRC_SOLID_SOLID_PREFIX_SUMS_H
#define CAROM_SRC_SOLID_SOLID_PREFIX_SUMS_H

#include "base/double_double.h"
#include "geom/pose.h"
#include "solid/solid_sum_item.h"
#include "soup/soup_view.h"

typedef struct carom_solid_prefix_sums {
    carom_vec3 centre;
    int exponent;
    int scales[CAROM_SOLID_SUMS];
    double area; /* of all triangles, in the unit of y; the sums round to 2^-126 of it and some */
    carom_solid_sum *blocks; /* CAROM_SOLID_SUMS per block: over all triangles before it */
    uint64_t block_count;
} carom_solid_prefix_sums;

/* The sums over ranges of triangles, in the mesh's own frame and in fixed point. They are
 * transformed to the world last (carom_solid_moments_pose). */
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

/* Chooses the centre of these bounds, and a unit in which all coordinates are below 1. */
void carom_solid_prefix_sums_choose_frame(carom_solid_prefix_sums *sums, carom_vec3 low,
                                          carom_vec3 high);
/* Chooses scales at which no sum can overflow, from twice the area in that unit: |y| < 1 for each
 * coordinate, so y . n is below 2 and sums over three corners are below 3. */
void carom_solid_prefix_sums_choose_scales(carom_solid_prefix_sums *sums, double twice_area);

/* Computes the sums. `blocks` is NULL or has space for those of as many triangles. */
carom_status carom_solid_prefix_sums_make(carom_context *context, const carom_allocator *allocator,
                                          const carom_soup_view *soup,
                                          carom_solid_prefix_sums *sums);

/* The volume that the triangles enclose, rounded to nearest; false where the sums do not decide
 * that. */
bool carom_solid_prefix_sums_volume(const carom_solid_prefix_sums *sums, uint64_t triangles,
                                    double *volume);

/* Adds `weight` times the sum over the first `block` blocks. */
void carom_solid_moments_add(const carom_solid_prefix_sums *sums, carom_solid_moments *moments,
                             uint64_t block, int weight);

/* The integrals in a pose, about the point `origin` of the world, in units of 2^-exponent. */
carom_solid_integrals carom_solid_moments_pose(const carom_solid_prefix_sums *sums,
                                               const carom_solid_moments *moments,
                                               const carom_frame *frame, carom_vec3 origin,
                                               int exponent);

#endif
