/* SPDX-License-Identifier: MIT */
/* within.h: whether two triangles are at most a given distance (the reach) apart, exactly.
 *
 * Two certificates, each of which holds whatever rounding did on the way to it:
 *   yes  a point of one and a point of the other that are near enough, from distance_item.h;
 *   no   a slab across the line between those points, wider than the reach, with one triangle on
 *        either side.
 * The distance itself is the width of the widest slab, so between them the two leave only what lies
 * within rounding of the reach. That is decided in integers (within_exact_item.h).
 *
 * Why 2^-46 is enough. Seen from the first corner, all coordinates are at most `size` and rounded
 * by 2^-53 of it. Points found are made of parameters in [0, 1] with at most eight roundings of
 * that kind, dot products along a direction with four: below 2^-49 of size in each. */
#ifndef CAROM_SRC_GEOM_WITHIN_H
#define CAROM_SRC_GEOM_WITHIN_H

#include "geom/distance_item.h"
#include "geom/triangle_filter.h"

#define CAROM_WITHIN_ERROR 0x1p-46

/* Relative: what the square of a direction's length and its products with a squared reach are off
 * by, at most eight roundings of 2^-53 each, taken four times. */
#define CAROM_WITHIN_SQUARE_ERROR 0x1p-48

/* The least squared length of a direction that a slab is measured along. Products of a longer one
 * with coordinates of 2^-53 of the least size are normal numbers, and so are their squares. A pair
 * without a longer one stays undecided. */
#define CAROM_WITHIN_DIRECTION_MINIMUM 0x1p-400

/* Sizes for which no square or product of squares below leaves the range of a double. */
#define CAROM_WITHIN_SIZE_MINIMUM 0x1p-120
#define CAROM_WITHIN_SIZE_LIMIT   0x1p120

/* Whether a slab perpendicular to `direction`, any direction, is wider than `reach`, which includes
 * the error. Most pairs that are apart are separated along the normal of one of them or along the
 * line between them: testing these takes a tenth of the work of measuring. */
CAROM_ITEM bool carom_within_apart(const carom_vec3 *a, const carom_vec3 *b, carom_vec3 direction,
                                   double reach) {
    double there = carom_near_gap(a, b, direction);
    double gap = there > 0.0 ? there : carom_near_gap(b, a, direction);
    double squared = carom_vec_dot(direction, direction) * (1.0 + CAROM_WITHIN_SQUARE_ERROR);
    return gap > 0.0 && squared > CAROM_WITHIN_DIRECTION_MINIMUM &&
           gap * gap > reach * reach * squared;
}

CAROM_ITEM carom_vec3 carom_within_normal(const carom_vec3 *p) {
    return carom_vec_cross(carom_vec_sub(p[1], p[0]), carom_vec_sub(p[2], p[0]));
}

CAROM_ITEM carom_vec3 carom_within_sum(const carom_vec3 *p) {
    return carom_vec_add(carom_vec_add(p[0], p[1]), p[2]);
}

/* What the nearest points found so far prove. */
CAROM_ITEM int carom_within_judge(const carom_closest *best, const carom_vec3 *a,
                                  const carom_vec3 *b, double sure, double reach) {
    if (best->squared <= sure) return CAROM_YES;
    return carom_within_apart(a, b, carom_vec_sub(best->b, best->a), reach) ? CAROM_NO
                                                                            : CAROM_UNDECIDED;
}

/* Edges first, the most promising ones before the others; then feet on faces, and edges through
 * faces. Stops as soon as there is either certificate. */
CAROM_ITEM int carom_within_local(const carom_vec3 *a, const carom_vec3 *b, carom_vec3 between,
                                  double sure, double reach) {
    carom_near_edge ea[3], eb[3];
    carom_closest best;
    carom_vec3 foot, through;
    int verdict = CAROM_UNDECIDED;
    best.squared = DBL_MAX;
    best.a = best.b = a[0];
    int first_a = carom_near_backmost(a, between) + 1;
    int first_b = carom_near_backmost(b, carom_vec_scale(between, -1.0)) + 1;
    for (int i = 0; i < 3; ++i) {
        ea[i] = carom_near_edge_of(a[(first_a + i) % 3], a[(first_a + i + 1) % 3]);
        eb[i] = carom_near_edge_of(b[(first_b + i) % 3], b[(first_b + i + 1) % 3]);
    }
    for (int i = 0; i < 9; ++i) {
        if (!carom_near_edges(&ea[i / 3], &eb[i % 3], &best)) continue;
        verdict = carom_within_judge(&best, a, b, sure, reach);
        if (verdict != CAROM_UNDECIDED) return verdict;
    }
    carom_near_face face_a = carom_near_face_of(a), face_b = carom_near_face_of(b);
    for (int i = 0; i < 6; ++i) {
        const carom_near_face *face = i < 3 ? &face_b : &face_a;
        carom_vec3 p = i < 3 ? a[i] : b[i - 3];
        if (!carom_near_foot(face, p, &foot)) continue;
        if (!carom_near_offer(&best, i < 3 ? p : foot, i < 3 ? foot : p)) continue;
        verdict = carom_within_judge(&best, a, b, sure, reach);
        if (verdict != CAROM_UNDECIDED) return verdict;
    }
    for (int i = 0; i < 6; ++i) {
        const carom_near_face *face = i < 3 ? &face_b : &face_a;
        const carom_vec3 *t = i < 3 ? a : b;
        if (carom_near_pierce(face, t[i % 3], t[(i + 1) % 3], &through, &foot) &&
            carom_near_offer(&best, i < 3 ? through : foot, i < 3 ? foot : through) &&
            best.squared <= sure)
            return CAROM_YES;
    }
    return CAROM_UNDECIDED;
}

/* CAROM_YES, CAROM_NO, or CAROM_UNDECIDED within rounding of the reach. */
CAROM_ITEM int carom_within_filter(const carom_triangle *a, const carom_triangle *b, double reach) {
    carom_vec3 p[6];
    carom_near_view view;
    for (int i = 0; i < 3; ++i) {
        p[i] = a->corner[i];
        p[3 + i] = b->corner[i];
    }
    if (!carom_near_localise(p, 6, &view)) return CAROM_UNDECIDED;
    if (view.size == 0.0) return CAROM_YES; /* one point */
    if (!(view.size > CAROM_WITHIN_SIZE_MINIMUM && view.size < CAROM_WITHIN_SIZE_LIMIT))
        return CAROM_UNDECIDED;
    double local = reach * (1.0 / view.up), error = view.size * CAROM_WITHIN_ERROR;
    double less = local - error, more = local + error;
    carom_vec3 between = carom_vec_sub(carom_within_sum(p + 3), carom_within_sum(p));
    if (carom_within_apart(p, p + 3, between, more) ||
        carom_within_apart(p, p + 3, carom_within_normal(p), more) ||
        carom_within_apart(p, p + 3, carom_within_normal(p + 3), more))
        return CAROM_NO;
    return carom_within_local(p, p + 3, between, less > 0.0 ? less * less : -1.0, more);
}

/* The same for any finite corners and reach >= 0; some ten microseconds, more where exponents lie
 * far apart. */
bool carom_within_exact(const carom_triangle *a, const carom_triangle *b, double reach);

static inline bool carom_within(const carom_triangle *a, const carom_triangle *b, double reach) {
    int verdict = carom_within_filter(a, b, reach);
    return verdict != CAROM_UNDECIDED ? verdict == CAROM_YES : carom_within_exact(a, b, reach);
}

#endif
