/* SPDX-License-Identifier: MIT */
/* Present state and measures of a gas. Invariant: sums run in the order of ids, so they do not
 * depend on the order in memory. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/math.h"
#include "gas/gas_levels.h"

CAROM_RESULT_DEFINE_FREE(carom_gas_spheres);
CAROM_RESULT_FILL(carom_gas_spheres);

double carom_gas_get_time(const carom_gas *gas) {
    CAROM_REQUIRE_OR(gas != NULL, CAROM_IS_NULL("gas"), 0.0);
    return carom_gas_time_of(gas, gas->now);
}

void carom_gas_now(const carom_gas *gas, uint32_t slot, double x[3], double v[3]) {
    const carom_gas_body *body = &gas->bodies[slot];
    carom_gas_state_at(&gas->rules, body, carom_gas_span(&gas->rules, gas->now - body->t), x, v);
    for (int axis = 0; axis < 3; ++axis)
        if (gas->rules.periodic[axis])
            x[axis] -= gas->rules.edge[axis] * floor(x[axis] / gas->rules.edge[axis]);
}

static void gas_measure_get_sphere(const carom_gas *gas, uint32_t slot, carom_gas_sphere *sphere) {
    double x[3], v[3];
    carom_gas_now(gas, slot, x, v);
    sphere->position = (carom_vec3){x[0], x[1], x[2]};
    sphere->velocity = (carom_vec3){v[0], v[1], v[2]};
    sphere->radius = carom_gas_radius(gas, slot);
    sphere->mass = carom_gas_mass(gas, slot);
}

carom_status carom_gas_list_spheres(carom_context *context, const carom_gas *gas,
                                    carom_gas_spheres *spheres) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(gas, "gas");
    CAROM_REQUIRE_RESULT(spheres, "spheres");
    uint64_t space = 0;
    CAROM_TRY(carom_gas_spheres_begin(context, &context->allocator, spheres, gas->count, &space));
    uint64_t filled = 0;
    for (uint64_t label = 0; label < gas->labels && filled < space; ++label)
        if (gas->slot_of[label] != CAROM_GAS_NO_SLOT)
            gas_measure_get_sphere(gas, gas->slot_of[label], &spheres->data[filled++]);
    return carom_gas_spheres_end(spheres);
}

carom_status carom_gas_find_sphere(carom_context *context, const carom_gas *gas, uint32_t id,
                                   carom_gas_sphere *sphere) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(gas, "gas");
    CAROM_REQUIRE_OUTPUT(sphere, "sphere");
    if (id >= gas->labels || gas->slot_of[id] == CAROM_GAS_NO_SLOT)
        return carom_fail(context, CAROM_BAD_INPUT, "there is no sphere with the id %u", id);
    gas_measure_get_sphere(gas, gas->slot_of[id], sphere);
    return CAROM_OK;
}

#define LABELS_AHEAD 16 /* bodies are in the order of space, and sums in that of labels */

static inline __attribute__((always_inline)) void prefetch_label(const carom_gas *gas,
                                                                 uint64_t label) {
    if (label >= gas->labels || gas->slot_of[label] == CAROM_GAS_NO_SLOT) return;
    __builtin_prefetch(&gas->bodies[gas->slot_of[label]]);
}

carom_status carom_gas_measure(carom_context *context, const carom_gas *gas,
                               carom_gas_measures *m) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(gas, "gas");
    CAROM_REQUIRE_OUTPUT(m, "measures");
    *m = (carom_gas_measures){.time = carom_gas_get_time(gas) - gas->measured_from,
                              .spheres = gas->count,
                              .collisions = gas->collisions,
                              .wall_hits = gas->wall_hits,
                              .crossings = gas->crossings,
                              .predictions = gas->predictions,
                              .virial = gas->virial.sum + gas->virial.rest,
                              .packing_fraction = gas->packing};
    double n = (double)gas->count, speeds = 0.0;
    for (uint64_t label = 0; label < gas->labels; ++label) {
        uint32_t slot = gas->slot_of[label];
        prefetch_label(gas, label + LABELS_AHEAD);
        if (slot == CAROM_GAS_NO_SLOT) continue;
        double x[3], v[3], mass = carom_gas_mass(gas, slot);
        carom_gas_now(gas, slot, x, v);
        double square = (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2];
        m->energy += 0.5 * mass * square;
        m->momentum.x += mass * v[0];
        m->momentum.y += mass * v[1];
        m->momentum.z += mass * v[2];
        speeds += sqrt(square);
    }
    m->mean_speed = n > 0.0 ? speeds / n : 0.0;
    double scale = 2.0 * m->energy * m->time;
    m->z = !gas->rules.walls && scale > 0.0 ? 1.0 + m->virial / scale : (double)NAN;
    if (!isfinite(m->z)) m->z = (double)NAN;
    m->collision_rate =
        m->time > 0.0 && n > 0.0 ? 2.0 * (double)gas->collisions / (n * m->time) : 0.0;
    m->mean_free_path = m->collision_rate > 0.0 ? m->mean_speed / m->collision_rate : HUGE_VAL;
    return CAROM_OK;
}

carom_status carom_gas_reset_measures(carom_context *context, carom_gas *gas) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(gas, "gas");
    gas->collisions = gas->wall_hits = gas->crossings = 0;
    gas->sort_after =
        gas->sort_after == UINT64_MAX ? UINT64_MAX : gas->sort_after - gas->predictions;
    gas->predictions = 0;
    gas->virial = (carom_gas_total){0.0, 0.0};
    gas->measured_from = carom_gas_get_time(gas);
    return CAROM_OK;
}

/* Bytes of the levels of cells, without those of the finest. */
static uint64_t level_bytes(const carom_gas *gas) {
    uint64_t bytes = gas->levels.count * sizeof(*gas->levels.level);
    for (uint32_t k = 1; k < gas->levels.count; ++k) {
        const carom_gas_cells *cells = &gas->levels.level[k].cells;
        bytes += (cells->count + cells->overflow_capacity) * sizeof(carom_gas_cell);
    }
    return bytes;
}

carom_status carom_gas_get_info(const carom_gas *gas, carom_gas_info *info) {
    CAROM_REQUIRE_INPUT(gas, "gas");
    CAROM_REQUIRE_OUTPUT(info, "info");
    *info = (carom_gas_info){
        .method = gas->method,
        .queue = gas->def.queue,
        .cell_edge = HUGE_VAL,
        .edges = gas->def.edges,
        .periodic = {gas->def.periodic[0], gas->def.periodic[1], gas->def.periodic[2]},
        .tick = gas->rules.tick,
        .threads_used = gas->counts.threads,
        .windows = gas->counts.windows,
        .undone = gas->counts.undone};
    if (gas->counts.steps != 0) {
        info->held_share = (double)gas->counts.kept / (double)gas->counts.steps;
        info->serial_share = (double)gas->counts.serial / (double)gas->counts.steps;
    }
    double volume = gas->rules.edge[0] * gas->rules.edge[1] * gas->rules.edge[2];
    if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS) info->cutoff = gas->lists.cutoff;
    info->model_edge = carom_gas_model_edge((double)gas->count / volume, gas->largest);
    for (int axis = 0; axis < 3; ++axis) {
        info->cells[axis] = gas->cells.size[axis];
        info->cell_edge = fmin(info->cell_edge, gas->cells.edge[axis]);
    }
    info->bytes =
        sizeof(*gas) + 4 * gas->label_capacity +
        gas->capacity *
            (sizeof(carom_gas_body) + sizeof(carom_gas_record) + sizeof(carom_gas_trajectory) +
             (gas->radius != NULL ? sizeof(*gas->radius) : 0) +
             (gas->mass != NULL ? sizeof(*gas->mass) : 0)) +
        (gas->cells.count + gas->cells.overflow_capacity) * sizeof(carom_gas_cell) +
        level_bytes(gas) + (gas->lists.entries != NULL ? gas->count * gas->lists.stride * 4 : 0) +
        (gas->lists.centres != NULL ? gas->count * sizeof(carom_gas_centre) : 0) +
        gas->calendar.chunk_count * sizeof(carom_gas_chunk) +
        gas->calendar.window_capacity * sizeof(carom_gas_queue_entry) + gas->calendar.buckets * 4 +
        gas->tree.count * 8;
    return CAROM_OK;
}

/* ---- Overlap --------------------------------------------------------------------------------- */

#define CELL_MARGIN                 1.0001 /* of an edge: rounding of cell_at is far less */
#define GAS_MEASURE_MOST_CELLS_AXIS 512.0  /* 2^27 cells, as many as spheres */
/* Pairs between checks for cancellation: some 5 ms. */
#define MOST_UNLOOKED (UINT64_C(1) << 20)

/* The position in the box, or one rounding outside of it. */
static inline void overlap_position(const carom_gas *gas, uint32_t slot, double x[3]) {
    const carom_gas_body *body = &gas->bodies[slot];
    double v[3];
    carom_gas_state_at(&gas->rules, body, carom_gas_span(&gas->rules, gas->now - body->t), x, v);
    for (int axis = 0; axis < 3; ++axis) {
        const double edge = gas->rules.edge[axis];
        if (gas->rules.periodic[axis] && !(x[axis] >= 0.0 && x[axis] < edge))
            x[axis] -= edge * floor(x[axis] / edge);
    }
}

/* The spheres of some range of radii. Where radii are unlike there is a grid for each power of two
 * of them; a sphere is compared with those of its own grid and of the grids of larger ones, so that
 * each pair is found from the smaller one at least. */
typedef struct overlap_grid {
    const carom_gas *gas;
    uint32_t *start, *slots; /* cell -> range of slots */
    uint32_t size[3];
    uint64_t count;
    double largest; /* radius */
} overlap_grid;

#define MOST_OVERLAP_GRIDS 64 /* powers of two: radii are at most 1e15 = 2^50 apart */

static uint32_t cell_at(const overlap_grid *grid, const double x[3], int at[3]) {
    for (int axis = 0; axis < 3; ++axis) {
        double cell = x[axis] / grid->gas->rules.edge[axis] * grid->size[axis];
        double last = grid->size[axis] - 1.0;
        cell = CAROM_MAX(cell, 0.0);
        at[axis] = (int)CAROM_MIN(cell, last);
    }
    return ((uint32_t)at[2] * grid->size[1] + (uint32_t)at[1]) * grid->size[0] + (uint32_t)at[0];
}

/* How deep spheres i, whose position is x, and k overlap; 0 where they do not. Positions are
 * computed for each comparison: an array of them would be a fifteenth of the memory of a gas. */
static double overlap_of(const overlap_grid *grid, const double x[3], uint32_t i, uint32_t k) {
    double square = 0.0, contact = carom_gas_contact_distance(grid->gas, i, k), y[3];
    overlap_position(grid->gas, k, y);
    for (int axis = 0; axis < 3; ++axis) {
        double d = fabs(x[axis] - y[axis]);
        double around = fabs(d - grid->gas->rules.edge[axis]);
        if (grid->gas->rules.periodic[axis]) d = CAROM_MIN(d, around);
        square += d * d;
    }
    /* Roots are rounded monotonously, so that of a larger square is not below the contact. */
    return square > contact * contact ? 0.0 : (contact - sqrt(square)) / contact;
}

/* The deepest overlap with a sphere of the grid from slot `first` on that is deeper than `deepest`.
 */
static double look_around(const overlap_grid *grid, const double x[3], uint32_t i, uint32_t first,
                          double deepest, uint32_t *partner, uint64_t *looked_at) {
    int at[3];
    (void)cell_at(grid, x, at);
    for (int n = 0; n < 27; ++n) {
        int offset[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        uint32_t to[3];
        bool inside = true;
        for (int axis = 0; axis < 3; ++axis) {
            int size = (int)grid->size[axis], cell = at[axis] + offset[axis];
            if (cell < 0 || cell >= size) inside &= grid->gas->rules.periodic[axis] != 0;
            to[axis] = (uint32_t)((cell + size) % size);
        }
        if (!inside) continue;
        uint32_t cell = (to[2] * grid->size[1] + to[1]) * grid->size[0] + to[0];
        *looked_at += grid->start[cell + 1] - grid->start[cell];
        for (uint32_t s = grid->start[cell]; s < grid->start[cell + 1]; ++s) {
            if (grid->slots[s] < first) continue;
            double overlap = overlap_of(grid, x, i, grid->slots[s]);
            if (overlap > deepest) {
                deepest = overlap;
                *partner = grid->slots[s];
            }
        }
    }
    return deepest;
}

/* The deepest overlap among a range of slots, the first of these where several are equal. */
typedef struct deepest_overlap {
    double overlap;
    uint32_t slots[2];
} deepest_overlap;

typedef struct overlap_work {
    carom_context *context;
    const carom_gas *gas;
    bool one_grid;
    uint32_t grid_count;
    overlap_grid grids[MOST_OVERLAP_GRIDS]; /* the smallest radii first */
    deepest_overlap *by_range;
} overlap_work;

/* The power of two of a radius, in smallest radii; 0 where one grid serves all. */
static uint32_t overlap_class(const overlap_work *work, uint32_t slot) {
    int class = 0;
    if (work->one_grid) return 0;
    (void)frexp(carom_gas_radius(work->gas, slot) / work->gas->smallest, &class);
    CAROM_ASSERT(class >= 0 && class < MOST_OVERLAP_GRIDS);
    return (uint32_t) class;
}

/* Spheres per range: some milliseconds, and the result of a range is small beside them. */
#define OVERLAP_GRAIN 2048

static void look_at_walls(const carom_gas *gas, const double position[3], uint32_t i,
                          double *deepest, uint32_t *partner) {
    for (int axis = 0; axis < 3; ++axis) {
        if (gas->rules.periodic[axis]) continue;
        double x = position[axis], radius = carom_gas_radius(gas, i);
        double out = fmax(radius - x, x + radius - gas->rules.edge[axis]) / (2.0 * radius);
        if (!(out > *deepest)) continue;
        *deepest = out;
        *partner = i;
    }
}

static carom_status find_deepest(void *argument, carom_range range) {
    overlap_work *work = argument;
    deepest_overlap *found = &work->by_range[range.begin / OVERLAP_GRAIN];
    uint64_t looked_at = 0;
    *found = (deepest_overlap){0.0, {0, 0}};
    for (uint64_t i = range.begin; i < range.end; ++i) {
        uint32_t partner = 0;
        double deepest = 0.0, x[3];
        overlap_position(work->gas, (uint32_t)i, x);
        const uint32_t own = overlap_class(work, (uint32_t)i);
        for (uint32_t k = own; k < work->grid_count; ++k) {
            uint32_t first = k == own ? (uint32_t)i + 1 : 0; /* each pair once */
            if (work->grids[k].count != 0)
                deepest = look_around(&work->grids[k], x, (uint32_t)i, first, deepest, &partner,
                                      &looked_at);
        }
        if (looked_at > MOST_UNLOOKED) { /* many spheres in few cells */
            looked_at = 0;
            if (carom_progress_stop(work->context, range.worker)) return CAROM_CANCELLED;
        }
        look_at_walls(work->gas, x, (uint32_t)i, &deepest, &partner);
        if (deepest > found->overlap) *found = (deepest_overlap){deepest, {(uint32_t)i, partner}};
    }
    carom_progress_add(work->context, range.worker, range.end - range.begin);
    return CAROM_OK;
}

/* Takes the arrays of a grid from the scratch of worker 0. */
static bool begin_overlap_grid(carom_context *context, overlap_grid *grid) {
    const carom_gas *gas = grid->gas;
    carom_arena *scratch = carom_scratch(context, 0);
    double least =
        fmax(2.0 * grid->largest, gas->longest / fmax(1.0, carom_cbrt((double)grid->count)));
    uint64_t cells = 1;
    for (int axis = 0; axis < 3; ++axis) {
        double size = floor(gas->rules.edge[axis] / (least * CELL_MARGIN));
        grid->size[axis] = (uint32_t)fmin(fmax(size, 1.0), GAS_MEASURE_MOST_CELLS_AXIS);
        cells *= grid->size[axis];
    }
    grid->start = CAROM_ARENA_TAKE(scratch, uint32_t, cells + 2);
    grid->slots = CAROM_ARENA_TAKE(scratch, uint32_t, grid->count);
    if (grid->start == NULL || grid->slots == NULL) return false;
    memset(grid->start, 0, (cells + 2) * sizeof(uint32_t));
    return true;
}

static uint64_t overlap_cells(const overlap_grid *grid) {
    return (uint64_t)grid->size[0] * grid->size[1] * grid->size[2];
}

/* Sorts the spheres into the cells of their grids. */
static carom_status fill_overlap_grids(carom_context *context, overlap_work *work) {
    const carom_gas *gas = work->gas;
    int at[3];
    double x[3];
    for (uint64_t i = 0; i < gas->count; ++i) {
        CAROM_TRY(carom_gas_look(context, i, 0));
        const uint32_t class = overlap_class(work, (uint32_t)i);
        overlap_grid *grid = &work->grids[class];
        work->grid_count = CAROM_MAX(work->grid_count, class + 1);
        ++grid->count;
        grid->largest = fmax(grid->largest, carom_gas_radius(gas, (uint32_t)i));
    }
    for (uint32_t k = 0; k < MOST_OVERLAP_GRIDS; ++k) {
        work->grids[k].gas = gas;
        if (work->grids[k].count != 0 && !begin_overlap_grid(context, &work->grids[k]))
            return carom_fail_memory(context, gas->count * 8, "the search for overlaps");
    }
    for (uint64_t i = 0; i < gas->count; ++i) {
        CAROM_TRY(carom_gas_look(context, i, 0));
        overlap_grid *grid = &work->grids[overlap_class(work, (uint32_t)i)];
        overlap_position(gas, (uint32_t)i, x);
        ++grid->start[cell_at(grid, x, at) + 2];
    }
    for (uint32_t k = 0; k < MOST_OVERLAP_GRIDS; ++k)
        for (uint64_t c = 2; work->grids[k].count != 0 && c < overlap_cells(&work->grids[k]) + 2;
             ++c)
            work->grids[k].start[c] += work->grids[k].start[c - 1];
    for (uint64_t i = 0; i < gas->count; ++i) {
        CAROM_TRY(carom_gas_look(context, i, 0));
        overlap_grid *grid = &work->grids[overlap_class(work, (uint32_t)i)];
        overlap_position(gas, (uint32_t)i, x);
        grid->slots[grid->start[cell_at(grid, x, at) + 1]++] = (uint32_t)i;
    }
    return CAROM_OK;
}

static carom_status find_deepest_of_all(carom_context *context, const carom_gas *gas,
                                        double *overlap, uint32_t pair[2]) {
    overlap_work work = {.context = context, .gas = gas, .one_grid = !carom_gas_needs_levels(gas)};
    uint64_t ranges = (gas->count + OVERLAP_GRAIN - 1) / OVERLAP_GRAIN;
    CAROM_TRY(fill_overlap_grids(context, &work));
    work.by_range = CAROM_ARENA_TAKE(carom_scratch(context, 0), deepest_overlap, ranges);
    if (work.by_range == NULL)
        return carom_fail_memory(context, ranges * sizeof(*work.by_range), "overlaps");
    CAROM_TRY(carom_parallel_for(context, gas->count, OVERLAP_GRAIN, find_deepest, &work));
    for (uint64_t k = 0; k < ranges; ++k) {
        const deepest_overlap *found = &work.by_range[k];
        if (!(found->overlap > *overlap)) continue;
        *overlap = found->overlap;
        for (int i = 0; i < 2; ++i) pair[i] = gas->records[found->slots[i]].label;
    }
    return CAROM_OK;
}

#define MOST_SCRATCH                                                                               \
    (UINT64_C(8) << 20) /* bytes that are kept: a gas of half a million has as many */

void carom_gas_drop_scratch(carom_context *context) {
    carom_arena *scratch = carom_scratch(context, 0);
    if (scratch->held == 0 && carom_arena_bytes(scratch) > MOST_SCRATCH) carom_arena_free(scratch);
}

carom_status carom_gas_deepest(carom_context *context, const carom_gas *gas, double *overlap,
                               uint32_t pair[2]) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    *overlap = 0.0;
    pair[0] = pair[1] = 0;
    carom_status status = find_deepest_of_all(context, gas, overlap, pair);
    carom_arena_rewind(scratch, mark);
    carom_gas_drop_scratch(context);
    return status;
}

carom_status carom_gas_overlap(carom_context *context, const carom_gas *gas, double *overlap) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(gas, "gas");
    CAROM_REQUIRE_OUTPUT(overlap, "overlap");
    uint32_t pair[2];
    carom_progress_begin(context, "looking for overlaps", gas->count);
    return carom_progress_finish(context, carom_gas_deepest(context, gas, overlap, pair));
}
