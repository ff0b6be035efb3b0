/* SPDX-License-Identifier: MIT */
/* expansion.h: exact sums and products of doubles, as items.
 *
 * An expansion is a list of doubles, smallest magnitude first, whose bits do not overlap; its value
 * is their exact sum and its sign is that of its last component (Dekker 1971; Shewchuk, "Adaptive
 * precision floating-point arithmetic", 1997: all inputs and results here are strongly
 * nonoverlapping, which his Theorems 13 and 19 keep). Zeros are left out, so a value that needs one
 * double is one double long; zero itself is {0}.
 *
 * Nothing here may overflow or underflow; orient.h states the range that guarantees it. */
#ifndef CAROM_SRC_GEOM_EXPANSION_H
#define CAROM_SRC_GEOM_EXPANSION_H

#include <math.h>

#include "base/two_sum.h"

/* Items of the slow paths: kept out of line, so that the filters in front of them stay small. */
#ifdef __CUDACC__
#define CAROM_RARE_ITEM static __host__ __device__ __noinline__ __attribute__((unused))
#elif defined(__GNUC__)
#define CAROM_RARE_ITEM static __attribute__((noinline, cold, unused))
#else
#define CAROM_RARE_ITEM static inline
#endif

/* h[2] = a - b; returns its length, 1 or 2. */
CAROM_ITEM int carom_expansion_diff(double a, double b, double *h) {
    double x, y;
    carom_two_diff(a, b, &x, &y);
    h[0] = y == 0.0 ? x : y;
    h[1] = y == 0.0 ? 0.0 : x;
    return y == 0.0 ? 1 : 2;
}

/* h = e + f; returns its length, at most ne + nf. h overlaps neither. */
CAROM_ITEM int carom_expansion_sum(const double *e, int ne, const double *f, int nf, double *h) {
    int i = 0, j = 0, n = 0;
    double sum = 0.0;
    while (i < ne || j < nf) { /* merged by magnitude, smallest first */
        double next, tail;
        if (j == nf || (i < ne && fabs(e[i]) < fabs(f[j])))
            next = e[i++];
        else
            next = f[j++];
        carom_two_sum(sum, next, &sum, &tail);
        if (tail != 0.0) h[n++] = tail;
    }
    CAROM_ASSERT(n <= ne + nf);
    if (sum != 0.0 || n == 0) h[n++] = sum;
    return n;
}

/* h = b e; returns its length, at most 2 ne. h does not overlap e. */
CAROM_ITEM int carom_expansion_scale(const double *e, int ne, double b, double *h) {
    int n = 0;
    double sum, tail, high, low;
    carom_two_product(e[0], b, &sum, &tail);
    if (tail != 0.0) h[n++] = tail;
    for (int i = 1; i < ne; ++i) {
        carom_two_product(e[i], b, &high, &low);
        carom_two_sum(sum, low, &sum, &tail);
        if (tail != 0.0) h[n++] = tail;
        carom_two_sum(high, sum, &sum, &tail);
        if (tail != 0.0) h[n++] = tail;
    }
    if (sum != 0.0 || n == 0) h[n++] = sum;
    return n;
}

/* h = e f for nf of 1 or 2; `scratch` holds 4 ne doubles, h 2 ne nf. Returns the length. */
CAROM_ITEM int carom_expansion_product(const double *e, int ne, const double *f, int nf, double *h,
                                       double *scratch) {
    if (nf == 1) return carom_expansion_scale(e, ne, f[0], h);
    CAROM_ASSERT(nf == 2);
    int low = carom_expansion_scale(e, ne, f[0], scratch);
    int high = carom_expansion_scale(e, ne, f[1], scratch + low);
    CAROM_ASSERT(low <= 2 * ne && high <= 2 * ne);
    return carom_expansion_sum(scratch, low, scratch + low, high, h);
}

CAROM_ITEM int carom_expansion_sign(const double *e, int ne) {
    CAROM_ASSERT(ne >= 1 && (ne == 1 || e[ne - 1] != 0.0)); /* zeros are left out */
    return (e[ne - 1] > 0.0) - (e[ne - 1] < 0.0);
}

#endif
