/* SPDX-License-Identifier: MIT */
/* The loop: take what is due first, do it, predict anew.
 *
 * Candidates are collected first, so that their cache lines are on the way, then brought to a
 * common time, then solved in lanes, then the few that will meet are compared. Of each sphere only
 * the earliest physical event is kept. */
#include <math.h>
#include <string.h>

#include "gas/lists.h"
#include "gas/queue.h"

#define LOOK_AHEAD 8
#define SLOT_MASK  ((UINT32_C(1) << CAROM_GAS_SLOT_BITS) - 1)
#define MOST_NEAR  (CAROM_GAS_BATCH + 2 * CAROM_GAS_CELL_SLOTS)

/* ---- the earliest of many -------------------------------------------------------------------- */

/* Is (kind, a, b) of one event before that of the other? Both are at the same tick. */
static bool ranks_before(const carom_gas *gas, uint32_t slot, uint8_t kind, uint32_t partner,
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

static void scan(const carom_gas *gas, uint32_t slot, const uint32_t *near, uint32_t count,
                 carom_gas_plan *plan) {
    if (!gas->plain)
        scan_as(gas, slot, near, count, plan, false, false);
    else if (gas->bodies[slot].t == gas->now)
        scan_as(gas, slot, near, count, plan, true, true);
    else
        scan_as(gas, slot, near, count, plan, true, false);
}

/* What needs no partner: walls and the refreshing of the body. */
static void scan_alone(const carom_gas *gas, uint32_t slot, carom_gas_plan *plan) {
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
    int64_t ticks = plan->physical - body->t;
    if (ticks < CAROM_GAS_HORIZON) {
        double span = carom_gas_span(rules, ticks), speed = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
            double v = body->v[axis] < 0.0 ? -body->v[axis] : body->v[axis];
            speed = v > speed ? v : speed;
        }
        if ((speed + gas->most_acceleration * span) * span < gas->safe_drift) return;
    }
    offer(gas, slot, plan, carom_gas_refresh_time(rules, body), CAROM_GAS_REFRESH, 0, 0, no_image);
}

/* ---- cells of the centre --------------------------------------------------------------------- */

/* Cells side by side, in this box. Slots fill a cell from the front, so all four places are written
 * and only the slots counted: a branch on the number would be guessed wrong every other time. False
 * when a cell is linked: then some are missing. */
static inline bool collect_row(const carom_gas_cell *cell, int cells, carom_gas_nears *nears) {
    const uint64_t high = UINT64_C(0x8000000080000000);
    const uint64_t here = (uint64_t)CAROM_GAS_HERE << CAROM_GAS_SLOT_BITS;
    bool simple = true;
    for (int i = 0; i < cells; ++i) {
        uint64_t pair[2];
        memcpy(pair, cell[i].slot, sizeof(pair));
        int empty = __builtin_popcountll((pair[0] & high) | (pair[1] & high) >> 1);
        simple &= !carom_gas_is_link(cell[i].slot[CAROM_GAS_CELL_SLOTS - 1]);
        pair[0] |= here | here << 32;
        pair[1] |= here | here << 32;
        memcpy(&nears->near[nears->count], pair, sizeof(pair));
        nears->count += (uint32_t)(CAROM_GAS_CELL_SLOTS - empty);
    }
    return simple;
}

/* The cells from..to around the sphere's own, where all lie in this box and none is linked; else
 * false. */
static inline bool collect_block(const carom_gas *gas, uint32_t slot, const int from[3],
                                 const int to[3], carom_gas_nears *nears) {
    const carom_gas_home *home = &gas->homes[slot];
    const carom_gas_cells *cells = &gas->cells;
    for (int axis = 0; axis < 3; ++axis)
        if (home->at[axis] == 0 || home->at[axis] + 1u >= cells->size[axis]) return false;
    bool simple = true;
    for (int k = from[2]; k <= to[2]; ++k)
        for (int j = from[1]; j <= to[1]; ++j) {
            uint64_t row =
                carom_gas_cell_index(cells, (uint64_t)(home->at[0] + from[0]),
                                     (uint64_t)(home->at[1] + j), (uint64_t)(home->at[2] + k));
            simple &= collect_row(&cells->cells[row], to[0] - from[0] + 1, nears);
        }
    return simple;
}

static inline bool collect_inside(const carom_gas *gas, uint32_t slot, carom_gas_nears *nears) {
    static const int from[3] = {-1, -1, -1}, to[3] = {1, 1, 1};
    return collect_block(gas, slot, from, to, nears);
}

/* The block of cells around the sphere's own, limited to from..to along each axis. */
static void scan_block(const carom_gas *gas, uint32_t slot, const int from[3], const int to[3],
                       carom_gas_plan *plan) {
    carom_gas_nears nears;
    nears.count = 0;
    if (!collect_block(gas, slot, from, to, &nears)) {
        nears.count = 0;
        for (int n = 0; n < 27; ++n) {
            int offset[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
            bool wanted = true;
            for (int axis = 0; axis < 3; ++axis)
                wanted &= offset[axis] >= from[axis] && offset[axis] <= to[axis];
            if (!wanted) continue;
            uint32_t code;
            const carom_gas_cell *cell = carom_gas_cell_beside(gas, &gas->homes[slot], n, &code);
            for (; cell != NULL; cell = carom_gas_cell_after(&gas->cells, cell)) {
                nears.count = carom_gas_cell_collect(cell, code, nears.near, nears.count);
                if (nears.count <= CAROM_GAS_BATCH - CAROM_GAS_CELL_SLOTS) continue;
                scan(gas, slot, nears.near, nears.count, plan);
                nears.count = 0;
            }
        }
    }
    scan(gas, slot, nears.near, nears.count, plan);
}

static void plan_crossing(const carom_gas *gas, uint32_t slot, carom_gas_plan *plan) {
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *body = &gas->bodies[slot];
    const carom_gas_home *home = &gas->homes[slot];
    double x[3], v[3], best = CAROM_GAS_NEVER_DELAY;
    carom_gas_place(rules, body, carom_gas_span(rules, gas->now - body->t), x, v);
    for (int axis = 0; axis < 3; ++axis) {
        double a = rules->acceleration[axis];
        if (!rules->accelerated) { /* one side only, one division */
            int side = v[axis] > 0.0;
            bool outermost = home->at[axis] == (side == 0 ? 0 : gas->cells.size[axis] - 1);
            if (v[axis] == 0.0 || (outermost && !rules->periodic[axis])) continue;
            double plane = (double)(home->at[axis] + side) * gas->cells.edge[axis] +
                           (double)body->wraps[axis] * rules->edge[axis];
            double delay = (plane - x[axis]) / v[axis];
            if (delay < best) {
                best = delay;
                plan->side = (uint8_t)(2 * axis + side);
            }
            continue;
        }
        double low = (double)home->at[axis] * gas->cells.edge[axis] +
                     (double)body->wraps[axis] * rules->edge[axis];
        for (int side = 0; side < 2; ++side) {
            bool outermost = home->at[axis] == (side == 0 ? 0 : gas->cells.size[axis] - 1);
            if (outermost && !rules->periodic[axis]) continue;
            double gap = side == 0 ? x[axis] - low : low + gas->cells.edge[axis] - x[axis];
            double delay = side == 0 ? carom_gas_fall_delay(gap, v[axis], a)
                                     : carom_gas_fall_delay(gap, -v[axis], -a);
            if (delay < best) {
                best = delay;
                plan->side = (uint8_t)(2 * axis + side);
            }
        }
    }
    plan->crossing = carom_gas_after(rules, gas->now, best > 0.0 ? best : 0.0);
}

static void cross_centre(carom_gas *gas, uint32_t slot) {
    carom_gas_plan *plan = &gas->plans[slot];
    carom_gas_home *home = &gas->homes[slot];
    int axis = plan->side / 2, offset = plan->side % 2 != 0 ? 1 : -1;
    uint32_t to, digit;
    (void)carom_gas_step_cell(gas, axis, home->at[axis], offset, &to, &digit);
    carom_gas_cells *cells = &gas->cells;
    carom_gas_cell_remove(cells, carom_gas_cell_index(cells, home->at[0], home->at[1], home->at[2]),
                          slot);
    home->at[axis] = (uint16_t)to;
    gas->bodies[slot].wraps[axis] = (int8_t)(gas->bodies[slot].wraps[axis] + (int)digit - 1);
    carom_gas_cell_add(cells, carom_gas_cell_index(cells, home->at[0], home->at[1], home->at[2]),
                       slot);
    int from[3] = {-1, -1, -1}, last[3] = {1, 1, 1};
    from[axis] = last[axis] = offset;
    scan_block(gas, slot, from, last, plan);
    plan_crossing(gas, slot, plan);
}

/* ---- lists of neighbours --------------------------------------------------------------------- */

static void scan_list(const carom_gas *gas, uint32_t slot, carom_gas_plan *plan) {
    const uint32_t *list = carom_gas_list_of(gas, slot);
    for (uint32_t from = 0; from < list[0]; from += CAROM_GAS_BATCH) {
        uint32_t left = list[0] - from;
        scan(gas, slot, list + 1 + from, left < CAROM_GAS_BATCH ? left : CAROM_GAS_BATCH, plan);
    }
}

/* When the sphere may have strayed too far. With an acceleration a bound, else exact. */
static void plan_renewal(const carom_gas *gas, uint32_t slot, carom_gas_plan *plan) {
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *body = &gas->bodies[slot];
    const float *centre = gas->lists.centres[slot].x;
    double x[3], v[3], b = 0.0, vv = 0.0, yy = 0.0, leeway = gas->lists.leeway;
    carom_gas_place(rules, body, carom_gas_span(rules, gas->now - body->t), x, v);
    for (int axis = 0; axis < 3; ++axis) {
        double y = x[axis] - (double)body->wraps[axis] * rules->edge[axis] - (double)centre[axis];
        b += y * v[axis];
        vv += v[axis] * v[axis];
        yy += y * y;
    }
    double delay = CAROM_GAS_NEVER_DELAY;
    if (rules->accelerated) {
        double gap = leeway - sqrt(yy), a = 0.0;
        for (int axis = 0; axis < 3; ++axis)
            a += rules->acceleration[axis] * rules->acceleration[axis];
        gap = gap > 0.0 ? gap : 0.0;
        delay = 2.0 * gap / (sqrt(vv) + sqrt(vv + 2.0 * sqrt(a) * gap));
    } else if (vv > 0.0) {
        double gap = leeway * leeway - yy;
        double root = sqrt(b * b + vv * (gap > 0.0 ? gap : 0.0));
        delay = b > 0.0 ? gap / (root + b) : (root - b) / vv;
    }
    plan->crossing = carom_gas_after(rules, gas->now, delay > 0.0 ? delay : 0.0);
}

static bool is_listed(const uint32_t *words, uint32_t count, uint32_t near) {
    bool found = false;
    for (uint32_t i = 0; i < count; ++i) found |= words[i] == near;
    return found;
}

/* The neighbours of a sphere whose centre has just been set; false when there are too many. */
static bool collect_list(const carom_gas *gas, uint32_t slot, uint32_t *fresh, uint32_t *count) {
    carom_gas_nears nears;
    nears.count = 0;
    *count = 0;
    if (collect_inside(gas, slot, &nears)) {
        for (uint32_t i = 0; i < nears.count; ++i)
            __builtin_prefetch(&gas->lists.centres[nears.near[i] & SLOT_MASK]);
        for (uint32_t i = 0; i < nears.count; ++i) {
            uint32_t other = nears.near[i] & SLOT_MASK;
            fresh[*count] = nears.near[i];
            *count += carom_gas_lists_meet(gas, slot, other, CAROM_GAS_HERE) & (other != slot);
        }
        return *count <= gas->lists.capacity;
    }
    for (int n = 0; n < 27; ++n) {
        uint32_t code;
        const carom_gas_cell *cell = carom_gas_cell_beside(gas, &gas->homes[slot], n, &code);
        while (cell != NULL) {
            for (int k = 0; k < CAROM_GAS_CELL_SLOTS; ++k) {
                uint32_t other = cell->slot[k];
                if (other >= CAROM_GAS_LINK || other == slot) continue;
                if (!carom_gas_lists_meet(gas, slot, other, code)) continue;
                if (*count == gas->lists.capacity) return false;
                fresh[(*count)++] = carom_gas_near(other, code);
            }
            cell = carom_gas_cell_after(&gas->cells, cell);
        }
    }
    return true;
}

/* A new list for a sphere that has strayed; only those that are new to it are looked at. False, and
 * the sphere is as it was, when a list is full. */
static bool renew_list(carom_gas *gas, uint32_t slot) {
    uint32_t fresh[CAROM_GAS_MOST_LISTED + CAROM_GAS_BATCH], news[CAROM_GAS_MOST_LISTED], count,
        added = 0;
    uint32_t *list = carom_gas_list_of(gas, slot);
    carom_gas_cells *cells = &gas->cells;
    const carom_gas_home before = gas->homes[slot], *home = &gas->homes[slot];
    const carom_gas_centre centre = gas->lists.centres[slot];
    const carom_gas_body body = gas->bodies[slot];
    carom_gas_list_centre(gas, slot);
    bool fits = collect_list(gas, slot, fresh, &count);
    for (uint32_t i = 0; i < count && fits; ++i) {
        if (is_listed(list + 1, list[0], fresh[i])) continue;
        fits = carom_gas_list_of(gas, fresh[i] & SLOT_MASK)[0] < gas->lists.capacity;
        news[added++] = fresh[i];
    }
    if (!fits) {
        gas->lists.centres[slot] = centre;
        gas->homes[slot] = before;
        gas->bodies[slot] = body;
        return false;
    }
    for (uint32_t i = 1; i <= list[0]; ++i)
        if (!is_listed(fresh, count, list[i]))
            carom_gas_list_drop(carom_gas_list_of(gas, list[i] & SLOT_MASK),
                                carom_gas_near_back(list[i], slot));
    for (uint32_t i = 0; i < added; ++i) {
        uint32_t *its = carom_gas_list_of(gas, news[i] & SLOT_MASK);
        its[++its[0]] = carom_gas_near_back(news[i], slot);
    }
    memcpy(list + 1, fresh, count * sizeof(*list));
    list[0] = count;
    if (memcmp(home, &before, sizeof(before)) != 0) {
        carom_gas_cell_remove(
            cells, carom_gas_cell_index(cells, before.at[0], before.at[1], before.at[2]), slot);
        carom_gas_cell_add(
            cells, carom_gas_cell_index(cells, home->at[0], home->at[1], home->at[2]), slot);
    }
    scan(gas, slot, news, added, &gas->plans[slot]);
    plan_renewal(gas, slot, &gas->plans[slot]);
    return true;
}

/* ---- one sphere ------------------------------------------------------------------------------ */

static void predict(carom_gas *gas, uint32_t slot) {
    static const int from[3] = {-1, -1, -1}, to[3] = {1, 1, 1};
    carom_gas_plan *plan = &gas->plans[slot];
    ++gas->predictions;
    plan->physical = CAROM_GAS_NEVER;
    plan->kind = CAROM_GAS_REFRESH;
    if (gas->method == CAROM_GAS_NEIGHBOURS) {
        scan_list(gas, slot, plan);
        plan_renewal(gas, slot, plan);
    } else {
        scan_block(gas, slot, from, to, plan);
        plan_crossing(gas, slot, plan);
    }
    scan_alone(gas, slot, plan);
}

static bool is_stale(const carom_gas *gas, const carom_gas_plan *plan) {
    return plan->kind == CAROM_GAS_PAIR && gas->bodies[plan->partner].count != plan->partner_count;
}

/* Things the caller never sees: crossings and stale events. */
static bool is_inner(const carom_gas *gas, uint32_t slot) {
    const carom_gas_plan *plan = &gas->plans[slot];
    return plan->crossing <= plan->physical || is_stale(gas, plan);
}

static bool do_inner(carom_gas *gas, uint32_t slot) {
    carom_gas_plan *plan = &gas->plans[slot];
    bool done = true;
    gas->now = carom_gas_due(plan);
    gas->crossings += plan->crossing <= plan->physical;
    if (plan->crossing > plan->physical)
        predict(gas, slot);
    else if (gas->method == CAROM_GAS_NEIGHBOURS)
        done = renew_list(gas, slot);
    else
        cross_centre(gas, slot);
    carom_gas_queue_put(gas, slot);
    return done;
}

/* ---- what happens ---------------------------------------------------------------------------- */

static void add_total(carom_gas_total *total, double value) {
    double sum = total->sum + value;
    total->rest +=
        fabs(total->sum) >= fabs(value) ? (total->sum - sum) + value : (value - sum) + total->sum;
    total->sum = sum;
}

static void show_sphere(const carom_gas *gas, uint32_t slot, const carom_gas_body *body,
                        carom_gas_sphere *sphere) {
    sphere->position = (carom_vec3){body->x[0], body->x[1], body->x[2]};
    sphere->velocity = (carom_vec3){body->v[0], body->v[1], body->v[2]};
    sphere->radius = gas->radius[slot];
    sphere->mass = gas->mass[slot];
}

static bool take_velocity(carom_gas_body *body, const carom_gas_sphere *sphere) {
    double *v = body->v;
    v[0] = sphere->velocity.x, v[1] = sphere->velocity.y, v[2] = sphere->velocity.z;
    return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]);
}

/* The caller's law between two spheres; false, and nothing changed, when it gives no numbers. */
static bool respond_pair(carom_gas *gas, uint32_t slot_a, uint32_t slot_b, const int image[3],
                         const carom_gas_event *event) {
    carom_gas_body a = gas->bodies[slot_a], b = gas->bodies[slot_b];
    carom_gas_contact contact =
        carom_gas_meet(&gas->rules, &a, &b, image, gas->now, gas->mass[slot_a], gas->mass[slot_b]);
    carom_gas_body before_a = gas->bodies[slot_a], before_b = gas->bodies[slot_b];
    carom_gas_rewrite(&gas->rules, &before_a, gas->now);
    carom_gas_rewrite(&gas->rules, &before_b, gas->now);
    carom_gas_sphere sphere_a, sphere_b;
    carom_vec3 n = {contact.normal[0], contact.normal[1], contact.normal[2]};
    double reach = carom_gas_reach(gas, slot_a, slot_b);
    show_sphere(gas, slot_a, &before_a, &sphere_a);
    show_sphere(gas, slot_b, &before_b, &sphere_b);
    sphere_b.position =
        (carom_vec3){sphere_a.position.x + reach * n.x, sphere_a.position.y + reach * n.y,
                     sphere_a.position.z + reach * n.z};
    gas->def.response(gas->def.response_user, event, &n, &sphere_a, &sphere_b);
    if (!take_velocity(&a, &sphere_a) || !take_velocity(&b, &sphere_b)) return false;
    double push = (b.v[0] - before_b.v[0]) * n.x + (b.v[1] - before_b.v[1]) * n.y +
                  (b.v[2] - before_b.v[2]) * n.z;
    add_total(&gas->virial, gas->mass[slot_b] * push * reach);
    gas->bodies[slot_a] = a;
    gas->bodies[slot_b] = b;
    return true;
}

/* Counts events of a sphere that come without time passing. */
static bool repeats_too_often(carom_gas *gas, uint32_t slot) {
    carom_gas_plan *plan = &gas->plans[slot];
    plan->repeats = gas->bodies[slot].t == gas->now ? (uint16_t)(plan->repeats + 1) : 0;
    return plan->repeats == UINT16_MAX;
}

static carom_gas_stop do_pair(carom_gas *gas, uint32_t slot, carom_gas_event *event,
                              uint32_t *culprit) {
    const carom_gas_plan plan = gas->plans[slot];
    uint32_t a = slot, b = plan.partner;
    int image[3] = {plan.image[0], plan.image[1], plan.image[2]};
    if (gas->label[a] > gas->label[b]) {
        a = plan.partner, b = slot;
        for (int axis = 0; axis < 3; ++axis) image[axis] = -image[axis];
    }
    event->a = gas->label[a], event->b = gas->label[b];
    *culprit = event->a;
    if (repeats_too_often(gas, a) | repeats_too_often(gas, b)) return CAROM_GAS_STOP_COLLAPSE;
    if (gas->def.response == NULL) {
        carom_gas_contact contact = carom_gas_meet(&gas->rules, &gas->bodies[a], &gas->bodies[b],
                                                   image, gas->now, gas->mass[a], gas->mass[b]);
        add_total(&gas->virial, contact.virial);
    } else if (!respond_pair(gas, a, b, image, event)) {
        return CAROM_GAS_STOP_RESPONSE;
    }
    ++gas->collisions;
    predict(gas, a);
    carom_gas_queue_put(gas, a);
    predict(gas, b);
    carom_gas_queue_put(gas, b);
    return CAROM_GAS_STOP_STEPS;
}

static carom_gas_stop do_wall(carom_gas *gas, uint32_t slot, carom_gas_event *event,
                              uint32_t *culprit) {
    int side = (int)gas->plans[slot].partner, axis = side / 2;
    carom_gas_body *body = &gas->bodies[slot];
    event->a = gas->label[slot], event->b = (uint32_t)side;
    *culprit = event->a;
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
        if (!take_velocity(&after, &sphere)) return CAROM_GAS_STOP_RESPONSE;
        *body = after;
    }
    ++gas->wall_hits;
    predict(gas, slot);
    carom_gas_queue_put(gas, slot);
    return CAROM_GAS_STOP_STEPS;
}

static carom_gas_stop do_event(carom_gas *gas, uint32_t slot, uint32_t *culprit) {
    const carom_gas_plan *plan = &gas->plans[slot];
    gas->now = plan->physical;
    if (plan->kind == CAROM_GAS_REFRESH) {
        carom_gas_rewrite(&gas->rules, &gas->bodies[slot], gas->now);
        predict(gas, slot);
        carom_gas_queue_put(gas, slot);
        return CAROM_GAS_STOP_STEPS;
    }
    carom_gas_event event = {.time = carom_gas_time_of(gas, gas->now),
                             .kind = (carom_gas_kind)plan->kind,
                             .number = gas->events};
    carom_gas_stop stop = plan->kind == CAROM_GAS_PAIR ? do_pair(gas, slot, &event, culprit)
                                                       : do_wall(gas, slot, &event, culprit);
    if (stop != CAROM_GAS_STOP_STEPS) { /* it did not happen: still due */
        carom_gas_queue_put(gas, slot);
        return stop;
    }
    ++gas->events;
    if (gas->on_event != NULL && gas->on_event(gas->on_event_user, &event))
        return CAROM_GAS_STOP_EVENT;
    return CAROM_GAS_STOP_STEPS;
}

/* ---- asking for memory in time ----------------------------------------------------------------
 */

/* Rows of cells around a home; rows in other boxes are left to chance. */
static inline void touch_rows(const carom_gas *gas, const carom_gas_home *home) {
    const carom_gas_cells *cells = &gas->cells;
    const carom_gas_cell *own =
        &cells->cells[carom_gas_cell_index(cells, home->at[0], home->at[1], home->at[2])];
    int64_t row = cells->size[0], plane = row * cells->size[1];
    for (int64_t k = -1; k <= 1; ++k)
        for (int64_t j = -1; j <= 1; ++j) __builtin_prefetch(own + k * plane + j * row);
}

static inline void touch_list(const carom_gas *gas, uint32_t slot) {
    const uint32_t *list = carom_gas_list_of(gas, slot);
    for (uint32_t i = 1; i <= list[0]; ++i) __builtin_prefetch(&gas->bodies[list[i] & SLOT_MASK]);
}

static inline void touch_around(const carom_gas *gas, uint32_t slot) {
    carom_gas_nears nears;
    nears.count = 0;
    (void)collect_inside(gas, slot, &nears);
    for (uint32_t i = 0; i < nears.count; ++i)
        __builtin_prefetch(&gas->bodies[nears.near[i] & SLOT_MASK]);
}

/* The window says what comes next. Three stages, each asking for what the next will follow. */
static inline void look_ahead(const carom_gas *gas) {
    const carom_gas_entry *entry = &gas->calendar.window[gas->calendar.window_head];
    uint64_t count = gas->calendar.window_tail - gas->calendar.window_head;
    bool lists = gas->method == CAROM_GAS_NEIGHBOURS;
    if (count > 6) {
        uint32_t slot = entry[6].slot;
        const carom_gas_plan *plan = &gas->plans[slot];
        __builtin_prefetch(&gas->bodies[slot], 1);
        if (lists)
            __builtin_prefetch(carom_gas_list_of(gas, slot));
        else
            __builtin_prefetch(&gas->homes[slot]);
        if (plan->kind == CAROM_GAS_PAIR && plan->physical < plan->crossing) {
            __builtin_prefetch(&gas->bodies[plan->partner], 1);
            __builtin_prefetch(&gas->plans[plan->partner], 1);
            if (lists)
                __builtin_prefetch(carom_gas_list_of(gas, plan->partner));
            else
                __builtin_prefetch(&gas->homes[plan->partner]);
        }
    }
    if (count > 3 && !lists) {
        const carom_gas_plan *plan = &gas->plans[entry[3].slot];
        touch_rows(gas, &gas->homes[entry[3].slot]);
        if (plan->kind == CAROM_GAS_PAIR && plan->physical < plan->crossing)
            touch_rows(gas, &gas->homes[plan->partner]);
    }
    if (count > 2) {
        uint32_t slot = entry[2].slot;
        const carom_gas_plan *plan = &gas->plans[slot];
        if (plan->kind != CAROM_GAS_PAIR || plan->physical >= plan->crossing) {
            if (!lists) touch_around(gas, slot);
        } else if (lists) {
            touch_list(gas, slot);
            touch_list(gas, plan->partner);
        } else {
            touch_around(gas, slot);
            touch_around(gas, plan->partner);
        }
    }
}

/* ---- taking turns ---------------------------------------------------------------------------- */

/* Several spheres are due at one tick: inner work first, then by (kind, a, b). */
static uint32_t choose(const carom_gas *gas, uint32_t best, uint32_t slot) {
    if (is_inner(gas, best)) return best;
    if (is_inner(gas, slot)) return slot;
    const carom_gas_plan *p = &gas->plans[best], *q = &gas->plans[slot];
    return ranks_before(gas, slot, q->kind, q->partner, best, p->kind, p->partner) ? slot : best;
}

static uint32_t choose_in_tree(const carom_gas *gas, uint64_t at, int64_t time, uint32_t best) {
    for (uint64_t child = 2 * at + 1; child <= 2 * at + 2 && child < gas->tree.count; ++child) {
        uint32_t slot = gas->tree.heap[child];
        if (carom_gas_due(&gas->plans[slot]) != time) continue;
        best = choose_in_tree(gas, child, time, choose(gas, best, slot));
    }
    return best;
}

/* The slot to be handled next, CAROM_GAS_NO_SLOT when nothing is due up to `until`; false when
 * there was no memory. */
static bool next_slot(carom_gas *gas, int64_t until, uint32_t *next) {
    *next = CAROM_GAS_NO_SLOT;
    if (gas->def.queue == CAROM_GAS_TREE) {
        if (gas->tree.count == 0) return true;
        uint32_t slot = gas->tree.heap[0];
        int64_t time = carom_gas_due(&gas->plans[slot]);
        if (time <= until) *next = choose_in_tree(gas, 0, time, slot);
        return true;
    }
    carom_gas_calendar *calendar = &gas->calendar;
    for (;;) {
        while (calendar->window_head < calendar->window_tail &&
               !carom_gas_entry_alive(gas, calendar->window[calendar->window_head]))
            ++calendar->window_head;
        if (calendar->window_head < calendar->window_tail) break;
        if (gas->count == 0 || calendar->base > until >> calendar->shift) return true;
        if (!carom_gas_calendar_load(gas, until)) return false;
    }
    if (gas->prefetch) {
        if (calendar->window_tail - calendar->window_head < LOOK_AHEAD &&
            !carom_gas_calendar_load(gas, until))
            return false;
        look_ahead(gas);
    }
    const carom_gas_entry *entry = &calendar->window[calendar->window_head];
    if (entry->time > until) return true;
    uint32_t best = entry->slot;
    for (uint64_t i = calendar->window_head + 1;
         i < calendar->window_tail && calendar->window[i].time == entry->time; ++i)
        if (carom_gas_entry_alive(gas, calendar->window[i]))
            best = choose(gas, best, calendar->window[i].slot);
    *next = best;
    return true;
}

carom_gas_stop CAROM_CPU(carom_gas_run)(carom_gas *gas, int64_t until, uint64_t steps,
                                        uint32_t *culprit) {
    for (uint64_t step = 0; step < steps; ++step) {
        uint32_t slot;
        if (!carom_gas_queue_room(gas) || !carom_gas_cells_room(gas) ||
            !next_slot(gas, until, &slot))
            return CAROM_GAS_STOP_ROOM;
        if (slot == CAROM_GAS_NO_SLOT) {
            gas->now = until;
            return CAROM_GAS_STOP_TIME;
        }
        gas->plans[slot].current = 0;
        if (is_inner(gas, slot)) {
            if (!do_inner(gas, slot)) return CAROM_GAS_STOP_LISTS;
            continue;
        }
        carom_gas_stop stop = do_event(gas, slot, culprit);
        if (stop != CAROM_GAS_STOP_STEPS) return stop;
    }
    return CAROM_GAS_STOP_STEPS;
}

void CAROM_CPU(carom_gas_predict_all)(carom_gas *gas) {
    for (uint64_t i = 0; i < gas->count; ++i) predict(gas, (uint32_t)i);
}
