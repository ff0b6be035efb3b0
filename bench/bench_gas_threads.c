/* SPDX-License-Identifier: MIT */
/* A gas on more and more threads: one gas goes on, a slice of time on each number of threads in
 * turn, so all of them do the same work but for chance. Figures of the windows (docs/gas.md) are
 * printed as notes. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "carom/base.h"
#include "gas/gas.h"
#include "scenes/gas.h"

#define MOST_COUNTS 5
#define WARM        0.5 /* collisions of a sphere before anything is measured */

typedef struct slice {
    carom_context *context;
    carom_gas *gas;
    double span; /* of time, in one run */
} slice;

static bool run_slice(void *input) {
    const slice *s = input;
    return carom_gas_advance(s->context, s->gas, carom_gas_get_time(s->gas) + s->span, NULL,
                             NULL) == CAROM_OK;
}

/* What windows came to between two looks. */
static void note_windows(bench *bench, const char *job, const carom_gas_window_counts *a,
                         const carom_gas_window_counts *b, double events, double seconds) {
    double steps = (double)(b->steps - a->steps);
    char phases[120];
    int at = 0;
    for (int k = 0; k < CAROM_GAS_PHASES; ++k)
        at += snprintf(phases + at, sizeof(phases) - (size_t)at, " %.3f",
                       b->seconds[k] - a->seconds[k]);
    bench_note(bench,
               "%s: threads %u windows %llu undone %llu held %.4f serial %.5f %.3f M/s %.3f s", job,
               b->threads, (unsigned long long)(b->windows - a->windows),
               (unsigned long long)(b->undone - a->undone),
               steps > 0.0 ? (double)(b->kept - a->kept) / steps : 0.0,
               steps > 0.0 ? (double)(b->serial - a->serial) / steps : 0.0, 1e-6 * events / seconds,
               seconds);
    bench_note(bench, "%s: seconds of phases%s", job, phases);
}

static void measure(bench *bench, uint64_t count, double fraction, double collisions) {
    static const uint32_t counts[MOST_COUNTS] = {1, 2, 4, 8, 16};
    static const char *const names[MOST_COUNTS] = {"1 thread", "2 threads", "4 threads",
                                                   "8 threads", "16 threads"};
    char job[64];
    double edge = scene_gas_edge(count, 0.5, fraction), begin = carom_time_seconds();
    carom_gas_def def = {
        .edges = {edge, edge, edge}, .periodic = {true, true, true}, .sphere_count = count};
    slice s = {0};
    carom_gas_measures measures = {0};
    carom_context_info info;
    if (carom_context_create(bench->def, &s.context) != CAROM_OK) return;
    carom_gas_sphere *spheres = scene_gas_lattice(count, 0.5, def.edges, 1);
    def.spheres = spheres;
    bool good = spheres != NULL && carom_gas_create(s.context, &def, &s.gas) == CAROM_OK &&
                carom_context_get_info(s.context, &info) == CAROM_OK;
    free(spheres);
    double created = carom_time_seconds();
    s.span = 0.05;
    while (good) {
        good = run_slice(&s) && carom_gas_measure(s.context, s.gas, &measures) == CAROM_OK;
        if (measures.collision_rate * measures.time > WARM) break;
    }
    bench_note(bench, "%llu spheres at %.3f: created in %.2f s, warm in %.2f s",
               (unsigned long long)count, fraction, created - begin,
               carom_time_seconds() - created);
    carom_context_destroy(s.context);
    for (int k = 0; k < MOST_COUNTS && good && counts[k] <= info.threads; ++k) {
        carom_context_def how = *bench->def;
        how.threads = counts[k];
        good = carom_context_create(&how, &s.context) == CAROM_OK;
        if (!good) break;
        s.span = collisions / measures.collision_rate;
        carom_gas_window_counts before = s.gas->counts;
        uint64_t events = s.gas->events;
        double start = carom_time_seconds();
        good = run_slice(&s);
        double seconds = carom_time_seconds() - start;
        snprintf(job, sizeof(job), "%llu spheres at %.3f, threads", (unsigned long long)count,
                 fraction);
        bench_add_row(bench, job, (double)(s.gas->events - events), names[k], seconds);
        note_windows(bench, job, &before, &s.gas->counts, (double)(s.gas->events - events),
                     seconds);
        carom_context_destroy(s.context);
    }
    carom_gas_destroy(s.gas);
}

static void run(bench *bench) {
    static const double fractions[] = {0.1, 0.3, 0.49};
    for (int f = 0; f < 3; ++f) measure(bench, bench->quick ? 30000 : 1000000, fractions[f], 2.0);
    if (!bench->quick) measure(bench, 10000000, 0.3, 0.5);
}

const bench_group bench_gas_threads = {71, "gas_threads", "event-driven spheres: threads", run};
