/* SPDX-License-Identifier: MIT */
/* Takes turns between contenders, takes medians. */
#define _GNU_SOURCE
#include "bench/bench.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench_groups.h"

#define DEFAULT_ROUNDS 9
#define QUICK_ROUNDS   3
#define MOST_ROUNDS    101

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, uint32_t count) {
    qsort(values, count, sizeof(*values), by_value);
    return values[count / 2];
}

static double cpu_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_compare(bench *bench, const char *job, double items, const bench_contender *contenders,
                   uint32_t count) {
    static double seconds[BENCH_MOST_CONTENDERS][MOST_ROUNDS];
    static double cpu_seconds[BENCH_MOST_CONTENDERS][MOST_ROUNDS];
    bool wrong[BENCH_MOST_CONTENDERS] = {false};
    uint32_t rounds = bench->rounds != 0 ? bench->rounds
                      : bench->quick     ? QUICK_ROUNDS
                                         : DEFAULT_ROUNDS;
    if (rounds > MOST_ROUNDS) rounds = MOST_ROUNDS;
    if (count > BENCH_MOST_CONTENDERS) count = BENCH_MOST_CONTENDERS;

    for (uint32_t round = 0; round < rounds + 1; ++round) { /* the first warms up, uncounted */
        for (uint32_t i = 0; i < count; ++i) {
            const bench_contender *contender = &contenders[i];
            if (contender->prepare != NULL) contender->prepare(contender->input);
            double cpu_start = cpu_time(), start = carom_time_seconds();
            if (!contender->run(contender->input)) wrong[i] = true;
            double end = carom_time_seconds(), cpu_end = cpu_time();
            if (round == 0) continue;
            seconds[i][round - 1] = end - start;
            cpu_seconds[i][round - 1] = cpu_end - cpu_start;
        }
    }
    double first = 0.0, cpu_first = 0.0;
    for (uint32_t i = 0; i < count && bench->row_count < BENCH_MOST_ROWS; ++i) {
        bench_row *row = &bench->rows[bench->row_count++];
        *row = (bench_row){.group = bench->group,
                           .contender = contenders[i].name,
                           .seconds = median(seconds[i], rounds),
                           .cpu_seconds = median(cpu_seconds[i], rounds),
                           .wrong = wrong[i]};
        snprintf(row->job, sizeof(row->job), "%s", job);
        if (i == 0) first = row->seconds, cpu_first = row->cpu_seconds;
        row->items_per_second = items / row->seconds;
        row->ratio = row->seconds / first;
        row->cpu_ratio = row->cpu_seconds / cpu_first;
        if (bench->on_row != NULL) bench->on_row(bench->user, row);
    }
}

void bench_note(bench *bench, const char *format, ...) {
    if (bench->note_count == BENCH_MOST_NOTES) return;
    char *note = bench->notes[bench->note_count++];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note, sizeof(bench->notes[0]), format, arguments);
    va_end(arguments);
    if (bench->on_note != NULL) bench->on_note(bench->user, note);
}

void bench_run(bench *bench, const bench_group *group) {
    bench->group = group->name;
    group->run(bench);
}

/* The module lies in lib/ beside the tool. */
bench_peer_fn *bench_peer(const char *symbol) {
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 64);
    if (length <= 0) return NULL;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL) return NULL;
    strcpy(slash, "/lib/libcarom_peers.so");
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* stays loaded */
    void *found = module != NULL ? dlsym(module, symbol) : NULL;
    bench_peer_fn *function;
    memcpy(&function, &found, sizeof(found)); /* ISO C has no cast from data to function */
    return function;
}
