/* SPDX-License-Identifier: MIT */
/* The loop: take what is due first, do it, predict anew.
 *
 * Candidates are collected first, so that their cache lines are on the way, then brought to a
 * common time, then solved in lanes, then the few that will meet are compared. Of each sphere only
 * the earliest physical event is kept. */
#include <math.h>
#include <string.h>

#include "gas/cells.h"
#include "gas/queue.h"

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

/* The near ones against sphere `slot`, the earliest meeting into its plan. */
static void scan(const carom_gas *gas, uint32_t slot, const uint32_t *near, uint32_t count,
                 carom_gas_plan *plan) {
    double dx[CAROM_GAS_BATCH + 8], dy[CAROM_GAS_BATCH + 8], dz[CAROM_GAS_BATCH + 8];
    double ux[CAROM_GAS_BATCH + 8], uy[CAROM_GAS_BATCH + 8], uz[CAROM_GAS_BATCH + 8];
    double reach2[CAROM_GAS_BATCH + 8], delay[CAROM_GAS_BATCH + 8];
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *body = &gas->bodies[slot];
    uint32_t mask = (UINT32_C(1) << CAROM_GAS_SLOT_BITS) - 1;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t other = near[i] & mask, code = near[i] >> CAROM_GAS_SLOT_BITS;
        const carom_gas_body *b = &gas->bodies[other];
        int64_t apart = body->t - b->t;
        double own = carom_gas_span(rules, apart < 0 ? -apart : 0);
        double its = carom_gas_span(rules, apart > 0 ? apart : 0);
        double xa[3], va[3], xb[3], vb[3];
        carom_gas_place(rules, body, own, xa, va);
        carom_gas_place(rules, b, its, xb, vb);
        double d[3] = {xb[0] - xa[0], xb[1] - xa[1], xb[2] - xa[2]};
        if (code != CAROM_GAS_HERE || memcmp(body->wraps, b->wraps, 3) != 0) {
            int digit[3] = {(int)(code % 3) - 1, (int)(code / 3 % 3) - 1, (int)(code / 9) - 1};
            for (int axis = 0; axis < 3; ++axis) {
                int image = digit[axis] + body->wraps[axis] - b->wraps[axis];
                d[axis] = d[axis] + (double)image * rules->edge[axis];
            }
        }
        dx[i] = d[0], dy[i] = d[1], dz[i] = d[2];
        ux[i] = vb[0] - va[0], uy[i] = vb[1] - va[1], uz[i] = vb[2] - va[2];
        if (!gas->uniform) {
            double reach = carom_gas_reach(gas, slot, other);
            reach2[i] = reach * reach;
        }
    }
    if (gas->uniform) {
        double common = gas->reach2;
        for (uint32_t i = 0; i < count; ++i)
            delay[i] = carom_gas_pair_delay(dx[i], dy[i], dz[i], ux[i], uy[i], uz[i], common);
    } else {
        for (uint32_t i = 0; i < count; ++i)
            delay[i] = carom_gas_pair_delay(dx[i], dy[i], dz[i], ux[i], uy[i], uz[i], reach2[i]);
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (!(delay[i] < CAROM_GAS_NEVER_DELAY)) continue;
        uint32_t other = near[i] & mask, code = near[i] >> CAROM_GAS_SLOT_BITS;
        const carom_gas_body *b = &gas->bodies[other];
        int64_t time = carom_gas_after(rules, body->t > b->t ? body->t : b->t, delay[i]);
        if (time > plan->physical) continue;
        int image[3] = {(int)(code % 3) - 1, (int)(code / 3 % 3) - 1, (int)(code / 9) - 1};
        for (int axis = 0; axis < 3; ++axis) image[axis] += body->wraps[axis] - b->wraps[axis];
        offer(gas, slot, plan, time, CAROM_GAS_PAIR, other, b->count, image);
    }
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

/* The block of cells around the sphere's own, limited to `from`..`to` along each axis. */
static void scan_block(const carom_gas *gas, uint32_t slot, const int from[3], const int to[3],
                       carom_gas_plan *plan) {
    const carom_gas_home *home = &gas->homes[slot];
    carom_gas_nears nears;
    nears.count = 0;
    uint32_t x, y, z, digit_x, digit_y, digit_z;
    for (int k = from[2]; k <= to[2]; ++k) {
        if (!carom_gas_step_cell(gas, 2, home->at[2], k, &z, &digit_z)) continue;
        for (int j = from[1]; j <= to[1]; ++j) {
            if (!carom_gas_step_cell(gas, 1, home->at[1], j, &y, &digit_y)) continue;
            for (int i = from[0]; i <= to[0]; ++i) {
                if (!carom_gas_step_cell(gas, 0, home->at[0], i, &x, &digit_x)) continue;
                scan_cell(gas, slot, carom_gas_cell_index(&gas->cells, x, y, z),
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
    plan->crossing = carom_gas_after(rules, gas->now, best);
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

/* ---- one sphere ------------------------------------------------------------------------------ */

static void predict(carom_gas *gas, uint32_t slot) {
    static const int from[3] = {-1, -1, -1}, to[3] = {1, 1, 1};
    carom_gas_plan *plan = &gas->plans[slot];
    ++gas->predictions;
    plan->physical = CAROM_GAS_NEVER;
    plan->kind = CAROM_GAS_REFRESH;
    scan_block(gas, slot, from, to, plan);
    scan_alone(gas, slot, plan);
    plan_crossing(gas, slot, plan);
}

static bool is_stale(const carom_gas *gas, const carom_gas_plan *plan) {
    return plan->kind == CAROM_GAS_PAIR && gas->bodies[plan->partner].count != plan->partner_count;
}

/* Things the caller never sees: crossings and stale events. */
static bool is_inner(const carom_gas *gas, uint32_t slot) {
    const carom_gas_plan *plan = &gas->plans[slot];
    return plan->crossing <= plan->physical || is_stale(gas, plan);
}

static void do_inner(carom_gas *gas, uint32_t slot) {
    carom_gas_plan *plan = &gas->plans[slot];
    gas->now = carom_gas_due(plan);
    if (plan->crossing <= plan->physical) {
        ++gas->crossings;
        cross_centre(gas, slot);
    } else {
        predict(gas, slot);
    }
    carom_gas_queue_put(gas, slot);
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
            do_inner(gas, slot);
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
