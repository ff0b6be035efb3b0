/* SPDX-License-Identifier: MIT */
/* two_sum.h: the exact sum and product of two doubles, as a pair of doubles; items.
 *
 * Products are split by Dekker's constant and never fused: gcc, clang and nvcc give the same bits.
 * Constraint: no operation overflows, and no product underflows. */
#ifndef CAROM_SRC_BASE_TWO_SUM_H
#define CAROM_SRC_BASE_TWO_SUM_H

#include "base/item.h"

/* x + y = a + b exactly, x the rounded sum (Knuth). */
CAROM_ITEM void carom_two_sum(double a, double b, double *x, double *y) {
    double sum = a + b;
    double b_part = sum - a;
    double a_part = sum - b_part;
    *y = (a - a_part) + (b - b_part);
    *x = sum;
}

/* x + y = a - b exactly. */
CAROM_ITEM void carom_two_diff(double a, double b, double *x, double *y) {
    carom_two_sum(a, -b, x, y);
}

/* 2^27 + 1: the factor that leaves the upper half of 53 bits (Dekker 1971). */
#define CAROM_SPLITTER 134217729.0

/* a = high + low with at most 26 bits each; |a| below 2^995. */
CAROM_ITEM void carom_split(double a, double *high, double *low) {
    double c = CAROM_SPLITTER * a;
    double h = c - (c - a);
    *high = h;
    *low = a - h;
}

/* x + y = a b exactly (Dekker, Veltkamp). */
CAROM_ITEM void carom_two_product(double a, double b, double *x, double *y) {
    double a_high, a_low, b_high, b_low;
    double product = a * b;
    carom_split(a, &a_high, &a_low);
    carom_split(b, &b_high, &b_low);
    *y = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
    *x = product;
}

#endif
