/* SPDX-License-Identifier: MIT */
/* gas_extent.h: CAROM_GAS_METHOD_EXTENT: a sphere is filed in every cell it overlaps, and its
 * candidates are the spheres that share a cell with it (Kim, Guibas, Shin); part of the loop in
 * gas_run_cpu.c.
 *
 * Cells are wider than spheres, so along each axis a sphere overlaps one cell or two: its home and,
 * if the bit of the axis is set in `extra`, the next. Its front enters a layer of cells and its
 * back leaves one. The sphere is treated as slightly larger than it is, so that two spheres share a
 * cell for some time before they touch. */
#ifndef CAROM_SRC_GAS_GAS_EXTENT_H
#define CAROM_SRC_GAS_GAS_EXTENT_H

#include "gas/gas_scan.h"

/* Cell with index n of a home; bit k of n selects the second cell along axis k. */
static inline uint64_t extent_cell(const carom_gas *gas, const carom_gas_home *home, uint32_t n,
                                   uint32_t at[3]) {
    for (int axis = 0; axis < 3; ++axis) {
        at[axis] = home->at[axis] + (n >> axis & 1u);
        if (at[axis] == gas->cells.size[axis]) at[axis] = 0;
    }
    return carom_gas_cell_index(&gas->cells, at[0], at[1], at[2]);
}

/* True when the sphere at `home` overlaps the cell at `at` along an axis. *box receives the box of
 * that cell relative to the sphere's own. */
static inline bool extent_meets(const carom_gas *gas, const carom_gas_home *home, int axis,
                                uint32_t at, int *box) {
    *box = 0;
    if (at == home->at[axis]) return true;
    uint32_t next = home->at[axis] + 1u;
    if (next == gas->cells.size[axis]) {
        next = 0;
        *box = 1;
    }
    return (home->extra >> axis & 1u) != 0 && at == next;
}

/* Adds the candidates in cell n of the sphere. Those that also share a lower cell of the sphere
 * were added there and are skipped. */
static inline void scan_extent_cell(const carom_gas *gas, uint32_t slot, uint32_t n,
                                    carom_gas_candidates *candidates,
                                    carom_gas_prediction *prediction) {
    const carom_gas_home *home = &gas->records[slot].home;
    uint32_t at[3];
    const carom_gas_cell *cell = &gas->cells.cells[extent_cell(gas, home, n, at)];
    for (; cell != NULL; cell = carom_gas_cell_after(&gas->cells, cell)) {
        for (int k = 0; k < CAROM_GAS_CELL_ENTRIES; ++k) {
            uint32_t other = carom_gas_candidate_slot(cell->entry[k]), code = 0, unit = 1;
            if (cell->entry[k] >= CAROM_GAS_LINK || other == slot) continue;
            bool seen = false;
            for (int axis = 0; axis < 3; ++axis, unit *= 3) {
                int own, its, lower;
                (void)extent_meets(gas, home, axis, at[axis], &own);
                (void)extent_meets(gas, &gas->records[other].home, axis, at[axis], &its);
                seen |= (n >> axis & 1u) != 0 && gas->cells.size[axis] > 2 &&
                        extent_meets(gas, &gas->records[other].home, axis, home->at[axis], &lower);
                code += unit * (uint32_t)(own - its + 1);
            }
            if (seen) continue;
            candidates->near[candidates->count++] = carom_gas_candidate(other, code);
        }
        if (candidates->count <= CAROM_GAS_MOST_CANDIDATES - CAROM_GAS_CELL_ENTRIES) continue;
        scan(gas, slot, candidates->near, candidates->count, true, prediction);
        candidates->count = 0;
    }
}

/* Scans the cells of one layer: those with (n & mask) == value; mask 0 selects all. */
static inline void scan_layer(const carom_gas *gas, uint32_t slot, uint32_t mask, uint32_t value,
                              carom_gas_prediction *prediction) {
    carom_gas_candidates candidates;
    candidates.count = 0;
    for (uint32_t n = 0; n < 8; ++n)
        if ((n & ~(uint32_t)gas->records[slot].home.extra) == 0 && (n & mask) == value)
            scan_extent_cell(gas, slot, n, &candidates, prediction);
    scan(gas, slot, candidates.near, candidates.count, true, prediction);
}

static inline void scan_extent(const carom_gas *gas, uint32_t slot,
                               carom_gas_prediction *prediction) {
    scan_layer(gas, slot, 0, 0, prediction);
}

static inline void predict_extent_crossing(const carom_gas *gas, uint32_t slot,
                                           carom_gas_prediction *prediction) {
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *body = &gas->bodies[slot];
    const carom_gas_home *home = &gas->records[slot].home;
    double x[3], v[3], best = CAROM_GAS_NEVER_DELAY, radius = carom_gas_extent_radius(gas, slot);
    carom_gas_place(rules, body, carom_gas_span(rules, gas->now - body->t), x, v);
    for (int axis = 0; axis < 3; ++axis) {
        double edge = gas->cells.edge[axis], a = rules->acceleration[axis];
        double low = (double)home->at[axis] * edge + (double)body->wraps[axis] * rules->edge[axis];
        bool two = (home->extra >> axis & 1u) != 0;
        /* Moving up, the back leaves the lower of two cells, or the front enters the next one. */
        double up = two ? low + edge - (x[axis] - radius) : low + edge - (x[axis] + radius);
        double down = two ? x[axis] + radius - (low + edge) : x[axis] - radius - low;
        bool walled = !rules->periodic[axis] && !two;
        if (!(walled && home->at[axis] + 1u == gas->cells.size[axis])) {
            double delay = carom_gas_fall_delay(up, -v[axis], -a);
            if (delay < best) best = delay, prediction->side = (uint8_t)(2 * axis + 1);
        }
        if (!(walled && home->at[axis] == 0)) {
            double delay = carom_gas_fall_delay(down, v[axis], a);
            if (delay < best) best = delay, prediction->side = (uint8_t)(2 * axis);
        }
    }
    prediction->crossing = carom_gas_after(rules, gas->now, best);
}

static inline void cross_extent(carom_gas *gas, uint32_t slot) {
    carom_gas_prediction *prediction = &gas->records[slot].prediction;
    carom_gas_home *home = &gas->records[slot].home;
    int axis = prediction->side / 2;
    int8_t *wraps = &gas->bodies[slot].wraps[axis];
    const int8_t before = *wraps;
    bool up = prediction->side % 2 != 0, two = (home->extra >> axis & 1u) != 0;
    uint32_t bit = 1u << axis, layer = up != two ? bit : 0, last = gas->cells.size[axis] - 1, at[3];
    if (!two) {
        home->extra = (uint16_t)(home->extra | bit);
        if (!up) {
            *wraps = (int8_t)(*wraps - (home->at[axis] == 0));
            home->at[axis] = (uint16_t)(home->at[axis] == 0 ? last : home->at[axis] - 1u);
        }
    }
    for (uint32_t n = 0; n < 8; ++n) {
        if ((n & ~(uint32_t)home->extra) != 0 || (n & bit) != layer) continue;
        uint64_t index = extent_cell(gas, home, n, at);
        if (two)
            carom_gas_cell_remove(&gas->cells, index, carom_gas_candidate(slot, CAROM_GAS_HERE));
        else
            carom_gas_cell_add(&gas->cells, index, carom_gas_candidate(slot, CAROM_GAS_HERE));
    }
    if (two) {
        home->extra = (uint16_t)(home->extra & ~bit);
        if (up) {
            *wraps = (int8_t)(*wraps + (home->at[axis] == last));
            home->at[axis] = (uint16_t)(home->at[axis] == last ? 0 : home->at[axis] + 1u);
        }
    }
    if (*wraps != before) carom_gas_trajectory_shift(gas, slot);
    if (!two) scan_layer(gas, slot, bit, layer, prediction);
    predict_extent_crossing(gas, slot, prediction);
}

#endif
