/* SPDX-License-Identifier: MIT */
/* sum_item.h: sums whose bits do not depend on the order of the terms.
 *
 * A term is rounded once to a multiple of 2^scale and added as a 128-bit integer. Integer addition
 * is associative and commutative, so threads, lanes and GPU blocks may add in any order. The scale
 * is fixed before the first term, from an upper bound on the terms and their number. A term that
 * exceeds the bound, or is NaN or infinite, is counted in `spoiled` and makes the result NaN: a
 * wrong sum is always detected. */
#ifndef CAROM_SRC_BASE_SUM_ITEM_H
#define CAROM_SRC_BASE_SUM_ITEM_H

#include "base/double_parts.h"
#include "base/power.h"

/* Two's complement, low word first. All zero is the empty sum. */
typedef struct carom_sum {
    uint64_t low, high;
    uint64_t spoiled; /* terms that were NaN, infinite or too large */
} carom_sum;

/* Terms are below 2^(scale + CAROM_SUM_TERM_BITS). */
#define CAROM_SUM_TERM_BITS 126

CAROM_ITEM carom_sum carom_sum_add(carom_sum a, carom_sum b) {
    carom_sum sum;
    sum.low = a.low + b.low;
    sum.high = a.high + b.high + (sum.low < a.low ? 1u : 0u);
    sum.spoiled = a.spoiled + b.spoiled;
    return sum;
}

CAROM_ITEM carom_sum carom_sum_negate(carom_sum a) {
    carom_sum sum;
    sum.low = ~a.low + 1u;
    sum.high = ~a.high + (sum.low == 0 ? 1u : 0u);
    sum.spoiled = a.spoiled;
    return sum;
}

/* value / 2^scale to the nearest integer, halves away from zero (so that -x gives -term). */
CAROM_ITEM carom_sum carom_sum_term(double value, int scale) {
    carom_sum term = {0, 0, 0};
    int exponent;
    uint64_t mantissa = carom_double_mantissa(value, &exponent);
    int shift = exponent - scale; /* term = mantissa 2^shift */
    CAROM_ASSERT(mantissa < UINT64_C(1) << 53);
    if (exponent == CAROM_DOUBLE_NOT_FINITE ||
        (mantissa != 0 && shift > CAROM_SUM_TERM_BITS - 53)) {
        term.spoiled = 1;
        return term;
    }
    if (shift >= 64) {
        term.high = mantissa << (shift - 64);
    } else if (shift > 0) {
        term.low = mantissa << shift;
        term.high = mantissa >> (64 - shift);
    } else if (shift == 0) {
        term.low = mantissa;
    } else if (shift >= -54) {
        term.low = (mantissa + (UINT64_C(1) << (-shift - 1))) >> -shift;
    }
    return carom_double_sign_bit(value) ? carom_sum_negate(term) : term;
}

/* Sums are multiples of 2^-1074 at least, so that scaling them back never rounds. */
#define CAROM_SUM_LEAST_SCALE (-1074)

/* From this scale on subnormal numbers, below 2^-1022, round to 0: terms of lanes (sum_lanes.h). */
#define CAROM_SUM_LANES_SCALE (-1020)

/* The sum as the nearest double, ties to even; NaN when a term was spoiled. */
CAROM_ITEM double carom_sum_value(carom_sum sum, int scale) {
    if (sum.spoiled != 0) {
        uint64_t bits = UINT64_C(0x7FF8000000000000);
        double nan;
        memcpy(&nan, &bits, sizeof(nan));
        return nan;
    }
    int negative = (int)(sum.high >> 63);
    if (negative) sum = carom_sum_negate(sum);
    uint64_t low = sum.low;
    int power = scale;
    if (sum.high != 0) { /* keep the top 64 bits; lower bits matter only as "not zero" */
        int shift = carom_bit_count(sum.high);
        uint64_t lost = shift == 64 ? sum.low : sum.low << (64 - shift);
        low = shift == 64 ? sum.high : sum.high << (64 - shift) | sum.low >> shift;
        if (lost != 0) low |= 1;
        power += shift;
    }
    CAROM_ASSERT(sum.high == 0 || low >> 63 == 1); /* the top 64 bits */
    double value = (double)low; /* the one rounding; two factors, as one could be out of range */
    value = value * carom_power_of_two(power / 2) * carom_power_of_two(power - power / 2);
    return negative ? -value : value;
}

/* The finest scale at which `count` terms of magnitude at most `largest` cannot overflow. */
CAROM_ITEM int carom_sum_scale(double largest, uint64_t count) {
    int exponent;
    (void)carom_double_mantissa(largest, &exponent); /* largest < 2^(exponent + 53) */
    int scale = exponent + 53 + carom_bit_count(count) - CAROM_SUM_TERM_BITS;
    return CAROM_MAX(scale, CAROM_SUM_LEAST_SCALE);
}

#endif
