/* SPDX-License-Identifier: MIT */
/* intersection_item.h: the common points of two triangles, rounded once, as items for CPU and GPU.
 *
 * Their ends are corners, or cuts: points where an edge crosses a plane, which is that of the other
 * triangle, or in the plane of both that through the other's edge along an axis. Which corners and
 * cuts they are follows from orientations of corners alone (triangle_item.h). In space the ends of
 * the two intervals on the common line of the planes are compared; in one plane each edge is
 * clipped to the other triangle, where cuts are compared as ratios (ratio.h).
 *
 * A cut is p + t (q - p) with t = h(p) / (h(p) - h(q)), where h is the height above the plane times
 * the length of its normal. It is computed in double-doubles with an error bound. If all numbers
 * within the bound round to one double, that is the result (Ziv 1991); otherwise the ratio is
 * computed in integers.
 *
 * Error bound, with e = 2^-100 and differences as exact double-doubles: a component of the normal
 * u x v is off by 4 e |u| |v|, the height n.w by 32 e |u| |v| |w| for the largest components; their
 * signs differ, so t is off by twice that over |h(p) - h(q)| and 8 e of itself. */
#ifndef CAROM_SRC_GEOM_INTERSECTION_ITEM_H
#define CAROM_SRC_GEOM_INTERSECTION_ITEM_H

#include "base/double_double.h"
#include "geom/intersection.h"
#include "geom/length.h"
#include "geom/ratio.h"
#include "geom/triangle_item.h"

/* ---- Cuts ------------------------------------------------------------------------------------ */

/* Limits of the largest components of rows and points: products of three are between 2^-600 and
 * 2^600. */
#define CAROM_CUT_LARGEST 0x1p200
#define CAROM_CUT_LEAST   0x1p-200
/* Exceed what underflows: in a height, some 2^-1074 times 2^400, and in a point. */
#define CAROM_CUT_HEIGHT_UNDERFLOW 0x1p-600
#define CAROM_CUT_POINT_UNDERFLOW  0x1p-1000
/* Of a height, relative to |u| |v| |w|: 32 e. */
#define CAROM_CUT_HEIGHT_ERROR 0x1p-95
/* Errors in h(p) - h(q) at least: then it is the exact one to 2^-19 of itself. */
#define CAROM_CUT_RANGE_ERRORS 0x1p20
/* Errors of a height in t, times |h(p) - h(q)|: two, and a quarter of that for the roundings of
 * this bound. */
#define CAROM_CUT_PARAMETER_ERRORS 2.5
/* Of the quotient t, which is at most 1, and of its product with a difference: 8 e and less; twice
 * that. */
#define CAROM_CUT_QUOTIENT_ERROR 0x1p-96
/* Of the sum with a coordinate of p, relative to that. */
#define CAROM_CUT_SUM_ERROR 0x1p-99

/* Where the segment from p to q crosses the plane through f along two rows. */
typedef struct carom_cut {
    carom_vec3 p, q, f;
    carom_row u, v;
} carom_cut;

CAROM_ITEM carom_cut carom_cut_by_plane(carom_vec3 p, carom_vec3 q, const carom_vec3 *plane) {
    carom_cut c = {p, q, plane[0], {plane[0], plane[1]}, {plane[0], plane[2]}};
    return c;
}

CAROM_ITEM carom_cut carom_cut_by_edge(carom_vec3 p, carom_vec3 q, carom_vec3 from, carom_vec3 to,
                                       int axis) {
    carom_vec3 zero = carom_vec(0.0, 0.0, 0.0);
    carom_vec3 along =
        carom_vec(axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0);
    carom_cut c = {p, q, from, {from, to}, {zero, along}};
    return c;
}

typedef struct carom_cut_dd3 {
    carom_dd x[3];
} carom_cut_dd3;

CAROM_ITEM carom_cut_dd3 carom_cut_dd3_row(carom_vec3 from, carom_vec3 to) {
    carom_cut_dd3 row;
    row.x[0] = carom_dd_diff(to.x, from.x);
    row.x[1] = carom_dd_diff(to.y, from.y);
    row.x[2] = carom_dd_diff(to.z, from.z);
    return row;
}

CAROM_ITEM double carom_cut_dd3_largest(const carom_cut_dd3 *a) {
    double xy = CAROM_MAX(fabs(a->x[0].high), fabs(a->x[1].high));
    return CAROM_MAX(xy, fabs(a->x[2].high));
}

CAROM_ITEM carom_dd carom_cut_dd3_height(const carom_cut_dd3 *n, const carom_cut_dd3 *w) {
    carom_dd sum =
        carom_dd_add(carom_dd_multiply(n->x[0], w->x[0]), carom_dd_multiply(n->x[1], w->x[1]));
    return carom_dd_add(sum, carom_dd_multiply(n->x[2], w->x[2]));
}

/* The double that all numbers within `error` of a round to; false if there is no such. */
CAROM_ITEM bool carom_cut_round_certainly(carom_dd a, double error, double *to) {
    *to = a.high;
    return a.high + (a.low + error) == a.high && a.high + (a.low - error) == a.high;
}

CAROM_RARE_ITEM bool carom_cut_quickly(const carom_cut *c, carom_vec3 *at) {
    carom_cut_dd3 u = carom_cut_dd3_row(c->u.from, c->u.to),
                  v = carom_cut_dd3_row(c->v.from, c->v.to), n;
    carom_cut_dd3 wp = carom_cut_dd3_row(c->f, c->p), wq = carom_cut_dd3_row(c->f, c->q),
                  way = carom_cut_dd3_row(c->p, c->q);
    double size_u = carom_cut_dd3_largest(&u), size_v = carom_cut_dd3_largest(&v);
    double size_w = CAROM_MAX(carom_cut_dd3_largest(&wp), carom_cut_dd3_largest(&wq));
    double largest = CAROM_MAX(carom_vec_largest(c->p), carom_vec_largest(c->q));
    double least = CAROM_MIN(CAROM_MIN(size_u, size_v), size_w);
    if (!(least > CAROM_CUT_LEAST && CAROM_MAX(size_u, size_v) < CAROM_CUT_LARGEST &&
          size_w < CAROM_CUT_LARGEST && largest < CAROM_CUT_LARGEST))
        return false;
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        n.x[k] = carom_dd_sub(carom_dd_multiply(u.x[i], v.x[j]), carom_dd_multiply(u.x[j], v.x[i]));
    }
    carom_dd hp = carom_cut_dd3_height(&n, &wp), hq = carom_cut_dd3_height(&n, &wq),
             range = carom_dd_sub(hp, hq);
    double error = CAROM_CUT_HEIGHT_ERROR * size_u * size_v * size_w + CAROM_CUT_HEIGHT_UNDERFLOW;
    if (!(fabs(range.high) > CAROM_CUT_RANGE_ERRORS * error)) return false;
    carom_dd t = carom_dd_divide(hp, range);
    double error_t =
        CAROM_CUT_PARAMETER_ERRORS * error / fabs(range.high) + CAROM_CUT_QUOTIENT_ERROR;
    const double from[3] = {c->p.x, c->p.y, c->p.z};
    double to[3];
    for (int k = 0; k < 3; ++k) {
        carom_dd x = carom_dd_add(carom_dd_of(from[k]), carom_dd_multiply(t, way.x[k]));
        double error_x = error_t * fabs(way.x[k].high) + CAROM_CUT_SUM_ERROR * fabs(from[k]) +
                         CAROM_CUT_POINT_UNDERFLOW;
        if (!carom_cut_round_certainly(x, error_x, &to[k])) return false;
    }
    *at = carom_vec(to[0], to[1], to[2]);
    return true;
}

CAROM_RARE_ITEM void carom_cut_ratio(const carom_cut *c, carom_ratio *t) {
    carom_row to_plane = {c->p, c->f}, way = {c->p, c->q};
    carom_ratio_make(&c->u, &c->v, &to_plane, &way, t);
}

CAROM_RARE_ITEM carom_vec3 carom_cut_round(const carom_cut *c) {
    carom_vec3 at;
    carom_ratio t;
    if (carom_cut_quickly(c, &at)) return at;
    carom_cut_ratio(c, &t);
    return carom_vec(carom_ratio_between(&t, c->p.x, c->q.x),
                     carom_ratio_between(&t, c->p.y, c->q.y),
                     carom_ratio_between(&t, c->p.z, c->q.z));
}

/* ---- Results --------------------------------------------------------------------------------- */

CAROM_ITEM void carom_intersection_add(carom_intersection *r, carom_vec3 p, carom_vec3 q) {
    r->end[r->count][0] = p;
    r->end[r->count++][1] = q;
}

/* ---- In a plane ------------------------------------------------------------------------------ */

/* An end of a clipped edge: a corner, or a cut. */
typedef struct carom_edge_end {
    carom_ratio t;
    carom_vec3 corner;
    bool is_cut;
    carom_cut cut;
} carom_edge_end;

CAROM_ITEM void carom_edge_end_at(carom_edge_end *end, carom_vec3 corner, double t) {
    carom_ratio_of(t, &end->t);
    end->corner = corner;
    end->is_cut = false;
}

CAROM_RARE_ITEM carom_vec3 carom_edge_end_round(const carom_edge_end *end) {
    return end->is_cut ? carom_cut_round(&end->cut) : end->corner;
}

/* Clips the edge from p to q to a triangle in its plane. Returns the dimension of what is left. */
CAROM_RARE_ITEM int carom_intersection_clip(carom_vec3 p, carom_vec3 q,
                                            const carom_simplex *triangle, int axis,
                                            carom_edge_end *low, carom_edge_end *high) {
    const carom_vec3 *c = triangle->p;
    int turn = carom_orient_along(c[0], c[1], c[2], axis);
    carom_edge_end at;
    carom_edge_end_at(low, p, 0.0);
    carom_edge_end_at(high, q, 1.0);
    for (int i = 0; i < 3; ++i) {
        carom_vec3 from = c[i], to = c[i == 2 ? 0 : i + 1];
        int side_p = turn * carom_orient_along(from, to, p, axis);
        int side_q = turn * carom_orient_along(from, to, q, axis);
        if (side_p < 0 && side_q < 0) return -1;
        if (side_p < 0 && side_q == 0) carom_edge_end_at(low, q, 1.0);
        if (side_p == 0 && side_q < 0) carom_edge_end_at(high, p, 0.0);
        if (side_p * side_q >= 0) continue;
        at.is_cut = true;
        at.cut = carom_cut_by_edge(p, q, from, to, axis);
        carom_cut_ratio(&at.cut, &at.t);
        if (side_p < 0 && carom_ratio_compare(&at.t, &low->t) > 0) *low = at;
        if (side_q < 0 && carom_ratio_compare(&at.t, &high->t) < 0) *high = at;
    }
    int order = carom_ratio_compare(&low->t, &high->t);
    return order > 0 ? -1 : order == 0 ? 0 : 1;
}

/* Whether an edge of the triangle is on the line of p and q. */
CAROM_RARE_ITEM bool carom_has_edge_along(const carom_simplex *triangle, carom_vec3 p, carom_vec3 q,
                                          int axis) {
    int on = 0;
    for (int i = 0; i < 3; ++i) on += carom_orient_along(p, q, triangle->p[i], axis) == 0 ? 1 : 0;
    return on >= 2;
}

CAROM_RARE_ITEM void carom_intersect_triangles_in_plane(const carom_simplex *a,
                                                        const carom_simplex *b,
                                                        carom_intersection *r) {
    carom_edge_end low, high;
    int wanted = r->dimension == 2 ? 1 : r->dimension;
    for (int i = 0; i < 3; ++i) {
        carom_vec3 p = a->p[i], q = a->p[i == 2 ? 0 : i + 1];
        if (carom_intersection_clip(p, q, b, a->axis, &low, &high) < wanted) continue;
        carom_intersection_add(r, carom_edge_end_round(&low), carom_edge_end_round(&high));
        if (r->dimension < 2) return;
    }
    for (int i = 0; i < 3; ++i) {
        carom_vec3 p = b->p[i], q = b->p[i == 2 ? 0 : i + 1];
        if (carom_intersection_clip(p, q, a, a->axis, &low, &high) < 1) continue;
        if (!carom_has_edge_along(a, p, q, a->axis))
            carom_intersection_add(r, carom_edge_end_round(&low), carom_edge_end_round(&high));
    }
}

/* Two segments of one plane that cross or touch. */
CAROM_RARE_ITEM void carom_intersect_segments_in_plane(const carom_simplex *a,
                                                       const carom_simplex *b,
                                                       carom_intersection *r) {
    int axis = carom_orient_axis(a->p[0], a->p[1], b->p[0]);
    if (axis < 0) axis = carom_orient_axis(a->p[0], a->p[1], b->p[1]);
    int s0 = carom_orient_along(b->p[0], b->p[1], a->p[0], axis);
    int s1 = carom_orient_along(b->p[0], b->p[1], a->p[1], axis);
    carom_vec3 at = s0 == 0 ? a->p[0] : a->p[1];
    if (s0 != 0 && s1 != 0) {
        carom_cut c = carom_cut_by_edge(a->p[0], a->p[1], b->p[0], b->p[1], axis);
        at = carom_cut_round(&c);
    }
    carom_intersection_add(r, at, at);
}

CAROM_ITEM bool carom_on_one_line(const carom_simplex *a, const carom_simplex *b) {
    return carom_orient_axis(a->p[0], a->p[1], b->p[0]) < 0 &&
           carom_orient_axis(a->p[0], a->p[1], b->p[1]) < 0;
}

CAROM_ITEM void
carom_intersect_segments_on_line(const carom_simplex *a, const carom_simplex *b,
                                 carom_intersection *r) { /* their ends are in order */
    carom_vec3 low = carom_vec_compare(a->p[0], b->p[0]) > 0 ? a->p[0] : b->p[0];
    carom_vec3 high = carom_vec_compare(a->p[1], b->p[1]) < 0 ? a->p[1] : b->p[1];
    carom_intersection_add(r, low, high);
}

/* ---- In space -------------------------------------------------------------------------------- */

/* Where the edge from the pivot to corner `to` meets the other's plane. */
CAROM_RARE_ITEM carom_vec3 carom_intersect_leaves(const carom_vec3 *corners, const int *sides,
                                                  int pivot, int to, const carom_vec3 *plane) {
    if (sides[pivot] == 0) return corners[pivot];
    if (sides[to] == 0) return corners[to];
    carom_cut c = carom_cut_by_plane(corners[pivot], corners[to], plane);
    return carom_cut_round(&c);
}

/* As carom_meet_in_space, which says why the orientation of two edges orders their cuts. */
CAROM_RARE_ITEM void carom_intersect_triangles_in_space(const carom_simplex *ta,
                                                        const carom_simplex *tb,
                                                        carom_intersection *r) {
    const carom_vec3 *a = ta->p, *b = tb->p;
    int sa[3], sb[3], side_a, side_b;
    for (int i = 0; i < 3; ++i) {
        sa[i] = carom_orient3d(b[0], b[1], b[2], a[i]);
        sb[i] = carom_orient3d(a[0], a[1], a[2], b[i]);
    }
    int ia = carom_pivot(sa, &side_a), ib = carom_pivot(sb, &side_b);
    int ja = ia == 2 ? 0 : ia + 1, ka = 3 - ia - ja;
    int jb = ib == 2 ? 0 : ib + 1, kb = 3 - ib - jb;
    int low_a = side_a > 0 ? ka : ja, high_a = side_a > 0 ? ja : ka;
    int low_b = side_b > 0 ? jb : kb, high_b = side_b > 0 ? kb : jb;
    if (sa[ia] == 0 || sb[ib] == 0) {
        carom_vec3 at = sa[ia] == 0 ? a[ia] : b[ib];
        carom_intersection_add(r, at, at);
        return;
    }
    int turn = side_a * side_b;
    bool a_starts = turn * carom_orient3d(a[ia], a[low_a], b[ib], b[low_b]) <= 0;
    bool a_ends = turn * carom_orient3d(a[ia], a[high_a], b[ib], b[high_b]) >= 0;
    carom_vec3 start = a_starts ? carom_intersect_leaves(a, sa, ia, low_a, b)
                                : carom_intersect_leaves(b, sb, ib, low_b, a);
    carom_vec3 end = r->dimension == 0 ? start
                     : a_ends          ? carom_intersect_leaves(a, sa, ia, high_a, b)
                                       : carom_intersect_leaves(b, sb, ib, high_b, a);
    carom_intersection_add(r, start, end);
}

CAROM_RARE_ITEM void carom_intersect_segment_in_space(const carom_simplex *triangle,
                                                      const carom_simplex *segment,
                                                      carom_intersection *r) {
    const carom_vec3 *t = triangle->p, *p = segment->p;
    carom_vec3 at = p[0];
    if (carom_orient3d(t[0], t[1], t[2], p[0]) != 0) {
        at = p[1];
        if (carom_orient3d(t[0], t[1], t[2], p[1]) != 0) {
            carom_cut c = carom_cut_by_plane(p[0], p[1], t);
            at = carom_cut_round(&c);
        }
    }
    carom_intersection_add(r, at, at);
}

/* ---- Any two --------------------------------------------------------------------------------- */

/* Whether the next function may be called on a GPU (carom_ratio_fits). */
CAROM_ITEM bool carom_intersection_fits(const carom_triangle *a, const carom_triangle *b) {
    double x[18];
    for (int i = 0; i < 3; ++i) {
        carom_vec_store(a->corner[i], x + 3 * i);
        carom_vec_store(b->corner[i], x + 9 + 3 * i);
    }
    return carom_ratio_fits(x, 18);
}

/* As carom_triangle_intersect; ends past the count are not set. */
CAROM_RARE_ITEM void carom_intersect_triangles(const carom_triangle *a, const carom_triangle *b,
                                               carom_intersection *result) {
    carom_simplex sa = carom_simplex_make(a), sb = carom_simplex_make(b);
    carom_simplex_intersection common = carom_simplex_meet(&sa, &sb);
    const carom_simplex *more = sa.count < sb.count ? &sb : &sa;
    const carom_simplex *less = sa.count < sb.count ? &sa : &sb;
    result->dimension = common.dimension;
    result->interior = common.dimension >= 0 && common.interior != 0;
    result->count = 0;
    if (common.dimension < 0) return;
    if (less->count == 1) {
        carom_intersection_add(result, less->p[0], less->p[0]);
    } else if (more->count == 2) {
        if (carom_on_one_line(more, less))
            carom_intersect_segments_on_line(more, less, result);
        else
            carom_intersect_segments_in_plane(more, less, result);
    } else if (less->count == 2) {
        carom_edge_end low, high;
        if (!common.coplanar) {
            carom_intersect_segment_in_space(more, less, result);
        } else {
            (void)carom_intersection_clip(less->p[0], less->p[1], more, more->axis, &low, &high);
            carom_intersection_add(result, carom_edge_end_round(&low), carom_edge_end_round(&high));
        }
    } else if (common.coplanar) {
        carom_intersect_triangles_in_plane(more, less, result);
    } else {
        carom_intersect_triangles_in_space(more, less, result);
    }
}

#endif
