/* SPDX-License-Identifier: MIT */
/* The order in memory: spheres close in space are close in memory, along a Morton curve.
 *
 * Consecutive events are at random positions, so the memory touched by one event determines the
 * speed of large gases. With the curve, the forty bodies around a collision are in a few runs of
 * cache lines. The order decays as spheres move. It is renewed when slots that are adjacent in
 * memory are far apart in space. */
#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "gas/gas_levels.h"

#define AXIS_BITS 10  /* of a Morton key per axis: 2^27 spheres are 512 per axis */
#define SAMPLES   512 /* pairs of slots examined: the mean is known to 1 / sqrt(512) = 4 % */
/* Mean distance in cells, of spheres adjacent in memory, at which the order is renewed. With 6 the
 * time is 4 % longer, and without renewal the same within 5 % (100,000 spheres at 0.018, whose
 * lines are prefetched; 30 to 80 collisions per sphere). */
#define RENEWAL_DISTANCE 12.0

static uint32_t gas_order_spread(uint32_t v) {
    v = (v | v << 16) & 0x030000FF;
    v = (v | v << 8) & 0x0300F00F;
    v = (v | v << 4) & 0x030C30C3;
    return (v | v << 2) & 0x09249249;
}

/* A sphere on its way to another slot. */
typedef struct moved_sphere {
    carom_gas_body body;
    carom_gas_record record;
    double radius, mass; /* where they differ */
} moved_sphere;

static moved_sphere take_sphere(const carom_gas *gas, uint32_t slot) {
    moved_sphere moved = {gas->bodies[slot], gas->records[slot], 0.0, 0.0};
    if (gas->radius != NULL) moved.radius = gas->radius[slot];
    if (gas->mass != NULL) moved.mass = gas->mass[slot];
    return moved;
}

static void set_sphere(carom_gas *gas, uint32_t slot, const moved_sphere *moved) {
    gas->bodies[slot] = moved->body;
    gas->records[slot] = moved->record;
    if (gas->radius != NULL) gas->radius[slot] = moved->radius;
    if (gas->mass != NULL) gas->mass[slot] = moved->mass;
    gas->slot_of[moved->record.label] = slot;
}

/* Moves slot order[k] to slot k, along the cycles of the permutation. Overwrites `order`. When it
 * is cancelled, the spheres that have not moved are in slots of their own all the same. */
static carom_status permute(carom_context *context, carom_gas *gas, uint32_t *order) {
    uint64_t moves = 0;
    for (uint32_t start = 0; start < gas->count; ++start) {
        if (order[start] == start) continue;
        const moved_sphere first = take_sphere(gas, start);
        carom_status status = CAROM_OK;
        uint32_t to = start;
        while (order[to] != start && status == CAROM_OK) {
            uint32_t from = order[to];
            const moved_sphere next = take_sphere(gas, from);
            set_sphere(gas, to, &next);
            order[to] = to;
            to = from;
            status = carom_gas_look(context, ++moves, 0);
        }
        set_sphere(gas, to, &first);
        order[to] = to;
        CAROM_TRY(status);
    }
    for (uint32_t i = 0; i < gas->count; ++i) CAROM_ASSERT(order[i] == i);
    return CAROM_OK;
}

carom_status carom_gas_sort(carom_context *context, carom_gas *gas) {
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
        keys[i] =
            gas_order_spread(at[0]) | gas_order_spread(at[1]) << 1 | gas_order_spread(at[2]) << 2;
        order[i] = (uint32_t)i;
    }
    if (status == CAROM_OK) status = carom_sort_keys(context, keys, order, gas->count);
    if (status == CAROM_OK) status = permute(context, gas, order);
    carom_arena_rewind(scratch, mark);
    carom_gas_drop_scratch(context);
    return status;
}

/* The layer of a home along an axis, in cells of the finest level. */
static int finest_layer(const carom_gas *gas, const carom_gas_home *home, int axis) {
    if (gas->levels.count == 0) return home->at[axis];
    return home->at[axis] << gas->levels.level[home->extra].shift;
}

/* Mean distance in cells between spheres adjacent in memory. */
static double strangeness(const carom_gas *gas) {
    double sum = 0.0;
    uint64_t step = gas->count / SAMPLES;
    for (uint64_t i = 0; i < SAMPLES; ++i) {
        const carom_gas_home *a = &gas->records[i * step].home,
                             *b = &gas->records[i * step + 1].home;
        for (int axis = 0; axis < 3; ++axis) {
            int apart = finest_layer(gas, a, axis) - finest_layer(gas, b, axis);
            int size = (int)gas->cells.size[axis];
            apart = apart < 0 ? -apart : apart;
            if (gas->rules.periodic[axis] && size - apart < apart) apart = size - apart;
            sum += apart;
        }
    }
    return sum / SAMPLES;
}

bool carom_gas_is_unsorted(carom_gas *gas) {
    if (gas->predictions < gas->sort_after) return false;
    if (strangeness(gas) > RENEWAL_DISTANCE) return true;
    gas->sort_after = gas->predictions + gas->count;
    return false;
}

carom_status carom_gas_resort(carom_context *context, carom_gas *gas) {
    return carom_gas_is_unsorted(gas) ? carom_gas_rebuild(context, gas, 0) : CAROM_OK;
}
