/* SPDX-License-Identifier: MIT */
/* The event loop: take the earliest entry of the queue, handle it, predict again.
 *
 * Invariant: entries are handled in the order of time; at one tick, inner work (crossings, stale
 * and provisional predictions) comes before the events the caller sees. This file is compiled once
 * per instruction set. */
#include <math.h>
#include <string.h>

#include "gas/gas_predict.h"
#include "gas/gas_select.h"

/* ---- Events ---------------------------------------------------------------------------------- */

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
        carom_gas_meet(&gas->rules, &a, &b, image, gas->now, gas->mass[slot_a], gas->mass[slot_b]);
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
    add_total(&gas->virial, gas->mass[slot_b] * push * distance);
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
    event->a = gas->records[a].label, event->b = gas->records[b].label;
    *culprit = event->a;
    bool too_often = repeats_too_often(gas, a); /* both counters must be updated */
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
    event->a = gas->records[slot].label, event->b = (uint32_t)side;
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
    carom_gas_trajectory_set(gas, slot);
    predict(gas, slot);
    carom_gas_queue_put(gas, slot);
    return CAROM_GAS_STOP_STEPS;
}

/* Tested after each event of a sphere. The next events of a too fast sphere are still predicted,
 * but no longer reliably in time. So each of its events reports it. */
static bool is_too_fast(const carom_gas *gas, uint32_t label, uint32_t *culprit) {
    *culprit = label;
    return !carom_gas_keeps_pace(gas, gas->bodies[gas->slot_of[label]].v);
}

static carom_gas_stop do_event(carom_gas *gas, uint32_t slot, uint32_t *culprit) {
    const carom_gas_prediction *prediction = &gas->records[slot].prediction;
    gas->now = prediction->physical;
    if (prediction->kind == CAROM_GAS_REFRESH) {
        gas->waits += gas->now - gas->bodies[slot].t >= CAROM_GAS_HORIZON;
        carom_gas_rewrite(&gas->rules, &gas->bodies[slot], gas->now);
        carom_gas_trajectory_set(gas, slot);
        predict(gas, slot);
        carom_gas_queue_put(gas, slot);
        bool fast = gas->watches_speed && is_too_fast(gas, gas->records[slot].label, culprit);
        return fast ? CAROM_GAS_STOP_FAST : CAROM_GAS_STOP_STEPS;
    }
    carom_gas_event event = {.time = carom_gas_time_of(gas, gas->now),
                             .kind = (carom_gas_kind)prediction->kind,
                             .index = gas->events};
    carom_gas_stop stop = prediction->kind == CAROM_GAS_KIND_PAIR
                              ? do_pair(gas, slot, &event, culprit)
                              : do_wall(gas, slot, &event, culprit);
    if (stop != CAROM_GAS_STOP_STEPS) { /* the event did not happen and is still due */
        carom_gas_queue_put(gas, slot);
        return stop;
    }
    ++gas->events;
    if (gas->on_event != NULL && gas->on_event(gas->on_event_user, &event))
        stop = CAROM_GAS_STOP_EVENT;
    if (!gas->watches_speed) return stop;
    if (is_too_fast(gas, event.a, culprit) ||
        (event.kind == CAROM_GAS_KIND_PAIR && is_too_fast(gas, event.b, culprit)))
        return CAROM_GAS_STOP_FAST;
    return stop;
}

/* ---- Event loop ------------------------------------------------------------------------------ */

carom_gas_stop CAROM_CPU(carom_gas_run)(carom_gas *gas, int64_t until, uint64_t steps,
                                        uint32_t *culprit) {
    for (uint64_t step = 0; step < steps; ++step) {
        uint32_t slot;
        if (!carom_gas_queue_room(gas) ||
            (gas->cells.free_count < CAROM_GAS_STEP_OVERFLOW && !carom_gas_cells_reserve(gas)) ||
            !next_slot(gas, until, &slot))
            return CAROM_GAS_STOP_MEMORY;
        if (slot == CAROM_GAS_NO_SLOT) {
            gas->now = until;
            return CAROM_GAS_STOP_TIME;
        }
        gas->records[slot].prediction.current = 0;
        if (carom_gas_due(&gas->records[slot].prediction) > gas->trajectories.until ||
            gas->trajectories.fast > gas->trajectories.most_fast) {
            gas->now = carom_gas_due(&gas->records[slot].prediction);
            carom_gas_trajectories_renew(gas);
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

bool CAROM_CPU(carom_gas_predict_some)(carom_gas *gas, uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; ++i) {
        if (gas->cells.free_count < CAROM_GAS_STEP_OVERFLOW && !carom_gas_cells_reserve(gas))
            return false;
        predict(gas, (uint32_t)i);
    }
    return true;
}
