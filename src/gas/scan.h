/* SPDX-License-Identifier: MIT */
/* scan.h: the earliest event of a sphere among many candidates; part of the loop in run_cpu.c.
 *
 * Lower bounds of all delays are found in lanes of floats. Most predictions are overtaken by other
 * events before their time comes, so the item function is not asked yet: where one near one is
 * first by a margin, the plan is ROUGH, due at its bound, and asked for the exact tick when that
 * has come. Where bounds lie too close together, or are zero, the item function decides at once.
 * Of each sphere only the earliest physical event is kept. */
#ifndef CAROM_SRC_GAS_SCAN_H
#define CAROM_SRC_GAS_SCAN_H

#include "gas/bounds.h"
#include "gas/cells.h"

#define SLOT_MASK    ((UINT32_C(1) << CAROM_GAS_SLOT_BITS) - 1)
#define FLIGHT_SHIFT 5 /* a flight is 32 bytes */

/* Is (kind, a, b) of one event before that of the other? Both are at the same tick. */
static inline bool ranks_before(const carom_gas *gas, uint32_t slot, uint8_t kind, uint32_t partner,
                                uint32_t other_slot, uint8_t other_kind, uint32_t other_partner) {
    if (kind != other_kind) return kind < other_kind;
    uint32_t a = gas->cards[slot].label, c = gas->cards[other_slot].label, b = partner,
             d = other_partner;
    if (kind == CAROM_GAS_KIND_PAIR) {
        b = gas->cards[partner].label;
        d = gas->cards[other_partner].label;
        if (a > b) a ^= b, b ^= a, a ^= b;
        if (c > d) c ^= d, d ^= c, c ^= d;
    }
    return a != c ? a < c : b < d;
}

/* See carom_gas_card: plans lie at the start of cards. */
static inline float *others_of(carom_gas_plan *plan) {
    return &((carom_gas_card *)plan)->others;
}

/* Something else may come at `time`, which is after the plan's. */
static inline void limit_others(carom_gas_plan *plan, int64_t time) {
    if (time == CAROM_GAS_NEVER) return;
    float *others = others_of(plan), delay = (float)(time - plan->physical) * (1.0f - 0x1p-10f);
    *others = delay < *others ? delay : *others;
}

static inline void set_plan(carom_gas_plan *plan, int64_t time, uint8_t kind, uint32_t partner,
                            uint32_t stamp, const int8_t image[3]) {
    plan->physical = time;
    plan->kind = kind;
    plan->partner = partner;
    plan->stamp = stamp;
    memcpy(plan->image, image, sizeof(plan->image));
    *others_of(plan) = 0.0f;
}

/* What is sure to come later than this does not matter to the plan. */
static inline int64_t latest(const carom_gas *gas, const carom_gas_plan *plan) {
    return plan->physical + (plan->kind == CAROM_GAS_ROUGH ? gas->flights.leeway : 0);
}

static inline bool is_rough(const carom_gas_plan *plan) {
    return plan->kind >= CAROM_GAS_ROUGH;
}

/* Who comes first from `time` on cannot be told yet. */
static inline void offer_again(carom_gas_plan *plan, int64_t time) {
    plan->physical = time < plan->physical ? time : plan->physical;
    plan->kind = CAROM_GAS_AGAIN;
    *others_of(plan) = 0.0f;
}

/* An event at its exact tick. */
static inline void offer(const carom_gas *gas, uint32_t slot, carom_gas_plan *plan, int64_t time,
                         uint8_t kind, uint32_t partner, uint32_t stamp, const int8_t image[3]) {
    if (time > latest(gas, plan)) {
        limit_others(plan, time);
        return;
    }
    if (is_rough(plan) && time >= plan->physical) {
        offer_again(plan, time);
        return;
    }
    if (time == plan->physical &&
        (time == CAROM_GAS_NEVER ||
         !ranks_before(gas, slot, kind, partner, slot, plan->kind, plan->partner)))
        return;
    set_plan(plan, time, kind, partner, stamp, image);
}

/* Boxes by which to shift another whose wraps are 0, from the code. */
static inline void image_of(const carom_gas_body *own, uint32_t code, int8_t image[3]) {
    /* the digits of a code less one; no branch, as it would be guessed wrong */
    static const int8_t boxes[27][4] = {
        {-1, -1, -1}, {0, -1, -1}, {1, -1, -1}, {-1, 0, -1}, {0, 0, -1},  {1, 0, -1}, {-1, 1, -1},
        {0, 1, -1},   {1, 1, -1},  {-1, -1, 0}, {0, -1, 0},  {1, -1, 0},  {-1, 0, 0}, {0, 0, 0},
        {1, 0, 0},    {-1, 1, 0},  {0, 1, 0},   {1, 1, 0},   {-1, -1, 1}, {0, -1, 1}, {1, -1, 1},
        {-1, 0, 1},   {0, 0, 1},   {1, 0, 1},   {-1, 1, 1},  {0, 1, 1},   {1, 1, 1}};
    const uint32_t low = UINT32_C(0x7F7F7F7F);
    uint32_t a = 0, b; /* four bytes at once: carries stop at the top bit of each */
    memcpy(&a, own->wraps, sizeof(own->wraps));
    memcpy(&b, boxes[code], sizeof(b));
    a = ((a & low) + (b & low)) ^ ((a ^ b) & ~low);
    memcpy(image, &a, 3);
}

/* The image a plan speaks of: its partner's wraps are those it was made with, or it is stale. */
static inline void image_planned(const carom_gas *gas, const carom_gas_plan *plan, int image[3]) {
    const carom_gas_body *partner = &gas->bodies[plan->partner];
    for (int axis = 0; axis < 3; ++axis) image[axis] = plan->image[axis] - partner->wraps[axis];
}

/* A near one that is met no earlier than at `time`, and first by the margin among its likes, none
 * of which comes before `others` ticks later. */
static inline void offer_rough(const carom_gas *gas, uint32_t slot, carom_gas_plan *plan,
                               int64_t time, uint32_t near, float others) {
    if (time + gas->flights.leeway >= plan->physical) {
        offer_again(plan, time);
        return;
    }
    uint32_t other = near & SLOT_MASK;
    int8_t image[3];
    image_of(&gas->bodies[slot], near >> CAROM_GAS_SLOT_BITS, image);
    int64_t before = plan->physical;
    set_plan(plan, time, CAROM_GAS_ROUGH, other, gas->flights.by_slot[other].stamp, image);
    *others_of(plan) = others;
    limit_others(plan, before);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

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
    float own_slow2 =
        CAROM_GAS_SLOW2 * (own.v[0] * own.v[0] + own.v[1] * own.v[1] + own.v[2] * own.v[2]) +
        CAROM_GAS_LEAST_SPEED2;
    for (int axis = 0; axis < 3; ++axis) own.x[axis] += own.v[axis] * since;
    for (uint32_t i = 0; i < count; i += 8) {
        const carom_gas_i8 numbers = {0, 1, 2, 3, 4, 5, 6, 7};
        uint32_t place[8];
        carom_gas_f4 rows[2][8];
        carom_gas_f8 bound;
        carom_gas_i8 words, places, absent;
        memcpy(&words, near + i, sizeof(words));
        places = words << FLIGHT_SHIFT; /* the code falls out */
        absent = (numbers >= (int32_t)(count - i)) | (places == (int32_t)(slot << FLIGHT_SHIFT));
        places &= ~absent;
        memcpy(place, &places, sizeof(place));
        for (int k = 0; k < 8; ++k) {
            const char *flight = first + place[k];
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
        carom_gas_bounds(&own, rows, since, own_slow2, flights->recede2, &bound);
        bound = (carom_gas_f8)((carom_gas_i8)bound | absent);
        memcpy(bounds + i, &bound, sizeof(bound));
        carom_gas_least(&bound, &least);
    }
    return carom_gas_least_lane(&least);
}

/* Of the eight bounds from `bounds` on, those in the range. */
static inline uint32_t bounds_between(const float *bounds, float from, float to) {
    carom_gas_f8 bound;
    memcpy(&bound, bounds, sizeof(bound));
    carom_gas_i8 wanted = (bound >= from) & (bound <= to);
    return carom_gas_lanes(&wanted);
}

/* The tick of a bound, never later than what it bounds. */
static inline int64_t tick_of(const carom_gas *gas, float bound) {
    double ticks = ((double)bound - 0x1p-39) * gas->flights.ticks_per_bound;
    if (!(ticks < (double)CAROM_GAS_HORIZON)) return CAROM_GAS_NEVER;
    return gas->now + (ticks > 0.0 ? (int64_t)ticks : 0);
}

/* ---- exactly --------------------------------------------------------------------------------- */

/* One near one by the item function. */
static inline void ask_exactly(const carom_gas *gas, uint32_t slot, uint32_t near,
                               carom_gas_plan *plan) {
    uint32_t other = near & SLOT_MASK;
    const carom_gas_body *body = &gas->bodies[slot], *b = &gas->bodies[other];
    int8_t image[3];
    int seen[3];
    image_of(body, near >> CAROM_GAS_SLOT_BITS, image);
    for (int axis = 0; axis < 3; ++axis) seen[axis] = image[axis] - b->wraps[axis];
    int64_t time =
        carom_gas_pair_time(&gas->rules, body, b, seen, carom_gas_reach(gas, slot, other));
    offer(gas, slot, plan, time, CAROM_GAS_KIND_PAIR, other, gas->flights.by_slot[other].stamp,
          image);
}

/* A delay as bounds count it, rounded up. */
static inline float bound_of(const carom_gas *gas, int64_t time) {
    if (time == CAROM_GAS_NEVER) return 1e37f;
    double delay = carom_gas_span(&gas->rules, time - gas->now) * gas->flights.per_time;
    return (float)delay * (1.0f + 0x1p-20f) + 0x1p-40f;
}

/* The one that seems earliest first, then all whose bound does not exclude that they come before.
 */
static __attribute__((noinline)) void ask_all(const carom_gas *gas, uint32_t slot,
                                              const uint32_t *near, uint32_t count,
                                              const float *bounds, float least, uint32_t first,
                                              carom_gas_plan *plan) {
    ask_exactly(gas, slot, near[first], plan);
    float limit = bound_of(gas, plan->physical);
    for (uint32_t i = 0; i < count; i += 8)
        for (uint32_t lanes = bounds_between(bounds + i, least, limit); lanes != 0;
             lanes &= lanes - 1) {
            uint32_t at = i + (uint32_t)__builtin_ctz(lanes);
            if (at != first) ask_exactly(gas, slot, near[at], plan);
        }
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Bounds of the near ones of a sphere, not yet looked at. */
typedef struct outlook {
    const uint32_t *near;
    uint32_t slot, count;
    float least, bounds[CAROM_GAS_MOST_NEAR + 8];
} outlook;

/* `shifted` when some may be in another box. */
static inline void look_out(const carom_gas *gas, uint32_t slot, const uint32_t *near,
                            uint32_t count, bool shifted, outlook *outlook) {
    outlook->near = near;
    outlook->slot = slot;
    outlook->count = count;
    if (shifted)
        outlook->least = bound_all(gas, slot, near, count, outlook->bounds, true);
    else
        outlook->least = bound_all(gas, slot, near, count, outlook->bounds, false);
}

/* The earliest meeting into the plan. */
static inline void decide(const carom_gas *gas, const outlook *outlook, carom_gas_plan *plan) {
    const float *bounds = outlook->bounds;
    const float least = outlook->least, margin = gas->flights.margin;
    int64_t time = tick_of(gas, least);
    if (time == CAROM_GAS_NEVER) return;
    if (time > latest(gas, plan)) {
        limit_others(plan, time);
        return;
    }
    uint32_t equal = 0, first = 0;
    carom_gas_f8 seconds = HUGE_VALF - (carom_gas_f8){0.0f};
    for (uint32_t i = 0; i < outlook->count; i += 8) { /* no branches: where it is, is random */
        carom_gas_f8 bound;
        memcpy(&bound, bounds + i, sizeof(bound));
        carom_gas_i8 is_least = bound == least;
        bound = (carom_gas_f8)((carom_gas_i8)bound | is_least); /* NaN is no second */
        carom_gas_least(&bound, &seconds);
        uint32_t lanes = carom_gas_lanes(&is_least);
        equal += (uint32_t)__builtin_popcount(lanes);
        first = lanes != 0 ? i + (uint32_t)__builtin_ctz(lanes) : first;
    }
    float second = carom_gas_least_lane(&seconds);
    bool clear = (equal == 1) & (second > least + margin) & (least > 0.0f) &
                 (least < 0x1p20f * margin) & !gas->exactly;
    if (clear)
        offer_rough(gas, outlook->slot, plan, time, outlook->near[first],
                    (second - least) * ((float)gas->flights.ticks_per_bound * (1.0f - 0x1p-10f)));
    else if (is_rough(plan))
        offer_again(plan, time);
    else
        ask_all(gas, outlook->slot, outlook->near, outlook->count, bounds, least, first, plan);
}

/* The near ones against sphere `slot`, the earliest meeting into its plan. */
static inline void scan(const carom_gas *gas, uint32_t slot, const uint32_t *near, uint32_t count,
                        bool shifted, carom_gas_plan *plan) {
    outlook outlook;
    look_out(gas, slot, near, count, shifted, &outlook);
    decide(gas, &outlook, plan);
}

/* What needs no partner: walls and the refreshing of the body. */
static inline void scan_alone(const carom_gas *gas, uint32_t slot, carom_gas_plan *plan) {
    static const int8_t no_image[3];
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *body = &gas->bodies[slot];
    const carom_gas_flight *flight = &gas->flights.by_slot[slot];
    if (!rules->walls && flight->v[0] == flight->v[0] &&
        plan->physical < body->t + gas->flights.safe_span)
        return;
    if (rules->walls)
        for (int axis = 0; axis < 3; ++axis) {
            if (rules->periodic[axis]) continue;
            for (int side = 0; side < 2; ++side) {
                if (!rules->accelerated && !(side == 0 ? body->v[axis] < 0.0 : body->v[axis] > 0.0))
                    continue;
                int64_t time = carom_gas_wall_time(rules, body, gas->radius[slot], axis, side);
                offer(gas, slot, plan, time, CAROM_GAS_KIND_WALL, (uint32_t)(2 * axis + side), 0,
                      no_image);
            }
        }
    /* Only far events can lie behind the refreshing. */
    if (plan->physical < body->t + CAROM_GAS_HORIZON) {
        double span = carom_gas_span(rules, plan->physical - body->t);
        double speed = (fabs(body->v[0]) + fabs(body->v[1])) + fabs(body->v[2]);
        if ((speed + gas->most_acceleration * span) * span < gas->safe_drift) return;
    }
    offer(gas, slot, plan, carom_gas_refresh_time(rules, body), CAROM_GAS_REFRESH, 0, 0, no_image);
}

#endif
