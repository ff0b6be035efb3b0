/* SPDX-License-Identifier: MIT */
/* toi_cpu.h: carom_toi_filter with SIMD, for one motion and for several; one version per
 * instruction set. */
#ifndef CAROM_SRC_GEOM_TOI_CPU_H
#define CAROM_SRC_GEOM_TOI_CPU_H

#include "base/isa.h"
#include "carom/geom.h"

/* carom_toi_filter of toi_item.h, with the same verdict and the same bits in *low and *high, which
 * are not NULL. */
CAROM_CPU_DECLARE(int, carom_toi_filter_fast, const carom_vec3 *start, const carom_vec3 *end,
                  int edges, double *low, double *high);

/* Motions that are decided together: eight vectors of AVX-512, so that few lanes are empty while
 * their number falls. */
#define CAROM_TOI_COLUMNS 64u

/* Motions side by side: at time 0 and at time 1, of each of the four points, x, y and z. */
typedef struct carom_toi_columns {
    double at[2][4][3][CAROM_TOI_COLUMNS] __attribute__((aligned(64)));
} carom_toi_columns;

static inline void carom_toi_column_set(carom_toi_columns *to, uint32_t column,
                                        const carom_vec3 *start, const carom_vec3 *end) {
    for (int p = 0; p < 4; ++p)
        for (int k = 0; k < 3; ++k) {
            to->at[0][p][k][column] = (&start[p].x)[k];
            to->at[1][p][k][column] = (&end[p].x)[k];
        }
}

static inline void carom_toi_column_get(const carom_toi_columns *from, uint32_t column,
                                        carom_vec3 *start, carom_vec3 *end) {
    for (int p = 0; p < 4; ++p)
        for (int k = 0; k < 3; ++k) {
            (&start[p].x)[k] = from->at[0][p][k][column];
            (&end[p].x)[k] = from->at[1][p][k][column];
        }
}

/* The same for `count` motions of one kind, at most CAROM_TOI_COLUMNS: verdicts, and times of those
 * that hit. The other columns hold any numbers. With AVX-512 two and a half times as fast as one
 * after the other. */
CAROM_CPU_DECLARE(void, carom_toi_filter_lanes, const carom_toi_columns *motions, uint32_t count,
                  int edges, int *verdict, double *low, double *high);

#endif
