/* SPDX-License-Identifier: MIT */
/* triangle_box.h: whether a triangle meets a box; false is always right.
 *
 * Two convex bodies are apart when some axis separates their projections; for a triangle and a box
 * 13 axes suffice: the three of the box, the triangle's normal, and the nine cross products of a
 * box axis and an edge (Akenine-Moeller 2001). The box's own axes are compared exactly. On the
 * others "apart" is said only when the gap is larger than what rounding could have made, 2^-48 of
 * the sum of the magnitudes that enter the projections. So:
 *   - they meet (touching included)    => true
 *   - false                            => they do not meet
 *   - true although they do not meet   => the gap is below 2^-48 of that sum on all axes
 *
 * A NaN is taken for any number: it never makes a "no". An empty box meets nothing. */
#ifndef CAROM_SRC_GEOM_TRIANGLE_BOX_H
#define CAROM_SRC_GEOM_TRIANGLE_BOX_H

#include "geom/length.h"

/* Of the magnitudes that enter; and for products that underflow: the normal's may be off by 2^-1074
 * each, times sizes up to 2^100. */
#define CAROM_BOX_SLACK 0x1p-48
#define CAROM_BOX_FLOOR 0x1p-900
/* Sizes above this, or below its inverse, are scaled to about 1: products of three of the others
 * are within 2^-300 and 2^300. */
#define CAROM_BOX_UNSCALED 0x1p100

/* Relative to corner 0, so that the triangle is 0, p, q. Scaled when the sizes require it. */
typedef struct carom_box_view {
    carom_vec3 p, q, low, high;
} carom_box_view;

/* Says whether the projections on `axis` certainly have a gap. */
CAROM_ITEM bool carom_box_apart(const carom_box_view *view, carom_vec3 axis) {
    double p = carom_vec_dot(axis, view->p), q = carom_vec_dot(axis, view->q);
    double first = p < q ? p : q, last = p < q ? q : p;
    if (first > 0.0) first = 0.0;
    if (last < 0.0) last = 0.0;
    double lx = axis.x * view->low.x, hx = axis.x * view->high.x;
    double ly = axis.y * view->low.y, hy = axis.y * view->high.y;
    double lz = axis.z * view->low.z, hz = axis.z * view->high.z;
    double box_first = ((lx < hx ? lx : hx) + (ly < hy ? ly : hy)) + (lz < hz ? lz : hz);
    double box_last = ((lx < hx ? hx : lx) + (ly < hy ? hy : ly)) + (lz < hz ? hz : lz);
    double gap = first - box_last > box_first - last ? first - box_last : box_first - last;
    double sum = (((fabs(lx) + fabs(hx)) + (fabs(ly) + fabs(hy))) + (fabs(lz) + fabs(hz))) +
                 ((fabs(axis.x) * (fabs(view->p.x) + fabs(view->q.x)) +
                   fabs(axis.y) * (fabs(view->p.y) + fabs(view->q.y))) +
                  fabs(axis.z) * (fabs(view->p.z) + fabs(view->q.z)));
    return gap > CAROM_BOX_SLACK * sum + CAROM_BOX_FLOOR;
}

/* The same for the triangle's normal, on which the projection of the triangle is one point. The
 * normal is itself rounded, for needles by more than its own size, so the products it is computed
 * from enter the error bound. */
CAROM_ITEM bool carom_box_apart_from_plane(const carom_box_view *view) {
    carom_vec3 p = view->p, q = view->q, n = carom_vec_cross(p, q);
    double lx = n.x * view->low.x, hx = n.x * view->high.x;
    double ly = n.y * view->low.y, hy = n.y * view->high.y;
    double lz = n.z * view->low.z, hz = n.z * view->high.z;
    double first = ((lx < hx ? lx : hx) + (ly < hy ? ly : hy)) + (lz < hz ? lz : hz);
    double last = ((lx < hx ? hx : lx) + (ly < hy ? hy : ly)) + (lz < hz ? hz : lz);
    double ax = fabs(p.y * q.z) + fabs(p.z * q.y);
    double ay = fabs(p.z * q.x) + fabs(p.x * q.z);
    double az = fabs(p.x * q.y) + fabs(p.y * q.x);
    double sum = (ax * (fabs(view->low.x) + fabs(view->high.x)) +
                  ay * (fabs(view->low.y) + fabs(view->high.y))) +
                 az * (fabs(view->low.z) + fabs(view->high.z));
    double slack = CAROM_BOX_SLACK * sum + CAROM_BOX_FLOOR;
    return first > slack || -last > slack;
}

CAROM_ITEM bool carom_box_apart_along_edge(const carom_box_view *view, carom_vec3 u) {
    return carom_box_apart(view, carom_vec(0.0, -u.z, u.y)) ||
           carom_box_apart(view, carom_vec(u.z, 0.0, -u.x)) ||
           carom_box_apart(view, carom_vec(-u.y, u.x, 0.0));
}

/* One axis of the box, exactly; false for NaN. */
CAROM_ITEM bool carom_box_beside(double a, double b, double c, double low, double high) {
    return (a < low && b < low && c < low) || (a > high && b > high && c > high) || low > high;
}

CAROM_ITEM bool carom_triangle_meets_bounds(const carom_vec3 *t, const carom_bounds *box) {
    if (carom_box_beside(t[0].x, t[1].x, t[2].x, box->low.x, box->high.x) ||
        carom_box_beside(t[0].y, t[1].y, t[2].y, box->low.y, box->high.y) ||
        carom_box_beside(t[0].z, t[1].z, t[2].z, box->low.z, box->high.z))
        return false;
    carom_box_view view;
    view.p = carom_vec_sub(t[1], t[0]);
    view.q = carom_vec_sub(t[2], t[0]);
    view.low = carom_vec_sub(box->low, t[0]);
    view.high = carom_vec_sub(box->high, t[0]);
    double sp = carom_vec_largest(view.p), sq = carom_vec_largest(view.q);
    double sl = carom_vec_largest(view.low), sh = carom_vec_largest(view.high);
    double size = sp > sq ? sp : sq, far = sl > sh ? sl : sh;
    if (far > size) size = far;
    if (!(size <= DBL_MAX)) return true; /* a NaN, or a difference that overflows */
    if (size > CAROM_BOX_UNSCALED || size < 1.0 / CAROM_BOX_UNSCALED) {
        double down = carom_power_of_two(-carom_exponent(size));
        view.p = carom_vec_scale(view.p, down);
        view.q = carom_vec_scale(view.q, down);
        view.low = carom_vec_scale(view.low, down);
        view.high = carom_vec_scale(view.high, down);
    }
    return !carom_box_apart_from_plane(&view) && !carom_box_apart_along_edge(&view, view.p) &&
           !carom_box_apart_along_edge(&view, view.q) &&
           !carom_box_apart_along_edge(&view, carom_vec_sub(view.q, view.p));
}

#endif
