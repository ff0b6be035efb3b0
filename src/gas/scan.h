/* SPDX-License-Identifier: MIT */
/* scan.h: the earliest event of a sphere among many candidates; part of the loop in run_cpu.c.
 *
 * Lower bounds of all delays are found in lanes of floats; the few near ones that could be first by
 * their bound are asked by the item function and compared by tick and rank. Of each sphere only the
 * earliest physical event is kept. */
#ifndef CAROM_SRC_GAS_SCAN_H
#define CAROM_SRC_GAS_SCAN_H

#include "gas/bounds.h"
#include "gas/cells.h"

#define SLOT_MASK ((UINT32_C(1) << CAROM_GAS_SLOT_BITS) - 1)

/* Is (kind, a, b) of one event before that of the other? Both are at the same tick. */
static inline bool ranks_before(const carom_gas *gas, uint32_t slot, uint8_t kind, uint32_t partner,
                                uint32_t other_slot, uint8_t other_kind, uint32_t other_partner) {
    if (kind != other_kind) return kind < other_kind;
    uint32_t a = gas->cards[slot].label, c = gas->cards[other_slot].label, b = partner, d = other_partner;
    if (kind == CAROM_GAS_PAIR) {
        b = gas->cards[partner].label;
        d = gas->cards[other_partner].label;
        if (a > b) a ^= b, b ^= a, a ^= b;
        if (c > d) c ^= d, d ^= c, c ^= d;
    }
    return a != c ? a < c : b < d;
}

static inline void offer(const carom_gas *gas, uint32_t slot, carom_gas_plan *plan, int64_t time,
                         uint8_t kind, uint32_t partner, uint32_t count, const int image[3]) {
    if (time > plan->physical) return;
    if (time == plan->physical &&
        (time == CAROM_GAS_NEVER ||
         !ranks_before(gas, slot, kind, partner, slot, plan->kind, plan->partner)))
        return;
    plan->physical = time;
    plan->kind = kind;
    plan->partner = partner;
    plan->partner_count = count;
    for (int axis = 0; axis < 3; ++axis) plan->image[axis] = (int8_t)image[axis];
}

/* Boxes by which to shift `other`, from the code and the boxes the two cells lie in. */
static inline void image_of(const carom_gas_body *body, const carom_gas_body *other, uint32_t code,
                            int image[3]) {
    uint32_t wraps, its_wraps;
    memcpy(&wraps, body->wraps, sizeof(wraps));
    memcpy(&its_wraps, other->wraps, sizeof(its_wraps));
    image[0] = image[1] = image[2] = 0;
    if (code == CAROM_GAS_HERE && wraps == its_wraps) return;
    int digit[3] = {(int)(code % 3), (int)(code / 3 % 3), (int)(code / 9)};
    for (int axis = 0; axis < 3; ++axis)
        image[axis] = digit[axis] - 1 + body->wraps[axis] - other->wraps[axis];
}

/* Bounds of all near ones in eights, and the least of them; NaN are those who are never met. Up to
 * seven words behind the last are read. */
static inline __attribute__((always_inline)) float bound_all(const carom_gas *gas, uint32_t slot,
                                                             const uint32_t *near, uint32_t count,
                                                             float *bounds, bool shifted) {
    const carom_gas_flights *flights = &gas->flights;
    const char *first = (const char *)flights->by_slot;
    float since =
        (float)(carom_gas_span(&gas->rules, gas->now - flights->start) * flights->per_time);
    carom_gas_flight own = flights->by_slot[slot];
    carom_gas_f8 least = HUGE_VALF - (carom_gas_f8){0.0f};
    for (int axis = 0; axis < 3; ++axis) own.x[axis] += own.v[axis] * since;
    for (uint32_t i = 0; i < count; i += 8) {
        const carom_gas_i8 numbers = {0, 1, 2, 3, 4, 5, 6, 7};
        uint32_t place[8];
        carom_gas_f4 rows[2][8];
        carom_gas_f8 bound;
        carom_gas_i8 words, slots, absent;
        memcpy(&words, near + i, sizeof(words));
        slots = words & (int32_t)SLOT_MASK;
        absent = (numbers >= (int32_t)(count - i)) | (slots == (int32_t)slot);
        slots &= ~absent;
        memcpy(place, &slots, sizeof(place));
        for (int k = 0; k < 8; ++k) {
            const char *flight = first + (size_t)place[k] * sizeof(own);
            memcpy(&rows[0][k], flight, sizeof(rows[0][k]));
            memcpy(&rows[1][k], flight + sizeof(rows[0][k]), sizeof(rows[1][k]));
        }
        if (shifted) {
            uint32_t code[8];
            carom_gas_i8 codes = (words & ~absent) >> CAROM_GAS_SLOT_BITS & 31;
            memcpy(code, &codes, sizeof(code));
            for (int k = 0; k < 8; ++k) {
                carom_gas_f4 shift;
                memcpy(&shift, flights->shift[code[k]], sizeof(shift));
                rows[0][k] += shift;
            }
        }
        carom_gas_bounds(&own, rows, since, flights->recede2, &bound);
        bound = (carom_gas_f8)((carom_gas_i8)bound | absent);
        memcpy(bounds + i, &bound, sizeof(bound));
        carom_gas_least(&bound, &least);
    }
    float all = HUGE_VALF;
    for (int k = 0; k < 8; ++k) all = least[k] < all ? least[k] : all;
    return all;
}

/* One near one by the item function. */
static inline void ask_exactly(const carom_gas *gas, uint32_t slot, uint32_t near,
                               carom_gas_plan *plan) {
    uint32_t other = near & SLOT_MASK;
    const carom_gas_body *body = &gas->bodies[slot], *b = &gas->bodies[other];
    int image[3];
    image_of(body, b, near >> CAROM_GAS_SLOT_BITS, image);
    int64_t time =
        carom_gas_pair_time(&gas->rules, body, b, image, carom_gas_reach(gas, slot, other));
    offer(gas, slot, plan, time, CAROM_GAS_PAIR, other, b->count, image);
}

/* Of the eight bounds from `bounds` on, those in the range. */
static inline uint32_t bounds_between(const float *bounds, float from, float to) {
    carom_gas_f8 bound;
    memcpy(&bound, bounds, sizeof(bound));
    carom_gas_i8 wanted = (bound >= from) & (bound <= to);
    return carom_gas_lanes(&wanted);
}

/* A delay as bounds count it, rounded up. */
static inline float bound_of(const carom_gas *gas, int64_t time) {
    if (time == CAROM_GAS_NEVER) return 1e37f;
    double delay = carom_gas_span(&gas->rules, time - gas->now) * gas->flights.per_time;
    return (float)delay * (1.0f + 0x1p-20f) + 0x1p-40f;
}

/* The near ones against sphere `slot`, the earliest meeting into its plan; `shifted` when some may
 * be in another box. First the one that seems earliest, then all whose bound does not exclude that
 * they come before. */
static inline void scan(const carom_gas *gas, uint32_t slot, const uint32_t *near, uint32_t count,
                        bool shifted, carom_gas_plan *plan) {
    float bounds[CAROM_GAS_MOST_NEAR + 8], least;
    if (shifted)
        least = bound_all(gas, slot, near, count, bounds, true);
    else
        least = bound_all(gas, slot, near, count, bounds, false);
    float limit = bound_of(gas, plan->physical);
    if (!(least <= limit)) return;
    uint32_t first = 0, lanes;
    while ((lanes = bounds_between(bounds + first, least, least)) == 0) first += 8;
    first += (uint32_t)__builtin_ctz(lanes);
    ask_exactly(gas, slot, near[first], plan);
    limit = bound_of(gas, plan->physical);
    for (uint32_t i = 0; i < count; i += 8)
        for (lanes = bounds_between(bounds + i, least, limit); lanes != 0; lanes &= lanes - 1) {
            uint32_t at = i + (uint32_t)__builtin_ctz(lanes);
            if (at != first) ask_exactly(gas, slot, near[at], plan);
        }
}

/* What needs no partner: walls and the refreshing of the body. */
static inline void scan_alone(const carom_gas *gas, uint32_t slot, carom_gas_plan *plan) {
    static const int no_image[3];
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *body = &gas->bodies[slot];
    if (rules->walls)
        for (int axis = 0; axis < 3; ++axis) {
            if (rules->periodic[axis]) continue;
            for (int side = 0; side < 2; ++side) {
                if (!rules->accelerated && !(side == 0 ? body->v[axis] < 0.0 : body->v[axis] > 0.0))
                    continue;
                int64_t time = carom_gas_wall_time(rules, body, gas->radius[slot], axis, side);
                offer(gas, slot, plan, time, CAROM_GAS_WALL, (uint32_t)(2 * axis + side), 0,
                      no_image);
            }
        }
    /* Only far events can lie behind the refreshing. */
    if (plan->physical < body->t + CAROM_GAS_HORIZON) {
        double span = carom_gas_span(rules, plan->physical - body->t), speed = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
            double v = body->v[axis] < 0.0 ? -body->v[axis] : body->v[axis];
            speed = v > speed ? v : speed;
        }
        if ((speed + gas->most_acceleration * span) * span < gas->safe_drift) return;
    }
    offer(gas, slot, plan, carom_gas_refresh_time(rules, body), CAROM_GAS_REFRESH, 0, 0, no_image);
}

#endif
