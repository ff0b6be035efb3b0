/* SPDX-License-Identifier: MIT */
/* papers_page.h: carom-bench papers. */
#ifndef CAROM_BENCH_PAPERS_PAGE_H
#define CAROM_BENCH_PAPERS_PAGE_H

#include "bench/papers.h"
#include "cli/command.h"

typedef struct bench_papers_def {
    bool quick;
    bool device_only;   /* rows of the GPU alone, of the figures that have some */
    arg_list only;      /* figures and papers; none: all */
    const char *folder; /* of the files */
} bench_papers_def;

/* Lists the figures. */
int bench_papers_list(const cli *cli);

/* Runs figures and writes them into the folder: NAME.csv and NAME.svg for each, index.html, and
 * papers_device.csv where there is a GPU. Returns an exit code. */
int bench_papers_run(cli *cli, const bench_papers_def *def);

/* A figure as CSV: the names of its columns, then one line per row, with 9 digits. */
void bench_papers_write_csv(FILE *out, const papers_plot *plot);
/* As one SVG picture: its pictures side by side, then its panels. */
void bench_papers_write_svg(FILE *out, const papers_plot *plot);

#endif
