/* SPDX-License-Identifier: MIT */
/* gas_levels.h: levels of cells, for spheres of very different radii.
 *
 *   level    a grid of cells for the spheres of some range of radii; 0 is the finest
 *   parent   the cell of a coarser level that contains a cell; grids are nested
 *
 * A sphere is filed in one cell, in the level of its radius. Two spheres are neighbours when, in
 * the coarser of their two levels, their cells or parents are the same or adjacent.
 *
 * Invariant: two spheres that touch are neighbours. Let two be in levels k < m and not neighbours.
 * They are at least edge_m - skin_m - skin_k apart, and a skin is half of what the edge exceeds the
 * least edge for its radii by (least > 2 r). As edge_k <= edge_m / 2, that is no less than
 * (edge_m - edge_k) / 2 + (least_m + least_k) / 2, more than the sum of the radii. */
#ifndef CAROM_SRC_GAS_GAS_LEVELS_H
#define CAROM_SRC_GAS_GAS_LEVELS_H

#include <math.h>

#include "gas/gas_cells.h"

/* Ratio of radii up to which all spheres are in one grid. */
#define CAROM_GAS_ONE_GRID_RATIO  10.0
#define CAROM_GAS_RATIO_TOLERANCE 1e-12 /* of the ratio: rounding of the caller's radii */

/* True when the radii are too different for one grid, and for the methods that need one. */
static inline bool carom_gas_is_unlike(const carom_gas *gas) {
    return gas->largest >
           CAROM_GAS_ONE_GRID_RATIO * gas->smallest * (1.0 + CAROM_GAS_RATIO_TOLERANCE);
}

/* True when levels of cells are of use: the radii are unlike, or they differ and a cell for the
 * largest would hold many spheres. Twenty-seven cells with more than a hundred candidates take
 * longer than a few levels. */
#define CAROM_GAS_LEVELS_RATIO   2.0
#define CAROM_GAS_LEVELS_DENSITY 4.0 /* spheres */
static inline bool carom_gas_needs_levels(const carom_gas *gas) {
    if (carom_gas_is_unlike(gas)) return true;
    double share = 1.0, edge = CAROM_GAS_LEAST_WISH * 2.0 * gas->largest;
    for (int axis = 0; axis < 3; ++axis) share *= fmin(edge / gas->rules.edge[axis], 1.0);
    return gas->largest > CAROM_GAS_LEVELS_RATIO * gas->smallest &&
           (double)gas->count * share > CAROM_GAS_LEVELS_DENSITY;
}

/* Chooses the levels and their cells where they are of use; else there are none. */
carom_status carom_gas_levels_choose(carom_context *context, carom_gas *gas);

static inline carom_gas_cells *carom_gas_cells_of(carom_gas *gas, uint32_t level) {
    CAROM_ASSERT(level == 0 || level < gas->levels.count);
    return level == 0 ? &gas->cells : &gas->levels.level[level].cells;
}

static inline const carom_gas_cells *carom_gas_cells_seen(const carom_gas *gas, uint32_t level) {
    CAROM_ASSERT(level == 0 || level < gas->levels.count);
    return level == 0 ? &gas->cells : &gas->levels.level[level].cells;
}

/* The level of a radius; 0 where there are none. */
static inline uint32_t carom_gas_level_of(const carom_gas *gas, double radius) {
    uint32_t level = 0;
    while (level + 1 < gas->levels.count && radius > gas->levels.level[level].largest) ++level;
    return level;
}

/* The level in which a sphere is filed; 0 where there are none. */
static inline uint32_t carom_gas_level_at(const carom_gas *gas, uint32_t slot) {
    return gas->levels.count == 0 ? 0 : gas->records[slot].home.extra;
}

/* The fewest free overflow cells of all levels. */
static inline uint32_t carom_gas_least_free(const carom_gas *gas) {
    uint32_t least = gas->cells.free_count;
    for (uint32_t k = 1; k < gas->levels.count; ++k)
        least = CAROM_MIN(least, gas->levels.level[k].cells.free_count);
    return least;
}

#endif
