/* SPDX-License-Identifier: MIT */
/* The distances of all pairs within a range, for the radial distribution function.
 *
 * Positions are sorted into cells of a third of the range, and each row of cells is compared with
 * the rows around it (gas_distances_cpu.c). Each worker counts in bins of its own. Invariant: what
 * is added are integers, so the result does not depend on the threads.
 *
 * Where there are walls, a shell around a sphere is partly outside the box. The translation
 * correction (Ohser and Stoyan) is exact for a uniform gas: a pair with the separation d is seen by
 * the share 1 - |d| / L of all placements along a wall's axis, so it has the weight 1 / (1 - |d| /
 * L). L is the length that centres can reach: the edge less the diameter of the smallest sphere. */
#include "gas/gas_distances.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "base/worker_state.h"

#define MOST_BINS           UINT64_C(1000000)
#define RANGE_MARGIN        1e-9 /* of half the length: rounding of bins times their width */
#define CELLS_PER_RANGE     3.0  /* with 2 and 4 the time is 1.2 times as long */
#define MOST_AXIS_CELLS     1024.0
#define GAS_DISTANCES_SPARE 64   /* cells, beside one per sphere */
#define CELL_STEP           1.25 /* by which cells grow while there are too many */
/* The reach is rounded up: this covers the rounding of a position divided by a cell's edge. */
#define REACH_MARGIN 1e-9
#define LOCATE_GRAIN 4096 /* spheres per range */

static carom_status check_distances(carom_context *context, const carom_gas *gas, double step,
                                    uint64_t bins) {
    if (!(step > 0.0) || !isfinite(step))
        return carom_fail(context, CAROM_BAD_INPUT, "step is %g; it must be finite and above zero",
                          step);
    if (bins == 0 || bins > MOST_BINS)
        return carom_fail(context, CAROM_BAD_INPUT, "%llu bins; 1 to %llu are possible",
                          (unsigned long long)bins, (unsigned long long)MOST_BINS);
    double half = HUGE_VAL;
    for (int axis = 0; axis < 3; ++axis) {
        double reached = gas->rules.edge[axis];
        if (!gas->rules.periodic[axis]) reached -= 2.0 * gas->smallest;
        half = fmin(half, 0.5 * reached);
    }
    if (gas->count >= 2 && !(step * (double)bins <= half * (1.0 + RANGE_MARGIN)))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "%llu bins of %g go beyond %g, half of what centres can move along the "
                          "shortest edge",
                          (unsigned long long)bins, step, half);
    return CAROM_OK;
}

static void choose_distance_cells(carom_gas_distance_grid *grid, const carom_gas *gas) {
    double edge = grid->range / CELLS_PER_RANGE, square = 0.0;
    for (;; edge *= CELL_STEP) {
        double all = 1.0;
        for (int axis = 0; axis < 3; ++axis) {
            double size = fmin(floor(gas->rules.edge[axis] / edge), MOST_AXIS_CELLS);
            grid->size[axis] = (uint32_t)fmax(size, 1.0);
            all *= grid->size[axis];
        }
        if (all <= (double)(gas->count + GAS_DISTANCES_SPARE)) break;
    }
    for (int axis = 0; axis < 3; ++axis) {
        grid->cell[axis] = gas->rules.edge[axis] / grid->size[axis];
        double reach = ceil(grid->range / grid->cell[axis] * (1.0 + REACH_MARGIN));
        grid->reach[axis] = (uint32_t)fmax(reach, 1.0);
        double most = (reach + 1.0) * grid->cell[axis];
        most = fmin(most, gas->rules.edge[axis]);
        square += most * most;
    }
    grid->counts = (uint64_t)(sqrt(square) / grid->step) + 2;
}

/* ---- Sorting by cell ------------------------------------------------------------------------- */

typedef struct locate_work {
    const carom_gas *gas;
    carom_gas_distance_grid *grid;
    uint32_t *keys, *order;
    double *x[3]; /* by slot */
} locate_work;

static carom_status locate_range(void *argument, carom_range range) {
    locate_work *w = argument;
    const carom_gas_distance_grid *grid = w->grid;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        double x[3], v[3];
        uint32_t at[3];
        carom_gas_now(w->gas, (uint32_t)i, x, v);
        for (int axis = 0; axis < 3; ++axis) {
            double cell = fmax(x[axis] / grid->cell[axis], 0.0);
            at[axis] = (uint32_t)fmin(cell, (double)grid->size[axis] - 1.0);
            w->x[axis][i] = x[axis];
        }
        w->keys[i] = (at[2] * grid->size[1] + at[1]) * grid->size[0] + at[0];
        w->order[i] = (uint32_t)i;
    }
    return CAROM_OK;
}

static carom_status gather_range(void *argument, carom_range range) {
    locate_work *w = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        for (int axis = 0; axis < 3; ++axis) w->grid->x[axis][i] = w->x[axis][w->order[i]];
        uint64_t cell = i == 0 ? 0 : (uint64_t)w->keys[i - 1] + 1;
        for (; cell <= w->keys[i]; ++cell) w->grid->start[cell] = (uint32_t)i;
    }
    return CAROM_OK;
}

/* Takes the arrays of the grid from the scratch of worker 0 and fills them. */
static carom_status sort_positions(carom_context *context, const carom_gas *gas,
                                   carom_gas_distance_grid *grid) {
    carom_arena *scratch = carom_scratch(context, 0);
    const uint64_t n = gas->count, cells = (uint64_t)grid->size[0] * grid->size[1] * grid->size[2];
    locate_work work = {.gas = gas, .grid = grid};
    bool all = true;
    grid->start = CAROM_ARENA_TAKE(scratch, uint32_t, cells + 1);
    for (int axis = 0; axis < 3; ++axis) {
        grid->x[axis] = CAROM_ARENA_TAKE(scratch, double, n + CAROM_GAS_DISTANCE_SPARE);
        all = all && grid->x[axis] != NULL;
    }
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    for (int axis = 0; axis < 3; ++axis) {
        work.x[axis] = CAROM_ARENA_TAKE(scratch, double, n);
        all = all && work.x[axis] != NULL;
    }
    work.keys = CAROM_ARENA_TAKE(scratch, uint32_t, n);
    work.order = CAROM_ARENA_TAKE(scratch, uint32_t, n);
    if (!all || grid->start == NULL || work.keys == NULL || work.order == NULL)
        return carom_fail_memory(context, n * 64, "counting pairs");
    for (int axis = 0; axis < 3; ++axis)
        memset(&grid->x[axis][n], 0, CAROM_GAS_DISTANCE_SPARE * sizeof(double));
    CAROM_TRY(carom_parallel_for(context, n, LOCATE_GRAIN, locate_range, &work));
    CAROM_TRY(carom_sort_keys(context, work.keys, work.order, n));
    CAROM_TRY(carom_parallel_for(context, n, LOCATE_GRAIN, gather_range, &work));
    for (uint64_t cell = (uint64_t)work.keys[n - 1] + 1; cell <= cells; ++cell)
        grid->start[cell] = (uint32_t)n;
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

/* ---- Counting -------------------------------------------------------------------------------- */

typedef struct count_work {
    carom_context *context;
    const carom_gas_distance_grid *grid;
    carom_worker_states states;
} count_work;

static bool begin_counts(void *user, void *state, uint32_t worker) {
    const count_work *w = user;
    carom_gas_distance_counts *counts = state;
    uint64_t bins = w->grid->walls ? 2 * w->grid->bins : w->grid->counts;
    counts->low = CAROM_ARENA_TAKE(carom_scratch(w->context, worker), uint64_t, bins);
    if (counts->low == NULL) return false;
    counts->high = counts->low + (w->grid->walls ? w->grid->bins : 0);
    memset(counts->low, 0, bins * sizeof(*counts->low));
    return true;
}

static carom_status count_rows(void *argument, carom_range range) {
    count_work *w = argument;
    carom_gas_distance_counts *counts = carom_worker_state(&w->states, range.worker);
    if (counts == NULL) return carom_fail_memory(w->context, w->grid->counts * 8, "bins");
    CAROM_CPU_CALL(w->context, carom_gas_distances_count)(w->grid, range.begin, range.end, counts);
    carom_progress_add(w->context, range.worker, range.end - range.begin);
    return CAROM_OK;
}

static void add_distance_counts(const count_work *w, double *weights) {
    const carom_gas_distance_grid *grid = w->grid;
    for (uint64_t k = 0; k < grid->bins; ++k) {
        const carom_gas_distance_counts *counts;
        carom_sum sum = {0, 0, 0};
        for (uint32_t n = 0; (counts = carom_worker_states_next(&w->states, &n)) != NULL;)
            sum = carom_sum_add(
                sum, (carom_sum){.low = counts->low[k], .high = grid->walls ? counts->high[k] : 0});
        weights[k] = carom_sum_value(sum, grid->walls ? -CAROM_GAS_WEIGHT_BITS : 0);
    }
}

static carom_status count_pairs(carom_context *context, const carom_gas *gas,
                                carom_gas_distance_grid *grid, double *weights) {
    const uint64_t rows = (uint64_t)grid->size[1] * grid->size[2];
    carom_progress_begin(context, "counting pairs", rows);
    CAROM_TRY(sort_positions(context, gas, grid));
    count_work work = {.context = context, .grid = grid};
    CAROM_TRY(carom_worker_states_begin(&work.states, context, sizeof(carom_gas_distance_counts),
                                        begin_counts, &work));
    carom_status status = carom_parallel_for(context, rows, 1, count_rows, &work);
    if (status == CAROM_OK) add_distance_counts(&work, weights);
    carom_worker_states_release(&work.states);
    return status;
}

carom_status carom_gas_count_distances(carom_context *context, const carom_gas *gas, double step,
                                       double *weights, uint64_t count) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(gas, "gas");
    CAROM_REQUIRE_OUTPUTS(weights, count, "weights");
    CAROM_TRY(check_distances(context, gas, step, count));
    if (gas->count < 2) {
        memset(weights, 0, count * sizeof(*weights));
        return CAROM_OK;
    }
    carom_gas_distance_grid grid = {.step = step,
                                    .per_step = 1.0 / step,
                                    .range = step * (double)count,
                                    .bins = count,
                                    .walls = gas->rules.walls != 0};
    for (int axis = 0; axis < 3; ++axis) {
        bool periodic = gas->rules.periodic[axis] != 0;
        double edge = gas->rules.edge[axis];
        grid.wrap[axis] = periodic ? edge : HUGE_VAL;
        grid.length[axis] = periodic ? 0.0 : edge - 2.0 * gas->smallest;
    }
    choose_distance_cells(&grid, gas);
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = carom_progress_finish(context, count_pairs(context, gas, &grid, weights));
    carom_arena_rewind(scratch, mark);
    return status;
}
