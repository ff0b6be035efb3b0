/* SPDX-License-Identifier: MIT */
/* plot.h: the rows of a benchmark as a file. */
#ifndef CAROM_BENCH_PLOT_H
#define CAROM_BENCH_PLOT_H

#include <stdio.h>

#include "bench/bench.h"

/* One line per row below a line of names; text in quotes (RFC 4180), times in seconds with 17
 * digits, empty where there is none. */
void bench_write_csv(FILE *out, const bench *b);

/* One SVG picture: a section per group, a bar per row. */
void bench_write_svg(FILE *out, const bench *b);

#endif
