/* SPDX-License-Identifier: MIT */
/* solid_item.h: the terms that two intersecting faces add to the overlap of their solids.
 *
 * Let w be the winding number of the other solid. A face f contributes integrals of w over f. By
 * Green's theorem each integral is a sum over oriented segments u -> v, of the integral over the
 * triangle c u v, where c is the face's first corner. The segments are:
 *   - The face's edges, weighted by w. Edges through c give nothing. Along the edge from corner 1
 *     to corner 2, w is w(corner 1) plus the changes passed. So each crossing x with change s adds
 *     s times the segment x -> corner 2, and w(corner 1) weights the face as a whole
 *     (solid_spanning_tree.c).
 *   - For each face g of the other solid that intersects f: the segment they share, along n_f x n_g
 *     for f and reversed for g. The inside of the other solid is on its left.
 *
 * The segment's ends are crossings: of an edge of f with g, or of an edge of g with f. Each
 * crossing is found from both faces of its edge. Both compute it from the edge's lower vertex to
 * its higher one, so the results are equal. No connectivity between segments is needed. */
#ifndef CAROM_SRC_SOLID_SOLID_ITEM_H
#define CAROM_SRC_SOLID_SOLID_ITEM_H

#include "base/double_double.h"
#include "geom/triangle_item.h"
#include "solid/solid_error.h"
#include "solid/solid_perturbation.h"

/* The formulas for doubles: carom_solid_plane_make, carom_solid_find_triangle and others. */
#define NAME(x)                carom_solid_##x
#define FUNCTION               CAROM_ITEM
#define NUMBER                 double
#define FLAGS                  int
#define VECTOR                 carom_vec3
#define VECTOR_OF(x, y, z)     carom_vec(x, y, z)
#define VECTOR_NAME(op)        carom_vec_##op
#define MAGNITUDE(x)           fabs(x)
#define MAXIMUM(a, b)          CAROM_MAX(a, b)
#define ROOT(x)                sqrt(x)
#define SELECT(flags, yes, no) ((flags) ? (yes) : (no))
#define KEEP(flags, x)         ((flags) ? (x) : 0.0)
#include "solid/solid_formulas.h"

/* A face with posed corners. */
typedef struct carom_solid_face {
    carom_vec3 p[3];
    uint32_t v[3];
    uint32_t index;
    uint32_t represents; /* tree edges it represents (solid.h), and whether it is plain */
} carom_solid_face;

/* A bit of `represents`: the winding number of its own solid is 0 on one side and 1 on the other,
 * all over the face. Where such faces of two solids cross, each solid is partly inside of the
 * other. */
#define CAROM_SOLID_PLAIN_FACE 8u

CAROM_ITEM int carom_solid_both_plain(const carom_solid_face *a, const carom_solid_face *b) {
    return (a->represents & b->represents & CAROM_SOLID_PLAIN_FACE) != 0;
}

/* The positions of a face's corners relative to the plane of another face. */
typedef struct carom_solid_sides {
    double value[3]; /* the determinants: rounded, or exact where rounding left the sign
                        undecided */
    double error[3]; /* upper bounds of their rounding errors */
    int sign[3];     /* exact, perturbed; 0 when the other face has no area */
} carom_solid_sides;

/* The intersection of an edge with a face. */
typedef struct carom_solid_crossing {
    carom_vec3 x; /* relative to the origin of the sums */
    double edge;  /* the sum of the edge's extents along the axes */
    double lever; /* upper bound of the 1-norm of the cross product of the edge and any of its
                     points */
    double slide; /* upper bound of the error of x along its edge, without the rounding of x
                     itself */
    double off;   /* and of its distance from the plane, times the normal's length (a
                     determinant) */
    int of_b;     /* the edge is one of b's */
    int side;     /* it runs from this corner of its face to the next */
    int change;   /* of the other solid's winding number along the side */
} carom_solid_crossing;

/* The intersection of two faces: a segment. */
typedef struct carom_solid_intersection_segment {
    int count; /* crossings: 2, ordered along n_a x n_b, or none */
    carom_solid_crossing ends[2];
    int degenerate; /* some determinant was zero */
    int undecided;  /* doubles did not decide some sign */
} carom_solid_intersection_segment;

/* ---- Orientation ----------------------------------------------------------------------------- */

/* The value and sign of a determinant that doubles could not decide. */
CAROM_RARE_ITEM void carom_solid_side_exact(const carom_vec3 *face, carom_vec3 p, int moved_sign,
                                            double *value, int *sign, int *degenerate) {
    double x[12], sum[192];
    int on_plane = 0;
    *sign = carom_perturbed_side(face, p, moved_sign, &on_plane);
    if (on_plane) {
        *degenerate = 1;
        *value = 0.0;
        return;
    }
    for (int i = 0; i < 3; ++i) carom_vec_store(face[i], x + 3 * i);
    carom_vec_store(p, x + 9);
    if (carom_orient_in_range(x, 12)) {
        int n = carom_orient3d_expansion(x, sum);
        *value = 0.0;
        for (int i = 0; i < n; ++i) *value += sum[i];
    } else if (!(*value * *sign > 0.0)) {
        *value = 0.0;
    }
}

/* A determinant in double-double. */
CAROM_RARE_ITEM carom_dd carom_solid_value_fine(const carom_vec3 *face, carom_vec3 p) {
    double x[4][3];
    carom_dd u[3], v[3], w[3], sum = carom_dd_make(0.0, 0.0);
    for (int i = 0; i < 3; ++i) carom_vec_store(face[i], x[i]);
    carom_vec_store(p, x[3]);
    for (int k = 0; k < 3; ++k) {
        u[k] = carom_dd_diff(x[1][k], x[0][k]);
        v[k] = carom_dd_diff(x[2][k], x[0][k]);
        w[k] = carom_dd_diff(x[3][k], x[0][k]);
    }
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        carom_dd minor = carom_dd_sub(carom_dd_multiply(u[i], v[j]), carom_dd_multiply(u[j], v[i]));
        sum = carom_dd_add(sum, carom_dd_multiply(minor, w[k]));
    }
    return sum;
}

/* The determinant of a corner that a crossing depends on, with relative error 2^-32 at most, and an
 * upper bound `off` of its error. The choice of precision must depend on the face and the point
 * alone, not on the triangle whose corner the point is. Then a crossing is the same from both faces
 * of its edge. */
CAROM_ITEM double carom_solid_value(const carom_vec3 *face, const carom_vec3 *p,
                                    const carom_solid_sides *sides, int i, double *off) {
    double size = fabs(sides->value[i]), error = sides->error[i];
    if (carom_solid_value_suffices(size, error)) {
        *off = error;
        return sides->value[i];
    }
    *off = CAROM_SOLID_EXPANSION_ERROR * size;
    if (!(size > error)) return sides->value[i];
    *off += CAROM_SOLID_DD_ERROR * error;
    return carom_solid_value_fine(face, p[i]).high;
}

/* Tests the corners p of one face against the plane of another. Returns whether all are certainly
 * on one side. Uncertain signs are 0. */
CAROM_ITEM int carom_solid_find_values(const carom_vec3 *face, const carom_solid_plane *plane,
                                       const carom_vec3 *p, carom_solid_sides *sides) {
    int above = 0, below = 0;
    for (int i = 0; i < 3; ++i) {
        double error, value = carom_solid_plane_value(plane, face[0], p[i], &error);
        sides->value[i] = value;
        sides->error[i] = error;
        sides->sign[i] = (value > error) - (value < -error);
        above += value > error;
        below += value < -error;
    }
    return above == 3 || below == 3;
}

/* Decides the signs that are still 0. */
CAROM_ITEM void carom_solid_find_signs(const carom_vec3 *face, const carom_vec3 *p, int moved_sign,
                                       carom_solid_sides *sides, int *degenerate, int *undecided) {
    for (int i = 0; i < 3; ++i) {
        if (sides->sign[i] != 0) continue;
        *undecided = 1;
        carom_solid_side_exact(face, p[i], moved_sign, &sides->value[i], &sides->sign[i],
                               degenerate);
    }
}

/* ---- Crossings ------------------------------------------------------------------------------- */

/* from + t (to - from), relative to the origin, rounded once. */
CAROM_RARE_ITEM carom_vec3 carom_solid_point_fine(carom_vec3 from, carom_vec3 to, carom_dd t,
                                                  carom_vec3 origin) {
    double a[3], b[3], o[3], x[3];
    carom_vec_store(from, a);
    carom_vec_store(to, b);
    carom_vec_store(origin, o);
    for (int k = 0; k < 3; ++k) {
        carom_dd direction = carom_dd_multiply(t, carom_dd_diff(b[k], a[k]));
        x[k] = carom_dd_add(carom_dd_diff(a[k], o[k]), direction).high;
    }
    return carom_vec(x[0], x[1], x[2]);
}

/* The parameter t at which the line through two points crosses the plane, from their distances to
 * it, in double-double. Used for edges much longer than the overlap. */
CAROM_RARE_ITEM carom_dd carom_solid_share_fine(const carom_vec3 *face, const carom_vec3 *p,
                                                const carom_solid_sides *sides, int from, int to) {
    carom_dd d[2];
    for (int k = 0; k < 2; ++k) {
        int i = k == 0 ? from : to;
        if (fabs(sides->value[i]) > sides->error[i])
            d[k] = carom_solid_value_fine(face, p[i]);
        else
            d[k] = carom_dd_make(sides->value[i], 0.0); /* exact already */
    }
    carom_dd whole = carom_dd_sub(d[0], d[1]);
    return whole.high != 0.0 ? carom_dd_divide(d[0], whole) : carom_dd_make(0.0, 0.0);
}

/* What all pairs of faces of a query have in common. */
typedef struct carom_solid_params {
    carom_vec3 origin;
    double long_edge; /* edges with a larger extent are much longer than the overlap */
    int moved_sign;   /* 1: b is perturbed by (e, e^2, e^3); -1: by the opposite */
    /* Per solid: triangles with a larger extent are large (solid_pair_item.h); an upper bound of
     * the rounding of posed corners along each axis, in units of CAROM_SOLID_TERM_ERROR; and
     * whether the triangles that no face meets come from prefix sums. */
    double large[2], rounded[2];
    int summed[2];
} carom_solid_params;

/* The point where the side from corner i to corner j crosses the plane, with the same bits for both
 * faces of the edge, and its error bounds. */
CAROM_ITEM void carom_solid_crossing_locate(const carom_solid_face *f,
                                            const carom_solid_sides *sides,
                                            const carom_solid_face *g, int i, int j,
                                            const carom_solid_params *params,
                                            carom_solid_crossing *c) {
    int low = f->v[i] < f->v[j] ? i : j, high = i + j - low;
    double off_low, off_high;
    double d_low = carom_solid_value(g->p, f->p, sides, low, &off_low);
    double d_high = carom_solid_value(g->p, f->p, sides, high, &off_high);
    int from = fabs(d_low) <= fabs(d_high) ? low : high, to = i + j - from;
    carom_vec3 direction = carom_vec_sub(f->p[to], f->p[from]);
    double d = from == low ? d_low : d_high, whole = from == low ? d_low - d_high : d_high - d_low;
    double t = whole != 0.0 ? d / whole : 0.0;
    CAROM_ASSERT(!(t < 0.0) && !(t > 0.5)); /* opposite sides, from the nearer one */
    double off = from == low ? off_low : off_high, off_to = from == low ? off_high : off_low;
    double length = carom_solid_norm(direction);
    if (carom_solid_most(direction) > params->long_edge) {
        c->x = carom_solid_point_fine(f->p[from], f->p[to],
                                      carom_solid_share_fine(g->p, f->p, sides, from, to),
                                      params->origin);
        off = CAROM_SOLID_DD_ERROR * sides->error[from];
        off_to = CAROM_SOLID_DD_ERROR * sides->error[to];
        c->edge = carom_solid_norm(c->x) + CAROM_SOLID_DD_EDGE * length;
    } else {
        c->x = carom_solid_crossing_point(f->p[from], direction, t, params->origin);
        c->edge = length;
    }
    c->lever = carom_solid_crossing_lever(direction, c->x, length);
    c->off = carom_solid_crossing_off(off, off_to, t);
    c->slide = whole != 0.0 ? carom_solid_crossing_slide(length, c->off, whole) : length;
}

/* The crossing of the edge from the lone corner `lone` to corner `other`. */
CAROM_ITEM carom_solid_crossing carom_solid_crossing_make(const carom_solid_face *f,
                                                          const carom_solid_sides *sides,
                                                          const carom_solid_face *g, int of_b,
                                                          int lone, int other,
                                                          const carom_solid_params *params) {
    carom_solid_crossing c;
    c.of_b = of_b;
    c.side = other == (lone == 2 ? 0 : lone + 1) ? lone : other;
    c.change = sides->sign[c.side]; /* from outside, the side of the normal, to inside: +1 */
    carom_solid_crossing_locate(f, sides, g, lone, other, params, &c);
    return c;
}

CAROM_ITEM int carom_solid_lone(const int *s) {
    return s[1] == s[2] ? 0 : s[0] == s[2] ? 1 : 2;
}

CAROM_ITEM int carom_solid_one_side(const int *s) {
    return s[0] == s[1] && s[1] == s[2];
}

/* Finds the segment shared by two faces with area, b perturbed. See triangle_filter.h for the order
 * of the four points on the common line of both planes. */
CAROM_ITEM void carom_solid_meet(const carom_solid_face *a, const carom_solid_sides *sides_a,
                                 const carom_solid_face *b, const carom_solid_sides *sides_b,
                                 const carom_solid_params *params,
                                 carom_solid_intersection_segment *m) {
    int ia = carom_solid_lone(sides_a->sign), ib = carom_solid_lone(sides_b->sign);
    int ja = ia == 2 ? 0 : ia + 1, ka = 3 - ia - ja;
    int jb = ib == 2 ? 0 : ib + 1, kb = 3 - ib - jb;
    int up_a = sides_a->sign[ia] > 0, up_b = sides_b->sign[ib] > 0, turn = up_a == up_b ? 1 : -1;
    int low_a = up_a ? ka : ja, high_a = up_a ? ja : ka;
    int low_b = up_b ? jb : kb, high_b = up_b ? kb : jb;
#define BEFORE(x, y)                                                                               \
    (turn * carom_perturbed_orient(a->p[ia], a->p[x], b->p[ib], b->p[y], params->moved_sign,       \
                                   &m->degenerate) >                                               \
     0)
    if (!BEFORE(low_a, high_b) || BEFORE(high_a, low_b)) return;
    m->ends[0] = BEFORE(low_a, low_b)
                     ? carom_solid_crossing_make(b, sides_b, a, 1, ib, low_b, params)
                     : carom_solid_crossing_make(a, sides_a, b, 0, ia, low_a, params);
    m->ends[1] = BEFORE(high_a, high_b)
                     ? carom_solid_crossing_make(a, sides_a, b, 0, ia, high_a, params)
                     : carom_solid_crossing_make(b, sides_b, a, 1, ib, high_b, params);
#undef BEFORE
    m->count = 2;
}

/* Tests whether the side from corner j of f crosses g; f may have no area. moved_sign is 1 when g
 * is perturbed, -1 when f is. Returns the change of g's winding number along the side, or 0. */
CAROM_RARE_ITEM int carom_solid_side_crosses(const carom_solid_face *f, int j,
                                             const carom_solid_face *g, int moved_sign) {
    carom_vec3 p = f->p[j], q = f->p[j == 2 ? 0 : j + 1];
    int degenerate = 0, sign[3];
    int from = carom_perturbed_side(g->p, p, -moved_sign, &degenerate);
    if (from == 0 || carom_perturbed_side(g->p, q, -moved_sign, &degenerate) == from) return 0;
    for (int i = 0; i < 3; ++i)
        sign[i] = carom_perturbed_orient(p, q, g->p[i], g->p[i == 2 ? 0 : i + 1], moved_sign,
                                         &degenerate);
    return carom_solid_one_side(sign) ? from : 0;
}

/* ---- Terms ----------------------------------------------------------------------------------- */

/* Adds `weight` times the terms of the triangle c u v of a face with the unit normal n. */
CAROM_ITEM void carom_solid_add_triangle(double *terms, carom_vec3 n, carom_vec3 c, carom_vec3 u,
                                         carom_vec3 v, double weight, int of_b,
                                         const carom_solid_doubt *doubt) {
    double found[CAROM_SOLID_SLOTS];
    carom_solid_find_triangle(found, n, c, u, v, 0.5 * weight, fabs(weight), of_b, doubt);
    carom_solid_add_found(terms, found, 1, of_b);
}

/* The unit vector of a normal; zero stays zero. */
CAROM_ITEM carom_vec3 carom_solid_unit(carom_vec3 normal) {
    double length = carom_vec_length(normal);
    return carom_vec_scale(normal, length > 0.0 ? 1.0 / length : 0.0);
}

/* A normal in double-double. */
CAROM_RARE_ITEM carom_vec3 carom_solid_normal_fine(const carom_vec3 *face) {
    double x[3][3], n[3];
    carom_dd u[3], v[3];
    for (int i = 0; i < 3; ++i) carom_vec_store(face[i], x[i]);
    for (int k = 0; k < 3; ++k) {
        u[k] = carom_dd_diff(x[1][k], x[0][k]);
        v[k] = carom_dd_diff(x[2][k], x[0][k]);
    }
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        n[k] = carom_dd_sub(carom_dd_multiply(u[i], v[j]), carom_dd_multiply(u[j], v[i])).high;
    }
    return carom_vec(n[0], n[1], n[2]);
}

/* The unit normal of a face, and 1 over the normal's length, infinite where double-double is not
 * enough. The plane's normal is that in double-double where doubles are not enough. */
CAROM_ITEM carom_vec3 carom_solid_direction(const carom_vec3 *face, carom_solid_plane *plane,
                                            double *inverse) {
    if (!carom_solid_plane_inverse(plane, inverse)) {
        plane->normal = carom_solid_normal_fine(face);
        double length = carom_vec_length(plane->normal);
        *inverse = 1.0 / length;
        if (!(carom_solid_norm(plane->size) < CAROM_SOLID_NORMAL_RATIO_DD * length)) {
            *inverse = HUGE_VAL;
            return carom_vec(0.0, 0.0, 0.0);
        }
    }
    return carom_vec_scale(plane->normal, *inverse);
}

/* ---- Large faces ----------------------------------------------------------------------------- */

/* The terms of a face much larger than the overlap are large, and digits are lost when they cancel.
 * So its triangles are spanned from c, the point of its plane nearest to the origin, and each edge
 * is cut at e, its point nearest to the origin. Whatever lies beyond is then added and subtracted
 * with the same bits. */
typedef struct carom_solid_anchors {
    carom_vec3 c, e[3], p[3]; /* relative to the origin; e[j] on the side from corner j */
} carom_solid_anchors;

/* The largest extent along an axis. */
CAROM_ITEM double carom_solid_extent(const carom_vec3 *p) {
    double x = carom_extent_of_six(p[0].x, p[1].x, p[2].x, p[0].x, p[1].x, p[2].x);
    double y = carom_extent_of_six(p[0].y, p[1].y, p[2].y, p[0].y, p[1].y, p[2].y);
    double z = carom_extent_of_six(p[0].z, p[1].z, p[2].z, p[0].z, p[1].z, p[2].z);
    double xy = CAROM_MAX(x, y);
    return CAROM_MAX(xy, z);
}

CAROM_RARE_ITEM carom_solid_anchors carom_solid_anchors_make(const carom_solid_face *f,
                                                             carom_vec3 normal, carom_vec3 origin) {
    carom_solid_anchors a;
    double height = -carom_solid_value_fine(f->p, origin).high / carom_vec_dot(normal, normal);
    for (int j = 0; j < 3; ++j) a.p[j] = carom_vec_sub(f->p[j], origin);
    for (int j = 0; j < 3; ++j) {
        int k = j == 2 ? 0 : j + 1, low = f->v[j] < f->v[k] ? j : k, high = j + k - low;
        carom_vec3 direction = carom_vec_sub(f->p[high], f->p[low]);
        double t = -carom_vec_dot(a.p[low], direction) / carom_vec_dot(direction, direction);
        t = t > 0.0 ? t : 0.0;
        t = t < 1.0 ? t : 1.0;
        a.e[j] = carom_solid_point_fine(f->p[low], f->p[high], carom_dd_make(t, 0.0), origin);
    }
    a.c = carom_vec_scale(normal, height);
    return a;
}

/* The uncertainty of an intersection's crossings, without their distance from a face's plane. */
CAROM_ITEM carom_solid_doubt carom_solid_doubt_of(const carom_solid_intersection_segment *m) {
    carom_solid_doubt doubt;
    doubt.edges = m->ends[0].edge + m->ends[1].edge;
    doubt.slide = carom_solid_slide_units(m->ends[0].slide + m->ends[1].slide);
    doubt.off = 0.0;
    return doubt;
}

/* That distance, which only crossings of the other solid's edges have; `inverse` is 1 over the
 * length of the normal. */
CAROM_ITEM double carom_solid_off_plane(const carom_solid_intersection_segment *m, int of_b,
                                        double inverse) {
    double off = (m->ends[0].of_b == of_b ? 0.0 : m->ends[0].off) +
                 (m->ends[1].of_b == of_b ? 0.0 : m->ends[1].off);
    return carom_solid_off_units(off, inverse);
}

/* Adds the terms of a face with the unit normal n from an intersection. */
CAROM_ITEM void carom_solid_add_segment(double *terms, const carom_solid_face *f, carom_vec3 n,
                                        const carom_solid_intersection_segment *m, int of_b,
                                        carom_vec3 origin, const carom_solid_doubt *doubt) {
    carom_vec3 c = carom_vec_sub(f->p[0], origin);
    carom_solid_add_triangle(terms, n, c, m->ends[of_b].x, m->ends[1 - of_b].x, 1.0, of_b, doubt);
    for (int i = 0; i < 2; ++i)
        if (m->ends[i].of_b == of_b && m->ends[i].side == 1)
            carom_solid_add_triangle(terms, n, c, m->ends[i].x, carom_vec_sub(f->p[2], origin),
                                     (double)m->ends[i].change, of_b, doubt);
}

#endif
