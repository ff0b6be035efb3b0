/* SPDX-License-Identifier: MIT */
/* All pairs, for thousands of spheres. Runs within one epoch. */
#include "tests/support/gas_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REFRESH CAROM_GAS_EVENT_KIND_COUNT /* a kind that the caller never sees */

struct gas_pairs {
    carom_gas_rules rules;
    int count;
    int64_t now, expiry; /* images are right up to there */
    carom_gas_body *bodies;
    double *radius, *mass;
    gas_oracle_event *first; /* of each sphere: a pair with any other, a wall or the refresh */
};

static bool comes_before(const gas_oracle_event *p, const gas_oracle_event *q) {
    if (p->time != q->time) return p->time < q->time;
    if (p->kind != q->kind) return p->kind < q->kind;
    return p->a != q->a ? p->a < q->a : p->b < q->b;
}

static void position_now(const gas_pairs *o, int i, double x[3], double v[3]) {
    carom_gas_state_at(&o->rules, &o->bodies[i], carom_gas_span(&o->rules, o->now - o->bodies[i].t),
                       x, v);
}

static gas_oracle_event alone(const gas_pairs *o, int i) {
    gas_oracle_event best = {
        .time = carom_gas_refresh_time(&o->rules, &o->bodies[i]), .kind = REFRESH, .a = i};
    for (int side = 0; side < 6; ++side) {
        if (o->rules.periodic[side / 2]) continue;
        gas_oracle_event wall = {.kind = CAROM_GAS_EVENT_KIND_WALL, .a = i, .b = side};
        wall.time = carom_gas_wall_time(&o->rules, &o->bodies[i], o->radius[i], side / 2, side % 2);
        if (comes_before(&wall, &best)) best = wall;
    }
    return best;
}

/* The collision of two spheres, in the images that come within reach before all are looked at
 * again. */
static gas_oracle_event find_collision(const gas_pairs *o, int i, int k) {
    int a = i < k ? i : k, b = i < k ? k : i, from[3], to[3], image[3];
    const carom_gas_rules *rules = &o->rules;
    double xa[3], xb[3], va[3], vb[3], reach = o->radius[a] + o->radius[b];
    gas_oracle_event best = {
        .time = CAROM_GAS_NEVER, .kind = CAROM_GAS_EVENT_KIND_PAIR, .a = a, .b = b};
    position_now(o, a, xa, va);
    position_now(o, b, xb, vb);
    for (int axis = 0; axis < 3; ++axis) {
        double d = xb[axis] - xa[axis], edge = rules->edge[axis];
        int middle = rules->periodic[axis] ? (int)lround(-d / edge) : 0;
        double way = fabs(vb[axis] - va[axis]) * carom_gas_span(rules, o->expiry - o->now);
        from[axis] = 1, to[axis] = -1;
        for (int n = middle - 1; n <= middle + 1; ++n) {
            if (!rules->periodic[axis] && n != 0) continue;
            if (rules->periodic[axis] && fabs(d + n * edge) - way > 1.001 * reach) continue;
            if (from[axis] > to[axis]) from[axis] = n;
            to[axis] = n;
        }
    }
    for (image[2] = from[2]; image[2] <= to[2]; ++image[2])
        for (image[1] = from[1]; image[1] <= to[1]; ++image[1])
            for (image[0] = from[0]; image[0] <= to[0]; ++image[0]) {
                int64_t time =
                    carom_gas_pair_time(rules, &o->bodies[a], &o->bodies[b], image, reach);
                if (time >= best.time) continue;
                best.time = time;
                memcpy(best.image, image, sizeof(image));
            }
    return best;
}

static void find_first(gas_pairs *o, int i) {
    gas_oracle_event best = alone(o, i);
    for (int k = 0; k < o->count; ++k) {
        if (k == i) continue;
        gas_oracle_event pair = find_collision(o, i, k);
        if (comes_before(&pair, &best)) best = pair;
    }
    o->first[i] = best;
}

/* A quarter of a box of motion: within that, no other image can come near. */
static void find_expiry(gas_pairs *o) {
    double speed = 1e-30, edge = 1e30;
    for (int axis = 0; axis < 3; ++axis)
        if (o->rules.periodic[axis]) edge = fmin(edge, o->rules.edge[axis]);
    for (int i = 0; i < o->count; ++i) {
        double x[3], v[3];
        position_now(o, i, x, v);
        for (int axis = 0; axis < 3; ++axis) speed = fmax(speed, fabs(v[axis]));
    }
    int64_t ticks = carom_gas_ticks(&o->rules, 0.25 * edge / speed);
    o->expiry = ticks == CAROM_GAS_NEVER ? CAROM_GAS_NEVER : o->now + ticks;
}

static void find_all(gas_pairs *o) {
    find_expiry(o);
    for (int i = 0; i < o->count; ++i) find_first(o, i);
}

gas_pairs *gas_pairs_create(const carom_gas_def *def, double tick, const carom_gas_sphere *spheres,
                            int count) {
    const double edge[3] = {def->edges.x, def->edges.y, def->edges.z};
    const double a[3] = {def->acceleration.x, def->acceleration.y, def->acceleration.z};
    gas_pairs *o = calloc(1, sizeof(*o));
    assert_non_null(o);
    o->rules = (carom_gas_rules){.tick = tick,
                                 .ticks_per_unit = 1.0 / tick,
                                 .loss = def->loss,
                                 .wall_loss = def->wall_loss,
                                 .elastic_below = def->elastic_below};
    o->count = count;
    o->bodies = calloc((size_t)count, sizeof(*o->bodies));
    o->radius = calloc((size_t)count, sizeof(*o->radius));
    o->mass = calloc((size_t)count, sizeof(*o->mass));
    o->first = calloc((size_t)count, sizeof(*o->first));
    assert_true(o->bodies != NULL && o->radius != NULL && o->mass != NULL && o->first != NULL);
    for (int axis = 0; axis < 3; ++axis) {
        o->rules.edge[axis] = edge[axis];
        o->rules.acceleration[axis] = a[axis];
        o->rules.periodic[axis] = def->periodic[axis];
        o->rules.accelerated |= a[axis] != 0.0;
    }
    for (int i = 0; i < count; ++i) {
        const double x[3] = {spheres[i].position.x, spheres[i].position.y, spheres[i].position.z};
        const double v[3] = {spheres[i].velocity.x, spheres[i].velocity.y, spheres[i].velocity.z};
        memcpy(o->bodies[i].x, x, sizeof(x));
        memcpy(o->bodies[i].v, v, sizeof(v));
        o->radius[i] = spheres[i].radius;
        o->mass[i] = spheres[i].mass == 0.0 ? 1.0 : spheres[i].mass;
    }
    find_all(o);
    return o;
}

void gas_pairs_destroy(gas_pairs *o) {
    free(o->bodies);
    free(o->radius);
    free(o->mass);
    free(o->first);
    free(o);
}

/* Two spheres are compared with all others; those that were to meet one of them look at all. */
static void compare_again(gas_pairs *o, const int changed[2]) {
    find_first(o, changed[0]);
    if (changed[1] != changed[0]) find_first(o, changed[1]);
    for (int i = 0; i < o->count; ++i) {
        if (i == changed[0] || i == changed[1]) continue;
        const gas_oracle_event *own = &o->first[i];
        int other = own->a == i ? own->b : own->a;
        if (own->kind == CAROM_GAS_EVENT_KIND_PAIR &&
            (other == changed[0] || other == changed[1])) {
            find_first(o, i);
            continue;
        }
        for (int c = 0; c < 2; ++c) {
            gas_oracle_event pair = find_collision(o, i, changed[c]);
            if (comes_before(&pair, &o->first[i])) o->first[i] = pair;
        }
    }
}

static void do_first(gas_pairs *o, const gas_oracle_event *event) {
    o->now = event->time;
    bool pair = event->kind == CAROM_GAS_EVENT_KIND_PAIR;
    carom_gas_body *a = &o->bodies[event->a];
    if (pair)
        (void)carom_gas_meet(&o->rules, a, &o->bodies[event->b], event->image, event->time,
                             o->mass[event->a], o->mass[event->b]);
    else if (event->kind == CAROM_GAS_EVENT_KIND_WALL)
        carom_gas_bounce(&o->rules, a, event->b / 2, event->b % 2, event->time);
    else
        carom_gas_rewrite(&o->rules, a, event->time);
    const int changed[2] = {event->a, pair ? event->b : event->a};
    for (int c = 0; c < 2; ++c) /* no cells, so nothing to count boxes from */
        memset(o->bodies[changed[c]].wraps, 0, sizeof(a->wraps));
    int64_t expiry = o->expiry;
    find_expiry(o); /* faster spheres may shorten it; it never grows without a new look at all */
    o->expiry = o->expiry < expiry ? o->expiry : expiry;
    compare_again(o, changed);
}

gas_oracle_event gas_pairs_next(gas_pairs *o) {
    for (;;) {
        gas_oracle_event best = o->first[0];
        for (int i = 1; i < o->count; ++i)
            if (comes_before(&o->first[i], &best)) best = o->first[i];
        assert_true(o->now < INT64_C(1) << 60);
        if (best.time > o->expiry) {
            o->now = o->expiry;
            find_all(o);
            continue;
        }
        do_first(o, &best);
        best.since_create = (uint64_t)best.time;
        if (best.kind != REFRESH) return best;
    }
}

const carom_gas_body *gas_pairs_body(const gas_pairs *o, int id) {
    return &o->bodies[id];
}

int64_t gas_pairs_now(const gas_pairs *o) {
    return o->now;
}
