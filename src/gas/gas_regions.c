/* SPDX-License-Identifier: MIT */
/* Regions of cells for windows of time, one per thread, and what of them is deep inside.
 *
 * Where there is one grid, regions consist of its cells. Where there are levels of cells, regions
 * consist of the cells of one level, the coarsest whose spheres they handle. Spheres of coarser
 * levels are left to the last part of each window, which is on one thread, and so is what is near
 * to them: cells which one of them may reach are marked and count as not deep inside.
 *
 * A sphere is deep inside a region when CAROM_GAS_DEPTH layers of cells of its own level are
 * between it and the next region; it is handled only with a partner that is deep inside too.
 *
 * Invariant: no thread reads what another writes. A sphere that is handled is refiled at most one
 * layer away, and then looks one layer farther, in its own level and in finer ones: it stays inside
 * its region. In coarser levels it looks at the cells around its parent, which is inside too as
 * grids are nested: at the first layer of the next region at most. There no sphere is handled, and
 * into it none is refiled. The marks are no part of this: they only keep windows from being undone.
 * A coarse sphere is handled last and has several events in a window; each sphere that it meets
 * then must not be ahead of it.
 *
 * Which levels regions handle follows from the rates of collisions of the levels, by kinetic theory
 * of a thin gas, and the cells that an event looks at. */
#include <math.h>
#include <string.h>

#include "gas/gas_levels.h"
#include "gas/gas_windows.h"
#include "geom/lens.h"

#define REGION_GRAIN 8192 /* spheres per range */
/* Marks are good until the fastest coarse sphere has moved by this many cells of regions. */
#define MARK_SLACK 0.25
#define MOST_COARSE_SHARE                                                                          \
    8 /* at most one of so many spheres is left to the last part for its size */
/* Cells that an event looks at for each cell of a finer level at the surface of a sphere: layers
 * within one finest edge on either side, and those that are cut. */
#define SHELL_LAYERS 3.0

/* ---- Layers ---------------------------------------------------------------------------------- */

/* The division of an axis. */
typedef struct axis_regions {
    uint32_t size, shift; /* layers of the finest cells, and of those of regions: size >> shift */
    uint32_t regions;
    bool shifted, periodic;
} axis_regions;

/* The region of a layer of the finest cells. */
static uint32_t column_of(const axis_regions *axis, uint32_t layer) {
    uint64_t at = layer >> axis->shift, size = axis->size >> axis->shift;
    if (axis->shifted) at = (at + size / (2 * axis->regions)) % size;
    return (uint32_t)(at * axis->regions / size);
}

/* True when a layer of cells that are 2^shift of the finest wide is deep inside its region. */
static bool is_layer_deep(const axis_regions *axis, uint32_t layer, uint32_t shift) {
    const int64_t size = axis->size >> shift;
    uint32_t own = column_of(axis, layer << shift);
    for (int64_t d = -CAROM_GAS_DEPTH; d <= CAROM_GAS_DEPTH; ++d) {
        int64_t at = (int64_t)layer + d;
        if (axis->periodic)
            at = (at % size + size) % size;
        else if (at < 0 || at >= size)
            continue;
        if (column_of(axis, (uint32_t)at << shift) != own) return false;
    }
    return true;
}

static uint32_t level_shift(const carom_gas *gas, uint32_t level) {
    return gas->levels.count == 0 ? 0 : gas->levels.level[level].shift;
}

static void fill_tables(const carom_gas *gas, carom_gas_windows *windows) {
    for (uint32_t pass = 0; pass < windows->passes; ++pass) {
        uint32_t divided = 0, unit = 1;
        for (int k = 0; k < 3; ++k) {
            axis_regions axis = {.size = gas->cells.size[k],
                                 .shift = windows->shift,
                                 .regions = windows->split[k],
                                 .periodic = gas->rules.periodic[k]};
            axis.shifted = axis.regions > 1 && (pass >> divided & 1) != 0;
            divided += axis.regions > 1;
            for (uint32_t layer = 0; layer < axis.size; ++layer) {
                uint32_t deep = 0;
                while (deep < windows->handled) { /* deep in a level is deep in finer ones */
                    uint32_t shift = level_shift(gas, deep);
                    if (!is_layer_deep(&axis, layer >> shift, shift)) break;
                    ++deep;
                }
                windows->column[pass][k][layer] = (uint8_t)(unit * column_of(&axis, layer));
                windows->inside[pass][k][layer] = (uint8_t)deep;
            }
            unit *= axis.regions;
        }
    }
}

/* ---- Choice ---------------------------------------------------------------------------------- */

/* The share of the cells of a level that is deep inside in the first pass. */
static double deep_share(const carom_gas *gas, const uint32_t split[3], uint32_t level) {
    double share = 1.0;
    for (int axis = 0; axis < 3; ++axis) {
        double width = (double)(gas->cells.size[axis] >> level_shift(gas, level)) / split[axis];
        if (split[axis] > 1) share *= fmax(1.0 - 2.0 * CAROM_GAS_DEPTH / width, 0.0);
    }
    return share;
}

/* The spheres of a level: their number, sums of radii and of squared speeds, and the cells that an
 * event of one looks at. */
typedef struct level_load {
    double count, radius, square, cells;
} level_load;

static void find_loads(const carom_gas *gas, level_load loads[CAROM_GAS_MOST_LEVELS]) {
    const uint32_t levels = gas->levels.count;
    for (uint32_t k = 0; k < levels; ++k) loads[k] = (level_load){0.0, 0.0, 0.0, 0.0};
    for (uint64_t i = 0; i < gas->count; ++i) {
        level_load *load = &loads[gas->records[i].home.extra];
        const double *v = gas->bodies[i].v;
        load->count += 1.0;
        load->radius += carom_gas_radius(gas, (uint32_t)i);
        load->square += v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    }
    for (uint32_t m = 0; m < levels; ++m) {
        level_load *load = &loads[m];
        load->radius /= fmax(load->count, 1.0);
        load->square /= fmax(load->count, 1.0);
        load->cells = 27.0 * (levels - m);
        for (uint32_t k = 0; k < m; ++k) {
            double across = load->radius / carom_gas_cells_seen(gas, k)->edge[0] + 1.0;
            load->cells += SHELL_LAYERS * 4.0 * CAROM_PI * across * across;
        }
    }
}

/* The distance from a coarse sphere's surface to which cells are marked. */
static double mark_reach(const carom_gas *gas, uint32_t handled) {
    const carom_gas_cells *cells = carom_gas_cells_seen(gas, handled - 1);
    return gas->levels.level[handled - 1].largest + cells->skin[0] + MARK_SLACK * cells->edge[0];
}

/* The share of the space between coarse spheres that is in marked cells: half a cell farther than
 * the reach. */
static double near_share(const carom_gas *gas, const level_load *loads, uint32_t handled) {
    const double reach =
        mark_reach(gas, handled) + 0.5 * carom_gas_cells_seen(gas, handled - 1)->edge[0];
    double space = gas->rules.edge[0] * gas->rules.edge[1] * gas->rules.edge[2], near = 0.0;
    for (uint32_t m = handled; m < gas->levels.count; ++m) {
        double r = loads[m].radius, wide = r + reach;
        near += loads[m].count * 4.0 / 3.0 * CAROM_PI * (wide * wide * wide - r * r * r);
        space -= loads[m].count * 4.0 / 3.0 * CAROM_PI * r * r * r;
    }
    return near < space ? near / space : 1.0;
}

/* What is known of a gas before regions are chosen. */
typedef struct region_plan {
    const carom_gas *gas;
    level_load loads[CAROM_GAS_MOST_LEVELS];
    double near[CAROM_GAS_MOST_LEVELS]; /* near_share, by the number of levels handled less one */
} region_plan;

/* The expected gain where the finest `handled` levels are divided: the work that needs no second
 * pass times the regions, and by Amdahl's law less for what is left to one thread. */
static double gain_of_split(const region_plan *plan, uint32_t handled, const uint32_t split[3]) {
    const level_load *loads = plan->loads;
    const double regions = (double)split[0] * split[1] * split[2];
    const uint32_t levels = CAROM_MAX(plan->gas->levels.count, 1);
    double work = 0.0, shared = 0.0, deep = 0.0;
    if (levels == 1) return regions * deep_share(plan->gas, split, 0);
    for (uint32_t m = 0; m < levels; ++m)
        for (uint32_t k = 0; k < levels; ++k) {
            double reach = loads[m].radius + loads[k].radius;
            double one = loads[m].count * loads[k].count * reach * reach *
                         sqrt(loads[m].square + loads[k].square) *
                         (loads[m].cells + loads[k].cells);
            work += one;
            if (m >= handled || k >= handled) continue;
            shared += one;
            deep += one * deep_share(plan->gas, split, CAROM_MAX(m, k));
        }
    if (!(deep > 0.0)) return 0.0;
    const double gain = regions * deep / shared;
    shared *= (1.0 - plan->near[handled - 1]) / work;
    return 1.0 / (1.0 - shared + shared / gain);
}

/* Divides one axis or two into at most `threads` regions; the gain, or -1 where that is impossible.
 */
static double choose_split(const region_plan *plan, uint32_t handled, uint32_t threads,
                           uint32_t split[3]) {
    double best = -1.0;
    uint32_t size[3];
    for (int axis = 0; axis < 3; ++axis)
        size[axis] = plan->gas->cells.size[axis] >> level_shift(plan->gas, handled - 1);
    for (int axis = 0; axis < 3; ++axis)
        for (uint32_t n = 2; n <= threads; ++n)
            for (uint32_t m = 1; n * m <= threads; ++m) {
                uint32_t tried[3] = {1, 1, 1};
                tried[axis] = n;
                tried[(axis + 1) % 3] = m;
                if (tried[0] > size[0] || tried[1] > size[1] || tried[2] > size[2]) continue;
                double gain = gain_of_split(plan, handled, tried);
                if (gain <= best) continue;
                best = gain;
                memcpy(split, tried, sizeof(tried));
            }
    return best;
}

double carom_gas_regions_choose(const carom_gas *gas, uint32_t threads,
                                carom_gas_windows *windows) {
    const uint32_t levels = CAROM_MAX(gas->levels.count, 1);
    region_plan plan = {.gas = gas};
    double best = -1.0, coarse = 0.0;
    if (levels > 1) find_loads(gas, plan.loads);
    for (uint32_t handled = levels; handled > 0; --handled) {
        uint32_t split[3] = {1, 1, 1};
        if (handled < levels) {
            coarse += plan.loads[handled].count;
            plan.near[handled - 1] = near_share(gas, plan.loads, handled);
        }
        if (coarse * MOST_COARSE_SHARE > (double)gas->count) break;
        double gain = choose_split(&plan, handled, threads, split);
        if (gain <= best) continue;
        best = gain;
        windows->handled = handled;
        windows->shift = level_shift(gas, handled - 1);
        memcpy(windows->split, split, sizeof(split));
    }
    windows->lanes = windows->split[0] * windows->split[1] * windows->split[2];
    windows->passes = 1;
    for (int axis = 0; axis < 3; ++axis) windows->passes *= windows->split[axis] > 1 ? 2 : 1;
    return best;
}

/* ---- What coarse spheres may reach ----------------------------------------------------------- */

/* Marks the cells of regions within `outer` of x; not those inside `inner`, which are empty. */
static void mark_ball(const carom_gas *gas, carom_gas_windows *windows, const double x[3],
                      double outer, double inner) {
    const carom_gas_cells *cells = carom_gas_cells_seen(gas, windows->handled - 1);
    int64_t low[3], high[3], at[3];
    for (int axis = 0; axis < 3; ++axis) {
        double last = (double)cells->size[axis] - 1.0;
        low[axis] = (int64_t)floor((x[axis] - outer) * cells->per_edge[axis]);
        high[axis] = (int64_t)floor((x[axis] + outer) * cells->per_edge[axis]);
        if (gas->rules.periodic[axis]) {
            high[axis] = CAROM_MIN(high[axis], low[axis] + (int64_t)last);
        } else {
            low[axis] = CAROM_MAX(low[axis], 0);
            high[axis] = CAROM_MIN(high[axis], (int64_t)last);
        }
    }
    for (at[2] = low[2]; at[2] <= high[2]; ++at[2])
        for (at[1] = low[1]; at[1] <= high[1]; ++at[1])
            for (at[0] = low[0]; at[0] <= high[0]; ++at[0]) {
                double near = 0.0, far = 0.0;
                uint32_t layer[3];
                for (int axis = 0; axis < 3; ++axis) {
                    const int64_t size = cells->size[axis];
                    double from = (double)at[axis] * cells->edge[axis] - x[axis];
                    double to = from + cells->edge[axis];
                    double nearest = from > 0.0 ? from : to < 0.0 ? -to : 0.0;
                    near += nearest * nearest;
                    far += fmax(from * from, to * to);
                    layer[axis] = (uint32_t)((at[axis] % size + size) % size) << windows->shift;
                }
                if (near > outer * outer || far < inner * inner) continue;
                windows->near[carom_gas_near_index(gas, windows, layer)] = 1;
            }
}

void carom_gas_regions_mark(const carom_gas *gas, carom_gas_windows *windows) {
    windows->near_until = INT64_MAX;
    if (windows->near == NULL) return;
    const carom_gas_cells *cells = carom_gas_cells_seen(gas, windows->handled - 1);
    const double reach = mark_reach(gas, windows->handled);
    double fastest = 0.0;
    memset(windows->near, 0,
           (uint64_t)cells->size[0] * cells->size[1] * cells->size[2] * sizeof(*windows->near));
    for (uint64_t i = 0; i < windows->coarse_count; ++i) {
        double x[3], v[3], radius = carom_gas_radius(gas, windows->coarse[i]);
        carom_gas_now(gas, windows->coarse[i], x, v);
        fastest = fmax(fastest, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
        mark_ball(gas, windows, x, radius + reach, fmax(radius - reach, 0.0));
    }
    double delay = fastest > 0.0 ? MARK_SLACK * cells->edge[0] / fastest : CAROM_GAS_NEVER_DELAY;
    windows->near_until = carom_gas_after(&gas->rules, gas->now, delay);
}

/* ---- Creation -------------------------------------------------------------------------------- */

static bool create_coarse(const carom_gas *gas, carom_gas_windows *windows) {
    const carom_gas_cells *cells = carom_gas_cells_seen(gas, windows->handled - 1);
    uint64_t all = (uint64_t)cells->size[0] * cells->size[1] * cells->size[2];
    windows->coarse_count = 0;
    for (uint64_t i = 0; i < gas->count; ++i)
        windows->coarse_count += gas->records[i].home.extra >= windows->handled;
    windows->near = carom_allocate(&gas->allocator, all, sizeof(*windows->near));
    windows->coarse =
        carom_allocate(&gas->allocator, windows->coarse_count, sizeof(*windows->coarse));
    if (windows->near == NULL || windows->coarse == NULL) return false;
    windows->coarse_count = 0;
    for (uint64_t i = 0; i < gas->count; ++i)
        if (gas->records[i].home.extra >= windows->handled)
            windows->coarse[windows->coarse_count++] = (uint32_t)i;
    carom_gas_regions_mark(gas, windows);
    return true;
}

bool carom_gas_regions_create(const carom_gas *gas, carom_gas_windows *windows) {
    const carom_allocator *a = &gas->allocator;
    bool good = true;
    for (uint32_t pass = 0; pass < windows->passes; ++pass) {
        windows->region[pass] = carom_allocate(a, gas->count, 1);
        good = good && windows->region[pass] != NULL;
        for (int axis = 0; axis < 3; ++axis) {
            windows->column[pass][axis] = carom_allocate(a, gas->cells.size[axis], 1);
            windows->inside[pass][axis] = carom_allocate(a, gas->cells.size[axis], 1);
            good =
                good && windows->column[pass][axis] != NULL && windows->inside[pass][axis] != NULL;
        }
    }
    windows->near_until = INT64_MAX;
    if (good) fill_tables(gas, windows);
    if (good && windows->handled < gas->levels.count) good = create_coarse(gas, windows);
    return good;
}

void carom_gas_regions_release(const carom_gas *gas, carom_gas_windows *windows) {
    for (uint32_t pass = 0; pass < CAROM_GAS_MOST_PASSES; ++pass) {
        carom_release(&gas->allocator, windows->region[pass]);
        for (int axis = 0; axis < 3; ++axis)
            CAROM_RELEASE_ALL(&gas->allocator, windows->column[pass][axis],
                              windows->inside[pass][axis]);
    }
    CAROM_RELEASE_ALL(&gas->allocator, windows->near, windows->coarse);
}

typedef struct region_work {
    const carom_gas *gas;
    const carom_gas_windows *windows;
} region_work;

static carom_status find_gas_regions(void *argument, carom_range range) {
    const region_work *w = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        uint32_t at[3];
        carom_gas_finest_layers(w->gas, &w->gas->records[i].home, at);
        for (uint32_t pass = 0; pass < w->windows->passes; ++pass) {
            uint8_t *const *column = w->windows->column[pass];
            w->windows->region[pass][i] =
                (uint8_t)(column[0][at[0]] + column[1][at[1]] + column[2][at[2]]);
        }
    }
    return CAROM_OK;
}

carom_status carom_gas_regions_find(carom_context *context, const carom_gas *gas,
                                    carom_gas_windows *windows) {
    region_work work = {gas, windows};
    return carom_parallel_for(context, gas->count, REGION_GRAIN, find_gas_regions, &work);
}
