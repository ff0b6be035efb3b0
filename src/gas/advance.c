/* SPDX-License-Identifier: MIT */
/* Letting time pass: the runs of the loop, the epoch, the order in memory. */
#include "gas/gas.h"

#include <math.h>

#include "base/progress.h"

#define STEPS_AT_ONCE  16384
#define PROGRESS_UNITS 1000000

/* Times are ticks since the epoch. It moves by whole ticks, so no predicted time changes by a
 * bit. */
static bool move_epoch(carom_gas *gas) {
    for (uint64_t i = 0; i < gas->count; ++i) {
        carom_gas_plan *plan = &gas->cards[i].plan;
        gas->bodies[i].t -= CAROM_GAS_EPOCH;
        if (plan->physical != CAROM_GAS_NEVER) plan->physical -= CAROM_GAS_EPOCH;
        if (plan->crossing != CAROM_GAS_NEVER) plan->crossing -= CAROM_GAS_EPOCH;
    }
    gas->now -= CAROM_GAS_EPOCH;
    gas->flights.start -= CAROM_GAS_EPOCH;
    gas->flights.until -= CAROM_GAS_EPOCH;
    ++gas->epochs;
    return gas->def.queue == CAROM_GAS_TREE || carom_gas_calendar_refill(gas);
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
    default:
        return carom_fail_memory(context, gas->count * 8, "more events at once than before");
    }
}

/* `until` in ticks of the present epoch, clamped to what a run may take in one go. */
static int64_t ticks_until(const carom_gas *gas, double until) {
    double ticks =
        until * gas->rules.ticks_per_unit - (double)gas->epochs * (double)CAROM_GAS_EPOCH;
    ticks = floor(fmin(ticks, (double)(3 * CAROM_GAS_EPOCH)));
    return ticks > (double)gas->now ? (int64_t)ticks : gas->now;
}

carom_status carom_gas_advance(carom_context *context, carom_gas *gas, double until,
                               carom_gas_event_fn *on_event, void *user) {
    CAROM_REQUIRE(context != NULL && gas != NULL, "the context or the gas is NULL");
    double start = carom_gas_get_time(gas);
    if (!isfinite(until) || until < start)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "cannot go to time %g: it must be finite and not before %g", until,
                          start);
    if (!gas->ready) CAROM_TRY(carom_gas_rebuild(context, gas));
    gas->on_event = on_event;
    gas->on_event_user = user;
    carom_progress_begin(context, "moving spheres", PROGRESS_UNITS);
    uint64_t shown = 0;
    carom_status status = CAROM_OK;
    for (;;) {
        uint32_t culprit = 0;
        int64_t goal = ticks_until(gas, until);
        bool last = goal < 3 * CAROM_GAS_EPOCH;
        carom_gas_stop stop =
            CAROM_CPU_CALL(context, carom_gas_run)(gas, goal, STEPS_AT_ONCE, &culprit);
        if (stop == CAROM_GAS_STOP_EVENT || (stop == CAROM_GAS_STOP_TIME && last)) break;
        if (stop == CAROM_GAS_STOP_LISTS) {
            status = carom_gas_lists_grow(context, gas);
            if (status != CAROM_OK) break;
            continue;
        }
        if (stop != CAROM_GAS_STOP_STEPS && stop != CAROM_GAS_STOP_TIME) {
            status = fail_stop(context, gas, stop, culprit);
            break;
        }
        if (gas->now >= 2 * CAROM_GAS_EPOCH && !move_epoch(gas)) {
            gas->ready = false;
            status = fail_stop(context, gas, CAROM_GAS_STOP_ROOM, 0);
            break;
        }
        if (gas->predictions >= gas->sort_after) {
            status = carom_gas_resort(context, gas);
            if (status != CAROM_OK) break;
        }
        double done = until > start ? (carom_gas_get_time(gas) - start) / (until - start) : 1.0;
        uint64_t units = (uint64_t)(done * PROGRESS_UNITS);
        if (units > shown || context->progress.callback != NULL) {
            carom_progress_add(context, 0, units > shown ? units - shown : 0);
            shown = units > shown ? units : shown;
        }
        if (carom_progress_cancelled(context)) break;
    }
    gas->on_event = NULL;
    carom_status ended = carom_progress_end(context);
    return status != CAROM_OK ? status : ended;
}

static bool stop_at_first(void *user, const carom_gas_event *event) {
    *(carom_gas_event *)user = *event;
    return true;
}

carom_status carom_gas_next(carom_context *context, carom_gas *gas, double until,
                            carom_gas_event *event) {
    CAROM_REQUIRE(context != NULL && gas != NULL, "the context or the gas is NULL");
    CAROM_REQUIRE(event != NULL, "the place for the event is NULL");
    *event = (carom_gas_event){.kind = CAROM_GAS_NONE};
    CAROM_TRY(carom_gas_advance(context, gas, until, stop_at_first, event));
    if (event->kind == CAROM_GAS_NONE) {
        event->time = carom_gas_get_time(gas);
        event->number = gas->events;
    }
    return CAROM_OK;
}
