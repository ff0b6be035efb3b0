/* SPDX-License-Identifier: MIT */
/* triangle_item.h: the relative position of two triangles, the exact stage: signs only, any input.
 *
 * Each triangle is first reduced to the simplex it is: point, segment or triangle. Then the problem
 * is solved in the lowest dimension that contains both: on a line by comparing ends; in a plane by
 * separating edges (projected along an axis that keeps the plane two-dimensional); in space by the
 * sides of the planes and the intervals on their common line (triangle_filter.h). Constructed
 * points are compared through orientations of the corners, which are exact. */
#ifndef CAROM_SRC_GEOM_TRIANGLE_ITEM_H
#define CAROM_SRC_GEOM_TRIANGLE_ITEM_H

#include "geom/triangle_filter.h"

/* The hull of a triangle's corners by its own vertices: 3, 2 (in order along the line) or 1. */
typedef struct carom_simplex {
    carom_vec3 p[3];
    int count;
    int axis; /* of 3: an axis along which it does not project onto a line */
} carom_simplex;

/* The intersection of two simplices. */
typedef struct carom_simplex_intersection {
    int dimension; /* -1 when there is none */
    int interior;  /* the relative interiors meet */
    int coplanar;  /* one plane holds both */
} carom_simplex_intersection;

CAROM_ITEM carom_simplex_intersection carom_simplex_intersection_make(int dimension, int interior,
                                                                      int coplanar) {
    carom_simplex_intersection m = {dimension, interior, coplanar};
    return m;
}

CAROM_RARE_ITEM carom_simplex carom_simplex_make(const carom_triangle *t) {
    carom_simplex s;
    const carom_vec3 *c = t->corner;
    int low = 0, high = 0;
    s.axis = carom_orient_axis(c[0], c[1], c[2]);
    s.count = 3;
    for (int i = 0; i < 3; ++i) s.p[i] = c[i];
    if (s.axis >= 0) return s;
    for (int i = 1; i < 3; ++i) {
        if (carom_vec_compare(c[i], c[low]) < 0) low = i;
        if (carom_vec_compare(c[i], c[high]) > 0) high = i;
    }
    s.p[0] = c[low];
    s.p[1] = c[high];
    s.count = carom_vec_compare(c[low], c[high]) == 0 ? 1 : 2;
    return s;
}

/* ---- On a line ------------------------------------------------------------------------------- */

/* Dimension of the common part of [a0, a1] and [b0, b1] on one line, ends in any order. */
CAROM_ITEM int carom_overlap_on_line(carom_vec3 a0, carom_vec3 a1, carom_vec3 b0, carom_vec3 b1) {
    carom_vec3 swap;
    if (carom_vec_compare(a0, a1) > 0) swap = a0, a0 = a1, a1 = swap;
    if (carom_vec_compare(b0, b1) > 0) swap = b0, b0 = b1, b1 = swap;
    carom_vec3 low = carom_vec_compare(a0, b0) > 0 ? a0 : b0;
    carom_vec3 high = carom_vec_compare(a1, b1) < 0 ? a1 : b1;
    int order = carom_vec_compare(low, high);
    return order > 0 ? -1 : order == 0 ? 0 : 1;
}

/* Points and segments of one line. */
CAROM_ITEM carom_simplex_intersection carom_meet_on_line(const carom_simplex *a,
                                                         const carom_simplex *b) {
    carom_vec3 a0 = a->p[0], a1 = a->p[a->count - 1], b0 = b->p[0], b1 = b->p[b->count - 1];
    int dimension = carom_overlap_on_line(a0, a1, b0, b1);
    int inside = dimension == 1;
    if (dimension == 0 && a->count == 1 && b->count == 1) inside = 1;
    if (dimension == 0 && a->count == 2 && b->count == 1)
        inside = carom_vec_compare(a0, b0) < 0 && carom_vec_compare(b0, a1) < 0;
    if (dimension == 0 && a->count == 1 && b->count == 2)
        inside = carom_vec_compare(b0, a0) < 0 && carom_vec_compare(a0, b1) < 0;
    return carom_simplex_intersection_make(dimension, inside, 1);
}

/* ---- In a plane ------------------------------------------------------------------------------ */

/* Looks for edges of a that have all of b on their outer side. Returns 1 when one has b strictly
 * outside; otherwise stores in *dimension that of the intersection, should the two touch, when an
 * edge has b outside or on its line. A segment counts as a polygon with two edges. */
CAROM_ITEM int carom_edges_separate(const carom_simplex *a, const carom_simplex *b, int axis,
                                    int *dimension) {
    int turn = a->count == 3 ? carom_orient_along(a->p[0], a->p[1], a->p[2], axis) : 1;
    for (int i = 0; i < a->count && a->count > 1; ++i) {
        carom_vec3 from = a->p[i], to = a->p[i + 1 < a->count ? i + 1 : 0];
        int on[3], count = 0, outside = 0;
        for (int j = 0; j < b->count; ++j) {
            int side = turn * carom_orient_along(from, to, b->p[j], axis);
            if (side == 0) on[count++] = j;
            if (side < 0) ++outside;
        }
        if (outside == b->count) return 1;
        if (outside + count < b->count) continue;
        *dimension = count == 1 ? 0 : carom_overlap_on_line(from, to, b->p[on[0]], b->p[on[1]]);
    }
    return 0;
}

/* Two in one plane, not in one line. For convex sets the difference a - b is a polygon whose edges
 * come from edges of a or b: no edge of either separates strictly if and only if they meet, none
 * separates weakly if and only if the interiors do. When one does, the intersection lies on its
 * line. */
CAROM_ITEM carom_simplex_intersection carom_meet_in_plane(const carom_simplex *a,
                                                          const carom_simplex *b, int axis) {
    int dimension = -1;
    if (carom_edges_separate(a, b, axis, &dimension) ||
        carom_edges_separate(b, a, axis, &dimension))
        return carom_simplex_intersection_make(-1, 0, 1);
    if (dimension >= 0) return carom_simplex_intersection_make(dimension, 0, 1);
    return carom_simplex_intersection_make(a->count + b->count - 4, 1, 1);
}

/* ---- In space -------------------------------------------------------------------------------- */

/* A segment and a triangle that no plane holds; s are the sides of the segment's ends. */
CAROM_ITEM carom_simplex_intersection carom_meet_segment(const carom_simplex *triangle,
                                                         const carom_simplex *segment,
                                                         const int *s) {
    const carom_vec3 *t = triangle->p, *p = segment->p;
    int least = 1, most = -1, zeros = 0;
    if (s[0] == 0 || s[1] == 0) {
        carom_simplex end;
        end.p[0] = s[0] == 0 ? p[0] : p[1];
        end.count = 1;
        end.axis = -1;
        return carom_simplex_intersection_make(
            carom_meet_in_plane(triangle, &end, triangle->axis).dimension, 0, 0);
    }
    for (int i = 0; i < 3; ++i) {
        int side = carom_orient3d(p[0], p[1], t[i], t[i < 2 ? i + 1 : 0]);
        least = CAROM_MIN(least, side);
        most = CAROM_MAX(most, side);
        zeros += side == 0;
    }
    if (least < 0 && most > 0) return carom_simplex_intersection_make(-1, 0, 0);
    return carom_simplex_intersection_make(0, zeros == 0, 0);
}

/* The corner that shares no open side of the other's plane with another corner, and its side; a
 * corner on the plane counts for the side that the other two are not on. Sides are not all equal.
 */
CAROM_ITEM int carom_pivot(const int *s, int *side) {
    for (int i = 0; i < 3; ++i) {
        int j = i == 2 ? 0 : i + 1, k = 3 - i - j;
        if (s[i] != 0 && s[i] * s[j] <= 0 && s[i] * s[k] <= 0) {
            *side = s[i];
            return i;
        }
    }
    int zero = s[0] == 0 ? 0 : s[1] == 0 ? 1 : 2; /* the others are on one side */
    *side = -s[zero == 0 ? 1 : 0];
    return zero;
}

/* Two triangles in different planes; sb are the sides of b's corners. */
CAROM_ITEM carom_simplex_intersection carom_meet_in_space(const carom_simplex *ta,
                                                          const carom_simplex *tb, const int *sb) {
    const carom_vec3 *a = ta->p, *b = tb->p;
    int sa[3], side_a, side_b;
    for (int i = 0; i < 3; ++i) sa[i] = carom_orient3d(b[0], b[1], b[2], a[i]);
    if (sa[0] == sa[1] && sa[1] == sa[2]) return carom_simplex_intersection_make(-1, 0, 0);
    int ia = carom_pivot(sa, &side_a), ib = carom_pivot(sb, &side_b);
    int ja = ia == 2 ? 0 : ia + 1, ka = 3 - ia - ja;
    int jb = ib == 2 ? 0 : ib + 1, kb = 3 - ib - jb;
    int low_a = side_a > 0 ? ka : ja, high_a = side_a > 0 ? ja : ka;
    int low_b = side_b > 0 ? jb : kb, high_b = side_b > 0 ? kb : jb;
    int turn = side_a * side_b;
    int ahead = turn * carom_orient3d(a[ia], a[low_a], b[ib], b[high_b]);
    int behind = turn * carom_orient3d(a[ia], a[high_a], b[ib], b[low_b]);
    if (ahead < 0 || behind > 0) return carom_simplex_intersection_make(-1, 0, 0);
    if (ahead == 0 || behind == 0 || sa[ia] == 0 || sb[ib] == 0)
        return carom_simplex_intersection_make(0, 0, 0);
    /* A segment; inside both when both have corners on both sides. */
    int through_a = sa[ja] == -side_a || sa[ka] == -side_a;
    int through_b = sb[jb] == -side_b || sb[kb] == -side_b;
    return carom_simplex_intersection_make(1, through_a && through_b, 0);
}

/* ---- Any two simplices ----------------------------------------------------------------------- */

/* A point or segment and one of no more dimensions. */
CAROM_ITEM carom_simplex_intersection carom_meet_thin(const carom_simplex *a,
                                                      const carom_simplex *b) {
    int axis = -1;
    if (a->count == 1) return carom_meet_on_line(a, b);
    for (int j = 0; j < b->count && axis < 0; ++j)
        axis = carom_orient_axis(a->p[0], a->p[1], b->p[j]);
    if (axis < 0) return carom_meet_on_line(a, b);
    if (b->count == 1) return carom_simplex_intersection_make(-1, 0, 1);
    if (carom_orient3d(a->p[0], a->p[1], b->p[0], b->p[1]) != 0)
        return carom_simplex_intersection_make(-1, 0, 0);
    return carom_meet_in_plane(a, b, axis);
}

/* a is a triangle, b anything. */
CAROM_ITEM carom_simplex_intersection carom_meet_triangle(const carom_simplex *a,
                                                          const carom_simplex *b) {
    int s[3], above = 0, below = 0;
    for (int j = 0; j < b->count; ++j) {
        s[j] = carom_orient3d(a->p[0], a->p[1], a->p[2], b->p[j]);
        above += s[j] > 0;
        below += s[j] < 0;
    }
    if (above == 0 && below == 0) return carom_meet_in_plane(a, b, a->axis);
    if (above == b->count || below == b->count) return carom_simplex_intersection_make(-1, 0, 0);
    if (b->count == 2) return carom_meet_segment(a, b, s);
    return carom_meet_in_space(a, b, s);
}

/* The relation of two simplices. Exact. */
CAROM_RARE_ITEM carom_simplex_intersection carom_simplex_meet(const carom_simplex *a,
                                                              const carom_simplex *b) {
    const carom_simplex *more = a->count < b->count ? b : a;
    const carom_simplex *less = a->count < b->count ? a : b;
    return more->count == 3 ? carom_meet_triangle(more, less) : carom_meet_thin(more, less);
}

CAROM_RARE_ITEM int carom_triangle_meet_exact(const carom_triangle *a, const carom_triangle *b) {
    carom_simplex sa = carom_simplex_make(a), sb = carom_simplex_make(b);
    return carom_simplex_meet(&sa, &sb).dimension >= 0;
}

/* Whether the closed triangles have a point in common: 1 or 0; exact for any finite input. */
CAROM_ITEM int carom_triangle_meet(const carom_triangle *a, const carom_triangle *b) {
    int verdict = carom_triangle_filter(a, b);
    return verdict != CAROM_UNDECIDED ? verdict : carom_triangle_meet_exact(a, b);
}

CAROM_ITEM carom_triangle_intersection
carom_triangle_intersection_make(carom_simplex_intersection m, int count_a, int count_b) {
    carom_triangle_intersection r;
    r.relation = m.dimension < 0 ? CAROM_TRIANGLE_RELATION_DISJOINT
                 : !m.interior   ? CAROM_TRIANGLE_RELATION_TOUCHING
                 : m.coplanar    ? CAROM_TRIANGLE_RELATION_COPLANAR_OVERLAP
                                 : CAROM_TRIANGLE_RELATION_CROSSING;
    r.dimension = m.dimension;
    r.dimension_a = count_a - 1;
    r.dimension_b = count_b - 1;
    r.coplanar = m.coplanar != 0;
    return r;
}

CAROM_RARE_ITEM carom_triangle_intersection carom_triangle_relate_exact(const carom_triangle *a,
                                                                        const carom_triangle *b) {
    carom_simplex sa = carom_simplex_make(a), sb = carom_simplex_make(b);
    return carom_triangle_intersection_make(carom_simplex_meet(&sa, &sb), sa.count, sb.count);
}

/* The full relation. Exact for any finite input. The filter's answers rest on corners off the
 * other's plane, so that no plane holds both. */
CAROM_ITEM carom_triangle_intersection carom_triangle_relate(const carom_triangle *a,
                                                             const carom_triangle *b) {
    int verdict = carom_triangle_filter(a, b);
    if (verdict == CAROM_UNDECIDED) return carom_triangle_relate_exact(a, b);
    if (verdict == CAROM_YES)
        return carom_triangle_intersection_make(carom_simplex_intersection_make(1, 1, 0), 3, 3);
    return carom_triangle_intersection_make(carom_simplex_intersection_make(-1, 0, 0),
                                            carom_simplex_make(a).count,
                                            carom_simplex_make(b).count);
}

#endif
