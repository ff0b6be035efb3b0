/* SPDX-License-Identifier: MIT */
/* gas_neighbour_lists.h: neighbour search by neighbour lists; inlined into the loops that predict.
 *
 * The centre of a list is the position of its sphere when the list was built; the sphere is filed
 * in the cell of that centre. Invariants: two spheres are in each other's lists while their centres
 * are closer than the sum of their radii plus twice the skin, and no sphere is further
 * than the skin from its centre without a new list. So all pairs that can touch are listed, and a
 * sphere that stays among its neighbours crosses nothing. */
#ifndef CAROM_SRC_GAS_GAS_NEIGHBOUR_LISTS_H
#define CAROM_SRC_GAS_GAS_NEIGHBOUR_LISTS_H

#include "gas/gas_cells.h"

#define CAROM_GAS_MOST_LISTED 1023 /* with the length, 4 KiB; renew_list keeps two on the stack */

/* The list of a sphere: its length, then the candidates. */
static inline uint32_t *carom_gas_list_of(const carom_gas *gas, uint32_t slot) {
    return gas->lists.entries + (size_t)slot * gas->lists.stride;
}

/* The entry of the same pair in the other sphere's list. */
static inline uint32_t carom_gas_candidate_back(uint32_t entry, uint32_t slot) {
    return carom_gas_candidate(slot, 2 * CAROM_GAS_HERE - carom_gas_candidate_code(entry));
}

static inline void carom_gas_list_drop(uint32_t *list, uint32_t entry) {
    for (uint32_t i = 1; i <= list[0]; ++i)
        if (list[i] == entry) {
            list[i] = list[list[0]--];
            return;
        }
}

/* True when the centres are close enough to be listed. `code` as in gas_cells.h. */
static inline bool carom_gas_lists_meet(const carom_gas *gas, uint32_t slot, uint32_t other,
                                        uint32_t code) {
    const carom_gas_centre *a = &gas->lists.centres[slot], *b = &gas->lists.centres[other];
    float limit = a->radius + b->radius + gas->lists.slack;
    float dx = b->x[0] - a->x[0], dy = b->x[1] - a->x[1], dz = b->x[2] - a->x[2];
    if (code != CAROM_GAS_HERE) {
        dx += ((float)(code % 3) - 1.0f) * (float)gas->rules.edge[0];
        dy += ((float)(code / 3 % 3) - 1.0f) * (float)gas->rules.edge[1];
        dz += ((float)(code / 9) - 1.0f) * (float)gas->rules.edge[2];
    }
    return (dx * dx + dy * dy) + dz * dz < limit * limit;
}

/* Records whether all listed spheres are in this box. */
static inline void carom_gas_list_inside(carom_gas *gas, uint32_t slot) {
    carom_gas_record *record = &gas->records[slot];
    bool inside = true;
    for (int axis = 0; axis < 3; ++axis)
        inside &= record->home.at[axis] > 0 && record->home.at[axis] + 1u < gas->cells.size[axis];
    record->home.extra = inside;
}

/* Sets the centre and the home to the present position of the sphere. */
static inline void carom_gas_list_centre(carom_gas *gas, uint32_t slot) {
    carom_gas_body *body = &gas->bodies[slot];
    carom_gas_centre *centre = &gas->lists.centres[slot];
    double x[3], v[3];
    carom_gas_state_at(&gas->rules, body, carom_gas_span(&gas->rules, gas->now - body->t), x, v);
    for (int axis = 0; axis < 3; ++axis) {
        double edge = gas->rules.edge[axis];
        body->wraps[axis] = 0;
        if (gas->rules.periodic[axis] && !(x[axis] >= 0.0 && x[axis] < edge)) {
            double boxes = floor(x[axis] / edge);
            x[axis] -= boxes * edge;
            body->wraps[axis] = (int8_t)boxes;
        }
        int64_t at = (int64_t)(x[axis] * gas->cells.per_edge[axis]);
        int64_t last = (int64_t)gas->cells.size[axis] - 1;
        gas->records[slot].home.at[axis] = (uint16_t)(at < 0 ? 0 : at > last ? last : at);
        gas->records[slot].centre[axis] = centre->x[axis] = (float)x[axis];
    }
    centre->radius = (float)carom_gas_radius(gas, slot);
    carom_gas_list_inside(gas, slot);
}

#endif
