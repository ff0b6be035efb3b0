/* SPDX-License-Identifier: MIT */
/* Carrying points in vectors: the weighted sums of moving least squares (pack_carry.c). */
#include "pack/pack_carry_cpu.h"

#include "base/simd.h"

/* A node counts by its mean from this many of its radii on. The carried point is exact for affine
 * deformations whatever this is; with 2 in its place spheres of a bent torus lie elsewhere by 0.3 %
 * of their radii in the mean, and carrying takes twice as long. */
#define PACK_CARRY_FAR 1.25

/* Added to squared distances, in the frame, where extents are 1/2 to 1: the weight of a triangle
 * that a point touches stays finite. */
#define PACK_CARRY_NEAREST 0x1p-40

static inline void pack_carry_add(double *to, carom_f64v value) {
    carom_f64v_store(to, carom_f64v_load(to) + value);
}

/* Adds the moments of some lanes, at most CAROM_LANES64, with their weights. */
static inline void pack_carry_add_lanes(const carom_pack_moments *m, uint32_t at,
                                        const carom_f64v d[3], carom_f64v weight,
                                        carom_pack_sums *sums) {
    static const int first[6] = {0, 1, 2, 0, 0, 1}, second[6] = {0, 1, 2, 1, 2, 2};
    carom_f64v mass = weight * carom_f64v_load(m->row[CAROM_PACK_AREA] + at), y[3];
    pack_carry_add(sums->row[CAROM_PACK_SUM_WEIGHT] + at, mass);
    for (int k = 0; k < 3; ++k) {
        y[k] = mass * carom_f64v_load(m->row[CAROM_PACK_AFTER + k] + at);
        pack_carry_add(sums->row[CAROM_PACK_SUM_BEFORE + k] + at, mass * d[k]);
        pack_carry_add(sums->row[CAROM_PACK_SUM_AFTER + k] + at, y[k]);
    }
    for (int k = 0; k < 6; ++k)
        pack_carry_add(sums->row[CAROM_PACK_SUM_SPREAD + k] + at,
                       weight * carom_f64v_load(m->row[CAROM_PACK_SPREAD + k] + at) +
                           mass * d[first[k]] * d[second[k]]);
    for (int k = 0; k < 9; ++k)
        pack_carry_add(sums->row[CAROM_PACK_SUM_MIXED + k] + at,
                       weight * carom_f64v_load(m->row[CAROM_PACK_MIXED + k] + at) +
                           y[k / 3] * d[k % 3]);
}

static inline void pack_carry_differences(const carom_pack_moments *m, uint32_t at,
                                          const double point[3], carom_f64v d[3]) {
    for (int k = 0; k < 3; ++k)
        d[k] = carom_f64v_load(m->row[CAROM_PACK_BEFORE + k] + at) - point[k];
}

/* The fourth power of the inverse distance. */
static inline carom_f64v pack_carry_weight(carom_f64v square) {
    carom_f64v inverse = 1.0 / (square + PACK_CARRY_NEAREST);
    return inverse * inverse;
}

uint32_t CAROM_CPU(carom_pack_add_far)(const carom_pack_moments *moments, const double point[3],
                                       carom_pack_sums *sums) {
    uint32_t open = 0;
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES64) {
        carom_f64v d[3], none = carom_f64v_splat(0.0);
        pack_carry_differences(moments, at, point, d);
        carom_f64v square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        carom_f64v radius = carom_f64v_load(moments->row[CAROM_PACK_RADIUS] + at) * PACK_CARRY_FAR;
        carom_i64v some = carom_f64v_load(moments->row[CAROM_PACK_AREA] + at) > 0.0;
        carom_i64v is_far = (radius * radius < square) & some;
        open |= carom_lanes_of64(~is_far & some) << at;
        if (carom_lanes_of64(is_far) == 0) continue;
        pack_carry_add_lanes(moments, at, d,
                             carom_f64v_select(is_far, pack_carry_weight(square), none), sums);
    }
    return open;
}

void CAROM_CPU(carom_pack_add_near)(const carom_pack_moments *moments, const double point[3],
                                    const double squares[CAROM_BVH_WIDTH], carom_pack_sums *sums) {
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES64) {
        carom_f64v d[3];
        pack_carry_differences(moments, at, point, d);
        pack_carry_add_lanes(moments, at, d, pack_carry_weight(carom_f64v_load(squares + at)),
                             sums);
    }
}
