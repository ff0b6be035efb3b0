/* SPDX-License-Identifier: MIT */
/* Lower bounds of the distances of triangles from a point, several at a time: a filter before the
 * distance itself.
 *
 * Seen from the point, let w be the corners, W their largest coordinate, u the edges, U the largest
 * coordinate of the two at the first corner, n their product and e = 2^-53. A point outside the
 * prism over the triangle is nearest to an edge; otherwise the plane is no farther than the
 * triangle. */
#include "soup/soup_points_cpu.h"

#include "base/simd.h"

/* Bounds of rounding, in the terms above. Of the distance to an edge, in W and in itself: an error
 * of the edge's parameter has no effect of first order. */
#define POINTS_EDGE_ERROR 0x1p-46
/* Of n.w, in U^2 W: below 50 e. */
#define POINTS_HEIGHT_ERROR 0x1p-46
/* Of n.n, in U^4: below 2^-44.1. */
#define POINTS_NORMAL_ERROR 0x1p-43
/* Of the side of an edge (n x u).w, in U^3 W: below 300 e. */
#define POINTS_SIDE_ERROR 0x1p-44
/* Of a height divided by the normal's length, in itself: a root, a quotient and a product. */
#define POINTS_QUOTIENT_ERROR 0x1p-44
/* Sizes whose fourth powers stay in the range of a double; beyond them the bound is 0. */
#define POINTS_LEAST_SIZE   0x1p-100
#define POINTS_LARGEST_SIZE 0x1p100

static inline carom_f64v soup_points_cpu_load(const double *from) {
    carom_f64v value;
    memcpy(&value, from, sizeof(value));
    return value;
}

static inline carom_f64v soup_points_cpu_choose(carom_i64v comparison, carom_f64v yes,
                                                carom_f64v no) {
    return (carom_f64v)(((carom_i64v)yes & comparison) | ((carom_i64v)no & ~comparison));
}

typedef struct soup_points_cpu_vec_v {
    carom_f64v x, y, z;
} soup_points_cpu_vec_v;

static inline soup_points_cpu_vec_v soup_points_cpu_load_vec(const double (*rows)[CAROM_BVH_WIDTH],
                                                             uint32_t at) {
    return (soup_points_cpu_vec_v){soup_points_cpu_load(rows[0] + at),
                                   soup_points_cpu_load(rows[1] + at),
                                   soup_points_cpu_load(rows[2] + at)};
}

static inline carom_f64v soup_points_cpu_dot(soup_points_cpu_vec_v a, soup_points_cpu_vec_v b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline soup_points_cpu_vec_v soup_points_cpu_cross(soup_points_cpu_vec_v a,
                                                          soup_points_cpu_vec_v b) {
    return (soup_points_cpu_vec_v){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z,
                                   a.x * b.y - a.y * b.x};
}

static inline soup_points_cpu_vec_v soup_points_cpu_sub(soup_points_cpu_vec_v a,
                                                        soup_points_cpu_vec_v b) {
    return (soup_points_cpu_vec_v){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline carom_f64v soup_points_cpu_largest(soup_points_cpu_vec_v a) {
    return carom_f64v_max(carom_f64v_max(carom_f64v_abs(a.x), carom_f64v_abs(a.y)),
                          carom_f64v_abs(a.z));
}

/* The squared distance of the segment w + t u, t in [0, 1], from the point. An edge without length
 * is a point. */
static inline carom_f64v edge_squared(soup_points_cpu_vec_v w, soup_points_cpu_vec_v u) {
    const carom_f64v zero = carom_f64v_splat(0.0), one = carom_f64v_splat(1.0);
    carom_f64v square = soup_points_cpu_dot(u, u);
    carom_f64v t = -soup_points_cpu_dot(w, u) / soup_points_cpu_choose(square > 0.0, square, one);
    t = carom_f64v_min(carom_f64v_max(t, zero), one);
    soup_points_cpu_vec_v foot = {w.x + u.x * t, w.y + u.y * t, w.z + u.z * t};
    return soup_points_cpu_dot(foot, foot);
}

void CAROM_CPU(carom_soup_lower_bounds)(const carom_soup_seen *seen, uint32_t count,
                                        double bounds[CAROM_BVH_WIDTH]) {
    const carom_f64v zero = carom_f64v_splat(0.0);
    for (uint32_t at = 0; at < count; at += CAROM_LANES64) {
        soup_points_cpu_vec_v a = soup_points_cpu_load_vec(seen->corner, at),
                              b = soup_points_cpu_load_vec(seen->corner + 3, at);
        soup_points_cpu_vec_v c = soup_points_cpu_load_vec(seen->corner + 6, at);
        soup_points_cpu_vec_v u = soup_points_cpu_load_vec(seen->edge, at),
                              v = soup_points_cpu_load_vec(seen->edge + 3, at),
                              o = soup_points_cpu_sub(v, u);
        carom_f64v far =
            carom_f64v_max(carom_f64v_max(soup_points_cpu_largest(a), soup_points_cpu_largest(b)),
                           soup_points_cpu_largest(c));
        carom_f64v size = carom_f64v_max(soup_points_cpu_largest(u), soup_points_cpu_largest(v)),
                   square = size * size;
        carom_i64v in_range = (size > POINTS_LEAST_SIZE) & (far < POINTS_LARGEST_SIZE);
        soup_points_cpu_vec_v n = soup_points_cpu_cross(u, v);
        carom_f64v doubt = POINTS_SIDE_ERROR * (square * size * far);
        carom_i64v outside = (soup_points_cpu_dot(soup_points_cpu_cross(n, u), a) > doubt) |
                             (soup_points_cpu_dot(soup_points_cpu_cross(n, o), b) > doubt) |
                             (soup_points_cpu_dot(soup_points_cpu_cross(v, n), c) > doubt);
        carom_f64v edges = carom_f64v_min(carom_f64v_min(edge_squared(a, u), edge_squared(b, o)),
                                          edge_squared(a, v));
        carom_f64v normal = soup_points_cpu_dot(n, n) + POINTS_NORMAL_ERROR * (square * square);
        carom_f64v height =
            carom_f64v_abs(soup_points_cpu_dot(n, a)) - POINTS_HEIGHT_ERROR * (square * far);
        carom_f64v root = carom_f64v_sqrt(soup_points_cpu_choose(outside, edges, normal));
        carom_f64v on_edge = root * (1.0 - POINTS_EDGE_ERROR) - POINTS_EDGE_ERROR * far;
        carom_f64v on_plane = height / root * (1.0 - POINTS_QUOTIENT_ERROR);
        carom_f64v bound = carom_f64v_max(soup_points_cpu_choose(outside, on_edge, on_plane), zero);
        bound = soup_points_cpu_choose(in_range, bound, zero);
        memcpy(bounds + at, &bound, sizeof(bound));
    }
}
