/* SPDX-License-Identifier: MIT */
/* gas_renew.h: CAROM_GAS_METHOD_NEIGHBOURS: prediction from neighbour lists and renewal of the
 * lists; part of the loop in gas_run_cpu.c. The invariants are in gas_neighbour_lists.h. */
#ifndef CAROM_SRC_GAS_GAS_RENEW_H
#define CAROM_SRC_GAS_GAS_RENEW_H

#include "gas/gas_centre.h"
#include "gas/gas_neighbour_lists.h"

/* Scans any number of candidates, CAROM_GAS_MOST_CANDIDATES at a time. */
static inline void scan_all(const carom_gas *gas, uint32_t slot, const uint32_t *near,
                            uint32_t count, carom_gas_prediction *prediction) {
    for (uint32_t from = 0; from < count; from += CAROM_GAS_MOST_CANDIDATES) {
        uint32_t left = count - from;
        scan(gas, slot, near + from,
             left < CAROM_GAS_MOST_CANDIDATES ? left : CAROM_GAS_MOST_CANDIDATES,
             !gas->records[slot].home.extra, prediction);
    }
}

static inline void scan_list(const carom_gas *gas, uint32_t slot,
                             carom_gas_prediction *prediction) {
    const uint32_t *list = carom_gas_list_of(gas, slot);
    if (list[0] <= CAROM_GAS_MOST_CANDIDATES)
        scan(gas, slot, list + 1, list[0], !gas->records[slot].home.extra, prediction);
    else
        scan_all(gas, slot, list + 1, list[0], prediction);
}

/* Predicts when the sphere is the skin away from its centre. Under an acceleration this is a
 * lower bound, otherwise exact. */
static inline void predict_renewal(const carom_gas *gas, uint32_t slot,
                                   carom_gas_prediction *prediction) {
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *body = &gas->bodies[slot];
    const float *centre = gas->records[slot].centre;
    double x[3], v[3], b = 0.0, vv = 0.0, yy = 0.0, skin = gas->lists.skin;
    carom_gas_place(rules, body, carom_gas_span(rules, gas->now - body->t), x, v);
    if ((body->wraps[0] | body->wraps[1] | body->wraps[2]) != 0)
        for (int axis = 0; axis < 3; ++axis)
            x[axis] -= (double)body->wraps[axis] * rules->edge[axis];
    for (int axis = 0; axis < 3; ++axis) {
        double y = x[axis] - (double)centre[axis];
        b += y * v[axis];
        vv += v[axis] * v[axis];
        yy += y * y;
    }
    double delay = CAROM_GAS_NEVER_DELAY;
    if (rules->accelerated) {
        double gap = skin - sqrt(yy), a = 0.0;
        for (int axis = 0; axis < 3; ++axis)
            a += rules->acceleration[axis] * rules->acceleration[axis];
        gap = gap > 0.0 ? gap : 0.0;
        delay = 2.0 * gap / (sqrt(vv) + sqrt(vv + 2.0 * sqrt(a) * gap));
    } else if (vv > 0.0) {
        double gap = skin * skin - yy;
        double root = sqrt(b * b + vv * (gap > 0.0 ? gap : 0.0));
        delay = (root - b) / vv; /* cancellation errors are far below the slack of centres */
    }
    prediction->crossing = carom_gas_after(rules, gas->now, delay > 0.0 ? delay : 0.0);
}

/* True when `near` is among the entries. Up to seven entries after the last are read. */
static inline bool is_listed(const uint32_t *entries, uint32_t count, uint32_t near) {
    const carom_i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
    carom_i32x8 found = {0};
    for (uint32_t i = 0; i < count; i += 8) {
        carom_i32x8 eight;
        memcpy(&eight, entries + i, sizeof(eight));
        found |= (eight == (int32_t)near) & (lane < (int32_t)(count - i));
    }
    return carom_i32x8_lanes(found) != 0;
}

/* Appends to `fresh` the candidates whose centres are close enough, eight at a time. The array of
 * candidates must have space for eight more. */
static inline __attribute__((always_inline)) uint32_t
list_candidates(const carom_gas *gas, uint32_t slot, carom_gas_candidates *candidates, bool shifted,
                uint32_t *fresh, uint32_t count) {
    const carom_gas_centre *own = &gas->lists.centres[slot];
    const float length = (float)(1.0 / gas->trajectories.per_length);
    for (uint32_t k = 0; k < 8; ++k)
        candidates->near[candidates->count + k] = carom_gas_candidate(slot, CAROM_GAS_HERE);
    for (uint32_t i = 0; i < candidates->count; i += 8) {
        carom_f32x4 rows[8], shift;
        carom_f32x8 c[4];
        for (uint32_t k = 0; k < 8; ++k) {
            uint32_t near = candidates->near[i + k];
            memcpy(&rows[k], &gas->lists.centres[near & SLOT_MASK], sizeof(rows[k]));
            if (!shifted) continue;
            memcpy(&shift, gas->trajectories.shift[near >> CAROM_GAS_SLOT_BITS], sizeof(shift));
            rows[k] += shift * length;
        }
        carom_f32x8_transpose(rows, c);
        carom_f32x8 dx = c[0] - own->x[0], dy = c[1] - own->x[1], dz = c[2] - own->x[2];
        carom_f32x8 limit = c[3] + (own->radius + gas->lists.slack);
        carom_i32x8 meet = (dx * dx + dy * dy) + dz * dz < limit * limit;
        for (uint32_t lanes = carom_i32x8_lanes(meet); lanes != 0; lanes &= lanes - 1) {
            uint32_t near = candidates->near[i + (uint32_t)__builtin_ctz(lanes)];
            fresh[count] = near;
            count += (near & SLOT_MASK) != slot;
        }
    }
    return count;
}

/* Collects the neighbours of a sphere whose centre has just been set; false when there are too
 * many. */
static inline bool collect_list(const carom_gas *gas, uint32_t slot, uint32_t *fresh,
                                uint32_t *count) {
    carom_gas_candidates candidates;
    block block;
    *count = 0;
    collect_block(gas, &gas->records[slot].home, &block, &candidates);
    link_cursor cursor = begin_links(&block);
    bool inside = carom_gas_is_inside(&gas->cells, &gas->records[slot].home);
    for (bool all = false; !all && *count <= gas->lists.capacity; candidates.count = 0) {
        all = !block.linked || collect_links(gas, &block, &cursor, &candidates);
        if (gas->prefetch)
            for (uint32_t i = 0; i < candidates.count; ++i)
                __builtin_prefetch(&gas->lists.centres[candidates.near[i] & SLOT_MASK]);
        *count = inside ? list_candidates(gas, slot, &candidates, false, fresh, *count)
                        : list_candidates(gas, slot, &candidates, true, fresh, *count);
    }
    return *count <= gas->lists.capacity;
}

/* Builds a new list for a sphere that has moved by the skin. Only its new neighbours are scanned.
 * When a list is full, the result is false and the sphere is unchanged. */
static inline bool renew_list(carom_gas *gas, uint32_t slot) {
    uint32_t fresh[CAROM_GAS_MOST_LISTED + CAROM_GAS_MOST_CANDIDATES + 8],
        news[CAROM_GAS_MOST_LISTED], count, added = 0;
    uint32_t *list = carom_gas_list_of(gas, slot);
    const carom_gas_home before = gas->records[slot].home, *home = &gas->records[slot].home;
    const carom_gas_centre centre = gas->lists.centres[slot];
    const carom_gas_body body = gas->bodies[slot];
    carom_gas_list_centre(gas, slot);
    bool moved = memcmp(body.wraps, gas->bodies[slot].wraps, sizeof(body.wraps)) != 0;
    bool fits = collect_list(gas, slot, fresh, &count);
    for (uint32_t i = 0; i < count && fits; ++i) {
        if (is_listed(list + 1, list[0], fresh[i])) continue;
        uint32_t its = carom_gas_list_of(gas, fresh[i] & SLOT_MASK)[0];
        for (uint32_t k = 0; k < added; ++k) /* a narrow box may contain several images */
            its += ((news[k] ^ fresh[i]) & SLOT_MASK) == 0;
        fits = its < gas->lists.capacity;
        news[added++] = fresh[i];
    }
    if (!fits) {
        gas->lists.centres[slot] = centre;
        memcpy(gas->records[slot].centre, centre.x, sizeof(centre.x));
        gas->records[slot].home = before;
        carom_gas_list_inside(gas, slot);
        gas->bodies[slot] = body;
        return false;
    }
    for (uint32_t i = 1; i <= list[0]; ++i)
        if (!is_listed(fresh, count, list[i]))
            carom_gas_list_drop(carom_gas_list_of(gas, list[i] & SLOT_MASK),
                                carom_gas_candidate_back(list[i], slot));
    for (uint32_t i = 0; i < added; ++i) {
        uint32_t *its = carom_gas_list_of(gas, news[i] & SLOT_MASK);
        its[++its[0]] = carom_gas_candidate_back(news[i], slot);
    }
    memcpy(list + 1, fresh, count * sizeof(*list));
    list[0] = count;
    if (memcmp(home, &before, sizeof(before)) != 0) {
        carom_gas_file(gas, slot, &before, false);
        carom_gas_file(gas, slot, home, true);
    }
    /* After a change of box the same entry means another image. This matters where a box is not
     * much wider than the cutoff. */
    if (moved) {
        carom_gas_trajectory_shift(gas, slot);
        scan_list(gas, slot, &gas->records[slot].prediction);
    } else {
        scan_all(gas, slot, news, added, &gas->records[slot].prediction);
    }
    predict_renewal(gas, slot, &gas->records[slot].prediction);
    return true;
}

#endif
