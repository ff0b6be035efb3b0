/* SPDX-License-Identifier: MIT */
/* Units of the float trajectories, and the recomputation of all of them. Invariant: radii grow by
 * no less than the float errors summed in gas_trajectory.h. */
#include "gas/gas_trajectory.h"

/* Error coefficients for each of two spheres: a little more than the sums in gas_trajectory.h. */
#define BY_PLACE   0x1.8p-22
#define BY_PATH    0x1p-21
#define BY_MEETING 0x1p-23

static double typical_time(const carom_gas *gas, double length) {
    double square = 0.0, n = (double)gas->count;
    for (uint64_t i = 0; i < gas->count; ++i) {
        double x[3], v[3];
        const carom_gas_body *body = &gas->bodies[i];
        carom_gas_place(&gas->rules, body, carom_gas_span(&gas->rules, gas->now - body->t), x, v);
        square += ((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]) / n;
    }
    double time = length / sqrt(square);
    if (gas->most_acceleration > 0.0) time = fmin(time, sqrt(length / gas->most_acceleration));
    double tick = gas->rules.tick;
    return time > 0x1p10 * tick && time < 0x1p54 * tick ? time : 0x1p50 * tick;
}

/* Provisional predictions are valid only up to the uncertainty they were made with. When it
 * grows, they become unresolved. */
static void set_uncertainty(carom_gas *gas, int64_t uncertainty) {
    carom_gas_trajectories *trajectories = &gas->trajectories;
    if (uncertainty > trajectories->uncertainty && uncertainty / 2 <= trajectories->uncertainty)
        return;
    for (uint64_t i = 0; i < gas->count && uncertainty > trajectories->uncertainty; ++i)
        if (gas->records[i].prediction.kind == CAROM_GAS_PROVISIONAL)
            gas->records[i].prediction.kind = CAROM_GAS_UNRESOLVED;
    CAROM_ASSERT(uncertainty >= 0);
    trajectories->uncertainty = uncertainty;
}

void carom_gas_trajectories_renew(carom_gas *gas) {
    carom_gas_trajectories *trajectories = &gas->trajectories;
    double length = 2.0 * gas->largest, time = typical_time(gas, length), path = 0.0;
    for (int axis = 0; axis < 3; ++axis) /* distance of two spheres in adjacent cells */
        path = fmax(path, 6.0 * gas->cells.edge[axis] + 4.0 * gas->largest);
    if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS)
        path = 2.0 * gas->largest + 4.0 * gas->lists.skin + 1e-5 * gas->longest;
    trajectories->start = gas->now;
    trajectories->until =
        carom_gas_after(&gas->rules, gas->now, CAROM_GAS_TRAJECTORY_LENGTH * time);
    CAROM_ASSERT(length > 0.0 && time > 0.0 && trajectories->until >= trajectories->start);
    trajectories->per_length = 1.0 / length;
    trajectories->common_radius = gas->uniform ? gas->largest / length : 0.0;
    trajectories->per_speed = time / length;
    trajectories->per_time = 1.0 / time;
    trajectories->growth = (BY_PLACE * gas->longest + BY_MEETING / CAROM_GAS_SLOW * path) / length;
    trajectories->growth_by_speed = BY_PATH * CAROM_GAS_TRAJECTORY_LENGTH;
    trajectories->ticks_per_bound = (1.0 - 0x1p-19) * time * gas->rules.ticks_per_unit;
    double margin = 0x1p-12 + 32.0 * (trajectories->growth + trajectories->growth_by_speed);
    trajectories->margin = (float)margin;
    double uncertainty =
        0.5 * margin * trajectories->ticks_per_bound; /* may exceed the horizon in wide boxes */
    set_uncertainty(gas, (int64_t)fmin(uncertainty, (double)CAROM_GAS_HORIZON));
    double fastest = CAROM_GAS_MOST_GROWTH * gas->largest / length / trajectories->growth_by_speed;
    double safe = gas->safe_drift / length / fastest * trajectories->ticks_per_bound;
    trajectories->safe_span =
        gas->rules.accelerated || !(safe < (double)CAROM_GAS_HORIZON) ? 0 : (int64_t)safe;
    double recede = 0.02 + 4.0 * trajectories->growth * length / gas->smallest;
    trajectories->recede2 = (float)(recede * recede); /* times the diameter, which is 1 */
    for (int code = 0; code < 27; ++code) {
        int box[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
        for (int axis = 0; axis < 3; ++axis)
            trajectories->shift[code][axis] =
                (float)((double)box[axis] * gas->rules.edge[axis] / length);
        trajectories->shift[code][3] = 0.0f;
    }
    trajectories->fast = 0;
    for (uint64_t i = 0; i < gas->count; ++i) carom_gas_trajectory_write(gas, (uint32_t)i);
    CAROM_ASSERT(trajectories->fast <= gas->count);
    trajectories->most_fast = 2 * trajectories->fast + gas->count / 16 + 64;
}
