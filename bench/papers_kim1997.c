/* SPDX-License-Identifier: MIT */
/* Kim, Guibas, Shin 1997: one experiment, the time for one unit of simulated time against the
 * number of spheres, in a box that stays the same. The engine as it is by default, and nearer to
 * the paper: spheres filed in every cell they overlap, as printed, and events in a heap with one
 * event per sphere, where the paper has a balanced tree of all candidate events; its cells, in a
 * balanced tree there, are an array. */
#include <math.h>
#include <stdlib.h>

#include "bench/gas.h"
#include "bench/papers.h"
#include "scenes/gas.h"

#define RADIUS 1.5
#define EDGE   200.0
#define SPEED  (10.0 * sqrt(3.0))

/* The gas after two events per sphere, when the lattice it started from is forgotten. */
static bool make(gas_input *e, const carom_gas_def *how, uint64_t count) {
    carom_gas_def def = *how;
    def.edges = (carom_vec3){EDGE, EDGE, EDGE};
    carom_gas_sphere *spheres = scene_gas_lattice(count, RADIUS, def.edges, 1);
    if (spheres == NULL) return false;
    scene_gas_keep_inside(spheres, count, &def);
    scene_gas_set_speed(spheres, count, SPEED);
    def.spheres = spheres;
    def.sphere_count = count;
    carom_status status = carom_gas_create(e->context, &def, &e->gas);
    free(spheres);
    e->events = 2 * count;
    if (status != CAROM_OK || !gas_input_run(e)) return false;
    e->passed = 0.0;
    e->runs = 0;
    return true;
}

static bool measure(papers_plot *plot, const char *algorithm, const carom_gas_def *how,
                    uint64_t count) {
    const papers_source source = {algorithm, PAPERS_ONE_THREAD, 0};
    gas_input e = {.context = plot->lab->serial};
    carom_gas_info info;
    bool made = make(&e, how, count);
    e.events = plot->lab->quick ? 1000 : count < 10000 ? 20000 : 2 * count;
    if (e.events > 100000) e.events = 100000;
    double seconds = made ? papers_best_seconds(plot->lab, e.context, gas_input_run, &e,
                                                plot->lab->quick ? 2 : 7)
                          : -1.0;
    made = made && seconds >= 0.0 && carom_gas_get_info(e.gas, &info) == CAROM_OK;
    if (made) {
        double runs = (double)e.runs / e.passed; /* in one unit of time */
        papers_add(plot, &source, algorithm,
                   (const double[]){(double)count, seconds * runs, (double)e.events * runs,
                                    1e6 * seconds / (double)e.events, info.cell_edge,
                                    info.model_edge});
    }
    carom_gas_destroy(e.gas);
    return made;
}

static bool figure_1(papers_plot *plot) {
    static const uint64_t counts[] = {1000,  2000,  3000,   5000,   10000,
                                      20000, 50000, 100000, 150000, 200000};
    const carom_gas_def ours = {.method = CAROM_GAS_METHOD_AUTO};
    const carom_gas_def theirs = {.method = CAROM_GAS_METHOD_EXTENT, .queue = CAROM_GAS_QUEUE_TREE};
    for (int i = 0; i < (plot->lab->quick ? 2 : 10); ++i)
        if (!measure(plot, "our cells and a calendar", &ours, counts[i]) ||
            !measure(plot, "the paper's cells and a heap", &theirs, counts[i]))
            return false;
    papers_note(plot,
                "the paper's cells and a heap: spheres in every cell they overlap, as printed; "
                "cells in an array and one event per sphere in a heap, where the paper has "
                "balanced trees");
    papers_note(plot, "both give the same events, bit for bit");
    return true;
}

static const papers_figure figures[] = {
    {"kim1997-fig1",
     "Figure 1: time for one unit of simulated time (radius 1.5, mean speed 10 sqrt 3, a box of "
     "200)",
     "Nearly linear in the number of spheres over a large range; several thousand spheres in real "
     "time. IRIS Indigo2, 128 MHz R10000; the axes' numbers are not in the text.",
     {"spheres", "seconds_per_unit", "events_per_unit", "us_per_event", "cell_edge", "model_edge"},
     {{"Time for one unit of time", "spheres", "seconds", 0, 1, 2, NULL, false, false},
      {"Time for one event", "spheres", "us", 0, 3, 4, NULL, false, false},
      {"Events in one unit of time", "spheres", "events", 0, 2, 3, "our cells", false, false}},
     figure_1,
     false,
     NULL},
};

const papers_paper papers_kim1997 = {
    1997, "kim1997",
    "Kim, Guibas, Shin 1997: Fast Collision Detection among Multiple Moving Spheres", figures,
    sizeof(figures) / sizeof(figures[0])};
