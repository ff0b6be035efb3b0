/* SPDX-License-Identifier: MIT */
/* The order in memory: spheres close in space are close in memory, along a Morton curve.
 *
 * Consecutive events are at random places, so the memory touched by one event determines the speed
 * of large gases. With the curve, the forty bodies around a collision are in a few runs of cache
 * lines. The order decays as spheres move. It is renewed when slots that are adjacent in memory are
 * far apart in space. */
#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "gas/gas.h"

#define AXIS_BITS  10
#define SAMPLES    512
#define FEWEST     4096  /* smaller gases fit the cache */
#define LARGE      16384 /* the bodies fill the second-level cache */
#define FAR_LARGER 32768 /* most data are outside the near caches */
#define STRANGERS  12.0  /* mean distance in cells at which the order is renewed */

static uint32_t spread(uint32_t v) {
    v = (v | v << 16) & 0x030000FF;
    v = (v | v << 8) & 0x0300F00F;
    v = (v | v << 4) & 0x030C30C3;
    return (v | v << 2) & 0x09249249;
}

void carom_gas_now(const carom_gas *gas, uint32_t slot, double x[3], double v[3]) {
    const carom_gas_body *body = &gas->bodies[slot];
    carom_gas_place(&gas->rules, body, carom_gas_span(&gas->rules, gas->now - body->t), x, v);
    for (int axis = 0; axis < 3; ++axis)
        if (gas->rules.periodic[axis])
            x[axis] -= gas->rules.edge[axis] * floor(x[axis] / gas->rules.edge[axis]);
}

/* Moves slot order[k] to slot k, along the cycles of the permutation. Overwrites `order`. */
static void permute(carom_gas *gas, uint32_t *order) {
    for (uint32_t start = 0; start < gas->count; ++start) {
        if (order[start] == start) continue;
        carom_gas_body body = gas->bodies[start];
        carom_gas_record record = gas->records[start];
        double radius = gas->radius[start], mass = gas->mass[start];
        uint32_t to = start;
        while (order[to] != start) {
            uint32_t from = order[to];
            gas->bodies[to] = gas->bodies[from];
            gas->records[to] = gas->records[from];
            gas->radius[to] = gas->radius[from];
            gas->mass[to] = gas->mass[from];
            order[to] = to;
            to = from;
        }
        gas->bodies[to] = body;
        gas->records[to] = record;
        gas->radius[to] = radius;
        gas->mass[to] = mass;
        order[to] = to;
    }
    for (uint32_t i = 0; i < gas->count; ++i) CAROM_ASSERT(order[i] == i);
    for (uint32_t i = 0; i < gas->count; ++i) gas->slot_of[gas->records[i].label] = i;
}

static carom_status sort_spheres(carom_context *context, carom_gas *gas) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint32_t *keys = CAROM_ARENA_TAKE(scratch, uint32_t, gas->count);
    uint32_t *order = CAROM_ARENA_TAKE(scratch, uint32_t, gas->count);
    carom_status status = CAROM_OK;
    if (keys == NULL || order == NULL)
        status = carom_fail_memory(context, gas->count * 8, "sorting");
    for (uint64_t i = 0; i < gas->count && status == CAROM_OK; ++i) {
        status = carom_gas_look(context, i, 0);
        double x[3], v[3];
        uint32_t at[3];
        carom_gas_now(gas, (uint32_t)i, x, v);
        for (int axis = 0; axis < 3; ++axis) {
            double cell = x[axis] / gas->longest * (1 << AXIS_BITS);
            at[axis] = (uint32_t)fmin(fmax(cell, 0.0), (1 << AXIS_BITS) - 1);
        }
        CAROM_ASSERT(at[0] >> AXIS_BITS == 0 && at[1] >> AXIS_BITS == 0 && at[2] >> AXIS_BITS == 0);
        keys[i] = spread(at[0]) | spread(at[1]) << 1 | spread(at[2]) << 2;
        order[i] = (uint32_t)i;
    }
    if (status == CAROM_OK) status = carom_sort_keys(context, keys, order, gas->count);
    if (status == CAROM_OK) permute(gas, order);
    carom_arena_rewind(scratch, mark);
    return status;
}

static carom_status predict_all(carom_context *context, carom_gas *gas, uint64_t amount) {
    for (uint64_t from = 0, to; from < gas->count; from = to) {
        to = CAROM_MIN(from + CAROM_GAS_LOOK_EVERY, gas->count);
        if (!CAROM_CPU_CALL(context, carom_gas_predict_some)(gas, from, to))
            return carom_fail_memory(context, gas->count, "cells with many spheres");
        CAROM_TRY(carom_gas_look(context, from, amount));
    }
    return CAROM_OK;
}

carom_status carom_gas_rebuild(carom_context *context, carom_gas *gas, uint64_t amount) {
    gas->ready = false;
    gas->prefetch = gas->count >= LARGE;
    carom_gas_queue_release(gas);
    carom_gas_cells_release(gas);
    carom_gas_lists_release(gas);
    CAROM_TRY(sort_spheres(context, gas));
    CAROM_TRY(carom_gas_cells_create(context, gas, amount));
    gas->in_twos = gas->count >= FAR_LARGER && gas->method == CAROM_GAS_METHOD_CENTRE &&
                   gas->def.queue != CAROM_GAS_QUEUE_TREE; /* a heap takes one change at a time */
    if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS) CAROM_TRY(carom_gas_lists_create(context, gas));
    gas->trajectories.uncertainty = INT64_MAX; /* there are no predictions to preserve */
    for (uint64_t i = 0; i < gas->count; ++i) {
        gas->trajectories.by_slot[i].stamp = 0;
        gas->records[i].prediction.side = 0; /* stays 0 where there is nothing to cross */
    }
    carom_gas_trajectories_renew(gas);
    uint64_t predictions = gas->predictions;
    CAROM_TRY(predict_all(context, gas, amount));
    gas->predictions = predictions;
    CAROM_TRY(carom_gas_queue_create(context, gas));
    gas->sort_after = gas->count < FEWEST ? UINT64_MAX : gas->predictions + 2 * gas->count;
    gas->ready = true;
    return CAROM_OK;
}

/* Mean distance in cells between spheres adjacent in memory. */
static double strangeness(const carom_gas *gas) {
    double sum = 0.0;
    uint64_t step = gas->count / SAMPLES;
    for (uint64_t i = 0; i < SAMPLES; ++i) {
        const carom_gas_home *a = &gas->records[i * step].home, *b = a + 1;
        for (int axis = 0; axis < 3; ++axis) {
            int apart = a->at[axis] - b->at[axis], size = (int)gas->cells.size[axis];
            apart = apart < 0 ? -apart : apart;
            if (gas->rules.periodic[axis] && size - apart < apart) apart = size - apart;
            sum += apart;
        }
    }
    return sum / SAMPLES;
}

carom_status carom_gas_resort(carom_context *context, carom_gas *gas) {
    gas->sort_after = gas->predictions + gas->count;
    return strangeness(gas) > STRANGERS ? carom_gas_rebuild(context, gas, 0) : CAROM_OK;
}
