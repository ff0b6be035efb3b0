/* SPDX-License-Identifier: MIT */
/* lens.h: the intersection of two balls: volume, its derivative, the circle where they cross.
 *
 * With radii r, s, centres d apart and the depth h = r + s - d, the lens is two caps of heights
 *     h_r = h (d + s - r) / 2d,   h_s = h (d + r - s) / 2d,   h_r + h_s = h,
 *     V = pi/3 (h_r^2 (3r - h_r) + h_s^2 (3s - h_s)),
 *     a^2 = h (r + s + d) (d + s - r) (d + r - s) / 4d^2,   dV/dd = -pi a^2.
 * Every factor is a sum of three inputs, computed to its last bit even where it cancels; the rest
 * is sums and products of positive numbers. So volume, derivative and circle are right to a few
 * units in the last place, relative to themselves, from a bare touch to one ball all but inside the
 * other. */
#ifndef CAROM_SRC_GEOM_LENS_H
#define CAROM_SRC_GEOM_LENS_H

#include "base/math.h"
#include "geom/length.h"

/* The lens on the line of centres. `along_r` and `along_s` are the signed distances of the circle's
 * plane from each centre, positive towards the other. */
typedef struct carom_lens_shape {
    double volume, area, radius; /* area = pi radius^2 = -dV/dd */
    double along_r, along_s;
} carom_lens_shape;

/* x + y + z with a relative error of some 2^-52, and the right sign. */
CAROM_ITEM double carom_sum_of_three(double x, double y, double z) {
    double s = x + y, b = s - x, lost = (x - (s - b)) + (y - b);
    double t = s + z, c = t - s;
    return t + (lost + ((s - (t - c)) + (z - c)));
}

/* The lens of balls of radius r and s with centres d apart, all at least 0. */
CAROM_ITEM carom_lens_shape carom_lens_at(double r, double s, double d) {
    carom_lens_shape lens;
    double depth = carom_sum_of_three(r, s, -d);
    double past_r = carom_sum_of_three(d, s, -r), past_s = carom_sum_of_three(d, r, -s);
    double smaller = r < s ? r : s;
    double whole = 4.0 / 3.0 * CAROM_PI * (smaller * smaller * smaller);
    lens.area = lens.radius = 0.0;
    if (!(depth > 0.0)) {            /* apart: the plane in the middle of the gap */
        lens.volume = depth - depth; /* 0, or NaN for NaN input */
        lens.along_r = r - 0.5 * depth;
        lens.along_s = s - 0.5 * depth;
        return lens;
    }
    if (!(past_r > 0.0 && past_s > 0.0)) { /* one inside the other: its own middle */
        lens.volume = whole;
        lens.along_r = s <= r ? d : 0.0;
        lens.along_s = s <= r ? 0.0 : d;
        return lens;
    }
    double share_r = past_r / (2.0 * d), share_s = past_s / (2.0 * d);
    double cap_r = depth * share_r, cap_s = depth * share_s;
    double volume =
        CAROM_PI / 3.0 * (cap_r * cap_r * (3.0 * r - cap_r) + cap_s * cap_s * (3.0 * s - cap_s));
    double sum = (r + s) + d, squared = depth * sum * share_r * share_s;
    lens.volume = volume < whole ? volume : whole;
    lens.area = CAROM_PI * squared;
    lens.radius = sqrt(squared);
    /* out of range, but its square root is not */
    if (!(squared > CAROM_LENGTH_SQUARE_LEAST && squared < CAROM_LENGTH_SQUARE_MOST))
        lens.radius = sqrt(depth) * sqrt(sum) * sqrt(share_r * share_s);
    lens.along_r = r - cap_r;
    lens.along_s = s - cap_s;
    return lens;
}

/* The lens of two balls. Here d is itself rounded, so that a depth below some 2^-52 of d is not
 * significant; a caller that knows d more precisely uses carom_lens_at. */
CAROM_ITEM void carom_lens_of_balls(const carom_ball *a, const carom_ball *b, carom_lens *lens) {
    carom_vec3 apart = carom_vec_sub(b->centre, a->centre);
    double d = carom_length(apart);
    carom_lens_shape shape = carom_lens_at(a->radius, b->radius, d);
    lens->volume = shape.volume;
    lens->derivative = -shape.area;
    lens->radius = shape.radius;
    /* From the smaller ball, whose centre is nearer. */
    bool from_a = a->radius < b->radius;
    double part = d > 0.0 ? (from_a ? shape.along_r : -shape.along_s) / d : 0.0;
    lens->centre = carom_vec_add(from_a ? a->centre : b->centre, carom_vec_scale(apart, part));
}

#endif
