/* SPDX-License-Identifier: MIT */
/* Table 1 of kDet (2017): the printed numbers beside its grid and our tree on one thread, on all,
 * and on the GPU, now or when it was last measured there (bench/papers_device.csv).
 * Rows are sequences of frames from scenes/; bench/papers_kdet2017.c measures them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/table1.h"

enum { GRID_ONE, GRID_ALL, TREE_ONE, TREE_ALL, GRID_GPU, TREE_GPU, CONTENDERS };

static const char *const contenders[CONTENDERS] = {"grid, 1 thread", "grid, all threads",
                                                   "tree, 1 thread", "tree, all threads",
                                                   "grid, GPU",      "tree, GPU"};

/* The row of a contender, or NULL. */
static const papers_row *find(const papers_plot *plot, const table1_row *row, int contender) {
    char series[64];
    snprintf(series, sizeof(series), "%s: %s", contenders[contender], row->name);
    for (uint32_t i = 0; i < plot->row_count; ++i)
        if (plot->rows[i].values[TABLE1_PRINTED_POLYGONS] == (double)row->triangles &&
            strcmp(plot->rows[i].series, series) == 0)
            return &plot->rows[i];
    return NULL;
}

/* "252k", or "6520" of a small scene in a quick run. */
static void print_count(char *text, size_t size, uint64_t triangles) {
    bool whole = triangles % 1000 == 0;
    snprintf(text, size, "%llu%s", (unsigned long long)(whole ? triangles / 1000 : triangles),
             whole ? "k" : "");
}

/* What is printed stands beside scenes of as many polygons alone. */
static void add_rows(bench *bench, const papers_plot *plot, const table1_row *row) {
    char job[64], count[24];
    const papers_row *measured = find(plot, row, TREE_ONE);
    if (measured == NULL) return;
    double items = (double)measured->triangles;
    print_count(count, sizeof(count), measured->triangles);
    snprintf(job, sizeof(job), "%s %s", row->name, count);
    if (measured->triangles == row->triangles) {
        bench_add_row(bench, job, items, "kDet (printed)", 1e-3 * row->total);
        bench_add_row(bench, job, items, "gProximity (printed)", 1e-3 * row->gproximity);
    }
    for (int c = 0; c < CONTENDERS; ++c) {
        const papers_row *ours = find(plot, row, c);
        if (ours != NULL)
            bench_add_row(bench, job, items, contenders[c], 1e-3 * ours->values[TABLE1_TOTAL]);
    }
}

/* Update and total of a contender in milliseconds. */
static void print_times(char text[24], const papers_row *row, int digits) {
    snprintf(text, 24, "%13s", "");
    if (row == NULL) return;
    snprintf(text, 24, "%6.*f %6.*f", digits, row->values[TABLE1_UPDATE], digits,
             row->values[TABLE1_TOTAL]);
}

static void print_table(bench *bench, const papers_plot *plot) {
    uint32_t far_k = 0, far_height = 0, slower_tree = 0, slower_grid = 0, gpu_rows = 0, fast = 0;
    double slowest = 0.0;
    bool whole = true;
    bench_note(bench, "k and height: printed, ours (each with its deviation); kDet: update, total; "
                      "gProximity: total;");
    bench_note(bench, "then update and total in ms of: grid, 1 thread; grid, all; tree, 1 thread; "
                      "tree, all; grid and tree on a GPU");
    for (int i = 0; i < TABLE1_ROWS; ++i) {
        const table1_row *row = &table1_rows[i];
        const papers_row *ours[CONTENDERS];
        char times[CONTENDERS][24], ratio[16] = "", count[24];
        for (int c = 0; c < CONTENDERS; ++c) {
            ours[c] = find(plot, row, c);
            print_times(times[c], ours[c], c >= GRID_GPU ? 3 : 2);
        }
        if (ours[GRID_ALL] == NULL || ours[TREE_ALL] == NULL) continue;
        const double *values = ours[TREE_ALL]->values;
        whole &= ours[TREE_ALL]->triangles == row->triangles;
        if (ours[TREE_GPU] != NULL) {
            double total = ours[TREE_GPU]->values[TABLE1_TOTAL];
            snprintf(ratio, sizeof(ratio), "%.0fx", row->total / total);
            ++gpu_rows;
            fast += row->total >= 30.0 * total || total <= 0.15;
            slowest = fmax(slowest, total);
        }
        far_k += fabs(values[TABLE1_K] - row->k) > 0.3 * row->k;
        far_height += fabs(values[TABLE1_HEIGHT] - row->height) > 1.5;
        slower_tree += values[TABLE1_TOTAL] > row->total;
        slower_grid += ours[GRID_ALL]->values[TABLE1_TOTAL] > row->total;
        print_count(count, sizeof(count), ours[TREE_ALL]->triangles);
        bench_note(
            bench,
            "%-16s %5s %4.1f (%.1f) %4.1f (%.1f)  %4.1f (%.1f) %4.1f (%.1f) %5.1f %5.1f %6.1f"
            "   %s  %s  %s  %s  %s  %s %s",
            row->name, count, row->k, row->k_deviation, values[TABLE1_K],
            values[TABLE1_K_DEVIATION], row->height, row->height_deviation, values[TABLE1_HEIGHT],
            values[TABLE1_HEIGHT_DEVIATION], row->update, row->total, row->gproximity,
            times[GRID_ONE], times[GRID_ALL], times[TREE_ONE], times[TREE_ALL], times[GRID_GPU],
            times[TREE_GPU], ratio);
    }
    if (whole) {
        bench_note(bench,
                   "%u rows with k more than 30 %% off the printed one, %u with height more than "
                   "1.5 off",
                   far_k, far_height);
        bench_note(bench,
                   "on all threads of this CPU %u rows take longer by the tree, %u by kDet's grid, "
                   "than kDet on its GPU",
                   slower_tree, slower_grid);
    } else {
        bench_note(bench, "quick: these scenes have fewer polygons than those that are printed");
    }
    if (gpu_rows > 0)
        bench_note(
            bench,
            "GPU: %u of %u rows 30 times as fast as kDet or at most 0.15 ms; slowest %.3f ms", fast,
            gpu_rows, slowest);
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
