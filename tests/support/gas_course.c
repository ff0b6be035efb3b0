/* SPDX-License-Identifier: MIT */
/* Gases against the oracle. */
#include "tests/support/gas_course.h"

#include <math.h>

#define CUTS 24

uint64_t gas_ticks(const carom_gas *gas) {
    return (uint64_t)gas->now + gas->epochs * (uint64_t)CAROM_GAS_EPOCH;
}

void gas_assert_event(const carom_gas *gas, const carom_gas_event *event,
                      const gas_oracle_event *wanted) {
    if (wanted->since_create == gas_ticks(gas) && wanted->kind == (int)event->kind &&
        wanted->a == (int)event->a && wanted->b == (int)event->b)
        return;
    fail_msg("event %llu is kind %d of %u and %u at %llu, the oracle has kind %d of %d and %d at "
             "%llu; method %d, queue %d, box %g %g %g periodic %d%d%d, cells %u %u %u, reach %g",
             (unsigned long long)event->index, (int)event->kind, event->a, event->b,
             (unsigned long long)gas_ticks(gas), wanted->kind, wanted->a, wanted->b,
             (unsigned long long)wanted->since_create, (int)gas->method, (int)gas->def.queue,
             gas->rules.edge[0], gas->rules.edge[1], gas->rules.edge[2], gas->rules.periodic[0],
             gas->rules.periodic[1], gas->rules.periodic[2], gas->cells.size[0], gas->cells.size[1],
             gas->cells.size[2], gas->lists.cutoff);
}

void gas_assert_bodies(const carom_gas *gas, const gas_oracle *oracle) {
    for (int i = 0; i < oracle->count; ++i) {
        assert_true(oracle->alive[i] == (gas->slot_of[i] != CAROM_GAS_NO_SLOT));
        if (!oracle->alive[i]) continue;
        const carom_gas_body *p = &gas->bodies[gas->slot_of[i]], *q = &oracle->bodies[i];
        assert_memory_equal(p->x, q->x, sizeof(p->x));
        assert_memory_equal(p->v, q->v, sizeof(p->v));
    }
}

static void position_exactly(const carom_gas *gas, uint32_t slot, long double x[3]) {
    const carom_gas_body *body = &gas->bodies[slot];
    long double span = (long double)(gas->now - body->t) * (long double)gas->rules.tick;
    for (int axis = 0; axis < 3; ++axis)
        x[axis] = body->x[axis] + span * body->v[axis] +
                  0.5L * span * span * (long double)gas->rules.acceleration[axis];
}

double gas_deepest_overlap(const carom_gas *gas) {
    long double deepest = 0.0L, x[3], y[3];
    for (uint32_t i = 0; i < gas->count; ++i) {
        position_exactly(gas, i, x);
        for (int axis = 0; axis < 3; ++axis) {
            long double r = carom_gas_radius(gas, i),
                        out = fmaxl(r - x[axis], x[axis] + r - gas->rules.edge[axis]);
            if (!gas->rules.periodic[axis]) deepest = fmaxl(deepest, out / (2.0L * r));
        }
        for (uint32_t k = 0; k < i; ++k) {
            long double square = 0.0L;
            long double reach = (long double)carom_gas_radius(gas, i) + carom_gas_radius(gas, k);
            position_exactly(gas, k, y);
            for (int axis = 0; axis < 3; ++axis) {
                long double d = y[axis] - x[axis], edge = gas->rules.edge[axis];
                if (gas->rules.periodic[axis]) d -= edge * roundl(d / edge);
                square += d * d;
            }
            deepest = fmaxl(deepest, 1.0L - sqrtl(square) / reach);
        }
    }
    return (double)deepest;
}

/* ---- a course -------------------------------------------------------------------------------- */

void gas_course_query(carom_context *context, gas_course *course, const carom_gas_def *def,
                      const carom_gas_sphere *spheres, int count, int events) {
    carom_gas *gas;
    carom_gas_info info;
    assert_ok(context, gas_create(context, def, spheres, (uint64_t)count, &gas));
    assert_ok(context, carom_gas_get_info(gas, &info));
    carom_gas_destroy(gas);
    gas_oracle_init(&course->oracle, def, info.tick, spheres, count);
    course->events = events;
    for (int i = 0; i < events; ++i) course->wanted[i] = gas_oracle_next(&course->oracle);
    const gas_oracle *o = &course->oracle;
    course->length = ((double)o->epochs * (double)CAROM_GAS_EPOCH + (double)o->now) * o->rules.tick;
}

bool gas_follower_compare(void *user, const carom_gas_event *event) {
    gas_follower *f = user;
    gas_assert_event(f->gas, event, &f->course->wanted[f->done]);
    assert_int_equal(event->index, f->done);
    return ++f->done == f->course->events;
}

void gas_course_follow(carom_context *context, const gas_course *course, const carom_gas_def *def,
                       const carom_gas_sphere *spheres, int count) {
    carom_gas *gas;
    carom_random random = {(uint64_t)count};
    assert_ok(context, gas_create(context, def, spheres, (uint64_t)count, &gas));
    gas_follower f = {gas, course, 0};
    for (int cut = 0; cut <= CUTS; ++cut) {
        double until = course->length * (cut + carom_random_uniform(&random)) / CUTS;
        if (cut == CUTS) until = 2.0 * course->length + 1.0;
        assert_ok(context, carom_gas_advance(context, gas, until, gas_follower_compare, &f));
        if (f.done == course->events) break;
        double overlap;
        assert_ok(context, carom_gas_overlap(context, gas, &overlap));
        assert_true(overlap < 1e-12 && gas_deepest_overlap(gas) < 1e-12);
    }
    assert_int_equal(f.done, course->events);
    gas_assert_bodies(gas, &course->oracle);
    assert_true(gas_deepest_overlap(gas) < 1e-12);
    carom_gas_destroy(gas);
}

void gas_course_follow_all(carom_context *context, const gas_course *course,
                           const carom_gas_def *def, const carom_gas_sphere *spheres, int count) {
    static const double edges[] = {0.0, 1.0, 2.7}, reaches[] = {0.0, 1.1, 2.2};
    for (int way = 0; way < GAS_WAYS; ++way) {
        carom_gas_def other = *def;
        other.method = (carom_gas_method)(CAROM_GAS_METHOD_CENTRE + way / 6);
        other.queue = (carom_gas_queue)(way / 3 % 2);
        other.cell_edge = edges[way % 3];
        other.cutoff = reaches[way % 3];
        gas_course_follow(context, course, &other, spheres, count);
    }
}
