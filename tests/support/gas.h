/* SPDX-License-Identifier: MIT */
/* gas.h: a simulator of moving spheres that knows no cells and no queue: after every event it looks
 * at all pairs, in all images that could meet soon. It shares only the item functions. */
#ifndef CAROM_TESTS_GAS_H
#define CAROM_TESTS_GAS_H

#include "gas/gas.h"
#include "tests/support/test.h"

#define GAS_ORACLE_MOST 128

/* carom_gas_create with these spheres instead of those of the def, which may be NULL. */
static inline carom_status gas_create(carom_context *context, const carom_gas_def *def,
                                      const carom_gas_sphere *spheres, uint64_t count,
                                      carom_gas **gas) {
    carom_gas_def with = def != NULL ? *def : (carom_gas_def){0};
    with.spheres = spheres;
    with.sphere_count = count;
    return carom_gas_create(context, &with, gas);
}

typedef struct gas_oracle_event {
    uint64_t since_create; /* ticks, modulo 2^64 */
    int64_t time;          /* ticks of the oracle's epoch */
    int kind, a, b, image[3];
} gas_oracle_event;

typedef struct gas_oracle {
    carom_gas_rules rules;
    int count; /* ids given out */
    uint64_t epochs;
    int64_t now, expiry; /* images are right up to there */
    bool plain;          /* tests every image of every pair; else those that come near in time */
    bool alive[GAS_ORACLE_MOST];
    carom_gas_body bodies[GAS_ORACLE_MOST];
    double radius[GAS_ORACLE_MOST], mass[GAS_ORACLE_MOST];
    gas_oracle_event alone[GAS_ORACLE_MOST], pairs[GAS_ORACLE_MOST][GAS_ORACLE_MOST];
} gas_oracle;

/* `tick` as carom_gas_info tells it. */
void gas_oracle_init(gas_oracle *oracle, const carom_gas_def *def, double tick,
                     const carom_gas_sphere *spheres, int count);
/* From here on every image of every pair is tested. */
void gas_oracle_make_plain(gas_oracle *oracle);

/* Sphere `id` appears, or gets a new state, now; disappears. */
void gas_oracle_put(gas_oracle *oracle, int id, const carom_gas_sphere *sphere);
void gas_oracle_take(gas_oracle *oracle, int id);

/* The next pair or wall event, done. */
gas_oracle_event gas_oracle_next(gas_oracle *oracle);
/* The same when it comes within so many ticks; else false, and they have passed. */
bool gas_oracle_wait(gas_oracle *oracle, int64_t ticks, gas_oracle_event *event);

/* Does it overlap none of the others? */
bool gas_fits(const carom_gas_def *def, const carom_gas_sphere *spheres, int count,
              const carom_gas_sphere *sphere);
/* Gives the sphere a random position in the box; false when it overlaps others there. */
bool gas_random_position(carom_random *random, const carom_gas_def *def,
                         const carom_gas_sphere *spheres, int count, carom_gas_sphere *sphere);
carom_vec3 gas_random_velocity(carom_random *random);
/* Random spheres that do not overlap, some at rest, by seed. Returns how many fitted. */
int gas_random_spheres(uint64_t seed, const carom_gas_def *def, double radius, double ratio,
                       int count, carom_gas_sphere *spheres);

#endif
