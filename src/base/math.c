/* SPDX-License-Identifier: MIT */
/* Elementary functions from + - x / and sqrt.
 *
 * All use the same method. The argument is reduced, exactly or to a double-double
 * (double_double.h), to a range where the Taylor series needs few terms. The first terms of the
 * series, which make up all but some hundredths of the result, are added as double-doubles. The
 * others are small, so that doubles are precise enough for them. One rounding at the end gives the
 * double. Each error is thus half a unit in the last place for that rounding and a few hundredths
 * for the rest (Muller, "Elementary Functions", 2016, chapters 3 and 11).
 *
 * The coefficients are those of the series, 1/n or 1/n!, written as such. The number of terms is
 * chosen so that the first one left out is below 2^-62 of the result. Constants of two doubles are
 * the nearest double and the double nearest to the remainder. tests/test_math.c compares sines at
 * every exponent, because each uses different bits of 2/pi. */
#include "base/math.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/atan_item.h"
#include "base/power.h"
#include "base/sine_item.h"

static const carom_dd LN_2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
static const carom_dd ONE_BY_LN_2 = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
static const carom_dd THIRD = {0x1.5555555555555p-2, 0x1.5555555555555p-56};

/* Smaller ratios have no effect: a relative 2^-60 is 1/128 of a unit in the last place. */
#define NEGLIGIBLE_RATIO 0x1p-30

/* ---- Sine and cosine ------------------------------------------------------------------------- */

double carom_sin(double x) {
    return carom_sin_item(x);
}

double carom_cos(double x) {
    return carom_cos_item(x);
}

/* ---- Logarithms ------------------------------------------------------------------------------ */

#define ROOT_OF_HALF 0x1.6a09e667f3bcdp-1

/* x = 2^exponent m with m in [sqrt(1/2), sqrt(2)), and the logarithm of m. x is positive and
 * finite.
 *
 * log m = 2 atanh(s) = 2 (s + s^3/3 + s^5/5 + ...) with s = (m - 1) / (m + 1), |s| < 0.172. */
static carom_dd log_of_mantissa(double x, int *exponent) {
    double m = frexp(x, exponent);
    if (m < ROOT_OF_HALF) {
        m *= 2.0;
        --*exponent;
    }
    carom_dd s = carom_dd_divide(carom_dd_of(m - 1.0), carom_dd_sum(m, 1.0)); /* m - 1: exact */
    carom_dd square = carom_dd_multiply(s, s);
    carom_dd cube = carom_dd_multiply(square, s);
    carom_dd third = carom_dd_multiply(cube, THIRD);
    double t = square.high, p = 1.0 / 23.0; /* s^25/25 is below 2^-65 s */
    for (int n = 21; n >= 5; n -= 2) p = 1.0 / n + t * p;
    carom_dd rest = carom_dd_make(third.high, third.low + cube.high * t * p);
    return carom_dd_scale(carom_dd_add(s, rest), 2.0);
}

/* True where the logarithm is a special case: 0, negative, infinite, NaN. */
static int log_is_special(double x, double *value) {
    if (x > 0.0 && x < HUGE_VAL) return 0;
    *value = x == 0.0 ? -HUGE_VAL : x > 0.0 ? x : (double)NAN;
    return 1;
}

double carom_log(double x) {
    double special;
    if (log_is_special(x, &special)) return special;
    int exponent;
    carom_dd mantissa = log_of_mantissa(x, &exponent);
    carom_dd whole = carom_dd_multiply(carom_dd_of((double)exponent), LN_2);
    return carom_dd_add(whole, mantissa).high;
}

double carom_log2(double x) {
    double special;
    if (log_is_special(x, &special)) return special;
    int exponent;
    carom_dd mantissa = log_of_mantissa(x, &exponent);
    mantissa = carom_dd_multiply(mantissa, ONE_BY_LN_2);
    return carom_dd_add(carom_dd_of((double)exponent), mantissa).high;
}

/* ---- Cube root and hypotenuse ---------------------------------------------------------------- */

double carom_cbrt(double x) {
    double size = fabs(x);
    if (!(size < HUGE_VAL) || size == 0.0) return x;
    /* size = 2^(3 third) m with m in [1, 8). */
    int exponent;
    double m = frexp(size, &exponent);
    int third = (exponent + 1199) / 3 - 400; /* the floor of (exponent - 1) / 3 */
    m *= carom_power_of_two(exponent - 3 * third);
    /* The chord is off by 11 % at most; Halley's step makes an error e one of 2/3 e^3. */
    double root = 1.0 + (m - 1.0) / 7.0;
    for (int i = 0; i < 3; ++i) {
        double cube = root * root * root;
        root *= (cube + 2.0 * m) / (2.0 * cube + m);
    }
    /* Right but for the last bits. Newton's step with the exact difference gives those. */
    carom_dd cube = carom_dd_multiply(carom_dd_product(root, root), carom_dd_of(root));
    double over = carom_dd_sub(cube, carom_dd_of(m)).high;
    root = (root - over / (3.0 * root * root)) * carom_power_of_two(third);
    return x < 0.0 ? -root : root;
}

/* 2^exponent (a.high + a.low), rounded once where the result is subnormal. a.high is in [0.5, 2).
 */
static double scale_back(carom_dd a, int exponent) {
    if (exponent < -1021) { /* adding this gives doubles the spacing of subnormals */
        double front = ldexp(1.0, -1022 - exponent);
        if (a.high < front) {
            carom_dd sum = carom_dd_sum(front, a.high);
            a.high = (sum.high + (sum.low + a.low)) - front;
        }
    }
    return ldexp(a.high, exponent);
}

double carom_hypot(double x, double y) {
    double a = fabs(x), b = fabs(y);
    if (a == HUGE_VAL || b == HUGE_VAL) return HUGE_VAL;
    if (isnan(a) || isnan(b)) return (double)NAN;
    double larger = CAROM_MAX(a, b), smaller = CAROM_MIN(a, b);
    if (smaller == 0.0 || smaller < NEGLIGIBLE_RATIO * larger) return larger;
    int exponent;
    larger = frexp(larger, &exponent);
    smaller = ldexp(smaller, -exponent);
    carom_dd square =
        carom_dd_add(carom_dd_product(larger, larger), carom_dd_product(smaller, smaller));
    double root = sqrt(square.high); /* and Newton's step with the exact difference */
    double under = carom_dd_sub(square, carom_dd_product(root, root)).high;
    return scale_back(carom_dd_make(root, under / (2.0 * root)), exponent);
}

/* ---- Arctangent ------------------------------------------------------------------------------ */

double carom_atan2(double y, double x) {
    return carom_atan2_item(y, x);
}
