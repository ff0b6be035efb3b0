/* SPDX-License-Identifier: MIT */
/* gas_item.h: the exact item functions: times of pair and wall collisions, and the collision
 * response.
 *
 * A body is (x, v, t): at tick t it was at x with velocity v. It is rewritten only when it takes
 * part in an event. Times are whole ticks, so shifting the epoch changes no bit. Invariant: each
 * predicted time is a function of the bodies concerned alone. It does not depend on when, through
 * which cell or for which of the two spheres it was predicted. Therefore every method and queue
 * gives the same events.
 *
 * Prediction is stable in the sense of Bannerman, Strobl, Formella, Poeschel (2014): spheres that
 * overlap by rounding and approach meet at once, those that recede do not meet. */
#ifndef CAROM_SRC_GAS_GAS_ITEM_H
#define CAROM_SRC_GAS_GAS_ITEM_H

#include <math.h>
#include <stdint.h>

#include "base/item.h"

/* The delay of an event that never happens: more than 2^61 ticks, whatever the tick. */
#define CAROM_GAS_NEVER_DELAY 1e300

/* Ticks: all times are below 2^61 + CAROM_GAS_HORIZON; NEVER is later than any time. */
#define CAROM_GAS_NEVER   INT64_MAX
#define CAROM_GAS_HORIZON (INT64_C(1) << 61)

/* A body is rewritten at the latest when it may have drifted by this many edges of a periodic box:
 * its wraps, and those of a partner seen from it, then fit eight bits. */
#define CAROM_GAS_MOST_DRIFT 32.0

/* One cache line. */
typedef struct carom_gas_body {
    double x[3];
    int64_t t;
    double v[3];
    int8_t wraps[3]; /* box of its cell: x relative to the cells = x - wraps * edge */
    uint8_t spare[5];
} carom_gas_body;

typedef struct carom_gas_rules {
    double edge[3];
    double acceleration[3];
    double tick, ticks_per_unit; /* powers of two, inverse to each other */
    double loss, wall_loss, elastic_below;
    uint8_t periodic[3], accelerated, walls;
} carom_gas_rules;

/* Converts ticks to the caller's unit of time. */
CAROM_ITEM double carom_gas_span(const carom_gas_rules *rules, int64_t ticks) {
    return (double)ticks * rules->tick;
}

/* Converts a delay to whole ticks, rounded down: an event never comes after contact. */
CAROM_ITEM int64_t carom_gas_ticks(const carom_gas_rules *rules, double delay) {
    double ticks = delay * rules->ticks_per_unit;
    return ticks < (double)CAROM_GAS_HORIZON ? (int64_t)ticks : CAROM_GAS_NEVER;
}

CAROM_ITEM int64_t carom_gas_after(const carom_gas_rules *rules, int64_t start, double delay) {
    int64_t ticks = carom_gas_ticks(rules, delay);
    return ticks == CAROM_GAS_NEVER ? CAROM_GAS_NEVER : start + ticks;
}

/* Position and velocity at `span` after the body's own time. */
CAROM_ITEM void carom_gas_state_at(const carom_gas_rules *rules, const carom_gas_body *body,
                                   double span, double x[3], double v[3]) {
    for (int axis = 0; axis < 3; ++axis) {
        x[axis] = body->x[axis] + body->v[axis] * span;
        v[axis] = body->v[axis];
        if (rules->accelerated) {
            x[axis] = x[axis] + (0.5 * rules->acceleration[axis]) * (span * span);
            v[axis] = v[axis] + rules->acceleration[axis] * span;
        }
    }
}

/* Delay until |d + u t| = sqrt(contact2), or CAROM_GAS_NEVER_DELAY. It has no branches, so it can
 * be vectorised. The discriminant uses the cross product, which loses no digits to distance. The
 * root is taken in the form without cancellation. */
CAROM_ITEM double carom_gas_pair_delay(double dx, double dy, double dz, double ux, double uy,
                                       double uz, double contact2) {
    double b = (dx * ux + dy * uy) + dz * uz;
    double uu = (ux * ux + uy * uy) + uz * uz;
    double gap = ((dx * dx + dy * dy) + dz * dz) - contact2;
    double cx = dy * uz - dz * uy, cy = dz * ux - dx * uz, cz = dx * uy - dy * ux;
    double disc = contact2 * uu - ((cx * cx + cy * cy) + cz * cz);
    double root = sqrt(disc > 0.0 ? disc : 0.0);
    double delay = 0.5 * (gap + fabs(gap)) / (root - b); /* the gap, or zero where they overlap */
    int hits = (b < 0.0) & ((disc >= 0.0) | (gap <= 0.0));
    return hits ? delay : CAROM_GAS_NEVER_DELAY;
}

/* Tick at which b, shifted by `image` boxes, meets a. Symmetric: exchanging a and b and the sign of
 * image gives the same bits. */
CAROM_ITEM int64_t carom_gas_pair_time(const carom_gas_rules *rules, const carom_gas_body *a,
                                       const carom_gas_body *b, const int image[3],
                                       double contact) {
    int64_t start = a->t > b->t ? a->t : b->t;
    double xa[3], va[3], xb[3], vb[3], d[3], u[3];
    carom_gas_state_at(rules, a, carom_gas_span(rules, start - a->t), xa, va);
    carom_gas_state_at(rules, b, carom_gas_span(rules, start - b->t), xb, vb);
    for (int axis = 0; axis < 3; ++axis) {
        d[axis] = (xb[axis] - xa[axis]) + (double)image[axis] * rules->edge[axis];
        u[axis] = vb[axis] - va[axis];
    }
    double delay = carom_gas_pair_delay(d[0], d[1], d[2], u[0], u[1], u[2], contact * contact);
    return carom_gas_after(rules, start, delay);
}

/* Delay until gap + v t + a t^2 / 2 reaches zero from above, or CAROM_GAS_NEVER_DELAY. */
CAROM_ITEM double carom_gas_fall_delay(double gap, double v, double a) {
    gap = gap > 0.0 ? gap : 0.0;
    if (a >= 0.0) {
        double disc = v * v - 2.0 * a * gap;
        if (!(v < 0.0) || disc < 0.0) return CAROM_GAS_NEVER_DELAY;
        return 2.0 * gap / (sqrt(disc) - v);
    }
    double root = sqrt(v * v - 2.0 * a * gap);
    if (v > 0.0) return (v + root) / -a;
    return gap > 0.0 ? 2.0 * gap / (root - v) : 0.0;
}

/* Tick at which the body meets the low (high = 0) or high (high = 1) wall of an axis. */
CAROM_ITEM int64_t carom_gas_wall_time(const carom_gas_rules *rules, const carom_gas_body *body,
                                       double radius, int axis, int high) {
    double x = body->x[axis], v = body->v[axis], a = rules->acceleration[axis];
    double delay = high == 0 ? carom_gas_fall_delay(x - radius, v, a)
                             : carom_gas_fall_delay((rules->edge[axis] - radius) - x, -v, -a);
    return carom_gas_after(rules, body->t, delay);
}

/* Tick of the refresh: a body that meets nothing is rewritten then. */
CAROM_ITEM int64_t carom_gas_refresh_time(const carom_gas_rules *rules,
                                          const carom_gas_body *body) {
    int64_t time = body->t + CAROM_GAS_HORIZON;
    for (int axis = 0; axis < 3; ++axis) {
        if (!rules->periodic[axis]) continue;
        double path = CAROM_GAS_MOST_DRIFT * rules->edge[axis];
        double v = body->v[axis] < 0.0 ? -body->v[axis] : body->v[axis];
        double a = rules->acceleration[axis] < 0.0 ? -rules->acceleration[axis]
                                                   : rules->acceleration[axis];
        double speed = v + sqrt(v * v + 2.0 * a * path);
        if (!(speed > 0.0)) continue;
        int64_t drifted = carom_gas_after(rules, body->t, 2.0 * path / speed);
        time = drifted < time ? drifted : time;
    }
    return time;
}

/* Rewrites the body at `time` and maps its position into the box along periodic axes. Its cell does
 * not change, so `wraps` is adjusted. */
CAROM_ITEM void carom_gas_rewrite(const carom_gas_rules *rules, carom_gas_body *body,
                                  int64_t time) {
    double x[3], v[3];
    carom_gas_state_at(rules, body, carom_gas_span(rules, time - body->t), x, v);
    for (int axis = 0; axis < 3; ++axis) {
        if (rules->periodic[axis] && !(x[axis] >= 0.0 && x[axis] < rules->edge[axis])) {
            double boxes = x[axis] / rules->edge[axis];
            int whole = (int)boxes;
            if ((double)whole > boxes) --whole;
            x[axis] = x[axis] - (double)whole * rules->edge[axis];
            body->wraps[axis] = (int8_t)(body->wraps[axis] - whole);
        }
        body->x[axis] = x[axis];
        body->v[axis] = v[axis];
    }
    body->t = time;
}

/* Rounds in which carom_gas_meet removes an approach left by rounding. The impulse doubles each
 * round; 128 doublings cover the square of the rounding of doubles, 2^-106. */
#define CAROM_GAS_MOST_ROUNDS 128

/* The result of one collision. */
typedef struct carom_gas_contact {
    double normal[3]; /* unit vector from a to b, or into the wall */
    double virial;    /* distance times exchanged momentum */
} carom_gas_contact;

/* Rewrites a and b at `time` and applies their collision; b is shifted by `image` boxes. Velocities
 * do not change when the two do not approach (a grazing contact, to rounding). Afterwards the two
 * do not approach. If rounding leaves an approach, further impulses remove it; they double each
 * round, as a small one may vanish in rounding. Without this the two would meet again immediately,
 * endlessly. */
CAROM_ITEM carom_gas_contact carom_gas_meet(const carom_gas_rules *rules, carom_gas_body *a,
                                            carom_gas_body *b, const int image[3], int64_t time,
                                            double mass_a, double mass_b) {
    double d[3], u[3];
    carom_gas_contact contact;
    int before[3];
    for (int axis = 0; axis < 3; ++axis) before[axis] = b->wraps[axis] - a->wraps[axis];
    carom_gas_rewrite(rules, a, time);
    carom_gas_rewrite(rules, b, time);
    for (int axis = 0; axis < 3; ++axis) { /* rewriting may have shifted either by whole boxes */
        int boxes = image[axis] + before[axis] - (b->wraps[axis] - a->wraps[axis]);
        d[axis] = (b->x[axis] - a->x[axis]) + (double)boxes * rules->edge[axis];
        u[axis] = b->v[axis] - a->v[axis];
    }
    double dot = (d[0] * u[0] + d[1] * u[1]) + d[2] * u[2];
    double square = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
    double length = sqrt(square);
    double bounce = 1.0 + (-dot < rules->elastic_below * length ? 1.0 : 1.0 - rules->loss);
    double share = dot < 0.0 ? bounce / (mass_a + mass_b) * dot : 0.0;
    double push = share / square;
    contact.virial = -share * mass_a * mass_b;
    for (int round = 0; dot < 0.0 && round < CAROM_GAS_MOST_ROUNDS; ++round) {
        for (int axis = 0; axis < 3; ++axis) {
            a->v[axis] = a->v[axis] + (push * mass_b) * d[axis];
            b->v[axis] = b->v[axis] - (push * mass_a) * d[axis];
            u[axis] = b->v[axis] - a->v[axis];
        }
        dot = (d[0] * u[0] + d[1] * u[1]) + d[2] * u[2];
        push = round == 0 ? dot / ((mass_a + mass_b) * square) : 2.0 * push;
    }
    for (int axis = 0; axis < 3; ++axis) contact.normal[axis] = d[axis] / length;
    return contact;
}

/* Rewrites the body at `time` and reflects it off a wall. */
CAROM_ITEM void carom_gas_bounce(const carom_gas_rules *rules, carom_gas_body *body, int axis,
                                 int high, int64_t time) {
    carom_gas_rewrite(rules, body, time);
    double v = body->v[axis], speed = v < 0.0 ? -v : v;
    int inward = high == 0 ? v < 0.0 : v > 0.0;
    if (!inward) return;
    body->v[axis] = speed < rules->elastic_below ? -v : -(v * (1.0 - rules->wall_loss));
}

#endif
