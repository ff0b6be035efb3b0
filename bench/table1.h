/* SPDX-License-Identifier: MIT */
/* table1.h: Table 1 of kDet (2017), as printed. */
#ifndef CAROM_BENCH_TABLE1_H
#define CAROM_BENCH_TABLE1_H

#include "bench/papers.h"
#include "scenes/sequence.h"

typedef struct table1_row {
    scene_kind kind;
    const char *name;
    uint64_t triangles;
    double k, k_deviation, height, height_deviation;
    double update, detect, total; /* milliseconds */
    double gproximity;            /* total */
} table1_row;

enum {
    TABLE1_BODIES = 2,
    TABLE1_LARGEST_CHAIR = 6,
    TABLE1_LARGEST_BREAKING = 10,
    TABLE1_ROWS = 16
};

/* Columns of the table as it is measured. */
enum {
    TABLE1_POLYGONS, /* of the scene that was measured */
    TABLE1_K,
    TABLE1_K_DEVIATION,
    TABLE1_HEIGHT,
    TABLE1_HEIGHT_DEVIATION,
    TABLE1_PAIRS,
    TABLE1_UPDATE, /* in milliseconds, as all that follow but the next */
    TABLE1_DETECT,
    TABLE1_TOTAL,
    TABLE1_PRINTED_POLYGONS, /* those of the row of the paper */
    TABLE1_KDET,
    TABLE1_GPROXIMITY,
    TABLE1_COLUMNS
};

extern const table1_row table1_rows[TABLE1_ROWS];

extern const papers_figure table1_figures[]; /* the first is the table */

#endif
