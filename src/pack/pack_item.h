/* SPDX-License-Identifier: MIT */
/* pack_item.h: the terms that two balls of two packings add to the overlap of their solids; shared
 * by all engines that compare packings, so that these agree bit for bit.
 *
 *   carom_pack_scales scales = carom_pack_scales_make(largest radius, lever, pairs);
 *   carom_pack_sum sum; memset(&sum, 0, sizeof(sum));
 *   for all pairs of balls that overlap, in any order, on any worker:
 *       carom_pack_term term;
 *       if (carom_pack_pair(&a, &b, pivot, &term)) carom_pack_sum_add(&sum, &term, &scales);
 *   carom_pack_overlap overlap = carom_pack_sum_value(&sum, &scales);
 *
 * With the lens of the balls, of volume V and with the circle of radius r around m in which the
 * spheres cross, and the unit vector n from the centre of a to that of b:
 *   force on b    -dV/dt = pi r^2 n, acting at m
 *   torque on b   (m - pivot) x force, minus the derivative by b's rotation about the pivot
 *   direction     V (c_b - c_a), the direction of Weller and Zachmann (2009)
 * Radii are the caller's choice: inner radii give a lower bound of the overlap, secondary radii an
 * estimate. Sums are in fixed point (sum_item.h): their bits do not depend on the order. */
#ifndef CAROM_SRC_PACK_PACK_ITEM_H
#define CAROM_SRC_PACK_PACK_ITEM_H

#include "base/sum_item.h"
#include "geom/lens.h"

/* What one pair adds. */
typedef struct carom_pack_term {
    double volume;
    double error; /* of the volume at most: for the centres as they are, in exact arithmetic */
    carom_vec3 force, torque, direction;
    carom_vec3 moment; /* the volume times the centre of the lens circle, relative to the pivot */
} carom_pack_term;

/* The scales of sums, fixed before the first term. */
typedef struct carom_pack_scales {
    int volume, force, torque, direction;
} carom_pack_scales;

/* All zero: empty. */
typedef struct carom_pack_sum {
    carom_sum volume, error;
    carom_sum force[3], torque[3], direction[3], moment[3];
} carom_pack_sum;

typedef struct carom_pack_overlap {
    double volume, error;
    carom_vec3 force, torque, direction, moment; /* NaN where a bound of the scales did not hold */
} carom_pack_overlap;

/* Relative rounding error of a lens at its distance, and of the distance of two centres: a few
 * units in the last place (lens.h, length.h), times four. */
#define CAROM_PACK_LENS_ERROR 0x1p-47

/* Scales for up to `pairs` terms of balls with radii up to `radius`, all within `lever` of the
 * pivot and of each other. */
CAROM_ITEM carom_pack_scales carom_pack_scales_make(double radius, double lever, uint64_t pairs) {
    carom_pack_scales scales;
    double area = 4.0 * (radius * radius), volume = 4.0 / 3.0 * area * radius;
    scales.volume = carom_sum_scale(volume, pairs);
    scales.force = carom_sum_scale(area, pairs);
    scales.torque = carom_sum_scale(2.0 * area * lever, pairs);
    scales.direction = carom_sum_scale(2.0 * volume * lever, pairs);
    return scales;
}

/* Whether two balls may have a point in common; false is certain, in exact arithmetic. */
CAROM_ITEM bool carom_pack_may_meet(const carom_ball *a, const carom_ball *b) {
    carom_vec3 apart = carom_vec_sub(b->centre, a->centre);
    double sum = (a->radius + b->radius) * (1.0 + 0x1p-50);
    return carom_vec_dot(apart, apart) * (1.0 - 0x1p-49) <= sum * sum;
}

/* Computes the terms of two balls; false where they have no volume in common. The terms of b and a
 * are the same but for the signs of force, torque and direction; with the same pivot. */
CAROM_ITEM bool carom_pack_pair(const carom_ball *a, const carom_ball *b, carom_vec3 pivot,
                                carom_pack_term *term) {
    carom_vec3 apart = carom_vec_sub(b->centre, a->centre);
    double sum = a->radius + b->radius;
    if (carom_vec_dot(apart, apart) >= sum * sum) return false;
    double d = carom_length(apart);
    /* In an order of their own: the smaller ball first, whose centre is nearer to the circle, or
     * the one that comes first in space. So a and b may be swapped. */
    bool swapped = a->radius > b->radius ||
                   (a->radius == b->radius && carom_vec_compare(a->centre, b->centre) > 0);
    carom_lens_shape lens =
        swapped ? carom_lens_at(b->radius, a->radius, d) : carom_lens_at(a->radius, b->radius, d);
    if (!(lens.volume > 0.0)) return false;
    double part = d > 0.0 ? lens.along_r / d : 0.0;
    carom_vec3 from = swapped ? b->centre : a->centre;
    carom_vec3 middle = carom_vec_add(from, carom_vec_scale(apart, swapped ? -part : part));
    carom_vec3 arm = carom_vec_sub(middle, pivot);
    term->volume = lens.volume;
    term->error = CAROM_PACK_LENS_ERROR * (lens.volume + lens.area * d);
    term->force = carom_vec_scale(apart, d > 0.0 ? lens.area / d : 0.0);
    term->torque = carom_vec_cross(arm, term->force);
    term->direction = carom_vec_scale(apart, lens.volume);
    term->moment = carom_vec_scale(arm, lens.volume);
    return true;
}

CAROM_ITEM void carom_pack_add_vec(carom_sum sums[3], carom_vec3 v, int scale) {
    sums[0] = carom_sum_add(sums[0], carom_sum_term(v.x, scale));
    sums[1] = carom_sum_add(sums[1], carom_sum_term(v.y, scale));
    sums[2] = carom_sum_add(sums[2], carom_sum_term(v.z, scale));
}

CAROM_ITEM void carom_pack_sum_add(carom_pack_sum *sum, const carom_pack_term *term,
                                   const carom_pack_scales *scales) {
    sum->volume = carom_sum_add(sum->volume, carom_sum_term(term->volume, scales->volume));
    sum->error = carom_sum_add(sum->error, carom_sum_term(term->error, scales->volume));
    carom_pack_add_vec(sum->force, term->force, scales->force);
    carom_pack_add_vec(sum->torque, term->torque, scales->torque);
    carom_pack_add_vec(sum->direction, term->direction, scales->direction);
    carom_pack_add_vec(sum->moment, term->moment, scales->direction);
}

/* Adds the sum of another worker. */
CAROM_ITEM void carom_pack_sum_join(carom_pack_sum *sum, const carom_pack_sum *other) {
    sum->volume = carom_sum_add(sum->volume, other->volume);
    sum->error = carom_sum_add(sum->error, other->error);
    for (int k = 0; k < 3; ++k) {
        sum->force[k] = carom_sum_add(sum->force[k], other->force[k]);
        sum->torque[k] = carom_sum_add(sum->torque[k], other->torque[k]);
        sum->direction[k] = carom_sum_add(sum->direction[k], other->direction[k]);
        sum->moment[k] = carom_sum_add(sum->moment[k], other->moment[k]);
    }
}

CAROM_ITEM carom_vec3 carom_pack_vec_value(const carom_sum sums[3], int scale) {
    return carom_vec(carom_sum_value(sums[0], scale), carom_sum_value(sums[1], scale),
                     carom_sum_value(sums[2], scale));
}

CAROM_ITEM carom_pack_overlap carom_pack_sum_value(const carom_pack_sum *sum,
                                                   const carom_pack_scales *scales) {
    carom_pack_overlap overlap;
    overlap.volume = carom_sum_value(sum->volume, scales->volume);
    /* Each term was rounded to a multiple of the scale, by less than the error of its volume. */
    overlap.error = carom_sum_value(sum->error, scales->volume) + 0x1p-52 * overlap.volume;
    overlap.force = carom_pack_vec_value(sum->force, scales->force);
    overlap.torque = carom_pack_vec_value(sum->torque, scales->torque);
    overlap.direction = carom_pack_vec_value(sum->direction, scales->direction);
    overlap.moment = carom_pack_vec_value(sum->moment, scales->direction);
    return overlap;
}

#endif
