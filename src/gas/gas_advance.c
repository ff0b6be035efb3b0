/* SPDX-License-Identifier: MIT */
/* Advancing the time: runs the event loop in pieces, shifts the epoch, renews the order in memory.
 *
 * Invariant: the events do not depend on how a run is divided into pieces. */
#include "gas/gas_windows.h"

#include <math.h>

#define GAS_ADVANCE_STEPS_PER_LOOK                                                                 \
    16384                        /* steps between checks of the epoch and the order in memory */
#define STEPS_PER_LOOK   256     /* steps between checks for cancellation: some 0.1 ms */
#define PROGRESS_UNITS   1000000 /* of the time to go */
#define EPOCHS_AT_ONCE   3       /* of one run, at most: see CAROM_GAS_EPOCH */
#define SERIAL_SHARE     16      /* of the spheres: predictions of a call before threads begin */
#define WAITS_PER_SPHERE 64      /* without any event: see has_waited_enough */
#define LEAST_WAITS      (UINT64_C(1) << 20) /* some half a second */

/* Shifts the epoch. Times are ticks since the epoch, and it moves by whole ticks, so no predicted
 * time changes by a bit. Trajectories are renewed at the first event after their end, and every
 * sphere has an event within CAROM_GAS_HORIZON. Without spheres there are no trajectories. */
static bool move_epoch(carom_gas *gas) {
    for (uint64_t i = 0; i < gas->count; ++i) {
        carom_gas_prediction *prediction = &gas->records[i].prediction;
        gas->bodies[i].t -= CAROM_GAS_EPOCH;
        if (prediction->physical != CAROM_GAS_NEVER) prediction->physical -= CAROM_GAS_EPOCH;
        if (prediction->crossing != CAROM_GAS_NEVER) prediction->crossing -= CAROM_GAS_EPOCH;
    }
    /* Homes are ahead or they are not: a tick long ago would leave the range after some epochs. */
    gas->homes_until = CAROM_MAX(gas->homes_until, gas->now - 1) - CAROM_GAS_EPOCH;
    gas->now -= CAROM_GAS_EPOCH;
    if (gas->count != 0) {
        gas->trajectories.start -= CAROM_GAS_EPOCH;
        gas->trajectories.until -= CAROM_GAS_EPOCH;
    }
    ++gas->epochs;
    return gas->def.queue == CAROM_GAS_QUEUE_TREE || carom_gas_calendar_refill(gas);
}

static carom_status fail_stop(carom_context *context, carom_gas *gas, carom_gas_stop stop,
                              uint32_t culprit) {
    double time = carom_gas_time_of(gas, gas->now);
    switch (stop) {
    case CAROM_GAS_STOP_COLLAPSE:
        return carom_fail(context, CAROM_UNSUPPORTED,
                          "inelastic collapse: sphere %u collided 65535 times at time %.17g; set "
                          "elastic_below so that slow collisions lose nothing",
                          culprit, time);
    case CAROM_GAS_STOP_RESPONSE:
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the response gave sphere %u or its partner a velocity that is not "
                          "finite, or too fast for the tick, at time %.17g",
                          culprit, time);
    case CAROM_GAS_STOP_FAST:
        return carom_fail(context, CAROM_UNSUPPORTED,
                          "sphere %u has become too fast: it moves by more than a millionth of the "
                          "smallest radius, %g, in one tick of %g, at time %.17g; slow it down or "
                          "make the gas with a smaller tick",
                          culprit, gas->smallest, gas->rules.tick, time);
    default:
        return carom_fail_memory(context, gas->count * 8, "more events at once than before");
    }
}

/* `until` in ticks of the present epoch, clamped to the most that one run may take. */
static int64_t ticks_until(const carom_gas *gas, double until) {
    double ticks =
        until * gas->rules.ticks_per_unit - (double)gas->epochs * (double)CAROM_GAS_EPOCH;
    ticks = floor(fmin(ticks, (double)(EPOCHS_AT_ONCE * CAROM_GAS_EPOCH)));
    return ticks > (double)gas->now ? (int64_t)ticks : gas->now;
}

/* The latest time that can be represented. */
static double last_time(const carom_gas *gas) {
    return (double)CAROM_GAS_MOST_EPOCHS * (double)CAROM_GAS_EPOCH * gas->rules.tick;
}

static bool is_at_rest(const carom_gas *gas) {
    if (gas->rules.accelerated) return false;
    for (uint64_t i = 0; i < gas->count; ++i) {
        const double *v = gas->bodies[i].v;
        if (v[0] != 0.0 || v[1] != 0.0 || v[2] != 0.0) return false;
    }
    return true;
}

/* Skips time in a gas at rest. There are no events except that each body is rewritten at its
 * position every CAROM_GAS_HORIZON, which is four epochs. After any multiple of that all ticks are
 * the same again, so any number of them can be skipped at once. */
static void skip_rest(carom_gas *gas, double until) {
    const double horizon = (double)CAROM_GAS_HORIZON;
    _Static_assert(CAROM_GAS_HORIZON == 4 * CAROM_GAS_EPOCH, "a horizon is four epochs");
    double ticks =
        until * gas->rules.ticks_per_unit - (double)gas->epochs * (double)CAROM_GAS_EPOCH;
    double horizons = floor((ticks - (double)gas->now) / horizon) - 1.0;
    if (horizons >= 1.0 && is_at_rest(gas)) gas->epochs += 4 * (uint64_t)horizons;
}

/* True when the gas has only refreshed bodies for too long. A tick may be so short that no event
 * happens within the range of ticks: with a tick given as 1e-30, a run would do nothing but refresh
 * bodies. */
static bool has_waited_enough(const carom_gas *gas, uint64_t waits) {
    return waits > LEAST_WAITS && waits / WAITS_PER_SPHERE > gas->count;
}

static carom_status fail_waiting(carom_context *context, const carom_gas *gas, double since) {
    return carom_fail(context, CAROM_UNSUPPORTED,
                      "nothing has happened from time %g to %g, and each tick is only %g; make the "
                      "gas with a larger tick, or call again to go on",
                      since, carom_gas_time_of(gas, gas->now), gas->rules.tick);
}

/* Runs up to GAS_ADVANCE_STEPS_PER_LOOK steps, with checks for cancellation in between. */
static carom_gas_stop run_steps(carom_context *context, carom_gas *gas, int64_t goal,
                                const carom_gas_observer *observer, uint32_t *culprit) {
    carom_gas_stop stop = CAROM_GAS_STOP_STEPS;
    for (int steps = 0; steps < GAS_ADVANCE_STEPS_PER_LOOK && stop == CAROM_GAS_STOP_STEPS;
         steps += STEPS_PER_LOOK) {
        stop = CAROM_CPU_CALL(context, carom_gas_run)(gas, goal, STEPS_PER_LOOK, observer, culprit);
        if (carom_progress_stop(context, 0)) break;
    }
    return stop;
}

void carom_gas_show_progress(carom_context *context, const carom_gas *gas, carom_gas_goal *goal) {
    double now = carom_gas_get_time(gas);
    double done =
        goal->until > goal->start ? (now - goal->start) / (goal->until - goal->start) : 1.0;
    uint64_t units = (uint64_t)(done * PROGRESS_UNITS);
    if (units <= goal->shown) return;
    carom_progress_add(context, 0, units - goal->shown);
    goal->shown = units;
}

/* Whether several threads take part. A short call is done before they have begun. */
static bool is_for_threads(const carom_context *context, const carom_gas *gas,
                           const carom_gas_observer *observer, uint64_t predictions) {
    return context->threads > 1 && !observer->wants_one && gas->def.response == NULL &&
           gas->count >= gas->parallel_from && gas->def.queue == CAROM_GAS_QUEUE_CALENDAR &&
           gas->method != CAROM_GAS_METHOD_EXTENT &&
           (predictions >= gas->count / SERIAL_SHARE ||
            gas->parallel_from < CAROM_GAS_PARALLEL_FROM);
}

static carom_status run_until(carom_context *context, carom_gas *gas, double until,
                              const carom_gas_observer *observer) {
    if (!gas->ready) CAROM_TRY(carom_gas_rebuild(context, gas, 0));
    if (!carom_gas_has_queue(gas)) CAROM_TRY(carom_gas_queue_create(context, gas));
    skip_rest(gas, until);
    carom_gas_goal shown = {carom_gas_get_time(gas), until, 0};
    double quiet_since = shown.start;
    uint64_t events = gas->events, waits = gas->waits; /* since the last event */
    const uint64_t predictions = gas->predictions;
    gas->counts.threads = 1;
    for (;;) {
        uint32_t culprit = 0;
        carom_gas_stop stop = CAROM_GAS_STOP_STEPS;
        bool ran = false;
        int64_t goal = ticks_until(gas, until);
        bool last = goal < EPOCHS_AT_ONCE * CAROM_GAS_EPOCH;
        if (is_for_threads(context, gas, observer, gas->predictions - predictions))
            CAROM_TRY(
                carom_gas_run_windows(context, gas, goal, observer, &shown, &stop, &culprit, &ran));
        if (!ran) stop = run_steps(context, gas, goal, observer, &culprit);
        if (stop == CAROM_GAS_STOP_EVENT || (stop == CAROM_GAS_STOP_TIME && last)) return CAROM_OK;
        if (stop == CAROM_GAS_STOP_LISTS) {
            CAROM_TRY(carom_gas_lists_grow(context, gas));
            continue;
        }
        if (stop == CAROM_GAS_STOP_RENEW) {
            CAROM_TRY(carom_gas_trajectories_renew(context, gas, true));
            continue;
        }
        if (stop != CAROM_GAS_STOP_STEPS && stop != CAROM_GAS_STOP_TIME)
            return fail_stop(context, gas, stop, culprit);
        if (gas->now >= 2 * CAROM_GAS_EPOCH && !move_epoch(gas)) {
            gas->ready = false;
            return fail_stop(context, gas, CAROM_GAS_STOP_MEMORY, 0);
        }
        CAROM_TRY(carom_gas_resort(context, gas));
        carom_gas_show_progress(context, gas, &shown);
        CAROM_TRY(carom_progress_look(context));
        if (gas->events != events) {
            events = gas->events;
            quiet_since = carom_gas_get_time(gas);
            waits = gas->waits;
        }
        if (has_waited_enough(gas, gas->waits - waits))
            return fail_waiting(context, gas, quiet_since);
    }
}

static carom_status gas_advance_until(carom_context *context, carom_gas *gas, double until,
                                      const carom_gas_observer *observer) {
    carom_progress_begin(context, "moving spheres", PROGRESS_UNITS);
    return carom_progress_finish(context, run_until(context, gas, until, observer));
}

static carom_status check_until(carom_context *context, const carom_gas *gas, double until) {
    double start = carom_gas_get_time(gas);
    if (isfinite(until) && until >= start) return CAROM_OK;
    return carom_fail(context, CAROM_BAD_INPUT,
                      "cannot go to time %g: it must be finite and not before %g", until, start);
}

static carom_status fail_late(carom_context *context, const carom_gas *gas, double until) {
    return carom_fail(
        context, CAROM_BAD_INPUT,
        "cannot go to time %g: with a tick of %g, times up to %g can be told; make the "
        "gas with a larger tick",
        until, gas->rules.tick, last_time(gas));
}

carom_status carom_gas_advance(carom_context *context, carom_gas *gas, double until,
                               carom_gas_event_fn *on_event, void *user) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(gas, "gas");
    CAROM_TRY(carom_context_require_cpu(context, "a gas"));
    CAROM_TRY(check_until(context, gas, until));
    if (until > last_time(gas)) return fail_late(context, gas, until);
    const carom_gas_observer observer = {on_event, user, false};
    return gas_advance_until(context, gas, until, &observer);
}

static bool gas_advance_stop_at_first(void *user, const carom_gas_event *event) {
    *(carom_gas_event *)user = *event;
    return true;
}

carom_status carom_gas_next(carom_context *context, carom_gas *gas, double until,
                            carom_gas_event *event) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(gas, "gas");
    CAROM_REQUIRE_OUTPUT(event, "event");
    *event = (carom_gas_event){.kind = CAROM_GAS_EVENT_KIND_NONE};
    CAROM_TRY(carom_context_require_cpu(context, "a gas"));
    CAROM_TRY(check_until(context, gas, until));
    bool late = until > last_time(gas); /* the caller wants the next event at any time */
    if (late && is_at_rest(gas)) return fail_late(context, gas, until);
    const carom_gas_observer observer = {gas_advance_stop_at_first, event, true};
    CAROM_TRY(gas_advance_until(context, gas, late ? last_time(gas) : until, &observer));
    if (event->kind == CAROM_GAS_EVENT_KIND_NONE && late) return fail_late(context, gas, until);
    if (event->kind == CAROM_GAS_EVENT_KIND_NONE) {
        event->time = carom_gas_get_time(gas);
        event->index = gas->events;
    }
    return CAROM_OK;
}
