/* SPDX-License-Identifier: MIT */
/* ahead.h: asking for memory in time; part of the loop in run_cpu.c.
 *
 * Events follow each other at random places in space and so in memory. The window of the calendar
 * says what comes next, so the lines it will touch are asked for some events ahead. */
#ifndef CAROM_SRC_GAS_AHEAD_H
#define CAROM_SRC_GAS_AHEAD_H

#include "gas/renew.h"

#define LOOK_AHEAD 12 /* entries the window should hold */

/* Rows of cells around a home. */
static inline void touch_rows(const carom_gas *gas, const carom_gas_home *home) {
    const carom_gas_cells *cells = &gas->cells;
    const carom_gas_cell *own = &cells->cells[carom_gas_home_index(cells, home)];
    int64_t row = carom_gas_row(cells), layer = carom_gas_layer(cells);
    for (int64_t k = -1; k <= 1; ++k)
        for (int64_t j = -1; j <= 1; ++j) __builtin_prefetch(own + k * layer + j * row);
}

/* Two eights without asking how many there are, as branches would be guessed wrong; what lies
 * behind the last was listed once. */
static inline void touch_list(const carom_gas *gas, uint32_t slot) {
    const uint32_t *list = carom_gas_list_of(gas, slot);
    const char *flights = (const char *)gas->flights.by_slot;
    for (uint32_t i = 1; i <= 16; ++i)
        __builtin_prefetch(flights + (uint32_t)(list[i] << FLIGHT_SHIFT));
    for (uint32_t i = 17; i <= list[0]; ++i)
        __builtin_prefetch(flights + (uint32_t)(list[i] << FLIGHT_SHIFT));
}

static inline void touch_around(const carom_gas *gas, uint32_t slot) {
    carom_gas_around around;
    collect_block(gas, &gas->cards[slot].home, &around.block, &around.nears);
    touch_flights(gas, &around.nears);
}

/* The home that a sphere is about to cross into. */
static inline carom_gas_home next_home(const carom_gas *gas, uint32_t slot) {
    carom_gas_home home = gas->cards[slot].home;
    int axis = gas->cards[slot].plan.side / 2,
        offset = gas->cards[slot].plan.side % 2 != 0 ? 1 : -1;
    uint32_t to, digit;
    if (carom_gas_step_cell(gas, axis, home.at[axis], offset, &to, &digit))
        home.at[axis] = (uint16_t)to;
    return home;
}

static inline void touch_ahead(const carom_gas *gas, uint32_t slot) {
    carom_gas_home home = next_home(gas, slot);
    carom_gas_around around;
    collect_side(gas, &home, gas->cards[slot].plan.side, &around.block, &around.nears);
    touch_flights(gas, &around.nears);
}

static inline bool is_pair_next(const carom_gas_plan *plan) {
    return plan->kind == CAROM_GAS_ROUGH && plan->physical < plan->crossing;
}

static inline void touch_sphere(const carom_gas *gas, uint32_t slot) {
    __builtin_prefetch(&gas->bodies[slot], 1);
    __builtin_prefetch(&gas->flights.by_slot[slot], 1);
    __builtin_prefetch(&gas->flights.marks[slot], 1);
    if (gas->method != CAROM_GAS_NEIGHBOURS) return;
    __builtin_prefetch(carom_gas_list_of(gas, slot));
    __builtin_prefetch(carom_gas_list_of(gas, slot) + 16);
}

/* The window says what comes next. Three stages, each asking for what the next will follow. */
static inline void look_ahead(const carom_gas *gas) {
    const carom_gas_entry *entry = &gas->calendar.window[gas->calendar.window_head];
    uint64_t count = gas->calendar.window_tail - gas->calendar.window_head;
    bool lists = gas->method == CAROM_GAS_NEIGHBOURS;
    if (count > 9) {
        const carom_gas_plan *plan = &gas->cards[entry[9].slot].plan;
        touch_sphere(gas, entry[9].slot);
        if (is_pair_next(plan)) {
            __builtin_prefetch(&gas->cards[plan->partner], 1);
            touch_sphere(gas, plan->partner);
        }
    }
    if (count > 6 && !lists) {
        uint32_t slot = entry[6].slot;
        const carom_gas_plan *plan = &gas->cards[slot].plan;
        if (is_pair_next(plan)) {
            touch_rows(gas, &gas->cards[slot].home);
            touch_rows(gas, &gas->cards[plan->partner].home);
        } else {
            carom_gas_home home = next_home(gas, slot);
            touch_rows(gas, &home);
        }
    }
    if (count > 3) {
        uint32_t slot = entry[3].slot;
        const carom_gas_plan *plan = &gas->cards[slot].plan;
        if (is_pair_next(plan) && lists) {
            touch_list(gas, slot);
            touch_list(gas, plan->partner);
        } else if (is_pair_next(plan)) {
            touch_around(gas, slot);
            touch_around(gas, plan->partner);
        } else if (!lists) {
            touch_ahead(gas, slot);
        }
    }
}

#endif
