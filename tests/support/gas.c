/* SPDX-License-Identifier: MIT */
/* The oracle of gas: obvious, slow, right. */
#include "tests/support/gas.h"

#include <math.h>
#include <string.h>

#define REFRESH CAROM_GAS_EVENT_KIND_COUNT /* a kind that the caller never sees */

static bool before(const gas_oracle_event *p, const gas_oracle_event *q) {
    if (p->time != q->time) return p->time < q->time;
    if (p->kind != q->kind) return p->kind < q->kind;
    return p->a != q->a ? p->a < q->a : p->b < q->b;
}

static void predict_alone(gas_oracle *o, int i) {
    const carom_gas_rules *rules = &o->rules;
    gas_oracle_event best = {
        .time = carom_gas_refresh_time(rules, &o->bodies[i]), .kind = REFRESH, .a = i};
    for (int side = 0; side < 6; ++side) {
        if (rules->periodic[side / 2]) continue;
        gas_oracle_event wall = {.kind = CAROM_GAS_EVENT_KIND_WALL, .a = i, .b = side};
        wall.time = carom_gas_wall_time(rules, &o->bodies[i], o->radius[i], side / 2, side % 2);
        if (before(&wall, &best)) best = wall;
    }
    o->alone[i] = best;
}

/* All images next to the one that is nearest now; but none that, along some axis, does not come
 * within reach before all are looked at again: relative velocities do not change until then. */
static void predict_pair(gas_oracle *o, int i, int k) {
    int a = i < k ? i : k, b = i < k ? k : i, middle[3], image[3];
    const carom_gas_rules *rules = &o->rules;
    double xa[3], xb[3], va[3], vb[3], reach = o->radius[a] + o->radius[b];
    bool sensible[3][3];
    carom_gas_state_at(rules, &o->bodies[a], carom_gas_span(rules, o->now - o->bodies[a].t), xa,
                       va);
    carom_gas_state_at(rules, &o->bodies[b], carom_gas_span(rules, o->now - o->bodies[b].t), xb,
                       vb);
    for (int axis = 0; axis < 3; ++axis) {
        double d = xb[axis] - xa[axis], edge = rules->edge[axis];
        double way = fabs(vb[axis] - va[axis]) * carom_gas_span(rules, o->expiry - o->now);
        middle[axis] = rules->periodic[axis] ? (int)lround(-d / edge) : 0;
        for (int n = 0; n < 3; ++n) {
            bool comes = fabs(d + (middle[axis] + n - 1) * edge) - way <= 1.001 * reach;
            sensible[axis][n] = (rules->periodic[axis] || n == 1) && (o->plain || comes);
        }
    }
    gas_oracle_event best = {
        .time = CAROM_GAS_NEVER, .kind = CAROM_GAS_EVENT_KIND_PAIR, .a = a, .b = b};
    for (int n = 0; n < 27; ++n) {
        int at[3] = {n % 3, n / 3 % 3, n / 9};
        if (!sensible[0][at[0]] || !sensible[1][at[1]] || !sensible[2][at[2]]) continue;
        for (int axis = 0; axis < 3; ++axis) image[axis] = middle[axis] + at[axis] - 1;
        int64_t time = carom_gas_pair_time(rules, &o->bodies[a], &o->bodies[b], image, reach);
        if (time >= best.time) continue;
        best.time = time;
        memcpy(best.image, image, sizeof(image));
    }
    o->pairs[a][b] = best;
}

/* Half a box of relative motion: within that, no other image can come near. */
static void set_expiry(gas_oracle *o) {
    double speed = 1e-30, edge = 1e30;
    for (int axis = 0; axis < 3; ++axis)
        if (o->rules.periodic[axis] && o->rules.edge[axis] < edge) edge = o->rules.edge[axis];
    for (int i = 0; i < o->count; ++i) {
        if (!o->alive[i]) continue;
        double x[3], v[3];
        carom_gas_state_at(&o->rules, &o->bodies[i],
                           carom_gas_span(&o->rules, o->now - o->bodies[i].t), x, v);
        for (int axis = 0; axis < 3; ++axis) speed = fmax(speed, fabs(v[axis]));
    }
    int64_t ticks = carom_gas_ticks(&o->rules, 0.25 * edge / speed);
    o->expiry = ticks == CAROM_GAS_NEVER ? CAROM_GAS_NEVER : o->now + ticks;
}

static void predict_with_all(gas_oracle *o, int i, int from) {
    predict_alone(o, i);
    for (int k = from; k < o->count; ++k)
        if (k != i && o->alive[k]) predict_pair(o, i, k);
}

static void predict_all(gas_oracle *o) {
    set_expiry(o);
    for (int i = 0; i < o->count; ++i)
        if (o->alive[i]) predict_with_all(o, i, i + 1);
}

static void put_body(gas_oracle *o, int id, const carom_gas_sphere *sphere) {
    const double x[3] = {sphere->position.x, sphere->position.y, sphere->position.z};
    const double v[3] = {sphere->velocity.x, sphere->velocity.y, sphere->velocity.z};
    carom_gas_body *body = &o->bodies[id];
    *body = (carom_gas_body){.t = o->now};
    for (int axis = 0; axis < 3; ++axis) {
        double edge = o->rules.edge[axis];
        body->x[axis] = o->rules.periodic[axis] ? x[axis] - edge * floor(x[axis] / edge) : x[axis];
        body->v[axis] = v[axis];
    }
    o->radius[id] = sphere->radius;
    o->mass[id] = sphere->mass == 0.0 ? 1.0 : sphere->mass;
    o->alive[id] = true;
    if (id >= o->count) o->count = id + 1;
}

void gas_oracle_init(gas_oracle *o, const carom_gas_def *def, double tick,
                     const carom_gas_sphere *spheres, int count) {
    memset(o, 0, sizeof(*o));
    const double edge[3] = {def->edges.x, def->edges.y, def->edges.z};
    const double a[3] = {def->acceleration.x, def->acceleration.y, def->acceleration.z};
    o->rules = (carom_gas_rules){.tick = tick,
                                 .ticks_per_unit = 1.0 / tick,
                                 .loss = def->loss,
                                 .wall_loss = def->wall_loss,
                                 .elastic_below = def->elastic_below};
    for (int axis = 0; axis < 3; ++axis) {
        o->rules.edge[axis] = edge[axis];
        o->rules.acceleration[axis] = a[axis];
        o->rules.periodic[axis] = def->periodic[axis];
        o->rules.accelerated |= a[axis] != 0.0;
    }
    for (int i = 0; i < count; ++i) put_body(o, i, &spheres[i]);
    predict_all(o);
}

void gas_oracle_make_plain(gas_oracle *o) {
    o->plain = true;
    predict_all(o);
}

void gas_oracle_put(gas_oracle *o, int id, const carom_gas_sphere *sphere) {
    put_body(o, id, sphere);
    predict_all(o);
}

void gas_oracle_take(gas_oracle *o, int id) {
    o->alive[id] = false;
}

/* ---- time passes ----------------------------------------------------------------------------- */

static void move_epoch(gas_oracle *o) {
    ++o->epochs;
    o->now -= CAROM_GAS_EPOCH;
    for (int i = 0; i < o->count; ++i)
        if (o->alive[i]) o->bodies[i].t -= CAROM_GAS_EPOCH;
    predict_all(o);
}

static gas_oracle_event earliest(const gas_oracle *o) {
    gas_oracle_event best = {.time = CAROM_GAS_NEVER, .kind = 9};
    for (int i = 0; i < o->count; ++i) {
        if (!o->alive[i]) continue;
        if (before(&o->alone[i], &best)) best = o->alone[i];
        for (int k = i + 1; k < o->count; ++k)
            if (o->alive[k] && before(&o->pairs[i][k], &best)) best = o->pairs[i][k];
    }
    return best;
}

static void happen(gas_oracle *o, const gas_oracle_event *event) {
    o->now = event->time;
    if (event->kind == CAROM_GAS_EVENT_KIND_PAIR)
        (void)carom_gas_meet(&o->rules, &o->bodies[event->a], &o->bodies[event->b], event->image,
                             event->time, o->mass[event->a], o->mass[event->b]);
    else if (event->kind == CAROM_GAS_EVENT_KIND_WALL)
        carom_gas_bounce(&o->rules, &o->bodies[event->a], event->b / 2, event->b % 2, event->time);
    else
        carom_gas_rewrite(&o->rules, &o->bodies[event->a], event->time);
    int changed[2] = {event->a, event->kind == CAROM_GAS_EVENT_KIND_PAIR ? event->b : event->a};
    for (int c = 0; c < 2; ++c) /* no cells, so nothing to count boxes from */
        memset(o->bodies[changed[c]].wraps, 0, sizeof(o->bodies[0].wraps));
    int64_t expiry = o->expiry;
    set_expiry(o); /* faster spheres may shorten it; it never grows without a new look at all */
    o->expiry = o->expiry < expiry ? o->expiry : expiry;
    for (int c = 0; c < 2; ++c) predict_with_all(o, changed[c], 0);
}

bool gas_oracle_wait(gas_oracle *o, int64_t ticks, gas_oracle_event *event) {
    int64_t until = ticks < CAROM_GAS_NEVER - o->now ? o->now + ticks : CAROM_GAS_NEVER;
    for (;;) {
        if (o->now > INT64_C(1) << 60) {
            move_epoch(o);
            if (until != CAROM_GAS_NEVER) until -= CAROM_GAS_EPOCH;
        }
        gas_oracle_event best = earliest(o);
        int64_t reached = until < o->expiry ? until : o->expiry;
        if (best.time > reached) {
            o->now = reached;
            if (reached == until) return false;
            predict_all(o);
            continue;
        }
        happen(o, &best);
        best.since_create = (uint64_t)best.time + (o->epochs << 59);
        *event = best;
        if (best.kind != REFRESH) return true;
    }
}

gas_oracle_event gas_oracle_next(gas_oracle *o) {
    gas_oracle_event event;
    assert_true(gas_oracle_wait(o, CAROM_GAS_NEVER, &event));
    return event;
}

bool gas_fits(const carom_gas_def *def, const carom_gas_sphere *spheres, int count,
              const carom_gas_sphere *sphere) {
    const double edge[3] = {def->edges.x, def->edges.y, def->edges.z};
    const double x[3] = {sphere->position.x, sphere->position.y, sphere->position.z};
    for (int k = 0; k < count; ++k) {
        const double y[3] = {spheres[k].position.x, spheres[k].position.y, spheres[k].position.z};
        double square = 0.0, reach = sphere->radius + spheres[k].radius;
        for (int axis = 0; axis < 3; ++axis) {
            double d = fabs(x[axis] - y[axis]);
            if (def->periodic[axis]) d = fmin(d, edge[axis] - d);
            square += d * d;
        }
        if (square < reach * reach) return false;
    }
    return true;
}

bool gas_random_position(carom_random *random, const carom_gas_def *def,
                         const carom_gas_sphere *spheres, int count, carom_gas_sphere *sphere) {
    const double edge[3] = {def->edges.x, def->edges.y, def->edges.z};
    double x[3];
    for (int axis = 0; axis < 3; ++axis) {
        double margin = def->periodic[axis] ? 0.0 : sphere->radius;
        x[axis] = carom_random_between(random, margin, edge[axis] - margin);
    }
    sphere->position = (carom_vec3){x[0], x[1], x[2]};
    return gas_fits(def, spheres, count, sphere);
}

carom_vec3 gas_random_velocity(carom_random *random) {
    carom_vec3 v;
    v.x = carom_random_normal(random);
    v.y = carom_random_normal(random);
    v.z = carom_random_normal(random);
    return v;
}

int gas_random_spheres(uint64_t seed, const carom_gas_def *def, double radius, double ratio,
                       int count, carom_gas_sphere *spheres) {
    carom_random random = {seed};
    int made = 0;
    for (int attempt = 0; attempt < 200 * count && made < count; ++attempt) {
        carom_gas_sphere *s = &spheres[made];
        double more = (ratio - 1.0) * (made % 7 == 0) * carom_random_uniform(&random);
        *s = (carom_gas_sphere){.radius = radius * (1.0 + more), .mass = made % 3 == 0 ? 2.5 : 0.0};
        if (!gas_random_position(&random, def, spheres, made, s)) continue;
        if (made % 11 != 5) s->velocity = gas_random_velocity(&random);
        ++made;
    }
    return made;
}
