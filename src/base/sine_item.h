/* SPDX-License-Identifier: MIT */
/* sine_item.h: carom_sin and carom_cos (math.h) as items: the CPU's bits on the GPU too. math.c has
 * the method, and what the coefficients and constants are.
 *
 * __int128 is there wherever the library is built, and in kernels. */
#ifndef CAROM_SRC_BASE_SINE_ITEM_H
#define CAROM_SRC_BASE_SINE_ITEM_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/double_double.h"

__extension__ typedef unsigned __int128 carom_sine_wide;

/* pi/2 as the nearest double and the double nearest to the remainder. */
#define CAROM_HALF_PI_HIGH 0x1.921fb54442d18p+0
#define CAROM_HALF_PI_LOW  0x1.1a62633145c07p-54

/* Smaller angles have no effect: a relative 2^-60 is 1/128 of a unit in the last place. */
#define CAROM_SINE_NEGLIGIBLE 0x1p-30

/* h rounded to a multiple of 2^-13, |h| at most 1: its powers up to the fourth are exact. */
CAROM_ITEM double carom_sine_coarse(double h) {
    const double anchor = 0x1.8p+39; /* doubles near it are multiples of 2^-13 */
    return (h + anchor) - anchor;
}

/* sin(a), |a| at most pi/4 or a little more: sin(a.high) + a.low cos(a.high). */
CAROM_ITEM double carom_sin_near_zero(carom_dd a) {
    double h = a.high, c = carom_sine_coarse(h), d = h - c, t = h * h, cube = c * c * c;
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
CAROM_ITEM double carom_cos_near_zero(carom_dd a) {
    double h = a.high, c = carom_sine_coarse(h), d = h - c, t = h * h, square = c * c;
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
#define CAROM_SINE_TWO_BY_PI_WORDS                                                                 \
    {                                                                                              \
        0, UINT64_C(0xA2F9836E4E441529), UINT64_C(0xFC2757D1F534DDC0),                             \
            UINT64_C(0xDB6295993C439041), UINT64_C(0xFE5163ABDEBBC561),                            \
            UINT64_C(0xB7246E3A424DD2E0), UINT64_C(0x06492EEA09D1921C),                            \
            UINT64_C(0xFE1DEB1CB129A73E), UINT64_C(0xE88235F52EBB4484),                            \
            UINT64_C(0xE99C7026B45F7E41), UINT64_C(0x3991D639835339F4),                            \
            UINT64_C(0x9C845F8BBDF9283B), UINT64_C(0x1FF897FFDE05980F),                            \
            UINT64_C(0xEF2F118B5A0A6D1F), UINT64_C(0x6D367ECF27CB09B7),                            \
            UINT64_C(0x4F463F669E5FEA2D), UINT64_C(0x7527BAC7EBE5F17B),                            \
            UINT64_C(0x3D0739F78A5292EA), UINT64_C(0x6BFB5FB11F8D5D08),                            \
            UINT64_C(0x56033046FC7B6BAB)                                                           \
    }

#define CAROM_SINE_WORD_UNIT 0x1p-64 /* one, where a word of 64 bits is a fraction below 1 */

/* 2^-64 word, all 64 bits of it. */
CAROM_ITEM carom_dd carom_sine_fraction(uint64_t word) {
    const uint64_t tail = 0x7FF;
    return carom_dd_sum(CAROM_SINE_WORD_UNIT * (double)(word & ~tail),
                        CAROM_SINE_WORD_UNIT * (double)(word & tail));
}

/* x = quadrant pi/2 + rest, the quadrant modulo 4, |rest| at most pi/4 or a little more. x is
 * finite and above 2^-53.
 *
 * With x = m 2^e (m of 53 bits) bits of 2/pi above 2^(2-e) add multiples of 4 to x 2/pi and can be
 * left out (Payne, Hanek 1983). The next 192 leave an error below 2^(53-190). No double is closer
 * than 2^-62 to a multiple of pi/2 but for zero (Muller, section 11.3), so that at least 75 of the
 * bits that follow the point are right and not zero; of them 128 - 62 = 66 are used. */
CAROM_ITEM carom_dd carom_sine_reduce_any(double x, unsigned *quadrant) {
    const uint64_t two_by_pi[20] = CAROM_SINE_TWO_BY_PI_WORDS;
    uint64_t bits, words[3];
    memcpy(&bits, &x, sizeof(bits));
    uint64_t m = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    unsigned first = (unsigned)(bits >> 52) - 1075u + 62u; /* in 2/pi: the bit 2^(1-e) */
    unsigned shift = first % 64;
    for (unsigned i = 0; i < 3; ++i) {
        const uint64_t *from = &two_by_pi[first / 64 + i];
        words[i] = shift == 0 ? from[0] : from[0] << shift | from[1] >> (64 - shift);
    }
    carom_sine_wide low = (carom_sine_wide)m * words[2],
                    middle = (carom_sine_wide)m * words[1] + (uint64_t)(low >> 64);
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
    carom_dd half_pi;
    half_pi.high = CAROM_HALF_PI_HIGH;
    half_pi.low = CAROM_HALF_PI_LOW;
    carom_dd turns = carom_dd_add(carom_sine_fraction(upper),
                                  carom_dd_scale(carom_sine_fraction(lower), CAROM_SINE_WORD_UNIT));
    carom_dd rest = carom_dd_multiply(turns, half_pi);
    return up ? carom_dd_negate(rest) : rest;
}

/* pi/2 in three parts, the first two of 33 bits, so that their products with 20 bits are exact. */
#define CAROM_SINE_HALF_PI_1 0x1.921fb54400000p+0
#define CAROM_SINE_HALF_PI_2 0x1.0b4611a600000p-34
#define CAROM_SINE_HALF_PI_3 0x1.3198a2e037073p-69
#define CAROM_SINE_TWO_BY_PI 0x1.45f306dc9c883p-1

/* The same, faster for common angles (Cody, Waite 1980). Three parts leave an error below 2^-97;
 * where the rest is so small that this could matter, the function above is used. */
CAROM_ITEM carom_dd carom_sine_reduce(double x, unsigned *quadrant) {
    const double quarter_pi = 0.5 * CAROM_HALF_PI_HIGH, most = 0x1p20, least_rest = 0x1p-20;
    *quadrant = 0;
    if (x <= quarter_pi) return carom_dd_of(x);
    if (x > most) return carom_sine_reduce_any(x, quadrant);
    double turns = floor(x * CAROM_SINE_TWO_BY_PI + 0.5);
    double first = x - turns * CAROM_SINE_HALF_PI_1;
    carom_dd rest = carom_dd_sum(first, -turns * CAROM_SINE_HALF_PI_2);
    if (fabs(rest.high) < least_rest) return carom_sine_reduce_any(x, quadrant);
    *quadrant = (unsigned)turns % 4;
    return carom_dd_make(rest.high, rest.low - turns * CAROM_SINE_HALF_PI_3);
}

/* sin(rest + quadrant pi/2). */
CAROM_ITEM double carom_sin_in_quadrant(carom_dd rest, unsigned quadrant) {
    double value = quadrant % 2 == 0 ? carom_sin_near_zero(rest) : carom_cos_near_zero(rest);
    return quadrant % 4 >= 2 ? -value : value;
}

CAROM_ITEM double carom_sin_item(double x) {
    double size = fabs(x);
    if (size < CAROM_SINE_NEGLIGIBLE) return x;
    if (!(size < HUGE_VAL)) return (double)NAN;
    unsigned quadrant;
    carom_dd rest = carom_sine_reduce(size, &quadrant);
    double value = carom_sin_in_quadrant(rest, quadrant);
    return x < 0.0 ? -value : value;
}

CAROM_ITEM double carom_cos_item(double x) {
    double size = fabs(x);
    if (size < CAROM_SINE_NEGLIGIBLE) return 1.0;
    if (!(size < HUGE_VAL)) return (double)NAN;
    unsigned quadrant;
    carom_dd rest = carom_sine_reduce(size, &quadrant);
    return carom_sin_in_quadrant(rest, quadrant + 1);
}

#endif
