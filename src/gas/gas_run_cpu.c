/* SPDX-License-Identifier: MIT */
/* The event loop of a gas: take the earliest entry of the queue, handle it, predict again. To be
 * read from the top; the loop itself, carom_gas_run, is at the end.
 *
 *   Predictions                        setting the next event of a sphere, and order at one tick
 *   Lower bounds of collision times    eight float trajectories at a time
 *   The earliest of the candidates     by the bounds, and exactly where they are too close
 *   Versions                           bodies as they were, within windows of several threads
 *   Candidates: cells                  reading the entries of a block of cells
 *   Candidates: the 27 cells around    CAROM_GAS_METHOD_CENTRE
 *   Candidates: levels of cells        CAROM_GAS_METHOD_CENTRE, where radii are very different
 *   Candidates: shared cells           CAROM_GAS_METHOD_EXTENT
 *   Candidates: neighbour lists        CAROM_GAS_METHOD_NEIGHBOURS
 *   Prediction                         the next event of one sphere, or of two that collided
 *   Internal events                    crossings, stale and provisional predictions
 *   Prefetching for the next events
 *   Event queue: selecting the next
 *   Events                             collisions and refreshes
 *   Event loop                         of one thread, and of a part of a window
 *
 * Invariants. The time of a prediction is never later than the earliest physical event of its
 * sphere. Entries are handled in the order of time; at one tick, internal events come before the
 * events the caller sees. So each event the caller sees is the earliest of all by (tick, kind, a,
 * b) when it is handled.
 *
 * This file is compiled once per instruction set. Which branch an event takes is random, so
 * branches are avoided where both sides are cheap: a mispredicted one costs as much as a dozen
 * candidates. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/simd.h"
#include "gas/gas_levels.h"
#include "gas/gas_neighbour_lists.h"
#include "gas/gas_queue.h"
#include "gas/gas_trajectory.h"
#include "gas/gas_windows.h"

/* ---- Predictions ----------------------------------------------------------------------------- */

#define TRAJECTORY_SHIFT 5 /* a trajectory is 32 bytes */
_Static_assert(sizeof(carom_gas_trajectory) == 1 << TRAJECTORY_SHIFT, "a trajectory is 32 bytes");

/* Next best times are floats, and must not be late: lowered by this share, where the rounding of
 * the ticks and of two factors is some 2^-22. */
#define NEXT_BEST_MARGIN 0x1p-10f

/* True when (kind, a, b) of the first event precedes that of the other. Both are at the same
 * tick. */
static inline bool ranks_before(const carom_gas *gas, uint32_t slot, uint8_t kind, uint32_t partner,
                                uint32_t other_slot, uint8_t other_kind, uint32_t other_partner) {
    if (kind != other_kind) return kind < other_kind;
    uint32_t a = gas->records[slot].label, c = gas->records[other_slot].label, b = partner,
             d = other_partner;
    if (kind == CAROM_GAS_PREDICTION_PAIR) {
        b = gas->records[partner].label;
        d = gas->records[other_partner].label;
        if (a > b) a ^= b, b ^= a, a ^= b;
        if (c > d) c ^= d, d ^= c, c ^= d;
    }
    return a != c ? a < c : b < d;
}

/* Lowers the next best time to `time`, which is after the prediction's. */
static inline void limit_next_best(carom_gas_record *record, int64_t time) {
    if (time == CAROM_GAS_NEVER) return;
    CAROM_ASSERT(time >= record->prediction.physical);
    float delay = (float)(time - record->prediction.physical) * (1.0f - NEXT_BEST_MARGIN);
    record->next_best = delay < record->next_best ? delay : record->next_best;
}

static inline void set_prediction(carom_gas_record *record, int64_t time, uint8_t kind,
                                  uint32_t partner, uint32_t stamp, const int8_t image[3]) {
    carom_gas_prediction *prediction = &record->prediction;
    prediction->physical = time;
    prediction->kind = kind;
    prediction->partner = partner;
    prediction->stamp = stamp;
    memcpy(prediction->image, image, sizeof(prediction->image));
    record->next_best = 0.0f;
}

/* Upper bound of the predicted event's time: later events do not affect the prediction. */
static inline int64_t latest(const carom_gas *gas, const carom_gas_prediction *prediction) {
    return prediction->physical + (prediction->kind == CAROM_GAS_PREDICTION_PROVISIONAL
                                       ? gas->trajectories.uncertainty
                                       : 0);
}

/* True when the time of the prediction is only a lower bound. */
static inline bool is_lower_bound(const carom_gas_prediction *prediction) {
    return prediction->kind >= CAROM_GAS_PREDICTION_PROVISIONAL;
}

/* Marks the prediction as unresolved: which event is first from `time` on is not yet known. */
static inline void offer_unresolved(carom_gas_record *record, int64_t time) {
    carom_gas_prediction *prediction = &record->prediction;
    prediction->physical = time < prediction->physical ? time : prediction->physical;
    prediction->kind = CAROM_GAS_PREDICTION_UNRESOLVED;
    record->next_best = 0.0f;
}

/* Offers an event with its exact tick to the record of sphere `slot`. */
static inline void gas_run_cpu_offer(const carom_gas *gas, uint32_t slot, carom_gas_record *record,
                                     int64_t time, uint8_t kind, uint32_t partner, uint32_t stamp,
                                     const int8_t image[3]) {
    const carom_gas_prediction *prediction = &record->prediction;
    if (time > latest(gas, prediction)) {
        limit_next_best(record, time);
        return;
    }
    if (is_lower_bound(prediction) && time >= prediction->physical) {
        offer_unresolved(record, time);
        return;
    }
    if (time == prediction->physical &&
        (time == CAROM_GAS_NEVER ||
         !ranks_before(gas, slot, kind, partner, slot, prediction->kind, prediction->partner)))
        return;
    set_prediction(record, time, kind, partner, stamp, image);
}

/* Boxes by which to shift a partner whose wraps are 0, from the code. */
static inline void image_of(const carom_gas_body *own, uint32_t code, int8_t image[3]) {
    /* the digits of a code minus one; a table, as a branch would be mispredicted */
    static const int8_t boxes[27][4] = {
        {-1, -1, -1}, {0, -1, -1}, {1, -1, -1}, {-1, 0, -1}, {0, 0, -1},  {1, 0, -1}, {-1, 1, -1},
        {0, 1, -1},   {1, 1, -1},  {-1, -1, 0}, {0, -1, 0},  {1, -1, 0},  {-1, 0, 0}, {0, 0, 0},
        {1, 0, 0},    {-1, 1, 0},  {0, 1, 0},   {1, 1, 0},   {-1, -1, 1}, {0, -1, 1}, {1, -1, 1},
        {-1, 0, 1},   {0, 0, 1},   {1, 0, 1},   {-1, 1, 1},  {0, 1, 1},   {1, 1, 1}};
    CAROM_ASSERT(code < 27);
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
 * candidates by the margin; every other candidate is met at least `next_best` ticks after `time`.
 */
static inline void offer_provisional(const carom_gas *gas, uint32_t slot, carom_gas_record *record,
                                     int64_t time, uint32_t entry, float next_best) {
    if (time + gas->trajectories.uncertainty >= record->prediction.physical) {
        offer_unresolved(record, time);
        return;
    }
    uint32_t other = carom_gas_candidate_slot(entry);
    int8_t image[3];
    image_of(&gas->bodies[slot], carom_gas_candidate_code(entry), image);
    int64_t before = record->prediction.physical;
    set_prediction(record, time, CAROM_GAS_PREDICTION_PROVISIONAL, other,
                   gas->trajectories.by_slot[other].stamp, image);
    record->next_best = next_best;
    limit_next_best(record, before);
}

/* ---- Lower bounds of collision times --------------------------------------------------------- */

/* Rounding of the squared distance and of the root, as a share of the squared distance: some twenty
 * roundings of 2^-24 are below it. */
#define GAP_MARGIN 0x1p-19f

/* Conversions between bounds and ticks. A bound becomes a tick that is no later: the margin, in
 * units of time, is far below the margin of a provisional prediction. A tick becomes a bound that
 * is no earlier: that of a candidate whose exact tick is no later must not exceed it. Bounds are
 * lower than the true delays by 2^-18 units or more, as radii grow by speed (growth_by_speed in
 * gas_trajectory.c), and a tick is at most 2^-21 units (CAROM_GAS_MOST_STEP); so only the rounding
 * of the conversion itself, some 2^-23, must be added. */
#define TICK_MARGIN      0x1p-39  /* units of time */
#define BOUND_FACTOR     0x1p-20f /* relative */
#define GAS_BOUND_MARGIN 0x1p-40f /* units of time */
/* Above every bound within the horizon, which is at most 2^51 units. */
#define NEVER_BOUND 1e37f

/* Lower bounds of the delays until the eight trajectories meet `own`; NaN for those that never do.
 * The position of `own` is already advanced by `since`, the time elapsed since the common time. Two
 * spheres within contact distance are assumed to meet immediately (the gap is set to 0) unless they
 * surely recede. They recede when b > |u| times `recede`; the test compares signed squares.
 * `scaled`: that is a share of the sum of radii. */
static inline __attribute__((always_inline)) void bound_eight(const carom_gas_trajectory *own,
                                                              carom_f32x4 rows[2][8], float since,
                                                              float own_slow2, float recede2,
                                                              bool scaled, carom_f32x8 *bounds) {
    carom_f32x8 x[4], v[4];
    const carom_f32x8 zero = {0.0f};
    carom_f32x8_transpose(rows[0], x);
    carom_f32x8_transpose(rows[1], v);
    carom_f32x8 dx = (x[0] + v[0] * since) - own->x[0], ux = v[0] - own->v[0];
    carom_f32x8 dy = (x[1] + v[1] * since) - own->x[1], uy = v[1] - own->v[1];
    carom_f32x8 dz = (x[2] + v[2] * since) - own->x[2], uz = v[2] - own->v[2];
    carom_f32x8 b = dx * ux + dy * uy + dz * uz, uu = ux * ux + uy * uy + uz * uz;
    carom_f32x8 dd = dx * dx + dy * dy + dz * dz, contact = x[3] + own->radius;
    carom_f32x8 gap =
        dd * (1.0f - GAP_MARGIN) - contact * contact; /* lowered by a rounding margin */
    carom_f32x8 root = carom_f32x8_sqrt(b * b - uu * gap), uu_recede = uu * recede2;
    carom_i32x8 apart = gap > zero;
    if (scaled) uu_recede = uu_recede * (contact * contact);
    carom_i32x8 recedes = b * carom_f32x8_abs(b) > uu_recede;
    carom_f32x8 vv = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    carom_i32x8 slow = ~(uu >= vv * CAROM_GAS_SLOW_SHARE2 + own_slow2); /* NaN counts as slow */
    carom_f32x8 bound = (carom_f32x8)((carom_i32x8)gap & apart) / (root - b);
    *bounds = (carom_f32x8)(((carom_i32x8)bound | recedes) & ~slow);
}

/* Computes the bounds of all candidates, eight at a time, and returns the least. A bound is NaN
 * when the candidate is never met. Up to seven entries after the last are read. */
static inline __attribute__((always_inline)) float bound_all(const carom_gas *gas, uint32_t slot,
                                                             const uint32_t *entries,
                                                             uint32_t count, float *bounds,
                                                             bool shifted, bool scaled) {
    const carom_gas_trajectories *trajectories = &gas->trajectories;
    const char *first = (const char *)trajectories->by_slot;
    float since = (float)(carom_gas_span(&gas->rules, gas->now - trajectories->start) *
                          trajectories->per_time);
    carom_gas_trajectory own = trajectories->by_slot[slot];
    carom_f32x8 least = carom_f32x8_splat(HUGE_VALF);
    float own_slow2 =
        CAROM_GAS_SLOW_SHARE2 * (own.v[0] * own.v[0] + own.v[1] * own.v[1] + own.v[2] * own.v[2]) +
        CAROM_GAS_LEAST_SPEED2;
    for (int axis = 0; axis < 3; ++axis) own.x[axis] += own.v[axis] * since;
    for (uint32_t i = 0; i < count; i += 8) {
        const carom_i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
        uint32_t offset[8];
        carom_f32x4 rows[2][8];
        carom_f32x8 bound;
        carom_i32x8 eight, offsets, absent;
        memcpy(&eight, entries + i, sizeof(eight));
        offsets = eight << TRAJECTORY_SHIFT; /* the shift drops the code */
        absent = (lane >= (int32_t)(count - i)) | (offsets == (int32_t)(slot << TRAJECTORY_SHIFT));
        /* What is absent reads the sphere itself: another thread may be writing any other one. */
        offsets = (offsets & ~absent) | ((int32_t)(slot << TRAJECTORY_SHIFT) & absent);
        memcpy(offset, &offsets, sizeof(offset));
        for (int k = 0; k < 8; ++k) {
            const char *trajectory = first + offset[k];
            memcpy(&rows[0][k], trajectory, sizeof(rows[0][k]));
            memcpy(&rows[1][k], trajectory + sizeof(rows[0][k]), sizeof(rows[1][k]));
        }
        if (shifted) {
            uint32_t code[8];
            carom_i32x8 codes = (eight & ~absent) >> CAROM_GAS_SLOT_BITS & 31;
            memcpy(code, &codes, sizeof(code));
            for (int k = 0; k < 8; ++k) {
                carom_f32x4 shift;
                memcpy(&shift, trajectories->shift[code[k]], sizeof(shift));
                rows[0][k] += shift;
            }
        }
        bound_eight(&own, rows, since, own_slow2, trajectories->recede2, scaled, &bound);
        bound = (carom_f32x8)((carom_i32x8)bound | absent);
        carom_f32x8_store(bounds + i, bound);
        least = carom_f32x8_min(bound, least);
    }
    return carom_f32x8_least(least);
}

/* The tick of a bound, rounded down: never later than the collision. */
static inline int64_t tick_of(const carom_gas *gas, float bound) {
    double ticks = ((double)bound - TICK_MARGIN) * gas->trajectories.ticks_per_bound;
    if (!(ticks < (double)CAROM_GAS_HORIZON)) return CAROM_GAS_NEVER;
    return gas->now + (ticks > 0.0 ? (int64_t)ticks : 0);
}

/* The delay until a tick in the units of bounds, rounded up. */
static inline float gas_run_cpu_bound_of(const carom_gas *gas, int64_t time) {
    if (time == CAROM_GAS_NEVER) return NEVER_BOUND;
    double delay = carom_gas_span(&gas->rules, time - gas->now) * gas->trajectories.per_time;
    return (float)delay * (1.0f + BOUND_FACTOR) + GAS_BOUND_MARGIN;
}

/* ---- The earliest of the candidates ---------------------------------------------------------- */

/* Most predictions are invalidated by other events before they are due, so the exact item function
 * is not evaluated yet. Where one candidate is first by a margin, the prediction is PROVISIONAL: it
 * is due at its lower bound, and its exact tick is computed at that time. Where bounds are too
 * close together, or zero, the item function decides immediately. */

/* Evaluates one candidate by the item function. */
static inline void evaluate_exactly(const carom_gas *gas, uint32_t slot, uint32_t entry,
                                    carom_gas_record *record) {
    uint32_t other = carom_gas_candidate_slot(entry);
    const carom_gas_body *body = &gas->bodies[slot], *b = &gas->bodies[other];
    int8_t image[3];
    int seen[3];
    CAROM_ASSERT(other < gas->count);
    image_of(body, carom_gas_candidate_code(entry), image);
    for (int axis = 0; axis < 3; ++axis) seen[axis] = image[axis] - b->wraps[axis];
    int64_t time = carom_gas_pair_time(&gas->rules, body, b, seen,
                                       carom_gas_contact_distance(gas, slot, other));
    gas_run_cpu_offer(gas, slot, record, time, CAROM_GAS_PREDICTION_PAIR, other,
                      gas->trajectories.by_slot[other].stamp, image);
}

/* Lanes of the eight bounds from `bounds` on that are in [from, to]. */
static inline uint32_t bounds_between(const float *bounds, float from, float to) {
    carom_f32x8 bound = carom_f32x8_load(bounds);
    carom_i32x8 wanted = (bound >= from) & (bound <= to);
    return carom_i32x8_lanes(wanted);
}

/* Evaluates the candidate with the least bound first, then all candidates whose bound is not later
 * than the result. */
static __attribute__((noinline)) void gas_run_cpu_evaluate_all(const carom_gas *gas, uint32_t slot,
                                                               const uint32_t *entries,
                                                               uint32_t count, const float *bounds,
                                                               float least, uint32_t first,
                                                               carom_gas_record *record) {
    evaluate_exactly(gas, slot, entries[first], record);
    float limit = gas_run_cpu_bound_of(gas, record->prediction.physical);
    for (uint32_t i = 0; i < count; i += 8)
        for (uint32_t lanes = bounds_between(bounds + i, least, limit); lanes != 0;
             lanes &= lanes - 1) {
            uint32_t at = i + (uint32_t)__builtin_ctz(lanes);
            if (at != first) evaluate_exactly(gas, slot, entries[at], record);
        }
}

/* ---- Versions -------------------------------------------------------------------------------- */

/* Within a window, a part may handle an event of a sphere at a time before those that another part
 * has handled already (gas_windows.c). The bodies it sees are then from the future. What they were
 * before is kept: if the sphere would have met one of these, the window must be undone. */

/* True when the sphere meets a version of `other` before that version ended, or when it ended.
 * `image` as in a prediction. */
static bool meets_version(const carom_gas *gas, uint32_t slot, uint32_t other,
                          const int8_t image[3]) {
    const carom_gas_windows *windows = gas->part->windows;
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *newer = &gas->bodies[other];
    int wraps[3] = {newer->wraps[0], newer->wraps[1], newer->wraps[2]}, seen[3];
    const carom_gas_version *version;
    for (uint32_t code = carom_gas_latest(windows, other); code != 0; code = version->before) {
        version = carom_gas_version_of(windows, code);
        if (version->until <= gas->now) return false;
        const carom_gas_body *body = &version->body;
        double x[3], v[3];
        carom_gas_state_at(rules, body, carom_gas_span(rules, version->until - body->t), x, v);
        for (int axis = 0; axis < 3; ++axis) {
            /* The cell has changed its box since then, or the position was mapped into the box. */
            double boxes =
                rules->periodic[axis] ? (x[axis] - newer->x[axis]) / rules->edge[axis] : 0.0;
            wraps[axis] += (int)floor(boxes + 0.5);
            seen[axis] = image[axis] - wraps[axis];
        }
        if (carom_gas_pair_time(rules, &gas->bodies[slot], body, seen,
                                carom_gas_contact_distance(gas, slot, other)) <= version->until)
            return true;
        newer = body;
    }
    return false;
}

/* Called with the candidates of each search: marks the window as failed when the sphere meets a
 * version of one of them. */
static __attribute__((noinline)) void check_versions(const carom_gas *gas, uint32_t slot,
                                                     const uint32_t *entries, uint32_t count) {
    const carom_gas_windows *windows = gas->part->windows;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t other = carom_gas_candidate_slot(entries[i]);
        if (carom_gas_latest(windows, other) == 0 || other == slot ||
            gas->bodies[other].t <= gas->now)
            continue;
        int8_t image[3];
        image_of(&gas->bodies[slot], carom_gas_candidate_code(entries[i]), image);
        if (meets_version(gas, slot, other, image)) gas->part->failed = true;
    }
}

/* Keeps the body of a sphere that is about to be rewritten. */
static void keep_version(carom_gas *gas, uint32_t slot) {
    carom_gas_part *part = gas->part;
    if (part == NULL || (part->is_final && !part->windows->is_shown)) return;
    const carom_gas_windows *windows = part->windows;
    const uint32_t before = carom_gas_latest_code(windows, slot);
    CAROM_ASSERT(part->versions.count < CAROM_GAS_MOST_LOGGED); /* has_codes; has_room */
    carom_gas_version *version = &part->versions.data[part->versions.count++];
    version->body = gas->bodies[slot];
    version->until = gas->now;
    version->slot = slot;
    version->before = before;
    version->repeats = gas->records[slot].prediction.repeats;
    version->is_turned = false;
    uint32_t code = part->index << CAROM_GAS_VERSION_BITS | (uint32_t)part->versions.count;
    windows->changed[slot] = (uint8_t)(windows->number >> 32);
    windows->version_codes[slot] = windows->number | code;
    /* An event of an earlier pass at this very tick may be its cause, but not follow in order. */
    if (part->checks && version->body.t == gas->now && before != 0) part->failed = true;
}

/* A bound is compared with others plus the margin. Below this many margins, the margin is at least
 * eight units in the last place of the bound. */
#define MOST_MARGINS 0x1p20f

/* The candidates of a sphere with their bounds, before the decision. */
typedef struct bounded_set {
    const uint32_t *entries;
    uint32_t slot, count;
    float least, bounds[CAROM_GAS_MOST_CANDIDATES + 8];
} bounded_set;

/* Computes the bounds. `shifted`: some candidates may be in another box. */
static __attribute__((noinline)) void bound_candidates(const carom_gas *gas, uint32_t slot,
                                                       const uint32_t *entries, uint32_t count,
                                                       bool shifted, bounded_set *bounded_set) {
    CAROM_ASSERT(count <= CAROM_GAS_MOST_CANDIDATES && slot < gas->count);
    if (gas->part != NULL && gas->part->checks) check_versions(gas, slot, entries, count);
    bounded_set->entries = entries;
    bounded_set->slot = slot;
    bounded_set->count = count;
    float *bounds = bounded_set->bounds;
    if (shifted)
        bounded_set->least = bound_all(gas, slot, entries, count, bounds, true, false);
    else
        bounded_set->least = bound_all(gas, slot, entries, count, bounds, false, false);
}

/* The candidate with the least bound, how many have that bound, and the next larger bound. */
typedef struct least_bounds {
    uint32_t first, equal;
    float second;
} least_bounds;

static inline __attribute__((always_inline)) least_bounds
find_least_bounds(const bounded_set *bounded_set) {
    uint32_t equal = 0, first = 0;
    carom_f32x8 seconds = carom_f32x8_splat(HUGE_VALF);
    for (uint32_t i = 0; i < bounded_set->count; i += 8) { /* no branches: its position is random */
        carom_f32x8 bound = carom_f32x8_load(bounded_set->bounds + i);
        carom_i32x8 is_least = bound == bounded_set->least;
        bound = (carom_f32x8)((carom_i32x8)bound | is_least); /* NaN: not the second */
        seconds = carom_f32x8_min(bound, seconds);
        uint32_t lanes = carom_i32x8_lanes(is_least);
        equal += (uint32_t)__builtin_popcount(lanes);
        first = lanes != 0 ? i + (uint32_t)__builtin_ctz(lanes) : first;
    }
    CAROM_ASSERT(equal >= 1 && first < bounded_set->count);
    return (least_bounds){first, equal, carom_f32x8_least(seconds)};
}

/* True when the least bound is first by the margin. */
static inline bool is_clear(const carom_gas *gas, float least, float second) {
    const float margin = gas->trajectories.margin;
    return (second > least + margin) & (least > 0.0f) & (least < MOST_MARGINS * margin);
}

/* Ticks from the least bound to the second, rounded down. */
static inline float ticks_between(const carom_gas *gas, float least, float second) {
    return (second - least) *
           ((float)gas->trajectories.ticks_per_bound * (1.0f - NEXT_BEST_MARGIN));
}

/* Offers the earliest candidate to the record. `exact`: with its exact tick. */
static inline void gas_run_cpu_decide(const carom_gas *gas, const bounded_set *bounded_set,
                                      carom_gas_record *record, bool exact) {
    const float *bounds = bounded_set->bounds;
    const float least = bounded_set->least;
    int64_t time = tick_of(gas, least);
    if (time == CAROM_GAS_NEVER) return;
    if (time > latest(gas, &record->prediction)) {
        limit_next_best(record, time);
        return;
    }
    const least_bounds found = find_least_bounds(bounded_set);
    bool clear = (found.equal == 1) & is_clear(gas, least, found.second) & !exact;
    if (clear)
        offer_provisional(gas, bounded_set->slot, record, time, bounded_set->entries[found.first],
                          ticks_between(gas, least, found.second));
    else if (is_lower_bound(&record->prediction))
        offer_unresolved(record, time);
    else
        gas_run_cpu_evaluate_all(gas, bounded_set->slot, bounded_set->entries, bounded_set->count,
                                 bounds, least, found.first, record);
}

/* Scans the candidates of sphere `slot` and offers the earliest to its record. */
static inline void gas_run_cpu_scan(const carom_gas *gas, uint32_t slot, const uint32_t *entries,
                                    uint32_t count, bool shifted, carom_gas_record *record,
                                    bool exact) {
    bounded_set bounded_set;
    bound_candidates(gas, slot, entries, count, shifted, &bounded_set);
    gas_run_cpu_decide(gas, &bounded_set, record, exact);
}

/* Offers the events without a partner: walls and the refresh of the body. */
static inline void scan_alone(const carom_gas *gas, uint32_t slot, carom_gas_record *record) {
    const carom_gas_prediction *prediction = &record->prediction;
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
                int64_t time =
                    carom_gas_wall_time(rules, body, carom_gas_radius(gas, slot), axis, high);
                gas_run_cpu_offer(gas, slot, record, time, CAROM_GAS_PREDICTION_WALL,
                                  (uint32_t)(2 * axis + high), 0, no_image);
            }
        }
    /* Only a distant event can be later than the refresh. */
    if (prediction->physical < body->t + CAROM_GAS_HORIZON) {
        double span = carom_gas_span(rules, prediction->physical - body->t);
        double speed = (fabs(body->v[0]) + fabs(body->v[1])) + fabs(body->v[2]);
        if ((speed + gas->most_acceleration * span) * span < gas->safe_drift) return;
    }
    gas_run_cpu_offer(gas, slot, record, carom_gas_refresh_time(rules, body),
                      CAROM_GAS_PREDICTION_REFRESH, 0, 0, no_image);
}

/* ---- Candidates: cells ----------------------------------------------------------------------- */

/* The number of entries in a cell is random, and a branch on it would be mispredicted every other
 * time. So all of a cell is copied, and only entries are counted. */

/* Largest value read so far, plus one. Only links make it exceed CAROM_GAS_LINK; an empty one
 * wraps to 0. */
typedef struct link_marks {
    carom_u32x4 four;
    carom_u32x8 eight;
} link_marks;

/* Appends the entries of a cell to the candidates; returns their count. */
static inline uint32_t collect_cell(const carom_gas_cell *cell, uint32_t *entries,
                                    link_marks *marks) {
    carom_u32x4 slots = carom_u32x4_load(cell->entry);
    marks->four = carom_u32x4_max(marks->four, slots + 1);
    carom_u32x4_store(entries, slots); /* entries are at the front */
    carom_lanes taken = carom_i32x4_lanes((carom_i32x4)(slots < CAROM_GAS_LINK));
    return (uint32_t)__builtin_ctz(~taken);
}

/* The same for three adjacent cells. */
static inline uint32_t collect_three(const carom_gas_cell *cell, uint32_t *entries,
                                     link_marks *marks) {
    uint32_t count;
#if CAROM_LANES >= 8
    carom_u32x8 two;
    memcpy(&two, cell, sizeof(two));
    marks->eight = carom_u32x8_max(marks->eight, two + 1);
    carom_lanes taken = carom_i32x8_lanes((carom_i32x8)(two < CAROM_GAS_LINK));
    carom_u32x8_store(entries, carom_u32x8_compress(two, taken));
    count = (uint32_t)__builtin_popcount(taken);
#else
    count = collect_cell(cell, entries, marks);
    count += collect_cell(cell + 1, entries + count, marks);
#endif
    return count + collect_cell(cell + 2, entries + count, marks);
}

static inline bool are_linked(const link_marks *marks) {
    carom_lanes four = carom_i32x4_lanes((carom_i32x4)(marks->four > CAROM_GAS_LINK));
    return (four | carom_i32x8_lanes((carom_i32x8)(marks->eight > CAROM_GAS_LINK))) != 0;
}

/* The same for three rows of three cells, `step` apart, centred on `cell`. */
static inline __attribute__((always_inline)) uint32_t
collect_rows(const carom_gas_cell *cell, int64_t step, uint32_t *entries, link_marks *marks) {
    uint32_t count = collect_three(cell - step - 1, entries, marks);
    count += collect_three(cell - 1, entries + count, marks);
    return count + collect_three(cell + step - 1, entries + count, marks);
}

/* A box of cells among the 27 around one, given by its two corners. */
typedef struct gas_run_cpu_block {
    const carom_gas_cells *cells;
    const carom_gas_cell *own;
    int64_t row, layer;
    const int *from, *to;
    bool linked; /* some entries are in overflow cells */
} gas_run_cpu_block;

static inline void find_block(const carom_gas_cells *cells, const carom_gas_home *home,
                              gas_run_cpu_block *block) {
    block->cells = cells;
    block->row = carom_gas_row(cells);
    block->layer = carom_gas_layer(cells);
    block->own = &cells->cells[carom_gas_home_index(cells, home)];
}

/* Adds all 27 cells around a home, without overflow cells. */
static inline void collect_block(const carom_gas_cells *cells, const carom_gas_home *home,
                                 gas_run_cpu_block *block, carom_gas_candidates *candidates) {
    static const int from[3] = {-1, -1, -1}, to[3] = {1, 1, 1};
    link_marks marks = {{0}, {0}};
    uint32_t count = candidates->count;
    find_block(cells, home, block);
    block->from = from;
    block->to = to;
    for (int k = -1; k <= 1; ++k)
        count += collect_rows(block->own + k * block->layer, block->row,
                              &candidates->entries[count], &marks);
    candidates->count = count;
    block->linked = are_linked(&marks);
}

/* Collects the nine cells on one side. The side is random, so one loop handles all. */
static inline void collect_side(const carom_gas *gas, const carom_gas_home *home, uint8_t side,
                                gas_run_cpu_block *block, carom_gas_candidates *candidates) {
    static const int from[6][3] = {{-1, -1, -1}, {1, -1, -1},  {-1, -1, -1},
                                   {-1, 1, -1},  {-1, -1, -1}, {-1, -1, 1}};
    static const int to[6][3] = {{-1, 1, 1}, {1, 1, 1},  {1, -1, 1},
                                 {1, 1, 1},  {1, 1, -1}, {1, 1, 1}};
    link_marks marks = {{0}, {0}};
    uint32_t count = 0;
    find_block(&gas->cells, home, block);
    block->from = from[side];
    block->to = to[side];
    const int64_t stride[5] = {1, block->row, block->layer, 1, block->row};
    const int64_t *along = &stride[side / 2]; /* strides of the axis and of the two others */
    const carom_gas_cell *cell = block->own + (side % 2 != 0 ? along[0] : -along[0]);
    for (int n = 0; n < 9; ++n)
        count += collect_cell(cell + (n / 3 - 1) * along[1] + (n % 3 - 1) * along[2],
                              &candidates->entries[count], &marks);
    candidates->count = count;
    block->linked = are_linked(&marks);
}

/* State of the traversal of a block's overflow cells. */
typedef struct link_cursor {
    const carom_gas_cell *cell; /* the last cell collected, NULL at the start of a chain */
    int at[3];
} link_cursor;

static inline link_cursor begin_links(const gas_run_cpu_block *block) {
    return (link_cursor){NULL, {block->from[0], block->from[1], block->from[2]}};
}

/* Adds the entries of overflow cells while there is capacity; true when all have been added. */
static inline bool collect_links(const gas_run_cpu_block *block, link_cursor *cursor,
                                 carom_gas_candidates *candidates) {
    int *at = cursor->at;
    for (; at[2] <= block->to[2]; at[1] = block->from[1], ++at[2])
        for (; at[1] <= block->to[1]; at[0] = block->from[0], ++at[1])
            for (; at[0] <= block->to[0]; cursor->cell = NULL, ++at[0]) {
                const carom_gas_cell *after;
                if (cursor->cell == NULL)
                    cursor->cell = block->own + (at[2] * block->layer + at[1] * block->row + at[0]);
                while ((after = carom_gas_cell_after(block->cells, cursor->cell)) != NULL) {
                    if (candidates->count > CAROM_GAS_MOST_CANDIDATES - CAROM_GAS_CELL_ENTRIES)
                        return false;
                    memcpy(&candidates->entries[candidates->count], after->entry,
                           sizeof(after->entry));
                    candidates->count += carom_gas_cell_taken(after);
                    cursor->cell = after;
                }
            }
    return true;
}

/* ---- Candidates: the 27 cells around (CENTRE) ------------------------------------------------ */

/* A sphere is filed in one cell, and its candidates are in the 27 cells around.
 *
 * Invariant: two spheres that touch are in the same cell or in neighbouring cells. Where a cell is
 * wider than the contact distance, half of the excess is the skin: a sphere may leave its cell by
 * that distance on either side before it must cross. After a collision all 27 cells are searched
 * anyway, so the sphere can be refiled in a neighbouring cell without extra cost: the one furthest
 * ahead. */

/* Present position relative to the low corner of the cell, and velocity. */
typedef struct cell_view {
    carom_f64x4 x, v;
    carom_i32x4 at; /* its cell */
} cell_view;

static inline __attribute__((always_inline)) void
view_from_cell(const carom_gas *gas, const carom_gas_cells *cells, uint32_t slot, cell_view *view) {
    const carom_i64x4 axes = {-1, -1, -1, 0};
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *body = &gas->bodies[slot];
    const carom_gas_home *home = &gas->records[slot].home;
    double span = carom_gas_span(rules, gas->now - body->t);
    if (rules->accelerated) {
        double x[4] = {0.0}, v[4] = {0.0};
        carom_gas_state_at(rules, body, span, x, v);
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
    memcpy(&size, cells->size, sizeof(size));
    memcpy(&edge, cells->edge, sizeof(edge));
    view->x -= carom_i32x4_doubles(view->at + wraps * size) * edge;
}

/* True when the cell is the last before a wall on that side. */
static inline bool is_at_wall(const carom_gas *gas, const carom_gas_cells *cells,
                              const carom_gas_home *home, int axis, bool up) {
    uint32_t last = up ? cells->size[axis] - 1 : 0;
    return home->at[axis] == last && !gas->rules.periodic[axis];
}

/* The first crossing under an acceleration: tests both sides of each axis. */
static inline double find_fall(const carom_gas *gas, const carom_gas_cells *cells,
                               const carom_gas_home *home, const cell_view *view, uint8_t *first) {
    double best = CAROM_GAS_NEVER_DELAY;
    for (int axis = 0; axis < 3; ++axis) {
        double a = gas->rules.acceleration[axis], skin = cells->skin[axis];
        double x = view->x[axis], v = view->v[axis], edge = cells->edge[axis];
        for (int high = 0; high < 2; ++high) {
            if (is_at_wall(gas, cells, home, axis, high != 0)) continue;
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
distance_from_rear(const carom_gas_cells *cells, const cell_view *view, carom_f64x4 *travelled) {
    carom_f64x4 edge;
    memcpy(&edge, cells->edge, sizeof(edge));
    carom_i64x4 up = view->v > 0.0;
    *travelled = carom_f64x4_select(up, view->x, edge - view->x);
}

/* The first crossing without acceleration: tests the side ahead along each axis. */
static inline __attribute__((always_inline)) double
find_side(const carom_gas *gas, const carom_gas_cells *cells, const carom_gas_home *home,
          const cell_view *view, uint8_t *first) {
    carom_f64x4 edge, skin, travelled;
    memcpy(&edge, cells->edge, sizeof(edge));
    memcpy(&skin, cells->skin, sizeof(skin));
    distance_from_rear(cells, view, &travelled);
    carom_f64x4 speed = (carom_f64x4)((carom_i64x4)view->v & INT64_MAX);
    carom_f64x4 delay = ((edge + skin) - travelled) / speed;
    carom_i64x4 moves = speed > 0.0;
    delay = carom_f64x4_select(moves, delay, carom_f64x4_splat(CAROM_GAS_NEVER_DELAY));
    if (gas->rules.walls)
        for (int axis = 0; axis < 3; ++axis)
            if (is_at_wall(gas, cells, home, axis, view->v[axis] > 0.0))
                delay[axis] = CAROM_GAS_NEVER_DELAY;
    /* Which axis is first is random, so there are no branches. */
    uint32_t second = delay[1] < delay[0], ups = carom_i64x4_lanes(view->v > 0.0);
    double least = CAROM_MIN(delay[0], delay[1]);
    uint32_t third = delay[2] < least, best = second + third * (2 - second);
    *first = (uint8_t)(2 * best + (ups >> best & 1));
    return CAROM_MIN(least, delay[2]);
}

static inline __attribute__((always_inline)) void
predict_crossing(const carom_gas *gas, const carom_gas_cells *cells, uint32_t slot,
                 const cell_view *view, carom_gas_prediction *prediction) {
    const carom_gas_home *home = &gas->records[slot].home;
    double delay = gas->rules.accelerated ? find_fall(gas, cells, home, view, &prediction->side)
                                          : find_side(gas, cells, home, view, &prediction->side);
    prediction->crossing = carom_gas_after(&gas->rules, gas->now, delay > 0.0 ? delay : 0.0);
}

/* Moves a home by one cell; true when that enters another box. */
static inline bool step_home(const carom_gas_cells *cells, carom_gas_home *home, uint32_t side) {
    uint32_t axis = side / 2, up = side % 2, last = cells->last.at[axis];
    bool leaves = home->at[axis] == up * last;
    home->at[axis] = (uint16_t)(leaves ? last - up * last : home->at[axis] + 2 * up - 1);
    CAROM_ASSERT(home->at[axis] <= last);
    return leaves;
}

/* Rare, therefore not inlined. */
static __attribute__((noinline)) void enter_box(carom_gas *gas, uint32_t slot, uint32_t side) {
    int8_t *wraps = &gas->bodies[slot].wraps[side / 2];
    CAROM_ASSERT(gas->rules.periodic[side / 2] && *wraps > INT8_MIN && *wraps < INT8_MAX);
    *wraps = (int8_t)(*wraps + (side % 2 != 0 ? 1 : -1));
    carom_gas_trajectory_shift(gas, slot);
}

/* Moves the home of a sphere by one cell. */
static inline void step_sphere(carom_gas *gas, const carom_gas_cells *cells, uint32_t slot,
                               uint32_t side) {
    if (step_home(cells, &gas->records[slot].home, side)) enter_box(gas, slot, side);
}

/* Refiles a sphere in the furthest cell ahead that it may be in, so that it stays there longest.
 * All cells around must be searched afterwards. The axes it moves along are random, so there are no
 * branches except for leaving the box. */
static inline __attribute__((always_inline)) void
gas_run_cpu_refile(carom_gas *gas, carom_gas_cells *cells, uint32_t slot, cell_view *view) {
    carom_gas_home *home = &gas->records[slot].home, before = *home;
    carom_f64x4 edge, ahead, travelled;
    carom_i32x4 size;
    memcpy(&edge, cells->edge, sizeof(edge));
    memcpy(&ahead, cells->ahead, sizeof(ahead));
    memcpy(&size, cells->size, sizeof(size));
    distance_from_rear(cells, view, &travelled);
    carom_i64x4 forward = (travelled > edge - ahead) & (view->v != 0.0);
    if (gas->rules.walls)
        for (int axis = 0; axis < 3; ++axis)
            if (is_at_wall(gas, cells, home, axis, view->v[axis] > 0.0)) forward[axis] = 0;
    carom_i32x4 up = carom_i64x4_narrow(view->v > 0.0); /* -1 or 0 */
    carom_i32x4 step = carom_i64x4_narrow(forward) & (-1 - 2 * up);
    carom_i32x4 to = view->at + step, out = (to < 0) | (to >= size);
    if ((step[0] | step[1] | step[2]) == 0) return;
    if ((out[0] | out[1] | out[2]) != 0) {
        for (int axis = 0; axis < 3; ++axis)
            if (step[axis] != 0)
                step_sphere(gas, cells, slot, 2 * (uint32_t)axis + (step[axis] > 0));
    } else {
        for (int axis = 0; axis < 3; ++axis) home->at[axis] = (uint16_t)to[axis];
    }
    view->x -= carom_i32x4_doubles(step) * edge;
    carom_gas_file(gas, cells, slot, &before, false);
    carom_gas_file(gas, cells, slot, home, true);
    carom_gas_note_home(gas, slot);
}

/* The candidates in a block of cells around a sphere. */
typedef struct cell_block {
    carom_gas_candidates candidates;
    gas_run_cpu_block block;
} cell_block;

static inline void scan_around(const carom_gas *gas, uint32_t slot, cell_block *around,
                               carom_gas_record *record, bool exact) {
    carom_gas_candidates *candidates = &around->candidates;
    bool shifted = !carom_gas_is_inside(&gas->cells, &gas->records[slot].home), all = true;
    link_cursor cursor = begin_links(&around->block);
    if (around->block.linked) all = collect_links(&around->block, &cursor, candidates);
    if (candidates->count != 0)
        gas_run_cpu_scan(gas, slot, candidates->entries, candidates->count, shifted, record, exact);
    while (!all) {
        candidates->count = 0;
        all = collect_links(&around->block, &cursor, candidates);
        gas_run_cpu_scan(gas, slot, candidates->entries, candidates->count, shifted, record, exact);
    }
}

static inline __attribute__((always_inline)) void
prefetch_trajectories(const carom_gas *gas, const carom_gas_candidates *candidates) {
    for (uint32_t i = 0; i < candidates->count; ++i)
        __builtin_prefetch(
            &gas->trajectories.by_slot[carom_gas_candidate_slot(candidates->entries[i])]);
}

/* Predicts one or two spheres whose predictions are empty, from all cells around. Two together wait
 * for memory once, which is faster when the data are not in the cache. When they are, one after the
 * other is faster. */
static inline __attribute__((always_inline)) void
predict_centre(carom_gas *gas, const uint32_t *slots, int count, bool exact) {
    cell_view views[2];
    cell_block around[2];
    for (int i = 0; i < count; ++i) {
        view_from_cell(gas, &gas->cells, slots[i], &views[i]);
        gas_run_cpu_refile(gas, &gas->cells, slots[i], &views[i]);
    }
    for (int i = 0; i < count; ++i) {
        around[i].candidates.count = 0;
        collect_block(&gas->cells, &gas->records[slots[i]].home, &around[i].block,
                      &around[i].candidates);
        if (count > 1) prefetch_trajectories(gas, &around[i].candidates);
    }
    for (int i = 0; i < count; ++i)
        predict_crossing(gas, &gas->cells, slots[i], &views[i], &gas->records[slots[i]].prediction);
    for (int i = 0; i < count; ++i)
        scan_around(gas, slots[i], &around[i], &gas->records[slots[i]], exact);
}

/* The sphere enters the next cell of its level. */
static inline void enter_next_cell(carom_gas *gas, carom_gas_cells *cells, uint32_t slot) {
    const carom_gas_home *home = &gas->records[slot].home;
    carom_gas_file(gas, cells, slot, home, false);
    step_sphere(gas, cells, slot, gas->records[slot].prediction.side);
    carom_gas_file(gas, cells, slot, home, true);
    carom_gas_note_home(gas, slot);
}

static inline void cross_centre(carom_gas *gas, uint32_t slot) {
    carom_gas_record *record = &gas->records[slot];
    const carom_gas_home *home = &record->home;
    const uint8_t side = record->prediction.side;
    cell_view view;
    cell_block around;
    enter_next_cell(gas, &gas->cells, slot);
    collect_side(gas, home, side, &around.block, &around.candidates);
    view_from_cell(gas, &gas->cells, slot, &view);
    predict_crossing(gas, &gas->cells, slot, &view, &record->prediction);
    scan_around(gas, slot, &around, record, false);
}

/* ---- Candidates: levels of cells ------------------------------------------------------------- */

/* The invariant of the levels is in gas_levels.h. A sphere looks at the 27 cells around its cell in
 * its own level, and around its parents in all coarser ones. In finer levels it looks only at cells
 * near its surface, of which it is at most `drift` away in the time for which it is predicted.
 *
 * Invariant: of two neighbours, with their present bodies, one is due no later than they meet. When
 * a sphere is rewritten, or enters a cell, it is compared with all of its own size and larger.
 * When it is rewritten, enters a cell, or has moved by the drift, it is compared with all smaller
 * ones whose cells it may touch before it is looked at again; another one enters one of these
 * first.
 * So each sphere that is looked at is predicted anew. */

#define NO_SIDE 6 /* of a crossing: the sphere has moved by the drift, and stays in its cell */
/* Spheres touch earlier than computed by no more than twice CAROM_GAS_MOST_STEP of a radius, and
 * overlap by no more than a file may have; margins as in gas_cells.c. */
#define SHELL_MARGIN       1e-6 /* of the sum of radii */
#define SHELL_WIDTH_MARGIN 1e-9 /* of the longest edge of the box */
#define BLOCK_ENTRIES      (27 * CAROM_GAS_CELL_ENTRIES)

/* The candidates of one sphere in all levels, collected twice where bounds do not decide. */
typedef struct level_scan {
    uint32_t slot;
    bool evaluates;      /* the second time: exactly */
    uint32_t first;      /* the entry with the least bound */
    float least, second; /* bounds; the second time, `second` is the limit */
    double x[3];         /* position of the sphere */
    carom_gas_record *record;
    carom_gas_candidates candidates;
} level_scan;

/* Scans the candidates collected so far. */
static __attribute__((noinline)) void flush_level_scan(const carom_gas *gas, level_scan *scan) {
    bounded_set set;
    const uint32_t *entries = scan->candidates.entries, count = scan->candidates.count;
    scan->candidates.count = 0;
    if (count == 0) return;
    if (gas->part != NULL && gas->part->checks) check_versions(gas, scan->slot, entries, count);
    set.entries = entries;
    set.slot = scan->slot;
    set.count = count;
    set.least = bound_all(gas, scan->slot, entries, count, set.bounds, true, true);
    if (scan->evaluates) {
        for (uint32_t i = 0; i < count; i += 8)
            for (uint32_t lanes = bounds_between(set.bounds + i, scan->least, scan->second);
                 lanes != 0; lanes &= lanes - 1)
                evaluate_exactly(gas, scan->slot, entries[i + (uint32_t)__builtin_ctz(lanes)],
                                 scan->record);
        scan->second = gas_run_cpu_bound_of(gas, scan->record->prediction.physical);
        return;
    }
    if (!(set.least < scan->least)) {
        scan->second = CAROM_MIN(set.least, scan->second);
        return;
    }
    const least_bounds found = find_least_bounds(&set);
    float second = found.equal > 1 ? set.least : found.second;
    scan->second = CAROM_MIN(second, scan->least);
    scan->least = set.least;
    scan->first = entries[found.first];
}

/* Adds the 27 cells around a home of a level. */
static void scan_level_block(const carom_gas *gas, const carom_gas_cells *cells,
                             const carom_gas_home *home, level_scan *scan) {
    gas_run_cpu_block block;
    if (scan->candidates.count + BLOCK_ENTRIES > CAROM_GAS_MOST_CANDIDATES)
        flush_level_scan(gas, scan);
    collect_block(cells, home, &block, &scan->candidates);
    if (!block.linked) return;
    link_cursor cursor = begin_links(&block);
    while (!collect_links(&block, &cursor, &scan->candidates)) flush_level_scan(gas, scan);
}

/* The cells of a finer level around a sphere's surface. */
typedef struct level_shell {
    const carom_gas_cells *cells;
    double outer, inner; /* distances of centres that may touch, and that none has */
    int64_t low[3], high[3];
} level_shell;

/* Distances of the nearest and the farthest point of a layer of cells along an axis, skin included.
 */
static inline void layer_distances(const level_shell *shell, const double x[3], int axis,
                                   int64_t at, double *near, double *far) {
    double edge = shell->cells->edge[axis], skin = shell->cells->skin[axis];
    double low = (double)at * edge - skin - x[axis], high = low + edge + 2.0 * skin;
    *near = low > 0.0 ? low : high < 0.0 ? -high : 0.0;
    *far = CAROM_MAX(-low, high);
}

/* Maps a layer of cells into the box; returns the digit of its box. */
static inline uint32_t map_layer(const carom_gas_cells *cells, int axis, int64_t *at) {
    int64_t size = cells->size[axis];
    uint32_t digit = *at < 0 ? 0 : *at < size ? 1 : 2;
    *at -= ((int64_t)digit - 1) * size;
    CAROM_ASSERT(*at >= 0 && *at < size);
    return digit;
}

/* Adds the entries of one cell, seen in the box with this code. */
static inline void scan_shell_cell(const carom_gas *gas, const carom_gas_cells *cells,
                                   uint64_t index, uint32_t code, level_scan *scan) {
    const carom_gas_cell *cell = &cells->cells[index];
    for (; cell != NULL; cell = carom_gas_cell_after(cells, cell)) {
        if (scan->candidates.count + CAROM_GAS_CELL_ENTRIES > CAROM_GAS_MOST_CANDIDATES)
            flush_level_scan(gas, scan);
        for (int k = 0; k < CAROM_GAS_CELL_ENTRIES && cell->entry[k] < CAROM_GAS_LINK; ++k)
            scan->candidates.entries[scan->candidates.count++] =
                carom_gas_candidate(carom_gas_candidate_slot(cell->entry[k]), code);
    }
}

/* Adds the cells from `from` to `to` of a row; y and z are in the box, and `code` is without x. */
static inline void scan_shell_row(const carom_gas *gas, const level_shell *shell, int64_t from,
                                  int64_t to, const int64_t at[3], uint32_t code,
                                  level_scan *scan) {
    const carom_gas_cells *cells = shell->cells;
    const uint64_t row = carom_gas_cell_index(cells, 0, (uint64_t)at[1], (uint64_t)at[2]);
    for (int64_t x = from; x <= to; ++x) {
        int64_t own = x;
        uint32_t digit = map_layer(cells, 0, &own);
        uint64_t index = row + (uint64_t)own;
        if (cells->cells[index].entry[0] != CAROM_GAS_EMPTY)
            scan_shell_cell(gas, cells, index, code + digit, scan);
    }
}

/* Adds the cells of the row at (y, z): those within the outer distance, without those that are
 * wholly within the inner one. */
static void scan_shell_at(const carom_gas *gas, const level_shell *shell, int64_t y, int64_t z,
                          level_scan *scan) {
    const double x = scan->x[0], edge = shell->cells->edge[0], skin = shell->cells->skin[0];
    double near[2], far[2];
    layer_distances(shell, scan->x, 1, y, &near[0], &far[0]);
    layer_distances(shell, scan->x, 2, z, &near[1], &far[1]);
    double left = shell->outer * shell->outer - near[0] * near[0] - near[1] * near[1];
    if (left < 0.0) return;
    int64_t at[3] = {0, y, z}, from = shell->low[0], to = shell->high[0];
    double reach = sqrt(left) + skin;
    from = (int64_t)CAROM_MAX(floor((x - reach) / edge), (double)from);
    to = (int64_t)CAROM_MIN(floor((x + reach) / edge), (double)to);
    uint32_t code = 3 * map_layer(shell->cells, 1, &at[1]) + 9 * map_layer(shell->cells, 2, &at[2]);
    double inside = shell->inner * shell->inner - far[0] * far[0] - far[1] * far[1];
    double empty = inside > 0.0 ? sqrt(inside) - skin : -1.0;
    if (empty <= 0.0) {
        scan_shell_row(gas, shell, from, to, at, code, scan);
        return;
    }
    double first = CAROM_MIN(ceil((x - empty) / edge), (double)to + 1.0);
    double last = CAROM_MAX(floor((x + empty) / edge) - 1.0, (double)from - 1.0);
    if (first > last) {
        scan_shell_row(gas, shell, from, to, at, code, scan);
        return;
    }
    scan_shell_row(gas, shell, from, (int64_t)first - 1, at, code, scan);
    scan_shell_row(gas, shell, (int64_t)last + 1, to, at, code, scan);
}

/* Adds the cells of a finer level that hold what a sphere may touch. */
static void scan_level_shell(const carom_gas *gas, uint32_t level, level_scan *scan) {
    const carom_gas_level *own = &gas->levels.level[scan->record->home.extra],
                          *finer = &gas->levels.level[level];
    const double radius = gas->radius[scan->slot], wide = SHELL_WIDTH_MARGIN * gas->longest;
    level_shell shell = {.cells = carom_gas_cells_seen(gas, level)};
    shell.outer = (radius + finer->largest) * (1.0 + SHELL_MARGIN) + gas->levels.drift + wide;
    shell.inner = (radius + finer->smallest) * (1.0 - SHELL_MARGIN) - wide;
    shell.inner = CAROM_MAX(shell.inner, 0.0);
    const int64_t unit = INT64_C(1) << (own->shift - finer->shift);
    for (int axis = 0; axis < 3; ++axis) {
        const int64_t at = scan->record->home.at[axis], size = shell.cells->size[axis];
        const double edge = shell.cells->edge[axis];
        double reach = shell.outer + shell.cells->skin[axis];
        double low = floor((scan->x[axis] - reach) / edge);
        double high = floor((scan->x[axis] + reach) / edge);
        shell.low[axis] = (int64_t)CAROM_MAX(low, (double)((at - 1) * unit));
        shell.high[axis] = (int64_t)CAROM_MIN(high, (double)((at + 2) * unit - 1));
        if (gas->rules.periodic[axis]) continue;
        shell.low[axis] = CAROM_MAX(shell.low[axis], 0);
        shell.high[axis] = CAROM_MIN(shell.high[axis], size - 1);
    }
    for (int64_t z = shell.low[2]; z <= shell.high[2]; ++z)
        for (int64_t y = shell.low[1]; y <= shell.high[1]; ++y)
            scan_shell_at(gas, &shell, y, z, scan);
}

/* Collects and scans the candidates in all levels. */
static void scan_levels(const carom_gas *gas, level_scan *scan) {
    const carom_gas_home *home = &scan->record->home;
    const uint32_t own = home->extra;
    for (uint32_t level = 0; level < own; ++level) scan_level_shell(gas, level, scan);
    for (uint32_t level = own; level < gas->levels.count; ++level) {
        carom_gas_home parent = *home;
        uint32_t shift = gas->levels.level[level].shift - gas->levels.level[own].shift;
        for (int axis = 0; axis < 3; ++axis) parent.at[axis] = (uint16_t)(home->at[axis] >> shift);
        scan_level_block(gas, carom_gas_cells_seen(gas, level), &parent, scan);
    }
    flush_level_scan(gas, scan);
}

/* Predicts when the sphere has moved by the drift: under an acceleration a lower bound. */
static int64_t find_drift(const carom_gas *gas, const cell_view *view) {
    const double drift = gas->levels.drift;
    double vv = 0.0, aa = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        vv += view->v[axis] * view->v[axis];
        aa += gas->rules.acceleration[axis] * gas->rules.acceleration[axis];
    }
    double speeds = sqrt(vv) + sqrt(vv + 2.0 * sqrt(aa) * drift);
    double delay = speeds > 0.0 ? 2.0 * drift / speeds : CAROM_GAS_NEVER_DELAY;
    return carom_gas_after(&gas->rules, gas->now, delay);
}

/* Predicts a sphere whose prediction is empty. */
static __attribute__((noinline)) void predict_in_levels(carom_gas *gas, uint32_t slot, bool exact) {
    carom_gas_record *record = &gas->records[slot];
    carom_gas_prediction *prediction = &record->prediction;
    carom_gas_cells *cells = carom_gas_cells_of(gas, record->home.extra);
    level_scan scan = {.slot = slot, .least = HUGE_VALF, .second = HUGE_VALF, .record = record};
    cell_view view;
    view_from_cell(gas, cells, slot, &view);
    gas_run_cpu_refile(gas, cells, slot, &view);
    predict_crossing(gas, cells, slot, &view, prediction);
    for (int axis = 0; axis < 3; ++axis)
        scan.x[axis] = view.x[axis] + (double)record->home.at[axis] * cells->edge[axis];
    if (record->home.extra > 0) {
        int64_t drifted = find_drift(gas, &view);
        if (drifted < prediction->crossing) prediction->side = NO_SIDE;
        prediction->crossing = CAROM_MIN(drifted, prediction->crossing);
    }
    scan_levels(gas, &scan);
    int64_t time = tick_of(gas, scan.least);
    if (time == CAROM_GAS_NEVER) return;
    if (!exact && is_clear(gas, scan.least, scan.second)) {
        offer_provisional(gas, slot, record, time, scan.first,
                          ticks_between(gas, scan.least, scan.second));
        return;
    }
    evaluate_exactly(gas, slot, scan.first, record);
    scan.evaluates = true;
    scan.second = gas_run_cpu_bound_of(gas, prediction->physical);
    scan_levels(gas, &scan);
}

/* A sphere enters a cell, or has moved by the drift. */
static void cross_in_levels(carom_gas *gas, uint32_t slot) {
    carom_gas_record *record = &gas->records[slot];
    carom_gas_cells *cells = carom_gas_cells_of(gas, record->home.extra);
    if (record->prediction.side == NO_SIDE) return;
    enter_next_cell(gas, cells, slot);
}

/* ---- Candidates: shared cells (EXTENT) ------------------------------------------------------- */

/* A sphere is filed in every cell it overlaps, and its candidates are the spheres that share a cell
 * with it (Kim, Guibas, Shin).
 *
 * Cells are wider than spheres, so along each axis a sphere overlaps one cell or two: its home and,
 * if the bit of the axis is set in `extra`, the next. Its front enters a layer of cells and its
 * back leaves one. The sphere is treated as slightly larger than it is, so that two spheres share a
 * cell for some time before they touch. */

/* Cell with index n of a home; bit k of n selects the second cell along axis k. */
static inline uint64_t extent_cell(const carom_gas *gas, const carom_gas_home *home, uint32_t n,
                                   uint32_t at[3]) {
    for (int axis = 0; axis < 3; ++axis) {
        at[axis] = home->at[axis] + (n >> axis & 1u);
        if (at[axis] == gas->cells.size[axis]) at[axis] = 0;
    }
    return carom_gas_cell_index(&gas->cells, at[0], at[1], at[2]);
}

/* True when the sphere at `home` overlaps the cell at `at` along an axis. *box receives the box of
 * that cell relative to the sphere's own. */
static inline bool extent_meets(const carom_gas *gas, const carom_gas_home *home, int axis,
                                uint32_t at, int *box) {
    *box = 0;
    if (at == home->at[axis]) return true;
    uint32_t next = home->at[axis] + 1u;
    if (next == gas->cells.size[axis]) {
        next = 0;
        *box = 1;
    }
    return (home->extra >> axis & 1u) != 0 && at == next;
}

/* Adds the candidates in cell n of the sphere. Those that also share a lower cell of the sphere
 * were added there and are skipped. */
static inline void scan_extent_cell(const carom_gas *gas, uint32_t slot, uint32_t n,
                                    carom_gas_candidates *candidates, carom_gas_record *record,
                                    bool exact) {
    const carom_gas_home *home = &record->home;
    uint32_t at[3];
    const carom_gas_cell *cell = &gas->cells.cells[extent_cell(gas, home, n, at)];
    for (; cell != NULL; cell = carom_gas_cell_after(&gas->cells, cell)) {
        for (int k = 0; k < CAROM_GAS_CELL_ENTRIES; ++k) {
            uint32_t other = carom_gas_candidate_slot(cell->entry[k]), code = 0, unit = 1;
            if (cell->entry[k] >= CAROM_GAS_LINK || other == slot) continue;
            bool seen = false;
            for (int axis = 0; axis < 3; ++axis, unit *= 3) {
                int own, its, lower;
                (void)extent_meets(gas, home, axis, at[axis], &own);
                (void)extent_meets(gas, &gas->records[other].home, axis, at[axis], &its);
                seen |= (n >> axis & 1u) != 0 && gas->cells.size[axis] > 2 &&
                        extent_meets(gas, &gas->records[other].home, axis, home->at[axis], &lower);
                code += unit * (uint32_t)(own - its + 1);
            }
            if (seen) continue;
            candidates->entries[candidates->count++] = carom_gas_candidate(other, code);
        }
        if (candidates->count <= CAROM_GAS_MOST_CANDIDATES - CAROM_GAS_CELL_ENTRIES) continue;
        gas_run_cpu_scan(gas, slot, candidates->entries, candidates->count, true, record, exact);
        candidates->count = 0;
    }
}

/* Scans the cells of one layer: those with (n & mask) == value; mask 0 selects all. */
static inline void scan_layer(const carom_gas *gas, uint32_t slot, uint32_t mask, uint32_t value,
                              carom_gas_record *record, bool exact) {
    carom_gas_candidates candidates;
    candidates.count = 0;
    for (uint32_t n = 0; n < 8; ++n)
        if ((n & ~(uint32_t)record->home.extra) == 0 && (n & mask) == value)
            scan_extent_cell(gas, slot, n, &candidates, record, exact);
    gas_run_cpu_scan(gas, slot, candidates.entries, candidates.count, true, record, exact);
}

static inline void scan_extent(const carom_gas *gas, uint32_t slot, carom_gas_record *record,
                               bool exact) {
    scan_layer(gas, slot, 0, 0, record, exact);
}

static inline void predict_extent_crossing(const carom_gas *gas, uint32_t slot,
                                           carom_gas_prediction *prediction) {
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *body = &gas->bodies[slot];
    const carom_gas_home *home = &gas->records[slot].home;
    double x[3], v[3], best = CAROM_GAS_NEVER_DELAY, radius = carom_gas_extent_radius(gas, slot);
    carom_gas_state_at(rules, body, carom_gas_span(rules, gas->now - body->t), x, v);
    for (int axis = 0; axis < 3; ++axis) {
        double edge = gas->cells.edge[axis], a = rules->acceleration[axis];
        double low = (double)home->at[axis] * edge + (double)body->wraps[axis] * rules->edge[axis];
        bool two = (home->extra >> axis & 1u) != 0;
        /* Moving up, the back leaves the lower of two cells, or the front enters the next one. */
        double up = two ? low + edge - (x[axis] - radius) : low + edge - (x[axis] + radius);
        double down = two ? x[axis] + radius - (low + edge) : x[axis] - radius - low;
        bool walled = !rules->periodic[axis] && !two;
        if (!(walled && home->at[axis] + 1u == gas->cells.size[axis])) {
            double delay = carom_gas_fall_delay(up, -v[axis], -a);
            if (delay < best) best = delay, prediction->side = (uint8_t)(2 * axis + 1);
        }
        if (!(walled && home->at[axis] == 0)) {
            double delay = carom_gas_fall_delay(down, v[axis], a);
            if (delay < best) best = delay, prediction->side = (uint8_t)(2 * axis);
        }
    }
    prediction->crossing = carom_gas_after(rules, gas->now, best);
}

static inline void cross_extent(carom_gas *gas, uint32_t slot) {
    carom_gas_record *record = &gas->records[slot];
    carom_gas_prediction *prediction = &record->prediction;
    carom_gas_home *home = &record->home;
    int axis = prediction->side / 2;
    int8_t *wraps = &gas->bodies[slot].wraps[axis];
    const int8_t before = *wraps;
    bool up = prediction->side % 2 != 0, two = (home->extra >> axis & 1u) != 0;
    uint32_t bit = 1u << axis, layer = up != two ? bit : 0, last = gas->cells.size[axis] - 1, at[3];
    if (!two) {
        home->extra = (uint16_t)(home->extra | bit);
        if (!up) {
            *wraps = (int8_t)(*wraps - (home->at[axis] == 0));
            home->at[axis] = (uint16_t)(home->at[axis] == 0 ? last : home->at[axis] - 1u);
        }
    }
    for (uint32_t n = 0; n < 8; ++n) {
        if ((n & ~(uint32_t)home->extra) != 0 || (n & bit) != layer) continue;
        uint64_t index = extent_cell(gas, home, n, at);
        if (two)
            carom_gas_cell_remove(&gas->cells, index, carom_gas_candidate(slot, CAROM_GAS_HERE));
        else
            carom_gas_cell_add(&gas->cells, index, carom_gas_candidate(slot, CAROM_GAS_HERE));
    }
    if (two) {
        home->extra = (uint16_t)(home->extra & ~bit);
        if (up) {
            *wraps = (int8_t)(*wraps + (home->at[axis] == last));
            home->at[axis] = (uint16_t)(home->at[axis] == last ? 0 : home->at[axis] + 1u);
        }
    }
    if (*wraps != before) carom_gas_trajectory_shift(gas, slot);
    if (!two) scan_layer(gas, slot, bit, layer, record, false);
    predict_extent_crossing(gas, slot, prediction);
}

/* ---- Candidates: neighbour lists (NEIGHBOURS) ------------------------------------------------ */

/* The invariants of the lists are in gas_neighbour_lists.h. */

/* Scans any number of candidates, CAROM_GAS_MOST_CANDIDATES at a time. */
static inline void gas_run_cpu_scan_all(const carom_gas *gas, uint32_t slot,
                                        const uint32_t *entries, uint32_t count,
                                        carom_gas_record *record, bool exact) {
    for (uint32_t from = 0; from < count; from += CAROM_GAS_MOST_CANDIDATES) {
        uint32_t left = count - from;
        gas_run_cpu_scan(gas, slot, entries + from,
                         left < CAROM_GAS_MOST_CANDIDATES ? left : CAROM_GAS_MOST_CANDIDATES,
                         !record->home.extra, record, exact);
    }
}

static inline void scan_list(const carom_gas *gas, uint32_t slot, carom_gas_record *record,
                             bool exact) {
    const uint32_t *list = carom_gas_list_of(gas, slot);
    if (list[0] <= CAROM_GAS_MOST_CANDIDATES)
        gas_run_cpu_scan(gas, slot, list + 1, list[0], !record->home.extra, record, exact);
    else
        gas_run_cpu_scan_all(gas, slot, list + 1, list[0], record, exact);
}

/* Predicts when the sphere is the skin away from its centre. Under an acceleration this is a
 * lower bound, otherwise exact. */
static inline void predict_renewal(const carom_gas *gas, uint32_t slot,
                                   carom_gas_prediction *prediction) {
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *body = &gas->bodies[slot];
    const float *centre = gas->records[slot].centre;
    double x[3], v[3], b = 0.0, vv = 0.0, yy = 0.0, skin = gas->lists.skin;
    carom_gas_state_at(rules, body, carom_gas_span(rules, gas->now - body->t), x, v);
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

/* True when `entry` is among the entries. Up to seven entries after the last are read. */
static inline bool is_listed(const uint32_t *entries, uint32_t count, uint32_t entry) {
    const carom_i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
    carom_i32x8 found = {0};
    for (uint32_t i = 0; i < count; i += 8) {
        carom_i32x8 eight;
        memcpy(&eight, entries + i, sizeof(eight));
        found |= (eight == (int32_t)entry) & (lane < (int32_t)(count - i));
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
        candidates->entries[candidates->count + k] = carom_gas_candidate(slot, CAROM_GAS_HERE);
    for (uint32_t i = 0; i < candidates->count; i += 8) {
        carom_f32x4 rows[8], shift;
        carom_f32x8 c[4];
        for (uint32_t k = 0; k < 8; ++k) {
            uint32_t entry = candidates->entries[i + k];
            memcpy(&rows[k], &gas->lists.centres[carom_gas_candidate_slot(entry)], sizeof(rows[k]));
            if (!shifted) continue;
            memcpy(&shift, gas->trajectories.shift[carom_gas_candidate_code(entry)], sizeof(shift));
            rows[k] += shift * length;
        }
        carom_f32x8_transpose(rows, c);
        carom_f32x8 dx = c[0] - own->x[0], dy = c[1] - own->x[1], dz = c[2] - own->x[2];
        carom_f32x8 limit = c[3] + (own->radius + gas->lists.slack);
        carom_i32x8 meet = (dx * dx + dy * dy) + dz * dz < limit * limit;
        for (uint32_t lanes = carom_i32x8_lanes(meet); lanes != 0; lanes &= lanes - 1) {
            uint32_t entry = candidates->entries[i + (uint32_t)__builtin_ctz(lanes)];
            fresh[count] = entry;
            count += carom_gas_candidate_slot(entry) != slot;
        }
    }
    return count;
}

/* Collects the neighbours of a sphere whose centre has just been set; false when there are too
 * many. */
static inline bool collect_list(const carom_gas *gas, uint32_t slot, uint32_t *fresh,
                                uint32_t *count) {
    carom_gas_candidates candidates;
    gas_run_cpu_block block;
    *count = 0;
    candidates.count = 0;
    collect_block(&gas->cells, &gas->records[slot].home, &block, &candidates);
    link_cursor cursor = begin_links(&block);
    bool inside = carom_gas_is_inside(&gas->cells, &gas->records[slot].home);
    for (bool all = false; !all && *count <= gas->lists.capacity; candidates.count = 0) {
        all = !block.linked || collect_links(&block, &cursor, &candidates);
        if (gas->prefetch)
            for (uint32_t i = 0; i < candidates.count; ++i)
                __builtin_prefetch(
                    &gas->lists.centres[carom_gas_candidate_slot(candidates.entries[i])]);
        *count = inside ? list_candidates(gas, slot, &candidates, false, fresh, *count)
                        : list_candidates(gas, slot, &candidates, true, fresh, *count);
    }
    return *count <= gas->lists.capacity;
}

/* Builds a new list for a sphere that has moved by the skin. Only its new neighbours are scanned,
 * where homes are not ahead (`homes_until`).
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
        uint32_t its = carom_gas_list_of(gas, carom_gas_candidate_slot(fresh[i]))[0];
        for (uint32_t k = 0; k < added; ++k) /* a narrow box may contain several images */
            its += carom_gas_candidate_slot(news[k]) == carom_gas_candidate_slot(fresh[i]);
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
            carom_gas_list_drop(carom_gas_list_of(gas, carom_gas_candidate_slot(list[i])),
                                carom_gas_candidate_back(list[i], slot));
    for (uint32_t i = 0; i < added; ++i) {
        uint32_t *its = carom_gas_list_of(gas, carom_gas_candidate_slot(news[i]));
        its[++its[0]] = carom_gas_candidate_back(news[i], slot);
        CAROM_ASSERT(its[0] <= gas->lists.capacity);
    }
    memcpy(list + 1, fresh, count * sizeof(*list));
    list[0] = count;
    if (memcmp(home, &before, sizeof(before)) != 0) {
        carom_gas_file(gas, &gas->cells, slot, &before, false);
        carom_gas_file(gas, &gas->cells, slot, home, true);
        carom_gas_note_home(gas, slot);
    }
    /* After a change of box the same entry means another image. This matters where a box is not
     * much wider than the cutoff. */
    if (moved) carom_gas_trajectory_shift(gas, slot);
    if (moved || gas->now <= gas->homes_until) {
        scan_list(gas, slot, &gas->records[slot], false);
    } else {
        gas_run_cpu_scan_all(gas, slot, news, added, &gas->records[slot], false);
    }
    predict_renewal(gas, slot, &gas->records[slot].prediction);
    return true;
}

/* ---- Prediction ------------------------------------------------------------------------------ */

static void clear_prediction(carom_gas *gas, uint32_t slot) {
    ++gas->predictions;
    carom_gas_record *record = &gas->records[slot];
    record->prediction.physical = CAROM_GAS_NEVER;
    record->prediction.kind = CAROM_GAS_PREDICTION_REFRESH;
    record->next_best = 0.0f;
}

static __attribute__((noinline)) void predict_by_cells(carom_gas *gas, uint32_t slot, bool exact) {
    if (gas->method == CAROM_GAS_METHOD_EXTENT) {
        scan_extent(gas, slot, &gas->records[slot], exact);
        predict_extent_crossing(gas, slot, &gas->records[slot].prediction);
    } else if (gas->levels.count != 0) {
        predict_in_levels(gas, slot, exact);
    } else {
        predict_centre(gas, &slot, 1, exact);
    }
}

/* Predicts the next event of a sphere. `exact`: with its exact tick, never provisional: for an
 * unresolved prediction, or a provisional one whose pair does not meet within the uncertainty. */
static void predict(carom_gas *gas, uint32_t slot, bool exact) {
    carom_gas_record *record = &gas->records[slot];
    clear_prediction(gas, slot);
    if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS) {
        scan_list(gas, slot, record, exact);
        predict_renewal(gas, slot, &record->prediction);
    } else {
        predict_by_cells(gas, slot, exact);
    }
    scan_alone(gas, slot, record);
}

/* Predicts and enters two spheres that collided, by cells. */
static __attribute__((noinline)) void predict_both_by_cells(carom_gas *gas, uint32_t a,
                                                            uint32_t b) {
    clear_prediction(gas, a);
    clear_prediction(gas, b);
    predict_centre(gas, (uint32_t[2]){a, b}, 2, false);
    scan_alone(gas, a, &gas->records[a]);
    scan_alone(gas, b, &gas->records[b]);
    carom_gas_queue_put(gas, a);
    carom_gas_queue_put(gas, b);
}

/* The same by lists. The bounds of both are computed first, so that their memory accesses
 * overlap. */
static void predict_both_by_lists(carom_gas *gas, uint32_t a, uint32_t b) {
    const uint32_t slots[2] = {a, b};
    bounded_set bounded_sets[2];
    for (int i = 0; i < 2; ++i) {
        const uint32_t *list = carom_gas_list_of(gas, slots[i]);
        bound_candidates(gas, slots[i], list + 1, list[0], !gas->records[slots[i]].home.extra,
                         &bounded_sets[i]);
    }
    for (int i = 0; i < 2; ++i) {
        carom_gas_record *record = &gas->records[slots[i]];
        clear_prediction(gas, slots[i]);
        gas_run_cpu_decide(gas, &bounded_sets[i], record, false);
        predict_renewal(gas, slots[i], &record->prediction);
        scan_alone(gas, slots[i], record);
        carom_gas_queue_put(gas, slots[i]);
    }
}

/* Predicts and enters two spheres that collided. */
static void predict_both(carom_gas *gas, uint32_t a, uint32_t b) {
    if (gas->predicts_together) {
        predict_both_by_cells(gas, a, b);
    } else if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS &&
               carom_gas_list_of(gas, a)[0] <= CAROM_GAS_MOST_CANDIDATES &&
               carom_gas_list_of(gas, b)[0] <= CAROM_GAS_MOST_CANDIDATES) {
        predict_both_by_lists(gas, a, b);
    } else {
        predict(gas, a, false);
        carom_gas_queue_put(gas, a);
        predict(gas, b, false);
        carom_gas_queue_put(gas, b);
    }
}

/* ---- Internal events: crossings, stale and provisional predictions --------------------------- */

static bool is_stale(const carom_gas *gas, const carom_gas_prediction *prediction) {
    bool pair = prediction->kind == CAROM_GAS_PREDICTION_PAIR ||
                prediction->kind == CAROM_GAS_PREDICTION_PROVISIONAL;
    return pair && gas->trajectories.by_slot[prediction->partner].stamp != prediction->stamp;
}

/* Handles a stale prediction. If its partner was rewritten, the partner's own prediction covers
 * their collision by now. Then this sphere is only due at its next best time, and no scan is needed
 * yet: often it collides with another sphere before. */
static void gas_run_defer(carom_gas *gas, uint32_t slot) {
    carom_gas_record *record = &gas->records[slot];
    uint32_t change =
        record->prediction.stamp ^ gas->trajectories.by_slot[record->prediction.partner].stamp;
    bool rewritten = change >= CAROM_GAS_REWRITTEN &&
                     (gas->part == NULL || gas->bodies[record->prediction.partner].t <= gas->now);
    if (!rewritten || !(record->next_best > 0.0f) ||
        record->prediction.kind != CAROM_GAS_PREDICTION_PROVISIONAL) {
        predict(gas, slot, false);
        return;
    }
    record->prediction.physical += record->next_best < (float)CAROM_GAS_HORIZON
                                       ? (int64_t)record->next_best
                                       : CAROM_GAS_HORIZON;
    record->next_best = 0.0f;
    scan_alone(gas, slot, record);
}

/* True when the partner's prediction is the same pair, with its exact tick. */
static bool is_met_by_partner(const carom_gas *gas, uint32_t slot) {
    const carom_gas_prediction *prediction = &gas->records[slot].prediction,
                               *its = &gas->records[prediction->partner].prediction;
    if (its->kind != CAROM_GAS_PREDICTION_PAIR || its->partner != slot ||
        its->physical >= its->crossing || its->stamp != gas->trajectories.by_slot[slot].stamp)
        return false;
    int image[3], its_image[3];
    predicted_image(gas, prediction, image);
    predicted_image(gas, its, its_image);
    return image[0] == -its_image[0] && image[1] == -its_image[1] && image[2] == -its_image[2];
}

/* Replaces the lower bound of a provisional pair by its exact tick. False when the pair does not
 * meet within the uncertainty; the sphere must then be predicted exactly. */
static bool refine(carom_gas *gas, uint32_t slot) {
    carom_gas_prediction *prediction = &gas->records[slot].prediction;
    int image[3];
    predicted_image(gas, prediction, image);
    int64_t time =
        carom_gas_pair_time(&gas->rules, &gas->bodies[slot], &gas->bodies[prediction->partner],
                            image, carom_gas_contact_distance(gas, slot, prediction->partner));
    CAROM_ASSERT(time >= prediction->physical); /* which was a lower bound */
    if (time > latest(gas, prediction)) return false;
    prediction->physical = time;
    prediction->kind = CAROM_GAS_PREDICTION_PAIR;
    return true;
}

/* True for work the caller never sees: crossings, stale and provisional events. */
static bool is_internal(const carom_gas *gas, uint32_t slot) {
    const carom_gas_prediction *prediction = &gas->records[slot].prediction;
    return prediction->crossing <= prediction->physical || is_lower_bound(prediction) ||
           is_stale(gas, prediction);
}

/* In levels, and where homes are ahead (`homes_until`): also what is beside the sphere already may
 * not have been compared with it at a time as early as this. */
static __attribute__((noinline)) void predict_after_crossing(carom_gas *gas, uint32_t slot) {
    if (gas->levels.count != 0)
        cross_in_levels(gas, slot);
    else
        enter_next_cell(gas, &gas->cells, slot);
    predict(gas, slot, false);
}

static bool do_internal(carom_gas *gas, uint32_t slot) {
    carom_gas_prediction *prediction = &gas->records[slot].prediction;
    bool done = true;
    CAROM_ASSERT(carom_gas_due(prediction) >= gas->now); /* time does not go back */
    gas->now = carom_gas_due(prediction);
    gas->crossings += prediction->crossing <= prediction->physical;
    if (prediction->crossing > prediction->physical) {
        if (prediction->kind == CAROM_GAS_PREDICTION_UNRESOLVED)
            predict(gas, slot, true);
        else if (is_stale(gas, prediction))
            gas_run_defer(gas, slot);
        else if (!refine(gas, slot))
            predict(gas, slot, true);
    } else if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS)
        done = renew_list(gas, slot);
    else if (gas->method == CAROM_GAS_METHOD_EXTENT)
        cross_extent(gas, slot);
    else if (gas->levels.count == 0 && gas->now > gas->homes_until)
        cross_centre(gas, slot);
    else
        predict_after_crossing(gas, slot);
    carom_gas_queue_put(gas, slot);
    return done;
}

/* ---- Prefetching for the next events --------------------------------------------------------- */

/* Consecutive events are at random positions in space and therefore in memory. The window of the
 * calendar holds the next events, so the cache lines they need are prefetched some events ahead.
 *
 * These functions are always inlined: gcc takes a function that does nothing but prefetch for one
 * without effect, and removes the calls it does not inline. */
#define PREFETCHING inline __attribute__((always_inline))

/* Distances in entries of the window. An event takes about ten times as long as a cache miss, so a
 * few entries are enough; half and twice as many are as fast, within 5 %. */
#define LOOK_AHEAD       24 /* entries the window should hold: a few more than FIRST_STAGE_LEAD */
#define FIRST_STAGE_LEAD 20 /* by which the first stage looks ahead */
#define SECOND_STAGE_LAG 7  /* by which the second stage follows the first */
#define THIRD_STAGE_LAG  14 /* by which the third stage follows the first */

/* Prefetches the rows of cells around a home. */
static PREFETCHING void touch_rows(const carom_gas *gas, const carom_gas_home *home) {
    const carom_gas_cells *cells = &gas->cells;
    const carom_gas_cell *own = &cells->cells[carom_gas_home_index(cells, home)];
    int64_t row = carom_gas_row(cells), layer = carom_gas_layer(cells);
    for (int64_t k = -1; k <= 1; ++k)
        for (int64_t j = -1; j <= 1; ++j) __builtin_prefetch(own + k * layer + j * row);
}

/* Prefetches the trajectories of a list. The first 16 are fetched without testing the length, as
 * that branch would be mispredicted; what follows the last entry are former entries. */
static PREFETCHING void touch_listed(const carom_gas *gas, uint32_t slot) {
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

static PREFETCHING void touch_next_cells(const carom_gas *gas, uint32_t slot) {
    carom_gas_home home = next_home(gas, slot);
    cell_block around;
    collect_side(gas, &home, gas->records[slot].prediction.side, &around.block, &around.candidates);
    prefetch_trajectories(gas, &around.candidates);
}

/* True when the next event is a collision of two spheres, at its exact tick or a lower bound. */
static inline bool is_pair_next(const carom_gas_prediction *prediction) {
    return (prediction->kind == CAROM_GAS_PREDICTION_PROVISIONAL ||
            prediction->kind == CAROM_GAS_PREDICTION_PAIR) &&
           prediction->physical < prediction->crossing;
}

/* True when the entry will only be refined: that reads both bodies, and no list or cell. */
static inline bool is_refined_next(const carom_gas_prediction *prediction) {
    return prediction->kind == CAROM_GAS_PREDICTION_PROVISIONAL &&
           prediction->physical < prediction->crossing;
}

static PREFETCHING void touch_body(const carom_gas *gas, uint32_t slot) {
    __builtin_prefetch(&gas->bodies[slot], 1);
    if (!gas->uniform) __builtin_prefetch(&gas->radius[slot]);
}

/* All lines of a sphere that will be predicted. */
static PREFETCHING void touch_sphere(const carom_gas *gas, uint32_t slot) {
    touch_body(gas, slot);
    if (gas->part != NULL) __builtin_prefetch(&gas->part->windows->version_codes[slot], 1);
    __builtin_prefetch(&gas->trajectories.by_slot[slot], 1);
    if (!(gas->common_mass > 0.0)) __builtin_prefetch(&gas->mass[slot]);
    if (gas->method != CAROM_GAS_METHOD_NEIGHBOURS) return;
    __builtin_prefetch(carom_gas_list_of(gas, slot));
    __builtin_prefetch(carom_gas_list_of(gas, slot) + 16);
}

/* First stage: both spheres of the event. */
static PREFETCHING void look_far(const carom_gas *gas, uint32_t slot) {
    const carom_gas_prediction *prediction = &gas->records[slot].prediction;
    if (is_refined_next(prediction)) {
        touch_body(gas, slot);
        touch_body(gas, prediction->partner);
        __builtin_prefetch(&gas->records[prediction->partner], 1);
        __builtin_prefetch(&gas->trajectories.by_slot[prediction->partner]); /* for its stamp */
        if (gas->part == NULL || gas->part->region == NULL) return;
        __builtin_prefetch(&gas->part->region[prediction->partner]);
        __builtin_prefetch(&gas->part->windows->held[prediction->partner]);
        return;
    }
    touch_sphere(gas, slot);
    if (is_pair_next(prediction)) {
        __builtin_prefetch(&gas->records[prediction->partner], 1);
        touch_sphere(gas, prediction->partner);
    }
}

/* Second stage: the cells of a crossing. The cells that a colliding pair will search are not yet
 * known: see refile. */
static PREFETCHING void look_nearer(const carom_gas *gas, uint32_t slot) {
    if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS || is_pair_next(&gas->records[slot].prediction))
        return;
    carom_gas_home home = next_home(gas, slot);
    touch_rows(gas, &home);
}

/* Third stage: the trajectories of the candidates. */
static PREFETCHING void look_near(const carom_gas *gas, uint32_t slot) {
    const carom_gas_prediction *prediction = &gas->records[slot].prediction;
    if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS) {
        if (is_refined_next(prediction)) return;
        touch_listed(gas, slot);
        if (is_pair_next(prediction) && carom_gas_may_handle(gas, slot))
            touch_listed(gas, prediction->partner);
    } else if (!is_pair_next(prediction)) {
        touch_next_cells(gas, slot);
    }
}

/* Reads the sphere's own record alone: that of its partner is not in the cache yet. */
static inline bool is_worth_prefetching(const carom_gas *gas, carom_gas_queue_entry entry) {
    return carom_gas_queue_entry_alive(gas, entry) &&
           (gas->part == NULL || gas->part->region == NULL || carom_gas_is_deep(gas, entry.slot));
}

/* Runs the three stages over the window; each fetches the data the next one follows. Each entry
 * passes all three, however many entries leave the window at once. */
static PREFETCHING void look_ahead(carom_gas *gas) {
    carom_gas_calendar *calendar = &gas->calendar;
    const carom_gas_queue_entry *window = calendar->window;
    uint64_t head = calendar->window_head, at = calendar->looked, end = head + FIRST_STAGE_LEAD + 1;
    if (at < head) at = head;
    if (end > calendar->window_tail) end = calendar->window_tail;
    for (; at < end; ++at) {
        if (is_worth_prefetching(gas, window[at])) look_far(gas, window[at].slot);
        if (at < head + THIRD_STAGE_LAG) continue;
        if (is_worth_prefetching(gas, window[at - SECOND_STAGE_LAG]))
            look_nearer(gas, window[at - SECOND_STAGE_LAG].slot);
        if (is_worth_prefetching(gas, window[at - THIRD_STAGE_LAG]))
            look_near(gas, window[at - THIRD_STAGE_LAG].slot);
    }
    calendar->looked = at;
}

/* ---- Event queue: selecting the next --------------------------------------------------------- */

/* Invariant: internal events at a tick are handled before the events the caller sees at that
 * tick. */

/* True when the order among those due at the same tick does not matter: an internal event, or one
 * that is kept for a later pass. */
static bool comes_at_once(const carom_gas *gas, uint32_t slot) {
    return !carom_gas_may_handle(gas, slot) || is_internal(gas, slot);
}

/* Chooses between two spheres due at the same tick: an internal event first, then by (kind, a, b).
 */
static uint32_t gas_run_cpu_choose(const carom_gas *gas, uint32_t best, uint32_t slot) {
    if (comes_at_once(gas, best)) return best;
    if (comes_at_once(gas, slot)) return slot;
    const carom_gas_prediction *p = &gas->records[best].prediction,
                               *q = &gas->records[slot].prediction;
    return ranks_before(gas, slot, q->kind, q->partner, best, p->kind, p->partner) ? slot : best;
}

static uint32_t choose_in_tree(const carom_gas *gas, uint64_t at, int64_t time, uint32_t best) {
    for (uint64_t child = 2 * at + 1; child <= 2 * at + 2 && child < gas->tree.count; ++child) {
        uint32_t slot = gas->tree.heap[child];
        if (carom_gas_due(&gas->records[slot].prediction) != time) continue;
        best = choose_in_tree(gas, child, time, gas_run_cpu_choose(gas, best, slot));
    }
    return best;
}

/* Refines the provisional pair at the head of the window in place. If the partner's entry already
 * represents the exact collision, this sphere leaves the queue and becomes the partner's follower.
 * False when the head is not a provisional pair or cannot be refined. */
static bool refine_head(carom_gas *gas) {
    carom_gas_calendar *calendar = &gas->calendar;
    carom_gas_queue_entry *window = calendar->window, entry = window[calendar->window_head];
    carom_gas_prediction *prediction = &gas->records[entry.slot].prediction;
    if (prediction->kind != CAROM_GAS_PREDICTION_PROVISIONAL ||
        prediction->crossing <= prediction->physical || !carom_gas_may_handle(gas, entry.slot) ||
        is_stale(gas, prediction))
        return false;
    carom_gas_record *partner = &gas->records[prediction->partner];
    /* With levels a follower is no larger: it is in the region of the sphere that represents it. */
    bool may_follow =
        gas->levels.count == 0 || gas->records[entry.slot].home.extra <= partner->home.extra;
    if (may_follow && is_met_by_partner(gas, entry.slot) &&
        partner->prediction.physical < prediction->crossing &&
        partner->follower == CAROM_GAS_NO_SLOT &&
        partner->prediction.physical <= latest(gas, prediction)) {
        prediction->physical = partner->prediction.physical;
        prediction->kind = CAROM_GAS_PREDICTION_PAIR;
        prediction->current = 0;
        partner->follower = entry.slot;
        ++calendar->window_head;
        return true;
    }
    if (calendar->free_count < CAROM_GAS_STEP_ENTRIES || !refine(gas, entry.slot)) return false;
    entry.time = carom_gas_due(prediction);
    if (entry.time >> calendar->shift >= calendar->base) {
        ++calendar->window_head;
        carom_gas_queue_put(gas, entry.slot);
        return true;
    }
    uint64_t at = calendar->window_head;
    for (; at + 1 < calendar->window_tail && window[at + 1].time < entry.time; ++at)
        window[at] = window[at + 1];
    window[at] = entry;
    if (gas->prefetch) look_far(gas, entry.slot);
    return true;
}

/* Finds the slot to be handled next; CAROM_GAS_NO_SLOT when nothing is due up to `until`. False
 * when there is no memory. */
static bool next_slot(carom_gas *gas, int64_t until, uint32_t *next) {
    *next = CAROM_GAS_NO_SLOT;
    if (gas->def.queue == CAROM_GAS_QUEUE_TREE) {
        if (gas->tree.count == 0) return true;
        uint32_t slot = gas->tree.heap[0];
        int64_t time = carom_gas_due(&gas->records[slot].prediction);
        if (time <= until) *next = choose_in_tree(gas, 0, time, slot);
        return true;
    }
    carom_gas_calendar *calendar = &gas->calendar;
    for (;;) {
        while (calendar->window_head < calendar->window_tail &&
               !carom_gas_queue_entry_alive(gas, calendar->window[calendar->window_head]))
            ++calendar->window_head;
        if (calendar->window_head < calendar->window_tail) {
            if (calendar->window[calendar->window_head].time <= until && refine_head(gas)) continue;
            break;
        }
        if (gas->count == 0 || calendar->base > until >> calendar->shift) return true;
        if (!carom_gas_calendar_load(gas, until)) return false;
    }
    if (gas->prefetch) {
        if (calendar->window_tail - calendar->window_head < LOOK_AHEAD &&
            !carom_gas_calendar_load(gas, until))
            return false;
        look_ahead(gas);
    }
    const carom_gas_queue_entry *entry = &calendar->window[calendar->window_head];
    if (entry->time > until) return true;
    uint32_t best = entry->slot;
    uint64_t found_at = calendar->window_head;
    for (uint64_t i = found_at + 1;
         i < calendar->window_tail && calendar->window[i].time == entry->time; ++i) {
        if (comes_at_once(gas, best)) break; /* thousands may be due at the start of a window */
        if (!carom_gas_queue_entry_alive(gas, calendar->window[i])) continue;
        uint32_t chosen = gas_run_cpu_choose(gas, best, calendar->window[i].slot);
        if (chosen != best) found_at = i;
        best = chosen;
    }
    /* The entry is removed, so that none is left if the sphere is due at this tick again. */
    calendar->window[found_at] = *entry;
    ++calendar->window_head;
    CAROM_ASSERT(carom_gas_due(&gas->records[best].prediction) <= until);
    *next = best;
    return true;
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* Counts an event: within a window for all of its parts together, when it is complete. */
static void count_event(carom_gas *gas, const carom_gas_event *event, double virial) {
    bool wall = event->kind == CAROM_GAS_EVENT_KIND_WALL;
    carom_gas_part *part = gas->part;
    if (part == NULL) {
        gas->collisions += !wall;
        gas->wall_hits += wall;
        if (!wall) carom_gas_total_add(&gas->virial, virial);
        return;
    }
    carom_gas_happening happening = {
        gas->now, virial,   wall ? CAROM_GAS_PREDICTION_WALL : CAROM_GAS_PREDICTION_PAIR,
        event->a, event->b, 0};
    (void)carom_gas_happenings_push(&part->happenings, &gas->allocator, happening); /* has_room */
}

/* A refresh is no event, but rewrites a body; the caller's function may look at that. */
static void log_refresh(carom_gas *gas, uint32_t slot) {
    carom_gas_part *part = gas->part;
    if (part == NULL || !part->windows->is_shown) return;
    carom_gas_happening happening = {
        gas->now, 0.0, CAROM_GAS_PREDICTION_REFRESH, gas->records[slot].label, 0, 0};
    (void)carom_gas_happenings_push(&part->happenings, &gas->allocator, happening); /* has_room */
}

static void show_sphere(const carom_gas *gas, uint32_t slot, const carom_gas_body *body,
                        carom_gas_sphere *sphere) {
    sphere->position = (carom_vec3){body->x[0], body->x[1], body->x[2]};
    sphere->velocity = (carom_vec3){body->v[0], body->v[1], body->v[2]};
    sphere->radius = carom_gas_radius(gas, slot);
    sphere->mass = carom_gas_mass(gas, slot);
}

/* False when the velocity is not finite or too fast for the tick. */
static bool take_velocity(const carom_gas *gas, carom_gas_body *body,
                          const carom_gas_sphere *sphere) {
    double *v = body->v;
    v[0] = sphere->velocity.x, v[1] = sphere->velocity.y, v[2] = sphere->velocity.z;
    return carom_gas_keeps_pace(gas, v);
}

/* Applies the caller's response to two spheres. False, with nothing changed, when it gives invalid
 * velocities. */
static bool respond_pair(carom_gas *gas, uint32_t slot_a, uint32_t slot_b, const int image[3],
                         const carom_gas_event *event) {
    carom_gas_body a = gas->bodies[slot_a], b = gas->bodies[slot_b];
    carom_gas_contact contact =
        carom_gas_meet(&gas->rules, &a, &b, image, gas->now, carom_gas_mass(gas, slot_a),
                       carom_gas_mass(gas, slot_b));
    carom_gas_body before_a = gas->bodies[slot_a], before_b = gas->bodies[slot_b];
    carom_gas_rewrite(&gas->rules, &before_a, gas->now);
    carom_gas_rewrite(&gas->rules, &before_b, gas->now);
    carom_gas_sphere sphere_a, sphere_b;
    carom_vec3 n = {contact.normal[0], contact.normal[1], contact.normal[2]};
    double distance = carom_gas_contact_distance(gas, slot_a, slot_b);
    show_sphere(gas, slot_a, &before_a, &sphere_a);
    show_sphere(gas, slot_b, &before_b, &sphere_b);
    sphere_b.position =
        (carom_vec3){sphere_a.position.x + distance * n.x, sphere_a.position.y + distance * n.y,
                     sphere_a.position.z + distance * n.z};
    gas->def.response(gas->def.response_user, event, &n, &sphere_a, &sphere_b);
    if (!take_velocity(gas, &a, &sphere_a) || !take_velocity(gas, &b, &sphere_b)) return false;
    double push = (b.v[0] - before_b.v[0]) * n.x + (b.v[1] - before_b.v[1]) * n.y +
                  (b.v[2] - before_b.v[2]) * n.z;
    carom_gas_total_add(&gas->virial, carom_gas_mass(gas, slot_b) * push * distance);
    gas->bodies[slot_a] = a;
    gas->bodies[slot_b] = b;
    return true;
}

/* Counts consecutive events of a sphere at the same tick. */
static bool repeats_too_often(carom_gas *gas, uint32_t slot) {
    carom_gas_prediction *prediction = &gas->records[slot].prediction;
    prediction->repeats = gas->bodies[slot].t == gas->now ? (uint16_t)(prediction->repeats + 1) : 0;
    return prediction->repeats == UINT16_MAX;
}

static carom_gas_stop do_pair(carom_gas *gas, uint32_t slot, carom_gas_event *event,
                              uint32_t *culprit) {
    const carom_gas_prediction prediction = gas->records[slot].prediction;
    uint32_t a = slot, b = prediction.partner;
    int image[3];
    predicted_image(gas, &prediction, image);
    if (gas->records[a].label > gas->records[b].label) {
        a = prediction.partner, b = slot;
        for (int axis = 0; axis < 3; ++axis) image[axis] = -image[axis];
    }
    CAROM_ASSERT(a != b && gas->bodies[a].t <= gas->now && gas->bodies[b].t <= gas->now);
    event->a = gas->records[a].label, event->b = gas->records[b].label;
    *culprit = event->a;
    keep_version(gas, a);
    keep_version(gas, b);
    bool too_often = repeats_too_often(gas, a); /* both counters must be updated */
    too_often = repeats_too_often(gas, b) || too_often;
    if (too_often) return CAROM_GAS_STOP_COLLAPSE;
    if (gas->def.response == NULL) {
        carom_gas_contact contact =
            carom_gas_meet(&gas->rules, &gas->bodies[a], &gas->bodies[b], image, gas->now,
                           carom_gas_mass(gas, a), carom_gas_mass(gas, b));
        count_event(gas, event, contact.virial);
    } else if (!respond_pair(gas, a, b, image, event)) {
        return CAROM_GAS_STOP_RESPONSE;
    } else {
        ++gas->collisions;
    }
    if (gas->records[a].follower == b) gas->records[a].follower = CAROM_GAS_NO_SLOT;
    if (gas->records[b].follower == a) gas->records[b].follower = CAROM_GAS_NO_SLOT;
    carom_gas_trajectory_set(gas, a);
    carom_gas_trajectory_set(gas, b);
    predict_both(gas, a, b);
    return CAROM_GAS_STOP_STEPS;
}

static carom_gas_stop do_wall(carom_gas *gas, uint32_t slot, carom_gas_event *event,
                              uint32_t *culprit) {
    int side = (int)gas->records[slot].prediction.partner, axis = side / 2;
    carom_gas_body *body = &gas->bodies[slot];
    CAROM_ASSERT(axis < 3 && !gas->rules.periodic[axis] && body->t <= gas->now);
    event->a = gas->records[slot].label, event->b = (uint32_t)side;
    *culprit = event->a;
    keep_version(gas, slot);
    if (repeats_too_often(gas, slot)) return CAROM_GAS_STOP_COLLAPSE;
    if (gas->def.response == NULL) {
        carom_gas_bounce(&gas->rules, body, axis, side % 2, gas->now);
    } else {
        carom_gas_sphere sphere;
        carom_gas_body after = *body;
        carom_gas_rewrite(&gas->rules, &after, gas->now);
        show_sphere(gas, slot, &after, &sphere);
        double out = side % 2 != 0 ? 1.0 : -1.0;
        carom_vec3 n = {axis == 0 ? out : 0.0, axis == 1 ? out : 0.0, axis == 2 ? out : 0.0};
        gas->def.response(gas->def.response_user, event, &n, &sphere, NULL);
        if (!take_velocity(gas, &after, &sphere)) return CAROM_GAS_STOP_RESPONSE;
        *body = after;
    }
    count_event(gas, event, 0.0);
    carom_gas_trajectory_set(gas, slot);
    predict(gas, slot, false);
    carom_gas_queue_put(gas, slot);
    return CAROM_GAS_STOP_STEPS;
}

/* Tested after each event of a sphere. The next events of a too fast sphere are still predicted,
 * but no longer reliably in time. So each of its events reports it. */
static bool is_too_fast(const carom_gas *gas, uint32_t label, uint32_t *culprit) {
    *culprit = label;
    return !carom_gas_keeps_pace(gas, gas->bodies[gas->slot_of[label]].v);
}

/* The kind of an event as the caller sees it. */
static carom_gas_event_kind public_kind(const carom_gas_prediction *prediction) {
    return prediction->kind == CAROM_GAS_PREDICTION_PAIR ? CAROM_GAS_EVENT_KIND_PAIR
                                                         : CAROM_GAS_EVENT_KIND_WALL;
}

static carom_gas_stop do_event(carom_gas *gas, uint32_t slot, const carom_gas_observer *observer,
                               uint32_t *culprit) {
    const carom_gas_prediction *prediction = &gas->records[slot].prediction;
    CAROM_ASSERT(prediction->physical >= gas->now && !is_lower_bound(prediction));
    gas->now = prediction->physical;
    if (prediction->kind == CAROM_GAS_PREDICTION_REFRESH) {
        gas->waits += gas->now - gas->bodies[slot].t >= CAROM_GAS_HORIZON;
        keep_version(gas, slot);
        carom_gas_rewrite(&gas->rules, &gas->bodies[slot], gas->now);
        log_refresh(gas, slot);
        carom_gas_trajectory_set(gas, slot);
        predict(gas, slot, false);
        carom_gas_queue_put(gas, slot);
        bool fast = gas->watches_speed && is_too_fast(gas, gas->records[slot].label, culprit);
        return fast ? CAROM_GAS_STOP_FAST : CAROM_GAS_STOP_STEPS;
    }
    carom_gas_event event = {.time = carom_gas_time_of(gas, gas->now),
                             .kind = public_kind(prediction),
                             .index = gas->events};
    carom_gas_stop stop = prediction->kind == CAROM_GAS_PREDICTION_PAIR
                              ? do_pair(gas, slot, &event, culprit)
                              : do_wall(gas, slot, &event, culprit);
    if (stop != CAROM_GAS_STOP_STEPS) { /* the event did not happen and is still due */
        carom_gas_queue_put(gas, slot);
        return stop;
    }
    ++gas->events;
    if (observer->on_event != NULL && observer->on_event(observer->user, &event))
        stop = CAROM_GAS_STOP_EVENT;
    if (!gas->watches_speed) return stop;
    if (is_too_fast(gas, event.a, culprit) ||
        (event.kind == CAROM_GAS_EVENT_KIND_PAIR && is_too_fast(gas, event.b, culprit)))
        return CAROM_GAS_STOP_FAST;
    return stop;
}

/* ---- Event loop ------------------------------------------------------------------------------ */

/* True when the overflow cells for one step may have to be reserved. */
static inline bool lacks_overflow_cells(const carom_gas *gas) {
    return gas->cells.free_count < CAROM_GAS_STEP_OVERFLOW || gas->levels.count != 0;
}

carom_gas_stop CAROM_CPU(carom_gas_run)(carom_gas *gas, int64_t until, uint64_t steps,
                                        const carom_gas_observer *observer, uint32_t *culprit) {
    for (uint64_t step = 0; step < steps; ++step) {
        uint32_t slot;
        if (!carom_gas_queue_room(gas) ||
            (lacks_overflow_cells(gas) && !carom_gas_cells_reserve(gas)) ||
            !next_slot(gas, until, &slot))
            return CAROM_GAS_STOP_MEMORY;
        if (slot == CAROM_GAS_NO_SLOT) {
            gas->now = until;
            return CAROM_GAS_STOP_TIME;
        }
        CAROM_ASSERT(slot < gas->count && gas->slot_of[gas->records[slot].label] == slot);
        gas->records[slot].prediction.current = 0;
        if (carom_gas_due(&gas->records[slot].prediction) > gas->trajectories.until ||
            gas->trajectories.fast > gas->trajectories.most_fast) {
            gas->now = carom_gas_due(&gas->records[slot].prediction);
            if (gas->def.queue == CAROM_GAS_QUEUE_CALENDAR) carom_gas_calendar_put(gas, slot);
            return CAROM_GAS_STOP_RENEW;
        }
        if (is_internal(gas, slot)) {
            if (!do_internal(gas, slot)) return CAROM_GAS_STOP_LISTS;
            continue;
        }
        carom_gas_stop stop = do_event(gas, slot, observer, culprit);
        if (stop != CAROM_GAS_STOP_STEPS) return stop;
    }
    return CAROM_GAS_STOP_STEPS;
}

/* Leaves a sphere to a later pass. In this one nothing may happen to it any more, nor to the one
 * that it meets next. */
static void keep_for_later(carom_gas *gas, uint32_t slot) {
    carom_gas_part *part = gas->part;
    const carom_gas_prediction *prediction = &gas->records[slot].prediction;
    uint8_t *held = part->windows->held;
    held[slot] = CAROM_GAS_HELD_KEPT;
    carom_gas_part_push(gas, &part->kept, slot);
    carom_gas_part_push(gas, &part->marked, slot);
    if (!carom_gas_is_pair_kind(prediction) || prediction->physical > part->until) return;
    uint32_t partner = prediction->partner;
    if (part->region[partner] != part->lane || held[partner] != CAROM_GAS_HELD_FREE) return;
    held[partner] = CAROM_GAS_HELD_WAITS;
    carom_gas_part_push(gas, &part->marked, partner);
}

/* Codes of versions for one step; where there are none the window ends early. */
static bool has_codes(const carom_gas *gas) {
    return gas->part->versions.count + 2 <= CAROM_GAS_MOST_LOGGED;
}

/* Memory for what one step logs: what has happened can always be counted, and undone. */
static bool has_room(carom_gas *gas) {
    carom_gas_versions *versions = &gas->part->versions;
    carom_gas_happenings *happenings = &gas->part->happenings;
    return carom_gas_versions_reserve(versions, &gas->allocator, versions->count + 2) &&
           carom_gas_happenings_reserve(happenings, &gas->allocator, happenings->count + 1);
}

/* Homes are valid in all of the window only while no body is faster than the windows assume. */
static void check_speed(carom_gas *gas, uint32_t slot) {
    double fastest = gas->part->windows->fastest;
    const double *v = gas->bodies[slot].v;
    if (!(fabs(v[0]) <= fastest && fabs(v[1]) <= fastest && fabs(v[2]) <= fastest))
        gas->part->failed = true;
}

carom_gas_stop CAROM_CPU(carom_gas_run_part)(carom_gas *gas, uint32_t *culprit) {
    static const carom_gas_observer nobody = {NULL, NULL, false};
    carom_gas_part *part = gas->part;
    const bool is_last = part->region == NULL;
    for (; !part->failed && has_codes(gas); ++part->steps) {
        uint32_t slot;
        if (!has_room(gas) || !carom_gas_queue_room(gas) || !next_slot(gas, part->until, &slot) ||
            (is_last && !carom_gas_cells_reserve(gas))) {
            part->failed = part->no_memory = true;
            break;
        }
        if (carom_gas_least_free(gas) < CAROM_GAS_STEP_OVERFLOW) break;
        if (slot == CAROM_GAS_NO_SLOT) {
            gas->now = part->until;
            return CAROM_GAS_STOP_TIME;
        }
        CAROM_ASSERT(slot < gas->count && gas->slot_of[gas->records[slot].label] == slot);
        gas->records[slot].prediction.current = 0;
        if (!carom_gas_may_handle(gas, slot)) {
            keep_for_later(gas, slot);
            continue;
        }
        if (is_internal(gas, slot)) {
            if (!do_internal(gas, slot)) return CAROM_GAS_STOP_LISTS;
            continue;
        }
        uint32_t partner = gas->records[slot].prediction.partner;
        bool pair = gas->records[slot].prediction.kind == CAROM_GAS_PREDICTION_PAIR;
        carom_gas_stop stop = do_event(gas, slot, &nobody, culprit);
        if (stop != CAROM_GAS_STOP_STEPS) return stop;
        if (part->is_final) continue;
        check_speed(gas, slot);
        if (pair) check_speed(gas, partner);
    }
    part->failed = true;
    return part->no_memory ? CAROM_GAS_STOP_MEMORY : CAROM_GAS_STOP_STEPS;
}

bool CAROM_CPU(carom_gas_predict_some)(carom_gas *gas, uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; ++i) {
        if (lacks_overflow_cells(gas) && !carom_gas_cells_reserve(gas)) return false;
        predict(gas, (uint32_t)i, false);
    }
    return true;
}
