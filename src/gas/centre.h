/* SPDX-License-Identifier: MIT */
/* centre.h: CAROM_GAS_CENTRE: a sphere is filed in the cell of its centre and looks into the 27
 * cells around; part of the loop in run_cpu.c. A cell is at least as wide as two spheres that touch
 * are apart. */
#ifndef CAROM_SRC_GAS_CENTRE_H
#define CAROM_SRC_GAS_CENTRE_H

#include "gas/scan.h"

/* Cells side by side, in this box. Slots fill a cell from the front, so all four places are written
 * and only the slots counted: a branch on the number would be guessed wrong every other time. False
 * when a cell is linked: then some are missing. */
static inline bool collect_row(const carom_gas_cell *cell, int cells, carom_gas_nears *nears) {
    const uint64_t high = UINT64_C(0x8000000080000000);
    const uint64_t here = (uint64_t)CAROM_GAS_HERE << CAROM_GAS_SLOT_BITS;
    bool simple = true;
    for (int i = 0; i < cells; ++i) {
        uint64_t pair[2];
        memcpy(pair, cell[i].slot, sizeof(pair));
        int empty = __builtin_popcountll((pair[0] & high) | (pair[1] & high) >> 1);
        simple &= !carom_gas_is_link(cell[i].slot[CAROM_GAS_CELL_SLOTS - 1]);
        pair[0] |= here | here << 32;
        pair[1] |= here | here << 32;
        memcpy(&nears->near[nears->count], pair, sizeof(pair));
        nears->count += (uint32_t)(CAROM_GAS_CELL_SLOTS - empty);
    }
    return simple;
}

/* The cells from..to around the sphere's own, where all lie in this box and none is linked; else
 * false. */
static inline bool collect_block(const carom_gas *gas, uint32_t slot, const int from[3],
                                 const int to[3], carom_gas_nears *nears) {
    const carom_gas_home *home = &gas->homes[slot];
    const carom_gas_cells *cells = &gas->cells;
    for (int axis = 0; axis < 3; ++axis)
        if (home->at[axis] == 0 || home->at[axis] + 1u >= cells->size[axis]) return false;
    bool simple = true;
    for (int k = from[2]; k <= to[2]; ++k)
        for (int j = from[1]; j <= to[1]; ++j) {
            uint64_t row =
                carom_gas_cell_index(cells, (uint64_t)(home->at[0] + from[0]),
                                     (uint64_t)(home->at[1] + j), (uint64_t)(home->at[2] + k));
            simple &= collect_row(&cells->cells[row], to[0] - from[0] + 1, nears);
        }
    return simple;
}

static inline bool collect_inside(const carom_gas *gas, uint32_t slot, carom_gas_nears *nears) {
    static const int from[3] = {-1, -1, -1}, to[3] = {1, 1, 1};
    return collect_block(gas, slot, from, to, nears);
}

/* The block of cells around the sphere's own, limited to from..to along each axis. */
static inline void scan_block(const carom_gas *gas, uint32_t slot, const int from[3],
                              const int to[3], carom_gas_plan *plan) {
    carom_gas_nears nears;
    nears.count = 0;
    if (!collect_block(gas, slot, from, to, &nears)) {
        nears.count = 0;
        for (int n = 0; n < 27; ++n) {
            int offset[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
            bool wanted = true;
            for (int axis = 0; axis < 3; ++axis)
                wanted &= offset[axis] >= from[axis] && offset[axis] <= to[axis];
            if (!wanted) continue;
            uint32_t code;
            const carom_gas_cell *cell = carom_gas_cell_beside(gas, &gas->homes[slot], n, &code);
            for (; cell != NULL; cell = carom_gas_cell_after(&gas->cells, cell)) {
                nears.count = carom_gas_cell_collect(cell, code, nears.near, nears.count);
                if (nears.count <= CAROM_GAS_BATCH - CAROM_GAS_CELL_SLOTS) continue;
                scan(gas, slot, nears.near, nears.count, plan);
                nears.count = 0;
            }
        }
    }
    scan(gas, slot, nears.near, nears.count, plan);
}

static inline void plan_crossing(const carom_gas *gas, uint32_t slot, carom_gas_plan *plan) {
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *body = &gas->bodies[slot];
    const carom_gas_home *home = &gas->homes[slot];
    double x[3], v[3], best = CAROM_GAS_NEVER_DELAY;
    carom_gas_place(rules, body, carom_gas_span(rules, gas->now - body->t), x, v);
    for (int axis = 0; axis < 3; ++axis) {
        double a = rules->acceleration[axis];
        if (!rules->accelerated) { /* one side only, one division */
            int side = v[axis] > 0.0;
            bool outermost = home->at[axis] == (side == 0 ? 0 : gas->cells.size[axis] - 1);
            if (v[axis] == 0.0 || (outermost && !rules->periodic[axis])) continue;
            double plane = (double)(home->at[axis] + side) * gas->cells.edge[axis] +
                           (double)body->wraps[axis] * rules->edge[axis];
            double delay = (plane - x[axis]) / v[axis];
            if (delay < best) {
                best = delay;
                plan->side = (uint8_t)(2 * axis + side);
            }
            continue;
        }
        double low = (double)home->at[axis] * gas->cells.edge[axis] +
                     (double)body->wraps[axis] * rules->edge[axis];
        for (int side = 0; side < 2; ++side) {
            bool outermost = home->at[axis] == (side == 0 ? 0 : gas->cells.size[axis] - 1);
            if (outermost && !rules->periodic[axis]) continue;
            double gap = side == 0 ? x[axis] - low : low + gas->cells.edge[axis] - x[axis];
            double delay = side == 0 ? carom_gas_fall_delay(gap, v[axis], a)
                                     : carom_gas_fall_delay(gap, -v[axis], -a);
            if (delay < best) {
                best = delay;
                plan->side = (uint8_t)(2 * axis + side);
            }
        }
    }
    plan->crossing = carom_gas_after(rules, gas->now, best > 0.0 ? best : 0.0);
}

static inline void cross_centre(carom_gas *gas, uint32_t slot) {
    carom_gas_plan *plan = &gas->plans[slot];
    carom_gas_home *home = &gas->homes[slot];
    int axis = plan->side / 2, offset = plan->side % 2 != 0 ? 1 : -1;
    uint32_t to, digit;
    (void)carom_gas_step_cell(gas, axis, home->at[axis], offset, &to, &digit);
    carom_gas_cells *cells = &gas->cells;
    carom_gas_cell_remove(cells, carom_gas_cell_index(cells, home->at[0], home->at[1], home->at[2]),
                          slot);
    home->at[axis] = (uint16_t)to;
    gas->bodies[slot].wraps[axis] = (int8_t)(gas->bodies[slot].wraps[axis] + (int)digit - 1);
    if (digit != 1) carom_gas_flight_set(gas, slot);
    carom_gas_cell_add(cells, carom_gas_cell_index(cells, home->at[0], home->at[1], home->at[2]),
                       slot);
    int from[3] = {-1, -1, -1}, last[3] = {1, 1, 1};
    from[axis] = last[axis] = offset;
    scan_block(gas, slot, from, last, plan);
    plan_crossing(gas, slot, plan);
}

#endif
