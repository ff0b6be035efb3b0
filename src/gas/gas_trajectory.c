/* SPDX-License-Identifier: MIT */
/* Units of the float trajectories, and the recomputation of all of them. Invariant: radii grow by
 * no less than the float errors summed in gas_trajectory.h. */
#include "gas/gas_trajectory.h"

/* Error coefficients for each of two spheres, from the sums in gas_trajectory.h. */
#define BY_POSITION  0x1.8p-22 /* per longest edge: two are 12 * 2^-24, three axes 10.4 * 2^-24 */
#define BY_PATH      0x1p-21   /* per path: 8 * 2^-24, where 5 are needed */
#define BY_COLLISION 0x1p-23 /* per path / SLOW: 80 * 2^-24 for two, where 1 + 2 / SLOW = 41 are */

/* Range of the typical time in ticks. Below, a tick would be a visible part of it; above, the eight
 * times that trajectories last would come near the horizon. Outside, and at rest, the default is
 * that of choose_tick in gas.c. */
#define LEAST_TIME   0x1p10
#define MOST_TIME    0x1p54
#define DEFAULT_TIME 0x1p50

/* Upper bound of the distance of two spheres in adjacent cells: two edges and a skin of half an
 * edge at either end, 5.2 edges in space. EXTENT files a sphere by its surface: a radius more at
 * either end, 3.5 radii in space. */
#define PATH_EDGES 6.0
#define PATH_RADII 4.0

/* Of the longest edge: the rounding of two centres of lists, ten times over. */
#define LIST_MARGIN 1e-5

/* A bound in units of time becomes ticks, rounded down. Its own rounding, and that of the unit, are
 * a few times 2^-24. */
#define TICKS_MARGIN 0x1p-19

/* The margin by which the least bound must be first, in units of time. Events do not depend on it:
 * a pair that does not meet within half the margin is predicted exactly. A small one leaves many
 * pairs to be predicted exactly later, a large one many to be evaluated at once. Bounds are early
 * by the growth of the radii divided by the speed, so it is a multiple of that. 2^-10 and
 * 2^-14 are as fast, within 6 %. */
#define LEAST_MARGIN      0x1p-12
#define MARGIN_PER_GROWTH 32.0

/* Two spheres in contact surely recede when d u / |u| is above this many diameters. The floats
 * decide that sign up to an angle of some 2^-20 and the growth of radii. */
#define LEAST_RECEDE      0.02
#define RECEDE_PER_GROWTH 4.0

/* Fast spheres are counted since the last renewal, which comes when there are twice as many as just
 * after it, and a sixteenth of all, and 64. */
#define FAST_SHARE         16
#define LEAST_FAST_SPHERES 64

static double typical_time(const carom_gas *gas, double length) {
    double square = 0.0, n = (double)gas->count;
    for (uint64_t i = 0; i < gas->count; ++i) {
        double x[3], v[3];
        const carom_gas_body *body = &gas->bodies[i];
        carom_gas_state_at(&gas->rules, body, carom_gas_span(&gas->rules, gas->now - body->t), x,
                           v);
        square += ((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]) / n;
    }
    double time = length / sqrt(square);
    if (gas->most_acceleration > 0.0) time = fmin(time, sqrt(length / gas->most_acceleration));
    double tick = gas->rules.tick;
    return time > LEAST_TIME * tick && time < MOST_TIME * tick ? time : DEFAULT_TIME * tick;
}

/* Provisional predictions are valid only up to the uncertainty they were made with. When it grows,
 * they become unresolved. Growth up to a factor of two is not followed: with the smaller value some
 * pairs are predicted exactly that need not be. */
static void set_uncertainty(carom_gas *gas, int64_t uncertainty, bool predicted) {
    carom_gas_trajectories *trajectories = &gas->trajectories;
    bool grows = predicted && uncertainty > trajectories->uncertainty;
    if (grows && uncertainty / 2 <= trajectories->uncertainty) return;
    for (uint64_t i = 0; i < gas->count && grows; ++i)
        if (gas->records[i].prediction.kind == CAROM_GAS_PREDICTION_PROVISIONAL)
            gas->records[i].prediction.kind = CAROM_GAS_PREDICTION_UNRESOLVED;
    CAROM_ASSERT(uncertainty >= 0);
    trajectories->uncertainty = uncertainty;
}

/* The growth of the radii for errors of positions, and of a path to a collision of two that are
 * `path` apart: `share` of the coefficient for each of the two. */
static double find_growth(const carom_gas *gas, double path, double share, double length) {
    return (BY_POSITION * gas->longest + share * BY_COLLISION / CAROM_GAS_SLOW_SHARE * path) /
           length;
}

/* The upper bound of the distance of two spheres of at most this radius in adjacent cells. */
static double find_path(const carom_gas_cells *cells, double radius) {
    double path = 0.0;
    for (int axis = 0; axis < 3; ++axis)
        path = fmax(path, PATH_EDGES * cells->edge[axis] + PATH_RADII * radius);
    return path;
}

/* Two spheres of different levels are as far apart as cells of the coarser one allow. So a sphere's
 * radius grows by both shares of the path in its own level. Returns the largest growth of a radius,
 * relative to it. */
static double set_level_growth(carom_gas *gas, double length) {
    double most = 0.0;
    for (uint32_t k = 0; k < gas->levels.count; ++k) {
        carom_gas_level *level = &gas->levels.level[k];
        double path = find_path(carom_gas_cells_seen(gas, k), level->largest);
        level->growth = find_growth(gas, path, 2.0, length);
        most = fmax(most, level->growth * length / level->smallest);
    }
    return most;
}

carom_status carom_gas_trajectories_renew(carom_context *context, carom_gas *gas, bool predicted) {
    carom_gas_trajectories *trajectories = &gas->trajectories;
    double length = 2.0 * (gas->levels.count == 0 ? gas->largest : gas->levels.typical);
    double time = typical_time(gas, length), path = find_path(&gas->cells, gas->largest);
    if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS)
        path = 2.0 * gas->largest + 4.0 * gas->lists.skin + LIST_MARGIN * gas->longest;
    trajectories->start = gas->now;
    trajectories->until =
        carom_gas_after(&gas->rules, gas->now, CAROM_GAS_TRAJECTORY_LENGTH * time);
    CAROM_ASSERT(length > 0.0 && time > 0.0 && trajectories->until >= trajectories->start);
    trajectories->per_length = 1.0 / length;
    trajectories->common_radius = gas->uniform ? gas->largest / length : 0.0;
    trajectories->per_speed = time / length;
    trajectories->per_time = 1.0 / time;
    trajectories->growth = find_growth(gas, path, 1.0, length);
    double level_growth = set_level_growth(gas, length);
    if (gas->levels.count != 0)
        trajectories->growth =
            gas->levels.level[carom_gas_level_of(gas, gas->levels.typical)].growth;
    trajectories->growth_by_speed = BY_PATH * CAROM_GAS_TRAJECTORY_LENGTH;
    trajectories->ticks_per_bound = (1.0 - TICKS_MARGIN) * time * gas->rules.ticks_per_unit;
    double margin =
        LEAST_MARGIN + MARGIN_PER_GROWTH * (trajectories->growth + trajectories->growth_by_speed);
    trajectories->margin = (float)margin;
    double uncertainty =
        0.5 * margin * trajectories->ticks_per_bound; /* may exceed the horizon in wide boxes */
    set_uncertainty(gas, (int64_t)fmin(uncertainty, (double)CAROM_GAS_HORIZON), predicted);
    double fastest = CAROM_GAS_MOST_GROWTH * gas->largest / length / trajectories->growth_by_speed;
    double safe = gas->safe_drift / length / fastest * trajectories->ticks_per_bound;
    trajectories->safe_span =
        gas->rules.accelerated || !(safe < (double)CAROM_GAS_HORIZON) ? 0 : (int64_t)safe;
    double recede =
        LEAST_RECEDE +
        RECEDE_PER_GROWTH *
            (gas->levels.count == 0 ? trajectories->growth * length / gas->smallest : level_growth);
    trajectories->recede2 = (float)(recede * recede); /* times the diameter, which is 1 */
    for (int code = 0; code < 27; ++code) {
        int box[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
        for (int axis = 0; axis < 3; ++axis)
            trajectories->shift[code][axis] =
                (float)((double)box[axis] * gas->rules.edge[axis] / length);
        trajectories->shift[code][3] = 0.0f;
    }
    trajectories->fast = 0;
    for (uint64_t i = 0; i < gas->count; ++i) {
        carom_gas_trajectory_write(gas, (uint32_t)i);
        carom_status status = carom_gas_look(context, i, 0);
        if (status != CAROM_OK) {
            gas->ready = false;
            return status;
        }
    }
    CAROM_ASSERT(trajectories->fast <= gas->count);
    trajectories->most_fast = 2 * trajectories->fast + gas->count / FAST_SHARE + LEAST_FAST_SPHERES;
    return CAROM_OK;
}
