/* SPDX-License-Identifier: MIT */
/* atan_item.h: carom_atan2 (math.h) as an item: the CPU's bits on the GPU too. math.c has the
 * method, and what the coefficients and constants are. */
#ifndef CAROM_SRC_BASE_ATAN_ITEM_H
#define CAROM_SRC_BASE_ATAN_ITEM_H

#include <math.h>

#include "base/double_double.h"
#include "base/sine_item.h"

/* Smaller ratios have no effect: a relative 2^-60 is 1/128 of a unit in the last place. */
#define CAROM_ATAN_NEGLIGIBLE 0x1p-30
/* tan(pi/8) to a few digits: the series holds a little beyond. */
#define CAROM_ATAN_TAN_EIGHTH_PI 0.41421356

CAROM_ITEM carom_dd carom_atan_half_pi(void) {
    carom_dd a;
    a.high = CAROM_HALF_PI_HIGH;
    a.low = CAROM_HALF_PI_LOW;
    return a;
}

/* atan(u) for u in [0, tan(pi/8)]: u - u^3/3 + u^5/5 - ... */
CAROM_ITEM carom_dd carom_atan_near_zero(carom_dd u) {
    carom_dd square = carom_dd_multiply(u, u), third;
    carom_dd cube = carom_dd_multiply(square, u);
    third.high = 0x1.5555555555555p-2;
    third.low = 0x1.5555555555555p-56;
    third = carom_dd_multiply(cube, third);
    double t = square.high, p = 1.0 / 45.0; /* u^47/47 is below 2^-64 u */
    for (int n = 43; n >= 5; n -= 2) p = 1.0 / n - t * p;
    carom_dd rest = carom_dd_make(third.high, third.low - cube.high * t * p);
    return carom_dd_sub(u, rest);
}

CAROM_ITEM double carom_atan2_item(double y, double x) {
    if (isnan(x) || isnan(y)) return (double)NAN;
    double up = fabs(y), aside = fabs(x);
    if (up == HUGE_VAL || aside == HUGE_VAL) { /* only the direction matters */
        double is_up = up == HUGE_VAL ? 1.0 : 0.0, is_aside = aside == HUGE_VAL ? 1.0 : 0.0;
        up = is_up;
        aside = is_aside;
    }
    if (!signbit(x) && up < CAROM_ATAN_NEGLIGIBLE * aside) return y / x; /* x > 0 */
    carom_dd angle = carom_dd_of(0.0), half_pi = carom_atan_half_pi();
    if (up != 0.0 && aside != 0.0) {
        int exponent;
        double larger = frexp(CAROM_MAX(up, aside), &exponent);
        double smaller = ldexp(CAROM_MIN(up, aside), -exponent);
        if (smaller > CAROM_ATAN_TAN_EIGHTH_PI * larger) { /* nearer to the diagonal */
            carom_dd ratio =
                carom_dd_divide(carom_dd_sum(larger, -smaller), carom_dd_sum(larger, smaller));
            angle = carom_dd_sub(carom_dd_scale(half_pi, 0.5), carom_atan_near_zero(ratio));
        } else {
            angle =
                carom_atan_near_zero(carom_dd_divide(carom_dd_of(smaller), carom_dd_of(larger)));
        }
    }
    if (up > aside) angle = carom_dd_sub(half_pi, angle);
    if (signbit(x)) angle = carom_dd_sub(carom_dd_scale(half_pi, 2.0), angle);
    return copysign(angle.high, y);
}

#endif
