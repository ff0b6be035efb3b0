/* SPDX-License-Identifier: MIT */
/* triangle_oracle.h: how two triangles lie to each other, by separating axes in integers; the
 * oracle of src/geom. It shares neither code nor method with it: no planes' common line, no
 * intervals, no filters.
 *
 * For convex hulls A and B of points, let S be the span of all differences a - b. The facets of
 * A - B inside S are normal to one of few axes: with dim S = 3, cross products of two edges (of one
 * or of both); with 2, edges turned by a right angle in the plane; with 1, the line itself. If an
 * axis separates strictly the hulls are disjoint. If one separates weakly (and is not constant on
 * both) then A and B meet if and only if their faces on the common supporting plane do: the problem
 * is smaller. If none does, the relative interiors meet, and the intersection has the dimension
 * dim A + dim B - dim S.
 *
 * Include it with BIG_WORDS (64-bit words) and BIG(name) defined; several sizes may live in one
 * file. Axes have degree 3 and their products with points degree 4 in the coordinates: words for
 * 4 (bits + 2) bits are enough. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "carom/geom.h"

#ifndef CAROM_TESTS_BIGINT_DOUBLE_WORD
#define CAROM_TESTS_BIGINT_DOUBLE_WORD
__extension__ typedef unsigned __int128 bigint_double_word;
#endif

#include "tests/support/bigint.h"

typedef struct BIG(vec) {
    BIG(int) x[3];
} BIG(vec);

typedef struct BIG(hull) {
    BIG(vec) p[3];
    int count;
} BIG(hull);

static inline BIG(vec) BIG(vec_sub)(const BIG(vec) * a, const BIG(vec) * b) {
    BIG(vec) c;
    for (int k = 0; k < 3; ++k) c.x[k] = BIG(sub)(a->x[k], b->x[k]);
    return c;
}

static inline BIG(vec) BIG(vec_cross)(const BIG(vec) * a, const BIG(vec) * b) {
    BIG(vec) c;
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        c.x[k] = BIG(sub)(BIG(mul)(a->x[i], b->x[j]), BIG(mul)(a->x[j], b->x[i]));
    }
    return c;
}

static inline BIG(int) BIG(vec_dot)(const BIG(vec) * a, const BIG(vec) * b) {
    BIG(int) sum = BIG(mul)(a->x[0], b->x[0]);
    sum = BIG(add)(sum, BIG(mul)(a->x[1], b->x[1]));
    return BIG(add)(sum, BIG(mul)(a->x[2], b->x[2]));
}

static inline int BIG(vec_is_zero)(const BIG(vec) * a) {
    return BIG(sign)(a->x[0]) == 0 && BIG(sign)(a->x[1]) == 0 && BIG(sign)(a->x[2]) == 0;
}

/* Dimension of the span; *normal is set when it is 2, *line when it is 1. */
static inline int BIG(rank)(const BIG(vec) * v, int count, BIG(vec) * normal, BIG(vec) * line) {
    int first = 0;
    while (first < count && BIG(vec_is_zero)(&v[first])) ++first;
    if (first == count) return 0;
    *line = v[first];
    int second = first + 1;
    for (; second < count; ++second) {
        *normal = BIG(vec_cross)(line, &v[second]);
        if (!BIG(vec_is_zero)(normal)) break;
    }
    if (second >= count) return 1;
    for (int i = second + 1; i < count; ++i)
        if (BIG(sign)(BIG(vec_dot)(normal, &v[i])) != 0) return 3;
    return 2;
}

static inline int BIG(hull_dimension)(const BIG(hull) * a) {
    BIG(vec) edges[2], normal, line;
    for (int i = 1; i < a->count; ++i) edges[i - 1] = BIG(vec_sub)(&a->p[i], &a->p[0]);
    return BIG(rank)(edges, a->count - 1, &normal, &line);
}

typedef enum BIG(side) { BIG(APART), BIG(SUPPORTS), BIG(NEITHER) } BIG(side);

/* Tries one axis; when it supports both, *fa and *fb are the faces on the common plane. */
static inline BIG(side) BIG(try_axis)(const BIG(vec) * axis, const BIG(hull) * a,
                                      const BIG(hull) * b, BIG(hull) * fa, BIG(hull) * fb) {
    BIG(int) va[3], vb[3];
    /* relative to a corner of b, so that numbers stay small */
    for (int i = 0; i < a->count; ++i) {
        BIG(vec) d = BIG(vec_sub)(&a->p[i], &b->p[0]);
        va[i] = BIG(vec_dot)(axis, &d);
    }
    for (int i = 0; i < b->count; ++i) {
        BIG(vec) d = BIG(vec_sub)(&b->p[i], &b->p[0]);
        vb[i] = BIG(vec_dot)(axis, &d);
    }
    int a_low = 0, a_high = 0, b_low = 0, b_high = 0;
    for (int i = 1; i < a->count; ++i) {
        if (BIG(sign)(BIG(sub)(va[i], va[a_low])) < 0) a_low = i;
        if (BIG(sign)(BIG(sub)(va[i], va[a_high])) > 0) a_high = i;
    }
    for (int i = 1; i < b->count; ++i) {
        if (BIG(sign)(BIG(sub)(vb[i], vb[b_low])) < 0) b_low = i;
        if (BIG(sign)(BIG(sub)(vb[i], vb[b_high])) > 0) b_high = i;
    }
    int a_then_b = BIG(sign)(BIG(sub)(vb[b_low], va[a_high]));
    int b_then_a = BIG(sign)(BIG(sub)(va[a_low], vb[b_high]));
    if (a_then_b > 0 || b_then_a > 0) return BIG(APART);
    if ((a_then_b != 0 && b_then_a != 0) || (a_then_b == 0 && b_then_a == 0)) return BIG(NEITHER);
    BIG(int) level = a_then_b == 0 ? va[a_high] : va[a_low];
    fa->count = fb->count = 0;
    for (int i = 0; i < a->count; ++i)
        if (BIG(sign)(BIG(sub)(va[i], level)) == 0) fa->p[fa->count++] = a->p[i];
    for (int i = 0; i < b->count; ++i)
        if (BIG(sign)(BIG(sub)(vb[i], level)) == 0) fb->p[fb->count++] = b->p[i];
    return BIG(SUPPORTS);
}

static inline int BIG(collect_axes)(const BIG(hull) * a, const BIG(hull) * b, int rank,
                                    const BIG(vec) * normal, const BIG(vec) * line,
                                    BIG(vec) * axes) {
    BIG(vec) ea[3], eb[3];
    int count = 0, na = a->count == 3 ? 3 : a->count - 1, nb = b->count == 3 ? 3 : b->count - 1;
    for (int i = 0; i < na; ++i) ea[i] = BIG(vec_sub)(&a->p[(i + 1) % 3], &a->p[i]);
    for (int i = 0; i < nb; ++i) eb[i] = BIG(vec_sub)(&b->p[(i + 1) % 3], &b->p[i]);
    if (rank == 1) axes[count++] = *line;
    for (int i = 0; i < na && rank == 2; ++i) axes[count++] = BIG(vec_cross)(normal, &ea[i]);
    for (int i = 0; i < nb && rank == 2; ++i) axes[count++] = BIG(vec_cross)(normal, &eb[i]);
    if (rank == 3) {
        if (na == 3) axes[count++] = BIG(vec_cross)(&ea[0], &ea[1]);
        if (nb == 3) axes[count++] = BIG(vec_cross)(&eb[0], &eb[1]);
        for (int i = 0; i < na; ++i)
            for (int j = 0; j < nb; ++j) axes[count++] = BIG(vec_cross)(&ea[i], &eb[j]);
    }
    return count;
}

/* Dimension of the intersection, -1 when there is none; *interior says whether the relative
 * interiors meet, *span is dim S. */
static inline int BIG(hulls_meet)(const BIG(hull) * a, const BIG(hull) * b, int *interior,
                                  int *span) {
    BIG(vec) v[6], normal, line, axes[11];
    BIG(hull) fa, fb, least_a, least_b;
    int count = 0, supported = 0;
    for (int i = 0; i < a->count; ++i) v[count++] = BIG(vec_sub)(&a->p[i], &b->p[0]);
    for (int j = 1; j < b->count; ++j) v[count++] = BIG(vec_sub)(&b->p[j], &b->p[0]);
    int rank = BIG(rank)(v, count, &normal, &line);
    *span = rank;
    *interior = 0;
    count = BIG(collect_axes)(a, b, rank, &normal, &line, axes);
    for (int i = 0; i < count; ++i) {
        if (BIG(vec_is_zero)(&axes[i])) continue;
        BIG(side) side = BIG(try_axis)(&axes[i], a, b, &fa, &fb);
        if (side == BIG(APART)) return -1;
        if (side == BIG(SUPPORTS)) supported = 1, least_a = fa, least_b = fb;
    }
    if (supported) {
        int inner_interior, inner_span;
        return BIG(hulls_meet)(&least_a, &least_b, &inner_interior, &inner_span);
    }
    *interior = 1;
    return BIG(hull_dimension)(a) + BIG(hull_dimension)(b) - rank;
}

static inline BIG(hull) BIG(hull_of)(const carom_triangle *t, int base) {
    BIG(hull) h;
    h.count = 3;
    for (int i = 0; i < 3; ++i) {
        h.p[i].x[0] = BIG(from_double)(t->corner[i].x, base);
        h.p[i].x[1] = BIG(from_double)(t->corner[i].y, base);
        h.p[i].x[2] = BIG(from_double)(t->corner[i].z, base);
    }
    return h;
}

/* Everything carom_triangles_relate says. All coordinates must be multiples of 2^base. */
static inline carom_triangle_intersection BIG(oracle)(const carom_triangle *a,
                                                      const carom_triangle *b, int base) {
    BIG(hull) ha = BIG(hull_of)(a, base), hb = BIG(hull_of)(b, base);
    carom_triangle_intersection r;
    int interior, span;
    r.dimension = BIG(hulls_meet)(&ha, &hb, &interior, &span);
    r.dimension_a = BIG(hull_dimension)(&ha);
    r.dimension_b = BIG(hull_dimension)(&hb);
    r.coplanar = span < 3;
    r.relation = r.dimension < 0 ? CAROM_TRIANGLE_RELATION_DISJOINT
                 : !interior     ? CAROM_TRIANGLE_RELATION_TOUCHING
                 : span < 3      ? CAROM_TRIANGLE_RELATION_COPLANAR_OVERLAP
                                 : CAROM_TRIANGLE_RELATION_CROSSING;
    return r;
}

/* Exact sign of the orientation of four points. */
static inline int BIG(oracle_orient3d)(const carom_vec3 *p, int base) {
    carom_triangle t = {{p[0], p[1], p[2]}}, u = {{p[3], p[3], p[3]}};
    BIG(hull) h = BIG(hull_of)(&t, base), q = BIG(hull_of)(&u, base);
    BIG(vec) e = BIG(vec_sub)(&h.p[1], &h.p[0]), f = BIG(vec_sub)(&h.p[2], &h.p[0]);
    BIG(vec) n = BIG(vec_cross)(&e, &f), d = BIG(vec_sub)(&q.p[0], &h.p[0]);
    return BIG(sign)(BIG(vec_dot)(&n, &d));
}
