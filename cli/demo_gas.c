/* SPDX-License-Identifier: MIT */
/* The demo's section on gas: the scaling of the 1997 paper's figure 1, and a picture of spheres in
 * a box. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/demo.h"
#include "scenes/gas.h"

#define SIZES 5

static carom_status make(carom_context *context, uint64_t count, carom_gas **gas) {
    carom_gas_def def = {.edges = {200.0, 200.0, 200.0}};
    carom_gas_sphere *spheres = scene_gas_lattice(count, 1.5, def.edges, 1);
    if (spheres == NULL) return CAROM_NO_MEMORY;
    scene_gas_keep_inside(spheres, count, &def);
    scene_gas_set_speed(spheres, count, 10.0 * sqrt(3.0));
    def.spheres = spheres;
    def.sphere_count = count;
    carom_status status = carom_gas_create(context, &def, gas);
    free(spheres);
    return status;
}

/* Milliseconds per unit of simulated time against the number of spheres. */
static carom_status show_scaling(demo *demo, double *collisions_per_second) {
    static const double counts[SIZES] = {1000, 4000, 16000, 50000, 100000};
    carom_context *context = demo->cli->context;
    double milliseconds[SIZES];
    for (int i = 0; i < SIZES; ++i) {
        carom_gas *gas;
        carom_gas_measures m;
        double length = counts[i] > 20000 ? 0.1 : 0.5;
        carom_status status = make(context, (uint64_t)counts[i], &gas);
        if (status == CAROM_OK) status = carom_gas_advance(context, gas, 0.2, NULL, NULL);
        (void)carom_gas_reset_measures(context, gas);
        double start = carom_time_seconds();
        if (status == CAROM_OK) status = carom_gas_advance(context, gas, 0.2 + length, NULL, NULL);
        double seconds = carom_time_seconds() - start;
        if (status == CAROM_OK) status = carom_gas_measure(context, gas, &m);
        carom_gas_destroy(gas);
        if (status != CAROM_OK) return status;
        milliseconds[i] = 1e3 * seconds / length;
        *collisions_per_second = (double)(m.collisions + m.wall_hits) / seconds;
    }
    page_curve curve = {"carom", counts, milliseconds, SIZES};
    page_chart(&demo->page,
               "Figure 1 of the paper: radius 1.5, mean speed 10 sqrt(3), a box of 200 with walls.",
               "spheres", "milliseconds for a unit of time", &curve, 1);
    return CAROM_OK;
}

static carom_status show_spheres(demo *demo) {
    carom_context *context = demo->cli->context;
    carom_gas *gas;
    carom_gas_spheres spheres = {0};
    carom_status status = make(context, 2000, &gas);
    if (status == CAROM_OK) status = carom_gas_advance(context, gas, 3.0, NULL, NULL);
    if (status == CAROM_OK) status = carom_gas_list_spheres(context, gas, &spheres);
    if (status == CAROM_OK) {
        page_begin_dots(&demo->page);
        for (uint64_t i = 0; i < spheres.count; ++i) {
            carom_vec3 p = spheres.data[i].position;
            page_dot(&demo->page, p.x / 100.0 - 1.0, p.y / 100.0 - 1.0, p.z / 100.0 - 1.0);
        }
        page_end_dots(&demo->page, "2,000 spheres after three units of time; none was missed.");
    }
    carom_gas_spheres_free(&spheres);
    carom_gas_destroy(gas);
    return status;
}

static carom_status run(demo *demo) {
    double rate = 0.0;
    page_section(&demo->page, "Moving spheres",
                 "Every collision in its exact order, by events: cells or lists of neighbours say "
                 "who is near, a calendar who is next.");
    carom_status status = show_scaling(demo, &rate);
    if (status == CAROM_OK) status = show_spheres(demo);
    snprintf(demo->result, sizeof(demo->result),
             "100,000 spheres in a box of 200: %.0f thousand collisions a second", 1e-3 * rate);
    return status;
}

const demo_part demo_gas = {70, "gas", "when do many moving spheres meet", run};
