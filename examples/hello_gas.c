/* SPDX-License-Identifier: MIT */
/* hello_gas.c: when do two spheres meet? */
#include <carom/carom.h>
#include <stdio.h>

int main(void) {
    carom_context *context;
    carom_gas *gas;
    carom_gas_event event;
    const carom_gas_sphere spheres[2] = {
        {.position = {2.0, 5.0, 5.0}, .velocity = {1.0, 0.0, 0.0}, .radius = 0.5},
        {.position = {8.0, 5.0, 5.0}, .radius = 0.5}};
    const carom_gas_def def = {.spheres = spheres, .sphere_count = 2, .edges = {10.0, 10.0, 10.0}};
    if (carom_context_create(NULL, &context) || carom_gas_create(context, &def, &gas) ||
        carom_gas_next(context, gas, 100.0, &event))
        return fprintf(stderr, "%s\n", carom_context_message(context)), 1;
    printf("spheres %u and %u meet at time %.6f\n", event.a, event.b, event.time);
    carom_gas_destroy(gas);
    carom_context_destroy(context);
}
