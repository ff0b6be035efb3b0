/* SPDX-License-Identifier: MIT */
/* The choice of levels of cells (after the hierarchical grid of Ogarko and Luding 2012).
 *
 * The coarsest cells suit the largest sphere. Each finer grid halves them, as long as the typical
 * sphere fits and there are not many more cells than spheres: finer cells would all be empty. A
 * sphere goes into the finest cells that are wide enough for it. Levels without spheres are left
 * out, and so are those that have far fewer spheres than cells, as a larger sphere looks through
 * all cells around its surface: their spheres move to the next coarser level. */
#include "gas/gas_levels.h"

#include <string.h>

/* A sphere goes into cells this much wider than they must be, so that there is some skin. */
#define LEAST_SKIN_SHARE CAROM_GAS_LEAST_WISH
/* The finest cells may be smaller than the fastest edge by this factor; else they would be up to
 * twice as wide. */
#define LEAST_SHARE_OF_WISH 0.75
/* Cells per sphere above which a level is left out. */
#define SPARSE_LEVEL        512
#define EDGE_STEP_OF_LEVELS 1.1 /* of the coarsest cells, while there are too many */
#define RADIUS_CLASSES      64  /* powers of two: radii are at most 1e15 = 2^50 apart */

/* A nested grid before levels are left out. */
typedef struct levels_plan {
    double top[3];                         /* coarsest cells along each axis */
    uint32_t count;                        /* grids */
    double limit[CAROM_GAS_MOST_LEVELS];   /* the largest radius of a grid, the finest first */
    uint64_t cells[CAROM_GAS_MOST_LEVELS]; /* of a grid */
    uint64_t spheres[CAROM_GAS_MOST_LEVELS];
    double smallest[CAROM_GAS_MOST_LEVELS], largest[CAROM_GAS_MOST_LEVELS]; /* radii */
} levels_plan;

/* An upper bound of half of all radii, and of not many more. */
static double typical_radius(const carom_gas *gas) {
    uint64_t counts[RADIUS_CLASSES] = {0}, below = 0;
    double largest[RADIUS_CLASSES] = {0.0};
    for (uint64_t i = 0; i < gas->count; ++i) {
        int class;
        (void)frexp(carom_gas_radius(gas, (uint32_t)i) / gas->smallest, &class);
        CAROM_ASSERT(class >= 0 && class < RADIUS_CLASSES);
        ++counts[class];
        largest[class] = fmax(largest[class], carom_gas_radius(gas, (uint32_t)i));
    }
    for (int class = 0; class < RADIUS_CLASSES; ++class) {
        below += counts[class];
        if (2 * below >= gas->count && counts[class] != 0) return largest[class];
    }
    return gas->largest;
}

/* The least edge of a cell of the grid whose cells are `fineness` times as many along each axis. */
static double edge_of_grid(const carom_gas *gas, const levels_plan *plan, double fineness) {
    double edge = HUGE_VAL;
    for (int axis = 0; axis < 3; ++axis)
        edge = fmin(edge, gas->rules.edge[axis] / (plan->top[axis] * fineness));
    return edge;
}

/* The number of cells of that grid; 0 when there are too many. */
static uint64_t cells_of_grid(const carom_gas *gas, const levels_plan *plan, double fineness) {
    double all = 1.0;
    for (int axis = 0; axis < 3; ++axis) {
        double size = plan->top[axis] * fineness;
        if (size > CAROM_GAS_MOST_CELLS_AXIS) return 0;
        all *= size + 2.0;
    }
    double most = CAROM_GAS_CELLS_PER_SPHERE * (double)gas->count + CAROM_GAS_SPARE_CELLS;
    return all <= most && all < (double)CAROM_GAS_MOST_CELLS ? (uint64_t)all : 0;
}

static void plan_coarsest(const carom_gas *gas, levels_plan *plan) {
    double edge = LEAST_SKIN_SHARE * carom_gas_least_edge(gas, 2.0 * gas->largest);
    for (;; edge *= EDGE_STEP_OF_LEVELS) {
        for (int axis = 0; axis < 3; ++axis) {
            double size = fmin(floor(gas->rules.edge[axis] / edge), CAROM_GAS_MOST_CELLS_AXIS);
            plan->top[axis] = fmax(size, 1.0);
        }
        if (cells_of_grid(gas, plan, 1.0) != 0) return;
    }
}

/* The number of nested grids. */
static void plan_grids(const carom_gas *gas, levels_plan *plan) {
    double volume = gas->rules.edge[0] * gas->rules.edge[1] * gas->rules.edge[2];
    double typical = gas->levels.typical, wish = gas->def.cell_edge;
    double least = LEAST_SKIN_SHARE * carom_gas_least_edge(gas, 2.0 * typical);
    if (wish == 0.0) wish = carom_gas_model_edge((double)gas->count / volume, typical);
    least = fmax(least, LEAST_SHARE_OF_WISH * wish);
    plan->count = 1;
    for (double fineness = 2.0; plan->count < CAROM_GAS_MOST_LEVELS; fineness *= 2.0) {
        if (edge_of_grid(gas, plan, fineness) < least || cells_of_grid(gas, plan, fineness) == 0)
            break;
        ++plan->count;
    }
}

/* Counts the spheres of each grid, by radius. */
static void plan_spheres(const carom_gas *gas, levels_plan *plan) {
    for (uint32_t k = 0; k < plan->count; ++k) {
        double fineness = ldexp(1.0, (int)(plan->count - 1 - k)), width = gas->longest;
        double edge = edge_of_grid(gas, plan, fineness) / LEAST_SKIN_SHARE;
        /* the inverse of carom_gas_least_edge */
        double margin = carom_gas_least_edge(gas, 0.0), slope = carom_gas_least_edge(gas, width);
        plan->limit[k] = 0.5 * (edge - margin) / ((slope - margin) / width);
        if (k + 1 == plan->count) plan->limit[k] = HUGE_VAL;
        plan->cells[k] = cells_of_grid(gas, plan, fineness);
        plan->spheres[k] = 0;
        plan->smallest[k] = HUGE_VAL;
        plan->largest[k] = 0.0;
    }
    for (uint64_t i = 0; i < gas->count; ++i) {
        double radius = carom_gas_radius(gas, (uint32_t)i);
        uint32_t k = 0;
        while (radius > plan->limit[k]) ++k;
        ++plan->spheres[k];
        plan->smallest[k] = fmin(plan->smallest[k], radius);
        plan->largest[k] = fmax(plan->largest[k], radius);
    }
}

/* Moves the spheres of sparse levels to the next coarser one. */
static void leave_out_sparse(levels_plan *plan) {
    for (uint32_t k = 0; k + 1 < plan->count; ++k) {
        if (plan->spheres[k] == 0 || plan->spheres[k] >= plan->cells[k] / SPARSE_LEVEL) continue;
        plan->spheres[k + 1] += plan->spheres[k];
        plan->smallest[k + 1] = fmin(plan->smallest[k + 1], plan->smallest[k]);
        plan->largest[k + 1] = fmax(plan->largest[k + 1], plan->largest[k]);
        plan->spheres[k] = 0;
    }
}

static uint32_t count_levels(const levels_plan *plan) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < plan->count; ++k) count += plan->spheres[k] != 0;
    return count;
}

carom_status carom_gas_levels_choose(carom_context *context, carom_gas *gas) {
    carom_gas_levels *levels = &gas->levels;
    levels_plan plan;
    if (!carom_gas_needs_levels(gas)) return CAROM_OK;
    levels->typical = typical_radius(gas);
    plan_coarsest(gas, &plan);
    plan_grids(gas, &plan);
    plan_spheres(gas, &plan);
    leave_out_sparse(&plan);
    if (count_levels(&plan) < 2) return CAROM_OK;
    levels->level = carom_allocate(&gas->allocator, count_levels(&plan), sizeof(*levels->level));
    if (levels->level == NULL)
        return carom_fail_memory(context, sizeof(*levels->level), "levels of cells");
    memset(levels->level, 0, count_levels(&plan) * sizeof(*levels->level));
    uint32_t finest = 0;
    for (uint32_t k = 0; k < plan.count; ++k) {
        if (plan.spheres[k] == 0) continue;
        if (levels->count == 0) finest = k;
        carom_gas_level *level = &levels->level[levels->count++];
        level->shift = k - finest;
        level->smallest = plan.smallest[k];
        level->largest = plan.largest[k];
        double size[3];
        for (int axis = 0; axis < 3; ++axis)
            size[axis] = ldexp(plan.top[axis], (int)(plan.count - 1 - k));
        carom_gas_cells_size(gas, carom_gas_cells_of(gas, levels->count - 1), size,
                             carom_gas_least_edge(gas, 2.0 * level->largest));
    }
    levels->drift = fmin(gas->cells.edge[0], fmin(gas->cells.edge[1], gas->cells.edge[2]));
    return CAROM_OK;
}
