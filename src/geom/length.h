/* SPDX-License-Identifier: MIT */
/* length.h: lengths without intermediate overflow or underflow, and powers of two to scale by.
 * Multiplying by a power of two is exact, so scaled and unscaled computations give the same bits.
 */
#ifndef CAROM_SRC_GEOM_LENGTH_H
#define CAROM_SRC_GEOM_LENGTH_H

#include <float.h>

#include "base/double_parts.h"
#include "base/power.h"
#include "geom/vec.h"

/* The public functions take coordinates up to this size, so that differences stay finite. */
#define CAROM_LARGEST_COORDINATE 0x1p1020

/* Squared lengths that carom_length takes the root of as they are. A square that underflows loses
 * at most 2^-1074, which is less than 2^-174 of a sum above the least; a sum below the most is
 * three squares that are far from overflow. */
#define CAROM_LENGTH_SQUARE_LEAST 0x1p-900
#define CAROM_LENGTH_SQUARE_MOST  0x1p1000

/* The exponents of normal numbers: 2^e and 2^-e are both normal for |e| up to this. */
#define CAROM_EXPONENT_MOST 1022

/* The largest |coordinate| of a vector without NaN: it may leave out one that is NaN. What comes
 * from outside is checked by carom_vec_within. */
CAROM_ITEM double carom_vec_largest(carom_vec3 v) {
    double x = fabs(v.x), y = fabs(v.y), z = fabs(v.z);
    double xy = CAROM_MAX(x, y);
    return CAROM_MAX(xy, z);
}

/* Whether no |coordinate| is above `most`, and none is NaN. */
CAROM_ITEM bool carom_vec_within(carom_vec3 v, double most) {
    return fabs(v.x) <= most && fabs(v.y) <= most && fabs(v.z) <= most;
}

CAROM_ITEM bool carom_vec_finite(carom_vec3 v) {
    return carom_vec_within(v, DBL_MAX);
}

/* e with 2^e <= size < 2^(e+1) for normal numbers, at most CAROM_EXPONENT_MOST either way, so that
 * both 2^e and 2^-e are normal. */
CAROM_ITEM int carom_exponent(double size) {
    int exponent;
    (void)carom_double_mantissa(size, &exponent);
    exponent += DBL_MANT_DIG - 1; /* the mantissa is an integer of so many bits after its first */
    /* at least -CAROM_EXPONENT_MOST, that of subnormals */
    return exponent > CAROM_EXPONENT_MOST ? CAROM_EXPONENT_MOST : exponent;
}

/* |v| with relative error below 2^-51, also where v.v is out of range. NaN or infinite components
 * give NaN or infinity. */
CAROM_ITEM double carom_length(carom_vec3 v) {
    double squared = carom_vec_dot(v, v);
    if (squared > CAROM_LENGTH_SQUARE_LEAST && squared < CAROM_LENGTH_SQUARE_MOST)
        return sqrt(squared);
    double largest = carom_vec_largest(v);
    if (!(largest > 0.0 && largest <= DBL_MAX)) return v.x * 0.0 + v.y * 0.0 + largest;
    int e = carom_exponent(largest);
    return carom_vec_length(carom_vec_scale(v, carom_power_of_two(-e))) * carom_power_of_two(e);
}

/* v / |v|; zero where the length is 0 or not finite. */
CAROM_ITEM carom_vec3 carom_vec_unit(carom_vec3 v) {
    double length = carom_length(v);
    if (!(length > 0.0 && length <= DBL_MAX)) return carom_vec(0.0, 0.0, 0.0);
    int e = carom_exponent(length); /* in two steps: 1 / length may overflow */
    v = carom_vec_scale(v, carom_power_of_two(-e));
    return carom_vec_scale(v, 1.0 / (length * carom_power_of_two(-e)));
}

#endif
