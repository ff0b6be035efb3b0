/* SPDX-License-Identifier: MIT */
/* The demo's section on gas: spheres in a box over some time, and the scaling of the 1997 paper's
 * figure 1. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/demo.h"
#include "cli/gas_show.h"
#include "scenes/gas.h"

#define SIZES  4
#define DRAWN  400u
#define FRAMES 81

/* Spheres of radius 1.5 with a mean speed of 10 sqrt(3) in a box with walls. */
static carom_status make(carom_context *context, uint64_t count, double edge, carom_gas **gas) {
    carom_gas_def def = {.edges = {edge, edge, edge}};
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

static carom_status show(demo *demo) {
    carom_context *context = demo->cli->context;
    carom_gas *gas = NULL;
    carom_gas_spheres spheres = {0};
    carom_gas_info info;
    carom_gas_measures m = {0};
    gas_show shown;
    double events[FRAMES];
    gas_show_begin(&shown, demo->cli, false);
    carom_status status = make(context, DRAWN, 36.0, &gas);
    if (status == CAROM_OK) status = carom_gas_get_info(gas, &info);
    for (int i = 0; i < FRAMES && status == CAROM_OK; ++i) {
        double time = 0.04 * i;
        if (i != 0) status = carom_gas_advance(context, gas, time, NULL, NULL);
        if (status == CAROM_OK) status = carom_gas_list_spheres(context, gas, &spheres);
        if (status == CAROM_OK) status = carom_gas_measure(context, gas, &m);
        if (status == CAROM_OK) gas_show_add(&shown, &spheres, &info, &m, time);
        events[i] = (double)(m.collisions + m.wall_hits);
    }
    if (status == CAROM_OK) {
        display *d = &shown.d;
        display_add_series(d, display_add_plot(d, "Collisions so far", "time", ""), "collisions",
                           d->times, events, FRAMES);
        display_set_title(d, "400 hard spheres in a box, whose walls reflect them.");
        status = demo_show(demo, d, "Spheres fly in a box and collide");
    }
    gas_show_free(&shown);
    carom_gas_spheres_free(&spheres);
    carom_gas_destroy(gas);
    return status;
}

/* Milliseconds per unit of simulated time against the number of spheres. */
static carom_status show_scaling(demo *demo, double *collisions_per_second) {
    static const double counts[SIZES] = {1000, 4000, 16000, 64000};
    carom_context *context = demo->cli->context;
    double milliseconds[SIZES];
    for (int i = 0; i < SIZES; ++i) {
        carom_gas *gas;
        carom_gas_measures m;
        double length = counts[i] > 20000 ? 0.1 : 0.5;
        carom_status status = make(context, (uint64_t)counts[i], 200.0, &gas);
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
    page_chart(
        &demo->page,
        "Figure 1 of the paper of 1997: radius 1.5, mean speed 10 sqrt(3), a box of edge 200 "
        "with walls.",
        "spheres", "milliseconds per unit of time", &curve, 1);
    return CAROM_OK;
}

static carom_status run(demo *demo) {
    double rate = 0.0;
    carom_status status = show(demo);
    if (status == CAROM_OK) status = show_scaling(demo, &rate);
    snprintf(demo->number, sizeof(demo->number), "%.0f thousand", 1e-3 * rate);
    snprintf(demo->words, sizeof(demo->words),
             "collisions per second of 64,000 spheres, in their exact order, on one core of this "
             "machine.");
    snprintf(demo->result, sizeof(demo->result),
             "64,000 spheres in a box of 200: %.0f thousand collisions a second", 1e-3 * rate);
    return status;
}

const demo_part demo_gas = {
    72,
    "gas",
    "when do many moving spheres meet",
    "When do many moving spheres meet, in order, none missed?",
    "Event by event: a grid or lists of neighbours say who is near, a queue who is next. Times are "
    "integers, so that the order is exact.",
    "EDMD, the fastest published program for this, made on the order of 2 to 4 times fewer "
    "collisions per second for 10,000 to 100,000 spheres "
    "(bench/results/epyc-avx512-1core/gas.csv).",
    "carom gas -n 1k --periodic --fraction 0.3 --time 2 --frames 40 -o gas.html",
    run};
