/* SPDX-License-Identifier: MIT */
/* Filters for pairs of moving triangles with SIMD.
 *
 * Boxes first. Points move along lines, so what has a gap along an axis at time 0 and, in the same
 * direction, at time 1, has it always. That is much sharper than the boxes around the whole ways:
 * what moves together is compared as if it were at rest.
 *
 * Then the first stage of toi_item.h, for as many candidates as a vector has lanes: the cubic whose
 * roots are the times of coplanarity has no root where its Bernstein coefficients have one sign. Of
 * the candidates of a cloth one in five hundred is left.
 *
 * Coordinates may be rounded. A difference of two is then off by d = 2 errors, and each of the six
 * products of a determinant by (X + d)(Y + d)(Z + d) - XYZ, where X, Y, Z bound the differences
 * along each axis. The coefficients are means of such determinants. */
#include "soup/soup_impacts_cpu.h"

#include "base/simd.h"
#include "geom/toi_item.h"

#define IMPACT_BUFFER 64u /* candidates before their cubics are computed */
#define PRODUCTS      8.0 /* in a determinant: six, and room for the rounding of their bound */

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* Points at time 0 and at time 1: x, y, z and a number that is not used. */
typedef struct soup_impacts_cpu_moving_point {
    carom_f32x4 start, end;
} soup_impacts_cpu_moving_point;

typedef struct moving_box {
    soup_impacts_cpu_moving_point low, high;
} moving_box;

static inline soup_impacts_cpu_moving_point lower(soup_impacts_cpu_moving_point a,
                                                  soup_impacts_cpu_moving_point b) {
    return (soup_impacts_cpu_moving_point){carom_f32x4_min(a.start, b.start),
                                           carom_f32x4_min(a.end, b.end)};
}

static inline soup_impacts_cpu_moving_point upper(soup_impacts_cpu_moving_point a,
                                                  soup_impacts_cpu_moving_point b) {
    return (soup_impacts_cpu_moving_point){carom_f32x4_max(a.start, b.start),
                                           carom_f32x4_max(a.end, b.end)};
}

static inline moving_box soup_impacts_cpu_join(soup_impacts_cpu_moving_point a,
                                               soup_impacts_cpu_moving_point b) {
    return (moving_box){lower(a, b), upper(a, b)};
}

/* Whether no axis has a gap in the same direction at both times. */
static inline bool soup_impacts_cpu_overlap(const moving_box *a, const moving_box *b,
                                            carom_f32x4 gap) {
    carom_i32x4 forwards =
        (b->low.start - a->high.start <= gap) | (b->low.end - a->high.end <= gap);
    carom_i32x4 backwards =
        (a->low.start - b->high.start <= gap) | (a->low.end - b->high.end <= gap);
    return (carom_i32x4_lanes(forwards & backwards) & 7) == 7;
}

typedef struct corners {
    soup_impacts_cpu_moving_point at[3];
} corners;

static inline corners soup_impacts_cpu_load(const carom_impact_triangle *t,
                                            const carom_impact_pairs *pairs) {
    corners c;
    for (int i = 0; i < 3; ++i)
        c.at[i] = (soup_impacts_cpu_moving_point){carom_f32x4_load(t->at + 6 * i),
                                                  carom_f32x4_load(t->at + 6 * i + 3)};
    if (pairs->until == 1.0f) return c;
    for (int i = 0; i < 3; ++i)
        c.at[i].end = c.at[i].start + pairs->until * (c.at[i].end - c.at[i].start);
    return c;
}

/* ---- What belongs to a pair ------------------------------------------------------------------ */

/* Bits 0, 1, 2 moved to 0, 3, 6. */
static const uint32_t soup_impacts_cpu_spread[8] = {0, 1, 8, 9, 64, 65, 72, 73};

/* From corners to the edges that have them: edge i has corners i and i + 1. */
static const uint32_t edges_of[8] = {0, 5, 3, 7, 6, 7, 7, 7};

/* One bit per CAROM_IMPACT_WHICH, where both own what is compared. */
static inline uint32_t owned_by(const carom_impact_triangle *t, const carom_impact_triangle *u) {
    uint32_t edges = soup_impacts_cpu_spread[t->owned >> 3] * (u->owned >> 3);
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
    uint32_t edges = soup_impacts_cpu_spread[edges_of[equal[0] | equal[1]]] |
                     soup_impacts_cpu_spread[edges_of[equal[1] | equal[2]]] << 1 |
                     soup_impacts_cpu_spread[edges_of[equal[2] | equal[0]]] << 2;
    return of_a | of_b << CAROM_IMPACT_OF_B | edges << CAROM_IMPACT_EDGES;
}

static inline moving_box soup_impacts_cpu_box_of(const corners *c) {
    moving_box edge = soup_impacts_cpu_join(c->at[0], c->at[1]);
    return (moving_box){lower(edge.low, c->at[2]), upper(edge.high, c->at[2])};
}

/* Keeps of `which` the bits of what may meet, for triangles whose boxes overlap. */
static inline uint32_t box_test(const carom_impact_triangle *t, const carom_impact_triangle *u,
                                const carom_impact_pairs *pairs, uint32_t which) {
    carom_f32x4 gap = carom_f32x4_splat(pairs->gap);
    corners a = soup_impacts_cpu_load(t, pairs), b = soup_impacts_cpu_load(u, pairs);
    moving_box box_a = soup_impacts_cpu_box_of(&a), box_b = soup_impacts_cpu_box_of(&b);
    uint32_t kept = 0;
    for (; which != 0; which &= which - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(which);
        bool may;
        if (k >= CAROM_IMPACT_EDGES) {
            uint32_t i = (k - CAROM_IMPACT_EDGES) / 3, j = (k - CAROM_IMPACT_EDGES) % 3;
            moving_box p = soup_impacts_cpu_join(a.at[i], a.at[i == 2 ? 0 : i + 1]);
            moving_box q = soup_impacts_cpu_join(b.at[j], b.at[j == 2 ? 0 : j + 1]);
            may = soup_impacts_cpu_overlap(&p, &q, gap);
        } else if (k >= CAROM_IMPACT_OF_B) {
            soup_impacts_cpu_moving_point p = b.at[k - CAROM_IMPACT_OF_B];
            may = soup_impacts_cpu_overlap(&box_a, &(moving_box){p, p}, gap);
        } else {
            may = soup_impacts_cpu_overlap(&(moving_box){a.at[k], a.at[k]}, &box_b, gap);
        }
        kept |= (uint32_t)may << k;
    }
    return kept;
}

/* ---- The cubic ------------------------------------------------------------------------------- */

/* Four points of a candidate: two segments, or a face's first two corners, the vertex and the third
 * corner. Both have the cubic (u x v).w with u from the first point to the second, v from the third
 * to the fourth and w from the first to the third. */
static inline void points_of(const carom_impact_pairs *pairs, const carom_impact_candidate *c,
                             const float **point) {
    const float *a = pairs->of_a[c->a].at, *b = pairs->of_b[c->b].at;
    uint32_t k = c->which;
    if (k >= CAROM_IMPACT_EDGES) {
        uint32_t i = (k - CAROM_IMPACT_EDGES) / 3, j = (k - CAROM_IMPACT_EDGES) % 3;
        point[0] = a + 6 * i;
        point[1] = a + 6 * (i == 2 ? 0 : i + 1);
        point[2] = b + 6 * j;
        point[3] = b + 6 * (j == 2 ? 0 : j + 1);
    } else {
        const float *face = k >= CAROM_IMPACT_OF_B ? a : b;
        point[0] = face;
        point[1] = face + 6;
        point[2] = k >= CAROM_IMPACT_OF_B ? b + 6 * (k - CAROM_IMPACT_OF_B) : a + 6 * k;
        point[3] = face + 12;
    }
}

#define IMPACT_COLUMNS 8u /* candidates that are transposed together: lanes of carom_f32x8 */

/* x, y, z at time 0 and at time 1 of four points, for eight candidates. */
typedef struct soup_impacts_cpu_columns {
    float of[4][6][IMPACT_COLUMNS] __attribute__((aligned(64)));
} soup_impacts_cpu_columns;

static inline void transpose(const carom_impact_pairs *pairs, const carom_impact_candidate *c,
                             uint32_t count, soup_impacts_cpu_columns *to) {
    const float *point[IMPACT_COLUMNS][4];
    for (uint32_t i = 0; i < IMPACT_COLUMNS; ++i) points_of(pairs, &c[i < count ? i : 0], point[i]);
    for (int p = 0; p < 4; ++p)
        for (int t = 0; t < 2; ++t) {
            carom_f32x4 row[IMPACT_COLUMNS];
            carom_f32x8 column[4]; /* the fourth is not used */
            for (uint32_t i = 0; i < IMPACT_COLUMNS; ++i)
                row[i] = carom_f32x4_load(point[i][p] + 3 * t);
            carom_f32x8_transpose(row, column);
            for (int k = 0; k < 3; ++k) carom_f32x8_store(to->of[p][3 * t + k], column[k]);
        }
}

typedef struct vectors {
    carom_f64v at[2][3]; /* x, y, z at time 0 and at time 1 */
} vectors;

static inline vectors soup_impacts_cpu_between(const soup_impacts_cpu_columns *from, int p, int q,
                                               uint32_t lane) {
    vectors v;
    for (int k = 0; k < 6; ++k)
        v.at[k / 3][k % 3] =
            carom_f64v_floats(&from->of[q][k][lane]) - carom_f64v_floats(&from->of[p][k][lane]);
    return v;
}

static inline carom_f64v soup_impacts_cpu_cross(const vectors *x, int s, const vectors *y, int t,
                                                int k) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    return x->at[s][i] * y->at[t][j] - x->at[s][j] * y->at[t][i];
}

static inline carom_f64v soup_impacts_cpu_largest(const vectors *v, int k) {
    return carom_f64v_max(carom_f64v_abs(v->at[0][k]), carom_f64v_abs(v->at[1][k]));
}

/* The lanes whose cubic may have a root. */
static inline carom_lanes may_have_root(const soup_impacts_cpu_columns *from, uint32_t lane,
                                        double d) {
    vectors u = soup_impacts_cpu_between(from, 0, 1, lane),
            v = soup_impacts_cpu_between(from, 2, 3, lane);
    vectors w = soup_impacts_cpu_between(from, 0, 2, lane);
    carom_f64v f[4], extent = carom_f64v_splat(1.0), wide = extent;
    carom_i64v usable = {0};
    for (int k = 0; k < 3; ++k) {
        carom_f64v n0 = soup_impacts_cpu_cross(&u, 0, &v, 0, k),
                   n2 = soup_impacts_cpu_cross(&u, 1, &v, 1, k);
        carom_f64v n1 = soup_impacts_cpu_cross(&u, 0, &v, 1, k) +
                        soup_impacts_cpu_cross(&u, 1, &v, 0, k); /* twice */
        carom_f64v g[4] = {n0 * w.at[0][k], n1 * w.at[0][k] + n0 * w.at[1][k],
                           n2 * w.at[0][k] + n1 * w.at[1][k], n2 * w.at[1][k]};
        for (int i = 0; i < 4; ++i) f[i] = k == 0 ? g[i] : f[i] + g[i];
        carom_f64v most = carom_f64v_max(
            carom_f64v_max(soup_impacts_cpu_largest(&u, k), soup_impacts_cpu_largest(&v, k)),
            soup_impacts_cpu_largest(&w, k));
        carom_i64v fine =
            (most <= CAROM_TOI_EXTENT) & ((most >= 1.0 / CAROM_TOI_EXTENT) | (most == 0.0));
        usable = k == 0 ? fine : usable & fine;
        extent = extent * most;
        wide = wide * (most + d);
    }
    carom_f64v error = extent * CAROM_TOI_CUBIC_ERROR + CAROM_TOI_UNDERFLOW;
    if (d > 0.0) error = error + (wide - extent) * PRODUCTS;
    /* the two in the middle are three times the coefficients */
    carom_f64v thrice = error * 3.0;
    carom_i64v above = (f[0] > error) & (f[3] > error) & (f[1] > thrice) & (f[2] > thrice);
    carom_i64v below = (f[0] < -error) & (f[3] < -error) & (f[1] < -thrice) & (f[2] < -thrice);
    return ~carom_lanes_of64(usable & (above | below));
}

/* Keeps the candidates that may meet. */
static uint32_t cubic_test(const carom_impact_pairs *pairs, const carom_impact_candidate *from,
                           uint32_t count, carom_impact_candidate *open) {
    uint32_t kept = 0;
    soup_impacts_cpu_columns gathered;
    for (uint32_t at = 0; at < count; at += IMPACT_COLUMNS) {
        uint32_t part = count - at < IMPACT_COLUMNS ? count - at : IMPACT_COLUMNS;
        transpose(pairs, from + at, part, &gathered);
        carom_lanes may = 0;
        for (uint32_t lane = 0; lane < IMPACT_COLUMNS; lane += CAROM_LANES64)
            may |=
                (may_have_root(&gathered, lane, 2.0 * pairs->error) & ((1u << CAROM_LANES64) - 1))
                << lane;
        for (may &= (1u << part) - 1; may != 0; may &= may - 1)
            open[kept++] = from[at + (uint32_t)__builtin_ctz(may)];
    }
    return kept;
}

/* Pairs whose boxes overlap, and what of them is to be compared. In a loop of its own, because one
 * in three pairs is left out, and a branch that cannot be predicted costs as much as the tests. */
static uint32_t triangle_test(const carom_impact_pairs *pairs, const uint32_t *a, const uint32_t *b,
                              uint32_t count, uint16_t *index, uint16_t *which) {
    carom_f32x4 gap = carom_f32x4_splat(pairs->gap);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const carom_impact_triangle *t = &pairs->of_a[a[i]], *u = &pairs->of_b[b[i]];
        uint32_t compared = owned_by(t, u);
        if (pairs->self) compared &= ~common_to(t, u);
        corners p = soup_impacts_cpu_load(t, pairs), q = soup_impacts_cpu_load(u, pairs);
        moving_box box_a = soup_impacts_cpu_box_of(&p), box_b = soup_impacts_cpu_box_of(&q);
        index[kept] = (uint16_t)i;
        which[kept] = (uint16_t)compared;
        kept += soup_impacts_cpu_overlap(&box_a, &box_b, gap) & (compared != 0);
    }
    return kept;
}

uint32_t CAROM_CPU(carom_soup_find_candidates)(const carom_impact_pairs *pairs, const uint32_t *a,
                                               const uint32_t *b, uint32_t count,
                                               carom_impact_candidate *open, uint64_t *candidates) {
    carom_impact_candidate found[IMPACT_BUFFER + CAROM_IMPACT_WHICH];
    uint16_t index[CAROM_IMPACT_AT_ONCE], compared[CAROM_IMPACT_AT_ONCE];
    uint32_t buffered = 0, kept = 0;
    uint32_t overlapping = triangle_test(pairs, a, b, count, index, compared);
    for (uint32_t k = 0; k < overlapping; ++k) {
        uint32_t i = index[k];
        const carom_impact_triangle *t = &pairs->of_a[a[i]], *u = &pairs->of_b[b[i]];
        uint32_t which = box_test(t, u, pairs, compared[k]);
        for (; which != 0; which &= which - 1)
            found[buffered++] =
                (carom_impact_candidate){a[i], b[i], (uint32_t)__builtin_ctz(which)};
        if (buffered < IMPACT_BUFFER) continue;
        kept += cubic_test(pairs, found, buffered, open + kept);
        *candidates += buffered;
        buffered = 0;
    }
    kept += cubic_test(pairs, found, buffered, open + kept);
    *candidates += buffered;
    return kept;
}
