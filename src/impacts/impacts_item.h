/* SPDX-License-Identifier: MIT */
/* impacts_item.h: what the searches for impacts on the CPU and on the GPU have in common: which
 * vertices and edges a triangle owns, the gaps with which float32 boxes are compared, and the
 * decisions of what is near, as items. */
#ifndef CAROM_SRC_IMPACTS_IMPACTS_ITEM_H
#define CAROM_SRC_IMPACTS_IMPACTS_ITEM_H

#include <float.h>

#include "geom/advance_item.h"
#include "geom/within.h"

/* What a triangle owns: of several triangles with a vertex or an edge, one does. */
#define CAROM_IMPACT_OWN_VERTEX(i) (1u << (i))
#define CAROM_IMPACT_OWN_EDGE(i)   (8u << (i)) /* from corner i to the next */

/* Which vertex of a and the triangle b; the triangle a and which vertex of b; or which edges: 6 + 3
 * times that of a + that of b. */
#define CAROM_IMPACT_OF_A  0u
#define CAROM_IMPACT_OF_B  3u
#define CAROM_IMPACT_EDGES 6u
#define CAROM_IMPACT_WHICH 15u

/* Directions along which features are compared: the three axes, the four diagonals of a cube and
 * the six of its faces. Places past them never separate. */
#define CAROM_IMPACT_DIRECTIONS 13u

/* The longest direction but for the axes: a quarter of the diagonal of a cube, with room for
 * rounding. */
#define CAROM_IMPACT_LONGEST 0.43302f
/* Of the largest coordinate: twice the rounding of two quarters of sums, 2^-23 each. */
#define CAROM_IMPACT_SUM_ROUNDING 0x1p-21f

/* The gap along the other directions, from that along an axis, which is at least twice the error of
 * a coordinate, the reach and the largest coordinate. A quarter of a sum of three is off by 3/4 of
 * an error, and as it is rounded twice by less than 2^-23 of the largest coordinate and the least
 * number. */
CAROM_ITEM float carom_impacts_sum_gap(float gap, float reach, float largest) {
    return gap + CAROM_IMPACT_LONGEST * reach + largest * CAROM_IMPACT_SUM_ROUNDING + FLT_MIN;
}

/* ---- Gaps ------------------------------------------------------------------------------------ */

/* Of the largest coordinate: what float32 loses, and what computing a position in it loses. */
#define CAROM_IMPACT_FLOAT_ROUNDING    0x1p-23
#define CAROM_IMPACT_POSITION_ROUNDING 0x1p-20
/* Errors of a coordinate: two points that touch may be twice as far apart in float32; the half is
 * for the rounding of the gap. */
#define CAROM_IMPACT_GAP_ERRORS 2.5
/* A factor: what becomes a float, rounded by 2^-24, is not smaller then. */
#define CAROM_IMPACT_FLOAT_UP (1.0 + 0x1p-20)
/* Of the largest coordinate: above the tolerance of a step, 2^-20 of an extent of at most twice as
 * much. So a pair that is left out until some time does not limit a step before it. */
#define CAROM_IMPACT_STEP_TOLERANCE 0x1p-18
/* Movement in the first search for the first impact, in edges. */
#define CAROM_IMPACT_HORIZON_EDGES 4.0
/* Its time at least: the growth below makes it 1 in 20 searches. */
#define CAROM_IMPACT_HORIZON_LEAST  0x1p-40f
#define CAROM_IMPACT_HORIZON_GROWTH 4.0f    /* from one to the next */
#define CAROM_IMPACT_PRUNING_LIMIT  0x1p120 /* of coordinates: differences are finite floats */

/* Above twice what is lost in positions at times up to `until`. */
CAROM_ITEM float carom_impacts_gap_until(float gap, double largest, float until) {
    return until < 1.0f ? gap + (float)(CAROM_IMPACT_POSITION_ROUNDING * largest) + FLT_MIN : gap;
}

/* A reach in the frame of float32 points, of which none has a larger coordinate; rounded up. No two
 * points are farther apart than four times that, and boxes must stay finite. */
CAROM_ITEM float carom_impacts_reach(double scaled, double largest) {
    double most = 4.0 * largest + (double)FLT_MIN;
    double reach =
        scaled * CAROM_IMPACT_FLOAT_UP + CAROM_IMPACT_STEP_TOLERANCE * largest + (double)FLT_MIN;
    float rounded = (float)CAROM_MIN(reach, most);
    CAROM_ASSERT((double)rounded >= CAROM_MIN(scaled, 2.0 * largest));
    return rounded;
}

/* ---- What is near ---------------------------------------------------------------------------- */

/* Of the largest coordinate: what start + time * (end - start) is off by in three roundings along
 * three axes, for both points of a pair, is below 2^-49. */
#define CAROM_NEAR_POSITION_ROUNDING 0x1p-47
/* Factors that round bounds outwards: each is a sum and a product, 2^-53 each; and a difference
 * that is halved, 2^-53. */
#define CAROM_NEAR_UP        (1.0 + 0x1p-50)
#define CAROM_NEAR_DOWN      (1.0 - 0x1p-50)
#define CAROM_NEAR_HALF_DOWN (1.0 - 0x1p-52)
#define CAROM_NEAR_LEAST     0x1p-1074 /* of a double */

CAROM_ITEM carom_interval carom_impacts_interval(double lower, double value, double upper) {
    carom_interval interval;
    interval.lower = lower;
    interval.value = value;
    interval.upper = upper;
    return interval;
}

/* A vertex and a face, or two edges, as triangles. */
CAROM_ITEM void carom_impacts_near_triangles(const carom_vec3 *p, int edges, carom_triangle *a,
                                             carom_triangle *b) {
    a->corner[0] = p[0];
    a->corner[1] = a->corner[2] = p[edges ? 1 : 0];
    b->corner[0] = p[edges ? 2 : 1];
    b->corner[1] = p[edges ? 3 : 2];
    b->corner[2] = p[3];
}

/* Encloses the distance. */
CAROM_ITEM carom_interval carom_impacts_near_distance(const carom_vec3 *points, int edges) {
    carom_vec3 p[4] = {points[0], points[1], points[2], points[3]};
    carom_near_view view;
    carom_closest best;
    bool good = carom_near_localise(p, 4, &view);
    CAROM_ASSERT(good);
    if (!good || view.size == 0.0) return carom_impacts_interval(0.0, 0.0, 0.0);
    if (edges)
        carom_near_segments(p, p + 2, &best);
    else
        carom_near_point_triangle(p[0], p + 1, &best);
    carom_triangle a, b;
    carom_impacts_near_triangles(p, edges, &a, &b);
    carom_vec3 n = carom_vec_sub(best.b, best.a);
    double length = carom_vec_length(n), error = view.size * CAROM_WITHIN_ERROR, width = 0.0;
    if (length > 0.0) {
        n = carom_vec_scale(n, 1.0 / length);
        width = carom_near_gap(a.corner, b.corner, n);
    }
    CAROM_ASSERT(width - error <= length); /* a direction shows no more than the distance */
    double lower = (width - error) * CAROM_NEAR_DOWN, upper = (length + error) * CAROM_NEAR_UP;
    lower = lower * view.up - CAROM_NEAR_LEAST;
    return carom_impacts_interval(CAROM_MAX(lower, 0.0), length * view.up,
                                  upper * view.up + CAROM_NEAR_LEAST);
}

/* The interval of a distance that is at most the reach, with its value inside. */
CAROM_ITEM carom_interval carom_impacts_near_within_reach(carom_interval d, double reach) {
    d.upper = CAROM_MIN(reach, d.upper);
    CAROM_ASSERT(d.lower <= d.upper);
    d.value = CAROM_MAX(d.value, d.lower);
    d.value = CAROM_MIN(d.value, d.upper);
    return d;
}

/* How far a vertex may move whose nearest pair is so far apart: half of what that is above the
 * minimum, rounded down. */
CAROM_ITEM double carom_impacts_safe_distance(double distance, double minimum, double largest) {
    double lost = CAROM_NEAR_POSITION_ROUNDING * largest;
    double half = 0.5 * (distance - minimum) * CAROM_NEAR_HALF_DOWN - CAROM_NEAR_LEAST - lost;
    return CAROM_MAX(half, 0.0);
}

/* Whether a pair comes nearer than the minimum, raised by what positions lose by rounding, and the
 * time up to which it does not. */
CAROM_ITEM bool carom_impacts_step(const carom_vec3 *start, const carom_vec3 *end, int edges,
                                   double minimum, double largest, carom_interval *time) {
    carom_advance_pair pair;
    carom_advance advance;
    double raised = minimum + CAROM_NEAR_POSITION_ROUNDING * largest;
    carom_advance_load(start, end, edges, &pair);
    carom_advance_run(&pair, carom_scale_apply(raised, pair.scale), 0.0, CAROM_ADVANCE_MOST_STEPS,
                      &advance);
    CAROM_ASSERT(advance.time >= 0.0 && advance.time <= 1.0);
    CAROM_ASSERT(advance.hit || advance.time == 1.0);
    *time = carom_impacts_interval(advance.time, advance.time, advance.time);
    return advance.hit;
}

#endif
