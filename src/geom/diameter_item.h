/* SPDX-License-Identifier: MIT */
/* diameter_item.h: the diameter of a triangle's smallest enclosing ball.
 *
 * The corners are sorted first, and only their differences are used. So the result does not depend
 * on the order of the corners, and it is the same for a copy translated without rounding. */
#ifndef CAROM_SRC_GEOM_DIAMETER_ITEM_H
#define CAROM_SRC_GEOM_DIAMETER_ITEM_H

#include "geom/length.h"

/* The formula below has an error of less than 40 roundings; a ball around differences has less. */
#define CAROM_DIAMETER_UP (1.0 + 0x1p-46)

/* Products with powers of two are exact, except below 2^-1022, where results are multiples of
 * 2^-1074 and off by up to half of that. So a step is added to lengths below these limits, which
 * are far above 2^-1022: two multiples to a diameter, one to a quarter of it. */
#define CAROM_DIAMETER_COARSE         0x1p-900
#define CAROM_DIAMETER_STEP           0x1p-1073
#define CAROM_DIAMETER_QUARTER_COARSE 0x1p-1000
#define CAROM_DIAMETER_QUARTER_STEP   0x1p-1074
/* Lengths above which, or below whose inverse, differences are scaled to about 1: products of six
 * of those between are within 2^-600 and 2^600. */
#define CAROM_DIAMETER_UNSCALED 0x1p100

/* Scales a diameter computed at scale 2^-e back, rounded upwards. */
CAROM_ITEM double carom_diameter_finish(double diameter, double up) {
    diameter = diameter * CAROM_DIAMETER_UP * up;
    return diameter > 0.0 && diameter < CAROM_DIAMETER_COARSE ? diameter + CAROM_DIAMETER_STEP
                                                              : diameter;
}

/* The power of two to divide differences by, so that products of six stay in range. */
CAROM_ITEM int carom_diameter_exponent(double size) {
    bool scaled =
        size > CAROM_DIAMETER_UNSCALED || (size < 1.0 / CAROM_DIAMETER_UNSCALED && size > 0.0);
    return scaled ? carom_exponent(size) : 0;
}

/* The diameter of the smallest ball around three points. It is the longest edge, or, if the angle
 * opposite to it is acute, the diameter of the circumcircle, a b c / |a x b|, where a and b are the
 * two shorter edges. Their angle is then 60 to 90 degrees, so there is no cancellation for any
 * shape. Coordinates up to 2^1020. */
CAROM_ITEM double carom_triangle_diameter(const carom_vec3 *v) {
    carom_vec3 p = v[0], q = v[1], r = v[2], swap;
    if (carom_vec_compare(p, q) > 0) swap = p, p = q, q = swap;
    if (carom_vec_compare(q, r) > 0) swap = q, q = r, r = swap;
    if (carom_vec_compare(p, q) > 0) swap = p, p = q, q = swap;
    carom_vec3 pq = carom_vec_sub(q, p), pr = carom_vec_sub(r, p), qr = carom_vec_sub(r, q);
    double size = CAROM_MAX(carom_vec_largest(pq), carom_vec_largest(pr));
    int e = carom_diameter_exponent(size);
    double up = carom_power_of_two(e);
    if (e != 0) {
        double down = carom_power_of_two(-e);
        pq = carom_vec_scale(pq, down);
        pr = carom_vec_scale(pr, down);
        qr = carom_vec_scale(qr, down);
    }
    double a = carom_vec_dot(pq, pq), b = carom_vec_dot(pr, pr), c = carom_vec_dot(qr, qr);
    carom_vec3 s = pq, t = pr; /* the two edges at the largest angle */
    double longest = c, product = a * b;
    if (a >= b && a >= c) {
        s = pr, t = qr;
        longest = a, product = b * c;
    } else if (b >= c) {
        s = carom_vec_scale(pq, -1.0), t = qr;
        longest = b, product = a * c;
    }
    if (!(carom_vec_dot(s, t) > 0.0)) return carom_diameter_finish(sqrt(longest), up);
    carom_vec3 n = carom_vec_cross(s, t);
    double squared = product * longest / carom_vec_dot(n, n);
    return carom_diameter_finish(sqrt(squared), up);
}

/* A quarter of the diameter, rounded upwards. */
CAROM_ITEM double carom_diameter_reach(double diameter) {
    double reach = 0.25 * diameter;
    return diameter > 0.0 && reach < CAROM_DIAMETER_QUARTER_COARSE
               ? reach + CAROM_DIAMETER_QUARTER_STEP
               : reach;
}

#endif
