/* SPDX-License-Identifier: MIT */
/* exact_sum.h: sums of products of three doubles without any rounding. */
#ifndef CAROM_SRC_GEOM_EXACT_SUM_H
#define CAROM_SRC_GEOM_EXACT_SUM_H

#include "carom/geom.h"

/* Digits of 32 bits hold every product of three finite doubles, 2^-3222 to 2^3072, with 42 bits
 * below for a quotient's rounding and 96 above for carries. */
#define CAROM_EXACT_DIGITS 201
#define CAROM_EXACT_BOTTOM (-3264) /* the exponent of digit 0's lowest bit */

/* value = sum of digits[i] 2^(32 i + CAROM_EXACT_BOTTOM); all zero is the empty sum. A digit can
 * take 2^31 additions before its carry must be propagated, so adding propagates no carries. */
typedef struct carom_exact_sum {
    int64_t digits[CAROM_EXACT_DIGITS];
} carom_exact_sum;

/* Adds or subtracts a b c. All three are finite. At most 2^30 calls between two normalizations. */
void carom_exact_sum_add(carom_exact_sum *sum, double a, double b, double c);
void carom_exact_sum_subtract(carom_exact_sum *sum, double a, double b, double c);

/* Adds the determinant of three rows; six of the calls above. */
void carom_exact_sum_add_determinant(carom_exact_sum *sum, carom_vec3 a, carom_vec3 b,
                                     carom_vec3 c);

/* Propagates carries until digits [0, CAROM_EXACT_DIGITS - 1) lie in [0, 2^32). */
void carom_exact_sum_normalize(carom_exact_sum *sum);

/* Adds a normalized sum to another normalized one and normalizes it. */
void carom_exact_sum_merge(carom_exact_sum *sum, const carom_exact_sum *other);

/* -1, 0 or 1. Normalizes. */
int carom_exact_sum_sign(carom_exact_sum *sum);

/* The double nearest to sum / divisor, ties to even; infinite when that is too large. Normalizes.
 */
double carom_exact_sum_divide(carom_exact_sum *sum, uint32_t divisor);

#endif
