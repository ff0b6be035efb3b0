/* SPDX-License-Identifier: MIT */
/* The demo's first section: the machine, the tools that all engines share, and how their cost
 * grows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "cli/demo.h"

#define POINTS     1500
#define MOST_SIZES 8

static void show_machine(page *page, const carom_context_info *info) {
    const carom_build *build = carom_build_get();
    char threads[16], cuda[256];
    snprintf(threads, sizeof(threads), "%u", info->threads);
    (void)carom_cuda_describe(cuda, sizeof(cuda));
    static const char *const heads[] = {"", "here"};
    const char *const rows[][2] = {
        {"version", build->version},   {"commit", build->commit},
        {"compiler", build->compiler}, {"instruction set", carom_isa_name(info->isa)},
        {"threads", threads},          {"CUDA", cuda}};
    page_begin_table(page, heads, 2);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) page_row(page, rows[i], 2);
    page_end_table(page);
}

/* One curve per tool: nanoseconds per item against the number of items, one thread. */
static void show_growth(page *page, const bench *b) {
    static const char *const tools[] = {"sort", "scan", "sum"};
    double x[3][MOST_SIZES], y[3][MOST_SIZES];
    page_curve curves[3];
    for (size_t t = 0; t < 3; ++t) {
        curves[t] = (page_curve){tools[t], x[t], y[t], 0};
        for (uint32_t i = 0; i < b->row_count; ++i) {
            const bench_row *row = &b->rows[i];
            bool ours = strcmp(row->contender, "carom, one thread") == 0 &&
                        strncmp(row->job, tools[t], strlen(tools[t])) == 0;
            if (!ours || curves[t].count == MOST_SIZES) continue;
            x[t][curves[t].count] = round(row->items_per_second * row->seconds);
            y[t][curves[t].count++] = 1e9 / row->items_per_second;
        }
    }
    page_chart(page, "Cost of an item against their number, one thread: level means linear growth.",
               "items", "nanoseconds an item", curves, 3);
}

static void show_points(page *page) {
    carom_random random = {2026};
    page_begin_dots(page);
    for (int i = 0; i < POINTS; ++i) {
        double p[3], length = 0.0;
        for (int k = 0; k < 3; ++k) {
            p[k] = carom_random_normal(&random);
            length += p[k] * p[k];
        }
        length = sqrt(length);
        page_dot(page, p[0] / length, p[1] / length, p[2] / length);
    }
    page_end_dots(page, "1,500 directions from seed 2026: the same picture on every machine.");
}

static carom_status run(demo *demo) {
    carom_context_info info;
    carom_status status = carom_context_get_info(demo->cli->context, &info);
    if (status != CAROM_OK) return status;
    carom_context_def def = {.threads = info.threads, .isa = info.isa};
    bench *b = calloc(1, sizeof(*b));
    if (b == NULL) return CAROM_NO_MEMORY;
    b->quick = true;
    b->def = &def;
    for (size_t i = 0; bench_groups[i] != NULL; ++i)
        if (strcmp(bench_groups[i]->name, "base") == 0) bench_run(b, bench_groups[i]);
    page_section(
        &demo->page, "The base",
        "The tools that all engines share: one pool of threads, a radix sort, prefix sums and "
        "sums whose bits do not depend on the order of their terms.");
    show_machine(&demo->page, &info);
    show_growth(&demo->page, b);
    show_points(&demo->page);
    for (uint32_t i = 0; i < b->row_count; ++i)
        if (strcmp(b->rows[i].job, "sort keys+payload 1M") == 0 && demo->result[0] == '\0')
            snprintf(demo->result, sizeof(demo->result),
                     "one million keys sorted in %.1f ms on one thread, set %s, %u threads here",
                     1e3 * b->rows[i].seconds, carom_isa_name(info.isa), info.threads);
    free(b);
    return CAROM_OK;
}

const demo_part demo_base = {10, "base", "the tools all engines share", run};
