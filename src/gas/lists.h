/* SPDX-License-Identifier: MIT */
/* lists.h: who is near, by lists of neighbours; inlined into the loops that predict.
 *
 * Each sphere remembers where its list was made, its centre, and is filed in the cell of that. Two
 * spheres are in each other's lists while their centres are nearer than the sum of their radii and
 * twice the leeway; none strays further than the leeway from its centre without a new list. So all
 * that can touch are listed, and a sphere that rattles among its neighbours crosses nothing. */
#ifndef CAROM_SRC_GAS_LISTS_H
#define CAROM_SRC_GAS_LISTS_H

#include <string.h>

#include "gas/cells.h"

static inline carom_gas_list *carom_gas_list_of(const carom_gas *gas, uint32_t slot) {
    return (carom_gas_list *)(gas->lists.words + (size_t)slot * gas->lists.stride);
}

static inline uint32_t *carom_gas_list_words(carom_gas_list *list) {
    return (uint32_t *)(list + 1);
}

/* The same pair as the other sees it. */
static inline uint32_t carom_gas_near_back(uint32_t near, uint32_t slot) {
    return carom_gas_near(slot, 2 * CAROM_GAS_HERE - (near >> CAROM_GAS_SLOT_BITS));
}

static inline void carom_gas_list_drop(carom_gas_list *list, uint32_t near) {
    uint32_t *words = carom_gas_list_words(list);
    for (uint32_t i = 0; i < list->count; ++i)
        if (words[i] == near) {
            words[i] = words[--list->count];
            return;
        }
}

/* Are the centres near enough to be listed? `code` as in cells.h. */
static inline bool carom_gas_lists_meet(const carom_gas *gas, uint32_t slot, uint32_t other,
                                        uint32_t code) {
    const double *a = carom_gas_list_of(gas, slot)->centre;
    const double *b = carom_gas_list_of(gas, other)->centre;
    double reach = gas->radius[slot] + gas->radius[other] + 2.0 * gas->lists.leeway;
    double dx = b[0] - a[0], dy = b[1] - a[1], dz = b[2] - a[2];
    if (code != CAROM_GAS_HERE) {
        dx += ((double)(code % 3) - 1.0) * gas->rules.edge[0];
        dy += ((double)(code / 3 % 3) - 1.0) * gas->rules.edge[1];
        dz += ((double)(code / 9) - 1.0) * gas->rules.edge[2];
    }
    return (dx * dx + dy * dy) + dz * dz < reach * reach * (1.0 + 1e-9);
}

/* Sets the centre to where the sphere is now, and its cell. */
static inline void carom_gas_list_centre(carom_gas *gas, uint32_t slot) {
    carom_gas_body *body = &gas->bodies[slot];
    double *centre = carom_gas_list_of(gas, slot)->centre, v[3];
    carom_gas_place(&gas->rules, body, carom_gas_span(&gas->rules, gas->now - body->t), centre, v);
    for (int axis = 0; axis < 3; ++axis) {
        double edge = gas->rules.edge[axis];
        body->wraps[axis] = 0;
        if (gas->rules.periodic[axis] && !(centre[axis] >= 0.0 && centre[axis] < edge)) {
            double boxes = floor(centre[axis] / edge);
            centre[axis] -= boxes * edge;
            body->wraps[axis] = (int8_t)boxes;
        }
        int64_t at = (int64_t)(centre[axis] * gas->cells.per_edge[axis]), last;
        last = (int64_t)gas->cells.size[axis] - 1;
        gas->homes[slot].at[axis] = (uint16_t)(at < 0 ? 0 : at > last ? last : at);
    }
}

#endif
