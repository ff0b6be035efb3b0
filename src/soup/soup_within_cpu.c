/* SPDX-License-Identifier: MIT */
/* The cheap certificates of geom/within.h with SIMD, one pair of triangles per lane.
 *
 * Where the margin is about an edge long, which is the usual case, most candidates have two corners
 * within it, and most others are separated along one of three directions. Both take a few
 * nanoseconds per pair here. The error bound is that of within.h, and so is its proof: seen from
 * the first corner of a, all coordinates are at most `size`. Rounding differs between instruction
 * sets only in which pairs stay open. */
#include "soup/soup_within_cpu.h"

#include "base/simd.h"
#include "geom/within.h"

typedef struct vec {
    carom_f64v x, y, z;
} vec;

static inline vec sub(vec a, vec b) {
    return (vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline vec add(vec a, vec b) {
    return (vec){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline vec cross(vec a, vec b) {
    return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline carom_f64v dot(vec a, vec b) {
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

static inline carom_f64v size_of(vec a) {
    return (carom_f64v_abs(a.x) + carom_f64v_abs(a.y)) + carom_f64v_abs(a.z);
}

static inline vec load(const carom_soup_within_batch *batch, int corner, uint32_t at) {
    return (vec){carom_f64v_load(&batch->corner[3 * corner][at]),
                 carom_f64v_load(&batch->corner[3 * corner + 1][at]),
                 carom_f64v_load(&batch->corner[3 * corner + 2][at])};
}

/* carom_within_apart. */
static inline carom_i64v apart(const vec *a, const vec *b, vec way, carom_f64v squared_reach) {
    carom_f64v a0 = dot(way, a[0]), a1 = dot(way, a[1]), a2 = dot(way, a[2]);
    carom_f64v b0 = dot(way, b[0]), b1 = dot(way, b[1]), b2 = dot(way, b[2]);
    carom_f64v a_low = carom_f64v_min(carom_f64v_min(a0, a1), a2);
    carom_f64v a_high = carom_f64v_max(carom_f64v_max(a0, a1), a2);
    carom_f64v b_low = carom_f64v_min(carom_f64v_min(b0, b1), b2);
    carom_f64v b_high = carom_f64v_max(carom_f64v_max(b0, b1), b2);
    carom_f64v gap = carom_f64v_max(b_low - a_high, a_low - b_high);
    carom_f64v squared = dot(way, way) * (1.0 + 0x1p-48);
    return (gap > 0.0) & (squared > 0x1p-400) & (gap * gap > squared_reach * squared);
}

static inline carom_f64v least_of_corners(const vec *a, const vec *b) {
    carom_f64v least = carom_f64v_splat(DBL_MAX);
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            vec d = sub(b[k], a[i]);
            least = carom_f64v_min(least, dot(d, d));
        }
    }
    return least;
}

/* ---- Nearest points of edges, and of corners and faces --------------------------------------- */

/* The least squared length that is divided by: far below any that occurs, and its inverse is
 * finite. */
#define LEAST_SQUARE 0x1p-900

static inline carom_f64v choose(carom_i64v which, carom_f64v yes, carom_f64v no) {
    return (carom_f64v)(((carom_i64v)yes & which) | ((carom_i64v)no & ~which));
}

static inline carom_f64v inverse(carom_f64v x) {
    return 1.0 / carom_f64v_max(x, carom_f64v_splat(LEAST_SQUARE));
}

static inline carom_f64v clamp(carom_f64v x) {
    return carom_f64v_min(carom_f64v_max(x, carom_f64v_splat(0.0)), carom_f64v_splat(1.0));
}

static inline vec along(vec p, vec u, carom_f64v s) {
    return (vec){p.x + s * u.x, p.y + s * u.y, p.z + s * u.z};
}

/* The shortest vector so far from a point of a to a point of b. Whatever rounding did to the
 * parameters, the points are in the triangles. */
typedef struct nearest {
    carom_f64v squared;
    vec across;
} nearest;

static inline void offer(nearest *n, carom_i64v valid, vec a, vec b) {
    vec across = sub(b, a);
    carom_f64v squared = dot(across, across);
    carom_i64v nearer = valid & (squared < n->squared);
    n->squared = choose(nearer, squared, n->squared);
    n->across.x = choose(nearer, across.x, n->across.x);
    n->across.y = choose(nearer, across.y, n->across.y);
    n->across.z = choose(nearer, across.z, n->across.z);
}

/* Edges as p + s u and q + t v: s is that of the nearest points of the lines, then t and once more
 * s are the best for the other. */
static inline void offer_edges(nearest *n, const vec *a, const vec *b) {
    vec u[3], v[3];
    carom_f64v uu[3], vv[3], inverse_uu[3], inverse_vv[3];
    for (int i = 0; i < 3; ++i) {
        u[i] = sub(a[i == 2 ? 0 : i + 1], a[i]);
        v[i] = sub(b[i == 2 ? 0 : i + 1], b[i]);
        uu[i] = dot(u[i], u[i]);
        vv[i] = dot(v[i], v[i]);
        inverse_uu[i] = inverse(uu[i]);
        inverse_vv[i] = inverse(vv[i]);
    }
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            vec w = sub(b[k], a[i]);
            carom_f64v uv = dot(u[i], v[k]), uw = dot(u[i], w), vw = dot(v[k], w);
            carom_f64v s = clamp((uw * vv[k] - uv * vw) * inverse(uu[i] * vv[k] - uv * uv));
            carom_f64v t = clamp((s * uv - vw) * inverse_vv[k]);
            s = clamp((t * uv + uw) * inverse_uu[i]);
            offer(n, (carom_i64v){0} == 0, along(a[i], u[i], s), along(b[k], v[k], t));
        }
    }
}

/* Corners of one triangle and their feet on the other, where these are inside. */
static inline void offer_feet(nearest *n, const vec *corners, const vec *face, bool of_a) {
    vec u = sub(face[1], face[0]), v = sub(face[2], face[0]);
    carom_f64v uu = dot(u, u), uv = dot(u, v), vv = dot(v, v);
    carom_f64v scale = inverse(uu * vv - uv * uv);
    for (int i = 0; i < 3; ++i) {
        vec w = sub(corners[i], face[0]);
        carom_f64v uw = dot(u, w), vw = dot(v, w);
        carom_f64v s = (vv * uw - uv * vw) * scale, t = (uu * vw - uv * uw) * scale;
        vec foot = along(along(face[0], u, s), v, t);
        carom_i64v inside = (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0);
        offer(n, inside, of_a ? corners[i] : foot, of_a ? foot : corners[i]);
    }
}

/* ---- Verdicts -------------------------------------------------------------------------------- */

/* Pairs of triangles seen from the first corner of a, and what holds for them. */
typedef struct lanes {
    vec a[3], b[3];
    carom_i64v usual; /* sizes for which nothing below overflows or underflows */
    carom_f64v less, squared_reach;
} lanes;

static inline lanes lanes_make(const vec *a, const vec *b, double margin) {
    lanes l;
    carom_f64v size = {0};
    for (int i = 0; i < 3; ++i) {
        l.a[i] = sub(a[i], a[0]);
        l.b[i] = sub(b[i], a[0]);
        size = (size + size_of(l.a[i])) + size_of(l.b[i]);
    }
    l.usual = (size > 0x1p-100) & (size < 0x1p100);
    carom_f64v error = size * CAROM_WITHIN_ERROR, more = margin + error;
    l.less = margin - error;
    l.squared_reach = more * more;
    return l;
}

static inline carom_i64v near_enough(const lanes *l, carom_f64v squared) {
    return l->usual & (l->less > 0.0) & (squared <= l->less * l->less);
}

static inline carom_i64v separated(const lanes *l, vec direction) {
    return l->usual & apart(l->a, l->b, direction, l->squared_reach);
}

/* The pairs that corners and three slabs leave open, CAROM_LANES64 at a time: lanes are filled
 * from the batch, so that none is idle. */
static void decide_open(carom_soup_within_batch *batch, double margin) {
    uint64_t open = batch->open;
    while (open != 0) {
        double column[18][CAROM_LANES64];
        uint32_t from[CAROM_LANES64], count = 0;
        for (; count < CAROM_LANES64 && open != 0; open &= open - 1)
            from[count++] = (uint32_t)__builtin_ctzll(open);
        for (uint32_t i = 0; i < CAROM_LANES64; ++i) /* the last one again in lanes that are left */
            for (int k = 0; k < 18; ++k)
                column[k][i] = batch->corner[k][from[i < count ? i : count - 1]];
        vec a[3], b[3];
        for (int i = 0; i < 3; ++i) {
            a[i] = (vec){carom_f64v_load(column[3 * i]), carom_f64v_load(column[3 * i + 1]),
                         carom_f64v_load(column[3 * i + 2])};
            b[i] = (vec){carom_f64v_load(column[9 + 3 * i]), carom_f64v_load(column[10 + 3 * i]),
                         carom_f64v_load(column[11 + 3 * i])};
        }
        lanes l = lanes_make(a, b, margin);
        nearest n = {carom_f64v_splat(DBL_MAX), l.b[0]};
        offer_edges(&n, l.a, l.b);
        offer_feet(&n, l.a, l.b, true);
        offer_feet(&n, l.b, l.a, false);
        carom_lanes yes = carom_lanes_of64(near_enough(&l, n.squared));
        carom_lanes no = carom_lanes_of64(separated(&l, n.across));
        for (uint32_t i = 0; i < count; ++i) {
            batch->yes |= (uint64_t)(yes >> i & 1) << from[i];
            batch->open &= ~((uint64_t)((yes | no) >> i & 1) << from[i]);
        }
    }
}

void CAROM_CPU(carom_soup_within_filter)(carom_soup_within_batch *batch, double margin) {
    uint64_t yes_of_all = 0, no_of_all = 0;
    for (uint32_t at = 0; at < batch->count; at += CAROM_LANES64) {
        vec a[3], b[3];
        for (int i = 0; i < 3; ++i) {
            a[i] = load(batch, i, at);
            b[i] = load(batch, 3 + i, at);
        }
        lanes l = lanes_make(a, b, margin);
        carom_i64v yes = near_enough(&l, least_of_corners(l.a, l.b));
        vec between = sub(add(add(l.b[0], l.b[1]), l.b[2]), add(l.a[1], l.a[2]));
        carom_i64v no = separated(&l, between) | separated(&l, cross(l.a[1], l.a[2])) |
                        separated(&l, cross(sub(l.b[1], l.b[0]), sub(l.b[2], l.b[0])));
        yes_of_all |= (uint64_t)carom_lanes_of64(yes) << at;
        no_of_all |= (uint64_t)carom_lanes_of64(no) << at;
    }
    uint64_t all = batch->count < 64 ? (UINT64_C(1) << batch->count) - 1 : UINT64_MAX;
    batch->yes = yes_of_all & all;
    batch->open = all & ~yes_of_all & ~no_of_all;
    decide_open(batch, margin);
}
