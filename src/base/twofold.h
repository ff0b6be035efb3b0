/* SPDX-License-Identifier: MIT */
/* twofold.h: numbers of twice a double's precision, as unevaluated sums of two doubles, as items.
 *
 * Sums and products are off by a few 2^-104 of the operands' magnitudes (Dekker 1971; Joldes,
 * Muller, Popescu, "Tight and rigorous error bounds for basic building blocks of double-word
 * arithmetic", 2017, algorithms 6 and 11). Nothing may overflow or underflow. */
#ifndef CAROM_SRC_BASE_TWOFOLD_H
#define CAROM_SRC_BASE_TWOFOLD_H

#include "base/two_sum.h"

/* |low| is at most half a unit in the last place of high. */
typedef struct carom_twofold {
    double high, low;
} carom_twofold;

CAROM_ITEM carom_twofold carom_twofold_make(double high, double low) {
    carom_twofold a;
    a.high = high + low;
    a.low = low - (a.high - high);
    return a;
}

CAROM_ITEM carom_twofold carom_twofold_diff(double a, double b) {
    carom_twofold d;
    carom_two_diff(a, b, &d.high, &d.low);
    return d;
}

CAROM_ITEM carom_twofold carom_twofold_add(carom_twofold a, carom_twofold b) {
    double high, error, low, low_error;
    carom_two_sum(a.high, b.high, &high, &error);
    carom_two_sum(a.low, b.low, &low, &low_error);
    carom_twofold sum = carom_twofold_make(high, error + low);
    return carom_twofold_make(sum.high, low_error + sum.low);
}

CAROM_ITEM carom_twofold carom_twofold_negate(carom_twofold a) {
    a.high = -a.high;
    a.low = -a.low;
    return a;
}

CAROM_ITEM carom_twofold carom_twofold_sub(carom_twofold a, carom_twofold b) {
    return carom_twofold_add(a, carom_twofold_negate(b));
}

CAROM_ITEM carom_twofold carom_twofold_multiply(carom_twofold a, carom_twofold b) {
    double high, low;
    carom_two_product(a.high, b.high, &high, &low);
    return carom_twofold_make(high, low + (a.high * b.low + a.low * b.high));
}

/* The divisor is not zero; off by a few 2^-103. */
CAROM_ITEM carom_twofold carom_twofold_divide(carom_twofold a, carom_twofold b) {
    double first = a.high / b.high;
    carom_twofold rest =
        carom_twofold_sub(a, carom_twofold_multiply(b, carom_twofold_make(first, 0.0)));
    return carom_twofold_make(first, rest.high / b.high);
}

/* By a power of two. */
CAROM_ITEM carom_twofold carom_twofold_scale(carom_twofold a, double power) {
    a.high *= power;
    a.low *= power;
    return a;
}

#endif
