/* SPDX-License-Identifier: MIT */
/* principal.h: sums over points, and the principal axes of their covariance. */
#ifndef CAROM_SRC_GEOM_PRINCIPAL_H
#define CAROM_SRC_GEOM_PRINCIPAL_H

#include <stdint.h>

/* Sums over points; all zero is none. */
typedef struct carom_spread {
    double sum[3], square[6]; /* xx yy zz xy xz yz */
    uint64_t count;
} carom_spread;

static inline void carom_spread_add(carom_spread *s, double x, double y, double z) {
    s->sum[0] += x;
    s->sum[1] += y;
    s->sum[2] += z;
    s->square[0] += x * x;
    s->square[1] += y * y;
    s->square[2] += z * z;
    s->square[3] += x * y;
    s->square[4] += x * z;
    s->square[5] += y * z;
    ++s->count;
}

/* The orthonormal principal axes of the covariance, that of the largest spread first; rows are
 * axes. There is at least one point. */
void carom_spread_axes(const carom_spread *s, double axes[3][3]);

#endif
