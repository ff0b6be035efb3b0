/* SPDX-License-Identifier: MIT */
/* real.h: real numbers as balls: a midpoint of any precision and a radius. The number is certainly
 * within the radius of the midpoint. */
#ifndef CAROM_SRC_GEOM_REAL_H
#define CAROM_SRC_GEOM_REAL_H

#include <stdbool.h>
#include <stdint.h>

#include "carom/base.h"

/* An upper or a lower bound of a magnitude: m 2^e with m in [1/2, 1), or m = 0, or m infinite. */
typedef struct carom_bound {
    double m;
    int e;
} carom_bound;

#define CAROM_REAL_MOST 32 /* limbs of 64 bits */

/* sign 0.limbs 2^exponent, limb[0] the lowest; the highest bit is set unless the sign is 0. */
typedef struct carom_real {
    int sign, exponent;
    carom_bound radius;
    uint64_t limb[CAROM_REAL_MOST];
} carom_real;

/* Every function takes n, the limbs in use, 1 to CAROM_REAL_MOST; operands and result have as many,
 * and the result may be an operand. */
void carom_real_set(carom_real *r, double x, int n); /* exact; x is finite, n is 2 or more */
void carom_real_add(carom_real *r, const carom_real *a, const carom_real *b, int n);
void carom_real_sub(carom_real *r, const carom_real *a, const carom_real *b, int n);
void carom_real_mul(carom_real *r, const carom_real *a, const carom_real *b, int n);
void carom_real_scale(carom_real *r, int64_t times, int n); /* r = times r; |times| < 2^53 */
void carom_real_extend(carom_real *r, int from, int n);     /* from fewer limbs to n */
/* The radius is infinite where the divisor may be 0, or the radicand be 0 or less. */
void carom_real_divide(carom_real *r, const carom_real *a, const carom_real *b, int n);
void carom_real_root(carom_real *r, const carom_real *a, int n);

/* The nearest double to the midpoint times 2^power; what is too large becomes the largest finite
 * double, with an infinite error. *error, rounded up, is how far the number times 2^power may be
 * from it. */
double carom_real_round(const carom_real *a, int power, int n, double *error);

/* Bounds of |a|; the lower one is 0 where a may be 0. */
carom_bound carom_real_upper(const carom_real *a, int n);
carom_bound carom_real_lower(const carom_real *a, int n);

/* Rounded up; is a <= b 2^power? */
carom_bound carom_bound_make(double x);
carom_bound carom_bound_add(carom_bound a, carom_bound b);
carom_bound carom_bound_mul(carom_bound a, carom_bound b);
bool carom_bound_within(carom_bound a, carom_bound b, int power);

#endif
