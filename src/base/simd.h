/* SPDX-License-Identifier: MIT */
/* simd.h: vector types and operations for the loops.
 *
 * Two families. carom_f32v, carom_f64v ... are as wide as the instruction set: CAROM_LANES floats
 * or 32-bit integers, 16 with AVX-512, 8 with AVX2, else 4; half as many doubles. They are for
 * X_cpu.c files, which are compiled once per instruction set. carom_f32x4, carom_f64x4 ... have a
 * fixed number of lanes, for data that comes in fours and eights.
 *
 * Arithmetic is written with + - * on the vector types themselves (the compilers' vector
 * extension); what that lacks is here. This is the only file with intrinsics, macros of instruction
 * sets and definitions of vector types (scripts/check_sources.sh), so the only one to port to
 * another instruction set: a branch per set has plain C beside it. Each lane does exactly what the
 * scalar expression does, min and max included (a < b ? a : b), so widths differ in speed only; the
 * one exception says so. */
#ifndef CAROM_SRC_BASE_SIMD_H
#define CAROM_SRC_BASE_SIMD_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* immintrin.h declares every instruction set, which takes gcc a quarter of a second per file: loops
 * of the baseline read the header of theirs. */
#if defined(__SSE2__) && (!defined(CAROM_ISA_SUFFIX) || defined(__AVX2__))
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
#include <arm_neon.h>
#define CAROM_NEON /* the baseline of every 64-bit ARM */
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#define CAROM_SIMD128 /* WebAssembly, where the module is compiled with it */
#endif

#if defined(__AVX512F__) && defined(__AVX512BW__)
#define CAROM_LANES 16
#elif defined(__AVX2__)
#define CAROM_LANES 8
#else
#define CAROM_LANES 4
#endif
#define CAROM_LANES64 (CAROM_LANES / 2)

/* Defined where doubles are converted to floats with directed rounding by one instruction: there
 * carom_f64x6_outwards is. */
#if CAROM_LANES == 16
#define CAROM_DIRECTED_ROUNDING
#endif

typedef float carom_f32x4 __attribute__((vector_size(16)));
typedef int32_t carom_i32x4 __attribute__((vector_size(16)));
typedef uint32_t carom_u32x4 __attribute__((vector_size(16)));
typedef float carom_f32x8 __attribute__((vector_size(32)));
typedef int32_t carom_i32x8 __attribute__((vector_size(32)));
typedef uint32_t carom_u32x8 __attribute__((vector_size(32)));
typedef double carom_f64x4 __attribute__((vector_size(32)));
typedef int64_t carom_i64x4 __attribute__((vector_size(32)));

typedef float carom_f32v __attribute__((vector_size(4 * CAROM_LANES)));
typedef int32_t carom_i32v __attribute__((vector_size(4 * CAROM_LANES)));
typedef uint32_t carom_u32v __attribute__((vector_size(4 * CAROM_LANES)));
typedef double carom_f64v __attribute__((vector_size(8 * CAROM_LANES64)));
typedef int64_t carom_i64v __attribute__((vector_size(8 * CAROM_LANES64)));
typedef uint64_t carom_u64v __attribute__((vector_size(8 * CAROM_LANES64)));

/* CAROM_LANES64 floats, in memory only: as many as a vector has doubles. */
typedef float carom_f32v_part __attribute__((vector_size(4 * CAROM_LANES64)));

/* One bit per lane, lane 0 lowest. */
typedef uint32_t carom_lanes;

/* Inlined, so that vectors wider than the registers are not passed through memory. */
#define CAROM_SIMD static inline __attribute__((always_inline))

/* Load from memory, store to memory, and all lanes equal to one value. */
#define CAROM_SIMD_MEMORY(vector, scalar)                                                          \
    CAROM_SIMD vector vector##_load(const scalar *from) {                                          \
        vector value;                                                                              \
        memcpy(&value, from, sizeof(value));                                                       \
        return value;                                                                              \
    }                                                                                              \
    CAROM_SIMD void vector##_store(scalar *to, vector value) {                                     \
        memcpy(to, &value, sizeof(value));                                                         \
    }                                                                                              \
    CAROM_SIMD vector vector##_splat(scalar value) {                                               \
        return value - (vector){0};                                                                \
    }
CAROM_SIMD_MEMORY(carom_f32x4, float)
CAROM_SIMD_MEMORY(carom_i32x4, int32_t)
CAROM_SIMD_MEMORY(carom_u32x4, uint32_t)
CAROM_SIMD_MEMORY(carom_f32x8, float)
CAROM_SIMD_MEMORY(carom_i32x8, int32_t)
CAROM_SIMD_MEMORY(carom_u32x8, uint32_t)
CAROM_SIMD_MEMORY(carom_f64x4, double)
CAROM_SIMD_MEMORY(carom_f32v, float)
CAROM_SIMD_MEMORY(carom_u32v, uint32_t)
CAROM_SIMD_MEMORY(carom_f64v, double)
CAROM_SIMD_MEMORY(carom_i64v, int64_t)

/* ---- Four lanes ------------------------------------------------------------------------------ */

/* Bits of the lanes whose comparison gave all ones. */
CAROM_SIMD carom_lanes carom_i32x4_lanes(carom_i32x4 comparison) {
#if defined(__SSE2__)
    return (carom_lanes)_mm_movemask_ps((__m128)comparison);
#elif defined(CAROM_NEON)
    const uint32x4_t bits = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32((uint32x4_t)comparison, bits));
#elif defined(CAROM_SIMD128)
    return (carom_lanes)wasm_i32x4_bitmask((v128_t)comparison);
#else
    carom_lanes lanes = 0;
    for (int i = 0; i < 4; ++i) lanes |= (uint32_t)(comparison[i] & 1) << i;
    return lanes;
#endif
}

/* SSE's min and max are exactly a < b ? a : b and a > b ? a : b. */
CAROM_SIMD carom_f32x4 carom_f32x4_abs(carom_f32x4 a) {
    return (carom_f32x4)((carom_i32x4)a & INT32_MAX);
}

CAROM_SIMD carom_f32x4 carom_f32x4_min(carom_f32x4 a, carom_f32x4 b) {
#if defined(__SSE2__)
    return (carom_f32x4)_mm_min_ps((__m128)a, (__m128)b);
#elif defined(CAROM_NEON)    /* its own minimum treats NaN and -0 otherwise */
    return (carom_f32x4)vbslq_f32(vcltq_f32((float32x4_t)a, (float32x4_t)b), (float32x4_t)a,
                                  (float32x4_t)b);
#elif defined(CAROM_SIMD128) /* pmin(x, y) is y < x ? y : x */
    return (carom_f32x4)wasm_f32x4_pmin((v128_t)b, (v128_t)a);
#else
    for (int i = 0; i < 4; ++i) a[i] = a[i] < b[i] ? a[i] : b[i];
    return a;
#endif
}

CAROM_SIMD carom_f32x4 carom_f32x4_max(carom_f32x4 a, carom_f32x4 b) {
#if defined(__SSE2__)
    return (carom_f32x4)_mm_max_ps((__m128)a, (__m128)b);
#elif defined(CAROM_NEON)
    return (carom_f32x4)vbslq_f32(vcgtq_f32((float32x4_t)a, (float32x4_t)b), (float32x4_t)a,
                                  (float32x4_t)b);
#elif defined(CAROM_SIMD128) /* pmax(x, y) is x < y ? y : x */
    return (carom_f32x4)wasm_f32x4_pmax((v128_t)b, (v128_t)a);
#else
    for (int i = 0; i < 4; ++i) a[i] = a[i] > b[i] ? a[i] : b[i];
    return a;
#endif
}

/* Lanes 2, 3, 0, 1. */
CAROM_SIMD carom_f32x4 carom_f32x4_swap_halves(carom_f32x4 a) {
    return __builtin_shufflevector(a, a, 2, 3, 0, 1);
}

/* Lanes 1, 2, 0 and 2, 0, 1, the factors of a cross product; the fourth is lane 0. */
CAROM_SIMD carom_f32x4 carom_f32x4_yzx(carom_f32x4 a) {
    return __builtin_shufflevector(a, a, 1, 2, 0, 0);
}

CAROM_SIMD carom_f32x4 carom_f32x4_zxy(carom_f32x4 a) {
    return __builtin_shufflevector(a, a, 2, 0, 1, 0);
}

/* The first three lanes of a, then the first of b. */
CAROM_SIMD carom_f32x4 carom_f32x4_three_and_one(carom_f32x4 a, carom_f32x4 b) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 4);
}

/* Bit 4 i + j: lane i of a is equal to lane j of b. */
CAROM_SIMD uint32_t carom_u32x4_matches(carom_u32x4 a, carom_u32x4 b) {
#if CAROM_LANES == 16
    const __m512i repeat = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    __m512i of_a = _mm512_permutexvar_epi32(repeat, _mm512_castsi128_si512((__m128i)a));
    return _mm512_cmpeq_epi32_mask(of_a, _mm512_broadcast_i32x4((__m128i)b));
#else
    return carom_i32x4_lanes(b == a[0]) | carom_i32x4_lanes(b == a[1]) << 4 |
           carom_i32x4_lanes(b == a[2]) << 8 | carom_i32x4_lanes(b == a[3]) << 12;
#endif
}

/* Takes lane order[i] of the eight lanes of low and high as to[i], for i < count. `order` and `to`
 * have eight elements whatever the count: all may be read and written. */
CAROM_SIMD void carom_u32x4_take(carom_u32x4 low, carom_u32x4 high, const uint8_t *order,
                                 uint32_t count, uint32_t *to) {
#if defined(__AVX2__)
    (void)count;
    __m256i both = _mm256_set_m128i((__m128i)high, (__m128i)low);
    __m256i lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)order));
    /* Reads only the low three bits of each index. */
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_permutevar8x32_epi32(both, lanes));
#elif defined(CAROM_NEON)
    (void)count;
    /* The bytes of both, by their positions; positions beyond them, of unused lanes, give 0. */
    const uint8x16x2_t both = {{(uint8x16_t)low, (uint8x16_t)high}};
    const uint8x16_t each = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    const uint8x16_t inside = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
    const uint8x8_t begins = vshl_n_u8(vld1_u8(order), 2);
    const uint8x16_t all = vcombine_u8(begins, begins);
    uint8x16_t first = vaddq_u8(vqtbl1q_u8(all, each), inside);
    uint8x16_t second = vaddq_u8(vqtbl1q_u8(all, vaddq_u8(each, vdupq_n_u8(4))), inside);
    vst1q_u32(to, (uint32x4_t)vqtbl2q_u8(both, first));
    vst1q_u32(to + 4, (uint32x4_t)vqtbl2q_u8(both, second));
#elif defined(CAROM_SIMD128)
    (void)count;
    /* The same, from one vector at a time: positions that the other one has give 0. */
    const v128_t inside = wasm_i32x4_const_splat(0x03020100), half = wasm_i8x16_const_splat(16);
    const v128_t begins = wasm_i8x16_shl(wasm_v128_load64_zero(order), 2);
    const v128_t each = wasm_i8x16_const(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    for (int i = 0; i < 2; ++i) {
        const v128_t lanes = wasm_i8x16_add(each, wasm_i8x16_splat((int8_t)(4 * i)));
        const v128_t at = wasm_i8x16_add(wasm_i8x16_swizzle(begins, lanes), inside);
        wasm_v128_store(to + 4 * i,
                        wasm_v128_or(wasm_i8x16_swizzle((v128_t)low, at),
                                     wasm_i8x16_swizzle((v128_t)high, wasm_i8x16_sub(at, half))));
    }
#else
    uint32_t both[8];
    carom_u32x4_store(both, low);
    carom_u32x4_store(both + 4, high);
    for (uint32_t i = 0; i < count; ++i) to[i] = both[order[i]];
#endif
}

CAROM_SIMD carom_u32x4 carom_u32x4_max(carom_u32x4 a, carom_u32x4 b) {
#if defined(__AVX2__)
    return (carom_u32x4)_mm_max_epu32((__m128i)a, (__m128i)b);
#elif defined(CAROM_NEON)
    return (carom_u32x4)vmaxq_u32((uint32x4_t)a, (uint32x4_t)b);
#elif defined(CAROM_SIMD128)
    return (carom_u32x4)wasm_u32x4_max((v128_t)a, (v128_t)b);
#else
    carom_u32x4 larger = (carom_u32x4)(a > b);
    return (a & larger) | (b & ~larger);
#endif
}

CAROM_SIMD carom_lanes carom_i64x4_lanes(carom_i64x4 comparison) {
#if defined(__AVX2__)
    return (carom_lanes)_mm256_movemask_pd((__m256d)comparison);
#elif defined(CAROM_NEON)
    return carom_i32x4_lanes(__builtin_convertvector(comparison, carom_i32x4));
#elif defined(CAROM_SIMD128) /* the low halves of the lanes, which are all ones or zeros */
    carom_i32x8 halves = (carom_i32x8)comparison;
    return carom_i32x4_lanes(__builtin_shufflevector(halves, halves, 0, 2, 4, 6));
#else
    carom_lanes lanes = 0;
    for (int i = 0; i < 4; ++i) lanes |= (uint32_t)(comparison[i] & 1) << i;
    return lanes;
#endif
}

/* Each lane as a double, exactly. */
CAROM_SIMD carom_f64x4 carom_i32x4_doubles(carom_i32x4 a) {
    return __builtin_convertvector(a, carom_f64x4);
}

/* The low 32 bits of each lane. */
CAROM_SIMD carom_i32x4 carom_i64x4_narrow(carom_i64x4 a) {
    return __builtin_convertvector(a, carom_i32x4);
}

CAROM_SIMD carom_f64x4 carom_f64x4_abs(carom_f64x4 a) {
    return (carom_f64x4)((carom_i64x4)a & INT64_MAX);
}

/* Where the comparison is true `yes`, else `no`. */
CAROM_SIMD carom_f64x4 carom_f64x4_select(carom_i64x4 comparison, carom_f64x4 yes, carom_f64x4 no) {
    return (carom_f64x4)(((carom_i64x4)yes & comparison) | ((carom_i64x4)no & ~comparison));
}

CAROM_SIMD carom_f64x4 carom_f64x4_min(carom_f64x4 a, carom_f64x4 b) {
#if defined(__AVX2__)
    return (carom_f64x4)_mm256_min_pd((__m256d)a, (__m256d)b);
#else
    return carom_f64x4_select(a < b, a, b);
#endif
}

CAROM_SIMD carom_f64x4 carom_f64x4_max(carom_f64x4 a, carom_f64x4 b) {
#if defined(__AVX2__)
    return (carom_f64x4)_mm256_max_pd((__m256d)a, (__m256d)b);
#else
    return carom_f64x4_select(a > b, a, b);
#endif
}

/* ---- Eight lanes ----------------------------------------------------------------------------- */

CAROM_SIMD carom_f32x4 carom_f32x8_low(carom_f32x8 a) {
    return __builtin_shufflevector(a, a, 0, 1, 2, 3);
}

CAROM_SIMD carom_f32x4 carom_f32x8_high(carom_f32x8 a) {
    return __builtin_shufflevector(a, a, 4, 5, 6, 7);
}

CAROM_SIMD carom_f32x8 carom_f32x8_join(carom_f32x4 low, carom_f32x4 high) {
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
}

CAROM_SIMD carom_lanes carom_i32x8_lanes(carom_i32x8 comparison) {
#if defined(__AVX2__)
    return (carom_lanes)_mm256_movemask_ps((__m256)comparison);
#else
    carom_f32x8 bits = (carom_f32x8)comparison;
    return carom_i32x4_lanes((carom_i32x4)carom_f32x8_low(bits)) |
           carom_i32x4_lanes((carom_i32x4)carom_f32x8_high(bits)) << 4;
#endif
}

/* The lanes where a is at most b. */
CAROM_SIMD carom_lanes carom_f32x8_lanes_at_most(carom_f32x8 a, carom_f32x8 b) {
#if defined(__AVX2__)
    return carom_i32x8_lanes(a <= b);
#else
    return carom_i32x4_lanes(carom_f32x8_low(a) <= carom_f32x8_low(b)) |
           carom_i32x4_lanes(carom_f32x8_high(a) <= carom_f32x8_high(b)) << 4;
#endif
}

CAROM_SIMD carom_f32x8 carom_f32x8_min(carom_f32x8 a, carom_f32x8 b) {
#if defined(__AVX2__)
    return (carom_f32x8)_mm256_min_ps((__m256)a, (__m256)b);
#else
    return carom_f32x8_join(carom_f32x4_min(carom_f32x8_low(a), carom_f32x8_low(b)),
                            carom_f32x4_min(carom_f32x8_high(a), carom_f32x8_high(b)));
#endif
}

CAROM_SIMD carom_f32x8 carom_f32x8_max(carom_f32x8 a, carom_f32x8 b) {
#if defined(__AVX2__)
    return (carom_f32x8)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return carom_f32x8_join(carom_f32x4_max(carom_f32x8_low(a), carom_f32x8_low(b)),
                            carom_f32x4_max(carom_f32x8_high(a), carom_f32x8_high(b)));
#endif
}

CAROM_SIMD carom_u32x8 carom_u32x8_max(carom_u32x8 a, carom_u32x8 b) {
#if defined(__AVX2__)
    return (carom_u32x8)_mm256_max_epu32((__m256i)a, (__m256i)b);
#else
    carom_u32x8 larger = (carom_u32x8)(a > b);
    return (a & larger) | (b & ~larger);
#endif
}

CAROM_SIMD carom_f32x8 carom_f32x8_abs(carom_f32x8 a) {
    return (carom_f32x8)((carom_i32x8)a & INT32_MAX);
}

/* Square roots; NaN for negative numbers. */
CAROM_SIMD carom_f32x8 carom_f32x8_sqrt(carom_f32x8 a) {
#if defined(__AVX2__)
    return (carom_f32x8)_mm256_sqrt_ps((__m256)a);
#elif defined(__SSE2__)
    return carom_f32x8_join((carom_f32x4)_mm_sqrt_ps((__m128)carom_f32x8_low(a)),
                            (carom_f32x4)_mm_sqrt_ps((__m128)carom_f32x8_high(a)));
#elif defined(CAROM_NEON)
    return carom_f32x8_join((carom_f32x4)vsqrtq_f32((float32x4_t)carom_f32x8_low(a)),
                            (carom_f32x4)vsqrtq_f32((float32x4_t)carom_f32x8_high(a)));
#elif defined(CAROM_SIMD128)
    return carom_f32x8_join((carom_f32x4)wasm_f32x4_sqrt((v128_t)carom_f32x8_low(a)),
                            (carom_f32x4)wasm_f32x4_sqrt((v128_t)carom_f32x8_high(a)));
#else
    for (int i = 0; i < 8; ++i) a[i] = sqrtf(a[i]);
    return a;
#endif
}

/* The least of the eight lanes, none of which is NaN. */
CAROM_SIMD float carom_f32x8_least(carom_f32x8 a) {
    carom_f32x4 four = carom_f32x4_min(carom_f32x8_low(a), carom_f32x8_high(a));
    carom_f32x4 two = carom_f32x4_min(four, __builtin_shufflevector(four, four, 2, 3, 2, 3));
    return carom_f32x4_min(two, __builtin_shufflevector(two, two, 1, 1, 3, 3))[0];
}

/* Transposes eight vectors of four to four vectors of eight. */
CAROM_SIMD void carom_f32x8_transpose(const carom_f32x4 row[8], carom_f32x8 column[4]) {
    carom_f32x8 pair[4], low[2], high[2];
    for (int i = 0; i < 4; ++i) pair[i] = carom_f32x8_join(row[i], row[i + 4]);
    for (int i = 0; i < 2; ++i) {
        low[i] = __builtin_shufflevector(pair[2 * i], pair[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        high[i] = __builtin_shufflevector(pair[2 * i], pair[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    column[0] = __builtin_shufflevector(low[0], low[1], 0, 1, 8, 9, 4, 5, 12, 13);
    column[1] = __builtin_shufflevector(low[0], low[1], 2, 3, 10, 11, 6, 7, 14, 15);
    column[2] = __builtin_shufflevector(high[0], high[1], 0, 1, 8, 9, 4, 5, 12, 13);
    column[3] = __builtin_shufflevector(high[0], high[1], 2, 3, 10, 11, 6, 7, 14, 15);
}

/* ---- Six doubles ----------------------------------------------------------------------------- */

#ifdef CAROM_DIRECTED_ROUNDING
/* Whether none of the first three numbers is above the one three lanes after it. */
CAROM_SIMD bool carom_f64x6_ordered(const double from[6]) {
    __m512d x = _mm512_maskz_loadu_pd(0x3F, from);
    __m512d high = _mm512_maskz_loadu_pd(0x07, from + 3);
    return _mm512_mask_cmp_pd_mask(0x07, x, high, _CMP_LE_OQ) == 0x07;
}

/* Rounds the first three numbers down and the last three up; returns whether all were floats. */
CAROM_SIMD bool carom_f64x6_outwards(const double from[6], float to[6]) {
    __m512d x = _mm512_maskz_loadu_pd(0x3F, from);
    __m256 down = _mm512_cvt_roundpd_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    __m256 up = _mm512_cvt_roundpd_ps(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    __m256 both = _mm256_blend_ps(down, up, 0x38);
    _mm256_mask_storeu_ps(to, 0x3F, both);
    return _mm512_cmp_pd_mask(_mm512_cvtps_pd(both), x, _CMP_EQ_OQ) == 0xFF;
}
#endif

/* ---- As wide as the instruction set ---------------------------------------------------------- */

CAROM_SIMD carom_lanes carom_lanes_of(carom_i32v comparison) {
#if CAROM_LANES == 16
    return _mm512_movepi32_mask((__m512i)comparison);
#elif CAROM_LANES == 8
    return carom_i32x8_lanes(comparison);
#else
    return carom_i32x4_lanes(comparison);
#endif
}

CAROM_SIMD carom_f32v carom_f32v_min(carom_f32v a, carom_f32v b) {
#if CAROM_LANES == 16
    return (carom_f32v)_mm512_min_ps((__m512)a, (__m512)b);
#elif CAROM_LANES == 8
    return carom_f32x8_min(a, b);
#else
    return carom_f32x4_min(a, b);
#endif
}

CAROM_SIMD carom_f32v carom_f32v_max(carom_f32v a, carom_f32v b) {
#if CAROM_LANES == 16
    return (carom_f32v)_mm512_max_ps((__m512)a, (__m512)b);
#elif CAROM_LANES == 8
    return carom_f32x8_max(a, b);
#else
    return carom_f32x4_max(a, b);
#endif
}

CAROM_SIMD carom_f32v carom_f32v_abs(carom_f32v a) {
    return (carom_f32v)((carom_i32v)a & INT32_MAX);
}

/* a * b + c, rounded once where the instruction set can and twice elsewhere: only for filters whose
 * error bound covers both. */
CAROM_SIMD carom_f32v carom_f32v_fma(carom_f32v a, carom_f32v b, carom_f32v c) {
#if CAROM_LANES == 16
    return (carom_f32v)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif CAROM_LANES == 8
    return (carom_f32v)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}

/* Square roots; NaN for negative numbers. */
CAROM_SIMD carom_f32v carom_f32v_sqrt(carom_f32v a) {
#if CAROM_LANES == 16
    return (carom_f32v)_mm512_sqrt_ps((__m512)a);
#elif CAROM_LANES == 8
    return carom_f32x8_sqrt(a);
#elif defined(__SSE2__)
    return (carom_f32v)_mm_sqrt_ps((__m128)a);
#elif defined(CAROM_SIMD128)
    return (carom_f32v)wasm_f32x4_sqrt((v128_t)a);
#else
    for (int i = 0; i < CAROM_LANES; ++i) a[i] = sqrtf(a[i]);
    return a;
#endif
}

/* Towards zero; each lane is above -2^31 and below 2^31. */
CAROM_SIMD carom_i32v carom_f32v_truncate(carom_f32v a) {
    return __builtin_convertvector(a, carom_i32v);
}

/* Transposes CAROM_LANES vectors of four to four vectors. */
CAROM_SIMD void carom_f32v_transpose(const carom_f32x4 row[CAROM_LANES], carom_f32v column[4]) {
#if CAROM_LANES == 16
    carom_f32x8 low[4], high[4];
    carom_f32x8_transpose(row, low);
    carom_f32x8_transpose(row + 8, high);
    for (int k = 0; k < 4; ++k)
        column[k] = __builtin_shufflevector(low[k], high[k], 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                            12, 13, 14, 15);
#elif CAROM_LANES == 8
    carom_f32x8_transpose(row, column);
#else
    carom_f32x4 low[2], high[2];
    for (int i = 0; i < 2; ++i) {
        low[i] = __builtin_shufflevector(row[2 * i], row[2 * i + 1], 0, 4, 1, 5);
        high[i] = __builtin_shufflevector(row[2 * i], row[2 * i + 1], 2, 6, 3, 7);
    }
    column[0] = __builtin_shufflevector(low[0], low[1], 0, 1, 4, 5);
    column[1] = __builtin_shufflevector(low[0], low[1], 2, 3, 6, 7);
    column[2] = __builtin_shufflevector(high[0], high[1], 0, 1, 4, 5);
    column[3] = __builtin_shufflevector(high[0], high[1], 2, 3, 6, 7);
#endif
}

/* Several comparisons of floats that must all be true, in the form that is cheapest to combine: a
 * mask register with AVX-512 (a third of the operations), else the vector of their results. */
#if CAROM_LANES == 16
typedef __mmask16 carom_f32v_test;
#else
typedef carom_i32v carom_f32v_test;
#endif

CAROM_SIMD carom_f32v_test carom_f32v_test_begin(void) {
#if CAROM_LANES == 16
    return 0xFFFF;
#else
    return ~(carom_i32v){0};
#endif
}

/* `so_far`, and a is at most b. */
CAROM_SIMD carom_f32v_test carom_f32v_test_at_most(carom_f32v_test so_far, carom_f32v a,
                                                   carom_f32v b) {
#if CAROM_LANES == 16
    return _mm512_mask_cmp_ps_mask(so_far, (__m512)a, (__m512)b, _CMP_LE_OQ);
#else
    return so_far & (a <= b);
#endif
}

CAROM_SIMD carom_lanes carom_f32v_test_lanes(carom_f32v_test test) {
#if CAROM_LANES == 16
    return test;
#else
    return carom_lanes_of(test);
#endif
}

/* CAROM_LANES64 floats, which doubles hold exactly. */
CAROM_SIMD carom_f64v carom_f64v_floats(const float *from) {
    carom_f32v_part floats;
    memcpy(&floats, from, sizeof(floats));
    return __builtin_convertvector(floats, carom_f64v);
}

/* Stores CAROM_LANES64 doubles, rounded to floats. */
CAROM_SIMD void carom_f64v_store_floats(float *to, carom_f64v value) {
    carom_f32v_part floats = __builtin_convertvector(value, carom_f32v_part);
    memcpy(to, &floats, sizeof(floats));
}

/* Towards zero; the magnitude of each lane is below 2^63. */
CAROM_SIMD carom_i64v carom_f64v_truncate(carom_f64v a) {
    return __builtin_convertvector(a, carom_i64v);
}

CAROM_SIMD carom_lanes carom_lanes_of64(carom_i64v comparison) {
#if CAROM_LANES == 16
    return _mm512_movepi64_mask((__m512i)comparison);
#elif CAROM_LANES == 8
    return carom_i64x4_lanes(comparison);
#elif defined(__SSE2__)
    return (carom_lanes)_mm_movemask_pd((__m128d)comparison);
#elif defined(CAROM_NEON)
    const uint64x2_t bits = {1, 2};
    return (carom_lanes)vaddvq_u64(vandq_u64((uint64x2_t)comparison, bits));
#elif defined(CAROM_SIMD128)
    return (carom_lanes)wasm_i64x2_bitmask((v128_t)comparison);
#else
    return ((uint32_t)comparison[0] & 1u) | ((uint32_t)comparison[1] & 2u);
#endif
}

/* The lanes where a is equal to b. */
CAROM_SIMD carom_lanes carom_f64v_lanes_equal(carom_f64v a, carom_f64v b) {
#if CAROM_LANES == 16
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_EQ_OQ);
#else
    return carom_lanes_of64(a == b);
#endif
}

CAROM_SIMD carom_f64v carom_f64v_min(carom_f64v a, carom_f64v b) {
#if CAROM_LANES == 16
    return (carom_f64v)_mm512_min_pd((__m512d)a, (__m512d)b);
#elif CAROM_LANES == 8
    return carom_f64x4_min(a, b);
#elif defined(__SSE2__)
    return (carom_f64v)_mm_min_pd((__m128d)a, (__m128d)b);
#elif defined(CAROM_NEON)
    return (carom_f64v)vbslq_f64(vcltq_f64((float64x2_t)a, (float64x2_t)b), (float64x2_t)a,
                                 (float64x2_t)b);
#elif defined(CAROM_SIMD128)
    return (carom_f64v)wasm_f64x2_pmin((v128_t)b, (v128_t)a);
#else
    return (carom_f64v){a[0] < b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1]};
#endif
}

CAROM_SIMD carom_f64v carom_f64v_max(carom_f64v a, carom_f64v b) {
#if CAROM_LANES == 16
    return (carom_f64v)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif CAROM_LANES == 8
    return carom_f64x4_max(a, b);
#elif defined(__SSE2__)
    return (carom_f64v)_mm_max_pd((__m128d)a, (__m128d)b);
#elif defined(CAROM_NEON)
    return (carom_f64v)vbslq_f64(vcgtq_f64((float64x2_t)a, (float64x2_t)b), (float64x2_t)a,
                                 (float64x2_t)b);
#elif defined(CAROM_SIMD128)
    return (carom_f64v)wasm_f64x2_pmax((v128_t)b, (v128_t)a);
#else
    return (carom_f64v){a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]};
#endif
}

CAROM_SIMD carom_f64v carom_f64v_abs(carom_f64v a) {
    return (carom_f64v)((carom_i64v)a & INT64_MAX);
}

CAROM_SIMD carom_f64v carom_f64v_sqrt(carom_f64v a) {
#if defined(__AVX512F__) && defined(__AVX512BW__)
    return (carom_f64v)_mm512_sqrt_pd((__m512d)a);
#elif defined(__AVX2__)
    return (carom_f64v)_mm256_sqrt_pd((__m256d)a);
#elif defined(__SSE2__)
    return (carom_f64v)_mm_sqrt_pd((__m128d)a);
#elif defined(CAROM_NEON)
    return (carom_f64v)vsqrtq_f64((float64x2_t)a);
#elif defined(CAROM_SIMD128)
    return (carom_f64v)wasm_f64x2_sqrt((v128_t)a);
#else
    for (int i = 0; i < CAROM_LANES64; ++i) a[i] = __builtin_sqrt(a[i]);
    return a;
#endif
}

/* The coordinates of CAROM_LANES64 points of three doubles each. Reads one double past the last. */
CAROM_SIMD void carom_f64v_points(const double *const from[CAROM_LANES64], carom_f64v column[3]) {
#if CAROM_LANES64 == 8
    carom_f64v pair[4], low[2], high[2]; /* of points i and i + 4, by halves */
    for (int i = 0; i < 4; ++i) {
        carom_f64x4 a = carom_f64x4_load(from[i]), b = carom_f64x4_load(from[i + 4]);
        pair[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
    }
    for (int i = 0; i < 2; ++i) {
        low[i] = __builtin_shufflevector(pair[2 * i], pair[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        high[i] = __builtin_shufflevector(pair[2 * i], pair[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    column[0] = __builtin_shufflevector(low[0], low[1], 0, 1, 8, 9, 4, 5, 12, 13);
    column[1] = __builtin_shufflevector(high[0], high[1], 0, 1, 8, 9, 4, 5, 12, 13);
    column[2] = __builtin_shufflevector(low[0], low[1], 2, 3, 10, 11, 6, 7, 14, 15);
#elif CAROM_LANES64 == 4
    carom_f64v row[4], low[2], high[2];
    for (int i = 0; i < 4; ++i) row[i] = carom_f64x4_load(from[i]);
    for (int i = 0; i < 2; ++i) {
        low[i] = __builtin_shufflevector(row[2 * i], row[2 * i + 1], 0, 4, 2, 6);
        high[i] = __builtin_shufflevector(row[2 * i], row[2 * i + 1], 1, 5, 3, 7);
    }
    column[0] = __builtin_shufflevector(low[0], low[1], 0, 1, 4, 5);
    column[1] = __builtin_shufflevector(high[0], high[1], 0, 1, 4, 5);
    column[2] = __builtin_shufflevector(low[0], low[1], 2, 3, 6, 7);
#else
    for (int k = 0; k < 3; ++k) column[k] = (carom_f64v){from[0][k], from[1][k]};
#endif
}

/* The greatest of the lanes, none of which is NaN. */
CAROM_SIMD double carom_f64v_greatest(carom_f64v a) {
#if CAROM_LANES == 16
    return _mm512_reduce_max_pd((__m512d)a);
#else
    double x[CAROM_LANES64];
    memcpy(x, &a, sizeof(x));
    for (int width = CAROM_LANES64 / 2; width > 0; width /= 2)
        for (int i = 0; i < width; ++i) x[i] = x[i] > x[i + width] ? x[i] : x[i + width];
    return x[0];
#endif
}

/* Bits of all lanes of doubles. */
#define CAROM_LANES64_ALL ((1u << CAROM_LANES64) - 1u)

/* Numbers out of a table, by CAROM_LANES64 indices of bytes below `count`, which is at most
 * CAROM_PICK_TABLE; all of the table may be read. */
#define CAROM_PICK_TABLE 32u
CAROM_SIMD carom_f64v carom_f64v_pick(const double *table, uint32_t count, const uint8_t *indices) {
#if CAROM_LANES == 16
    int64_t bytes;
    memcpy(&bytes, indices, sizeof(bytes));
    __m512i index = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(bytes));
    __m512d low = _mm512_permutex2var_pd(_mm512_loadu_pd(table), index, _mm512_loadu_pd(table + 8));
    if (count <= 16) return (carom_f64v)low;
    __m512d high =
        _mm512_permutex2var_pd(_mm512_loadu_pd(table + 16), index, _mm512_loadu_pd(table + 24));
    __mmask8 upper = _mm512_test_epi64_mask(index, _mm512_set1_epi64(16));
    return (carom_f64v)_mm512_mask_blend_pd(upper, low, high);
#else
    carom_f64v picked = {0};
    (void)count;
    for (int i = 0; i < CAROM_LANES64; ++i) picked[i] = table[indices[i]];
    return picked;
#endif
}

/* Where the comparison is true `yes`, else `no`. */
CAROM_SIMD carom_f64v carom_f64v_select(carom_i64v comparison, carom_f64v yes, carom_f64v no) {
    return (carom_f64v)(((carom_i64v)yes & comparison) | ((carom_i64v)no & ~comparison));
}

/* Lane 2 i moved to lane 2 i + 1, and 0 in lane 2 i. */
CAROM_SIMD carom_u64v carom_u64v_even_to_odd(carom_u64v a) {
    carom_u64v none = {0};
#if CAROM_LANES64 == 8
    return __builtin_shufflevector(none, a, 0, 8, 0, 10, 0, 12, 0, 14);
#elif CAROM_LANES64 == 4
    return __builtin_shufflevector(none, a, 0, 4, 0, 6);
#else
    return __builtin_shufflevector(none, a, 0, 2);
#endif
}

/* Shifts by a count per lane. Counts from 64 on, and negative ones, give 0. */
CAROM_SIMD carom_u64v carom_u64v_shift_left(carom_u64v a, carom_i64v by) {
#if CAROM_LANES == 16
    return (carom_u64v)_mm512_sllv_epi64((__m512i)a, (__m512i)by);
#elif CAROM_LANES == 8
    return (carom_u64v)_mm256_sllv_epi64((__m256i)a, (__m256i)by);
#elif defined(CAROM_NEON) /* it reads the low byte of a count alone; negative counts shift right */
    carom_u64v few = (carom_u64v)((carom_u64v)by < 64u);
    return (carom_u64v)vshlq_u64((uint64x2_t)a, (int64x2_t)by) & few;
#else
    for (int i = 0; i < CAROM_LANES64; ++i) a[i] = (uint64_t)by[i] < 64 ? a[i] << by[i] : 0;
    return a;
#endif
}

CAROM_SIMD carom_u64v carom_u64v_shift_right(carom_u64v a, carom_i64v by) {
#if CAROM_LANES == 16
    return (carom_u64v)_mm512_srlv_epi64((__m512i)a, (__m512i)by);
#elif CAROM_LANES == 8
    return (carom_u64v)_mm256_srlv_epi64((__m256i)a, (__m256i)by);
#elif defined(CAROM_NEON)
    carom_u64v few = (carom_u64v)((carom_u64v)by < 64u);
    return (carom_u64v)vshlq_u64((uint64x2_t)a, (int64x2_t)-by) & few;
#else
    for (int i = 0; i < CAROM_LANES64; ++i) a[i] = (uint64_t)by[i] < 64 ? a[i] >> by[i] : 0;
    return a;
#endif
}

/* ---- Lists of lanes -------------------------------------------------------------------------- */

#if CAROM_LANES == 8
/* For each set of eight lanes the indices of those in it, lowest first, then zeros. The arguments
 * of CAROM_LANE_ROWS_n are lanes above n that are in the set; all sets of lanes 0 to n follow. */
#define CAROM_LANE_ROWS_0(...)                                                                     \
    {__VA_ARGS__}, {                                                                               \
        0, __VA_ARGS__                                                                             \
    }
#define CAROM_LANE_ROWS_1(...) CAROM_LANE_ROWS_0(__VA_ARGS__), CAROM_LANE_ROWS_0(1, __VA_ARGS__)
#define CAROM_LANE_ROWS_2(...) CAROM_LANE_ROWS_1(__VA_ARGS__), CAROM_LANE_ROWS_1(2, __VA_ARGS__)
#define CAROM_LANE_ROWS_3(...) CAROM_LANE_ROWS_2(__VA_ARGS__), CAROM_LANE_ROWS_2(3, __VA_ARGS__)
#define CAROM_LANE_ROWS_4(...) CAROM_LANE_ROWS_3(__VA_ARGS__), CAROM_LANE_ROWS_3(4, __VA_ARGS__)
#define CAROM_LANE_ROWS_5(...) CAROM_LANE_ROWS_4(__VA_ARGS__), CAROM_LANE_ROWS_4(5, __VA_ARGS__)
#define CAROM_LANE_ROWS_6(...) CAROM_LANE_ROWS_5(__VA_ARGS__), CAROM_LANE_ROWS_5(6, __VA_ARGS__)
static const uint8_t carom_lane_indices[256][8] = {{0},
                                                   {0},
                                                   CAROM_LANE_ROWS_0(1),
                                                   CAROM_LANE_ROWS_1(2),
                                                   CAROM_LANE_ROWS_2(3),
                                                   CAROM_LANE_ROWS_3(4),
                                                   CAROM_LANE_ROWS_4(5),
                                                   CAROM_LANE_ROWS_5(6),
                                                   CAROM_LANE_ROWS_6(7)};
#endif

/* Writes first + the index of each lane in the set, lowest first, and returns how many there are;
 * up to CAROM_LANES values are written whatever the set. No branch depends on the set. */
static inline uint32_t carom_lanes_list(carom_lanes lanes, uint32_t first, uint32_t *to) {
#if CAROM_LANES == 16
    __m512i indices =
        _mm512_add_epi32(_mm512_set1_epi32((int)first),
                         _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32((__mmask16)lanes, indices));
    return (uint32_t)__builtin_popcount(lanes);
#elif CAROM_LANES == 8
    __m256i indices = _mm256_cvtepu8_epi32(
        _mm_loadl_epi64((const __m128i *)(const void *)carom_lane_indices[lanes]));
    _mm256_storeu_si256((__m256i *)(void *)to,
                        _mm256_add_epi32(indices, _mm256_set1_epi32((int)first)));
    return (uint32_t)__builtin_popcount(lanes);
#else
    uint32_t count = 0;
    for (uint32_t i = 0; i < CAROM_LANES; ++i) {
        to[count] = first + i;
        count += lanes >> i & 1;
    }
    return count;
#endif
}

/* Moves the lanes of a set to the front, lowest first; what follows them is unspecified. */
CAROM_SIMD carom_u32x8 carom_u32x8_compress(carom_u32x8 value, carom_lanes lanes) {
#if CAROM_LANES == 16
    return (carom_u32x8)_mm256_maskz_compress_epi32((__mmask8)lanes, (__m256i)value);
#elif CAROM_LANES == 8
    __m128i indices = _mm_loadl_epi64((const __m128i *)(const void *)carom_lane_indices[lanes]);
    return (carom_u32x8)_mm256_permutevar8x32_epi32((__m256i)value, _mm256_cvtepu8_epi32(indices));
#else
    carom_u32x8 front = value;
    for (uint32_t i = 0, count = 0; i < 8; ++i) {
        front[count & 7] = value[i];
        count += lanes >> i & 1;
    }
    return front;
#endif
}

CAROM_SIMD carom_f64v carom_f64v_compress(carom_f64v value, carom_lanes lanes) {
#if CAROM_LANES == 16
    return (carom_f64v)_mm512_maskz_compress_pd((__mmask8)lanes, (__m512d)value);
#elif CAROM_LANES == 8
    carom_lanes halves = _pdep_u32(lanes, 0x55) * 3; /* of each double */
    return (carom_f64v)carom_u32x8_compress((carom_u32x8)value, halves);
#else
    return lanes == 2 ? (carom_f64v){value[1], value[1]} : value;
#endif
}

/* ---- Output that bypasses the caches --------------------------------------------------------- */

/* Writes one cache line bypassing the caches, for output that is too large to stay in them. Both
 * addresses are multiples of 64. Call carom_stream_fence before another thread may read. */
static inline void carom_stream_line(void *to, const void *from) {
#if CAROM_LANES == 16
    _mm512_stream_si512((__m512i *)to, _mm512_load_si512((const __m512i *)from));
#elif CAROM_LANES == 8
    for (int i = 0; i < 2; ++i)
        _mm256_stream_si256((__m256i *)to + i, _mm256_load_si256((const __m256i *)from + i));
#elif defined(__SSE2__)
    for (int i = 0; i < 4; ++i)
        _mm_stream_si128((__m128i *)to + i, _mm_load_si128((const __m128i *)from + i));
#else
    memcpy(to, from, 64);
#endif
}

static inline void carom_stream_fence(void) {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

#endif
