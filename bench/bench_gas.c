/* SPDX-License-Identifier: MIT */
/* Moving spheres: by density and number, the 1997 paper's figure 1, cell sizes against its model,
 * and what a queue costs. Items are collisions. Two runs of the same gas go through the same
 * events, so contenders do the same work. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "scenes/gas.h"

typedef struct gas_input {
    carom_context *context;
    carom_gas *gas;
    double length;
} gas_input;

/* Each round goes on where the last one ended. */
static bool run_gas(void *input) {
    gas_input *g = input;
    return carom_gas_advance(g->context, g->gas, carom_gas_get_time(g->gas) + g->length, NULL,
                             NULL) == CAROM_OK;
}

static carom_gas *make(carom_context *context, carom_gas_def *def, uint64_t count, double radius,
                       double speed) {
    carom_gas *gas = NULL;
    carom_gas_sphere *spheres = scene_gas_lattice(count, radius, def->edges, 1);
    if (spheres == NULL) return NULL;
    scene_gas_keep_inside(spheres, count, def);
    if (speed > 0.0) scene_gas_set_speed(spheres, count, speed);
    if (carom_gas_create(context, def, spheres, count, &gas) != CAROM_OK) gas = NULL;
    free(spheres);
    return gas;
}

/* Runs until the lattice is forgotten and returns collisions per unit of time. */
static double warm_up(carom_context *context, carom_gas *gas, double length) {
    carom_gas_measures m;
    (void)carom_gas_advance(context, gas, carom_gas_get_time(gas) + length, NULL, NULL);
    carom_gas_reset_measures(gas);
    (void)carom_gas_advance(context, gas, carom_gas_get_time(gas) + 0.2 * length, NULL, NULL);
    if (carom_gas_measure(context, gas, &m) != CAROM_OK || !(m.time > 0.0)) return 1.0;
    double events = (double)m.collisions + (double)m.wall_hits;
    return events > 0.0 ? events / m.time : 1.0;
}

/* ---- density and number ---------------------------------------------------------------------- */

static void bench_density(bench *bench, carom_context *context) {
    static const double fractions[] = {0.018, 0.1, 0.3, 0.49};
    static const double rates[] = {0.25, 1.77, 10.1, 29.0}; /* of a sphere: how long to warm up */
    static const uint64_t sides[] = {14, 29, 63};
    for (size_t s = 0; s < (bench->quick ? 1u : 3u); ++s)
        for (size_t f = 0; f < 4; ++f) {
            uint64_t count = 4 * sides[s] * sides[s] * sides[s];
            double edge = scene_gas_edge(count, 0.5, fractions[f]);
            carom_gas_def def = {.edges = {edge, edge, edge}, .periodic = {true, true, true}};
            gas_input input = {context, make(context, &def, count, 0.5, 0.0), 0.0};
            if (input.gas == NULL) continue;
            double rate = warm_up(context, input.gas, (count > 500000 ? 0.5 : 2.0) / rates[f]);
            double collisions = count > 500000 ? 2e5 : 1e5;
            input.length = collisions / rate;
            char job[64];
            snprintf(job, sizeof(job), "fraction %.3f, %llu", fractions[f],
                     (unsigned long long)count);
            bench_contender contender = {"carom", NULL, run_gas, &input};
            bench_compare(bench, job, collisions, &contender, 1);
            carom_gas_destroy(input.gas);
        }
    bench_note(bench, "EDMD (Smallenburg 2022), best variant, another day on an idle machine: 398, "
                      "855, 688, 1114 thousand collisions a second at 10^4 spheres");
    bench_note(bench, "and 136, 337, 325, 500 at 10^5, about 300 at 10^6 and 0.490; one run beside "
                      "the other is in docs/gas.md");
}

/* ---- the paper's figure 1 -------------------------------------------------------------------- */

/* Radius 1.5, mean speed 10 sqrt(3), walls, edge 200: the time for one unit of simulated time. */
static void bench_figure(bench *bench, carom_context *context) {
    static const uint64_t counts[] = {1000, 5000, 20000, 50000, 100000, 200000};
    for (size_t i = 0; i < (bench->quick ? 3u : 6u); ++i) {
        carom_gas_def def = {.edges = {200.0, 200.0, 200.0}};
        gas_input input = {context, make(context, &def, counts[i], 1.5, 10.0 * sqrt(3.0)), 0.0};
        if (input.gas == NULL) continue;
        double rate = warm_up(context, input.gas, 0.1);
        input.length = counts[i] > 20000 ? 0.05 : 0.2;
        char job[64];
        snprintf(job, sizeof(job), "figure 1: %llu spheres", (unsigned long long)counts[i]);
        bench_contender contender = {"carom", NULL, run_gas, &input};
        bench_compare(bench, job, rate * input.length, &contender, 1);
        carom_gas_info info;
        const bench_row *row = &bench->rows[bench->row_count - 1];
        if (carom_gas_get_info(input.gas, &info) == CAROM_OK && bench->row_count > 0)
            bench_note(bench,
                       "%llu spheres: %.3f s wall, %.3f s of processor for one unit of time, %.1f "
                       "us a sphere; cells of %.2f, the model says %.2f",
                       (unsigned long long)counts[i], row->seconds / input.length,
                       row->cpu_seconds / input.length,
                       1e6 * row->cpu_seconds / input.length / (double)counts[i], info.cell_edge,
                       info.model_edge);
        carom_gas_destroy(input.gas);
    }
}

/* ---- cells against the model, queues --------------------------------------------------------- */

static void bench_cells(bench *bench, carom_context *context, carom_gas_method method,
                        double fraction) {
    static const double factors[] = {1.0, 0.6, 0.8, 1.25, 1.6, 2.2}; /* of the model's edge */
    uint64_t count = 10976;
    double edge = scene_gas_edge(count, 0.5, fraction);
    carom_gas_def def = {
        .edges = {edge, edge, edge}, .periodic = {true, true, true}, .method = method};
    gas_input inputs[6];
    bench_contender contenders[6];
    char names[6][32], job[64];
    double rate = 1.0, model = 0.0;
    uint32_t used = 0;
    for (int i = 0; i < 6; ++i) {
        def.cell_edge = model * factors[i];
        if (i > 0 && def.cell_edge < 1.0) continue;
        gas_input input = {context, make(context, &def, count, 0.5, 0.0), 0.0};
        if (input.gas == NULL) continue;
        carom_gas_info info;
        if (carom_gas_get_info(input.gas, &info) != CAROM_OK) continue;
        if (i == 0) model = info.model_edge;
        rate = warm_up(context, input.gas, fraction < 0.05 ? 8.0 : 2.0);
        input.length = 1e5 / rate;
        inputs[used] = input;
        snprintf(names[used], sizeof(names[used]), "cell %.2f%s", info.cell_edge,
                 i == 0 ? " (model)" : "");
        contenders[used] = (bench_contender){names[used], NULL, run_gas, &inputs[used]};
        ++used;
    }
    snprintf(job, sizeof(job), "%s cells, fraction %.3f",
             method == CAROM_GAS_EXTENT ? "extent" : "centre", fraction);
    bench_compare(bench, job, 1e5, contenders, used);
    for (uint32_t i = 0; i < used; ++i) carom_gas_destroy(inputs[i].gas);
}

static void bench_queue(bench *bench, carom_context *context, uint64_t side) {
    uint64_t count = 4 * side * side * side;
    double edge = scene_gas_edge(count, 0.5, 0.3);
    carom_gas_def def = {.edges = {edge, edge, edge}, .periodic = {true, true, true}};
    gas_input inputs[2];
    double rate = 1.0;
    for (int i = 0; i < 2; ++i) {
        def.queue = i == 0 ? CAROM_GAS_CALENDAR : CAROM_GAS_TREE;
        inputs[i] = (gas_input){context, make(context, &def, count, 0.5, 0.0), 0.0};
        if (inputs[i].gas != NULL) rate = warm_up(context, inputs[i].gas, 0.3);
        inputs[i].length = 2e5 / rate;
    }
    char job[64];
    snprintf(job, sizeof(job), "queue, %llu spheres", (unsigned long long)count);
    bench_contender contenders[] = {{"calendar, O(1)", NULL, run_gas, &inputs[0]},
                                    {"tree, O(log n)", NULL, run_gas, &inputs[1]}};
    if (inputs[0].gas != NULL && inputs[1].gas != NULL)
        bench_compare(bench, job, 2e5, contenders, 2);
    carom_gas_destroy(inputs[0].gas);
    carom_gas_destroy(inputs[1].gas);
}

static void run(bench *bench) {
    carom_context_def def = *bench->def;
    def.threads = 1;
    carom_context *context;
    if (carom_context_create(&def, &context) != CAROM_OK) return;
    bench_density(bench, context);
    bench_figure(bench, context);
    static const carom_gas_method methods[] = {CAROM_GAS_CENTRE, CAROM_GAS_EXTENT};
    static const double fractions[] = {0.018, 0.1};
    for (int m = 0; m < 2; ++m)
        for (int f = 0; f < (bench->quick ? 1 : 2); ++f)
            bench_cells(bench, context, methods[m], fractions[f]);
    bench_queue(bench, context, 14);
    if (!bench->quick) bench_queue(bench, context, 29);
    if (!bench->quick) bench_queue(bench, context, 63);
    carom_context_destroy(context);
}

const bench_group bench_gas = {"gas", "event-driven spheres: density, figure 1, cells, queues",
                               run};
