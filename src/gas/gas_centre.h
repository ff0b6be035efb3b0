/* SPDX-License-Identifier: MIT */
/* gas_centre.h: CAROM_GAS_METHOD_CENTRE: a sphere is filed in one cell and its candidates are in
 * the 27 cells around; part of the loop in gas_run_cpu.c.
 *
 * Invariant: two spheres that touch are in the same cell or in neighbouring cells. Where a cell is
 * wider than the contact distance, half of the excess is the skin: a sphere may leave its cell by
 * that distance on either side before it must cross. After a collision all 27 cells are searched
 * anyway, so the sphere can be refiled in a neighbouring cell without extra cost: the one furthest
 * ahead. */
#ifndef CAROM_SRC_GAS_GAS_CENTRE_H
#define CAROM_SRC_GAS_GAS_CENTRE_H

#include <stddef.h>

#include "gas/gas_collect.h"
#include "gas/gas_scan.h"

/* ---- Crossing -------------------------------------------------------------------------------- */

/* Present position relative to the low corner of the cell, and velocity. */
typedef struct carom_gas_view {
    carom_f64x4 x, v;
    carom_i32x4 at; /* its cell */
} carom_gas_view;

static inline __attribute__((always_inline)) void
view_from_cell(const carom_gas *gas, uint32_t slot, carom_gas_view *view) {
    const carom_i64x4 axes = {-1, -1, -1, 0};
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *body = &gas->bodies[slot];
    const carom_gas_home *home = &gas->records[slot].home;
    double span = carom_gas_span(rules, gas->now - body->t);
    if (rules->accelerated) {
        double x[4] = {0.0}, v[4] = {0.0};
        carom_gas_place(rules, body, span, x, v);
        memcpy(&view->x, x, sizeof(x));
        memcpy(&view->v, v, sizeof(v));
    } else {
        const char *bytes = (const char *)body;
        memcpy(&view->x, bytes + offsetof(carom_gas_body, x), sizeof(view->x));
        memcpy(&view->v, bytes + offsetof(carom_gas_body, v), sizeof(view->v));
        view->v = (carom_f64x4)((carom_i64x4)view->v & axes);
        view->x = (carom_f64x4)((carom_i64x4)view->x & axes) + view->v * span;
    }
    view->at = (carom_i32x4){home->at[0], home->at[1], home->at[2], 0};
    carom_i32x4 size, wraps = {body->wraps[0], body->wraps[1], body->wraps[2], 0};
    carom_f64x4 edge;
    memcpy(&size, gas->cells.size, sizeof(size));
    memcpy(&edge, gas->cells.edge, sizeof(edge));
    view->x -= __builtin_convertvector(view->at + wraps * size, carom_f64x4) * edge;
}

/* True when the cell is the last before a wall on that side. */
static inline bool is_at_wall(const carom_gas *gas, const carom_gas_home *home, int axis, bool up) {
    uint32_t last = up ? gas->cells.size[axis] - 1 : 0;
    return home->at[axis] == last && !gas->rules.periodic[axis];
}

/* The first crossing under an acceleration: tests both sides of each axis. */
static inline double find_fall(const carom_gas *gas, const carom_gas_home *home,
                               const carom_gas_view *view, uint8_t *first) {
    double best = CAROM_GAS_NEVER_DELAY;
    for (int axis = 0; axis < 3; ++axis) {
        double a = gas->rules.acceleration[axis], skin = gas->cells.skin[axis];
        double x = view->x[axis], v = view->v[axis], edge = gas->cells.edge[axis];
        for (int high = 0; high < 2; ++high) {
            if (is_at_wall(gas, home, axis, high != 0)) continue;
            double delay = high == 0 ? carom_gas_fall_delay(skin + x, v, a)
                                     : carom_gas_fall_delay(edge + skin - x, -v, -a);
            if (delay < best) {
                best = delay;
                *first = (uint8_t)(2 * axis + high);
            }
        }
    }
    return best;
}

/* Distance from the rear side of the cell along each axis; the rear is the side the sphere moves
 * away from. */
static inline __attribute__((always_inline)) void
distance_from_rear(const carom_gas *gas, const carom_gas_view *view, carom_f64x4 *travelled) {
    carom_f64x4 edge;
    memcpy(&edge, gas->cells.edge, sizeof(edge));
    carom_i64x4 up = view->v > 0.0;
    *travelled = carom_f64x4_select(up, view->x, edge - view->x);
}

/* The first crossing without acceleration: tests the side ahead along each axis. */
static inline __attribute__((always_inline)) double find_side(const carom_gas *gas,
                                                              const carom_gas_home *home,
                                                              const carom_gas_view *view,
                                                              uint8_t *first) {
    carom_f64x4 edge, skin, travelled;
    memcpy(&edge, gas->cells.edge, sizeof(edge));
    memcpy(&skin, gas->cells.skin, sizeof(skin));
    distance_from_rear(gas, view, &travelled);
    carom_f64x4 speed = (carom_f64x4)((carom_i64x4)view->v & INT64_MAX);
    carom_f64x4 delay = ((edge + skin) - travelled) / speed;
    carom_i64x4 moves = speed > 0.0;
    delay = carom_f64x4_select(moves, delay, carom_f64x4_splat(CAROM_GAS_NEVER_DELAY));
    if (gas->rules.walls)
        for (int axis = 0; axis < 3; ++axis)
            if (is_at_wall(gas, home, axis, view->v[axis] > 0.0))
                delay[axis] = CAROM_GAS_NEVER_DELAY;
    /* Which axis is first is random, so there are no branches. */
    uint32_t second = delay[1] < delay[0], ups = carom_i64x4_lanes(view->v > 0.0);
    double least = CAROM_MIN(delay[0], delay[1]);
    uint32_t third = delay[2] < least, best = second + third * (2 - second);
    *first = (uint8_t)(2 * best + (ups >> best & 1));
    return CAROM_MIN(least, delay[2]);
}

static inline __attribute__((always_inline)) void
predict_crossing(const carom_gas *gas, uint32_t slot, const carom_gas_view *view,
                 carom_gas_prediction *prediction) {
    const carom_gas_home *home = &gas->records[slot].home;
    double delay = gas->rules.accelerated ? find_fall(gas, home, view, &prediction->side)
                                          : find_side(gas, home, view, &prediction->side);
    prediction->crossing = carom_gas_after(&gas->rules, gas->now, delay > 0.0 ? delay : 0.0);
}

/* Moves a home by one cell; true when that enters another box. */
static inline bool step_home(const carom_gas_cells *cells, carom_gas_home *home, uint32_t side) {
    uint32_t axis = side / 2, up = side % 2, last = cells->last.at[axis];
    bool leaves = home->at[axis] == up * last;
    home->at[axis] = (uint16_t)(leaves ? last - up * last : home->at[axis] + 2 * up - 1);
    return leaves;
}

/* Rare, therefore not inlined. */
static __attribute__((noinline)) void enter_box(carom_gas *gas, uint32_t slot, uint32_t side) {
    int8_t *wraps = &gas->bodies[slot].wraps[side / 2];
    *wraps = (int8_t)(*wraps + (side % 2 != 0 ? 1 : -1));
    carom_gas_trajectory_shift(gas, slot);
}

/* Moves the home of a sphere by one cell. */
static inline void step_sphere(carom_gas *gas, uint32_t slot, uint32_t side) {
    if (step_home(&gas->cells, &gas->records[slot].home, side)) enter_box(gas, slot, side);
}

/* Refiles a sphere in the furthest cell ahead that it may be in, so that it stays there longest.
 * All cells around must be searched afterwards. The axes it moves along are random, so there are no
 * branches except for leaving the box. */
static inline __attribute__((always_inline)) void refile(carom_gas *gas, uint32_t slot,
                                                         carom_gas_view *view) {
    carom_gas_home *home = &gas->records[slot].home, before = *home;
    carom_f64x4 edge, skin, travelled;
    carom_i32x4 size;
    memcpy(&edge, gas->cells.edge, sizeof(edge));
    memcpy(&skin, gas->cells.skin, sizeof(skin));
    memcpy(&size, gas->cells.size, sizeof(size));
    distance_from_rear(gas, view, &travelled);
    carom_i64x4 forward = (travelled > edge - skin) & (view->v != 0.0);
    if (gas->rules.walls)
        for (int axis = 0; axis < 3; ++axis)
            if (is_at_wall(gas, home, axis, view->v[axis] > 0.0)) forward[axis] = 0;
    carom_i32x4 up = __builtin_convertvector(view->v > 0.0, carom_i32x4); /* -1 or 0 */
    carom_i32x4 step = __builtin_convertvector(forward, carom_i32x4) & (-1 - 2 * up);
    carom_i32x4 to = view->at + step, out = (to < 0) | (to >= size);
    if ((step[0] | step[1] | step[2]) == 0) return;
    if ((out[0] | out[1] | out[2]) != 0) {
        for (int axis = 0; axis < 3; ++axis)
            if (step[axis] != 0) step_sphere(gas, slot, 2 * (uint32_t)axis + (step[axis] > 0));
    } else {
        for (int axis = 0; axis < 3; ++axis) home->at[axis] = (uint16_t)to[axis];
    }
    view->x -= __builtin_convertvector(step, carom_f64x4) * edge;
    carom_gas_file(gas, slot, &before, false);
    carom_gas_file(gas, slot, home, true);
}

/* ---- Prediction ------------------------------------------------------------------------------ */

/* The candidates in a block of cells around a sphere. */
typedef struct carom_gas_around {
    carom_gas_candidates candidates;
    block block;
} carom_gas_around;

static inline void scan_around(const carom_gas *gas, uint32_t slot, carom_gas_around *around,
                               carom_gas_prediction *prediction) {
    carom_gas_candidates *candidates = &around->candidates;
    bool shifted = !carom_gas_is_inside(&gas->cells, &gas->records[slot].home), all = true;
    link_cursor cursor = begin_links(&around->block);
    if (around->block.linked) all = collect_links(gas, &around->block, &cursor, candidates);
    if (candidates->count != 0)
        scan(gas, slot, candidates->near, candidates->count, shifted, prediction);
    while (!all) {
        candidates->count = 0;
        all = collect_links(gas, &around->block, &cursor, candidates);
        scan(gas, slot, candidates->near, candidates->count, shifted, prediction);
    }
}

static inline void prefetch_trajectories(const carom_gas *gas,
                                         const carom_gas_candidates *candidates) {
    for (uint32_t i = 0; i < candidates->count; ++i)
        __builtin_prefetch(&gas->trajectories.by_slot[candidates->near[i] & SLOT_MASK]);
}

/* Predicts one or two spheres whose predictions are empty, from all cells around. Two together wait
 * for memory once, which is faster when the data are not in the cache. When they are, one after the
 * other is faster. */
static inline __attribute__((always_inline)) void predict_centre(carom_gas *gas,
                                                                 const uint32_t *slots, int count) {
    carom_gas_view views[2];
    carom_gas_around around[2];
    for (int i = 0; i < count; ++i) {
        view_from_cell(gas, slots[i], &views[i]);
        refile(gas, slots[i], &views[i]);
    }
    for (int i = 0; i < count; ++i) {
        collect_block(gas, &gas->records[slots[i]].home, &around[i].block, &around[i].candidates);
        if (count > 1) prefetch_trajectories(gas, &around[i].candidates);
    }
    for (int i = 0; i < count; ++i)
        predict_crossing(gas, slots[i], &views[i], &gas->records[slots[i]].prediction);
    for (int i = 0; i < count; ++i)
        scan_around(gas, slots[i], &around[i], &gas->records[slots[i]].prediction);
}

static inline void cross_centre(carom_gas *gas, uint32_t slot) {
    carom_gas_prediction *prediction = &gas->records[slot].prediction;
    const carom_gas_home *home = &gas->records[slot].home;
    const uint8_t side = prediction->side;
    carom_gas_view view;
    carom_gas_around around;
    carom_gas_file(gas, slot, home, false);
    step_sphere(gas, slot, side);
    carom_gas_file(gas, slot, home, true);
    collect_side(gas, home, side, &around.block, &around.candidates);
    view_from_cell(gas, slot, &view);
    predict_crossing(gas, slot, &view, prediction);
    scan_around(gas, slot, &around, prediction);
}

#endif
