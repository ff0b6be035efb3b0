/* SPDX-License-Identifier: MIT */
/* distance_item.h: closest points of points, segments and triangles of any shape.
 *
 * The nearest pair of two triangles is a pair of points on edges, or a corner and its foot on the
 * other face, or a point where an edge pierces a face. Each such candidate is computed from
 * parameters clamped to the triangle. So it always is a pair of points of the two triangles, its
 * distance is an upper bound, and the smallest is taken. No region is chosen by a sign that
 * rounding could reverse.
 *
 * The parameters may be inaccurate. They are chosen so that this hardly changes the distance:
 *   - Two lines: s = (w x v).(u x v) / |u x v|^2, then t by projection. With sin(angle) = q, s is
 *     off by eps d / q^2 at distance d, which moves the points apart by eps d / q; or s is clamped,
 *     which costs at most q. In both cases the distance grows by no more than about eps.
 *   - A foot on a face: along the longest edge u, and across it along h, the part of the other edge
 *     at right angles to u. The height is computed first, then the position along u for that
 *     height: the foot on a needle can then only be wrong across the needle, with the same bound as
 *     above.
 *
 * Barycentric coordinates from dot products, the usual method, lose half of the digits on needles.
 *
 * Coordinates are relative to the first point given and, beyond 2^+-100, scaled by a power of two.
 */
#ifndef CAROM_SRC_GEOM_DISTANCE_ITEM_H
#define CAROM_SRC_GEOM_DISTANCE_ITEM_H

#include "geom/length.h"

/* Sizes beyond which coordinates are scaled: the fourth powers of lengths that are computed here
 * stay in the range of a double, with room for CAROM_NEAR_ZERO. */
#define CAROM_NEAR_LEAST_SIZE   0x1p-100
#define CAROM_NEAR_LARGEST_SIZE 0x1p100
/* Squared lengths below this are zero: 2^-350 of the scale, or less. */
#define CAROM_NEAR_ZERO 0x1p-900

/* Lengths that rounding accounts for, relative to the size, a sum of the magnitudes of 9 or 18
 * coordinates: from a point where an edge pierces a face to its foot on the face, and from the
 * width of the slab between two closest points to their distance. Both are part of the error of a
 * distance, 1e-15 of the spread. */
#define CAROM_NEAR_MEET_ERROR 0x1p-53
#define CAROM_NEAR_SLAB_ERROR 0x1p-54
/* Error of a height above a plane times the length of its normal, relative to the cube of the size:
 * 8 roundings of 2^-53 of a sum of products that is at most 2/9 of it; more than twice that. */
#define CAROM_NEAR_HEIGHT_ERROR 0x1p-51

/* ---- Local coordinates ----------------------------------------------------------------------- */

typedef struct carom_near_view {
    carom_vec3 origin;
    double up;   /* local lengths times this are true lengths */
    double size; /* sum of all local coordinates' magnitudes */
} carom_near_view;

/* For sizes whose squares could leave the range of a double, or that are NaN. */
CAROM_ITEM bool carom_near_rescale(carom_vec3 *p, int count, carom_near_view *view) {
    double largest = 0.0, spread = 0.0;
    for (int i = 0; i < count; ++i) {
        if (!carom_vec_finite(p[i])) return false;
        double size = carom_vec_largest(p[i]);
        double apart = carom_vec_largest(carom_vec_sub(p[i], p[0]));
        largest = CAROM_MAX(size, largest);
        spread = CAROM_MAX(apart, spread);
    }
    /* Large coordinates shrink before they are subtracted, small differences grow afterwards. */
    int e = carom_exponent(spread < 1.0 ? spread : largest);
    double before = e > 0 ? carom_power_of_two(-e) : 1.0;
    double after = e < 0 ? carom_power_of_two(-e) : 1.0;
    carom_vec3 origin = carom_vec_scale(p[0], before);
    view->up = carom_power_of_two(e);
    view->size = 0.0;
    for (int i = 0; i < count; ++i) {
        p[i] = carom_vec_scale(carom_vec_sub(carom_vec_scale(p[i], before), origin), after);
        view->size += (fabs(p[i].x) + fabs(p[i].y)) + fabs(p[i].z);
    }
    return true;
}

/* Turns points into local ones; false when a coordinate is NaN or infinite. */
CAROM_ITEM bool carom_near_localise(carom_vec3 *p, int count, carom_near_view *view) {
    carom_vec3 local[6];
    double size = 0.0;
    view->origin = p[0];
    view->up = 1.0;
    for (int i = 0; i < count; ++i) {
        local[i] = carom_vec_sub(p[i], p[0]);
        size += (fabs(local[i].x) + fabs(local[i].y)) + fabs(local[i].z);
    }
    view->size = size;
    if (!((size > CAROM_NEAR_LEAST_SIZE && size < CAROM_NEAR_LARGEST_SIZE) || size == 0.0))
        return carom_near_rescale(p, count, view);
    for (int i = 0; i < count; ++i) p[i] = local[i];
    return true;
}

/* From the local closest points to the result. */
CAROM_ITEM void carom_near_finish(const carom_near_view *view, carom_closest *best) {
    best->a = carom_vec_add(carom_vec_scale(best->a, view->up), view->origin);
    best->b = carom_vec_add(carom_vec_scale(best->b, view->up), view->origin);
    best->distance = sqrt(best->squared) * view->up;
    best->squared = best->squared * view->up * view->up;
}

/* False, with a NaN in every field, when a coordinate is not finite. */
CAROM_ITEM bool carom_near_begin(carom_vec3 *p, int count, carom_near_view *view,
                                 carom_closest *best) {
    bool good = carom_near_localise(p, count, view);
    double start = good ? DBL_MAX : (double)NAN;
    best->a = best->b = carom_vec(start, start, start);
    best->distance = best->squared = start;
    return good;
}

/* Says whether the pair is closer than the best so far, and keeps it then. */
CAROM_ITEM bool carom_near_offer(carom_closest *best, carom_vec3 a, carom_vec3 b) {
    carom_vec3 apart = carom_vec_sub(b, a);
    double squared = carom_vec_dot(apart, apart);
    if (!(squared < best->squared)) return false;
    best->a = a;
    best->b = b;
    best->squared = squared;
    return true;
}

CAROM_ITEM double carom_near_clamp(double t) {
    return t > 0.0 ? (t < 1.0 ? t : 1.0) : 0.0;
}

CAROM_ITEM double carom_near_inverse(double squared) {
    return squared > CAROM_NEAR_ZERO ? 1.0 / squared : 0.0;
}

CAROM_ITEM carom_vec3 carom_near_along(carom_vec3 p, carom_vec3 u, double t) {
    return carom_vec_add(p, carom_vec_scale(u, t));
}

/* ---- Edges ----------------------------------------------------------------------------------- */

typedef struct carom_near_edge {
    carom_vec3 p, u;
    double inverse; /* 1 / u.u, 0 for a point */
} carom_near_edge;

CAROM_ITEM carom_near_edge carom_near_edge_of(carom_vec3 p, carom_vec3 q) {
    carom_near_edge edge;
    edge.p = p;
    edge.u = carom_vec_sub(q, p);
    edge.inverse = carom_near_inverse(carom_vec_dot(edge.u, edge.u));
    return edge;
}

CAROM_ITEM double carom_near_parameter(const carom_near_edge *e, carom_vec3 p) {
    return carom_vec_dot(carom_vec_sub(p, e->p), e->u) * e->inverse;
}

CAROM_ITEM carom_vec3 carom_near_on_edge(const carom_near_edge *e, carom_vec3 p) {
    return carom_near_along(e->p, e->u, carom_near_clamp(carom_near_parameter(e, p)));
}

CAROM_ITEM bool carom_near_edges(const carom_near_edge *e, const carom_near_edge *f,
                                 carom_closest *best) {
    carom_vec3 n = carom_vec_cross(e->u, f->u);
    double nn = carom_vec_dot(n, n), s;
    if (nn > CAROM_NEAR_ZERO)
        s = carom_vec_dot(carom_vec_cross(carom_vec_sub(f->p, e->p), f->u), n) / nn;
    else
        s = carom_near_parameter(e, f->p); /* parallel, or a point */
    carom_vec3 a = carom_near_along(e->p, e->u, carom_near_clamp(s));
    double t = carom_near_parameter(f, a);
    carom_vec3 b = carom_near_along(f->p, f->u, carom_near_clamp(t));
    if (!(t >= 0.0 && t <= 1.0)) a = carom_near_on_edge(e, b);
    return carom_near_offer(best, a, b);
}

/* ---- Faces ----------------------------------------------------------------------------------- */

typedef struct carom_near_face {
    carom_vec3 a;    /* an end of the longest edge, the one nearer to the apex */
    carom_vec3 u, v; /* from there along the longest edge, and to the apex */
    carom_vec3 h, n; /* the part of v at right angles to u; u x h */
    double along, across;
} carom_near_face;

CAROM_ITEM carom_near_face carom_near_face_of(const carom_vec3 *p) {
    double l[3]; /* squared edges, each by its first corner */
    for (int i = 0; i < 3; ++i) {
        carom_vec3 e = carom_vec_sub(p[i == 2 ? 0 : i + 1], p[i]);
        l[i] = carom_vec_dot(e, e);
    }
    /* By index, because these branches cannot be predicted. */
    int from = l[1] > l[0] ? 1 : 0;
    from = l[2] > l[from] ? 2 : from;
    int to = from == 2 ? 0 : from + 1, apex = 3 - from - to;
    int near_end = l[apex] <= l[to] ? from : to;
    carom_near_face face;
    face.a = p[near_end];
    face.u = carom_vec_sub(p[from + to - near_end], face.a);
    face.v = carom_vec_sub(p[apex], face.a);
    face.along = carom_near_inverse(l[from]);
    face.h = face.v;
    for (int i = 0; i < 2; ++i) /* twice is enough, even for needles */
        face.h = carom_near_along(face.h, face.u, -carom_vec_dot(face.h, face.u) * face.along);
    face.n = carom_vec_cross(face.u, face.h);
    face.across = carom_near_inverse(carom_vec_dot(face.h, face.h));
    return face;
}

/* The foot of p, when it lies inside the face. */
CAROM_ITEM bool carom_near_foot(const carom_near_face *face, carom_vec3 p, carom_vec3 *foot) {
    carom_vec3 w = carom_vec_sub(p, face->a);
    double t = carom_vec_dot(w, face->h) * face->across;
    if (!(t > 0.0 && t < 1.0)) return false;
    double s = carom_vec_dot(carom_vec_sub(w, carom_vec_scale(face->v, t)), face->u) * face->along;
    if (!(s > 0.0 && s < 1.0 - t)) return false;
    *foot = carom_near_along(carom_near_along(face->a, face->v, t), face->u, s);
    return true;
}

/* Where the segment from p to q passes through the plane, if that is inside the face: the point on
 * the segment and the nearest one on the face. */
CAROM_ITEM bool carom_near_pierce(const carom_near_face *face, carom_vec3 p, carom_vec3 q,
                                  carom_vec3 *on_edge, carom_vec3 *on_face) {
    double hp = carom_vec_dot(carom_vec_sub(p, face->a), face->n);
    double hq = carom_vec_dot(carom_vec_sub(q, face->a), face->n);
    if (!((hp < 0.0 && hq > 0.0) || (hp > 0.0 && hq < 0.0))) return false;
    *on_edge = carom_near_along(p, carom_vec_sub(q, p), hp / (hp - hq));
    return carom_near_foot(face, *on_edge, on_face);
}

/* A piercing point that lies in the face up to rounding is common to both. */
CAROM_ITEM bool carom_near_meet(carom_closest *best, carom_vec3 a, carom_vec3 b, double size) {
    double slack = size * CAROM_NEAR_MEET_ERROR;
    if (!carom_near_offer(best, a, b) || !(best->squared <= slack * slack)) return false;
    best->b = best->a;
    best->squared = 0.0;
    return true;
}

/* Width of the slab between two triangles perpendicular to `direction`, times the length of
 * `direction`. */
CAROM_ITEM double carom_near_gap(const carom_vec3 *a, const carom_vec3 *b, carom_vec3 direction) {
    double a0 = carom_vec_dot(direction, a[0]), b0 = carom_vec_dot(direction, b[0]);
    double a1 = carom_vec_dot(direction, a[1]), b1 = carom_vec_dot(direction, b[1]);
    double a2 = carom_vec_dot(direction, a[2]), b2 = carom_vec_dot(direction, b[2]);
    double last_a = CAROM_MAX(a0, a1), first_b = CAROM_MIN(b0, b1);
    last_a = CAROM_MAX(last_a, a2);
    first_b = CAROM_MIN(first_b, b2);
    return first_b - last_a;
}

/* Says whether the slab between the closest points separates all points of `a` from all of `b`, up
 * to rounding: then no other pair can be closer. */
CAROM_ITEM bool carom_near_certain(const carom_closest *best, const carom_vec3 *a,
                                   const carom_vec3 *b, double size) {
    double gap = carom_near_gap(a, b, carom_vec_sub(best->b, best->a));
    double lack = best->squared - gap, slack = size * CAROM_NEAR_SLAB_ERROR;
    return lack <= 0.0 || lack * lack <= slack * slack * best->squared;
}

/* ---- Distance functions ---------------------------------------------------------------------- */
/* In each function best->a lies on the first shape, best->b on the second; NaN or infinite
 * coordinates make every field NaN. */

CAROM_ITEM void carom_near_point_segment(carom_vec3 point, const carom_vec3 *segment,
                                         carom_closest *best) {
    carom_vec3 p[3];
    carom_near_view view;
    p[0] = point;
    p[1] = segment[0];
    p[2] = segment[1];
    if (!carom_near_begin(p, 3, &view, best)) return;
    carom_near_edge edge = carom_near_edge_of(p[1], p[2]);
    carom_near_offer(best, p[0], carom_near_on_edge(&edge, p[0]));
    carom_near_finish(&view, best);
}

CAROM_ITEM void carom_near_segments(const carom_vec3 *a, const carom_vec3 *b, carom_closest *best) {
    carom_vec3 p[4];
    carom_near_view view;
    for (int i = 0; i < 2; ++i) {
        p[i] = a[i];
        p[2 + i] = b[i];
    }
    if (!carom_near_begin(p, 4, &view, best)) return;
    carom_near_edge e = carom_near_edge_of(p[0], p[1]), f = carom_near_edge_of(p[2], p[3]);
    carom_near_edges(&e, &f, best);
    carom_near_finish(&view, best);
}

CAROM_ITEM void carom_near_point_triangle(carom_vec3 point, const carom_vec3 *triangle,
                                          carom_closest *best) {
    carom_vec3 p[4], foot;
    carom_near_view view;
    p[0] = point;
    for (int i = 0; i < 3; ++i) p[1 + i] = triangle[i];
    if (!carom_near_begin(p, 4, &view, best)) return;
    for (int i = 0; i < 3; ++i) {
        carom_near_edge edge = carom_near_edge_of(p[1 + i], p[1 + (i + 1) % 3]);
        carom_near_offer(best, p[0], carom_near_on_edge(&edge, p[0]));
    }
    carom_vec3 thrice[3];
    thrice[0] = thrice[1] = thrice[2] = p[0];
    if (!carom_near_certain(best, thrice, p + 1, view.size)) {
        carom_near_face face = carom_near_face_of(p + 1);
        if (carom_near_foot(&face, p[0], &foot)) carom_near_offer(best, p[0], foot);
    }
    carom_near_finish(&view, best);
}

/* Local; the segment's end is given twice. */
CAROM_ITEM void carom_near_local_segment_triangle(const carom_vec3 *a, const carom_vec3 *b,
                                                  double size, carom_closest *best) {
    carom_vec3 foot, through;
    carom_near_edge e = carom_near_edge_of(a[0], a[1]);
    for (int i = 0; i < 3; ++i) {
        carom_near_edge f = carom_near_edge_of(b[i], b[(i + 1) % 3]);
        if (carom_near_edges(&e, &f, best) && carom_near_certain(best, a, b, size)) return;
    }
    carom_near_face face = carom_near_face_of(b);
    if (carom_near_pierce(&face, a[0], a[1], &through, &foot) &&
        carom_near_meet(best, through, foot, size))
        return;
    for (int k = 0; k < 2; ++k)
        if (carom_near_foot(&face, a[k], &foot)) carom_near_offer(best, a[k], foot);
}

CAROM_ITEM void carom_near_segment_triangle(const carom_vec3 *segment, const carom_vec3 *triangle,
                                            carom_closest *best) {
    carom_vec3 p[6];
    carom_near_view view;
    for (int i = 0; i < 3; ++i) {
        p[i] = segment[i == 2 ? 1 : i];
        p[3 + i] = triangle[i];
    }
    if (!carom_near_begin(p, 6, &view, best)) return;
    carom_near_local_segment_triangle(p, p + 3, view.size, best);
    carom_near_finish(&view, best);
}

/* Says whether b certainly lies on one side of a's plane. The normal of a needle is inaccurate, so
 * the result must exceed its error. */
CAROM_ITEM bool carom_near_aside(const carom_vec3 *a, const carom_vec3 *b, double size) {
    carom_vec3 n = carom_vec_cross(carom_vec_sub(a[1], a[0]), carom_vec_sub(a[2], a[0]));
    double noise = size * size * size * CAROM_NEAR_HEIGHT_ERROR, at = carom_vec_dot(n, a[0]);
    double h0 = carom_vec_dot(n, b[0]) - at, h1 = carom_vec_dot(n, b[1]) - at;
    double h2 = carom_vec_dot(n, b[2]) - at;
    return (h0 > noise && h1 > noise && h2 > noise) || (h0 < -noise && h1 < -noise && h2 < -noise);
}

/* The corner least far along the direction: the edge opposite to it is the best candidate. */
CAROM_ITEM int carom_near_backmost(const carom_vec3 *p, carom_vec3 direction) {
    double d0 = carom_vec_dot(p[0], direction), d1 = carom_vec_dot(p[1], direction);
    double d2 = carom_vec_dot(p[2], direction);
    int least = d1 < d0 ? 1 : 0;
    return d2 < (least == 1 ? d1 : d0) ? 2 : least;
}

/* Local triangles; true when the result is certain before all candidates were tested. */
CAROM_ITEM bool carom_near_edge_pairs(const carom_vec3 *a, const carom_vec3 *b, double size,
                                      carom_closest *best) {
    carom_near_edge ea[3], eb[3];
    carom_vec3 apart = carom_vec_sub(carom_vec_add(carom_vec_add(b[0], b[1]), b[2]),
                                     carom_vec_add(carom_vec_add(a[0], a[1]), a[2]));
    int first_a = carom_near_backmost(a, apart) + 1;
    int first_b = carom_near_backmost(b, carom_vec_scale(apart, -1.0)) + 1;
    for (int i = 0; i < 3; ++i) {
        ea[i] = carom_near_edge_of(a[(first_a + i) % 3], a[(first_a + i + 1) % 3]);
        eb[i] = carom_near_edge_of(b[(first_b + i) % 3], b[(first_b + i + 1) % 3]);
    }
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            if (carom_near_edges(&ea[i], &eb[k], best) && carom_near_certain(best, a, b, size))
                return true;
    return false;
}

CAROM_ITEM void carom_near_local_triangles(const carom_vec3 *a, const carom_vec3 *b, double size,
                                           carom_closest *best) {
    carom_vec3 foot, through;
    bool may_cross = !carom_near_aside(a, b, size) && !carom_near_aside(b, a, size);
    if (!may_cross && carom_near_edge_pairs(a, b, size, best)) return;
    carom_near_face face_a = carom_near_face_of(a), face_b = carom_near_face_of(b);
    if (may_cross) {
        for (int i = 0; i < 3; ++i) {
            if (carom_near_pierce(&face_b, a[i], a[(i + 1) % 3], &through, &foot) &&
                carom_near_meet(best, through, foot, size))
                return;
            if (carom_near_pierce(&face_a, b[i], b[(i + 1) % 3], &through, &foot) &&
                carom_near_meet(best, foot, through, size))
                return;
        }
        if (carom_near_edge_pairs(a, b, size, best)) return;
    }
    for (int i = 0; i < 3; ++i) {
        if (carom_near_foot(&face_b, a[i], &foot)) carom_near_offer(best, a[i], foot);
        if (carom_near_foot(&face_a, b[i], &foot)) carom_near_offer(best, foot, b[i]);
    }
}

CAROM_ITEM void carom_near_triangles(const carom_vec3 *a, const carom_vec3 *b,
                                     carom_closest *best) {
    carom_vec3 p[6];
    carom_near_view view;
    for (int i = 0; i < 3; ++i) {
        p[i] = a[i];
        p[3 + i] = b[i];
    }
    if (!carom_near_begin(p, 6, &view, best)) return;
    carom_near_local_triangles(p, p + 3, view.size, best);
    carom_near_finish(&view, best);
}

#endif
