/* SPDX-License-Identifier: MIT */
/* The vector loops of a solid's surface and of its division: the nearest points of sixteen
 * triangles, and which balls and triangles matter in the eight children of a cell. */
#include "spheres/spheres_cpu.h"

#include <math.h>

#include "base/simd.h"

/* ---- Nearest points -------------------------------------------------------------------------- */

typedef struct spheres_cpu_vec_v {
    carom_f64v x, y, z;
} spheres_cpu_vec_v;

static inline carom_f64v spheres_cpu_choose(carom_i64v comparison, carom_f64v yes, carom_f64v no) {
    return (carom_f64v)(((carom_i64v)yes & comparison) | ((carom_i64v)no & ~comparison));
}

static inline spheres_cpu_vec_v spheres_cpu_load_vec(const double (*rows)[CAROM_BVH_WIDTH],
                                                     uint32_t at) {
    return (spheres_cpu_vec_v){carom_f64v_load(rows[0] + at), carom_f64v_load(rows[1] + at),
                               carom_f64v_load(rows[2] + at)};
}

static inline carom_f64v spheres_cpu_dot(spheres_cpu_vec_v a, spheres_cpu_vec_v b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline spheres_cpu_vec_v spheres_cpu_sub(spheres_cpu_vec_v a, spheres_cpu_vec_v b) {
    return (spheres_cpu_vec_v){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline spheres_cpu_vec_v spheres_cpu_along(spheres_cpu_vec_v a, spheres_cpu_vec_v u,
                                                  carom_f64v t) {
    return (spheres_cpu_vec_v){a.x + u.x * t, a.y + u.y * t, a.z + u.z * t};
}

/* The point nearest to the origin on the segment a + t u, t in [0, 1]. */
static inline spheres_cpu_vec_v spheres_cpu_edge_foot(spheres_cpu_vec_v a, spheres_cpu_vec_v u,
                                                      carom_f64v square) {
    const carom_f64v zero = carom_f64v_splat(0.0), one = carom_f64v_splat(1.0);
    carom_f64v t = -spheres_cpu_dot(a, u) / spheres_cpu_choose(square > 0.0, square, one);
    return spheres_cpu_along(a, u, carom_f64v_min(carom_f64v_max(t, zero), one));
}

static inline void spheres_cpu_take_nearer(spheres_cpu_vec_v foot, spheres_cpu_vec_v *best,
                                           carom_f64v *square) {
    carom_f64v s = spheres_cpu_dot(foot, foot);
    carom_i64v nearer = s < *square;
    best->x = spheres_cpu_choose(nearer, foot.x, best->x);
    best->y = spheres_cpu_choose(nearer, foot.y, best->y);
    best->z = spheres_cpu_choose(nearer, foot.z, best->z);
    *square = spheres_cpu_choose(nearer, s, *square);
}

void CAROM_CPU(carom_spheres_feet)(const carom_bvh_corners *corners, const double point[3],
                                   uint32_t lanes, double squares[CAROM_BVH_WIDTH],
                                   double feet[3][CAROM_BVH_WIDTH]) {
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES64) {
        if ((lanes >> at & ((1u << CAROM_LANES64) - 1)) == 0) continue;
        spheres_cpu_vec_v p = {carom_f64v_splat(point[0]), carom_f64v_splat(point[1]),
                               carom_f64v_splat(point[2])};
        spheres_cpu_vec_v a = spheres_cpu_sub(spheres_cpu_load_vec(corners->row, at), p),
                          b = spheres_cpu_sub(spheres_cpu_load_vec(corners->row + 3, at), p);
        spheres_cpu_vec_v c = spheres_cpu_sub(spheres_cpu_load_vec(corners->row + 6, at), p);
        spheres_cpu_vec_v u = spheres_cpu_sub(b, a), v = spheres_cpu_sub(c, a),
                          o = spheres_cpu_sub(c, b);
        carom_f64v uu = spheres_cpu_dot(u, u), uv = spheres_cpu_dot(u, v),
                   vv = spheres_cpu_dot(v, v);
        spheres_cpu_vec_v best = spheres_cpu_edge_foot(a, u, uu);
        carom_f64v square = spheres_cpu_dot(best, best);
        spheres_cpu_take_nearer(spheres_cpu_edge_foot(b, o, spheres_cpu_dot(o, o)), &best, &square);
        spheres_cpu_take_nearer(spheres_cpu_edge_foot(a, v, vv), &best, &square);
        carom_f64v au = -spheres_cpu_dot(a, u), av = -spheres_cpu_dot(a, v);
        carom_f64v denominator = uu * vv - uv * uv;
        carom_f64v s = vv * au - uv * av, t = uu * av - uv * au;
        carom_i64v inside = (s > 0.0) & (t > 0.0) & (s + t < denominator) &
                            (denominator > CAROM_SPHERES_NEEDLE * (uu * vv));
        if (carom_lanes_of64(inside) != 0) {
            denominator = spheres_cpu_choose(inside, denominator, carom_f64v_splat(1.0));
            spheres_cpu_vec_v foot =
                spheres_cpu_along(spheres_cpu_along(a, u, s / denominator), v, t / denominator);
            carom_f64v flat = spheres_cpu_dot(foot, foot);
            inside &= flat < square;
            best.x = spheres_cpu_choose(inside, foot.x, best.x);
            best.y = spheres_cpu_choose(inside, foot.y, best.y);
            best.z = spheres_cpu_choose(inside, foot.z, best.z);
            square = spheres_cpu_choose(inside, flat, square);
        }
        carom_f64v_store(squares + at, square);
        carom_f64v_store(feet[0] + at, best.x + p.x);
        carom_f64v_store(feet[1] + at, best.y + p.y);
        carom_f64v_store(feet[2] + at, best.z + p.z);
    }
}

/* Relative, of a bound that distances of sites are compared with: more than their roundings of
 * 2^-53, and hardly a site more. */
#define SITE_LIMIT_MARGIN 0x1p-40
/* In units of the frame, where coordinates are below 8: differences are rounded by 2^-51. */
#define OCTANT_MARGIN 0x1p-48
/* A factor, and what is added for triangles without an area, of the projection of a cell on the
 * normal of a triangle, a difference of products that are rounded by 2^-53. */
#define PLANE_RADIUS_UP    (1.0 + 0x1p-30)
#define PLANE_RADIUS_LEAST 0x1p-60

/* ---- Children of a cell ---------------------------------------------------------------------- */

void CAROM_CPU(carom_spheres_octant_sites)(const carom_spheres_site *sites, const uint32_t *ids,
                                           uint64_t count, const carom_spheres_octants *octants,
                                           double *apart, uint8_t *masks, uint32_t owners[8]) {
    for (uint64_t i = 0; i < count; ++i) masks[i] = 0;
    for (uint32_t at = 0; at < 8; at += CAROM_LANES64) {
        carom_f64v x = carom_f64v_load(octants->x + at), y = carom_f64v_load(octants->y + at);
        carom_f64v z = carom_f64v_load(octants->z + at);
        carom_f64v least = carom_f64v_splat(HUGE_VAL), limit = least;
        carom_i64v owner = {0};
        for (uint64_t i = 0; i < count; ++i) {
            const carom_spheres_site *site = &sites[ids[i]];
            carom_f64v dx = x - site->x, dy = y - site->y, dz = z - site->z;
            carom_f64v away = carom_f64v_sqrt(dx * dx + dy * dy + dz * dz) - site->radius;
            carom_f64v_store(apart + 8 * i + at, away);
            carom_f64v weighted = away * site->weight;
            carom_i64v nearer = weighted < least;
            owner = (nearer & (int64_t)ids[i]) | (~nearer & owner);
            least = carom_f64v_min(weighted, least);
            limit = carom_f64v_min((away + octants->h) * site->weight, limit);
        }
        limit = limit + SITE_LIMIT_MARGIN * carom_f64v_abs(limit);
        for (uint64_t i = 0; i < count; ++i) {
            carom_f64v away = carom_f64v_load(apart + 8 * i + at);
            carom_f64v lower = (away - octants->h) * sites[ids[i]].weight;
            masks[i] = (uint8_t)(masks[i] | carom_lanes_of64(lower <= limit) << at);
        }
        for (uint32_t k = 0; k < CAROM_LANES64; ++k) owners[at + k] = (uint32_t)owner[k];
    }
}

/* Whether three numbers all exceed `half`, or all are below -half. */
static inline carom_i64v beside(carom_f64v a, carom_f64v b, carom_f64v c, double half) {
    return (carom_f64v_min(carom_f64v_min(a, b), c) > half) |
           (carom_f64v_max(carom_f64v_max(a, b), c) < -half);
}

void CAROM_CPU(carom_spheres_octant_triangles)(const carom_triangle *triangles, const uint32_t *ids,
                                               uint64_t count, const carom_spheres_octants *octants,
                                               uint8_t *masks) {
    double half = octants->half + OCTANT_MARGIN;
    for (uint64_t i = 0; i < count; ++i) {
        const carom_vec3 *p = triangles[ids[i]].corner;
        double ux = p[1].x - p[0].x, uy = p[1].y - p[0].y, uz = p[1].z - p[0].z;
        double vx = p[2].x - p[0].x, vy = p[2].y - p[0].y, vz = p[2].z - p[0].z;
        double nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
        double radius = half * (fabs(nx) + fabs(ny) + fabs(nz));
        double limit = radius * PLANE_RADIUS_UP + PLANE_RADIUS_LEAST;
        carom_lanes lanes = 0;
        for (uint32_t at = 0; at < 8; at += CAROM_LANES64) {
            carom_f64v x = carom_f64v_load(octants->x + at), y = carom_f64v_load(octants->y + at);
            carom_f64v z = carom_f64v_load(octants->z + at);
            carom_f64v ax = p[0].x - x, ay = p[0].y - y, az = p[0].z - z;
            carom_i64v apart = beside(ax, p[1].x - x, p[2].x - x, half) |
                               beside(ay, p[1].y - y, p[2].y - y, half) |
                               beside(az, p[1].z - z, p[2].z - z, half);
            carom_f64v height = carom_f64v_abs(nx * ax + ny * ay + nz * az);
            lanes |= carom_lanes_of64(~apart & (height <= limit)) << at;
        }
        masks[i] = (uint8_t)lanes;
    }
}
