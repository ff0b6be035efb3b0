/* SPDX-License-Identifier: MIT */
/* The tools of base: sort, scan, order-independent sums. The only benchmark that looks behind the
 * public headers, as these tools have no public face. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "base/sort.h"
#include "base/sum.h"
#include "bench/bench.h"
#include "bench/peers/peers.h"

typedef struct base_input {
    carom_context *context;
    uint64_t count;
    const uint32_t *keys; /* what prepare starts from */
    uint32_t *sorted, *payload;
    uint64_t *words;
    const double *values;
    double total;
    peer_sort_fn *peer;
} base_input;

static void prepare_keys(void *input) {
    base_input *b = input;
    memcpy(b->sorted, b->keys, b->count * sizeof(*b->keys));
    for (uint64_t i = 0; i < b->count; ++i) b->payload[i] = (uint32_t)i;
}

static void prepare_words(void *input) {
    base_input *b = input;
    for (uint64_t i = 0; i < b->count; ++i) b->words[i] = i << 32 | b->keys[i];
}

static bool run_sort(void *input) {
    base_input *b = input;
    return carom_sort_keys(b->context, b->sorted, b->payload, b->count) == CAROM_OK &&
           b->sorted[0] <= b->sorted[b->count / 2] &&
           b->sorted[b->count / 2] <= b->sorted[b->count - 1];
}

static bool run_peer_sort(void *input) {
    base_input *b = input;
    b->peer(b->words, b->count);
    return (uint32_t)b->words[0] <= (uint32_t)b->words[b->count - 1];
}

static bool run_scan(void *input) {
    base_input *b = input;
    return carom_scan_u64(b->context, b->payload, b->count, b->words) == CAROM_OK;
}

static bool run_plain_scan(void *input) {
    base_input *b = input;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < b->count; ++i) {
        b->words[i] = sum;
        sum += b->payload[i];
    }
    b->words[b->count] = sum;
    return true;
}

static bool run_sum(void *input) {
    base_input *b = input;
    carom_sum sum = {0};
    int scale = carom_sum_scale(1.0, b->count);
    if (carom_sum_array(b->context, b->values, b->count, scale, &sum) != CAROM_OK) return false;
    b->total = carom_sum_value(sum, scale);
    return true;
}

static bool run_plain_sum(void *input) {
    base_input *b = input;
    double sum = 0.0;
    for (uint64_t i = 0; i < b->count; ++i) sum += b->values[i];
    b->total = sum;
    return true;
}

static const char *job_name(char *text, size_t size, const char *what, uint64_t count) {
    if (count >= 1000000)
        snprintf(text, size, "%s %lluM", what, (unsigned long long)(count / 1000000));
    else
        snprintf(text, size, "%s %lluk", what, (unsigned long long)(count / 1000));
    return text;
}

static void bench_size(bench *bench, carom_context *serial, carom_context *parallel,
                       uint64_t count) {
    uint32_t *memory = malloc(count * 3 * sizeof(uint32_t));
    uint64_t *words = malloc((count + 1) * sizeof(uint64_t));
    double *values = malloc(count * sizeof(double));
    char job[64];
    if (memory != NULL && words != NULL && values != NULL) {
        carom_random random = {1};
        for (uint64_t i = 0; i < count; ++i) memory[i] = (uint32_t)carom_random_next(&random);
        for (uint64_t i = 0; i < count; ++i) values[i] = carom_random_between(&random, -1.0, 1.0);
        base_input one = {.context = serial,
                          .count = count,
                          .keys = memory,
                          .sorted = memory + count,
                          .payload = memory + 2 * count,
                          .words = words,
                          .values = values};
        base_input all = one;
        all.context = parallel;
        bench_peer_fn *peer = bench_peer("peer_std_stable_sort");
        one.peer = (peer_sort_fn *)peer;
        bench_contender sorts[] = {{"carom, one thread", prepare_keys, run_sort, &one},
                                   {"carom, all threads", prepare_keys, run_sort, &all},
                                   {"std::stable_sort", prepare_words, run_peer_sort, &one}};
        bench_compare(bench, job_name(job, sizeof(job), "sort keys+payload", count), (double)count,
                      sorts, peer != NULL ? 3 : 2);
        bench_contender scans[] = {{"carom, one thread", NULL, run_scan, &one},
                                   {"carom, all threads", NULL, run_scan, &all},
                                   {"plain loop", NULL, run_plain_scan, &one}};
        bench_compare(bench, job_name(job, sizeof(job), "scan", count), (double)count, scans, 3);
        bench_contender sums[] = {{"carom, one thread", NULL, run_sum, &one},
                                  {"carom, all threads", NULL, run_sum, &all},
                                  {"plain double loop", NULL, run_plain_sum, &one}};
        bench_compare(bench, job_name(job, sizeof(job), "sum", count), (double)count, sums, 3);
    }
    free(memory);
    free(words);
    free(values);
}

static void run(bench *bench) {
    static const uint64_t sizes[] = {10000, 100000, 1000000, 10000000};
    carom_context_def def = *bench->def;
    def.threads = 1;
    carom_context *serial, *parallel = NULL;
    if (carom_context_create(&def, &serial) == CAROM_OK &&
        carom_context_create(bench->def, &parallel) == CAROM_OK)
        for (size_t i = 0; i < (bench->quick ? 3u : 4u); ++i)
            bench_size(bench, serial, parallel, sizes[i]);
    carom_context_destroy(serial);
    carom_context_destroy(parallel);
}

const bench_group bench_base = {10, "base", "radix sort, prefix sum, order-independent sum", run};
