/* SPDX-License-Identifier: MIT */
/* scan.h: the earliest event of a sphere among many candidates; part of the loop in run_cpu.c.
 *
 * The candidates are brought to a common time, then solved in lanes by the item function, then the
 * few that could be first are compared by tick and rank. Of each sphere only the earliest physical
 * event is kept. */
#ifndef CAROM_SRC_GAS_SCAN_H
#define CAROM_SRC_GAS_SCAN_H

#include <string.h>

#include "gas/cells.h"

#define SLOT_MASK ((UINT32_C(1) << CAROM_GAS_SLOT_BITS) - 1)
#define MOST_NEAR (CAROM_GAS_BATCH + 2 * CAROM_GAS_CELL_SLOTS)

/* Is (kind, a, b) of one event before that of the other? Both are at the same tick. */
static inline bool ranks_before(const carom_gas *gas, uint32_t slot, uint8_t kind, uint32_t partner,
                                uint32_t other_slot, uint8_t other_kind, uint32_t other_partner) {
    if (kind != other_kind) return kind < other_kind;
    uint32_t a = gas->label[slot], c = gas->label[other_slot], b = partner, d = other_partner;
    if (kind == CAROM_GAS_PAIR) {
        b = gas->label[partner];
        d = gas->label[other_partner];
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
    int digit[3] = {(int)(code % 3), (int)(code / 3 % 3), (int)(code / 9)};
    for (int axis = 0; axis < 3; ++axis)
        image[axis] = digit[axis] - 1 + body->wraps[axis] - other->wraps[axis];
}

/* Bodies as the vectors they lie in memory; the fourth lane, time or count, is cleared, as it may
 * look like anything. */
typedef double lanes __attribute__((vector_size(32)));
typedef int64_t lane_bits __attribute__((vector_size(32)));

static inline void load_lanes(const double *from, lanes *to) {
    lane_bits bits;
    const lane_bits three = {-1, -1, -1, 0};
    memcpy(&bits, from, sizeof(bits));
    *to = (lanes)(bits & three);
}

/* Four vectors of three to three vectors of four. */
static inline void turn(const lanes *from, double *x, double *y, double *z) {
    lanes low = __builtin_shufflevector(from[0], from[1], 0, 4, 2, 6);
    lanes mid = __builtin_shufflevector(from[0], from[1], 1, 5, 3, 7);
    lanes low2 = __builtin_shufflevector(from[2], from[3], 0, 4, 2, 6);
    lanes mid2 = __builtin_shufflevector(from[2], from[3], 1, 5, 3, 7);
    lanes out[3] = {__builtin_shufflevector(low, low2, 0, 1, 4, 5),
                    __builtin_shufflevector(mid, mid2, 0, 1, 4, 5),
                    __builtin_shufflevector(low, low2, 2, 3, 6, 7)};
    memcpy(x, &out[0], sizeof(lanes));
    memcpy(y, &out[1], sizeof(lanes));
    memcpy(z, &out[2], sizeof(lanes));
}

/* What is known of the near ones on the way to their delays. */
typedef struct batch {
    lanes d[MOST_NEAR], u[MOST_NEAR]; /* place and velocity relative to the sphere */
    double wait[MOST_NEAR];           /* from the sphere's own time to the common one */
    double reach2[MOST_NEAR];
    double delay[MOST_NEAR]; /* from the common time */
    double from_own[MOST_NEAR];
} batch;

/* Brings each near one and the sphere to the later of their two times. `plain`: no acceleration and
 * one radius; `newest`: no near one is later than the sphere. What falls away adds exact zeros. */
static inline __attribute__((always_inline)) void gather(const carom_gas *gas, uint32_t slot,
                                                         const uint32_t *near, uint32_t count,
                                                         batch *batch, bool plain, bool newest) {
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *body = &gas->bodies[slot];
    lanes x, v;
    load_lanes(body->x, &x);
    load_lanes(body->v, &v);
    const int64_t t = body->t;
    const double tick = rules->tick;
    uint32_t wraps;
    memcpy(&wraps, body->wraps, sizeof(wraps));
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t other = near[i] & SLOT_MASK, code = near[i] >> CAROM_GAS_SLOT_BITS, its_wraps;
        const carom_gas_body *b = &gas->bodies[other];
        double apart = (double)(t - b->t) * tick;
        double own = newest || apart > 0.0 ? 0.0 : -apart;
        double its = newest || apart > 0.0 ? apart : 0.0;
        lanes xa = x, xb, va = v, vb;
        load_lanes(b->x, &xb);
        load_lanes(b->v, &vb);
        if (plain) {
            if (!newest) xa = x + va * own;
            xb = xb + vb * its;
        } else {
            double at[2][3], by[2][3];
            carom_gas_place(rules, body, own, at[0], by[0]);
            carom_gas_place(rules, b, its, at[1], by[1]);
            xa = (lanes){at[0][0], at[0][1], at[0][2], 0.0};
            va = (lanes){by[0][0], by[0][1], by[0][2], 0.0};
            xb = (lanes){at[1][0], at[1][1], at[1][2], 0.0};
            vb = (lanes){by[1][0], by[1][1], by[1][2], 0.0};
            double reach = carom_gas_reach(gas, slot, other);
            batch->reach2[i] = reach * reach;
        }
        lanes d = xb - xa;
        memcpy(&its_wraps, b->wraps, sizeof(its_wraps));
        if (((code ^ CAROM_GAS_HERE) | (wraps ^ its_wraps)) != 0) {
            int image[3];
            image_of(body, b, code, image);
            d = d + (lanes){(double)image[0] * rules->edge[0], (double)image[1] * rules->edge[1],
                            (double)image[2] * rules->edge[2], 0.0};
        }
        batch->d[i] = d;
        batch->u[i] = vb - va;
        if (!newest) batch->wait[i] = own;
    }
    const lanes zero = {0.0, 0.0, 0.0, 0.0};
    for (uint32_t i = count; i % 4 != 0; ++i) {
        batch->d[i] = batch->u[i] = zero; /* never meets */
        batch->wait[i] = batch->reach2[i] = 0.0;
    }
}

/* Delays of all, and the least of them as the sphere sees it. */
static inline __attribute__((always_inline)) double solve(const carom_gas *gas, uint32_t count,
                                                          batch *batch, bool plain, bool newest) {
    double dx[MOST_NEAR], dy[MOST_NEAR], dz[MOST_NEAR], ux[MOST_NEAR], uy[MOST_NEAR], uz[MOST_NEAR],
        common = gas->reach2;
    for (uint32_t i = 0; i < count; i += 4) {
        turn(&batch->d[i], &dx[i], &dy[i], &dz[i]);
        turn(&batch->u[i], &ux[i], &uy[i], &uz[i]);
    }
    uint32_t fours = (count + 3) / 4;
    for (uint32_t i = 0; i < 4 * fours; ++i)
        batch->delay[i] = carom_gas_pair_delay(dx[i], dy[i], dz[i], ux[i], uy[i], uz[i],
                                               plain ? common : batch->reach2[i]);
    double *from_own = batch->delay;
    if (!newest) {
        from_own = batch->from_own;
        for (uint32_t i = 0; i < 4 * fours; ++i) from_own[i] = batch->delay[i] + batch->wait[i];
    }
    lanes least = {CAROM_GAS_NEVER_DELAY, CAROM_GAS_NEVER_DELAY, CAROM_GAS_NEVER_DELAY,
                   CAROM_GAS_NEVER_DELAY};
    for (uint32_t i = 0; i < 4 * fours; i += 4) {
        lanes delay;
        memcpy(&delay, &from_own[i], sizeof(delay));
        lane_bits less = delay < least;
        least = (lanes)(((lane_bits)delay & less) | ((lane_bits)least & ~less));
    }
    double a = least[0] < least[1] ? least[0] : least[1];
    double b = least[2] < least[3] ? least[2] : least[3];
    return a < b ? a : b;
}

/* The near ones against sphere `slot`, the earliest meeting into its plan. The delays are compared
 * roughly; ticks and ties decide among those that are as good as equal. */
static inline __attribute__((always_inline)) void scan_as(const carom_gas *gas, uint32_t slot,
                                                          const uint32_t *near, uint32_t count,
                                                          carom_gas_plan *plan, bool plain,
                                                          bool newest) {
    batch batch;
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *body = &gas->bodies[slot];
    if (gas->prefetch)
        for (uint32_t i = 0; i < count; ++i) __builtin_prefetch(&gas->bodies[near[i] & SLOT_MASK]);
    gather(gas, slot, near, count, &batch, plain, newest);
    double least = solve(gas, count, &batch, plain, newest);
    if (!(least < CAROM_GAS_NEVER_DELAY)) return;
    double bound = least * (1.0 + 1e-15) + 4.0 * rules->tick;
    const double *from_own = newest ? batch.delay : batch.from_own;
    for (uint32_t i = 0; i < count; ++i) {
        if (!(from_own[i] <= bound)) continue;
        const carom_gas_body *b = &gas->bodies[near[i] & SLOT_MASK];
        int64_t time = carom_gas_after(rules, body->t > b->t ? body->t : b->t, batch.delay[i]);
        int image[3];
        image_of(body, b, near[i] >> CAROM_GAS_SLOT_BITS, image);
        offer(gas, slot, plan, time, CAROM_GAS_PAIR, near[i] & SLOT_MASK, b->count, image);
    }
}

static inline void scan(const carom_gas *gas, uint32_t slot, const uint32_t *near, uint32_t count,
                        carom_gas_plan *plan) {
    if (!gas->plain)
        scan_as(gas, slot, near, count, plan, false, false);
    else if (gas->bodies[slot].t == gas->now)
        scan_as(gas, slot, near, count, plan, true, true);
    else
        scan_as(gas, slot, near, count, plan, true, false);
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
