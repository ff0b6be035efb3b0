/* SPDX-License-Identifier: MIT */
/* exact_number.h: exact numbers of any size, for oracles.
 *
 * A number is sign * (sum of word[i] 2^(64 i)) * 2^(64 low): every double is one, and so are all
 * sums and products of doubles, whatever their exponents. Words are aligned to multiples of 64
 * bits, so that adding needs no shifts. School arithmetic, nothing clever.
 *
 * Numbers are values that are never changed; their words live in one pool, which number_reset
 * empties: call it between cases. One thread only. */
#ifndef CAROM_TESTS_EXACT_NUMBER_H
#define CAROM_TESTS_EXACT_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "carom/geom.h"

typedef struct number {
    const uint64_t *word; /* neither the first nor the last is 0 */
    int32_t count;        /* 0: the number is 0 */
    int32_t low;          /* the weight of word[0] is 2^(64 low) */
    int32_t sign;         /* -1, 0, 1 */
} number;

/* Forgets all numbers there are. */
void number_reset(void);

number number_of(double x); /* finite */
number number_power(int k); /* 2^k */
number number_negate(number a);
number number_abs(number a);
number number_add(number a, number b);
number number_sub(number a, number b);
number number_mul(number a, number b);
int number_compare(number a, number b); /* -1, 0, 1 */

/* The quotient towards zero, right to 2^-bits of itself; exact where a / b is short enough. */
number number_div(number a, number b, int bits);
/* The root of a >= 0, right to 2^-bits of itself. */
number number_sqrt(number a, int bits);
/* Without the places below 2^-bits of itself. */
number number_cut(number a, int bits);

/* k such that 2^k <= |a| < 2^(k + 1). a != 0 */
int number_exponent(number a);
/* For messages: right to about 2^-52; 0 or infinite where out of range. */
double number_show(number a);

/* |a - b| <= bound */
bool number_within(number a, number b, number bound);
/* The unit in the last place of a double, not below that of the subnormal ones. */
number number_ulp(double x);

/* ---- quotients ------------------------------------------------------------------------------- */

typedef struct ratio {
    number top, bottom; /* bottom > 0 */
} ratio;

ratio ratio_of(number top, number bottom); /* bottom != 0 */
int ratio_compare(ratio a, ratio b);
static inline int ratio_sign(ratio a) {
    return a.top.sign;
}
double ratio_show(ratio a);
/* Is |x - a| <= bound? */
bool ratio_within(double x, ratio a, number bound);
/* Is |x - sqrt(a)| <= bound? a >= 0 */
bool ratio_root_within(double x, ratio a, number bound);
/* The double nearest to |a|, up to one unit in the last place, infinite beyond the range. */
double ratio_round(ratio a);

/* ---- vectors --------------------------------------------------------------------------------- */

typedef struct number3 {
    number x[3];
} number3;

number3 number3_of(carom_vec3 v);
number3 number3_add(number3 a, number3 b);
number3 number3_sub(number3 a, number3 b);
number3 number3_scale(number3 a, number by);
number3 number3_cross(number3 a, number3 b);
number number3_dot(number3 a, number3 b);
bool number3_is_zero(number3 a);

#endif
