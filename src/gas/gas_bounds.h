/* SPDX-License-Identifier: MIT */
/* gas_bounds.h: lower bounds of the times at which float trajectories meet, eight at a time; part
 * of the loop in gas_run_cpu.c. */
#ifndef CAROM_SRC_GAS_GAS_BOUNDS_H
#define CAROM_SRC_GAS_GAS_BOUNDS_H

#include "base/simd.h"
#include "gas/gas_trajectory.h"

typedef float carom_gas_f4 __attribute__((vector_size(16)));
typedef float carom_gas_f8 __attribute__((vector_size(32)));
typedef int32_t carom_gas_i8 __attribute__((vector_size(32)));

/* Transposes eight vectors of four to four vectors of eight. */
static inline void carom_gas_transpose(const carom_gas_f4 row[8], carom_gas_f8 column[4]) {
    carom_gas_f8 pair[4], low[2], high[2];
    for (int i = 0; i < 4; ++i)
        pair[i] = __builtin_shufflevector(row[i], row[i + 4], 0, 1, 2, 3, 4, 5, 6, 7);
    for (int i = 0; i < 2; ++i) {
        low[i] = __builtin_shufflevector(pair[2 * i], pair[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        high[i] = __builtin_shufflevector(pair[2 * i], pair[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    column[0] = __builtin_shufflevector(low[0], low[1], 0, 1, 8, 9, 4, 5, 12, 13);
    column[1] = __builtin_shufflevector(low[0], low[1], 2, 3, 10, 11, 6, 7, 14, 15);
    column[2] = __builtin_shufflevector(high[0], high[1], 0, 1, 8, 9, 4, 5, 12, 13);
    column[3] = __builtin_shufflevector(high[0], high[1], 2, 3, 10, 11, 6, 7, 14, 15);
}

/* Bit mask of the lanes that are set. */
static inline uint32_t carom_gas_lanes(const carom_gas_i8 *mask) {
#if defined(__AVX2__)
    __m256 bits;
    memcpy(&bits, mask, sizeof(bits));
    return (uint32_t)_mm256_movemask_ps(bits);
#elif defined(__SSE2__)
    __m128 bits[2];
    memcpy(bits, mask, sizeof(bits));
    return (uint32_t)_mm_movemask_ps(bits[0]) | (uint32_t)_mm_movemask_ps(bits[1]) << 4;
#else
    uint32_t lanes = 0;
    for (int i = 0; i < 8; ++i) lanes |= (uint32_t)((*mask)[i] & 1) << i;
    return lanes;
#endif
}

/* Square roots; NaN for negative numbers. */
static inline void carom_gas_roots(const carom_gas_f8 *from, carom_gas_f8 *to) {
#if defined(__AVX2__)
    *to = (carom_gas_f8)_mm256_sqrt_ps((__m256)*from);
#else
    for (int i = 0; i < 8; ++i) (*to)[i] = sqrtf((*from)[i]);
#endif
}

/* Per lane, *b = a < b ? a : b. */
static inline void carom_gas_least(const carom_gas_f8 *a, carom_gas_f8 *b) {
#if defined(__AVX2__)
    *b = (carom_gas_f8)_mm256_min_ps((__m256)*a, (__m256)*b);
#else
    for (int i = 0; i < 8; ++i) (*b)[i] = (*a)[i] < (*b)[i] ? (*a)[i] : (*b)[i];
#endif
}

/* The least of eight numbers. */
static inline float carom_gas_least_lane(const carom_gas_f8 *from) {
#if defined(__AVX2__)
    __m256 all = (__m256)*from;
    __m128 four = _mm_min_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1));
    __m128 two = _mm_min_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_min_ss(two, _mm_movehdup_ps(two)));
#else
    float least = (*from)[0];
    for (int i = 1; i < 8; ++i) least = (*from)[i] < least ? (*from)[i] : least;
    return least;
#endif
}

/* Lower bounds of the delays until the eight trajectories meet `own`; NaN for those that never do.
 * The position of `own` is already advanced by `since`, the time elapsed since the common time. Two
 * spheres within contact distance are assumed to meet immediately (the gap is set to 0) unless they
 * surely recede. They recede when b > |u| times `recede`; the test compares signed squares. */
static inline __attribute__((always_inline)) void
carom_gas_bounds(const carom_gas_trajectory *own, carom_gas_f4 rows[2][8], float since,
                 float own_slow2, float recede2, carom_gas_f8 *bounds) {
    carom_gas_f8 x[4], v[4], root;
    const carom_gas_f8 zero = {0.0f};
    carom_gas_transpose(rows[0], x);
    carom_gas_transpose(rows[1], v);
    carom_gas_f8 dx = (x[0] + v[0] * since) - own->x[0], ux = v[0] - own->v[0];
    carom_gas_f8 dy = (x[1] + v[1] * since) - own->x[1], uy = v[1] - own->v[1];
    carom_gas_f8 dz = (x[2] + v[2] * since) - own->x[2], uz = v[2] - own->v[2];
    carom_gas_f8 b = dx * ux + dy * uy + dz * uz, uu = ux * ux + uy * uy + uz * uz;
    carom_gas_f8 dd = dx * dx + dy * dy + dz * dz, reach = x[3] + own->radius;
    carom_gas_f8 gap = dd * (1.0f - 0x1p-19f) - reach * reach; /* lowered by a rounding margin */
    carom_gas_f8 disc = b * b - uu * gap;
    carom_gas_roots(&disc, &root);
    carom_gas_i8 apart = gap > zero;
    carom_gas_i8 recedes = b * (carom_gas_f8)((carom_gas_i8)b & INT32_MAX) > uu * recede2;
    carom_gas_f8 vv = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    carom_gas_i8 slow = ~(uu >= vv * CAROM_GAS_SLOW2 + own_slow2); /* NaN counts as slow */
    carom_gas_f8 bound = (carom_gas_f8)((carom_gas_i8)gap & apart) / (root - b);
    *bounds = (carom_gas_f8)(((carom_gas_i8)bound | recedes) & ~slow);
}

#endif
