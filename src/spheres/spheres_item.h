/* SPDX-License-Identifier: MIT */
/* spheres_item.h: the terms that two balls of two packings add to the overlap of their solids, and
 * sums of them; shared by all engines that compare packings, so that these agree bit for bit.
 *
 *   carom_spheres_scales scales = carom_spheres_scales_make(largest radius, lever, pairs);
 *   carom_spheres_sum sum; memset(&sum, 0, sizeof(sum));
 *   for all pairs of balls that overlap, in any order, on any worker:
 *       carom_spheres_term term;
 *       if (carom_spheres_pair(&a, &b, pivot, &term)) carom_spheres_sum_add(&sum, &term, &scales);
 *   carom_spheres_lenses lenses = carom_spheres_sum_value(&sum, &scales);
 *
 * With the lens of the balls, of volume V and with the circle of radius r around m in which the
 * spheres cross, and the unit vector n from the centre of a to that of b:
 *   force on b    -dV/dt = pi r^2 n, acting at m
 *   torque on b   (m - pivot) x force, minus the derivative by b's rotation about the pivot
 *   direction     V (c_b - c_a), the direction of Weller and Zachmann (2009)
 * Radii are the caller's choice: inner radii give a lower bound of the overlap, secondary radii an
 * estimate.
 *
 * Sums are in fixed point, so that their bits do not depend on the order. carom_sum_term would cost
 * more than the lens itself: here a term x is cut in two by adding and subtracting constants,
 *     h = (x + coarse) - coarse,   l = ((x - h) + fine) - fine,
 * multiples of 2^(scale + 51) and 2^scale; all of it is exact but for the rounding of l. The bits
 * of x + coarse, less those of the constant, are h as an integer. Vectors do this in six
 * instructions per lane (spheres_batch_cpu.c). */
#ifndef CAROM_SRC_SPHERES_SPHERES_ITEM_H
#define CAROM_SRC_SPHERES_SPHERES_ITEM_H

#include "base/sum_item.h"
#include "geom/lens.h"

/* What one pair adds. */
typedef struct carom_spheres_term {
    double volume;
    double error; /* of the volume at most: for the centres as they are, in exact arithmetic */
    carom_vec3 force, torque, direction;
    carom_vec3 moment; /* the volume times the centre of the lens circle, relative to the pivot */
} carom_spheres_term;

/* The scale of a sum, fixed before the first term: terms up to `largest` are rounded to multiples
 * of 2^scale. */
typedef struct carom_spheres_scale {
    double largest, coarse, fine;
    int scale;
} carom_spheres_scale;

typedef struct carom_spheres_scales {
    carom_spheres_scale volume, force, torque, direction;
} carom_spheres_scales;

/* All zero: empty. */
typedef struct carom_spheres_sum {
    carom_sum volume, error;
    carom_sum force[3], torque[3], direction[3], moment[3];
} carom_spheres_sum;

typedef struct carom_spheres_lenses {
    double volume, error;
    carom_vec3 force, torque, direction, moment; /* NaN where a bound of the scales did not hold */
} carom_spheres_lenses;

/* Relative rounding error of a lens at its distance, and of the distance of two centres: a few
 * units in the last place (lens.h, length.h), times four. */
#define CAROM_SPHERES_LENS_ERROR 0x1p-47

/* Factors that round bounds outwards, with the unit roundoff 2^-53: a sum or product of two or
 * three terms; a square of a distance, of five roundings; a product of four factors, or a distance;
 * and lengths or volumes from a dozen operations, where more costs nothing. */
#define CAROM_SPHERES_UP          (1.0 + 0x1p-50)
#define CAROM_SPHERES_DOWN        (1.0 - 0x1p-50)
#define CAROM_SPHERES_SQUARE_DOWN (1.0 - 0x1p-49)
#define CAROM_SPHERES_PRODUCT_UP  (1.0 + 0x1p-48)
#define CAROM_SPHERES_FAR_UP      (1.0 + 0x1p-40)

/* Of a volume: a sum in fixed point becomes a double in one rounding, and the error another. */
#define CAROM_SPHERES_VALUE_ROUNDING 0x1p-52

/* Bits of each of the two parts of a term, and what they leave of the 127 bits of a sum: room for
 * 2^25 terms of the largest size, more where the scale is coarser. */
#define CAROM_SPHERES_PART_BITS 50
#define CAROM_SPHERES_FINE_BITS 51
#define CAROM_SPHERES_ROOM_BITS 25

CAROM_ITEM carom_spheres_scale carom_spheres_scale_make(double largest, uint64_t terms) {
    carom_spheres_scale s;
    int exponent;
    (void)carom_double_mantissa(largest, &exponent); /* largest < 2^(exponent + 53) */
    int coarse = exponent + 53 - CAROM_SPHERES_PART_BITS +
                 CAROM_MAX(carom_bit_count(terms) - CAROM_SPHERES_ROOM_BITS, 0);
    s.largest = largest;
    s.scale =
        CAROM_MAX(coarse - CAROM_SPHERES_FINE_BITS, -1022); /* so that all constants are normal */
    s.fine = 3.0 * carom_power_of_two(s.scale + 51);
    s.coarse = 3.0 * carom_power_of_two(s.scale + CAROM_SPHERES_FINE_BITS + 51);
    return s;
}

/* Scales for up to `pairs` terms of balls with radii up to `radius`, all within `lever` of the
 * pivot and of each other. */
CAROM_ITEM carom_spheres_scales carom_spheres_scales_make(double radius, double lever,
                                                          uint64_t pairs) {
    carom_spheres_scales scales;
    double area = 4.0 * (radius * radius), volume = 4.0 / 3.0 * area * radius;
    scales.volume = carom_spheres_scale_make(volume, pairs);
    scales.force = carom_spheres_scale_make(area, pairs);
    scales.torque = carom_spheres_scale_make(2.0 * area * lever, pairs);
    scales.direction = carom_spheres_scale_make(2.0 * volume * lever, pairs);
    return scales;
}

CAROM_ITEM int64_t carom_spheres_bits(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

/* high 2^51 + low, as a term of a sum. */
CAROM_ITEM carom_sum carom_spheres_parts(int64_t high, int64_t low) {
    carom_sum a = {(uint64_t)high << CAROM_SPHERES_FINE_BITS, 0, 0}, b = {(uint64_t)low, 0, 0};
    a.high = (uint64_t)high >> (64 - CAROM_SPHERES_FINE_BITS);
    if (high < 0) a.high |= ~(UINT64_MAX >> (64 - CAROM_SPHERES_FINE_BITS));
    b.high = low < 0 ? UINT64_MAX : 0;
    return carom_sum_add(a, b);
}

/* One term, rounded. */
CAROM_ITEM carom_sum carom_spheres_rounded(double x, const carom_spheres_scale *s) {
    carom_sum none = {0, 0, 1};
    if (!(fabs(x) <= s->largest)) return none;
    double above = x + s->coarse, rest = x - (above - s->coarse);
    return carom_spheres_parts(carom_spheres_bits(above) - carom_spheres_bits(s->coarse),
                               carom_spheres_bits(rest + s->fine) - carom_spheres_bits(s->fine));
}

/* Whether two balls may have a point in common; false is certain, in exact arithmetic. */
CAROM_ITEM bool carom_spheres_may_meet(const carom_ball *a, const carom_ball *b) {
    carom_vec3 apart = carom_vec_sub(b->centre, a->centre);
    double sum = (a->radius + b->radius) * CAROM_SPHERES_UP;
    return carom_vec_dot(apart, apart) * CAROM_SPHERES_SQUARE_DOWN <= sum * sum;
}

/* Computes the terms of two balls; false where they have no volume in common. The terms of b and a
 * are the same but for the signs of force, torque and direction; with the same pivot. */
CAROM_ITEM bool carom_spheres_pair(const carom_ball *a, const carom_ball *b, carom_vec3 pivot,
                                   carom_spheres_term *term) {
    carom_vec3 apart = carom_vec_sub(b->centre, a->centre);
    double sum = a->radius + b->radius;
    if (carom_vec_dot(apart, apart) >= sum * sum) return false;
    double d = carom_vec_length(apart); /* 0 below 2^-540: far below the radii */
    /* In an order of their own: the smaller ball first, whose centre is nearer to the circle, or
     * the one that comes first in space. So a and b may be swapped. */
    bool swapped = a->radius > b->radius ||
                   (a->radius == b->radius && carom_vec_compare(a->centre, b->centre) > 0);
    double first = swapped ? b->radius : a->radius, second = swapped ? a->radius : b->radius;
    carom_lens_shape lens = carom_lens_at(first, second, d);
    if (!(lens.volume > 0.0)) return false;
    double part = d > 0.0 ? lens.along_r / d : 0.0;
    carom_vec3 from = swapped ? b->centre : a->centre;
    carom_vec3 middle = carom_vec_add(from, carom_vec_scale(apart, swapped ? -part : part));
    carom_vec3 arm = carom_vec_sub(middle, pivot);
    term->volume = lens.volume;
    term->error = CAROM_SPHERES_LENS_ERROR * (lens.volume + lens.area * d);
    term->force = carom_vec_scale(apart, d > 0.0 ? lens.area / d : 0.0);
    term->torque = carom_vec_cross(arm, term->force);
    term->direction = carom_vec_scale(apart, lens.volume);
    term->moment = carom_vec_scale(arm, lens.volume);
    return true;
}

CAROM_ITEM void carom_spheres_add_vec(carom_sum sums[3], carom_vec3 v,
                                      const carom_spheres_scale *s) {
    sums[0] = carom_sum_add(sums[0], carom_spheres_rounded(v.x, s));
    sums[1] = carom_sum_add(sums[1], carom_spheres_rounded(v.y, s));
    sums[2] = carom_sum_add(sums[2], carom_spheres_rounded(v.z, s));
}

CAROM_ITEM void carom_spheres_sum_add(carom_spheres_sum *sum, const carom_spheres_term *term,
                                      const carom_spheres_scales *scales) {
    sum->volume = carom_sum_add(sum->volume, carom_spheres_rounded(term->volume, &scales->volume));
    sum->error = carom_sum_add(sum->error, carom_spheres_rounded(term->error, &scales->volume));
    carom_spheres_add_vec(sum->force, term->force, &scales->force);
    carom_spheres_add_vec(sum->torque, term->torque, &scales->torque);
    carom_spheres_add_vec(sum->direction, term->direction, &scales->direction);
    carom_spheres_add_vec(sum->moment, term->moment, &scales->direction);
}

/* Adds the sum of another worker. */
CAROM_ITEM void carom_spheres_sum_join(carom_spheres_sum *sum, const carom_spheres_sum *other) {
    sum->volume = carom_sum_add(sum->volume, other->volume);
    sum->error = carom_sum_add(sum->error, other->error);
    for (int k = 0; k < 3; ++k) {
        sum->force[k] = carom_sum_add(sum->force[k], other->force[k]);
        sum->torque[k] = carom_sum_add(sum->torque[k], other->torque[k]);
        sum->direction[k] = carom_sum_add(sum->direction[k], other->direction[k]);
        sum->moment[k] = carom_sum_add(sum->moment[k], other->moment[k]);
    }
}

CAROM_ITEM carom_vec3 carom_spheres_vec_value(const carom_sum sums[3],
                                              const carom_spheres_scale *s) {
    return carom_vec(carom_sum_value(sums[0], s->scale), carom_sum_value(sums[1], s->scale),
                     carom_sum_value(sums[2], s->scale));
}

CAROM_ITEM carom_spheres_lenses carom_spheres_sum_value(const carom_spheres_sum *sum,
                                                        const carom_spheres_scales *scales) {
    carom_spheres_lenses lenses;
    lenses.volume = carom_sum_value(sum->volume, scales->volume.scale);
    /* Each term was rounded to a multiple of the scale, by less than the error of its volume. */
    lenses.error = carom_sum_value(sum->error, scales->volume.scale) +
                   CAROM_SPHERES_VALUE_ROUNDING * lenses.volume;
    lenses.force = carom_spheres_vec_value(sum->force, &scales->force);
    lenses.torque = carom_spheres_vec_value(sum->torque, &scales->torque);
    lenses.direction = carom_spheres_vec_value(sum->direction, &scales->direction);
    lenses.moment = carom_spheres_vec_value(sum->moment, &scales->direction);
    return lenses;
}

#endif
