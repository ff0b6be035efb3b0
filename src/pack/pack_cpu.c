/* SPDX-License-Identifier: MIT */
/* The bound of the empty balls near a point, in vectors.
 *
 * Let the obstacles be balls (c_i, r_i), D_i = |p - c_i|, d_i = D_i - r_i, n_i = (p -
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

/* One constraint per lane: at most e + n.v. */
typedef struct linear {
    double e[CAROM_SPHERES_NEAR], x[CAROM_SPHERES_NEAR], y[CAROM_SPHERES_NEAR],
        z[CAROM_SPHERES_NEAR];
    uint32_t count; /* a multiple of the lanes; the rest is infinite */
} linear;

/* carom_pack_linear_make of all obstacles up to 2 `reach` farther than the nearest. */
static void make_linear(const carom_spheres_near *near, const double point[3], double reach,
                        linear *l) {
    double limit = near->least + 2.0 * reach;
    carom_f64v half = carom_f64v_splat(0.5 * reach);
    uint32_t count = 0;
    for (uint32_t at = 0; at < near->count; at += CAROM_LANES64) {
        carom_lanes lanes = near->count - at < CAROM_LANES64 ? (1u << (near->count - at)) - 1
                                                             : (1u << CAROM_LANES64) - 1;
        carom_f64v apart = carom_f64v_load(near->apart + at);
        lanes &= carom_lanes_of64(apart <= limit);
        if (lanes == 0) continue;
        carom_f64v away = apart + carom_f64v_load(near->radius + at);
        carom_i64v sharp = away > half;
        carom_f64v inverse =
            (carom_f64v)(sharp & (carom_i64v)(carom_f64v_splat(1.0) / carom_f64v_max(away, half)));
        carom_f64v e = 0.5 * reach * reach * inverse;
        e = apart +
            (carom_f64v)(((carom_i64v)e & sharp) | ((carom_i64v)carom_f64v_splat(reach) & ~sharp));
        /* What is stored beyond the new count stays within the row, as count <= at. */
        carom_f64v_store(l->e + count, carom_f64v_compress(e, lanes));
        carom_f64v x = (point[0] - carom_f64v_load(near->x + at)) * inverse;
        carom_f64v_store(l->x + count, carom_f64v_compress(x, lanes));
        carom_f64v y = (point[1] - carom_f64v_load(near->y + at)) * inverse;
        carom_f64v_store(l->y + count, carom_f64v_compress(y, lanes));
        carom_f64v z = (point[2] - carom_f64v_load(near->z + at)) * inverse;
        carom_f64v_store(l->z + count, carom_f64v_compress(z, lanes));
        count += (uint32_t)__builtin_popcount(lanes);
    }
    for (; count % CAROM_LANES64 != 0; ++count) {
        l->e[count] = HUGE_VAL;
        l->x[count] = l->y[count] = l->z[count] = 0.0;
    }
    CAROM_ASSERT(count <= CAROM_SPHERES_NEAR);
    l->count = count;
}

static carom_pack_linear linear_at(const linear *l, uint32_t i) {
    carom_pack_linear one = {l->e[i], l->x[i], l->y[i], l->z[i]};
    return one;
}

/* The constraint that is least along g, a vector; the lowest index of equal ones. */
static uint32_t pack_cpu_least_along(const linear *l, const double g[3], double *least) {
    carom_f64v low = carom_f64v_splat(HUGE_VAL);
    double values[CAROM_SPHERES_NEAR];
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

double CAROM_CPU(carom_pack_bound)(const carom_spheres_near *near, const double point[3],
                                   double reach, double goal, double direction[3]) {
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
    CAROM_ASSERT(b.bound >= near->least - CAROM_SPHERES_ERROR && b.bound <= near->least + reach);
    return b.bound;
}
