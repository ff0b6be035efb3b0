/* SPDX-License-Identifier: MIT */
/* The loop: take what is due first, do it, predict anew. */
#include <math.h>
#include <string.h>

#include "gas/ahead.h"
#include "gas/extent.h"
#include "gas/queue.h"
#include "gas/renew.h"

/* ---- one sphere ------------------------------------------------------------------------------ */

static void forget_plan(carom_gas *gas, uint32_t slot) {
    ++gas->predictions;
    gas->cards[slot].plan.physical = CAROM_GAS_NEVER;
    gas->cards[slot].plan.kind = CAROM_GAS_REFRESH;
}

static __attribute__((noinline)) void predict_by_cells(carom_gas *gas, uint32_t slot) {
    if (gas->method == CAROM_GAS_EXTENT) {
        scan_extent(gas, slot, &gas->cards[slot].plan);
        plan_extent(gas, slot, &gas->cards[slot].plan);
    } else {
        predict_centre(gas, &slot, 1);
    }
}

static void predict(carom_gas *gas, uint32_t slot) {
    carom_gas_plan *plan = &gas->cards[slot].plan;
    forget_plan(gas, slot);
    if (gas->method == CAROM_GAS_NEIGHBOURS) {
        scan_list(gas, slot, plan);
        plan_renewal(gas, slot, plan);
    } else {
        predict_by_cells(gas, slot);
    }
    scan_alone(gas, slot, plan);
}

/* Two that have met, by their cells. */
static __attribute__((noinline)) void predict_both_by_cells(carom_gas *gas, uint32_t a,
                                                            uint32_t b) {
    forget_plan(gas, a);
    forget_plan(gas, b);
    predict_centre(gas, (uint32_t[2]){a, b}, 2);
    scan_alone(gas, a, &gas->cards[a].plan);
    scan_alone(gas, b, &gas->cards[b].plan);
    carom_gas_queue_put(gas, a);
    carom_gas_queue_put(gas, b);
}

/* By their lists: the bounds of one while those of the other are on their way. */
static void predict_both_by_lists(carom_gas *gas, uint32_t a, uint32_t b) {
    const uint32_t slots[2] = {a, b};
    outlook outlooks[2];
    for (int i = 0; i < 2; ++i) {
        const uint32_t *list = carom_gas_list_of(gas, slots[i]);
        look_out(gas, slots[i], list + 1, list[0], !gas->cards[slots[i]].inside, &outlooks[i]);
    }
    for (int i = 0; i < 2; ++i) {
        carom_gas_plan *plan = &gas->cards[slots[i]].plan;
        forget_plan(gas, slots[i]);
        decide(gas, &outlooks[i], plan);
        plan_renewal(gas, slots[i], plan);
        scan_alone(gas, slots[i], plan);
        carom_gas_queue_put(gas, slots[i]);
    }
}

/* Two that have met: predicted and entered. */
static void predict_both(carom_gas *gas, uint32_t a, uint32_t b) {
    if (gas->in_twos) {
        predict_both_by_cells(gas, a, b);
    } else if (gas->method == CAROM_GAS_NEIGHBOURS &&
               carom_gas_list_of(gas, a)[0] <= CAROM_GAS_MOST_NEAR &&
               carom_gas_list_of(gas, b)[0] <= CAROM_GAS_MOST_NEAR) {
        predict_both_by_lists(gas, a, b);
    } else {
        predict(gas, a);
        carom_gas_queue_put(gas, a);
        predict(gas, b);
        carom_gas_queue_put(gas, b);
    }
}

/* Not by floats: what has to be told apart exactly, or was once found to fool them. */
static __attribute__((noinline)) void predict_exactly(carom_gas *gas, uint32_t slot) {
    gas->exactly = true;
    predict(gas, slot);
    gas->exactly = false;
}

static bool is_stale(const carom_gas *gas, const carom_gas_plan *plan) {
    bool pair = plan->kind == CAROM_GAS_PAIR || plan->kind == CAROM_GAS_ROUGH;
    return pair && gas->flights.by_slot[plan->partner].stamp != plan->stamp;
}

/* Is the pair planned for `slot` planned for its partner, too, with its exact tick? */
static bool is_met_by_partner(const carom_gas *gas, uint32_t slot) {
    const carom_gas_plan *plan = &gas->cards[slot].plan, *its = &gas->cards[plan->partner].plan;
    if (its->kind != CAROM_GAS_PAIR || its->partner != slot || its->physical >= its->crossing ||
        its->stamp != gas->flights.by_slot[slot].stamp)
        return false;
    int image[3], its_image[3];
    image_planned(gas, plan, image);
    image_planned(gas, its, its_image);
    return image[0] == -its_image[0] && image[1] == -its_image[1] && image[2] == -its_image[2];
}

/* The bound of a rough pair has come: from now on it has its exact tick. False when floats were
 * fooled and all has to be predicted exactly. */
static bool refine(carom_gas *gas, uint32_t slot) {
    carom_gas_plan *plan = &gas->cards[slot].plan;
    int image[3];
    image_planned(gas, plan, image);
    int64_t time = carom_gas_pair_time(&gas->rules, &gas->bodies[slot], &gas->bodies[plan->partner],
                                       image, carom_gas_reach(gas, slot, plan->partner));
    if (time > latest(gas, plan)) return false;
    plan->physical = time;
    plan->kind = CAROM_GAS_PAIR;
    return true;
}

/* Things the caller never sees: crossings, stale and rough events. */
static bool is_inner(const carom_gas *gas, uint32_t slot) {
    const carom_gas_plan *plan = &gas->cards[slot].plan;
    return plan->crossing <= plan->physical || is_rough(plan) || is_stale(gas, plan);
}

static bool do_inner(carom_gas *gas, uint32_t slot) {
    carom_gas_plan *plan = &gas->cards[slot].plan;
    bool done = true;
    gas->now = carom_gas_due(plan);
    gas->crossings += plan->crossing <= plan->physical;
    if (plan->crossing > plan->physical) {
        if (plan->kind == CAROM_GAS_AGAIN)
            predict_exactly(gas, slot);
        else if (is_stale(gas, plan))
            predict(gas, slot);
        else if (!refine(gas, slot))
            predict_exactly(gas, slot);
    } else if (gas->method == CAROM_GAS_NEIGHBOURS)
        done = renew_list(gas, slot);
    else if (gas->method == CAROM_GAS_EXTENT)
        cross_extent(gas, slot);
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

/* False when it is no number or too fast for the tick. */
static bool take_velocity(const carom_gas *gas, carom_gas_body *body,
                          const carom_gas_sphere *sphere) {
    double *v = body->v;
    v[0] = sphere->velocity.x, v[1] = sphere->velocity.y, v[2] = sphere->velocity.z;
    return carom_gas_keeps_pace(gas, v);
}

/* The caller's law between two spheres; false, and nothing changed, when it gives no velocities to
 * go on with. */
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
    if (!take_velocity(gas, &a, &sphere_a) || !take_velocity(gas, &b, &sphere_b)) return false;
    double push = (b.v[0] - before_b.v[0]) * n.x + (b.v[1] - before_b.v[1]) * n.y +
                  (b.v[2] - before_b.v[2]) * n.z;
    add_total(&gas->virial, gas->mass[slot_b] * push * reach);
    gas->bodies[slot_a] = a;
    gas->bodies[slot_b] = b;
    return true;
}

/* Counts events of a sphere that come without time passing. */
static bool repeats_too_often(carom_gas *gas, uint32_t slot) {
    carom_gas_plan *plan = &gas->cards[slot].plan;
    plan->repeats = gas->bodies[slot].t == gas->now ? (uint16_t)(plan->repeats + 1) : 0;
    return plan->repeats == UINT16_MAX;
}

static carom_gas_stop do_pair(carom_gas *gas, uint32_t slot, carom_gas_event *event,
                              uint32_t *culprit) {
    const carom_gas_plan plan = gas->cards[slot].plan;
    uint32_t a = slot, b = plan.partner;
    int image[3];
    image_planned(gas, &plan, image);
    if (gas->cards[a].label > gas->cards[b].label) {
        a = plan.partner, b = slot;
        for (int axis = 0; axis < 3; ++axis) image[axis] = -image[axis];
    }
    event->a = gas->cards[a].label, event->b = gas->cards[b].label;
    *culprit = event->a;
    bool too_often = repeats_too_often(gas, a); /* both keep count */
    too_often = repeats_too_often(gas, b) || too_often;
    if (too_often) return CAROM_GAS_STOP_COLLAPSE;
    if (gas->def.response == NULL) {
        carom_gas_contact contact =
            carom_gas_meet(&gas->rules, &gas->bodies[a], &gas->bodies[b], image, gas->now,
                           carom_gas_mass(gas, a), carom_gas_mass(gas, b));
        add_total(&gas->virial, contact.virial);
    } else if (!respond_pair(gas, a, b, image, event)) {
        return CAROM_GAS_STOP_RESPONSE;
    }
    ++gas->collisions;
    if (gas->cards[a].follower == b) gas->cards[a].follower = CAROM_GAS_NO_SLOT;
    if (gas->cards[b].follower == a) gas->cards[b].follower = CAROM_GAS_NO_SLOT;
    carom_gas_flight_set(gas, a);
    carom_gas_flight_set(gas, b);
    predict_both(gas, a, b);
    return CAROM_GAS_STOP_STEPS;
}

static carom_gas_stop do_wall(carom_gas *gas, uint32_t slot, carom_gas_event *event,
                              uint32_t *culprit) {
    int side = (int)gas->cards[slot].plan.partner, axis = side / 2;
    carom_gas_body *body = &gas->bodies[slot];
    event->a = gas->cards[slot].label, event->b = (uint32_t)side;
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
        if (!take_velocity(gas, &after, &sphere)) return CAROM_GAS_STOP_RESPONSE;
        *body = after;
    }
    ++gas->wall_hits;
    carom_gas_flight_set(gas, slot);
    predict(gas, slot);
    carom_gas_queue_put(gas, slot);
    return CAROM_GAS_STOP_STEPS;
}

static carom_gas_stop do_event(carom_gas *gas, uint32_t slot, uint32_t *culprit) {
    const carom_gas_plan *plan = &gas->cards[slot].plan;
    gas->now = plan->physical;
    if (plan->kind == CAROM_GAS_REFRESH) {
        carom_gas_rewrite(&gas->rules, &gas->bodies[slot], gas->now);
        carom_gas_flight_set(gas, slot);
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
    const carom_gas_plan *p = &gas->cards[best].plan, *q = &gas->cards[slot].plan;
    return ranks_before(gas, slot, q->kind, q->partner, best, p->kind, p->partner) ? slot : best;
}

static uint32_t choose_in_tree(const carom_gas *gas, uint64_t at, int64_t time, uint32_t best) {
    for (uint64_t child = 2 * at + 1; child <= 2 * at + 2 && child < gas->tree.count; ++child) {
        uint32_t slot = gas->tree.heap[child];
        if (carom_gas_due(&gas->cards[slot].plan) != time) continue;
        best = choose_in_tree(gas, child, time, choose(gas, best, slot));
    }
    return best;
}

/* A rough pair at the head of the window is refined where it stands; the second of the two leaves
 * the queue, as the first will bring the meeting. False when there is none, or it is not to be
 * refined. */
static bool refine_head(carom_gas *gas) {
    carom_gas_calendar *calendar = &gas->calendar;
    carom_gas_entry *window = calendar->window, entry = window[calendar->window_head];
    carom_gas_plan *plan = &gas->cards[entry.slot].plan;
    if (plan->kind != CAROM_GAS_ROUGH || plan->crossing <= plan->physical || is_stale(gas, plan))
        return false;
    carom_gas_card *partner = &gas->cards[plan->partner];
    if (is_met_by_partner(gas, entry.slot) && partner->plan.physical < plan->crossing &&
        partner->follower == CAROM_GAS_NO_SLOT && partner->plan.physical <= latest(gas, plan)) {
        plan->physical = partner->plan.physical;
        plan->kind = CAROM_GAS_PAIR;
        plan->current = 0;
        partner->follower = entry.slot;
        ++calendar->window_head;
        return true;
    }
    if (calendar->free_count < CAROM_GAS_STEP_ENTRIES || !refine(gas, entry.slot)) return false;
    entry.time = carom_gas_due(plan);
    if (entry.time >> calendar->shift >= calendar->base) {
        ++calendar->window_head;
        carom_gas_queue_put(gas, entry.slot);
        return true;
    }
    uint64_t at = calendar->window_head;
    for (; at + 1 < calendar->window_tail && window[at + 1].time < entry.time; ++at)
        window[at] = window[at + 1];
    window[at] = entry;
    return true;
}

/* The slot to be handled next, CAROM_GAS_NO_SLOT when nothing is due up to `until`; false when
 * there was no memory. */
static bool next_slot(carom_gas *gas, int64_t until, uint32_t *next) {
    *next = CAROM_GAS_NO_SLOT;
    if (gas->def.queue == CAROM_GAS_TREE) {
        if (gas->tree.count == 0) return true;
        uint32_t slot = gas->tree.heap[0];
        int64_t time = carom_gas_due(&gas->cards[slot].plan);
        if (time <= until) *next = choose_in_tree(gas, 0, time, slot);
        return true;
    }
    carom_gas_calendar *calendar = &gas->calendar;
    for (;;) {
        while (calendar->window_head < calendar->window_tail &&
               !carom_gas_entry_alive(gas, calendar->window[calendar->window_head]))
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
    const carom_gas_entry *entry = &calendar->window[calendar->window_head];
    if (entry->time > until) return true;
    uint32_t best = entry->slot;
    uint64_t place = calendar->window_head;
    for (uint64_t i = place + 1;
         i < calendar->window_tail && calendar->window[i].time == entry->time; ++i) {
        if (!carom_gas_entry_alive(gas, calendar->window[i])) continue;
        uint32_t chosen = choose(gas, best, calendar->window[i].slot);
        if (chosen != best) place = i;
        best = chosen;
    }
    /* Its entry goes, so that none is left over should it be due at this tick again. */
    calendar->window[place] = *entry;
    ++calendar->window_head;
    *next = best;
    return true;
}

carom_gas_stop CAROM_CPU(carom_gas_run)(carom_gas *gas, int64_t until, uint64_t steps,
                                        uint32_t *culprit) {
    for (uint64_t step = 0; step < steps; ++step) {
        uint32_t slot;
        if (!carom_gas_queue_room(gas) ||
            (gas->cells.free_count < CAROM_GAS_STEP_OVERFLOW && !carom_gas_cells_room(gas)) ||
            !next_slot(gas, until, &slot))
            return CAROM_GAS_STOP_ROOM;
        if (slot == CAROM_GAS_NO_SLOT) {
            gas->now = until;
            return CAROM_GAS_STOP_TIME;
        }
        gas->cards[slot].plan.current = 0;
        if (carom_gas_due(&gas->cards[slot].plan) > gas->flights.until ||
            gas->flights.wild > gas->flights.most_wild) {
            gas->now = carom_gas_due(&gas->cards[slot].plan);
            carom_gas_flights_renew(gas);
        }
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
