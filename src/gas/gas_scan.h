/* SPDX-License-Identifier: MIT */
/* gas_scan.h: the earliest event of a sphere among its candidates; part of the loop in
 * gas_run_cpu.c.
 *
 * Lower bounds of all delays are computed in float vectors. Most predictions are invalidated by
 * other events before they are due, so the exact item function is not evaluated yet. Where one
 * candidate is first by a margin, the prediction is PROVISIONAL: it is due at its lower bound, and
 * its exact tick is computed at that time. Where bounds are too close together, or zero, the item
 * function decides immediately. Invariant: only the earliest physical event of each sphere is kept,
 * and its time is never later than that event. */
#ifndef CAROM_SRC_GAS_GAS_SCAN_H
#define CAROM_SRC_GAS_GAS_SCAN_H

#include "gas/gas_bounds.h"
#include "gas/gas_cells.h"

#define SLOT_MASK        ((UINT32_C(1) << CAROM_GAS_SLOT_BITS) - 1)
#define TRAJECTORY_SHIFT 5 /* a trajectory is 32 bytes */

/* True when (kind, a, b) of the first event precedes that of the other. Both are at the same
 * tick. */
static inline bool ranks_before(const carom_gas *gas, uint32_t slot, uint8_t kind, uint32_t partner,
                                uint32_t other_slot, uint8_t other_kind, uint32_t other_partner) {
    if (kind != other_kind) return kind < other_kind;
    uint32_t a = gas->records[slot].label, c = gas->records[other_slot].label, b = partner,
             d = other_partner;
    if (kind == CAROM_GAS_KIND_PAIR) {
        b = gas->records[partner].label;
        d = gas->records[other_partner].label;
        if (a > b) a ^= b, b ^= a, a ^= b;
        if (c > d) c ^= d, d ^= c, c ^= d;
    }
    return a != c ? a < c : b < d;
}

/* The `others` field of the record. A prediction is at the start of its record. */
static inline float *next_best_of(carom_gas_prediction *prediction) {
    return &((carom_gas_record *)prediction)->others;
}

/* Lowers the next best time to `time`, which is after the prediction's. */
static inline void limit_next_best(carom_gas_prediction *prediction, int64_t time) {
    if (time == CAROM_GAS_NEVER) return;
    float *others = next_best_of(prediction),
          delay = (float)(time - prediction->physical) * (1.0f - 0x1p-10f);
    *others = delay < *others ? delay : *others;
}

static inline void set_prediction(carom_gas_prediction *prediction, int64_t time, uint8_t kind,
                                  uint32_t partner, uint32_t stamp, const int8_t image[3]) {
    prediction->physical = time;
    prediction->kind = kind;
    prediction->partner = partner;
    prediction->stamp = stamp;
    memcpy(prediction->image, image, sizeof(prediction->image));
    *next_best_of(prediction) = 0.0f;
}

/* Upper bound of the predicted event's time: later events do not affect the prediction. */
static inline int64_t latest(const carom_gas *gas, const carom_gas_prediction *prediction) {
    return prediction->physical +
           (prediction->kind == CAROM_GAS_PROVISIONAL ? gas->trajectories.uncertainty : 0);
}

static inline bool is_provisional(const carom_gas_prediction *prediction) {
    return prediction->kind >= CAROM_GAS_PROVISIONAL;
}

/* Marks the prediction as unresolved: which event is first from `time` on is not yet known. */
static inline void offer_unresolved(carom_gas_prediction *prediction, int64_t time) {
    prediction->physical = time < prediction->physical ? time : prediction->physical;
    prediction->kind = CAROM_GAS_UNRESOLVED;
    *next_best_of(prediction) = 0.0f;
}

/* Offers an event with its exact tick. */
static inline void offer(const carom_gas *gas, uint32_t slot, carom_gas_prediction *prediction,
                         int64_t time, uint8_t kind, uint32_t partner, uint32_t stamp,
                         const int8_t image[3]) {
    if (time > latest(gas, prediction)) {
        limit_next_best(prediction, time);
        return;
    }
    if (is_provisional(prediction) && time >= prediction->physical) {
        offer_unresolved(prediction, time);
        return;
    }
    if (time == prediction->physical &&
        (time == CAROM_GAS_NEVER ||
         !ranks_before(gas, slot, kind, partner, slot, prediction->kind, prediction->partner)))
        return;
    set_prediction(prediction, time, kind, partner, stamp, image);
}

/* Boxes by which to shift a partner whose wraps are 0, from the code. */
static inline void image_of(const carom_gas_body *own, uint32_t code, int8_t image[3]) {
    /* the digits of a code minus one; a table, as a branch would be mispredicted */
    static const int8_t boxes[27][4] = {
        {-1, -1, -1}, {0, -1, -1}, {1, -1, -1}, {-1, 0, -1}, {0, 0, -1},  {1, 0, -1}, {-1, 1, -1},
        {0, 1, -1},   {1, 1, -1},  {-1, -1, 0}, {0, -1, 0},  {1, -1, 0},  {-1, 0, 0}, {0, 0, 0},
        {1, 0, 0},    {-1, 1, 0},  {0, 1, 0},   {1, 1, 0},   {-1, -1, 1}, {0, -1, 1}, {1, -1, 1},
        {-1, 0, 1},   {0, 0, 1},   {1, 0, 1},   {-1, 1, 1},  {0, 1, 1},   {1, 1, 1}};
    const uint32_t low = UINT32_C(0x7F7F7F7F);
    uint32_t a = 0, b; /* adds four bytes at once: carries stop at the top bit of each */
    memcpy(&a, own->wraps, sizeof(own->wraps));
    memcpy(&b, boxes[code], sizeof(b));
    a = ((a & low) + (b & low)) ^ ((a ^ b) & ~low);
    memcpy(image, &a, 3);
}

/* The image of a prediction's partner. Its wraps are unchanged since the prediction, or the
 * prediction is stale. */
static inline void predicted_image(const carom_gas *gas, const carom_gas_prediction *prediction,
                                   int image[3]) {
    const carom_gas_body *partner = &gas->bodies[prediction->partner];
    for (int axis = 0; axis < 3; ++axis)
        image[axis] = prediction->image[axis] - partner->wraps[axis];
}

/* Offers a provisional candidate. It is met no earlier than `time`. Its bound is the least of all
 * candidates by the margin; every other candidate is met at least `others` ticks after `time`. */
static inline void offer_provisional(const carom_gas *gas, uint32_t slot,
                                     carom_gas_prediction *prediction, int64_t time, uint32_t near,
                                     float others) {
    if (time + gas->trajectories.uncertainty >= prediction->physical) {
        offer_unresolved(prediction, time);
        return;
    }
    uint32_t other = near & SLOT_MASK;
    int8_t image[3];
    image_of(&gas->bodies[slot], near >> CAROM_GAS_SLOT_BITS, image);
    int64_t before = prediction->physical;
    set_prediction(prediction, time, CAROM_GAS_PROVISIONAL, other,
                   gas->trajectories.by_slot[other].stamp, image);
    *next_best_of(prediction) = others;
    limit_next_best(prediction, before);
}

/* ---- Lower bounds ---------------------------------------------------------------------------- */

/* Computes the bounds of all candidates, eight at a time, and returns the least. A bound is NaN
 * when the candidate is never met. Up to seven entries after the last are read. */
static inline __attribute__((always_inline)) float bound_all(const carom_gas *gas, uint32_t slot,
                                                             const uint32_t *near, uint32_t count,
                                                             float *bounds, bool shifted) {
    const carom_gas_trajectories *trajectories = &gas->trajectories;
    const char *first = (const char *)trajectories->by_slot;
    float since = (float)(carom_gas_span(&gas->rules, gas->now - trajectories->start) *
                          trajectories->per_time);
    carom_gas_trajectory own = trajectories->by_slot[slot];
    carom_f32x8 least = carom_f32x8_splat(HUGE_VALF);
    float own_slow2 =
        CAROM_GAS_SLOW2 * (own.v[0] * own.v[0] + own.v[1] * own.v[1] + own.v[2] * own.v[2]) +
        CAROM_GAS_LEAST_SPEED2;
    for (int axis = 0; axis < 3; ++axis) own.x[axis] += own.v[axis] * since;
    for (uint32_t i = 0; i < count; i += 8) {
        const carom_i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
        uint32_t place[8];
        carom_f32x4 rows[2][8];
        carom_f32x8 bound;
        carom_i32x8 entries, places, absent;
        memcpy(&entries, near + i, sizeof(entries));
        places = entries << TRAJECTORY_SHIFT; /* the shift drops the code */
        absent = (lane >= (int32_t)(count - i)) | (places == (int32_t)(slot << TRAJECTORY_SHIFT));
        places &= ~absent;
        memcpy(place, &places, sizeof(place));
        for (int k = 0; k < 8; ++k) {
            const char *trajectory = first + place[k];
            memcpy(&rows[0][k], trajectory, sizeof(rows[0][k]));
            memcpy(&rows[1][k], trajectory + sizeof(rows[0][k]), sizeof(rows[1][k]));
        }
        if (shifted) {
            uint32_t code[8];
            carom_i32x8 codes = (entries & ~absent) >> CAROM_GAS_SLOT_BITS & 31;
            memcpy(code, &codes, sizeof(code));
            for (int k = 0; k < 8; ++k) {
                carom_f32x4 shift;
                memcpy(&shift, trajectories->shift[code[k]], sizeof(shift));
                rows[0][k] += shift;
            }
        }
        carom_gas_bounds(&own, rows, since, own_slow2, trajectories->recede2, &bound);
        bound = (carom_f32x8)((carom_i32x8)bound | absent);
        carom_f32x8_store(bounds + i, bound);
        least = carom_f32x8_min(bound, least);
    }
    return carom_f32x8_least(least);
}

/* Lanes of the eight bounds from `bounds` on that are in [from, to]. */
static inline uint32_t bounds_between(const float *bounds, float from, float to) {
    carom_f32x8 bound = carom_f32x8_load(bounds);
    carom_i32x8 wanted = (bound >= from) & (bound <= to);
    return carom_i32x8_lanes(wanted);
}

/* The tick of a bound, rounded down: never later than the meeting. */
static inline int64_t tick_of(const carom_gas *gas, float bound) {
    double ticks = ((double)bound - 0x1p-39) * gas->trajectories.ticks_per_bound;
    if (!(ticks < (double)CAROM_GAS_HORIZON)) return CAROM_GAS_NEVER;
    return gas->now + (ticks > 0.0 ? (int64_t)ticks : 0);
}

/* ---- Exact evaluation ------------------------------------------------------------------------ */

/* Evaluates one candidate by the item function. */
static inline void ask_exactly(const carom_gas *gas, uint32_t slot, uint32_t near,
                               carom_gas_prediction *prediction) {
    uint32_t other = near & SLOT_MASK;
    const carom_gas_body *body = &gas->bodies[slot], *b = &gas->bodies[other];
    int8_t image[3];
    int seen[3];
    image_of(body, near >> CAROM_GAS_SLOT_BITS, image);
    for (int axis = 0; axis < 3; ++axis) seen[axis] = image[axis] - b->wraps[axis];
    int64_t time = carom_gas_pair_time(&gas->rules, body, b, seen,
                                       carom_gas_contact_distance(gas, slot, other));
    offer(gas, slot, prediction, time, CAROM_GAS_KIND_PAIR, other,
          gas->trajectories.by_slot[other].stamp, image);
}

/* The delay until a tick in the units of bounds, rounded up. */
static inline float bound_of(const carom_gas *gas, int64_t time) {
    if (time == CAROM_GAS_NEVER) return 1e37f;
    double delay = carom_gas_span(&gas->rules, time - gas->now) * gas->trajectories.per_time;
    return (float)delay * (1.0f + 0x1p-20f) + 0x1p-40f;
}

/* Evaluates the candidate with the least bound first, then all candidates whose bound is not later
 * than the result. */
static __attribute__((noinline)) void ask_all(const carom_gas *gas, uint32_t slot,
                                              const uint32_t *near, uint32_t count,
                                              const float *bounds, float least, uint32_t first,
                                              carom_gas_prediction *prediction) {
    ask_exactly(gas, slot, near[first], prediction);
    float limit = bound_of(gas, prediction->physical);
    for (uint32_t i = 0; i < count; i += 8)
        for (uint32_t lanes = bounds_between(bounds + i, least, limit); lanes != 0;
             lanes &= lanes - 1) {
            uint32_t at = i + (uint32_t)__builtin_ctz(lanes);
            if (at != first) ask_exactly(gas, slot, near[at], prediction);
        }
}

/* ---- Scan ------------------------------------------------------------------------------------ */

/* The candidates of a sphere with their bounds, before the decision. */
typedef struct bounded_set {
    const uint32_t *near;
    uint32_t slot, count;
    float least, bounds[CAROM_GAS_MOST_CANDIDATES + 8];
} bounded_set;

/* Computes the bounds. `shifted`: some candidates may be in another box. */
static __attribute__((noinline)) void bound_candidates(const carom_gas *gas, uint32_t slot,
                                                       const uint32_t *near, uint32_t count,
                                                       bool shifted, bounded_set *bounded_set) {
    bounded_set->near = near;
    bounded_set->slot = slot;
    bounded_set->count = count;
    if (shifted)
        bounded_set->least = bound_all(gas, slot, near, count, bounded_set->bounds, true);
    else
        bounded_set->least = bound_all(gas, slot, near, count, bounded_set->bounds, false);
}

/* Offers the earliest candidate to the prediction. */
static inline void decide(const carom_gas *gas, const bounded_set *bounded_set,
                          carom_gas_prediction *prediction) {
    const float *bounds = bounded_set->bounds;
    const float least = bounded_set->least, margin = gas->trajectories.margin;
    int64_t time = tick_of(gas, least);
    if (time == CAROM_GAS_NEVER) return;
    if (time > latest(gas, prediction)) {
        limit_next_best(prediction, time);
        return;
    }
    uint32_t equal = 0, first = 0;
    carom_f32x8 seconds = carom_f32x8_splat(HUGE_VALF);
    for (uint32_t i = 0; i < bounded_set->count; i += 8) { /* no branches: its position is random */
        carom_f32x8 bound = carom_f32x8_load(bounds + i);
        carom_i32x8 is_least = bound == least;
        bound = (carom_f32x8)((carom_i32x8)bound | is_least); /* NaN: not the second */
        seconds = carom_f32x8_min(bound, seconds);
        uint32_t lanes = carom_i32x8_lanes(is_least);
        equal += (uint32_t)__builtin_popcount(lanes);
        first = lanes != 0 ? i + (uint32_t)__builtin_ctz(lanes) : first;
    }
    float second = carom_f32x8_least(seconds);
    bool clear = (equal == 1) & (second > least + margin) & (least > 0.0f) &
                 (least < 0x1p20f * margin) & !gas->exactly;
    if (clear)
        offer_provisional(gas, bounded_set->slot, prediction, time, bounded_set->near[first],
                          (second - least) *
                              ((float)gas->trajectories.ticks_per_bound * (1.0f - 0x1p-10f)));
    else if (is_provisional(prediction))
        offer_unresolved(prediction, time);
    else
        ask_all(gas, bounded_set->slot, bounded_set->near, bounded_set->count, bounds, least, first,
                prediction);
}

/* Scans the candidates of sphere `slot` and offers the earliest to its prediction. */
static inline void scan(const carom_gas *gas, uint32_t slot, const uint32_t *near, uint32_t count,
                        bool shifted, carom_gas_prediction *prediction) {
    bounded_set bounded_set;
    bound_candidates(gas, slot, near, count, shifted, &bounded_set);
    decide(gas, &bounded_set, prediction);
}

/* Offers the events without a partner: walls and the refresh of the body. */
static inline void scan_alone(const carom_gas *gas, uint32_t slot,
                              carom_gas_prediction *prediction) {
    static const int8_t no_image[3];
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *body = &gas->bodies[slot];
    const carom_gas_trajectory *trajectory = &gas->trajectories.by_slot[slot];
    if (!rules->walls && trajectory->v[0] == trajectory->v[0] &&
        prediction->physical < body->t + gas->trajectories.safe_span)
        return;
    if (rules->walls)
        for (int axis = 0; axis < 3; ++axis) {
            if (rules->periodic[axis]) continue;
            for (int high = 0; high < 2; ++high) {
                if (!rules->accelerated && !(high == 0 ? body->v[axis] < 0.0 : body->v[axis] > 0.0))
                    continue;
                int64_t time = carom_gas_wall_time(rules, body, gas->radius[slot], axis, high);
                offer(gas, slot, prediction, time, CAROM_GAS_KIND_WALL, (uint32_t)(2 * axis + high),
                      0, no_image);
            }
        }
    /* Only a distant event can be later than the refresh. */
    if (prediction->physical < body->t + CAROM_GAS_HORIZON) {
        double span = carom_gas_span(rules, prediction->physical - body->t);
        double speed = (fabs(body->v[0]) + fabs(body->v[1])) + fabs(body->v[2]);
        if ((speed + gas->most_acceleration * span) * span < gas->safe_drift) return;
    }
    offer(gas, slot, prediction, carom_gas_refresh_time(rules, body), CAROM_GAS_REFRESH, 0, 0,
          no_image);
}

#endif
