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

static inline void touch_list(const carom_gas *gas, uint32_t slot) {
    const uint32_t *list = carom_gas_list_of(gas, slot);
    for (uint32_t i = 1; i <= list[0]; ++i)
        __builtin_prefetch(&gas->flights.by_slot[list[i] & SLOT_MASK]);
}

/* The home that a sphere is about to cross into. */
static inline carom_gas_home next_home(const carom_gas *gas, uint32_t slot) {
    carom_gas_home home = gas->cards[slot].home;
    (void)step_home(&gas->cells, &home, gas->cards[slot].plan.side);
    return home;
}

static inline void touch_ahead(const carom_gas *gas, uint32_t slot) {
    carom_gas_home home = next_home(gas, slot);
    carom_gas_around around;
    collect_side(gas, &home, gas->cards[slot].plan.side, &around.block, &around.nears);
    touch_flights(gas, &around.nears);
}

static inline void touch_sphere(const carom_gas *gas, uint32_t slot) {
    __builtin_prefetch(&gas->bodies[slot], 1);
    __builtin_prefetch(&gas->cards[slot].home);
    if (gas->method == CAROM_GAS_NEIGHBOURS) __builtin_prefetch(carom_gas_list_of(gas, slot));
}

/* What collisions alone ask for. */
static inline void touch_kind(const carom_gas *gas, uint32_t slot) {
    __builtin_prefetch(&gas->cards[slot].label);
    __builtin_prefetch(&gas->radius[slot]);
    __builtin_prefetch(&gas->mass[slot]);
    __builtin_prefetch(&gas->flights.by_slot[slot], 1);
}

/* The partner where the next is a collision, else the sphere itself. */
static inline uint32_t other_next(const carom_gas *gas, uint32_t slot) {
    const carom_gas_plan *plan = &gas->cards[slot].plan;
    bool pair = (plan->kind == CAROM_GAS_PAIR) & (plan->physical < plan->crossing);
    return pair ? plan->partner : slot;
}

/* The window says what comes next. Three stages, each asking for what the next will follow. Which
 * cells two that meet will look into is not known before: see settle in centre.h. Whether two will
 * meet is random, so rather than guess it wrong, lines are asked for twice, or those of slot 0. */
static inline void look_ahead(const carom_gas *gas) {
    const carom_gas_entry *entry = &gas->calendar.window[gas->calendar.window_head];
    uint64_t count = gas->calendar.window_tail - gas->calendar.window_head;
    bool lists = gas->method == CAROM_GAS_NEIGHBOURS;
    if (count > 9) {
        uint32_t slot = entry[9].slot, other = other_next(gas, slot);
        __builtin_prefetch(&gas->cards[other].plan, 1);
        touch_sphere(gas, slot);
        touch_sphere(gas, other);
    }
    if (count > 6) {
        uint32_t slot = entry[6].slot, other = other_next(gas, slot);
        touch_kind(gas, other != slot ? slot : 0);
        touch_kind(gas, other != slot ? other : 0);
        if (!lists) {
            carom_gas_home home = next_home(gas, slot);
            touch_rows(gas, &home);
        }
    }
    if (count > 3) {
        uint32_t slot = entry[3].slot, other = other_next(gas, slot);
        if (lists) {
            touch_list(gas, slot);
            touch_list(gas, other);
        } else if (other == slot) {
            touch_ahead(gas, slot);
        }
    }
}

#endif
