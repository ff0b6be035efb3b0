/* SPDX-License-Identifier: MIT */
/* Table 1 of kDet (2017): the printed numbers beside ours on one thread, on all, and on the GPU,
 * now or when it was last measured there (bench/papers_device.csv). Rows are sequences of frames
 * from scenes/; bench/papers_kdet2017.c measures them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/table1.h"

/* Columns of the figure. */
enum { POLYGONS, K, K_DEVIATION, HEIGHT, PAIRS, UPDATE, DETECT, TOTAL };

static const char *const contenders[] = {"1 thread", "all threads", "GPU"};

/* The row of a contender, or NULL. */
static const papers_row *find(const papers_plot *plot, const table1_row *row, int contender) {
    char series[40];
    snprintf(series, sizeof(series), "%s: %s", contenders[contender], row->name);
    for (uint32_t i = 0; i < plot->row_count; ++i)
        if (plot->rows[i].values[POLYGONS] == (double)row->triangles &&
            strcmp(plot->rows[i].series, series) == 0)
            return &plot->rows[i];
    return NULL;
}

static void add_rows(bench *bench, const papers_plot *plot, const table1_row *row) {
    char job[64];
    double items = (double)row->triangles;
    snprintf(job, sizeof(job), "%s %lluk", row->name, (unsigned long long)row->triangles / 1000);
    bench_add_row(bench, job, items, "kDet (printed)", 1e-3 * row->total);
    bench_add_row(bench, job, items, "gProximity (printed)", 1e-3 * row->gproximity);
    for (int c = 0; c < 3; ++c) {
        const papers_row *ours = find(plot, row, c);
        if (ours != NULL)
            bench_add_row(bench, job, items, contenders[c], 1e-3 * ours->values[TOTAL]);
    }
}

/* Update, detection and total of a contender in milliseconds. */
static void print_times(char text[32], const papers_row *row, int digits) {
    snprintf(text, 32, "%20s", "");
    if (row == NULL) return;
    snprintf(text, 32, "%6.*f %6.*f %6.*f", digits, row->values[UPDATE], digits,
             row->values[DETECT], digits, row->values[TOTAL]);
}

static void print_table(bench *bench, const papers_plot *plot) {
    uint32_t far_k = 0, far_height = 0, slower = 0, gpu_rows = 0, fast = 0;
    double slowest = 0.0;
    bench_note(bench,
               "%21s  k, mean    height      kDet (ms)              gProx.  %-20s  %-20s  %s", "",
               "1 thread (ms)", "all threads (ms)", "GPU (ms)");
    bench_note(bench,
               "%21s  print ours  print ours  update detect total   total   %-20s  %-20s  %-20s "
               "kDet/GPU",
               "", "update detect  total", "update detect  total", "update detect  total");
    for (int i = 0; i < TABLE1_ROWS; ++i) {
        const table1_row *row = &table1_rows[i];
        const papers_row *ours[3];
        char times[3][32], ratio[16] = "";
        for (int c = 0; c < 3; ++c) {
            ours[c] = find(plot, row, c);
            print_times(times[c], ours[c], c == 2 ? 3 : 2);
        }
        if (ours[0] == NULL || ours[1] == NULL) continue;
        double k = ours[0]->values[K], height = ours[0]->values[HEIGHT];
        if (ours[2] != NULL) {
            double total = ours[2]->values[TOTAL];
            snprintf(ratio, sizeof(ratio), "%.0fx", row->total / total);
            ++gpu_rows;
            fast += row->total >= 30.0 * total || total <= 0.15;
            slowest = fmax(slowest, total);
        }
        far_k += fabs(k - row->k) > 0.3 * row->k;
        far_height += fabs(height - row->height) > 1.5;
        slower += ours[1]->values[TOTAL] > row->total;
        bench_note(bench,
                   "%-16s %3lluk  %5.1f %5.1f %5.1f %5.1f %7.1f %6.1f %5.1f %7.1f   %s  %s  %s %s",
                   row->name, (unsigned long long)row->triangles / 1000, row->k, k, row->height,
                   height, row->update, row->detect, row->total, row->gproximity, times[0],
                   times[1], times[2], ratio);
    }
    bench_note(bench,
               "%u rows with k more than 30 %% off the printed one, %u with height more than "
               "1.5 off",
               far_k, far_height);
    bench_note(bench, "%u rows take longer on all threads of this CPU than kDet on its GPU",
               slower);
    if (gpu_rows > 0)
        bench_note(
            bench,
            "GPU: %u of %u rows 30 times as fast as kDet or at most 0.15 ms; slowest %.3f ms", fast,
            gpu_rows, slowest);
    if (bench->quick)
        bench_note(bench, "quick: scenes of a few thousand triangles stand for these");
    for (uint32_t i = 0; i < plot->note_count; ++i) bench_note(bench, "%s", plot->notes[i]);
}

static void run(bench *bench) {
    static papers_plot plot; /* large: notes */
    papers_lab lab;
    if (papers_lab_open(&lab, bench->def, bench->quick)) {
        if (papers_run(&lab, &table1_figures[0], &plot)) {
            for (int i = 0; i < TABLE1_ROWS; ++i) add_rows(bench, &plot, &table1_rows[i]);
            print_table(bench, &plot);
        } else {
            bench_note(bench, "failed: %.150s", papers_plot_reason(&plot));
        }
        papers_plot_free(&plot);
    }
    papers_lab_close(&lab);
}

const bench_group bench_table1 = {43, "table1", "kDet's Table 1, its scenes remade", run};
