/* SPDX-License-Identifier: MIT */
/* gas_prefetch.h: prefetching for the next events; part of the loop in gas_run_cpu.c.
 *
 * Consecutive events are at random places in space and therefore in memory. The window of the
 * calendar holds the next events, so the cache lines they need are prefetched some events ahead. */
#ifndef CAROM_SRC_GAS_GAS_PREFETCH_H
#define CAROM_SRC_GAS_GAS_PREFETCH_H

#include "gas/gas_queue.h"
#include "gas/gas_renew.h"

#define LOOK_AHEAD 24 /* entries the window should hold */
#define FAR        20 /* entries by which the first stage looks ahead */
#define NEARER     7  /* entries by which the second stage, and the third, follow the first */
#define NEAR       14

/* Prefetches the rows of cells around a home. */
static inline void touch_rows(const carom_gas *gas, const carom_gas_home *home) {
    const carom_gas_cells *cells = &gas->cells;
    const carom_gas_cell *own = &cells->cells[carom_gas_home_index(cells, home)];
    int64_t row = carom_gas_row(cells), layer = carom_gas_layer(cells);
    for (int64_t k = -1; k <= 1; ++k)
        for (int64_t j = -1; j <= 1; ++j) __builtin_prefetch(own + k * layer + j * row);
}

/* Prefetches the trajectories of a list. The first 16 are fetched without testing the length, as
 * that branch would be mispredicted; places after the last entry hold former entries. */
static inline void touch_list(const carom_gas *gas, uint32_t slot) {
    const uint32_t *list = carom_gas_list_of(gas, slot);
    const char *trajectories = (const char *)gas->trajectories.by_slot;
    for (uint32_t i = 1; i <= 16; ++i)
        __builtin_prefetch(trajectories + (uint32_t)(list[i] << TRAJECTORY_SHIFT));
    for (uint32_t i = 17; i <= list[0]; ++i)
        __builtin_prefetch(trajectories + (uint32_t)(list[i] << TRAJECTORY_SHIFT));
}

/* The home a sphere will have after its next crossing. */
static inline carom_gas_home next_home(const carom_gas *gas, uint32_t slot) {
    carom_gas_home home = gas->records[slot].home;
    (void)step_home(&gas->cells, &home, gas->records[slot].prediction.side);
    return home;
}

static inline void touch_next_cells(const carom_gas *gas, uint32_t slot) {
    carom_gas_home home = next_home(gas, slot);
    carom_gas_around around;
    collect_side(gas, &home, gas->records[slot].prediction.side, &around.block, &around.candidates);
    prefetch_trajectories(gas, &around.candidates);
}

static inline bool is_pair_next(const carom_gas_prediction *prediction) {
    return prediction->kind == CAROM_GAS_PROVISIONAL && prediction->physical < prediction->crossing;
}

static inline void touch_sphere(const carom_gas *gas, uint32_t slot) {
    __builtin_prefetch(&gas->bodies[slot], 1);
    __builtin_prefetch(&gas->trajectories.by_slot[slot], 1);
    if (!gas->uniform) __builtin_prefetch(&gas->radius[slot]);
    if (!(gas->common_mass > 0.0)) __builtin_prefetch(&gas->mass[slot]);
    if (gas->method != CAROM_GAS_METHOD_NEIGHBOURS) return;
    __builtin_prefetch(carom_gas_list_of(gas, slot));
    __builtin_prefetch(carom_gas_list_of(gas, slot) + 16);
}

/* First stage: both spheres of the event. */
static inline void look_far(const carom_gas *gas, uint32_t slot) {
    const carom_gas_prediction *prediction = &gas->records[slot].prediction;
    touch_sphere(gas, slot);
    if (is_pair_next(prediction)) {
        __builtin_prefetch(&gas->records[prediction->partner], 1);
        touch_sphere(gas, prediction->partner);
    }
}

/* Second stage: the cells of a crossing. The cells that a colliding pair will search are not yet
 * known: see refile in gas_centre.h. */
static inline void look_nearer(const carom_gas *gas, uint32_t slot) {
    if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS || is_pair_next(&gas->records[slot].prediction))
        return;
    carom_gas_home home = next_home(gas, slot);
    touch_rows(gas, &home);
}

/* Third stage: the trajectories of the candidates. */
static inline void look_near(const carom_gas *gas, uint32_t slot) {
    const carom_gas_prediction *prediction = &gas->records[slot].prediction;
    if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS) {
        touch_list(gas, slot);
        if (is_pair_next(prediction)) touch_list(gas, prediction->partner);
    } else if (!is_pair_next(prediction)) {
        touch_next_cells(gas, slot);
    }
}

/* Runs the three stages over the window; each fetches the data the next one follows. Each entry
 * passes all three, however many entries leave the window at once. */
static inline void look_ahead(carom_gas *gas) {
    carom_gas_calendar *calendar = &gas->calendar;
    const carom_gas_queue_entry *window = calendar->window;
    uint64_t head = calendar->window_head, at = calendar->looked, end = head + FAR + 1;
    if (at < head) at = head;
    if (end > calendar->window_tail) end = calendar->window_tail;
    for (; at < end; ++at) {
        if (carom_gas_queue_entry_alive(gas, window[at])) look_far(gas, window[at].slot);
        if (at < head + NEAR) continue;
        if (carom_gas_queue_entry_alive(gas, window[at - NEARER]))
            look_nearer(gas, window[at - NEARER].slot);
        if (carom_gas_queue_entry_alive(gas, window[at - NEAR]))
            look_near(gas, window[at - NEAR].slot);
    }
    calendar->looked = at;
}

#endif
