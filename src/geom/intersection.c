/* SPDX-License-Identifier: MIT */
/* The common points of two triangles.
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
#include "geom/intersection.h"

#include <math.h>

#include "base/double_double.h"
#include "geom/length.h"
#include "geom/ratio.h"
#include "geom/triangle_item.h"

/* ---- Cuts ------------------------------------------------------------------------------------ */

/* Limits of the largest components of rows and points: products of three are between 2^-600 and
 * 2^600. */
#define CUT_LARGEST 0x1p200
#define CUT_LEAST   0x1p-200
/* Exceed what underflows: in a height, some 2^-1074 times 2^400, and in a point. */
#define CUT_HEIGHT_UNDERFLOW 0x1p-600
#define CUT_POINT_UNDERFLOW  0x1p-1000
/* Of a height, relative to |u| |v| |w|: 32 e. */
#define CUT_HEIGHT_ERROR 0x1p-95
/* Errors in h(p) - h(q) at least: then it is the exact one to 2^-19 of itself. */
#define CUT_RANGE_ERRORS 0x1p20
/* Errors of a height in t, times |h(p) - h(q)|: two, and a quarter of that for the roundings of
 * this bound. */
#define CUT_PARAMETER_ERRORS 2.5
/* Of the quotient t, which is at most 1, and of its product with a difference: 8 e and less; twice
 * that. */
#define CUT_QUOTIENT_ERROR 0x1p-96
/* Of the sum with a coordinate of p, relative to that. */
#define CUT_SUM_ERROR 0x1p-99

/* Where the segment from p to q crosses the plane through f along two rows. */
typedef struct intersection_cut {
    carom_vec3 p, q, f;
    carom_row u, v;
} intersection_cut;

static intersection_cut cut_by_plane(carom_vec3 p, carom_vec3 q, const carom_vec3 *plane) {
    return (intersection_cut){p, q, plane[0], {plane[0], plane[1]}, {plane[0], plane[2]}};
}

static intersection_cut cut_by_edge(carom_vec3 p, carom_vec3 q, carom_vec3 from, carom_vec3 to,
                                    int axis) {
    carom_vec3 zero = carom_vec(0.0, 0.0, 0.0);
    carom_vec3 along =
        carom_vec(axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0);
    return (intersection_cut){p, q, from, {from, to}, {zero, along}};
}

typedef struct dd3 {
    carom_dd x[3];
} dd3;

static dd3 dd_row(carom_vec3 from, carom_vec3 to) {
    return (dd3){
        {carom_dd_diff(to.x, from.x), carom_dd_diff(to.y, from.y), carom_dd_diff(to.z, from.z)}};
}

static double dd_largest(const dd3 *a) {
    double xy = CAROM_MAX(fabs(a->x[0].high), fabs(a->x[1].high));
    return CAROM_MAX(xy, fabs(a->x[2].high));
}

static carom_dd dd_height(const dd3 *n, const dd3 *w) {
    carom_dd sum =
        carom_dd_add(carom_dd_multiply(n->x[0], w->x[0]), carom_dd_multiply(n->x[1], w->x[1]));
    return carom_dd_add(sum, carom_dd_multiply(n->x[2], w->x[2]));
}

/* The double that all numbers within `error` of a round to; false if there is no such. */
static bool round_certainly(carom_dd a, double error, double *to) {
    *to = a.high;
    return a.high + (a.low + error) == a.high && a.high + (a.low - error) == a.high;
}

static bool cut_quickly(const intersection_cut *c, carom_vec3 *at) {
    dd3 u = dd_row(c->u.from, c->u.to), v = dd_row(c->v.from, c->v.to), n;
    dd3 wp = dd_row(c->f, c->p), wq = dd_row(c->f, c->q), way = dd_row(c->p, c->q);
    double size_u = dd_largest(&u), size_v = dd_largest(&v);
    double size_w = CAROM_MAX(dd_largest(&wp), dd_largest(&wq));
    double largest = CAROM_MAX(carom_vec_largest(c->p), carom_vec_largest(c->q));
    double least = CAROM_MIN(CAROM_MIN(size_u, size_v), size_w);
    if (!(least > CUT_LEAST && CAROM_MAX(size_u, size_v) < CUT_LARGEST && size_w < CUT_LARGEST &&
          largest < CUT_LARGEST))
        return false;
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        n.x[k] = carom_dd_sub(carom_dd_multiply(u.x[i], v.x[j]), carom_dd_multiply(u.x[j], v.x[i]));
    }
    carom_dd hp = dd_height(&n, &wp), hq = dd_height(&n, &wq), range = carom_dd_sub(hp, hq);
    double error = CUT_HEIGHT_ERROR * size_u * size_v * size_w + CUT_HEIGHT_UNDERFLOW;
    if (!(fabs(range.high) > CUT_RANGE_ERRORS * error)) return false;
    carom_dd t = carom_dd_divide(hp, range);
    double error_t = CUT_PARAMETER_ERRORS * error / fabs(range.high) + CUT_QUOTIENT_ERROR;
    const double from[3] = {c->p.x, c->p.y, c->p.z};
    double to[3];
    for (int k = 0; k < 3; ++k) {
        carom_dd x = carom_dd_add(carom_dd_of(from[k]), carom_dd_multiply(t, way.x[k]));
        double error_x =
            error_t * fabs(way.x[k].high) + CUT_SUM_ERROR * fabs(from[k]) + CUT_POINT_UNDERFLOW;
        if (!round_certainly(x, error_x, &to[k])) return false;
    }
    *at = carom_vec(to[0], to[1], to[2]);
    return true;
}

static void cut_ratio(const intersection_cut *c, carom_ratio *t) {
    carom_row to_plane = {c->p, c->f}, way = {c->p, c->q};
    carom_ratio_make(&c->u, &c->v, &to_plane, &way, t);
}

static carom_vec3 cut_round(const intersection_cut *c) {
    carom_vec3 at;
    carom_ratio t;
    if (cut_quickly(c, &at)) return at;
    cut_ratio(c, &t);
    return carom_vec(carom_ratio_between(&t, c->p.x, c->q.x),
                     carom_ratio_between(&t, c->p.y, c->q.y),
                     carom_ratio_between(&t, c->p.z, c->q.z));
}

/* ---- Results --------------------------------------------------------------------------------- */

static void intersection_add(carom_intersection *r, carom_vec3 p, carom_vec3 q) {
    r->end[r->count][0] = p;
    r->end[r->count++][1] = q;
}

/* ---- In a plane ------------------------------------------------------------------------------ */

/* An end of a clipped edge: a corner, or a cut. */
typedef struct edge_end {
    carom_ratio t;
    carom_vec3 corner;
    bool is_cut;
    intersection_cut cut;
} edge_end;

static void end_at(edge_end *end, carom_vec3 corner, double t) {
    carom_ratio_of(t, &end->t);
    end->corner = corner;
    end->is_cut = false;
}

static carom_vec3 end_round(const edge_end *end) {
    return end->is_cut ? cut_round(&end->cut) : end->corner;
}

/* Clips the edge from p to q to a triangle in its plane. Returns the dimension of what is left. */
static int intersection_clip(carom_vec3 p, carom_vec3 q, const carom_simplex *triangle, int axis,
                             edge_end *low, edge_end *high) {
    const carom_vec3 *c = triangle->p;
    int turn = carom_orient_along(c[0], c[1], c[2], axis);
    edge_end at;
    end_at(low, p, 0.0);
    end_at(high, q, 1.0);
    for (int i = 0; i < 3; ++i) {
        carom_vec3 from = c[i], to = c[i == 2 ? 0 : i + 1];
        int side_p = turn * carom_orient_along(from, to, p, axis);
        int side_q = turn * carom_orient_along(from, to, q, axis);
        if (side_p < 0 && side_q < 0) return -1;
        if (side_p < 0 && side_q == 0) end_at(low, q, 1.0);
        if (side_p == 0 && side_q < 0) end_at(high, p, 0.0);
        if (side_p * side_q >= 0) continue;
        at.is_cut = true;
        at.cut = cut_by_edge(p, q, from, to, axis);
        cut_ratio(&at.cut, &at.t);
        if (side_p < 0 && carom_ratio_compare(&at.t, &low->t) > 0) *low = at;
        if (side_q < 0 && carom_ratio_compare(&at.t, &high->t) < 0) *high = at;
    }
    int order = carom_ratio_compare(&low->t, &high->t);
    return order > 0 ? -1 : order == 0 ? 0 : 1;
}

/* Whether an edge of the triangle is on the line of p and q. */
static bool has_edge_along(const carom_simplex *triangle, carom_vec3 p, carom_vec3 q, int axis) {
    int on = 0;
    for (int i = 0; i < 3; ++i) on += carom_orient_along(p, q, triangle->p[i], axis) == 0 ? 1 : 0;
    return on >= 2;
}

static void triangles_in_plane(const carom_simplex *a, const carom_simplex *b,
                               carom_intersection *r) {
    edge_end low, high;
    int wanted = r->dimension == 2 ? 1 : r->dimension;
    for (int i = 0; i < 3; ++i) {
        carom_vec3 p = a->p[i], q = a->p[i == 2 ? 0 : i + 1];
        if (intersection_clip(p, q, b, a->axis, &low, &high) < wanted) continue;
        intersection_add(r, end_round(&low), end_round(&high));
        if (r->dimension < 2) return;
    }
    for (int i = 0; i < 3; ++i) {
        carom_vec3 p = b->p[i], q = b->p[i == 2 ? 0 : i + 1];
        if (intersection_clip(p, q, a, a->axis, &low, &high) < 1) continue;
        if (!has_edge_along(a, p, q, a->axis))
            intersection_add(r, end_round(&low), end_round(&high));
    }
}

/* Two segments of one plane that cross or touch. */
static void segments_in_plane(const carom_simplex *a, const carom_simplex *b,
                              carom_intersection *r) {
    int axis = carom_orient_axis(a->p[0], a->p[1], b->p[0]);
    if (axis < 0) axis = carom_orient_axis(a->p[0], a->p[1], b->p[1]);
    int s0 = carom_orient_along(b->p[0], b->p[1], a->p[0], axis);
    int s1 = carom_orient_along(b->p[0], b->p[1], a->p[1], axis);
    carom_vec3 at = s0 == 0 ? a->p[0] : a->p[1];
    if (s0 != 0 && s1 != 0) {
        intersection_cut c = cut_by_edge(a->p[0], a->p[1], b->p[0], b->p[1], axis);
        at = cut_round(&c);
    }
    intersection_add(r, at, at);
}

static bool on_one_line(const carom_simplex *a, const carom_simplex *b) {
    return carom_orient_axis(a->p[0], a->p[1], b->p[0]) < 0 &&
           carom_orient_axis(a->p[0], a->p[1], b->p[1]) < 0;
}

static void segments_on_line(const carom_simplex *a, const carom_simplex *b,
                             carom_intersection *r) { /* their ends are in order */
    carom_vec3 low = carom_vec_compare(a->p[0], b->p[0]) > 0 ? a->p[0] : b->p[0];
    carom_vec3 high = carom_vec_compare(a->p[1], b->p[1]) < 0 ? a->p[1] : b->p[1];
    intersection_add(r, low, high);
}

/* ---- In space -------------------------------------------------------------------------------- */

/* Where the edge from the pivot to corner `to` meets the other's plane. */
static carom_vec3 leaves(const carom_vec3 *corners, const int *sides, int pivot, int to,
                         const carom_vec3 *plane) {
    if (sides[pivot] == 0) return corners[pivot];
    if (sides[to] == 0) return corners[to];
    intersection_cut c = cut_by_plane(corners[pivot], corners[to], plane);
    return cut_round(&c);
}

/* As carom_meet_in_space, which says why the orientation of two edges orders their cuts. */
static void triangles_in_space(const carom_simplex *ta, const carom_simplex *tb,
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
        intersection_add(r, at, at);
        return;
    }
    int turn = side_a * side_b;
    bool a_starts = turn * carom_orient3d(a[ia], a[low_a], b[ib], b[low_b]) <= 0;
    bool a_ends = turn * carom_orient3d(a[ia], a[high_a], b[ib], b[high_b]) >= 0;
    carom_vec3 start = a_starts ? leaves(a, sa, ia, low_a, b) : leaves(b, sb, ib, low_b, a);
    carom_vec3 end = r->dimension == 0 ? start
                     : a_ends          ? leaves(a, sa, ia, high_a, b)
                                       : leaves(b, sb, ib, high_b, a);
    intersection_add(r, start, end);
}

static void segment_in_space(const carom_simplex *triangle, const carom_simplex *segment,
                             carom_intersection *r) {
    const carom_vec3 *t = triangle->p, *p = segment->p;
    carom_vec3 at = p[0];
    if (carom_orient3d(t[0], t[1], t[2], p[0]) != 0) {
        at = p[1];
        if (carom_orient3d(t[0], t[1], t[2], p[1]) != 0) {
            intersection_cut c = cut_by_plane(p[0], p[1], t);
            at = cut_round(&c);
        }
    }
    intersection_add(r, at, at);
}

/* ---- Any two --------------------------------------------------------------------------------- */

void carom_triangle_intersect(const carom_triangle *a, const carom_triangle *b,
                              carom_intersection *result) {
    carom_simplex sa = carom_simplex_make(a), sb = carom_simplex_make(b);
    carom_simplex_intersection common = carom_simplex_meet(&sa, &sb);
    const carom_simplex *more = sa.count < sb.count ? &sb : &sa;
    const carom_simplex *less = sa.count < sb.count ? &sa : &sb;
    *result = (carom_intersection){.dimension = common.dimension,
                                   .interior = common.dimension >= 0 && common.interior != 0};
    if (common.dimension < 0) return;
    if (less->count == 1) {
        intersection_add(result, less->p[0], less->p[0]);
    } else if (more->count == 2) {
        if (on_one_line(more, less))
            segments_on_line(more, less, result);
        else
            segments_in_plane(more, less, result);
    } else if (less->count == 2) {
        edge_end low, high;
        if (!common.coplanar) {
            segment_in_space(more, less, result);
        } else {
            (void)intersection_clip(less->p[0], less->p[1], more, more->axis, &low, &high);
            intersection_add(result, end_round(&low), end_round(&high));
        }
    } else if (common.coplanar) {
        triangles_in_plane(more, less, result);
    } else {
        triangles_in_space(more, less, result);
    }
}
