/* SPDX-License-Identifier: MIT */
/* math.h: sin, cos, log, log2, cbrt, atan2 and hypot with the same bits on every machine.
 *
 * C libraries round these differently in the last place, and in a gas the last place of one
 * velocity changes all trajectories after a few collisions. Here they use only + - x / and sqrt,
 * which IEEE 754 rounds uniquely. In src/, scenes/ and the tool's gases only sqrt and functions
 * without rounding (floor, frexp, ldexp, fabs, fmin ...) are taken from the C library;
 * scripts/check_libm.sh checks that.
 *
 * For every argument the error is below 0.52 units in the last place of the result. Zeros,
 * infinities and NaN are treated as in annex F of C11; errno and the exception flags are not
 * meaningful. Any thread. */
#ifndef CAROM_SRC_BASE_MATH_H
#define CAROM_SRC_BASE_MATH_H

/* The double nearest to pi, 0x1.921fb54442d18p+1, for C and CUDA. Products with a power of two are
 * exact: 2.0 * CAROM_PI and 4.0 * CAROM_PI are the doubles nearest to 2 pi and 4 pi. */
#define CAROM_PI 3.14159265358979323846

/* Of any finite angle in radians, however large; NaN for an infinite one. */
double carom_sin(double x);
double carom_cos(double x);

/* Natural and binary logarithm: -infinity at 0, NaN below. log2 of a power of two is exact. */
double carom_log(double x);
double carom_log2(double x);

/* Exact for the cube of a double. */
double carom_cbrt(double x);

/* The angle of (x, y) in [-pi, pi]. */
double carom_atan2(double y, double x);

/* sqrt(x^2 + y^2) without intermediate overflow or underflow; infinite if either is infinite, even
 * when the other is NaN. Exact where the result is a double. */
double carom_hypot(double x, double y);

#endif
