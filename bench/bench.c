/* SPDX-License-Identifier: MIT */
/* Takes turns between contenders, takes medians and the slowest rounds. */
#include "bench/bench.h"
#include "cli/platform.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_groups.h"

#define DEFAULT_ROUNDS 9
#define QUICK_ROUNDS   3

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, uint32_t count) {
    qsort(values, count, sizeof(*values), by_value);
    return values[count / 2];
}

/* The 99.9th percentile of sorted values: the least that 999 of 1000 do not exceed. */
static double tail(const double *sorted, uint32_t count) {
    if (count < BENCH_TAIL_ROUNDS) return (double)NAN;
    uint64_t rank = (999 * (uint64_t)count + 999) / 1000;
    return sorted[rank - 1];
}

double bench_thread_time(void) {
    return platform_thread_seconds();
}

static double device_seconds; /* of the present run */
static bool device_used;

void bench_add_device_seconds(double seconds) {
    device_seconds += seconds;
    device_used = true;
}

/* The times of one contender, one per round. */
typedef struct times {
    double *wall, *cpu, *device;
    bool wrong, on_device;
} times;

static void run_once(const bench_contender *contender, times *t, uint32_t round) {
    if (contender->prepare != NULL) contender->prepare(contender->input);
    device_seconds = 0.0;
    device_used = false;
    double cpu_start = platform_process_seconds(), start = carom_time_seconds();
    if (!contender->run(contender->input)) t->wrong = true;
    double end = carom_time_seconds(), cpu_end = platform_process_seconds();
    if (round == 0) return; /* it warms up, uncounted */
    t->wall[round - 1] = end - start;
    t->cpu[round - 1] = cpu_end - cpu_start;
    t->device[round - 1] = device_seconds;
    t->on_device |= device_used;
}

static bench_row make_row(const bench *bench, const char *job, double items, const char *contender,
                          const times *t, uint32_t rounds) {
    bench_row row = {.group = bench->group,
                     .contender = contender,
                     .rounds = rounds,
                     .items = items,
                     .seconds = median(t->wall, rounds), /* sorts them */
                     .cpu_seconds = median(t->cpu, rounds),
                     .device_seconds = t->on_device ? median(t->device, rounds) : (double)NAN,
                     .wrong = t->wrong};
    row.most_seconds = t->wall[rounds - 1];
    row.tail_seconds = tail(t->wall, rounds);
    row.items_per_second = items / row.seconds;
    snprintf(row.job, sizeof(row.job), "%s", job);
    return row;
}

/* Reports a row, with ratios to the row `first`, which may be itself. */
static void report(bench *bench, uint32_t first, bench_row row) {
    if (bench->row_count == BENCH_MOST_ROWS) return;
    bench_row *to = &bench->rows[bench->row_count++];
    *to = row;
    to->ratio = row.seconds / bench->rows[first].seconds;
    to->cpu_ratio = row.cpu_seconds / bench->rows[first].cpu_seconds;
    to->series = bench->series;
    to->size = bench->size;
    if (bench->on_row != NULL) bench->on_row(bench->user, to);
}

void bench_add_row(bench *bench, const char *job, double items, const char *contender,
                   double seconds) {
    bench_row row = {.group = bench->group,
                     .contender = contender,
                     .rounds = 1,
                     .items = items,
                     .seconds = seconds,
                     .most_seconds = seconds,
                     .tail_seconds = (double)NAN,
                     .cpu_seconds = (double)NAN,
                     .device_seconds = (double)NAN,
                     .items_per_second = items / seconds};
    snprintf(row.job, sizeof(row.job), "%s", job);
    uint32_t first = bench->row_count;
    while (first > 0 && strcmp(bench->rows[first - 1].job, row.job) == 0) --first;
    report(bench, first, row);
}

void bench_compare(bench *bench, const char *job, double items, const bench_contender *contenders,
                   uint32_t count) {
    times all[BENCH_MOST_CONTENDERS] = {{0}};
    uint32_t rounds = bench->rounds != 0 ? bench->rounds
                      : bench->quick     ? QUICK_ROUNDS
                                         : DEFAULT_ROUNDS;
    if (rounds > BENCH_MOST_ROUNDS) rounds = BENCH_MOST_ROUNDS;
    if (count > BENCH_MOST_CONTENDERS) count = BENCH_MOST_CONTENDERS;
    double *numbers = malloc(3 * (size_t)count * rounds * sizeof(*numbers));
    if (numbers == NULL) {
        bench_note(bench, "%.60s: no memory for %u rounds", job, rounds);
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        all[i].wall = numbers + 3 * (size_t)i * rounds;
        all[i].cpu = all[i].wall + rounds;
        all[i].device = all[i].cpu + rounds;
    }
    for (uint32_t round = 0; round < rounds + 1; ++round)
        for (uint32_t i = 0; i < count; ++i) run_once(&contenders[i], &all[i], round);
    uint32_t first = bench->row_count;
    for (uint32_t i = 0; i < count; ++i)
        report(bench, first, make_row(bench, job, items, contenders[i].name, &all[i], rounds));
    bench->series = NULL;
    free(numbers);
}

void bench_at_size(bench *bench, const char *series, double size) {
    bench->series = series;
    bench->size = size;
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
    char path[PLATFORM_LONGEST_PATH + 64], why[256];
    if (!platform_program_path(path, PLATFORM_LONGEST_PATH)) return NULL;
    size_t folder = (size_t)(carom_os_file_name(path) - path);
    if (folder == 0) return NULL;
    strcpy(path + folder, "lib/libcarom_peers.so");
    void *module = carom_os_library_open(path, why, sizeof(why)); /* stays loaded */
    void *found = module != NULL ? carom_os_library_find(module, symbol) : NULL;
    bench_peer_fn *function;
    memcpy(&function, &found, sizeof(found)); /* ISO C has no cast from data to function */
    return function;
}
