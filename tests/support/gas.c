/* SPDX-License-Identifier: MIT */
/* The oracle of gas: obvious, slow, right. */
#include "tests/support/gas.h"

#include <math.h>
#include <string.h>

static bool before(const gas_oracle_event *p, const gas_oracle_event *q) {
    if (p->time != q->time) return p->time < q->time;
    if (p->kind != q->kind) return p->kind < q->kind;
    return p->a != q->a ? p->a < q->a : p->b < q->b;
}

static void predict_alone(gas_oracle *o, int i) {
    const carom_gas_rules *rules = &o->rules;
    gas_oracle_event best = {
        .time = carom_gas_refresh_time(rules, &o->bodies[i]), .kind = 2, .a = i};
    for (int side = 0; side < 6; ++side) {
        if (rules->periodic[side / 2]) continue;
        gas_oracle_event wall = {.kind = CAROM_GAS_WALL, .a = i, .b = side};
        wall.time = carom_gas_wall_time(rules, &o->bodies[i], o->radius[i], side / 2, side % 2);
        if (before(&wall, &best)) best = wall;
    }
    o->alone[i] = best;
}

/* All images next to the one that is nearest now. */
static void predict_pair(gas_oracle *o, int i, int k) {
    int a = i < k ? i : k, b = i < k ? k : i, middle[3], image[3];
    const carom_gas_rules *rules = &o->rules;
    double xa[3], xb[3], v[3];
    carom_gas_place(rules, &o->bodies[a], carom_gas_span(rules, o->now - o->bodies[a].t), xa, v);
    carom_gas_place(rules, &o->bodies[b], carom_gas_span(rules, o->now - o->bodies[b].t), xb, v);
    for (int axis = 0; axis < 3; ++axis)
        middle[axis] =
            rules->periodic[axis] ? (int)lround((xa[axis] - xb[axis]) / rules->edge[axis]) : 0;
    gas_oracle_event best = {.time = CAROM_GAS_NEVER, .kind = CAROM_GAS_PAIR, .a = a, .b = b};
    for (int n = 0; n < 27; ++n) {
        int offset[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        bool sensible = true;
        for (int axis = 0; axis < 3; ++axis) {
            image[axis] = middle[axis] + offset[axis];
            sensible &= rules->periodic[axis] || image[axis] == 0;
        }
        if (!sensible) continue;
        int64_t time = carom_gas_pair_time(rules, &o->bodies[a], &o->bodies[b], image,
                                           o->radius[a] + o->radius[b]);
        if (time >= best.time) continue;
        best.time = time;
        memcpy(best.image, image, sizeof(image));
    }
    o->pairs[a][b] = best;
}

/* Half a box of relative motion: within that, no other image can come near. */
static void set_expiry(gas_oracle *o) {
    double speed = 1e-30, edge = 1e30, a = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        if (o->rules.periodic[axis] && o->rules.edge[axis] < edge) edge = o->rules.edge[axis];
        a = fmax(a, fabs(o->rules.acceleration[axis]));
    }
    for (int i = 0; i < o->count; ++i) {
        double x[3], v[3];
        carom_gas_place(&o->rules, &o->bodies[i],
                        carom_gas_span(&o->rules, o->now - o->bodies[i].t), x, v);
        for (int axis = 0; axis < 3; ++axis) speed = fmax(speed, fabs(v[axis]));
    }
    int64_t ticks = carom_gas_ticks(&o->rules, 0.25 * edge / speed);
    o->expiry = ticks == CAROM_GAS_NEVER ? CAROM_GAS_NEVER : o->now + ticks;
}

static void predict_all(gas_oracle *o) {
    set_expiry(o);
    for (int i = 0; i < o->count; ++i) {
        predict_alone(o, i);
        for (int k = i + 1; k < o->count; ++k) predict_pair(o, i, k);
    }
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
    o->count = count;
    for (int axis = 0; axis < 3; ++axis) {
        o->rules.edge[axis] = edge[axis];
        o->rules.acceleration[axis] = a[axis];
        o->rules.periodic[axis] = def->periodic[axis];
        o->rules.accelerated |= a[axis] != 0.0;
    }
    for (int i = 0; i < count; ++i) {
        const double x[3] = {spheres[i].position.x, spheres[i].position.y, spheres[i].position.z};
        const double v[3] = {spheres[i].velocity.x, spheres[i].velocity.y, spheres[i].velocity.z};
        for (int axis = 0; axis < 3; ++axis) {
            o->bodies[i].x[axis] =
                def->periodic[axis] ? x[axis] - edge[axis] * floor(x[axis] / edge[axis]) : x[axis];
            o->bodies[i].v[axis] = v[axis];
        }
        o->radius[i] = spheres[i].radius;
        o->mass[i] = spheres[i].mass == 0.0 ? 1.0 : spheres[i].mass;
    }
    predict_all(o);
}

static void move_epoch(gas_oracle *o) {
    const int64_t epoch = INT64_C(1) << 59;
    ++o->epochs;
    o->now -= epoch;
    for (int i = 0; i < o->count; ++i) o->bodies[i].t -= epoch;
    predict_all(o);
}

gas_oracle_event gas_oracle_next(gas_oracle *o) {
    for (;;) {
        if (o->now > INT64_C(1) << 60) move_epoch(o);
        gas_oracle_event best = {.time = CAROM_GAS_NEVER, .kind = 9};
        for (int i = 0; i < o->count; ++i) {
            if (before(&o->alone[i], &best)) best = o->alone[i];
            for (int k = i + 1; k < o->count; ++k)
                if (before(&o->pairs[i][k], &best)) best = o->pairs[i][k];
        }
        if (best.time > o->expiry) {
            o->now = o->expiry;
            predict_all(o);
            continue;
        }
        o->now = best.time;
        if (best.kind == CAROM_GAS_PAIR)
            (void)carom_gas_meet(&o->rules, &o->bodies[best.a], &o->bodies[best.b], best.image,
                                 best.time, o->mass[best.a], o->mass[best.b]);
        else if (best.kind == CAROM_GAS_WALL)
            carom_gas_bounce(&o->rules, &o->bodies[best.a], best.b / 2, best.b % 2, best.time);
        else
            carom_gas_rewrite(&o->rules, &o->bodies[best.a], best.time);
        int changed[2] = {best.a, best.kind == CAROM_GAS_PAIR ? best.b : best.a};
        for (int c = 0; c < 2; ++c) /* no cells, so nothing to count boxes from */
            memset(o->bodies[changed[c]].wraps, 0, sizeof(o->bodies[0].wraps));
        int64_t expiry = o->expiry;
        set_expiry(o); /* faster spheres may shorten it; it never grows without a new look at all */
        o->expiry = o->expiry < expiry ? o->expiry : expiry;
        for (int c = 0; c < 2; ++c) {
            predict_alone(o, changed[c]);
            for (int k = 0; k < o->count; ++k)
                if (k != changed[c]) predict_pair(o, changed[c], k);
        }
        best.since_create = (uint64_t)best.time + (o->epochs << 59);
        if (best.kind != 2) return best;
    }
}

int gas_random_spheres(uint64_t seed, const carom_gas_def *def, double radius, double ratio,
                       int count, carom_gas_sphere *spheres) {
    carom_random random = {seed};
    const double edge[3] = {def->edges.x, def->edges.y, def->edges.z};
    int placed = 0;
    for (int attempt = 0; attempt < 200 * count && placed < count; ++attempt) {
        carom_gas_sphere *s = &spheres[placed];
        *s =
            (carom_gas_sphere){.radius = radius * (1.0 + (ratio - 1.0) * (double)(placed % 7 == 0) *
                                                             carom_random_uniform(&random)),
                               .mass = placed % 3 == 0 ? 2.5 : 0.0};
        double x[3];
        for (int axis = 0; axis < 3; ++axis) {
            double margin = def->periodic[axis] ? 0.0 : s->radius;
            x[axis] = carom_random_between(&random, margin, edge[axis] - margin);
        }
        bool free = true;
        for (int k = 0; k < placed && free; ++k) {
            const double y[3] = {spheres[k].position.x, spheres[k].position.y,
                                 spheres[k].position.z};
            double square = 0.0, reach = s->radius + spheres[k].radius;
            for (int axis = 0; axis < 3; ++axis) {
                double d = fabs(x[axis] - y[axis]);
                if (def->periodic[axis]) d = fmin(d, edge[axis] - d);
                square += d * d;
            }
            free = square >= reach * reach;
        }
        if (!free) continue;
        s->position = (carom_vec3){x[0], x[1], x[2]};
        if (placed % 11 != 5)
            s->velocity = (carom_vec3){carom_random_normal(&random), carom_random_normal(&random),
                                       carom_random_normal(&random)};
        ++placed;
    }
    return placed;
}
