/* SPDX-License-Identifier: MIT */
/* convex_simplex_item.h: the point of a simplex nearest to the origin, as items.
 *
 * Two solvers of one question. The fast one visits, in doubles, the Voronoi regions that contain
 * the newest point (Ericson, Real-Time Collision Detection, 2005; van den Bergen 1999, theorem 2:
 * the newest point is part of the answer). The careful one takes the best of all 15 faces in
 * double-double; it serves where the first makes no progress any more, and as its oracle.
 *
 * Invariant: the weights of the result are not negative and add up to 1, so that the point lies in
 * the simplex whatever the rounding. */
#ifndef CAROM_SRC_CONVEX_SIMPLEX_ITEM_H
#define CAROM_SRC_CONVEX_SIMPLEX_ITEM_H

#include "base/double_double.h"
#include "geom/vec.h"

/* Inlined into the loops: a call costs as much as a small hull's search. */
#ifdef CAROM_ISA_SUFFIX
#define CAROM_CONVEX_HOT __attribute__((always_inline)) static inline
#else
#define CAROM_CONVEX_HOT CAROM_ITEM
#endif

/* Kept out of the loops on the GPU, where each kernel would hold a copy. */
#ifdef __CUDACC__
#define CAROM_CONVEX_COLD static __host__ __device__ __noinline__ __attribute__((unused))
#else
#define CAROM_CONVEX_COLD CAROM_ITEM
#endif

/* A point of the difference of two shapes, w = a - b, all in the frame of a. */
typedef struct carom_convex_vertex {
    carom_vec3 w, a, b;
} carom_convex_vertex;

typedef struct carom_gjk_simplex {
    carom_convex_vertex p[4]; /* the newest last */
    double weight[4];
    carom_vec3 v; /* the point nearest to the origin */
    int count;
    uint32_t vertex_a[4], vertex_b[4]; /* of hulls: which vertices the points are */
} carom_gjk_simplex;

/* Sines below this between the edges of a face, and heights below it over the face relative to the
 * edges, leave signs in doubles uncertain. */
#define CAROM_SIMPLEX_LEAST_SINE 1e-7

/* ---- Doubles --------------------------------------------------------------------------------- */

/* The nearest point of a face of a simplex: which vertices, with which weights. The weights are
 * those of the simplex's vertices, whichever it uses: then all is in registers where the face is
 * known. */
typedef struct carom_gjk_simplex_face {
    carom_vec3 v;
    double square; /* of its distance */
    double low;    /* what the square lacks, where it was computed carefully */
    double weight[4];
    int used;  /* a bit for each vertex */
    int count; /* of them; 4: the origin is inside the tetrahedron */
} carom_gjk_simplex_face;

CAROM_CONVEX_HOT carom_gjk_simplex_face carom_gjk_simplex_point(const carom_gjk_simplex *s, int i) {
    carom_gjk_simplex_face f;
    f.v = s->p[i].w;
    f.square = carom_vec_dot(f.v, f.v);
    f.low = 0.0;
    f.weight[0] = f.weight[1] = f.weight[2] = f.weight[3] = 1.0;
    f.used = 1 << i;
    f.count = 1;
    return f;
}

CAROM_CONVEX_HOT carom_gjk_simplex_face carom_gjk_simplex_edge(const carom_gjk_simplex *s, int i,
                                                               int j) {
    carom_vec3 a = s->p[i].w, e = carom_vec_sub(s->p[j].w, a);
    double along = -carom_vec_dot(a, e), length = carom_vec_dot(e, e);
    if (!(along > 0.0)) return carom_gjk_simplex_point(s, i);
    if (!(along < length)) return carom_gjk_simplex_point(s, j);
    carom_gjk_simplex_face f;
    double t = along / length;
    f.v = carom_vec_add(a, carom_vec_scale(e, t));
    f.square = carom_vec_dot(f.v, f.v);
    f.low = 0.0;
    f.weight[0] = f.weight[1] = f.weight[2] = f.weight[3] = t;
    f.weight[i] = 1.0 - t;
    f.used = 1 << i | 1 << j;
    f.count = 2;
    return f;
}

/* The triangle i, j, k, of which i is the newest: the region of the edge jk is left out. The point
 * in the interior is computed from the normal, whose direction keeps its accuracy when the plane
 * passes close to the origin. */
CAROM_CONVEX_HOT carom_gjk_simplex_face carom_gjk_simplex_triangle(const carom_gjk_simplex *s,
                                                                   int i, int j, int k) {
    carom_vec3 a = s->p[i].w;
    carom_vec3 ab = carom_vec_sub(s->p[j].w, a), ac = carom_vec_sub(s->p[k].w, a);
    carom_vec3 n = carom_vec_cross(ab, ac);
    double square = carom_vec_dot(n, n);
    double wc = carom_vec_dot(carom_vec_cross(a, ab), n);
    double wb = carom_vec_dot(carom_vec_cross(ac, a), n);
    if (wb > 0.0 && wc > 0.0 && square > 0.0) {
        double weight_b = wb / square, weight_c = wc / square;
        double weight_a = 1.0 - weight_b - weight_c;
        if (weight_a >= 0.0) {
            carom_gjk_simplex_face f;
            double height = carom_vec_dot(n, a);
            f.v = carom_vec_scale(n, height / square);
            f.square = height * height / square;
            f.low = 0.0;
            f.weight[0] = f.weight[1] = f.weight[2] = f.weight[3] = weight_a;
            f.weight[j] = weight_b, f.weight[k] = weight_c;
            f.used = 1 << i | 1 << j | 1 << k;
            f.count = 3;
            return f;
        }
    }
    carom_gjk_simplex_face first = carom_gjk_simplex_edge(s, i, j),
                           second = carom_gjk_simplex_edge(s, i, k);
    return second.square < first.square ? second : first;
}

/* Reduces the simplex to a face of it. Every vertex is moved, used or not: which are used is not to
 * be predicted. */
CAROM_CONVEX_HOT void carom_gjk_simplex_keep(carom_gjk_simplex *s,
                                             const carom_gjk_simplex_face *f) {
    int count = 0;
    for (int i = 0; i < s->count; ++i) {
        s->p[count] = s->p[i];
        s->weight[count] = f->weight[i];
        s->vertex_a[count] = s->vertex_a[i];
        s->vertex_b[count] = s->vertex_b[i];
        count += f->used >> i & 1;
    }
    CAROM_ASSERT(count == f->count && count >= 1);
    s->count = count;
    s->v = f->v;
}

/* Products of edges l (squared) and of the origin, which is no farther from a corner than the
 * longest edge when it is inside, are off by less than this part of the edge's cube. */
#define CAROM_SIMPLEX_ROUNDING 0x1p-47

/* Whether weights that add up to 1 are positive whatever their rounding. They are quotients by the
 * volume: in a thin tetrahedron their signs are uncertain where they are small. */
CAROM_CONVEX_HOT int carom_gjk_simplex_surely_inside(const double *weight, double volume, double l0,
                                                     double l1, double l2) {
    double l = CAROM_MAX(l0, CAROM_MAX(l1, l2));
    double least =
        CAROM_MIN(CAROM_MIN(weight[0], weight[1]), CAROM_MIN(weight[2], weight[3])) * volume;
    return weight[3] >= 0.0 &&
           least * least > CAROM_SIMPLEX_ROUNDING * CAROM_SIMPLEX_ROUNDING * l * l * l;
}

/* A tetrahedron, the newest point last. */
CAROM_CONVEX_HOT carom_gjk_simplex_face carom_gjk_simplex_tetrahedron(const carom_gjk_simplex *s) {
    carom_gjk_simplex_face best, f;
    carom_vec3 a = s->p[3].w;
    carom_vec3 e0 = carom_vec_sub(s->p[0].w, a), e1 = carom_vec_sub(s->p[1].w, a);
    carom_vec3 e2 = carom_vec_sub(s->p[2].w, a);
    carom_vec3 n01 = carom_vec_cross(e0, e1), n12 = carom_vec_cross(e1, e2);
    carom_vec3 n20 = carom_vec_cross(e2, e0);
    double volume = carom_vec_dot(n01, e2);
    double l0 = carom_vec_dot(e0, e0), l1 = carom_vec_dot(e1, e1), l2 = carom_vec_dot(e2, e2);
    int flat =
        volume * volume <= CAROM_SIMPLEX_LEAST_SINE * CAROM_SIMPLEX_LEAST_SINE * l0 * l1 * l2;
    double s01 = -carom_vec_dot(n01, a), s12 = -carom_vec_dot(n12, a);
    double s20 = -carom_vec_dot(n20, a);
    if (volume < 0.0) s01 = -s01, s12 = -s12, s20 = -s20;
    /* A face is visited when the origin is not on the inner side of its plane. */
    int see01 = flat || !(s01 > 0.0), see12 = flat || !(s12 > 0.0), see20 = flat || !(s20 > 0.0);
    if (!see01 && !see12 && !see20) {
        double total = fabs(volume);
        best.weight[0] = s12 / total;
        best.weight[1] = s20 / total;
        best.weight[2] = s01 / total;
        best.weight[3] = 1.0 - (best.weight[0] + best.weight[1] + best.weight[2]);
        best.v = carom_vec(0.0, 0.0, 0.0);
        best.square = 0.0;
        best.low = 0.0;
        best.used = 15;
        best.count = 4;
        if (carom_gjk_simplex_surely_inside(best.weight, volume, l0, l1, l2)) return best;
        see01 = see12 = see20 = 1;
    }
    best = carom_gjk_simplex_point(s, 3);
    best.square = HUGE_VAL;
    if (see01) best = carom_gjk_simplex_triangle(s, 3, 0, 1);
    if (see12) {
        f = carom_gjk_simplex_triangle(s, 3, 1, 2);
        if (f.square < best.square) best = f;
    }
    if (see20) {
        f = carom_gjk_simplex_triangle(s, 3, 2, 0);
        if (f.square < best.square) best = f;
    }
    return best;
}

/* The face that holds the point nearest to the origin. */
CAROM_CONVEX_HOT carom_gjk_simplex_face carom_gjk_simplex_solve(const carom_gjk_simplex *s) {
    if (s->count == 1) return carom_gjk_simplex_point(s, 0);
    if (s->count == 2) return carom_gjk_simplex_edge(s, 1, 0);
    if (s->count == 3) return carom_gjk_simplex_triangle(s, 2, 1, 0);
    return carom_gjk_simplex_tetrahedron(s);
}

/* The same for any simplex, of which no point is known to be part of the answer. */
CAROM_CONVEX_COLD carom_gjk_simplex_face carom_gjk_simplex_solve_any(const carom_gjk_simplex *s) {
    carom_gjk_simplex_face best = carom_gjk_simplex_solve(s), f;
    if (best.count == s->count || s->count < 3) return best;
    f = s->count == 3 ? carom_gjk_simplex_edge(s, 0, 1) : carom_gjk_simplex_triangle(s, 0, 1, 2);
    if (f.square < best.square) best = f;
    if (s->count == 3) return best;
    for (int i = 0; i < 3; ++i) { /* what the faces with point 3 left out */
        f = carom_gjk_simplex_triangle(s, i, (i + 1) % 3, 3);
        if (f.square < best.square) best = f;
    }
    f = carom_gjk_simplex_edge(s, 1, 2);
    return f.square < best.square ? f : best;
}

/* ---- Double-double --------------------------------------------------------------------------- */

typedef struct carom_dd3 {
    carom_dd x, y, z;
} carom_dd3;

CAROM_ITEM carom_dd3 carom_dd3_diff(carom_vec3 a, carom_vec3 b) {
    carom_dd3 d;
    d.x = carom_dd_diff(a.x, b.x);
    d.y = carom_dd_diff(a.y, b.y);
    d.z = carom_dd_diff(a.z, b.z);
    return d;
}

CAROM_ITEM carom_dd carom_dd3_dot(carom_dd3 a, carom_dd3 b) {
    return carom_dd_add(carom_dd_add(carom_dd_multiply(a.x, b.x), carom_dd_multiply(a.y, b.y)),
                        carom_dd_multiply(a.z, b.z));
}

CAROM_ITEM carom_dd3 carom_dd3_cross(carom_dd3 a, carom_dd3 b) {
    carom_dd3 c;
    c.x = carom_dd_sub(carom_dd_multiply(a.y, b.z), carom_dd_multiply(a.z, b.y));
    c.y = carom_dd_sub(carom_dd_multiply(a.z, b.x), carom_dd_multiply(a.x, b.z));
    c.z = carom_dd_sub(carom_dd_multiply(a.x, b.y), carom_dd_multiply(a.y, b.x));
    return c;
}

CAROM_ITEM carom_dd3 carom_dd3_add_scaled(carom_dd3 a, carom_dd3 b, carom_dd s) {
    a.x = carom_dd_add(a.x, carom_dd_multiply(b.x, s));
    a.y = carom_dd_add(a.y, carom_dd_multiply(b.y, s));
    a.z = carom_dd_add(a.z, carom_dd_multiply(b.z, s));
    return a;
}

/* The point of the affine hull of up to four points nearest to the origin: weights[1..] of the
 * others, and the point itself. Returns 0 when it lies outside the simplex or the points are not
 * independent. */
CAROM_ITEM int carom_gjk_simplex_project(const carom_vec3 *p, int count, carom_dd *weights,
                                         carom_dd3 *v) {
    carom_dd3 e[3], start = carom_dd3_diff(p[0], carom_vec(0.0, 0.0, 0.0));
    carom_dd g[3][3], right[3], sum = carom_dd_make(0.0, 0.0);
    for (int i = 1; i < count; ++i) e[i - 1] = carom_dd3_diff(p[i], p[0]);
    int n = count - 1;
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < n; ++k) g[i][k] = carom_dd3_dot(e[i], e[k]);
        right[i] = carom_dd_negate(carom_dd3_dot(e[i], start));
    }
    /* Gauss without pivoting: the matrix is symmetric and positive. */
    for (int i = 0; i < n; ++i) {
        if (!(g[i][i].high > 0.0)) return 0;
        for (int k = i + 1; k < n; ++k) {
            carom_dd factor = carom_dd_divide(g[k][i], g[i][i]);
            for (int l = i; l < n; ++l)
                g[k][l] = carom_dd_sub(g[k][l], carom_dd_multiply(factor, g[i][l]));
            right[k] = carom_dd_sub(right[k], carom_dd_multiply(factor, right[i]));
        }
    }
    for (int i = n - 1; i >= 0; --i) {
        carom_dd x = right[i];
        for (int k = i + 1; k < n; ++k)
            x = carom_dd_sub(x, carom_dd_multiply(g[i][k], weights[k + 1]));
        weights[i + 1] = carom_dd_divide(x, g[i][i]);
    }
    for (int i = 1; i < count; ++i) {
        if (!(weights[i].high >= 0.0)) return 0;
        sum = carom_dd_add(sum, weights[i]);
    }
    weights[0] = carom_dd_sub(carom_dd_make(1.0, 0.0), sum);
    if (!(weights[0].high >= 0.0)) return 0;
    *v = start;
    for (int i = 1; i < count; ++i) *v = carom_dd3_add_scaled(*v, e[i - 1], weights[i]);
    return 1;
}

/* As carom_gjk_simplex_solve, by trying every face in double-double. */
CAROM_CONVEX_COLD carom_gjk_simplex_face
carom_gjk_simplex_solve_carefully(const carom_gjk_simplex *s) {
    carom_gjk_simplex_face best = carom_gjk_simplex_point(s, 0);
    best.low = 0.0;
    carom_dd least = carom_dd_make(HUGE_VAL, 0.0);
    for (int set = 1; set < 1 << s->count; ++set) {
        carom_vec3 p[4];
        carom_dd w[4], square = carom_dd_make(0.0, 0.0);
        carom_dd3 v;
        int count = 0, index[4];
        for (int i = 0; i < s->count; ++i) {
            if ((set >> i & 1) == 0) continue;
            index[count] = i;
            p[count++] = s->p[i].w;
        }
        if (!carom_gjk_simplex_project(p, count, w, &v)) continue;
        if (count < 4) square = carom_dd3_dot(v, v);
        if (!(square.high < least.high || (square.high == least.high && square.low < least.low)))
            continue;
        least = square;
        best.count = count;
        best.square = square.high;
        best.low = square.low;
        best.v = count < 4 ? carom_vec(v.x.high, v.y.high, v.z.high) : carom_vec(0.0, 0.0, 0.0);
        best.used = set;
        for (int i = 0; i < count; ++i) best.weight[index[i]] = w[i].high;
    }
    return best;
}

/* The points of the two shapes whose difference is the nearest point. */
CAROM_ITEM void carom_gjk_simplex_witness(const carom_gjk_simplex *s, carom_vec3 *a,
                                          carom_vec3 *b) {
    *a = carom_vec(0.0, 0.0, 0.0);
    *b = *a;
    for (int i = 0; i < s->count; ++i) {
        *a = carom_vec_add(*a, carom_vec_scale(s->p[i].a, s->weight[i]));
        *b = carom_vec_add(*b, carom_vec_scale(s->p[i].b, s->weight[i]));
    }
}

#endif
