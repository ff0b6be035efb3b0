/* SPDX-License-Identifier: MIT */
/* simd.h: vector types and operations for the loops, for X_cpu.c files only.
 *
 * CAROM_LANES floats or 32-bit integers: 16 with AVX-512, 8 with AVX2, else 4; half as many
 * doubles. Arithmetic is written with + - * on the vector types themselves (the compilers' vector
 * extension); what that lacks is here. Each lane does exactly what the scalar expression does, min
 * and max included (a < b ? a : b), so widths differ in speed only. */
#ifndef CAROM_SRC_BASE_SIMD_H
#define CAROM_SRC_BASE_SIMD_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__) && defined(__AVX512BW__)
#define CAROM_LANES 16
#elif defined(__AVX2__)
#define CAROM_LANES 8
#else
#define CAROM_LANES 4
#endif

typedef float carom_f32v __attribute__((vector_size(4 * CAROM_LANES)));
typedef int32_t carom_i32v __attribute__((vector_size(4 * CAROM_LANES)));
typedef uint32_t carom_u32v __attribute__((vector_size(4 * CAROM_LANES)));

#define CAROM_LANES64 (CAROM_LANES / 2)
typedef double carom_f64v __attribute__((vector_size(8 * CAROM_LANES64)));
typedef int64_t carom_i64v __attribute__((vector_size(8 * CAROM_LANES64)));

/* One bit per lane, lane 0 lowest. */
typedef uint32_t carom_lanes;

static inline carom_f32v carom_f32v_load(const float *from) {
    carom_f32v value;
    memcpy(&value, from, sizeof(value));
    return value;
}

static inline void carom_f32v_store(float *to, carom_f32v value) {
    memcpy(to, &value, sizeof(value));
}

static inline carom_f32v carom_f32v_splat(float value) {
    return value - (carom_f32v){0};
}

static inline carom_u32v carom_u32v_load(const uint32_t *from) {
    carom_u32v value;
    memcpy(&value, from, sizeof(value));
    return value;
}

static inline void carom_u32v_store(uint32_t *to, carom_u32v value) {
    memcpy(to, &value, sizeof(value));
}

/* Bits of the lanes whose comparison gave all ones. */
static inline carom_lanes carom_lanes_of(carom_i32v comparison) {
#if defined(__AVX512F__) && defined(__AVX512BW__)
    __m512i bits;
    memcpy(&bits, &comparison, sizeof(bits));
    return _mm512_movepi32_mask(bits);
#elif defined(__AVX2__)
    __m256 bits;
    memcpy(&bits, &comparison, sizeof(bits));
    return (carom_lanes)_mm256_movemask_ps(bits);
#elif defined(__SSE2__)
    __m128 bits;
    memcpy(&bits, &comparison, sizeof(bits));
    return (carom_lanes)_mm_movemask_ps(bits);
#else
    carom_lanes lanes = 0;
    for (int i = 0; i < CAROM_LANES; ++i) lanes |= (uint32_t)(comparison[i] & 1) << i;
    return lanes;
#endif
}

/* The processor's min and max are exactly a < b ? a : b and a > b ? a : b. */
static inline carom_f32v carom_f32v_min(carom_f32v a, carom_f32v b) {
#if defined(__AVX512F__) && defined(__AVX512BW__)
    return (carom_f32v)_mm512_min_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return (carom_f32v)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
    return (carom_f32v)_mm_min_ps((__m128)a, (__m128)b);
#else
    for (int i = 0; i < CAROM_LANES; ++i) a[i] = a[i] < b[i] ? a[i] : b[i];
    return a;
#endif
}

static inline carom_f32v carom_f32v_max(carom_f32v a, carom_f32v b) {
#if defined(__AVX512F__) && defined(__AVX512BW__)
    return (carom_f32v)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return (carom_f32v)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
    return (carom_f32v)_mm_max_ps((__m128)a, (__m128)b);
#else
    for (int i = 0; i < CAROM_LANES; ++i) a[i] = a[i] > b[i] ? a[i] : b[i];
    return a;
#endif
}

static inline carom_f32v carom_f32v_abs(carom_f32v a) {
    return (carom_f32v)((carom_i32v)a & INT32_MAX);
}

static inline carom_f64v carom_f64v_splat(double value) {
    return value - (carom_f64v){0};
}

/* CAROM_LANES64 floats, which doubles hold exactly. */
static inline carom_f64v carom_f64v_floats(const float *from) {
    typedef float some_floats __attribute__((vector_size(4 * CAROM_LANES64)));
    some_floats floats;
    memcpy(&floats, from, sizeof(floats));
    return __builtin_convertvector(floats, carom_f64v);
}

static inline carom_lanes carom_lanes_of64(carom_i64v comparison) {
#if defined(__AVX512F__) && defined(__AVX512BW__)
    __m512i bits;
    memcpy(&bits, &comparison, sizeof(bits));
    return _mm512_movepi64_mask(bits);
#elif defined(__AVX2__)
    __m256d bits;
    memcpy(&bits, &comparison, sizeof(bits));
    return (carom_lanes)_mm256_movemask_pd(bits);
#elif defined(__SSE2__)
    __m128d bits;
    memcpy(&bits, &comparison, sizeof(bits));
    return (carom_lanes)_mm_movemask_pd(bits);
#else
    carom_lanes lanes = 0;
    for (int i = 0; i < CAROM_LANES64; ++i) lanes |= (uint32_t)(comparison[i] & 1) << i;
    return lanes;
#endif
}

static inline carom_f64v carom_f64v_min(carom_f64v a, carom_f64v b) {
#if defined(__AVX512F__) && defined(__AVX512BW__)
    return (carom_f64v)_mm512_min_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX2__)
    return (carom_f64v)_mm256_min_pd((__m256d)a, (__m256d)b);
#elif defined(__SSE2__)
    return (carom_f64v)_mm_min_pd((__m128d)a, (__m128d)b);
#else
    for (int i = 0; i < CAROM_LANES64; ++i) a[i] = a[i] < b[i] ? a[i] : b[i];
    return a;
#endif
}

static inline carom_f64v carom_f64v_max(carom_f64v a, carom_f64v b) {
#if defined(__AVX512F__) && defined(__AVX512BW__)
    return (carom_f64v)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX2__)
    return (carom_f64v)_mm256_max_pd((__m256d)a, (__m256d)b);
#elif defined(__SSE2__)
    return (carom_f64v)_mm_max_pd((__m128d)a, (__m128d)b);
#else
    for (int i = 0; i < CAROM_LANES64; ++i) a[i] = a[i] > b[i] ? a[i] : b[i];
    return a;
#endif
}

static inline carom_f64v carom_f64v_abs(carom_f64v a) {
    carom_i64v bits = (carom_i64v)a & INT64_MAX;
    return (carom_f64v)bits;
}

#if defined(__AVX2__) && !(defined(__AVX512F__) && defined(__AVX512BW__))
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
static const uint8_t carom_lane_numbers[256][8] = {{0},
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
#if defined(__AVX512F__) && defined(__AVX512BW__)
    __m512i numbers =
        _mm512_add_epi32(_mm512_set1_epi32((int)first),
                         _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32((__mmask16)lanes, numbers));
    return (uint32_t)__builtin_popcount(lanes);
#elif defined(__AVX2__)
    __m256i numbers = _mm256_cvtepu8_epi32(
        _mm_loadl_epi64((const __m128i *)(const void *)carom_lane_numbers[lanes]));
    _mm256_storeu_si256((__m256i *)(void *)to,
                        _mm256_add_epi32(numbers, _mm256_set1_epi32((int)first)));
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

static inline carom_u32v carom_u32v_splat(uint32_t value) {
    return value + (carom_u32v){0};
}

/* Writes one cache line bypassing the caches, for output that is too large to stay in them. Both
 * addresses are multiples of 64. Call carom_stream_fence before another thread may read. */
static inline void carom_stream_line(void *to, const void *from) {
#if defined(__AVX512F__) && defined(__AVX512BW__)
    _mm512_stream_si512((__m512i *)to, _mm512_load_si512((const __m512i *)from));
#elif defined(__AVX2__)
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
