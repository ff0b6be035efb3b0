/* SPDX-License-Identifier: MIT */
/* convex_scan.h: the farthest vertex in blocks of a hull, the inner loop of support points, and the
 * least of many numbers.
 *
 * In files compiled per instruction set the loop is one of vectors (simd.h), elsewhere and on the
 * GPU an item; the result is the same for any width, as each dot product is rounded the same way
 * and the first of equals is taken. So items (convex_item.h) are free of vectors. */
#ifndef CAROM_SRC_CONVEX_SCAN_H
#define CAROM_SRC_CONVEX_SCAN_H

#include "geom/vec.h"

#ifdef CAROM_ISA_SUFFIX
#include "base/simd.h"
#endif

#define CAROM_HULL_LANES 8u /* vertices in a block: one vector of doubles with AVX-512 */

/* Coordinates and indices of eight vertices. */
typedef struct carom_hull_block {
    double x[CAROM_HULL_LANES], y[CAROM_HULL_LANES], z[CAROM_HULL_LANES];
    uint32_t index[CAROM_HULL_LANES];
} carom_hull_block;

/* The farthest of the vertices in some blocks, the first of equals: its index in the blocks if it
 * is farther than *value, which is raised, else `none`. */
#ifdef CAROM_ISA_SUFFIX
__attribute__((always_inline)) static inline uint32_t
carom_hull_scan(const carom_hull_block *blocks, uint32_t count, carom_vec3 d, uint32_t none,
                double *value) {
    enum { PARTS = CAROM_HULL_LANES / CAROM_LANES64, AT_ONCE = 8 };
    carom_f64v x = carom_f64v_splat(d.x), y = carom_f64v_splat(d.y), z = carom_f64v_splat(d.z);
    carom_f64v dots[AT_ONCE * PARTS];
    uint32_t best = none;
    for (uint32_t begin = 0; begin < count; begin += AT_ONCE) {
        const carom_hull_block *b = blocks + begin;
        uint32_t parts = PARTS * (count - begin < AT_ONCE ? count - begin : AT_ONCE);
        carom_f64v most = carom_f64v_splat(-HUGE_VAL);
        for (uint32_t i = 0; i < parts; ++i) {
            const carom_hull_block *block = b + i / PARTS;
            uint32_t lane = i % PARTS * CAROM_LANES64;
            carom_f64v px = carom_f64v_load(block->x + lane);
            carom_f64v py = carom_f64v_load(block->y + lane);
            carom_f64v pz = carom_f64v_load(block->z + lane);
            dots[i] = (px * x + py * y) + pz * z;
            most = carom_f64v_max(dots[i], most);
        }
        double top = carom_f64v_greatest(most);
        if (!(top > *value)) continue;
        *value = top;
        carom_f64v tops = carom_f64v_splat(top);
        uint64_t equal = 0; /* one bit per vertex: no branch depends on which it is */
        for (uint32_t i = 0; i < parts; ++i)
            equal |= (uint64_t)carom_f64v_lanes_equal(dots[i], tops) << (i * CAROM_LANES64);
        uint32_t first = (uint32_t)__builtin_ctzll(equal);
        best = begin * CAROM_HULL_LANES + first;
    }
    return best;
}
#else
CAROM_ITEM uint32_t carom_hull_scan(const carom_hull_block *blocks, uint32_t count, carom_vec3 d,
                                    uint32_t none, double *value) {
    uint32_t best = none;
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t k = 0; k < CAROM_HULL_LANES; ++k) {
            double dot = (blocks[i].x[k] * d.x + blocks[i].y[k] * d.y) + blocks[i].z[k] * d.z;
            if (!(dot > *value)) continue;
            *value = dot;
            best = i * CAROM_HULL_LANES + k;
        }
    return best;
}
#endif

/* Numbers that are searched have space for a multiple of so many, filled up with HUGE_VAL. */
#define CAROM_SCAN_PADDING 8u

#ifdef CAROM_ISA_SUFFIX
/* The least of `count` numbers. */
__attribute__((always_inline)) static inline double carom_scan_least(const double *values,
                                                                     uint32_t count) {
    carom_f64v least = carom_f64v_splat(HUGE_VAL);
    for (uint32_t i = 0; i < count; i += CAROM_LANES64)
        least = carom_f64v_min(carom_f64v_load(values + i), least);
    return -carom_f64v_greatest(-least);
}

/* The first index from `from` on with that value; `count` or more: none. */
__attribute__((always_inline)) static inline uint32_t
carom_scan_equal(const double *values, uint32_t from, uint32_t count, double value) {
    carom_f64v wanted = carom_f64v_splat(value);
    carom_lanes rest = ~(carom_lanes)0 << from % CAROM_LANES64;
    for (uint32_t i = from - from % CAROM_LANES64; i < count; i += CAROM_LANES64) {
        carom_lanes lanes = carom_f64v_lanes_equal(carom_f64v_load(values + i), wanted) & rest;
        if (lanes != 0) return i + (uint32_t)__builtin_ctz(lanes);
        rest = ~(carom_lanes)0;
    }
    return count;
}
#else
CAROM_ITEM double carom_scan_least(const double *values, uint32_t count) {
    double least = HUGE_VAL;
    for (uint32_t i = 0; i < count; ++i) least = CAROM_MIN(values[i], least);
    return least;
}

CAROM_ITEM uint32_t carom_scan_equal(const double *values, uint32_t from, uint32_t count,
                                     double value) {
    while (from < count && values[from] != value) ++from;
    return from;
}
#endif

#endif
