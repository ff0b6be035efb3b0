/* SPDX-License-Identifier: MIT */
/* double_double.h: double-double numbers, unevaluated sums of two doubles, as items.
 *
 * Sums and products are off by a few 2^-104 of the operands' magnitudes (Dekker 1971; Joldes,
 * Muller, Popescu, "Tight and rigorous error bounds for basic building blocks of double-word
 * arithmetic", 2017, algorithms 6 and 11). Constraint: no operation overflows or underflows. */
#ifndef CAROM_SRC_BASE_DOUBLE_DOUBLE_H
#define CAROM_SRC_BASE_DOUBLE_DOUBLE_H

#include "base/two_sum.h"

/* |low| is at most half a unit in the last place of high. */
typedef struct carom_dd {
    double high, low;
} carom_dd;

CAROM_ITEM carom_dd carom_dd_make(double high, double low) {
    carom_dd a;
    a.high = high + low;
    a.low = low - (a.high - high);
    return a;
}

CAROM_ITEM carom_dd carom_dd_of(double a) {
    carom_dd d;
    d.high = a;
    d.low = 0.0;
    return d;
}

/* Sum, difference and product of two doubles, without error. */
CAROM_ITEM carom_dd carom_dd_sum(double a, double b) {
    carom_dd d;
    carom_two_sum(a, b, &d.high, &d.low);
    return d;
}

CAROM_ITEM carom_dd carom_dd_diff(double a, double b) {
    return carom_dd_sum(a, -b);
}

CAROM_ITEM carom_dd carom_dd_product(double a, double b) {
    carom_dd d;
    carom_two_product(a, b, &d.high, &d.low);
    return d;
}

CAROM_ITEM carom_dd carom_dd_add(carom_dd a, carom_dd b) {
    carom_dd high = carom_dd_sum(a.high, b.high), low = carom_dd_sum(a.low, b.low);
    carom_dd sum = carom_dd_make(high.high, high.low + low.high);
    return carom_dd_make(sum.high, low.low + sum.low);
}

CAROM_ITEM carom_dd carom_dd_negate(carom_dd a) {
    a.high = -a.high;
    a.low = -a.low;
    return a;
}

CAROM_ITEM carom_dd carom_dd_sub(carom_dd a, carom_dd b) {
    return carom_dd_add(a, carom_dd_negate(b));
}

CAROM_ITEM carom_dd carom_dd_multiply(carom_dd a, carom_dd b) {
    carom_dd p = carom_dd_product(a.high, b.high);
    return carom_dd_make(p.high, p.low + (a.high * b.low + a.low * b.high));
}

/* The divisor is not zero; off by a few 2^-103. */
CAROM_ITEM carom_dd carom_dd_divide(carom_dd a, carom_dd b) {
    double first = a.high / b.high;
    carom_dd rest = carom_dd_sub(a, carom_dd_multiply(b, carom_dd_make(first, 0.0)));
    return carom_dd_make(first, rest.high / b.high);
}

/* Multiplies by a power of two. */
CAROM_ITEM carom_dd carom_dd_scale(carom_dd a, double power) {
    a.high *= power;
    a.low *= power;
    return a;
}

#endif
