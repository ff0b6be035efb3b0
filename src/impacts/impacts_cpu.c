/* SPDX-License-Identifier: MIT */
/* Filters for pairs of moving triangles with SIMD.
 *
 * Directions first. Points move along lines, so what has a gap along a direction at time 0 and, on
 * the same side, at time 1, has it always. That is much sharper than the boxes around the whole
 * ways: what moves together is compared as if it were at rest. The ten diagonals exclude six of
 * ten that the three axes leave, and nearly all where neighbours are coplanar (Klosowski et al.
 * 1998, k-DOPs). A vector of AVX-512 holds all directions.
 *
 * Then the first stage of toi_item.h, for as many candidates as a vector has lanes: the cubic whose
 * roots are the times of coplanarity has no root where its Bernstein coefficients have one sign,
 * and no contact where a quadratic points against the normal. The time is halved a few times, each
 * lane going on in the half with a root. What is left are mostly impacts.
 *
 * Coordinates may be rounded. A difference of two is then off by d = 2 errors, and each of the six
 * products of a determinant by (X + d)(Y + d)(Z + d) - XYZ, where X, Y, Z bound the differences
 * along each axis; each of the at most six products of a quadratic by (X + d)(Y + d) - XY. The
 * coefficients are means of such determinants. */
#include "impacts/impacts_cpu.h"

#include "base/simd.h"
#include "geom/toi_item.h"

#define PRODUCTS    8.0 /* in a determinant: six, and room for the rounding of their bound */
#define ALL_LANES64 ((1u << CAROM_LANES64) - 1u)
#define LANES_DEPTH 5 /* halvings of the time */
/* Errors of polynomials after LANES_DEPTH splits, in units of the extents: those of toi_item.h. */
#define LANES_CUBIC_ERROR     (CAROM_TOI_CUBIC_ERROR + LANES_DEPTH * CAROM_TOI_CUBIC_SPLIT)
#define LANES_QUADRATIC_ERROR (CAROM_TOI_QUADRATIC_ERROR + LANES_DEPTH * CAROM_TOI_QUADRATIC_SPLIT)

/* ---- Gaps along directions ------------------------------------------------------------------- */

#define ROW_VECTORS (CAROM_IMPACT_ROW / CAROM_LANES)

/* A point at one time, along all directions. */
typedef struct row {
    carom_f32v of[ROW_VECTORS];
} row;

/* A point at time 0 and at time 1. */
typedef struct moving_row {
    row start, end;
} moving_row;

typedef struct moving_box {
    moving_row low, high;
} moving_box;

CAROM_SIMD row row_load(const float *from) {
    row r;
    for (uint32_t i = 0; i < ROW_VECTORS; ++i) r.of[i] = carom_f32v_load(from + i * CAROM_LANES);
    return r;
}

CAROM_SIMD row row_min(row a, row b) {
    for (uint32_t i = 0; i < ROW_VECTORS; ++i) a.of[i] = carom_f32v_min(a.of[i], b.of[i]);
    return a;
}

CAROM_SIMD row row_max(row a, row b) {
    for (uint32_t i = 0; i < ROW_VECTORS; ++i) a.of[i] = carom_f32v_max(a.of[i], b.of[i]);
    return a;
}

CAROM_SIMD moving_box join_points(moving_row a, moving_row b) {
    return (moving_box){{row_min(a.start, b.start), row_min(a.end, b.end)},
                        {row_max(a.start, b.start), row_max(a.end, b.end)}};
}

CAROM_SIMD moving_box join_box(moving_box a, moving_row b) {
    return (moving_box){{row_min(a.low.start, b.start), row_min(a.low.end, b.end)},
                        {row_max(a.high.start, b.start), row_max(a.high.end, b.end)}};
}

/* Whether no direction has a gap, on the same side, at both times. */
CAROM_SIMD bool boxes_may_meet(const moving_box *a, const moving_box *b, const float *gap) {
    carom_f32v_test near = carom_f32v_test_begin();
    for (uint32_t i = 0; i < ROW_VECTORS; ++i) {
        carom_f32v forwards = carom_f32v_min(b->low.start.of[i] - a->high.start.of[i],
                                             b->low.end.of[i] - a->high.end.of[i]);
        carom_f32v backwards = carom_f32v_min(a->low.start.of[i] - b->high.start.of[i],
                                              a->low.end.of[i] - b->high.end.of[i]);
        near = carom_f32v_test_at_most(near, carom_f32v_max(forwards, backwards),
                                       carom_f32v_load(gap + i * CAROM_LANES));
    }
    return carom_f32v_test_lanes(near) == 0xFFFFu >> (16 - CAROM_LANES);
}

CAROM_SIMD moving_row load_point(const carom_impact_point *from, float until) {
    moving_row p = {row_load(from->at[0]), row_load(from->at[1])};
    if (until != 1.0f)
        for (uint32_t i = 0; i < ROW_VECTORS; ++i)
            p.end.of[i] = p.start.of[i] + until * (p.end.of[i] - p.start.of[i]);
    return p;
}

CAROM_SIMD moving_box load_edge(const carom_impact_triangle *t, const carom_impact_point *points,
                                uint32_t edge, float until) {
    return join_points(load_point(&points[t->corner[edge]], until),
                       load_point(&points[t->corner[edge == 2 ? 0 : edge + 1]], until));
}

CAROM_SIMD moving_box load_face(const carom_impact_triangle *t, const carom_impact_point *points,
                                float until) {
    return join_box(load_edge(t, points, 0, until), load_point(&points[t->corner[2]], until));
}

/* ---- What belongs to a pair ------------------------------------------------------------------ */

/* Bits 0, 1, 2 moved to 0, 3, 6. */
static const uint32_t impacts_cpu_spread[8] = {0, 1, 8, 9, 64, 65, 72, 73};

/* From corners to the edges that have them: edge i has corners i and i + 1. */
static const uint32_t edges_of[8] = {0, 5, 3, 7, 6, 7, 7, 7};

/* One bit per CAROM_IMPACT_WHICH, where both own what is compared. */
static inline uint32_t owned_by(const carom_impact_triangle *t, const carom_impact_triangle *u) {
    uint32_t edges = impacts_cpu_spread[t->owned >> 3] * (u->owned >> 3);
    return (t->owned & 7) | (u->owned & 7) << CAROM_IMPACT_OF_B | edges << CAROM_IMPACT_EDGES;
}

/* Those that have a common vertex. */
static inline uint32_t common_to(const carom_impact_triangle *t, const carom_impact_triangle *u) {
    carom_i32x4 of_t;
    carom_lanes equal[3];
    memcpy(&of_t, t->corner, sizeof(of_t)); /* what they own in the last lane */
    for (int j = 0; j < 3; ++j) equal[j] = carom_i32x4_lanes(of_t == (int32_t)u->corner[j]) & 7;
    uint32_t of_a = equal[0] | equal[1] | equal[2];
    uint32_t of_b = (equal[0] != 0) | (equal[1] != 0) << 1 | (equal[2] != 0) << 2;
    uint32_t edges = impacts_cpu_spread[edges_of[equal[0] | equal[1]]] |
                     impacts_cpu_spread[edges_of[equal[1] | equal[2]]] << 1 |
                     impacts_cpu_spread[edges_of[equal[2] | equal[0]]] << 2;
    return of_a | of_b << CAROM_IMPACT_OF_B | edges << CAROM_IMPACT_EDGES;
}

/* ---- The cubic ------------------------------------------------------------------------------- */

/* Four points of a candidate: two segments, or a face's first two corners, the vertex and the third
 * corner. Both have the cubic (u x v).w with u from the first point to the second, v from the third
 * to the fourth and w from the first to the third. */
static inline void points_of(const carom_impact_pairs *pairs, const carom_impact_candidate *c,
                             const float **point) {
    const uint32_t *a = pairs->of_a[c->a].corner, *b = pairs->of_b[c->b].corner;
    const carom_impact_point *of_a = pairs->points_a, *of_b = pairs->points_b;
    uint32_t k = c->which;
    if (k >= CAROM_IMPACT_EDGES) {
        uint32_t i = (k - CAROM_IMPACT_EDGES) / 3, j = (k - CAROM_IMPACT_EDGES) % 3;
        point[0] = of_a[a[i]].at[0];
        point[1] = of_a[a[i == 2 ? 0 : i + 1]].at[0];
        point[2] = of_b[b[j]].at[0];
        point[3] = of_b[b[j == 2 ? 0 : j + 1]].at[0];
        return;
    }
    bool of_first = k >= CAROM_IMPACT_OF_B;
    const uint32_t *face = of_first ? a : b;
    const carom_impact_point *points = of_first ? of_a : of_b;
    point[0] = points[face[0]].at[0];
    point[1] = points[face[1]].at[0];
    point[2] = of_first ? of_b[b[k - CAROM_IMPACT_OF_B]].at[0] : of_a[a[k]].at[0];
    point[3] = points[face[2]].at[0];
}

#define IMPACT_COLUMNS 8u /* candidates that are transposed together: lanes of carom_f32x8 */

/* x, y, z at time 0 and at time 1 of four points, for eight candidates. */
typedef struct impacts_cpu_columns {
    float of[4][6][IMPACT_COLUMNS] __attribute__((aligned(64)));
    int64_t edges[IMPACT_COLUMNS]; /* all ones for edges, 0 for a vertex and a face */
} impacts_cpu_columns;

static inline void transpose(const carom_impact_pairs *pairs, const carom_impact_candidate *c,
                             uint32_t count, impacts_cpu_columns *to) {
    const float *point[IMPACT_COLUMNS][4];
    for (uint32_t i = 0; i < IMPACT_COLUMNS; ++i) {
        const carom_impact_candidate *one = &c[i < count ? i : 0];
        points_of(pairs, one, point[i]);
        to->edges[i] = -(int64_t)(one->which >= CAROM_IMPACT_EDGES);
    }
    for (int p = 0; p < 4; ++p)
        for (int t = 0; t < 2; ++t) {
            carom_f32x4 row[IMPACT_COLUMNS];
            carom_f32x8 column[4]; /* the fourth is not used */
            for (uint32_t i = 0; i < IMPACT_COLUMNS; ++i)
                row[i] = carom_f32x4_load(point[i][p] + CAROM_IMPACT_ROW * t);
            carom_f32x8_transpose(row, column);
            for (int k = 0; k < 3; ++k) carom_f32x8_store(to->of[p][3 * t + k], column[k]);
        }
}

typedef struct vectors {
    carom_f64v at[2][3]; /* x, y, z at time 0 and at time 1 */
} vectors;

CAROM_SIMD carom_f64v impacts_cpu_cross(const vectors *x, int s, const vectors *y, int t, int k) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    return x->at[s][i] * y->at[t][j] - x->at[s][j] * y->at[t][i];
}

CAROM_SIMD carom_f64v impacts_cpu_largest(const vectors *v, int k) {
    return carom_f64v_max(carom_f64v_abs(v->at[0][k]), carom_f64v_abs(v->at[1][k]));
}

/* Polynomials of a part of the time in Bernstein form, as in toi_item.h. */
typedef struct part_lanes {
    carom_f64v f[4], q[5][3];
} part_lanes;

typedef struct errors {
    carom_f64v f, q;
} errors;

/* u, v and w of toi_item.h. */
CAROM_SIMD void vectors_of(const impacts_cpu_columns *from, uint32_t lane, carom_i64v edges,
                           vectors *u, vectors *v, vectors *w) {
    for (int k = 0; k < 6; ++k) {
        carom_f64v point[4];
        for (int p = 0; p < 4; ++p) point[p] = carom_f64v_floats(&from->of[p][k][lane]);
        u->at[k / 3][k % 3] = point[1] - point[0];
        v->at[k / 3][k % 3] = point[3] - carom_f64v_select(edges, point[2], point[0]);
        w->at[k / 3][k % 3] = point[2] - point[0];
    }
}

/* The quadratics of the component along which n is longest in the middle of the motion. */
CAROM_SIMD void make_quadratics(const vectors *u, const vectors *v, const vectors *w,
                                carom_f64v (*n)[3], const carom_f64v *extent, carom_i64v edges,
                                part_lanes *part, carom_f64v *area) {
    carom_f64v longest = carom_f64v_abs(n[0][0] + n[0][1] + n[0][2]);
    carom_f64v wv[3], wu[3], m[3];
    *area = extent[1] * extent[2];
    for (int axis = 0; axis < 3; ++axis) {
        carom_f64v size = carom_f64v_abs(n[axis][0] + n[axis][1] + n[axis][2]);
        carom_i64v longer = size > longest;
        carom_f64v a[3], b[3];
        a[0] = impacts_cpu_cross(w, 0, v, 0, axis);
        a[1] = (impacts_cpu_cross(w, 0, v, 1, axis) + impacts_cpu_cross(w, 1, v, 0, axis)) * 0.5;
        a[2] = impacts_cpu_cross(w, 1, v, 1, axis);
        b[0] = impacts_cpu_cross(w, 0, u, 0, axis);
        b[1] = (impacts_cpu_cross(w, 0, u, 1, axis) + impacts_cpu_cross(w, 1, u, 0, axis)) * 0.5;
        b[2] = impacts_cpu_cross(w, 1, u, 1, axis);
        for (int i = 0; i < 3; ++i) {
            carom_f64v own = i == 1 ? n[axis][1] * 0.5 : n[axis][i];
            wv[i] = axis == 0 ? a[i] : carom_f64v_select(longer, a[i], wv[i]);
            wu[i] = axis == 0 ? b[i] : carom_f64v_select(longer, b[i], wu[i]);
            m[i] = axis == 0 ? own : carom_f64v_select(longer, own, m[i]);
        }
        carom_f64v product = extent[(axis + 1) % 3] * extent[(axis + 2) % 3];
        *area = axis == 0 ? product : carom_f64v_select(longer, product, *area);
        longest = carom_f64v_max(size, longest);
    }
    for (int i = 0; i < 3; ++i) {
        carom_f64v rest = m[i] - wv[i];
        part->q[0][i] = m[i];
        part->q[1][i] = wv[i];
        part->q[2][i] = carom_f64v_select(edges, rest, -wu[i]);
        part->q[3][i] = carom_f64v_select(edges, wu[i], rest + wu[i]);
        part->q[4][i] = carom_f64v_select(edges, m[i] - wu[i], -wu[i]);
    }
}

/* All coefficients are above the error, or below minus the error. */
CAROM_SIMD carom_i64v all_above(const carom_f64v *b, int count, carom_f64v error) {
    carom_f64v least = b[0];
    for (int i = 1; i < count; ++i) least = carom_f64v_min(least, b[i]);
    return least > error;
}

CAROM_SIMD carom_i64v all_below(const carom_f64v *b, int count, carom_f64v error) {
    carom_f64v most = b[0];
    for (int i = 1; i < count; ++i) most = carom_f64v_max(most, b[i]);
    return most < -error;
}

/* Fills the polynomials of the whole time. Returns the lanes that may meet by the cubic alone;
 * *unusable are those that the filter cannot take. */
CAROM_SIMD carom_lanes make_part(const impacts_cpu_columns *from, uint32_t lane, double d,
                                 carom_i64v edges, part_lanes *part, errors *error,
                                 carom_lanes *unusable) {
    vectors u, v, w;
    vectors_of(from, lane, edges, &u, &v, &w);
    carom_f64v n[3][3], extent[3], volume = carom_f64v_splat(1.0), wide = volume;
    carom_f64v largest = carom_f64v_splat(0.0);
    carom_i64v usable = {0};
    for (int k = 0; k < 3; ++k) {
        n[k][0] = impacts_cpu_cross(&u, 0, &v, 0, k);
        n[k][1] =
            impacts_cpu_cross(&u, 0, &v, 1, k) + impacts_cpu_cross(&u, 1, &v, 0, k); /* twice */
        n[k][2] = impacts_cpu_cross(&u, 1, &v, 1, k);
        carom_f64v g[4] = {n[k][0] * w.at[0][k], n[k][1] * w.at[0][k] + n[k][0] * w.at[1][k],
                           n[k][2] * w.at[0][k] + n[k][1] * w.at[1][k], n[k][2] * w.at[1][k]};
        for (int i = 0; i < 4; ++i) part->f[i] = k == 0 ? g[i] : part->f[i] + g[i];
        extent[k] =
            carom_f64v_max(carom_f64v_max(impacts_cpu_largest(&u, k), impacts_cpu_largest(&v, k)),
                           impacts_cpu_largest(&w, k));
        carom_i64v fine = (extent[k] <= CAROM_TOI_EXTENT) &
                          ((extent[k] >= 1.0 / CAROM_TOI_EXTENT) | (extent[k] == 0.0));
        usable = k == 0 ? fine : usable & fine;
        volume = volume * extent[k];
        wide = wide * (extent[k] + d);
        largest = carom_f64v_max(largest, extent[k]);
    }
    part->f[1] = part->f[1] * (1.0 / 3.0);
    part->f[2] = part->f[2] * (1.0 / 3.0);
    error->f = volume * LANES_CUBIC_ERROR + CAROM_TOI_UNDERFLOW;
    if (d > 0.0) error->f = error->f + (wide - volume) * PRODUCTS;
    *unusable = ~carom_lanes_of64(usable);
    carom_lanes may =
        ~carom_lanes_of64(all_above(part->f, 4, error->f) | all_below(part->f, 4, error->f)) |
        *unusable;
    if ((may & ALL_LANES64) == 0) return 0;
    carom_f64v area;
    make_quadratics(&u, &v, &w, n, extent, edges, part, &area);
    error->q = area * LANES_QUADRATIC_ERROR + CAROM_TOI_UNDERFLOW;
    if (d > 0.0) error->q = error->q + (2.0 * d * largest + d * d) * PRODUCTS;
    return may & ALL_LANES64;
}

/* The lanes of `which` that may meet in a part. *certain: those of them that do. */
CAROM_SIMD carom_lanes part_may_meet(const part_lanes *part, const errors *error,
                                     carom_lanes *certain) {
    carom_i64v apart = all_above(part->f, 4, error->f) | all_below(part->f, 4, error->f);
    carom_i64v along = all_above(part->q[0], 3, error->q);
    carom_i64v against = all_below(part->q[0], 3, error->q);
    carom_i64v some_above = {0}, some_below = {0};
    carom_i64v inside = ((part->f[0] > error->f) & (part->f[3] < -error->f)) |
                        ((part->f[0] < -error->f) & (part->f[3] > error->f));
    carom_i64v every_above = ~(carom_i64v){0}, every_below = every_above;
    for (int i = 1; i < 5; ++i) {
        carom_i64v above = all_above(part->q[i], 3, error->q);
        carom_i64v below = all_below(part->q[i], 3, error->q);
        some_above |= above;
        some_below |= below;
        every_above &= above;
        every_below &= below;
    }
    apart |= (along & some_below) | (against & some_above);
    inside &= (along & every_above) | (against & every_below);
    *certain = carom_lanes_of64(inside);
    return ~carom_lanes_of64(apart);
}

/* Cuts a part in its middle: it becomes the left part. */
CAROM_SIMD void split_lanes(part_lanes *part, part_lanes *right) {
    carom_f64v *f = part->f;
    carom_f64v a = (f[0] + f[1]) * 0.5, b = (f[1] + f[2]) * 0.5, c = (f[2] + f[3]) * 0.5;
    carom_f64v ab = (a + b) * 0.5, bc = (b + c) * 0.5;
    right->f[3] = f[3];
    right->f[2] = c;
    right->f[1] = bc;
    right->f[0] = (ab + bc) * 0.5;
    f[1] = a;
    f[2] = ab;
    f[3] = right->f[0];
    for (int i = 0; i < 5; ++i) {
        carom_f64v *q = part->q[i], d = (q[0] + q[1]) * 0.5, e = (q[1] + q[2]) * 0.5;
        right->q[i][2] = q[2];
        right->q[i][1] = e;
        right->q[i][0] = (d + e) * 0.5;
        q[1] = d;
        q[2] = right->q[i][0];
    }
}

CAROM_SIMD carom_i64v has_no_root(const part_lanes *part, const errors *error) {
    return all_above(part->f, 4, error->f) | all_below(part->f, 4, error->f);
}

/* The lanes of `which` that may meet, by parts of the time. Each lane goes on in the half that may
 * have a root; where both may, it may meet. */
CAROM_SIMD carom_lanes parts_may_meet(part_lanes *part, const errors *error, carom_lanes which) {
    carom_lanes found = 0, certain;
    for (int depth = 0;; ++depth) {
        which &= part_may_meet(part, error, &certain);
        found |= which & certain;
        which &= ~certain;
        if (which == 0 || depth == LANES_DEPTH) return found | which;
        part_lanes right;
        split_lanes(part, &right);
        carom_i64v not_left = has_no_root(part, error), not_right = has_no_root(&right, error);
        found |= which & ~carom_lanes_of64(not_left | not_right);
        which &= carom_lanes_of64(not_left ^ not_right);
        for (int i = 0; i < 4; ++i)
            part->f[i] = carom_f64v_select(not_left, right.f[i], part->f[i]);
        for (int i = 0; i < 5; ++i)
            for (int k = 0; k < 3; ++k)
                part->q[i][k] = carom_f64v_select(not_left, right.q[i][k], part->q[i][k]);
    }
}

/* Keeps the candidates that may meet. */
static uint32_t exclude(const carom_impact_pairs *pairs, const carom_impact_candidate *from,
                        uint32_t count, carom_impact_candidate *open) {
    uint32_t kept = 0;
    impacts_cpu_columns gathered;
    for (uint32_t at = 0; at < count; at += IMPACT_COLUMNS) {
        uint32_t number = count - at < IMPACT_COLUMNS ? count - at : IMPACT_COLUMNS;
        transpose(pairs, from + at, number, &gathered);
        carom_lanes may = 0;
        for (uint32_t lane = 0; lane < IMPACT_COLUMNS; lane += CAROM_LANES64) {
            part_lanes part;
            errors error;
            carom_lanes unusable;
            carom_i64v edges = carom_i64v_load(gathered.edges + lane);
            carom_lanes some =
                make_part(&gathered, lane, 2.0 * pairs->error, edges, &part, &error, &unusable);
            if ((some & ~unusable) != 0)
                some = (some & unusable) | parts_may_meet(&part, &error, some & ~unusable);
            may |= some << lane;
        }
        for (may &= (1u << number) - 1; may != 0; may &= may - 1)
            open[kept++] = from[at + (uint32_t)__builtin_ctz(may)];
    }
    return kept;
}

/* ---- Pairs of triangles ---------------------------------------------------------------------- */

#define BOXES_AHEAD 8u /* boxes fetched before they are used: about the time of a miss */

typedef struct short_box {
    carom_f32x8 low[2], high[2];
} short_box;

CAROM_SIMD short_box load_short_box(const carom_impact_box *from, float until) {
    short_box box;
    for (int t = 0; t < 2; ++t) {
        box.low[t] = carom_f32x8_load(from->low[t]);
        box.high[t] = carom_f32x8_load(from->high[t]);
    }
    if (until != 1.0f) { /* the ends of an interval are never inside that between their lines */
        box.low[1] = box.low[0] + until * (box.low[1] - box.low[0]);
        box.high[1] = box.high[0] + until * (box.high[1] - box.high[0]);
    }
    return box;
}

/* Lists the pairs whose boxes have no gap along a direction, on the same side, at both times. In a
 * loop of its own, because half of the pairs are left out, and a branch that cannot be predicted
 * costs as much as the tests. */
CAROM_SIMD uint32_t box_test(const carom_impact_pairs *pairs, const uint32_t *a, const uint32_t *b,
                             uint32_t count, uint16_t *index, float until) {
    carom_f32x8 gap = carom_f32x8_load(pairs->gap);
    uint32_t kept = 0;
    short_box p = {0};
    for (uint32_t i = 0; i < count; ++i) {
        if (i == 0 || a[i] != a[i - 1]) p = load_short_box(&pairs->boxes_a[a[i]], until);
        __builtin_prefetch(&pairs->boxes_b[b[i + BOXES_AHEAD < count ? i + BOXES_AHEAD : i]]);
        short_box q = load_short_box(&pairs->boxes_b[b[i]], until);
        carom_f32x8 forwards = carom_f32x8_min(q.low[0] - p.high[0], q.low[1] - p.high[1]);
        carom_f32x8 backwards = carom_f32x8_min(p.low[0] - q.high[0], p.low[1] - q.high[1]);
        index[kept] = (uint16_t)i;
        kept += carom_f32x8_lanes_at_most(carom_f32x8_max(forwards, backwards), gap) == 0xFF;
    }
    return kept;
}

/* ---- Features of pairs ----------------------------------------------------------------------- */

#define FEATURES_PER_PAIR 16u /* numbers of CAROM_IMPACT_WHICH, as a power of two */
#define FEATURE_LIST      (CAROM_IMPACT_AT_ONCE * CAROM_IMPACT_WHICH + CAROM_LANES)

/* FEATURES_PER_PAIR times the index of a pair + which feature, in the order of pairs. */
typedef struct feature_list {
    uint32_t count, of[FEATURE_LIST];
} feature_list;

/* Writes a set of features, without a branch; returns their number. */
CAROM_SIMD uint32_t list_features(uint32_t *to, uint32_t pair, uint32_t which) {
    uint32_t count = 0;
    for (uint32_t at = 0; at < FEATURES_PER_PAIR; at += CAROM_LANES) {
        carom_lanes some = which >> at & (0xFFFFu >> (16 - CAROM_LANES));
        count += carom_lanes_list(some, pair * FEATURES_PER_PAIR + at, to + count);
    }
    return count;
}

/* Lists what the pairs own, but for what has a common vertex: edges, and vertices with faces. */
CAROM_SIMD void list_owned(const carom_impact_pairs *pairs, const uint32_t *a, const uint32_t *b,
                           uint32_t count, const uint16_t *index, feature_list *edges,
                           feature_list *vertices) {
    const uint32_t vertex_bits = (1u << CAROM_IMPACT_EDGES) - 1;
    uint32_t edge_count = 0, vertex_count = 0;
    for (uint32_t k = 0; k < count; ++k) {
        uint32_t i = index[k];
        const carom_impact_triangle *t = &pairs->of_a[a[i]], *u = &pairs->of_b[b[i]];
        uint32_t which = owned_by(t, u);
        if (pairs->self) which &= ~common_to(t, u);
        edge_count += list_features(edges->of + edge_count, i, which & ~vertex_bits);
        vertex_count += list_features(vertices->of + vertex_count, i, which & vertex_bits);
    }
    edges->count = edge_count;
    vertices->count = vertex_count;
}

/* Keeps the edges that may meet. */
CAROM_SIMD uint32_t edge_test(const carom_impact_pairs *pairs, const uint32_t *a, const uint32_t *b,
                              const feature_list *list, carom_impact_candidate *to, float until) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < list->count; ++k) {
        uint32_t i = list->of[k] / FEATURES_PER_PAIR, which = list->of[k] % FEATURES_PER_PAIR;
        uint32_t of_a = (which - CAROM_IMPACT_EDGES) / 3, of_b = (which - CAROM_IMPACT_EDGES) % 3;
        moving_box p = load_edge(&pairs->of_a[a[i]], pairs->points_a, of_a, until);
        moving_box q = load_edge(&pairs->of_b[b[i]], pairs->points_b, of_b, until);
        to[kept] = (carom_impact_candidate){a[i], b[i], which};
        kept += boxes_may_meet(&p, &q, pairs->gap);
    }
    return kept;
}

/* Keeps the vertices and faces that may meet. */
CAROM_SIMD uint32_t vertex_test(const carom_impact_pairs *pairs, const uint32_t *a,
                                const uint32_t *b, const feature_list *list,
                                carom_impact_candidate *to, float until) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < list->count; ++k) {
        uint32_t i = list->of[k] / FEATURES_PER_PAIR, which = list->of[k] % FEATURES_PER_PAIR;
        const carom_impact_triangle *t = &pairs->of_a[a[i]], *u = &pairs->of_b[b[i]];
        bool of_b = which >= CAROM_IMPACT_OF_B;
        uint32_t vertex = of_b ? u->corner[which - CAROM_IMPACT_OF_B] : t->corner[which];
        moving_row p = load_point(&(of_b ? pairs->points_b : pairs->points_a)[vertex], until);
        moving_box face = load_face(of_b ? t : u, of_b ? pairs->points_a : pairs->points_b, until);
        to[kept] = (carom_impact_candidate){a[i], b[i], which};
        kept += boxes_may_meet(&(moving_box){p, p}, &face, pairs->gap);
    }
    return kept;
}

/* `until` is pairs->until, a constant in one of both calls. */
CAROM_SIMD uint32_t find_candidates(const carom_impact_pairs *pairs, const uint32_t *a,
                                    const uint32_t *b, uint32_t count, carom_impact_candidate *open,
                                    uint64_t *candidates, float until) {
    carom_impact_candidate buffer[FEATURE_LIST], *found = pairs->near ? open : buffer;
    uint16_t index[CAROM_IMPACT_AT_ONCE];
    feature_list edges, vertices;
    count = box_test(pairs, a, b, count, index, until);
    list_owned(pairs, a, b, count, index, &edges, &vertices);
    count = edge_test(pairs, a, b, &edges, found, until);
    count += vertex_test(pairs, a, b, &vertices, found + count, until);
    *candidates += count;
    return pairs->near ? count : exclude(pairs, found, count, open);
}

uint32_t CAROM_CPU(carom_impacts_find_candidates)(const carom_impact_pairs *pairs,
                                                  const uint32_t *a, const uint32_t *b,
                                                  uint32_t count, carom_impact_candidate *open,
                                                  uint64_t *candidates) {
    if (pairs->until == 1.0f) return find_candidates(pairs, a, b, count, open, candidates, 1.0f);
    return find_candidates(pairs, a, b, count, open, candidates, pairs->until);
}
