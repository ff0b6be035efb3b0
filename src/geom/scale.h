/* SPDX-License-Identifier: MIT */
/* scale.h: the power of two that scales coordinates to a range where predicates are fast and
 * float32 boxes are tight, as items.
 *
 * Predicates are exact at any scale. But outside [2^-306, 2^330] they fall back to wide integers,
 * and float32 boxes cover only [2^-126, 2^127]. So meshes that are compared with each other are
 * scaled by one 2^k, chosen from all their coordinates.
 *
 * Invariant: scaling loses no bit: k is never so low that the lowest bit in use falls below
 * 2^-1074. */
#ifndef CAROM_SRC_GEOM_SCALE_H
#define CAROM_SRC_GEOM_SCALE_H

#include "base/power.h"
#include "geom/big_integer.h"

/* Sets whose largest magnitude is in [2^CAROM_SCALE_LOW, 2^CAROM_SCALE_HIGH) are not scaled:
 * float32, whose normal numbers are 2^-126 to 2^128, holds them and their parts. Both again as
 * lengths. */
#define CAROM_SCALE_LOW   (-40)
#define CAROM_SCALE_HIGH  100
#define CAROM_SCALE_LEAST 0x1p-40
#define CAROM_SCALE_LIMIT 0x1p100

/* Range of a set of coordinates. Start with carom_scale_range_empty. */
typedef struct carom_scale_range {
    int low, high; /* all are multiples of 2^low and below 2^high in magnitude; low > high: none */
} carom_scale_range;

CAROM_ITEM carom_scale_range carom_scale_range_empty(void) {
    carom_scale_range range;
    range.low = 1024;
    range.high = -1074;
    return range;
}

CAROM_ITEM carom_scale_range carom_scale_range_join(carom_scale_range a, carom_scale_range b) {
    a.low = CAROM_MIN(a.low, b.low);
    a.high = CAROM_MAX(a.high, b.high);
    return a;
}

/* The range extended by x, which is finite. */
CAROM_ITEM carom_scale_range carom_scale_range_add(carom_scale_range range, double x) {
    carom_scale_range one;
    uint64_t mantissa = carom_double_mantissa(x, &one.low);
    if (mantissa == 0) return range;
    one.high = one.low + 53;
    for (; mantissa >> 52 == 0; mantissa <<= 1) --one.high; /* subnormal */
    return carom_scale_range_join(range, one);
}

/* The k of 2^k: 0 where nothing is needed; otherwise the largest magnitude comes to [1/2, 1), or as
 * near as the lowest bit allows. */
CAROM_ITEM int carom_scale_choose(carom_scale_range range) {
    if (range.low > range.high) return 0;
    if (range.high > CAROM_SCALE_LOW && range.high <= CAROM_SCALE_HIGH) return 0;
    int k = -range.high;
    return k < -1074 - range.low ? -1074 - range.low : k;
}

/* x 2^k for |k| up to 2098: exact where k is carom_scale_choose's, or its opposite undoing it. The
 * steps go through 1022 at a time, so that no step overflows or loses bits that the whole keeps. */
CAROM_ITEM double carom_scale_apply(double x, int k) {
    for (; k > 1022; k -= 1022) x *= 0x1p1022;
    for (; k < -1022; k += 1022) x *= 0x1p-1022;
    return x * carom_power_of_two(k);
}

#endif
