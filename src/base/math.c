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

#include "base/double_double.h"
#include "base/power.h"

__extension__ typedef unsigned __int128 math_u128;

static const carom_dd HALF_PI = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
static const carom_dd LN_2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
static const carom_dd ONE_BY_LN_2 = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
static const carom_dd THIRD = {0x1.5555555555555p-2, 0x1.5555555555555p-56};

/* Smaller ratios have no effect: a relative 2^-60 is 1/128 of a unit in the last place. */
#define NEGLIGIBLE_RATIO 0x1p-30

/* ---- Sine and cosine ------------------------------------------------------------------------- */

/* h rounded to a multiple of 2^-13, |h| at most 1: its powers up to the fourth are exact. */
static double coarse(double h) {
    const double anchor = 0x1.8p+39; /* doubles near it are multiples of 2^-13 */
    return (h + anchor) - anchor;
}

/* sin(a), |a| at most pi/4 or a little more: sin(a.high) + a.low cos(a.high). */
static double sin_near_zero(carom_dd a) {
    double h = a.high, c = coarse(h), d = h - c, t = h * h, cube = c * c * c;
    /* h^3 / 6 as c^3 / 6, which is sixth + cube_rest / 6, and what d adds to it. 6 sixth would not
     * be exact, cube - 4 sixth is, and so is the difference that follows. */
    double sixth = cube / 6.0, cube_rest = (cube - 4.0 * sixth) - 2.0 * sixth;
    double added = d * (3.0 * h * c + d * d); /* h^3 - c^3 */
    /* Up to h^19 / 19!; h^21 / 21! is below 2^-72. */
    double p =
        1.0 / 6227020800.0 - t * (1.0 / 1307674368000.0 -
                                  t * (1.0 / 355687428096000.0 - t * (1.0 / 121645100408832000.0)));
    p = 1.0 / 120.0 - t * (1.0 / 5040.0 - t * (1.0 / 362880.0 - t * (1.0 / 39916800.0 - t * p)));
    double slope = 1.0 - t * (1.0 / 2.0 - t * (1.0 / 24.0 - t * (1.0 / 720.0)));
    carom_dd sum = carom_dd_make(h, -sixth);
    double rest = a.low * slope - (cube_rest + added) * (1.0 / 6.0) + h * t * t * p;
    return sum.high + (sum.low + rest);
}

/* cos(a), |a| at most pi/4 or a little more: cos(a.high) - a.low sin(a.high). */
static double cos_near_zero(carom_dd a) {
    double h = a.high, c = coarse(h), d = h - c, t = h * h, square = c * c;
    double half_added = d * (c + 0.5 * d); /* (h^2 - c^2) / 2 */
    /* h^4 / 24 as h^3 / 6 above; h^4 - c^4 is (h^2 - c^2) (h^2 + c^2). */
    double fourth = square * square, part = fourth / 24.0;
    double fourth_rest = (fourth - 16.0 * part) - 8.0 * part;
    double added = 2.0 * half_added * (t + square);
    /* Up to h^18 / 18!; h^20 / 20! is below 2^-67. */
    double p =
        1.0 / 479001600.0 -
        t * (1.0 / 87178291200.0 - t * (1.0 / 20922789888000.0 - t * (1.0 / 6402373705728000.0)));
    p = 1.0 / 720.0 - t * (1.0 / 40320.0 - t * (1.0 / 3628800.0 - t * p));
    double slope = h * (1.0 - t * (1.0 / 6.0 - t * (1.0 / 120.0 - t * (1.0 / 5040.0))));
    carom_dd sum = carom_dd_make(1.0 - 0.5 * square, part); /* without rounding */
    double rest = (fourth_rest + added) * (1.0 / 24.0) - half_added - a.low * slope - t * t * t * p;
    return sum.high + (sum.low + rest);
}

/* The first 1216 bits of 2/pi after the point, behind 64 zeros. */
static const uint64_t TWO_BY_PI[20] = {
    0,
    UINT64_C(0xA2F9836E4E441529),
    UINT64_C(0xFC2757D1F534DDC0),
    UINT64_C(0xDB6295993C439041),
    UINT64_C(0xFE5163ABDEBBC561),
    UINT64_C(0xB7246E3A424DD2E0),
    UINT64_C(0x06492EEA09D1921C),
    UINT64_C(0xFE1DEB1CB129A73E),
    UINT64_C(0xE88235F52EBB4484),
    UINT64_C(0xE99C7026B45F7E41),
    UINT64_C(0x3991D639835339F4),
    UINT64_C(0x9C845F8BBDF9283B),
    UINT64_C(0x1FF897FFDE05980F),
    UINT64_C(0xEF2F118B5A0A6D1F),
    UINT64_C(0x6D367ECF27CB09B7),
    UINT64_C(0x4F463F669E5FEA2D),
    UINT64_C(0x7527BAC7EBE5F17B),
    UINT64_C(0x3D0739F78A5292EA),
    UINT64_C(0x6BFB5FB11F8D5D08),
    UINT64_C(0x56033046FC7B6BAB),
};

#define WORD_UNIT 0x1p-64 /* one, where a word of 64 bits is a fraction below 1 */

/* 2^-64 word, all 64 bits of it. */
static carom_dd fraction_of(uint64_t word) {
    const uint64_t tail = 0x7FF;
    return carom_dd_sum(WORD_UNIT * (double)(word & ~tail), WORD_UNIT * (double)(word & tail));
}

/* x = quadrant pi/2 + rest, the quadrant modulo 4, |rest| at most pi/4 or a little more. x is
 * finite and above 2^-53.
 *
 * With x = m 2^e (m of 53 bits) bits of 2/pi above 2^(2-e) add multiples of 4 to x 2/pi and can be
 * left out (Payne, Hanek 1983). The next 192 leave an error below 2^(53-190). No double is closer
 * than 2^-62 to a multiple of pi/2 but for zero (Muller, section 11.3), so that at least 75 of the
 * bits that follow the point are right and not zero; of them 128 - 62 = 66 are used. */
static carom_dd reduce_any(double x, unsigned *quadrant) {
    uint64_t bits, words[3];
    memcpy(&bits, &x, sizeof(bits));
    uint64_t m = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    unsigned first = (unsigned)(bits >> 52) - 1075u + 62u; /* in TWO_BY_PI: the bit 2^(1-e) */
    unsigned shift = first % 64;
    for (unsigned i = 0; i < 3; ++i) {
        const uint64_t *from = &TWO_BY_PI[first / 64 + i];
        words[i] = shift == 0 ? from[0] : from[0] << shift | from[1] >> (64 - shift);
    }
    math_u128 low = (math_u128)m * words[2],
              middle = (math_u128)m * words[1] + (uint64_t)(low >> 64);
    uint64_t high = m * words[0] + (uint64_t)(middle >> 64);
    /* The two bits on top are the quadrant, the others a fraction, which is taken nearest to 0. */
    uint64_t upper = high << 2 | (uint64_t)middle >> 62;
    uint64_t lower = (uint64_t)middle << 2 | (uint64_t)low >> 62;
    unsigned up = (unsigned)(upper >> 63);
    *quadrant = ((unsigned)(high >> 62) + up) % 4;
    if (up) { /* minus the fraction, but for a unit of 2^-128 */
        upper = ~upper;
        lower = ~lower;
    }
    carom_dd turns =
        carom_dd_add(fraction_of(upper), carom_dd_scale(fraction_of(lower), WORD_UNIT));
    carom_dd rest = carom_dd_multiply(turns, HALF_PI);
    return up ? carom_dd_negate(rest) : rest;
}

/* pi/2 in three parts, the first two of 33 bits, so that their products with 20 bits are exact. */
#define HALF_PI_1         0x1.921fb54400000p+0
#define HALF_PI_2         0x1.0b4611a600000p-34
#define HALF_PI_3         0x1.3198a2e037073p-69
#define TWO_BY_PI_ROUNDED 0x1.45f306dc9c883p-1

/* The same, faster for common angles (Cody, Waite 1980). Three parts leave an error below 2^-97;
 * where the rest is so small that this could matter, the function above is used. */
static carom_dd reduce(double x, unsigned *quadrant) {
    const double quarter_pi = 0x1.921fb54442d18p-1, most = 0x1p20, least_rest = 0x1p-20;
    *quadrant = 0;
    if (x <= quarter_pi) return carom_dd_of(x);
    if (x > most) return reduce_any(x, quadrant);
    double turns = floor(x * TWO_BY_PI_ROUNDED + 0.5);
    double first = x - turns * HALF_PI_1;
    carom_dd rest = carom_dd_sum(first, -turns * HALF_PI_2);
    if (fabs(rest.high) < least_rest) return reduce_any(x, quadrant);
    *quadrant = (unsigned)turns % 4;
    return carom_dd_make(rest.high, rest.low - turns * HALF_PI_3);
}

/* sin(rest + quadrant pi/2). */
static double sin_in_quadrant(carom_dd rest, unsigned quadrant) {
    double value = quadrant % 2 == 0 ? sin_near_zero(rest) : cos_near_zero(rest);
    return quadrant % 4 >= 2 ? -value : value;
}

double carom_sin(double x) {
    double size = fabs(x);
    if (size < NEGLIGIBLE_RATIO) return x;
    if (!(size < HUGE_VAL)) return (double)NAN;
    unsigned quadrant;
    carom_dd rest = reduce(size, &quadrant);
    double value = sin_in_quadrant(rest, quadrant);
    return x < 0.0 ? -value : value;
}

double carom_cos(double x) {
    double size = fabs(x);
    if (size < NEGLIGIBLE_RATIO) return 1.0;
    if (!(size < HUGE_VAL)) return (double)NAN;
    unsigned quadrant;
    carom_dd rest = reduce(size, &quadrant);
    return sin_in_quadrant(rest, quadrant + 1);
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

/* To a few digits: the series holds a little beyond. */
#define TAN_EIGHTH_PI 0.41421356

/* atan(u) for u in [0, tan(pi/8)]: u - u^3/3 + u^5/5 - ... */
static carom_dd atan_near_zero(carom_dd u) {
    carom_dd square = carom_dd_multiply(u, u);
    carom_dd cube = carom_dd_multiply(square, u);
    carom_dd third = carom_dd_multiply(cube, THIRD);
    double t = square.high, p = 1.0 / 45.0; /* u^47/47 is below 2^-64 u */
    for (int n = 43; n >= 5; n -= 2) p = 1.0 / n - t * p;
    carom_dd rest = carom_dd_make(third.high, third.low - cube.high * t * p);
    return carom_dd_sub(u, rest);
}

double carom_atan2(double y, double x) {
    if (isnan(x) || isnan(y)) return (double)NAN;
    double up = fabs(y), aside = fabs(x);
    if (up == HUGE_VAL || aside == HUGE_VAL) { /* only the direction matters */
        double is_up = up == HUGE_VAL ? 1.0 : 0.0, is_aside = aside == HUGE_VAL ? 1.0 : 0.0;
        up = is_up;
        aside = is_aside;
    }
    if (!signbit(x) && up < NEGLIGIBLE_RATIO * aside) return y / x; /* x > 0 */
    carom_dd angle = {0.0, 0.0};
    if (up != 0.0 && aside != 0.0) {
        int exponent;
        double larger = frexp(CAROM_MAX(up, aside), &exponent);
        double smaller = ldexp(CAROM_MIN(up, aside), -exponent);
        if (smaller > TAN_EIGHTH_PI * larger) { /* nearer to the diagonal */
            carom_dd ratio =
                carom_dd_divide(carom_dd_sum(larger, -smaller), carom_dd_sum(larger, smaller));
            angle = carom_dd_sub(carom_dd_scale(HALF_PI, 0.5), atan_near_zero(ratio));
        } else {
            angle = atan_near_zero(carom_dd_divide(carom_dd_of(smaller), carom_dd_of(larger)));
        }
    }
    if (up > aside) angle = carom_dd_sub(HALF_PI, angle);
    if (signbit(x)) angle = carom_dd_sub(carom_dd_scale(HALF_PI, 2.0), angle);
    return copysign(angle.high, y);
}
