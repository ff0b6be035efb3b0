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

/* How deep spheres may overlap by rounding. Positions are rounded to 2^-53 of their size, at most
 * the longest edge: the depth is in proportion to the box, not to the spheres. One of radius 1e-6
 * in a box of edge 4 may overlap by 1e-9 of itself, and does by 1e-11.
 *
 * Two spheres touch when both are rewritten in their collision, and part from there on. Per axis,
 * in roundings of 2^-53 edges, the distance then is wrong by
 *
 * - six: the position of one at the time of the other, and the shift into the next box, when the
 *   collision is predicted; the position, and the shift into the box, of each when it is rewritten;
 * - nine more for a flight of one edge, and less for a shorter one: its length (speed times time)
 *   in these three positions, and six in the delay, whose rounding is a share of the way to go.
 *
 * Times are rounded down to ticks, which makes no overlap. Along the normal that is root 3 times as
 * many at most: 26. All would have to be largest at once, with one sign: the most observed is 2.4,
 * in 35,000 looks at gases that graze, change or have extreme units. */
#define GAS_ROUNDING          0x1p-53 /* edges */
#define GAS_OVERLAP_ROUNDINGS 26.0

/* carom_gas_overlap rounds the position of each of two spheres (two roundings, and two for a flight
 * of one edge), their difference and its image, the distance and what is left of the sum of radii:
 * root 3 times ten. */
#define GAS_LISTED_ROUNDINGS 18.0

typedef struct overlaps {
    long double deepest; /* absolute */
    long double most;    /* relative, with what the roundings of positions add */
    long double least;
    long double added; /* absolute */
} overlaps;

static void add_overlap(overlaps *o, long double depth, long double reach) {
    o->deepest = fmaxl(o->deepest, depth);
    o->most = fmaxl(o->most, (depth + o->added) / reach);
    o->least = fmaxl(o->least, (depth - o->added) / reach);
}

static overlaps find_overlaps(const carom_gas *gas) {
    long double x[3], y[3];
    overlaps o = {-HUGE_VALL, 0.0L, 0.0L, GAS_LISTED_ROUNDINGS * GAS_ROUNDING * gas->longest};
    for (uint32_t i = 0; i < gas->count; ++i) {
        position_exactly(gas, i, x);
        for (int axis = 0; axis < 3; ++axis) {
            long double r = carom_gas_radius(gas, i),
                        out = fmaxl(r - x[axis], x[axis] + r - gas->rules.edge[axis]);
            if (!gas->rules.periodic[axis]) add_overlap(&o, out, 2.0L * r);
        }
        for (uint32_t k = 0; k < i; ++k) {
            long double square = 0.0L,
                        reach = (long double)carom_gas_radius(gas, i) + carom_gas_radius(gas, k);
            position_exactly(gas, k, y);
            for (int axis = 0; axis < 3; ++axis) {
                long double d = y[axis] - x[axis], edge = gas->rules.edge[axis];
                if (gas->rules.periodic[axis]) d -= edge * roundl(d / edge);
                square += d * d;
            }
            add_overlap(&o, reach - sqrtl(square), reach);
        }
    }
    return o;
}

double gas_deepest_overlap(const carom_gas *gas) {
    return (double)(find_overlaps(gas).deepest / (GAS_ROUNDING * (long double)gas->longest));
}

double gas_most_overlap(const carom_gas *gas) {
    return (GAS_OVERLAP_ROUNDINGS + GAS_LISTED_ROUNDINGS) * GAS_ROUNDING * gas->longest /
           (2.0 * gas->smallest);
}

void gas_assert_apart(carom_context *context, const carom_gas *gas) {
    double found, roundings;
    overlaps o = find_overlaps(gas);
    roundings = (double)(o.deepest / (GAS_ROUNDING * (long double)gas->longest));
    assert_ok(context, carom_gas_overlap(context, gas, &found));
    if (roundings > GAS_OVERLAP_ROUNDINGS)
        fail_msg("two spheres overlap by %g roundings of a position", roundings);
    if (!(found <= o.most) || !(found >= o.least))
        fail_msg("the deepest overlap is %g, from %Lg to %Lg", found, o.least, o.most);
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
        gas_assert_apart(context, gas);
    }
    assert_int_equal(f.done, course->events);
    gas_assert_bodies(gas, &course->oracle);
    gas_assert_apart(context, gas);
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
