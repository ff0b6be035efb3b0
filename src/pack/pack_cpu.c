/* SPDX-License-Identifier: MIT */
/* The vector loops of packing.
 *
 * The bound. Let the obstacles be balls (c_i, r_i), D_i = |p - c_i|, d_i = D_i - r_i, n_i = (p -
 * c_i) / D_i. A centre q = p + v with |v| <= h is |q - c_i| <= D_i + n_i.v + v^2 / 2 D_i away from
 * c_i. The radius of an empty ball at q is at most the least of these less r_i, so at most any
 * convex combination of them:
 *     sum l_i (d_i + h^2 / 2 D_i) + h |sum l_i n_i|.
 * The weights l are found by the method of Frank and Wolfe (1956) with exact line search. Every l
 * gives a valid bound, so it may stop at any step. In the optimum, sum l_i n_i points to where the
 * largest empty ball is. */
#include "pack/pack_cpu.h"

#include <math.h>

#include "base/simd.h"

typedef struct pack_cpu_vec_v {
    carom_f64v x, y, z;
} pack_cpu_vec_v;

static inline carom_f64v pack_cpu_choose(carom_i64v comparison, carom_f64v yes, carom_f64v no) {
    return (carom_f64v)(((carom_i64v)yes & comparison) | ((carom_i64v)no & ~comparison));
}

static inline pack_cpu_vec_v pack_cpu_load_vec(const double (*rows)[CAROM_BVH_WIDTH], uint32_t at) {
    return (pack_cpu_vec_v){carom_f64v_load(rows[0] + at), carom_f64v_load(rows[1] + at),
                            carom_f64v_load(rows[2] + at)};
}

static inline carom_f64v pack_cpu_dot(pack_cpu_vec_v a, pack_cpu_vec_v b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline pack_cpu_vec_v pack_cpu_sub(pack_cpu_vec_v a, pack_cpu_vec_v b) {
    return (pack_cpu_vec_v){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline pack_cpu_vec_v pack_cpu_along(pack_cpu_vec_v a, pack_cpu_vec_v u, carom_f64v t) {
    return (pack_cpu_vec_v){a.x + u.x * t, a.y + u.y * t, a.z + u.z * t};
}

/* The point nearest to the origin on the segment a + t u, t in [0, 1]. */
static inline pack_cpu_vec_v pack_cpu_edge_foot(pack_cpu_vec_v a, pack_cpu_vec_v u,
                                                carom_f64v square) {
    const carom_f64v zero = carom_f64v_splat(0.0), one = carom_f64v_splat(1.0);
    carom_f64v t = -pack_cpu_dot(a, u) / pack_cpu_choose(square > 0.0, square, one);
    return pack_cpu_along(a, u, carom_f64v_min(carom_f64v_max(t, zero), one));
}

static inline void pack_cpu_take_nearer(pack_cpu_vec_v foot, pack_cpu_vec_v *best,
                                        carom_f64v *square) {
    carom_f64v s = pack_cpu_dot(foot, foot);
    carom_i64v nearer = s < *square;
    best->x = pack_cpu_choose(nearer, foot.x, best->x);
    best->y = pack_cpu_choose(nearer, foot.y, best->y);
    best->z = pack_cpu_choose(nearer, foot.z, best->z);
    *square = pack_cpu_choose(nearer, s, *square);
}

void CAROM_CPU(carom_pack_feet)(const carom_bvh_corners *corners, const double point[3],
                                double squares[CAROM_BVH_WIDTH], double feet[3][CAROM_BVH_WIDTH]) {
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES64) {
        pack_cpu_vec_v p = {carom_f64v_splat(point[0]), carom_f64v_splat(point[1]),
                            carom_f64v_splat(point[2])};
        pack_cpu_vec_v a = pack_cpu_sub(pack_cpu_load_vec(corners->row, at), p),
                       b = pack_cpu_sub(pack_cpu_load_vec(corners->row + 3, at), p);
        pack_cpu_vec_v c = pack_cpu_sub(pack_cpu_load_vec(corners->row + 6, at), p);
        pack_cpu_vec_v u = pack_cpu_sub(b, a), v = pack_cpu_sub(c, a), o = pack_cpu_sub(c, b);
        carom_f64v uu = pack_cpu_dot(u, u), uv = pack_cpu_dot(u, v), vv = pack_cpu_dot(v, v);
        pack_cpu_vec_v best = pack_cpu_edge_foot(a, u, uu);
        carom_f64v square = pack_cpu_dot(best, best);
        pack_cpu_take_nearer(pack_cpu_edge_foot(b, o, pack_cpu_dot(o, o)), &best, &square);
        pack_cpu_take_nearer(pack_cpu_edge_foot(a, v, vv), &best, &square);
        carom_f64v au = -pack_cpu_dot(a, u), av = -pack_cpu_dot(a, v);
        carom_f64v denominator = uu * vv - uv * uv;
        carom_f64v s = vv * au - uv * av, t = uu * av - uv * au;
        carom_i64v inside =
            (s > 0.0) & (t > 0.0) & (s + t < denominator) & (denominator > 0x1p-40 * (uu * vv));
        denominator = pack_cpu_choose(inside, denominator, carom_f64v_splat(1.0));
        pack_cpu_vec_v foot =
            pack_cpu_along(pack_cpu_along(a, u, s / denominator), v, t / denominator);
        carom_f64v flat = pack_cpu_dot(foot, foot);
        inside &= flat < square;
        best.x = pack_cpu_choose(inside, foot.x, best.x);
        best.y = pack_cpu_choose(inside, foot.y, best.y);
        best.z = pack_cpu_choose(inside, foot.z, best.z);
        square = pack_cpu_choose(inside, flat, square);
        carom_f64v_store(squares + at, square);
        carom_f64v_store(feet[0] + at, best.x + p.x);
        carom_f64v_store(feet[1] + at, best.y + p.y);
        carom_f64v_store(feet[2] + at, best.z + p.z);
    }
}

/* ---- Bound ----------------------------------------------------------------------------------- */

/* One constraint per lane: at most e + n.v. */
typedef struct linear {
    double e[CAROM_PACK_NEAR], x[CAROM_PACK_NEAR], y[CAROM_PACK_NEAR], z[CAROM_PACK_NEAR];
    uint32_t count; /* a multiple of the lanes; the rest is infinite */
} linear;

static void make_linear(const carom_pack_near *near, const double point[3], double reach,
                        linear *l) {
    double limit = near->least + 2.0 * reach;
    uint32_t count = 0;
    for (uint32_t i = 0; i < near->count; ++i) {
        if (near->apart[i] > limit) continue;
        carom_pack_linear one = carom_pack_linear_make(point, near->x[i], near->y[i], near->z[i],
                                                       near->radius[i], near->apart[i], reach);
        l->e[count] = one.e;
        l->x[count] = one.x;
        l->y[count] = one.y;
        l->z[count] = one.z;
        ++count;
    }
    for (; count % CAROM_LANES64 != 0; ++count) {
        l->e[count] = HUGE_VAL;
        l->x[count] = l->y[count] = l->z[count] = 0.0;
    }
    CAROM_ASSERT(count <= CAROM_PACK_NEAR);
    l->count = count;
}

static carom_pack_linear linear_at(const linear *l, uint32_t i) {
    carom_pack_linear one = {l->e[i], l->x[i], l->y[i], l->z[i]};
    return one;
}

/* The constraint that is least along g, a vector; the lowest index of equal ones. */
static uint32_t pack_cpu_least_along(const linear *l, const double g[3], double *least) {
    carom_f64v low = carom_f64v_splat(HUGE_VAL);
    double values[CAROM_PACK_NEAR];
    for (uint32_t at = 0; at < l->count; at += CAROM_LANES64) {
        carom_f64v v = carom_f64v_load(l->e + at) +
                       (carom_f64v_load(l->x + at) * g[0] + carom_f64v_load(l->y + at) * g[1] +
                        carom_f64v_load(l->z + at) * g[2]);
        carom_f64v_store(values + at, v);
        low = carom_f64v_min(v, low);
    }
    double lows[CAROM_LANES64], best = HUGE_VAL;
    carom_f64v_store(lows, low);
    for (uint32_t i = 0; i < CAROM_LANES64; ++i) best = CAROM_MIN(lows[i], best);
    *least = best;
    for (uint32_t at = 0; at < l->count; at += CAROM_LANES64) {
        carom_lanes lanes = carom_lanes_of64(carom_f64v_load(values + at) <= best);
        if (lanes != 0) return at + (uint32_t)__builtin_ctz(lanes);
    }
    return 0;
}

double CAROM_CPU(carom_pack_bound)(const carom_pack_near *near, const double point[3], double reach,
                                   double goal, double direction[3]) {
    linear l;
    direction[0] = direction[1] = direction[2] = 0.0;
    if (near->count == 0) return near->least + reach;
    make_linear(near, point, reach, &l);
    if (l.count == 0) return near->least + reach;
    const double zero[3] = {0.0, 0.0, 0.0};
    double value;
    uint32_t i = pack_cpu_least_along(&l, zero, &value);
    carom_pack_bounding b = carom_pack_bounding_begin(reach, goal, near->least, linear_at(&l, i));
    for (int step = 0; step < CAROM_PACK_BOUND_STEPS; ++step) {
        if (!carom_pack_bounding_value(&b)) break;
        i = pack_cpu_least_along(&l, b.along, &value);
        if (!carom_pack_bounding_move(&b, linear_at(&l, i), value)) break;
    }
    for (int k = 0; k < 3; ++k) direction[k] = b.direction[k];
    /* The ball around the point is empty, so a bound below its radius would be none. */
    CAROM_ASSERT(b.bound >= near->least - CAROM_PACK_ERROR && b.bound <= near->least + reach);
    return b.bound;
}

/* ---- Children of a cell ---------------------------------------------------------------------- */

void CAROM_CPU(carom_pack_octant_sites)(const carom_pack_site *sites, const uint32_t *ids,
                                        uint64_t count, const carom_pack_octants *octants,
                                        double *apart, uint8_t *masks, uint32_t owners[8]) {
    for (uint64_t i = 0; i < count; ++i) masks[i] = 0;
    for (uint32_t at = 0; at < 8; at += CAROM_LANES64) {
        carom_f64v x = carom_f64v_load(octants->x + at), y = carom_f64v_load(octants->y + at);
        carom_f64v z = carom_f64v_load(octants->z + at);
        carom_f64v least = carom_f64v_splat(HUGE_VAL), limit = least;
        carom_i64v owner = {0};
        for (uint64_t i = 0; i < count; ++i) {
            const carom_pack_site *site = &sites[ids[i]];
            carom_f64v dx = x - site->x, dy = y - site->y, dz = z - site->z;
            carom_f64v away = carom_f64v_sqrt(dx * dx + dy * dy + dz * dz) - site->radius;
            carom_f64v_store(apart + 8 * i + at, away);
            carom_f64v weighted = away * site->weight;
            carom_i64v nearer = weighted < least;
            owner = (nearer & (int64_t)ids[i]) | (~nearer & owner);
            least = carom_f64v_min(weighted, least);
            limit = carom_f64v_min((away + octants->h) * site->weight, limit);
        }
        limit = limit + 0x1p-40 * carom_f64v_abs(limit);
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

void CAROM_CPU(carom_pack_octant_triangles)(const carom_triangle *triangles, const uint32_t *ids,
                                            uint64_t count, const carom_pack_octants *octants,
                                            uint8_t *masks) {
    double half = octants->half + 0x1p-48;
    for (uint64_t i = 0; i < count; ++i) {
        const carom_vec3 *p = triangles[ids[i]].corner;
        double ux = p[1].x - p[0].x, uy = p[1].y - p[0].y, uz = p[1].z - p[0].z;
        double vx = p[2].x - p[0].x, vy = p[2].y - p[0].y, vz = p[2].z - p[0].z;
        double nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
        double radius = half * (fabs(nx) + fabs(ny) + fabs(nz));
        double limit = radius * (1.0 + 0x1p-30) + 0x1p-60;
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
