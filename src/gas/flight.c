/* SPDX-License-Identifier: MIT */
/* Choosing the units of flights and writing all of them. */
#include "gas/flight.h"

/* Shares of what floats can be off, for each of two spheres: a little more than flight.h adds up
 * to. */
#define BY_PLACE 0x1.8p-22
#define BY_WAY   0x1p-21
#define BY_AIM   0x1p-23

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

/* Rough plans were made for the leeway of their time and allow no larger one. */
static void grant_leeway(carom_gas *gas, int64_t leeway) {
    carom_gas_flights *flights = &gas->flights;
    if (leeway > flights->leeway && leeway / 2 <= flights->leeway) return;
    for (uint64_t i = 0; i < gas->count && leeway > flights->leeway; ++i)
        if (gas->cards[i].plan.kind == CAROM_GAS_ROUGH) gas->cards[i].plan.kind = CAROM_GAS_AGAIN;
    flights->leeway = leeway;
}

void carom_gas_flights_renew(carom_gas *gas) {
    carom_gas_flights *flights = &gas->flights;
    double length = 2.0 * gas->largest, time = typical_time(gas, length), way = 0.0;
    for (int axis = 0; axis < 3; ++axis) /* of two in cells that touch */
        way = fmax(way, 6.0 * gas->cells.edge[axis] + 4.0 * gas->largest);
    if (gas->method == CAROM_GAS_METHOD_NEIGHBOURS)
        way = 2.0 * gas->largest + 4.0 * gas->lists.leeway + 1e-5 * gas->longest;
    flights->start = gas->now;
    flights->until = carom_gas_after(&gas->rules, gas->now, CAROM_GAS_FLIGHT_LENGTH * time);
    flights->per_length = 1.0 / length;
    flights->common_radius = gas->uniform ? gas->largest / length : 0.0;
    flights->per_speed = time / length;
    flights->per_time = 1.0 / time;
    flights->growth = (BY_PLACE * gas->longest + BY_AIM / CAROM_GAS_SLOW * way) / length;
    flights->growth_by_speed = BY_WAY * CAROM_GAS_FLIGHT_LENGTH;
    flights->ticks_per_bound = (1.0 - 0x1p-19) * time * gas->rules.ticks_per_unit;
    double margin = 0x1p-12 + 32.0 * (flights->growth + flights->growth_by_speed);
    flights->margin = (float)margin;
    double leeway = 0.5 * margin * flights->ticks_per_bound; /* beyond all in very wide boxes */
    grant_leeway(gas, (int64_t)fmin(leeway, (double)CAROM_GAS_HORIZON));
    double fastest = CAROM_GAS_MOST_GROWTH * gas->largest / length / flights->growth_by_speed;
    double safe = gas->safe_drift / length / fastest * flights->ticks_per_bound;
    flights->safe_span =
        gas->rules.accelerated || !(safe < (double)CAROM_GAS_HORIZON) ? 0 : (int64_t)safe;
    double recede = 0.02 + 4.0 * flights->growth * length / gas->smallest;
    flights->recede2 = (float)(recede * recede); /* times the diameter, which is 1 */
    for (int code = 0; code < 27; ++code) {
        int box[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
        for (int axis = 0; axis < 3; ++axis)
            flights->shift[code][axis] =
                (float)((double)box[axis] * gas->rules.edge[axis] / length);
        flights->shift[code][3] = 0.0f;
    }
    flights->wild = 0;
    for (uint64_t i = 0; i < gas->count; ++i) carom_gas_flight_write(gas, (uint32_t)i);
    flights->most_wild = 2 * flights->wild + gas->count / 16 + 64;
}
