/* SPDX-License-Identifier: MIT */
/* gas.c: a hundred billiard balls in a box: who meets next, and what the run looked like. */
#include <stdio.h>

#include "carom/carom.h"

#define BALLS 100

static int fail(carom_context *context) {
    fprintf(stderr, "%s\n", carom_context_message(context));
    return 1;
}

int main(void) {
    carom_context *context;
    carom_gas *gas = NULL;
    carom_gas_sphere balls[BALLS];
    carom_random random = {7};
    for (int i = 0; i < BALLS; ++i) /* ten by ten on the floor of the box, all of one size */
        balls[i] = (carom_gas_sphere){
            .position = {1.0 + i % 10, 1.0 + i / 10, 0.5},
            .velocity = {carom_random_normal(&random), carom_random_normal(&random), 0.0},
            .radius = 0.4};
    carom_gas_def def = {.spheres = balls,
                         .sphere_count = BALLS,
                         .edges = {11.0, 11.0, 1.0},
                         .loss = 0.05,
                         .elastic_below = 1e-3};
    if (carom_context_create(NULL, &context) != CAROM_OK) return fail(NULL);
    if (carom_gas_create(context, &def, &gas) != CAROM_OK) return fail(context);

    for (int i = 0; i < 5; ++i) { /* one by one */
        carom_gas_event event;
        if (carom_gas_next(context, gas, 100.0, &event) != CAROM_OK) return fail(context);
        if (event.kind == CAROM_GAS_EVENT_KIND_PAIR)
            printf("%.6f: ball %u meets ball %u\n", event.time, event.a, event.b);
        else
            printf("%.6f: ball %u meets wall %u\n", event.time, event.a, event.b);
    }
    carom_gas_measures measures;
    if (carom_gas_advance(context, gas, 20.0, NULL, NULL) != CAROM_OK || /* all at once */
        carom_gas_measure(context, gas, &measures) != CAROM_OK)
        return fail(context);
    printf("until 20: %llu collisions, %llu wall hits, energy %.3f\n",
           (unsigned long long)measures.collisions, (unsigned long long)measures.wall_hits,
           measures.energy);
    carom_gas_destroy(gas);
    carom_context_destroy(context);
    return 0;
}
