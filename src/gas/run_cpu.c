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

#define LARGEST_LIST 1024
#define MOST_NEAR    (CAROM_GAS_BATCH + 2 * CAROM_GAS_CELL_SLOTS)

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

/* The near ones against sphere `slot`, the earliest meeting into its plan. `plain`: no acceleration
 * and one radius, so that what is not needed falls away. */
static inline __attribute__((always_inline)) void scan_as(const carom_gas *gas, uint32_t slot,
                                                          const uint32_t *near, uint32_t count,
                                                          carom_gas_plan *plan, bool plain) {
    double dx[MOST_NEAR], dy[MOST_NEAR], dz[MOST_NEAR], ux[MOST_NEAR], uy[MOST_NEAR], uz[MOST_NEAR],
        reach2[MOST_NEAR], delay[MOST_NEAR];
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body body = gas->bodies[slot];
    const uint32_t mask = (UINT32_C(1) << CAROM_GAS_SLOT_BITS) - 1;
    const double tick = rules->tick;
    uint32_t wraps;
    memcpy(&wraps, body.wraps, sizeof(wraps));
    for (uint32_t i = 0; i < count; ++i) __builtin_prefetch(&gas->bodies[near[i] & mask]);
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t other = near[i] & mask, code = near[i] >> CAROM_GAS_SLOT_BITS, its_wraps;
        const carom_gas_body *b = &gas->bodies[other];
        double apart = (double)(body.t - b->t) * tick, xa[3], va[3], xb[3], vb[3], d[3];
        double own = apart < 0.0 ? -apart : 0.0, its = apart > 0.0 ? apart : 0.0;
        if (plain) {
            for (int axis = 0; axis < 3; ++axis) {
                xa[axis] = body.x[axis] + (va[axis] = body.v[axis]) * own;
                xb[axis] = b->x[axis] + (vb[axis] = b->v[axis]) * its;
            }
        } else {
            carom_gas_place(rules, &body, own, xa, va);
            carom_gas_place(rules, b, its, xb, vb);
            double reach = carom_gas_reach(gas, slot, other);
            reach2[i] = reach * reach;
        }
        for (int axis = 0; axis < 3; ++axis) d[axis] = xb[axis] - xa[axis];
        memcpy(&its_wraps, b->wraps, sizeof(its_wraps));
        if (((code ^ CAROM_GAS_HERE) | (wraps ^ its_wraps)) != 0) {
            int image[3];
            image_of(&body, b, code, image);
            for (int axis = 0; axis < 3; ++axis)
                d[axis] = d[axis] + (double)image[axis] * rules->edge[axis];
        }
        dx[i] = d[0], dy[i] = d[1], dz[i] = d[2];
        ux[i] = vb[0] - va[0], uy[i] = vb[1] - va[1], uz[i] = vb[2] - va[2];
    }
    double common = gas->reach2;
    for (uint32_t i = 0; i < count; ++i)
        delay[i] = carom_gas_pair_delay(dx[i], dy[i], dz[i], ux[i], uy[i], uz[i],
                                        plain ? common : reach2[i]);
    for (uint32_t i = 0; i < count; ++i) {
        if (!(delay[i] < CAROM_GAS_NEVER_DELAY)) continue;
        uint32_t other = near[i] & mask, code = near[i] >> CAROM_GAS_SLOT_BITS;
        const carom_gas_body *b = &gas->bodies[other];
        int64_t time = carom_gas_after(rules, body.t > b->t ? body.t : b->t, delay[i]);
        if (time > plan->physical) continue;
        int image[3];
        image_of(&body, b, code, image);
        offer(gas, slot, plan, time, CAROM_GAS_PAIR, other, b->count, image);
    }
}

static void scan(const carom_gas *gas, uint32_t slot, const uint32_t *near, uint32_t count,
                 carom_gas_plan *plan) {
    if (gas->plain)
        scan_as(gas, slot, near, count, plan, true);
    else
        scan_as(gas, slot, near, count, plan, false);
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

static void scan_cell(const carom_gas *gas, uint32_t slot, uint64_t index, uint32_t code,
                      carom_gas_nears *nears, carom_gas_plan *plan) {
    const carom_gas_cell *cell = &gas->cells.cells[index];
    for (;;) {
        nears->count = carom_gas_cell_collect(cell, code, nears->near, nears->count);
        if (nears->count > CAROM_GAS_BATCH - CAROM_GAS_CELL_SLOTS) {
            scan(gas, slot, nears->near, nears->count, plan);
            nears->count = 0;
        }
        uint32_t last = cell->slot[CAROM_GAS_CELL_SLOTS - 1];
        if (!carom_gas_is_link(last)) return;
        cell = carom_gas_linked(&gas->cells, last);
    }
}

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

/* The block of cells around the sphere's own, limited to `from`..`to` along each axis. */
static void scan_block(const carom_gas *gas, uint32_t slot, const int from[3], const int to[3],
                       carom_gas_plan *plan) {
    const carom_gas_home *home = &gas->homes[slot];
    const carom_gas_cells *cells = &gas->cells;
    carom_gas_nears nears;
    nears.count = 0;
    bool inside = true;
    for (int axis = 0; axis < 3; ++axis)
        inside &= home->at[axis] != 0 && home->at[axis] + 1u < cells->size[axis];
    if (inside) {
        bool simple = true;
        for (int k = from[2]; k <= to[2]; ++k)
            for (int j = from[1]; j <= to[1]; ++j) {
                uint64_t row =
                    carom_gas_cell_index(cells, (uint64_t)(home->at[0] + from[0]),
                                         (uint64_t)(home->at[1] + j), (uint64_t)(home->at[2] + k));
                simple &= collect_row(&cells->cells[row], to[0] - from[0] + 1, &nears);
            }
        if (simple) {
            scan(gas, slot, nears.near, nears.count, plan);
            return;
        }
        nears.count = 0;
    }
    uint32_t x, y, z, digit_x, digit_y, digit_z;
    for (int k = from[2]; k <= to[2]; ++k) {
        if (!carom_gas_step_cell(gas, 2, home->at[2], k, &z, &digit_z)) continue;
        for (int j = from[1]; j <= to[1]; ++j) {
            if (!carom_gas_step_cell(gas, 1, home->at[1], j, &y, &digit_y)) continue;
            for (int i = from[0]; i <= to[0]; ++i) {
                if (!carom_gas_step_cell(gas, 0, home->at[0], i, &x, &digit_x)) continue;
                scan_cell(gas, slot, carom_gas_cell_index(cells, x, y, z),
                          digit_x + 3 * digit_y + 9 * digit_z, &nears, plan);
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
    carom_gas_list *list = carom_gas_list_of(gas, slot);
    const uint32_t *words = carom_gas_list_words(list);
    for (uint32_t from = 0; from < list->count; from += CAROM_GAS_BATCH) {
        uint32_t left = list->count - from;
        scan(gas, slot, words + from, left < CAROM_GAS_BATCH ? left : CAROM_GAS_BATCH, plan);
    }
}

/* When the sphere may have strayed too far. With an acceleration a bound, else exact. */
static void plan_renewal(const carom_gas *gas, uint32_t slot, carom_gas_plan *plan) {
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *body = &gas->bodies[slot];
    const carom_gas_list *list = carom_gas_list_of(gas, slot);
    double x[3], v[3], b = 0.0, vv = 0.0, yy = 0.0, leeway = gas->lists.leeway;
    carom_gas_place(rules, body, carom_gas_span(rules, gas->now - body->t), x, v);
    for (int axis = 0; axis < 3; ++axis) {
        double y = x[axis] - (double)body->wraps[axis] * rules->edge[axis] - list->centre[axis];
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
    *count = 0;
    for (int n = 0; n < 27; ++n) {
        int offset[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        uint32_t to[3], digit[3];
        bool inside = true;
        for (int axis = 0; axis < 3; ++axis)
            inside &= carom_gas_step_cell(gas, axis, gas->homes[slot].at[axis], offset[axis],
                                          &to[axis], &digit[axis]);
        if (!inside) continue;
        uint32_t code = digit[0] + 3 * digit[1] + 9 * digit[2];
        const carom_gas_cell *cell =
            &gas->cells.cells[carom_gas_cell_index(&gas->cells, to[0], to[1], to[2])];
        for (;;) {
            uint32_t last = cell->slot[CAROM_GAS_CELL_SLOTS - 1];
            for (int k = 0; k < CAROM_GAS_CELL_SLOTS; ++k) {
                uint32_t other = cell->slot[k];
                if (other >= CAROM_GAS_LINK || other == slot) continue;
                if (!carom_gas_lists_meet(gas, slot, other, code)) continue;
                if (*count == gas->lists.capacity) return false;
                fresh[(*count)++] = carom_gas_near(other, code);
            }
            if (!carom_gas_is_link(last)) break;
            cell = carom_gas_linked(&gas->cells, last);
        }
    }
    return true;
}

/* A new list for a sphere that has strayed; only those that are new to it are looked at. False, and
 * the sphere is as it was, when a list is full. */
static bool renew_list(carom_gas *gas, uint32_t slot) {
    uint32_t mask = (UINT32_C(1) << CAROM_GAS_SLOT_BITS) - 1, count, added = 0;
    carom_gas_list *list = carom_gas_list_of(gas, slot), old = *list;
    uint32_t *words = carom_gas_list_words(list);
    carom_gas_cells *cells = &gas->cells;
    carom_gas_home before = gas->homes[slot];
    carom_gas_body body = gas->bodies[slot];
    uint32_t fresh[LARGEST_LIST], news[LARGEST_LIST];
    carom_gas_list_centre(gas, slot);
    bool fits = collect_list(gas, slot, fresh, &count);
    for (uint32_t i = 0; i < count && fits; ++i) {
        if (is_listed(words, list->count, fresh[i])) continue;
        fits = carom_gas_list_of(gas, fresh[i] & mask)->count < gas->lists.capacity;
        news[added++] = fresh[i];
    }
    if (!fits) {
        *list = old;
        gas->homes[slot] = before;
        gas->bodies[slot] = body;
        return false;
    }
    for (uint32_t i = 0; i < list->count; ++i)
        if (!is_listed(fresh, count, words[i]))
            carom_gas_list_drop(carom_gas_list_of(gas, words[i] & mask),
                                carom_gas_near_back(words[i], slot));
    for (uint32_t i = 0; i < added; ++i) {
        carom_gas_list *its = carom_gas_list_of(gas, news[i] & mask);
        carom_gas_list_words(its)[its->count++] = carom_gas_near_back(news[i], slot);
    }
    memcpy(words, fresh, count * sizeof(*words));
    list->count = count;
    const carom_gas_home *home = &gas->homes[slot];
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
