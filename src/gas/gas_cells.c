/* SPDX-License-Identifier: MIT */
/* Choice of the method and of the cell size (after Kim, Guibas and Shin), and filing of the
 * spheres.
 *
 * Invariant: the least edge of a cell exceeds the contact distance by a margin, and the skin is
 * measured from that least edge. So two spheres are in neighbouring cells for some time before they
 * touch, and rounding in the crossing times, which are not exact, cannot hide a collision. */
#include "gas/gas_levels.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "geom/lens.h"

/* The cell edge L is the root of 2 n0 (L + 2r)^2 (c1 pi r^2 n0 L^2 + c3 (L - r)) = c4. The unit
 * costs are c1 of a collision, c3 of a pair test, c4 of entering a cell, in units of c3. They are
 * fitted to the fastest cells of CAROM_GAS_METHOD_CENTRE at 11,000 spheres: 3.0 diameters at a
 * packing fraction of 0.018 and 1.5 at 0.1. */
#define COST_COLLISION 0.7
#define COST_CROSSING  3.0

#define HALVINGS 60 /* of an interval that doubles make no smaller after 53 */

static double model_excess(double density, double radius, double edge) {
    double wide = edge + 2.0 * radius;
    double terms =
        COST_COLLISION * CAROM_PI * radius * radius * density * edge * edge + (edge - radius);
    return 2.0 * density * wide * wide * terms - COST_CROSSING;
}

double carom_gas_model_edge(double density, double radius) {
    double low = 2.0 * radius, high = 2.0 * radius;
    if (!(density > 0.0) || model_excess(density, radius, low) >= 0.0) return low;
    while (model_excess(density, radius, high) < 0.0) high *= 2.0;
    for (int i = 0; i < HALVINGS; ++i) {
        double middle = 0.5 * (low + high);
        if (model_excess(density, radius, middle) < 0.0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Margins of the least cell edge. A crossing is early or late by up to a tick, so two spheres may
 * be nearer than their cells tell by twice CAROM_GAS_MOST_STEP of the smallest radius: 0.95e-6 of a
 * diameter. Positions are rounded at up to CAROM_GAS_MOST_DRIFT edges from the box, a few times
 * 32 * 2^-53 of an edge: below 1e-13. */
#define EDGE_MARGIN            1e-6 /* of the distance to search */
#define GAS_CELLS_WIDTH_MARGIN 1e-9 /* of the longest edge of the box */

/* The same for lists, whose centres are floats: ten times what carom_gas_lists_create adds, so that
 * spheres that are to be listed are in neighbouring cells. */
#define LIST_EDGE_MARGIN  1e-4 /* of the largest radius */
#define LIST_WIDTH_MARGIN 1e-5 /* of the longest edge of the box */

double carom_gas_least_edge(const carom_gas *gas, double distance) {
    double largest = 0.0;
    for (int axis = 0; axis < 3; ++axis) largest = fmax(largest, gas->rules.edge[axis]);
    return distance * (1.0 + EDGE_MARGIN) + GAS_CELLS_WIDTH_MARGIN * largest;
}

/* The same for neighbour lists, whose centres are rounded to float. */
static double least_lists(const carom_gas *gas, double skin) {
    return carom_gas_least_edge(gas, 2.0 * gas->largest + 2.0 * skin) +
           LIST_EDGE_MARGIN * gas->largest + LIST_WIDTH_MARGIN * gas->longest;
}

/* Packing fraction from which neighbour lists are faster; measured. At 0.42 they take 1.2 times as
 * long as cells (10,000 spheres). */
#define LISTS_FROM 0.45
/* Largest ratio of radii for lists by default: the list of a small sphere reaches as far as that of
 * a large one, and holds the more the smaller the others are. */
#define LIST_RADIUS_RATIO 1.5
/* Cutoffs in largest diameters, measured: longer lists take longer to scan, but are rebuilt less
 * often. In a dense gas spheres hardly move far. At 0.49 cutoffs of 1.4 and 1.8 take 1.01
 * and 1.04 times as long as 1.6. */
#define DENSE_PACKING 0.4 /* packing fraction */
#define CUTOFF_DENSE  1.6
#define CUTOFF        1.8
#define LEAST_CUTOFF  1.01 /* less leaves no skin, and lists would be rebuilt at every event */
/* The least skin, as a share of the least cell edge: a path of 2^-20 radii per tick is far less. */
#define LEAST_SKIN 0.001
/* The least width of a periodic box for lists, in least cell edges: no image beyond the next box.
 */
#define LIST_BOX 1.0001
/* Lengths whose squares are well within the range of floats, 1e-38 to 3e38. */
#define LEAST_LISTED 1e-15
#define MOST_LISTED  1e18

static void choose_method(carom_gas *gas) {
    gas->method = gas->def.method;
    if (carom_gas_is_unlike(gas)) gas->method = CAROM_GAS_METHOD_CENTRE;
    bool alike = gas->largest < LIST_RADIUS_RATIO * gas->smallest;
    if (gas->method == CAROM_GAS_METHOD_AUTO)
        gas->method = gas->packing >= LISTS_FROM && alike ? CAROM_GAS_METHOD_NEIGHBOURS
                                                          : CAROM_GAS_METHOD_CENTRE;
    if (gas->method != CAROM_GAS_METHOD_NEIGHBOURS) return;
    double cutoff = gas->def.cutoff, least = carom_gas_least_edge(gas, 2.0 * gas->largest);
    if (cutoff == 0.0) cutoff = gas->packing > DENSE_PACKING ? CUTOFF_DENSE : CUTOFF;
    gas->lists.cutoff = fmax(cutoff, LEAST_CUTOFF);
    gas->lists.skin = 0.5 * (gas->lists.cutoff * 2.0 * gas->largest - least);
    if (gas->lists.skin < LEAST_SKIN * least) gas->lists.skin = LEAST_SKIN * least;
    for (int axis = 0; axis < 3; ++axis) { /* lists contain no images beyond the next box */
        if (!gas->rules.periodic[axis]) continue;
        double most = 0.5 * (gas->rules.edge[axis] - LIST_BOX * least_lists(gas, 0.0));
        gas->lists.skin = fmin(gas->lists.skin, most);
    }
    /* Between walls no sphere moves further than this. */
    gas->lists.skin = fmin(gas->lists.skin, 2.0 * gas->longest);
    /* Centres are floats. In a very wide box rounding alone would exceed the skin, and far from 1
     * the squared distances overflow or underflow. */
    if (gas->lists.skin < fmax(LEAST_SKIN * least, LIST_WIDTH_MARGIN * gas->longest) ||
        gas->largest < LEAST_LISTED || gas->longest > MOST_LISTED)
        gas->method = CAROM_GAS_METHOD_CENTRE;
}

void carom_gas_cells_size(const carom_gas *gas, carom_gas_cells *cells, const double size[3],
                          double least) {
    for (int axis = 0; axis < 3; ++axis) {
        cells->size[axis] = (uint32_t)size[axis];
        cells->edge[axis] = gas->rules.edge[axis] / size[axis];
        cells->per_edge[axis] = size[axis] / gas->rules.edge[axis];
        cells->last.at[axis] = (uint16_t)(cells->size[axis] - 1);
        CAROM_ASSERT(cells->size[axis] >= 1 && cells->size[axis] <= UINT16_MAX);
        cells->skin[axis] = fmax(0.5 * (cells->edge[axis] - least), 0.0);
        cells->ahead[axis] = cells->skin[axis];
    }
    cells->size[3] = 1;
    cells->edge[3] = 1.0;
    cells->count = (uint64_t)carom_gas_layer(cells) * (cells->size[2] + 2);
    CAROM_ASSERT(cells->count < CAROM_GAS_MOST_CELLS);
}

/* Where there would be too many cells, their edge grows step by step. */
#define EDGE_STEP 1.1

static void choose_size(carom_gas *gas) {
    double volume = gas->rules.edge[0] * gas->rules.edge[1] * gas->rules.edge[2];
    double least = carom_gas_least_edge(gas, 2.0 * gas->largest);
    double wish = gas->def.cell_edge;
    if (wish == 0.0)
        wish = fmax(carom_gas_model_edge((double)gas->count / volume, gas->largest),
                    CAROM_GAS_LEAST_WISH * 2.0 * gas->largest);
    if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS) {
        least = least_lists(gas, gas->lists.skin);
        wish = gas->def.cell_edge;
    }
    double edge = fmax(wish, least), size[3];
    for (;; edge *= EDGE_STEP) {
        double all = 1.0;
        for (int axis = 0; axis < 3; ++axis) {
            size[axis] = fmin(floor(gas->rules.edge[axis] / edge), CAROM_GAS_MOST_CELLS_AXIS);
            size[axis] = fmax(size[axis], 1.0);
            all *= size[axis] + 2.0;
        }
        if (all <= CAROM_GAS_CELLS_PER_SPHERE * (double)gas->count + CAROM_GAS_SPARE_CELLS &&
            all < (double)CAROM_GAS_MOST_CELLS)
            break;
    }
    for (int axis = 0; axis < 3; ++axis) /* a sphere must not overlap one cell twice */
        if (gas->method == CAROM_GAS_METHOD_EXTENT && gas->rules.periodic[axis] && size[axis] < 2.0)
            gas->method = CAROM_GAS_METHOD_CENTRE;
    carom_gas_cells_size(gas, &gas->cells, size, least);
}

/* Files a sphere at x in every cell it overlaps. */
static void file_extent(carom_gas *gas, uint32_t slot, const double x[3]) {
    carom_gas_home *home = &gas->records[slot].home;
    double radius = carom_gas_extent_radius(gas, slot);
    for (int axis = 0; axis < 3; ++axis) {
        double size = (double)gas->cells.size[axis];
        double low = floor((x[axis] - radius) * gas->cells.per_edge[axis]), boxes = 0.0;
        double high = floor((x[axis] + radius) * gas->cells.per_edge[axis]);
        if (gas->rules.periodic[axis]) {
            boxes = floor(low / size);
        } else {
            low = fmin(fmax(low, 0.0), size - 1.0);
            high = fmin(high, size - 1.0);
        }
        home->at[axis] = (uint16_t)(low - boxes * size);
        gas->bodies[slot].wraps[axis] = (int8_t)boxes;
        if (high > low) home->extra = (uint16_t)(home->extra | 1u << axis);
    }
    for (uint32_t n = 0; n < 8; ++n) {
        if ((n & ~(uint32_t)home->extra) != 0) continue;
        uint64_t at[3];
        for (int axis = 0; axis < 3; ++axis)
            at[axis] = (home->at[axis] + (n >> axis & 1u)) % gas->cells.size[axis];
        carom_gas_cell_add(&gas->cells, carom_gas_cell_index(&gas->cells, at[0], at[1], at[2]),
                           carom_gas_candidate(slot, CAROM_GAS_HERE));
    }
}

/* Files a sphere at its present position. */
static void file_sphere(carom_gas *gas, uint32_t slot) {
    carom_gas_body *body = &gas->bodies[slot];
    carom_gas_home *home = &gas->records[slot].home;
    const uint32_t level = carom_gas_level_of(gas, carom_gas_radius(gas, slot));
    carom_gas_cells *cells = carom_gas_cells_of(gas, level);
    double x[3], v[3];
    carom_gas_state_at(&gas->rules, body, carom_gas_span(&gas->rules, gas->now - body->t), x, v);
    for (int axis = 0; axis < 3; ++axis) {
        double boxes = gas->rules.periodic[axis] ? floor(x[axis] / gas->rules.edge[axis]) : 0.0;
        double at = floor((x[axis] - boxes * gas->rules.edge[axis]) * cells->per_edge[axis]);
        at = fmin(fmax(at, 0.0), (double)cells->size[axis] - 1.0);
        CAROM_ASSERT(at >= 0.0 && at < (double)cells->size[axis]);
        home->at[axis] = (uint16_t)at;
        body->wraps[axis] = (int8_t)boxes;
    }
    home->extra = (uint16_t)level;
    if (gas->method == CAROM_GAS_METHOD_EXTENT) {
        file_extent(gas, slot, x);
        return;
    }
    carom_gas_file(gas, cells, slot, home, true);
}

/* ---- Overflow chains ------------------------------------------------------------------------- */

void carom_gas_chain_add(carom_gas_cells *cells, uint64_t index, uint32_t entry) {
    carom_gas_cell *cell = &cells->cells[index], *after;
    while ((after = carom_gas_cell_after(cells, cell)) != NULL) cell = after;
    uint32_t *last = &cell->entry[CAROM_GAS_CELL_ENTRIES - 1];
    if (*last == CAROM_GAS_EMPTY) {
        cell->entry[carom_gas_cell_taken(cell)] = entry;
        return;
    }
    uint32_t fresh = cells->free_overflow;
    CAROM_ASSERT(fresh < cells->overflow_capacity && cells->free_count != 0);
    carom_gas_cell *next = &cells->cells[cells->count + fresh];
    cells->free_overflow = next->entry[0];
    --cells->free_count;
    next->entry[0] = *last;
    next->entry[1] = entry;
    for (int k = 2; k < CAROM_GAS_CELL_ENTRIES; ++k) next->entry[k] = CAROM_GAS_EMPTY;
    *last = CAROM_GAS_LINK + fresh;
}

/* When one entry is left in an overflow cell, it moves back to the cell before. */
void carom_gas_chain_remove(carom_gas_cells *cells, uint64_t index, uint32_t entry) {
    carom_gas_cell *cell = &cells->cells[index], *before = NULL, *after;
    uint32_t *found = NULL;
    for (;; before = cell, cell = after) {
        for (int k = 0; k < CAROM_GAS_CELL_ENTRIES; ++k)
            if (cell->entry[k] == entry) found = &cell->entry[k];
        if ((after = carom_gas_cell_after(cells, cell)) == NULL) break;
    }
    uint32_t last = carom_gas_cell_taken(cell) - 1;
    CAROM_ASSERT(found != NULL && last < CAROM_GAS_CELL_ENTRIES);
    *found = cell->entry[last];
    cell->entry[last] = CAROM_GAS_EMPTY;
    if (before == NULL || last != 1) return;
    uint32_t *link = &before->entry[CAROM_GAS_CELL_ENTRIES - 1], freed = *link - CAROM_GAS_LINK;
    CAROM_ASSERT(freed < cells->overflow_capacity);
    *link = cell->entry[0];
    cell->entry[0] = cells->free_overflow;
    cells->free_overflow = freed;
    ++cells->free_count;
}

/* ---- Ghost cells ----------------------------------------------------------------------------- */

/* The cells at one coordinate of an axis: the real one and its ghosts. */
static uint32_t find_images(const carom_gas *gas, const carom_gas_cells *cells, int axis,
                            uint32_t at, int64_t step[3], uint32_t digit[3]) {
    uint32_t size = cells->size[axis], count = 1;
    step[0] = 0, digit[0] = 1;
    if (!gas->rules.periodic[axis]) return count;
    if (at == 0) step[count] = size, digit[count++] = 2;
    if (at + 1 == size) step[count] = -(int64_t)size, digit[count++] = 0;
    return count;
}

void carom_gas_file_images(const carom_gas *gas, carom_gas_cells *cells, uint32_t slot,
                           const carom_gas_home *home, bool add) {
    const int64_t stride[3] = {1, carom_gas_row(cells), carom_gas_layer(cells)};
    const uint64_t index = carom_gas_home_index(cells, home);
    int64_t step[3][3];
    uint32_t digit[3][3], count[3];
    for (int axis = 0; axis < 3; ++axis)
        count[axis] = find_images(gas, cells, axis, home->at[axis], step[axis], digit[axis]);
    for (uint32_t k = 0; k < count[2]; ++k)
        for (uint32_t j = 0; j < count[1]; ++j)
            for (uint32_t i = 0; i < count[0]; ++i) {
                uint64_t image = index + (uint64_t)(step[2][k] * stride[2] +
                                                    step[1][j] * stride[1] + step[0][i]);
                uint32_t entry =
                    carom_gas_candidate(slot, digit[0][i] + 3 * digit[1][j] + 9 * digit[2][k]);
                CAROM_ASSERT(image < cells->count && entry < CAROM_GAS_LINK);
                if (add)
                    carom_gas_cell_add(cells, image, entry);
                else
                    carom_gas_cell_remove(cells, image, entry);
            }
}

/* Overflow cells reserved at once: one per this many spheres. */
#define OVERFLOW_SHARE 32

bool carom_gas_cells_reserve(carom_gas *gas) {
    for (uint32_t k = 1; k < gas->levels.count; ++k)
        if (!carom_gas_cells_reserve_many(gas, &gas->levels.level[k].cells,
                                          CAROM_GAS_STEP_OVERFLOW))
            return false;
    return carom_gas_cells_reserve_many(gas, &gas->cells, CAROM_GAS_STEP_OVERFLOW);
}

bool carom_gas_cells_reserve_many(const carom_gas *gas, carom_gas_cells *cells, uint64_t wanted) {
    if (cells->free_count >= wanted) return true;
    uint64_t have = cells->count + cells->overflow_capacity, capacity = 0; /* no more than needed */
    uint64_t needed = have + wanted + gas->count / OVERFLOW_SHARE;
    void *grown = carom_array_grow(&gas->allocator, cells->cells, have, needed,
                                   sizeof(*cells->cells), &capacity);
    if (grown == NULL) return false;
    cells->cells = grown;
    cells->overflow_capacity = capacity - cells->count;
    for (uint64_t i = have; i < capacity; ++i) {
        cells->cells[i].entry[0] = cells->free_overflow;
        cells->free_overflow = (uint32_t)(i - cells->count);
        ++cells->free_count;
    }
    return true;
}

/* Allocates the cells of one grid, empty. */
static carom_status allocate_cells(carom_context *context, const carom_gas *gas,
                                   carom_gas_cells *cells) {
    cells->free_overflow = CAROM_GAS_EMPTY;
    cells->cells = carom_allocate(&gas->allocator, cells->count, sizeof(*cells->cells));
    if (cells->cells == NULL)
        return carom_fail_memory(context, cells->count * sizeof(*cells->cells), "cells");
    memset(cells->cells, 0xFF, cells->count * sizeof(*cells->cells));
    return CAROM_OK;
}

carom_status carom_gas_cells_create(carom_context *context, carom_gas *gas, uint64_t amount) {
    carom_gas_cells_release(gas);
    choose_method(gas);
    if (gas->method == CAROM_GAS_METHOD_CENTRE) CAROM_TRY(carom_gas_levels_choose(context, gas));
    if (gas->levels.count == 0) choose_size(gas);
    CAROM_TRY(allocate_cells(context, gas, &gas->cells));
    for (uint32_t k = 1; k < gas->levels.count; ++k)
        CAROM_TRY(allocate_cells(context, gas, &gas->levels.level[k].cells));
    for (uint64_t i = 0; i < gas->count; ++i) {
        if (!carom_gas_cells_reserve(gas))
            return carom_fail_memory(context, gas->cells.count, "cells with many spheres");
        CAROM_TRY(carom_gas_look(context, i, amount));
        file_sphere(gas, (uint32_t)i);
    }
    return CAROM_OK;
}

void carom_gas_cells_release(carom_gas *gas) {
    carom_release(&gas->allocator, gas->cells.cells);
    gas->cells = (carom_gas_cells){0};
    for (uint32_t k = 1; k < gas->levels.count; ++k)
        carom_release(&gas->allocator, gas->levels.level[k].cells.cells);
    carom_release(&gas->allocator, gas->levels.level);
    gas->levels = (carom_gas_levels){0};
}
