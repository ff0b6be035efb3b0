/* SPDX-License-Identifier: MIT */
/* Moving spheres: by density and number, cell sizes against the model of the 1997 paper, and what a
 * queue costs. Items are events, counted one by one; contenders of a job go through the
 * same events, bit for bit, so they do the same work. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/gas.h"
#include "scenes/gas.h"

#define MOST_CELLS 6

static bool count_down(void *user, const carom_gas_event *event) {
    (void)event;
    return --*(uint64_t *)user == 0;
}

bool gas_input_run(void *input) {
    gas_input *g = input;
    uint64_t left = g->events;
    double from = carom_gas_get_time(g->gas);
    carom_status status = carom_gas_advance(g->context, g->gas, from + 1e9, count_down, &left);
    g->passed += carom_gas_get_time(g->gas) - from;
    ++g->runs;
    return status == CAROM_OK && left == 0;
}

/* A gas after `warm` events, when the lattice it started from is forgotten; false when there is no
 * memory for it. */
static bool make(carom_context *context, const carom_gas_def *def, uint64_t count, double radius,
                 double speed, uint64_t warm, gas_input *input) {
    *input = (gas_input){.context = context, .events = warm};
    carom_gas_sphere *spheres = scene_gas_lattice(count, radius, def->edges, 1);
    if (spheres == NULL) return false;
    scene_gas_keep_inside(spheres, count, def);
    if (speed > 0.0) scene_gas_set_speed(spheres, count, speed);
    carom_gas_def of = *def;
    of.spheres = spheres;
    of.sphere_count = count;
    carom_status status = carom_gas_create(context, &of, &input->gas);
    free(spheres);
    if (status != CAROM_OK) return false;
    (void)gas_input_run(input);
    input->passed = 0.0;
    input->runs = 0;
    return true;
}

static const bench_row *last_row(const bench *bench) {
    return &bench->rows[bench->row_count > 0 ? bench->row_count - 1 : 0];
}

/* ---- density and number ---------------------------------------------------------------------- */

static void bench_density(bench *bench, carom_context *context) {
    static const double fractions[] = {0.018, 0.1, 0.3, 0.49};
    static const uint64_t sides[] = {6, 14, 29, 63};
    int sizes = bench->quick ? 2 : 4;
    for (int f = 0; f < 4; ++f) {
        double cost[4] = {0.0};
        for (int s = 0; s < sizes; ++s) {
            uint64_t count = 4 * sides[s] * sides[s] * sides[s];
            double edge = scene_gas_edge(count, 0.5, fractions[f]);
            carom_gas_def def = {.edges = {edge, edge, edge}, .periodic = {true, true, true}};
            gas_input input;
            if (!make(context, &def, count, 0.5, 0.0, count < 20000 ? 5 * count : count, &input))
                continue;
            input.events = count > 500000 ? 50000 : 100000;
            char job[64];
            snprintf(job, sizeof(job), "fraction %.3f, %llu", fractions[f],
                     (unsigned long long)count);
            bench_contender contender = {"carom", NULL, gas_input_run, &input};
            bench_compare(bench, job, (double)input.events, &contender, 1);
            cost[s] = 1e9 * last_row(bench)->cpu_seconds / (double)input.events;
            carom_gas_destroy(input.gas);
        }
        bench_note(bench,
                   "fraction %.3f: %.0f, %.0f, %.0f, %.0f ns of processor a collision at 864, "
                   "10976, 97556, 1000188 spheres (0: not run)",
                   fractions[f], cost[0], cost[1], cost[2], cost[3]);
    }
    bench_note(bench, "EDMD (Smallenburg 2022), best variant, another day on an idle machine: 398, "
                      "855, 688, 1114 thousand collisions a second at 10^4 spheres");
    bench_note(bench, "and 136, 337, 325, 500 at 10^5, about 300 at 10^6 and 0.490; one run beside "
                      "the other is in docs/gas.md");
}

/* ---- the box of figure 1 (papers_kim1997.c) -------------------------------------------------- */

#define FIGURE_RADIUS 1.5
#define FIGURE_EDGE   200.0
#define FIGURE_SPEED  (10.0 * sqrt(3.0))

static bool make_figure(carom_context *context, const carom_gas_def *how, uint64_t count,
                        gas_input *input) {
    carom_gas_def def = *how;
    def.edges = (carom_vec3){FIGURE_EDGE, FIGURE_EDGE, FIGURE_EDGE};
    return make(context, &def, count, FIGURE_RADIUS, FIGURE_SPEED, 2 * count, input);
}

/* ---- cells against the model, queues --------------------------------------------------------- */

/* In the box of figure 1, the model's edge and others. */
static void bench_cells(bench *bench, carom_context *context, carom_gas_method method,
                        uint64_t count, char names[MOST_CELLS][32]) {
    static const double factors[MOST_CELLS] = {1.0, 0.6, 0.8, 1.25, 1.6, 2.2}; /* of the model's */
    carom_gas_def def = {.method = method};
    gas_input inputs[MOST_CELLS];
    bench_contender contenders[MOST_CELLS];
    double edges[MOST_CELLS], model = 0.0;
    uint32_t used = 0;
    for (int i = 0; i < MOST_CELLS; ++i) {
        carom_gas_info info = {0};
        def.cell_edge = model * factors[i];
        if (i > 0 && def.cell_edge < 2.0 * FIGURE_RADIUS) continue; /* there are none so small */
        if (!make_figure(context, &def, count, &inputs[used])) continue;
        if (carom_gas_get_info(inputs[used].gas, &info) == CAROM_OK && i == 0)
            model = info.model_edge;
        edges[used] = info.cell_edge;
        inputs[used].events = 20000;
        snprintf(names[used], 32, "cell %.2f%s", info.cell_edge, i == 0 ? " (model)" : "");
        contenders[used] = (bench_contender){names[used], NULL, gas_input_run, &inputs[used]};
        ++used;
    }
    const char *name = method == CAROM_GAS_METHOD_EXTENT ? "extent" : "centre";
    char job[64];
    snprintf(job, sizeof(job), "%s cells, %llu", name, (unsigned long long)count);
    uint32_t first = bench->row_count, best = 0;
    bench_compare(bench, job, 20000.0, contenders, used);
    for (uint32_t i = 0; i < used && first + used <= BENCH_MOST_ROWS; ++i)
        if (bench->rows[first + i].cpu_seconds < bench->rows[first + best].cpu_seconds) best = i;
    if (used > 0)
        bench_note(bench,
                   "figure 1, %llu spheres, %s cells: the model says %.2f, in whole cells %.2f; "
                   "measured best of these is %.2f, %.2f of the model's time",
                   (unsigned long long)count, name, model, edges[0], edges[best],
                   bench->rows[first + best].cpu_ratio);
    for (uint32_t i = 0; i < used; ++i) carom_gas_destroy(inputs[i].gas);
}

static void bench_queue(bench *bench, carom_context *context, uint64_t side) {
    uint64_t count = 4 * side * side * side;
    double edge = scene_gas_edge(count, 0.5, 0.3);
    carom_gas_def def = {.edges = {edge, edge, edge}, .periodic = {true, true, true}};
    gas_input inputs[2];
    bool made = true;
    for (int i = 0; i < 2; ++i) {
        def.queue = i == 0 ? CAROM_GAS_QUEUE_CALENDAR : CAROM_GAS_QUEUE_TREE;
        made &= make(context, &def, count, 0.5, 0.0, count, &inputs[i]);
        inputs[i].events = count > 500000 ? 50000 : 100000;
    }
    char job[64];
    snprintf(job, sizeof(job), "queue, %llu spheres", (unsigned long long)count);
    bench_contender contenders[] = {{"calendar, O(1)", NULL, gas_input_run, &inputs[0]},
                                    {"tree, O(log n)", NULL, gas_input_run, &inputs[1]}};
    if (made) bench_compare(bench, job, (double)inputs[0].events, contenders, 2);
    carom_gas_destroy(inputs[0].gas);
    carom_gas_destroy(inputs[1].gas);
}

static void run(bench *bench) {
    static char names[6][MOST_CELLS][32]; /* rows point to them */
    static const carom_gas_method methods[] = {CAROM_GAS_METHOD_CENTRE, CAROM_GAS_METHOD_EXTENT};
    static const uint64_t counts[] = {5000, 20000, 100000}, sides[] = {6, 14, 29, 63};
    carom_context_def def = *bench->def;
    def.threads = 1;
    carom_context *context;
    if (carom_context_create(&def, &context) != CAROM_OK) return;
    bench_density(bench, context);
    for (int m = 0; m < 2; ++m)
        for (int c = 0; c < (bench->quick ? 1 : 3); ++c)
            bench_cells(bench, context, methods[m], counts[c], names[3 * m + c]);
    for (int s = 0; s < (bench->quick ? 2 : 4); ++s) bench_queue(bench, context, sides[s]);
    carom_context_destroy(context);
}

const bench_group bench_gas = {70, "gas", "event-driven spheres: density, cells, queues", run};
