/* SPDX-License-Identifier: MIT */
/* enclosing_ball.h: smallest enclosing balls, rounded outwards.
 *
 * The centre is computed as accurately as doubles allow. The radius is then an upper bound,
 * including all rounding, of the largest distance from that centre. So the ball contains every
 * input in exact arithmetic, whatever the error of the centre. */
#ifndef CAROM_SRC_GEOM_ENCLOSING_BALL_H
#define CAROM_SRC_GEOM_ENCLOSING_BALL_H

#include "geom/length.h"

/* Factors that round a reach upwards, with the unit roundoff u = 2^-53. Of a distance: the
 * difference, the squares, the sums, the root and the last product lose at most 4.5 u together; 8 u
 * are given. Of its sum with a radius: the sum and the product lose 2 u; 4 u are given. */
#define CAROM_REACH_UP     (1.0 + 0x1p-50)
#define CAROM_REACH_SUM_UP (1.0 + 0x1p-51)
/* Below 2^-1022 results are multiples of 2^-1074, and the length and its product with the factor
 * are each off by up to half of that. Two multiples are added below this limit, which is far above.
 */
#define CAROM_REACH_COARSE 0x1p-1000
#define CAROM_REACH_STEP   0x1p-1073
/* Edges, in lengths, that are scaled: those above the most, or below its inverse. Products of four
 * are compared and divided, and 2^800 is far from overflow. */
#define CAROM_BALL_EDGE_MOST 0x1p200

/* At least |p - c|, and at most 2^-49 of it more. */
CAROM_ITEM double carom_reach(carom_vec3 c, carom_vec3 p) {
    double length = carom_length(carom_vec_sub(p, c));
    double reach = length * CAROM_REACH_UP;
    return reach < CAROM_REACH_COARSE && length > 0.0 ? reach + CAROM_REACH_STEP : reach;
}

/* At least |ball's centre - c| + its radius. Exactly the radius when the centres agree. */
CAROM_ITEM double carom_reach_ball(carom_vec3 c, const carom_ball *ball) {
    double reach = carom_reach(c, ball->centre);
    return reach == 0.0 ? ball->radius : (reach + ball->radius) * CAROM_REACH_SUM_UP;
}

/* The smallest ball around a triangle. Let pq be the longest edge, m its middle and t the apex.
 * When the angle at t is not acute, it is the ball over pq. Else the centre is m + f h, where h is
 * the part of t - m at right angles to pq and f = (t-p).(t-q) / (2 h.h), which is at most 1/3. No
 * term is large for needles. The bits are the same for every order of the corners: ties between
 * longest edges are broken by their apex. */
CAROM_ITEM void carom_ball_around_triangle(const carom_vec3 *v, carom_ball *ball) {
    carom_vec3 d[3]; /* d[i] is the edge opposite to corner i */
    double size = 0.0;
    for (int i = 0; i < 3; ++i) {
        d[i] = carom_vec_sub(v[(i + 2) % 3], v[(i + 1) % 3]);
        double largest = carom_vec_largest(d[i]);
        size = CAROM_MAX(largest, size);
    }
    double up = 1.0;
    if ((size > CAROM_BALL_EDGE_MOST && size <= DBL_MAX) ||
        (size < 1.0 / CAROM_BALL_EDGE_MOST && size > 0.0)) {
        int e = carom_exponent(size);
        up = carom_power_of_two(e);
        for (int i = 0; i < 3; ++i) d[i] = carom_vec_scale(d[i], carom_power_of_two(-e));
    }
    int apex = 0;
    double longest = carom_vec_dot(d[0], d[0]);
    for (int i = 1; i < 3; ++i) {
        double length = carom_vec_dot(d[i], d[i]);
        if (length > longest || (length == longest && carom_vec_compare(v[i], v[apex]) < 0)) {
            apex = i;
            longest = length;
        }
    }
    carom_vec3 p = v[(apex + 1) % 3], q = v[(apex + 2) % 3], pq = d[apex];
    carom_vec3 to_q = d[(apex + 1) % 3], from_p = d[(apex + 2) % 3]; /* t - q and p - t */
    ball->centre = carom_vec_add(carom_vec_scale(p, 0.5), carom_vec_scale(q, 0.5));
    double acute = -carom_vec_dot(from_p, to_q);
    if (acute > 0.0) {
        carom_vec3 h = carom_vec_scale(carom_vec_sub(to_q, from_p), 0.5);
        for (int i = 0; i < 2; ++i)
            h = carom_vec_sub(h, carom_vec_scale(pq, carom_vec_dot(h, pq) / longest));
        double hh = carom_vec_dot(h, h), f = acute / (2.0 * hh);
        if (!(f < 1.0 / 3.0)) f = 1.0 / 3.0;
        ball->centre = carom_vec_add(ball->centre, carom_vec_scale(carom_vec_scale(h, f), up));
    }
    ball->radius = 0.0;
    for (int i = 0; i < 3; ++i) {
        double reach = carom_reach(ball->centre, v[i]);
        ball->radius = reach > ball->radius || reach != reach ? reach : ball->radius;
    }
}

/* The smallest ball around points or balls. Its radius exceeds the minimum by at most 2^-46 of
 * itself, or 8 units in the last place of the largest coordinate. False when a coordinate is NaN or
 * infinite, or a radius is so or negative; *bad then is the first such index. count > 0. No
 * allocation; some ten passes over the input. */
bool carom_ball_around_points(const carom_vec3 *points, uint64_t count, carom_ball *ball,
                              uint64_t *bad);
bool carom_ball_around_balls(const carom_ball *balls, uint64_t count, carom_ball *ball,
                             uint64_t *bad);

#endif
