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

/* Of Jacobi's method: convergence is quadratic, five sweeps usually suffice. */
#define CAROM_PRINCIPAL_SWEEPS    12
#define CAROM_PRINCIPAL_CONVERGED 1e-12 /* of the trace: boxes and directions need no better axes */

/* The covariance of the points, times their number. */
static inline void carom_spread_covariance(const carom_spread *s, double m[3][3]) {
    double n = (double)s->count;
    const double *q = s->square, *t = s->sum;
    m[0][0] = q[0] - t[0] * t[0] / n;
    m[1][1] = q[1] - t[1] * t[1] / n;
    m[2][2] = q[2] - t[2] * t[2] / n;
    m[0][1] = m[1][0] = q[3] - t[0] * t[1] / n;
    m[0][2] = m[2][0] = q[4] - t[0] * t[2] / n;
    m[1][2] = m[2][1] = q[5] - t[1] * t[2] / n;
}

/* The orthonormal principal axes of the covariance, that of the largest spread first; rows are
 * axes. There is at least one point. */
void carom_spread_axes(const carom_spread *s, double axes[3][3]);

#endif
