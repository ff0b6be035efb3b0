/* SPDX-License-Identifier: MIT */
/* gas_distances.h: the grid in which the distances of all pairs within a range are counted. */
#ifndef CAROM_SRC_GAS_GAS_DISTANCES_H
#define CAROM_SRC_GAS_GAS_DISTANCES_H

#include "base/sum_item.h"
#include "gas/gas.h"

/* Positions sorted by cell, x fastest: the spheres of adjacent cells of a row are adjacent. */
typedef struct carom_gas_distance_grid {
    uint32_t size[3], reach[3]; /* cells; cells on either side within the range */
    uint32_t *start;            /* cell -> first position; one more at the end */
    double *x[3];               /* readable up to CAROM_GAS_DISTANCE_SPARE beyond the last */
    double cell[3];             /* edges of a cell */
    double wrap[3];             /* edge of the box along a periodic axis, else infinite */
    double length[3];           /* that centres can reach, along an axis with walls; else 0 */
    double range, step, per_step;
    uint64_t bins;   /* within the range */
    uint64_t counts; /* bins that a worker has: those of all pairs of cells that are compared */
    bool walls;
} carom_gas_distance_grid;

#define CAROM_GAS_DISTANCE_SPARE 16 /* two vectors */

/* With walls, weights are multiples of 2^-CAROM_GAS_WEIGHT_BITS: they are from 1 to 8, so only
 * those above 4 are rounded, to their last bit. */
#define CAROM_GAS_WEIGHT_BITS 51

/* What a worker has counted: pairs without walls, sums of weights with them. */
typedef struct carom_gas_distance_counts {
    uint64_t *low, *high; /* `high` only with walls */
    uint64_t counts;
} carom_gas_distance_counts;

/* Counts the pairs of the spheres in the rows [from, to) of cells with those in the same row after
 * them and in later rows. */
CAROM_CPU_DECLARE(void, carom_gas_distances_count, const carom_gas_distance_grid *grid,
                  uint64_t from, uint64_t to, carom_gas_distance_counts *counts);

#endif
