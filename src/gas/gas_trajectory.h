/* SPDX-License-Identifier: MIT */
/* gas_trajectory.h: float trajectories of all spheres, for vectorised lower bounds of collision
 * times.
 *
 * A trajectory is the position the sphere would have at one common time, and its velocity. Under an
 * acceleration it is given in the falling frame, so all trajectories are straight. Its radius
 * exceeds the sphere's by an upper bound of all float errors. Invariant: the time at which two
 * trajectories meet is never later than the true one, so it is a lower bound. Bounds never decide
 * an event: the candidates that could be first are evaluated by the exact item function.
 *
 * Upper bound of the error for a pair, in units of 2^-24: 6 edges of the box per axis for
 * positions, 5 times the path travelled since the common time for each of the two, and (1 + 2 (sum
 * of speeds) / (relative speed)) times the path to the collision. The last term is kept small by
 * treating slow pairs separately: pairs whose relative speed is below SLOW of the sum of their
 * speeds, or a little above. Slow pairs always go to the item function, as do spheres far faster
 * than most. Rounding while solving for the time is less than the 2^-19 of the squared distance
 * that bound_eight in gas_run_cpu.c subtracts. */
#ifndef CAROM_SRC_GAS_GAS_TRAJECTORY_H
#define CAROM_SRC_GAS_GAS_TRAJECTORY_H

#include <math.h>

#include "gas/gas_levels.h"

/* SLOW_SHARE is a share of the sum of speeds; TRAJECTORY_LENGTH the typical path between two common
 * times, in lengths. Half and twice these values are as fast, within 5 %. */
#define CAROM_GAS_SLOW_SHARE        0.05
#define CAROM_GAS_TRAJECTORY_LENGTH 8.0
#define CAROM_GAS_SLOW_SHARE2       (2.0f * (float)(CAROM_GAS_SLOW_SHARE * CAROM_GAS_SLOW_SHARE))
/* Squared speed, in lengths per unit of time, below which a pair counts as slow: its products would
 * come near the least normal float, 1e-38. */
#define CAROM_GAS_LEAST_SPEED2    1e-26f
#define CAROM_GAS_MOST_COORDINATE 1e9   /* lengths: products of squares are far below 3e38 */
#define CAROM_GAS_MOST_GROWTH     0.002 /* of a radius, by speed; more is too fast for floats */

/* Writes the trajectory of a body, except its stamp. */
static inline void carom_gas_trajectory_write(carom_gas *gas, uint32_t slot) {
    carom_gas_trajectories *trajectories = &gas->trajectories;
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *body = &gas->bodies[slot];
    carom_gas_trajectory *trajectory = &trajectories->by_slot[slot];
    double span = carom_gas_span(rules, body->t - trajectories->start), square = 0.0, most = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        double v = body->v[axis];
        double x = (body->x[axis] - (double)body->wraps[axis] * rules->edge[axis]) - v * span;
        if (rules->accelerated) {
            double pull = rules->acceleration[axis] * span;
            x += 0.5 * pull * span;
            v -= pull;
        }
        x *= trajectories->per_length;
        v *= trajectories->per_speed;
        square += v * v;
        most += fabs(x);
        trajectory->x[axis] = (float)x;
        trajectory->v[axis] = (float)v;
    }
    double radius = trajectories->common_radius;
    if (!(radius > 0.0)) radius = carom_gas_radius(gas, slot) * trajectories->per_length;
    double growth = trajectories->growth_by_speed * sqrt(square);
    double constant = gas->levels.count == 0
                          ? trajectories->growth
                          : gas->levels.level[carom_gas_level_at(gas, slot)].growth;
    trajectory->radius = (float)(radius + constant + growth);
    if (!(most < CAROM_GAS_MOST_COORDINATE && growth < CAROM_GAS_MOST_GROWTH * radius)) {
        for (int axis = 0; axis < 3; ++axis) trajectory->v[axis] = NAN; /* slow with all others */
        ++trajectories->fast;
    }
}

/* Updates the trajectory of a body that was rewritten and will be predicted. */
static inline void carom_gas_trajectory_set(carom_gas *gas, uint32_t slot) {
    uint32_t *stamp = &gas->trajectories.by_slot[slot].stamp;
    *stamp = (*stamp | (CAROM_GAS_REWRITTEN - 1)) + 1;
    carom_gas_trajectory_write(gas, slot);
}

/* Updates the trajectory of a body whose wraps have changed. */
static inline void carom_gas_trajectory_shift(carom_gas *gas, uint32_t slot) {
    ++gas->trajectories.by_slot[slot].stamp;
    carom_gas_trajectory_write(gas, slot);
}

#endif
