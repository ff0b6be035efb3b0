/* SPDX-License-Identifier: MIT */
/* Every vector word on random and special floats, lane by lane. */
#include "tests/isa/simd_cpu.h"

#include <stdalign.h>
#include <stdbool.h>

#include "base/simd.h"

static float special_float(carom_random *random) {
    static const uint32_t bits[] = {0x00000000, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000,
                                    0x00000001, 0x3F800000, 0xBF800000, 0x7F7FFFFF, 0x80800000};
    uint64_t draw = carom_random_next(random);
    uint32_t pattern = draw % 3 == 0 ? bits[(draw >> 8) % 10] : (uint32_t)(draw >> 32);
    float value;
    memcpy(&value, &pattern, sizeof(value));
    return value;
}

static bool same(float a, float b) { /* bit for bit */
    return memcmp(&a, &b, sizeof(a)) == 0;
}

static const char *check_doubles(carom_random *random) {
    carom_f64v a, b;
    for (int i = 0; i < CAROM_LANES64; ++i) {
        a[i] = (double)special_float(random);
        b[i] = (double)special_float(random);
    }
    carom_f64v low = carom_f64v_min(a, b), high = carom_f64v_max(a, b), size = carom_f64v_abs(a);
    carom_lanes below = carom_lanes_of64(a < b);
    for (int i = 0; i < CAROM_LANES64; ++i) {
        double least = a[i] < b[i] ? a[i] : b[i], most = a[i] > b[i] ? a[i] : b[i];
        double got_least = low[i], got_most = high[i], value = a[i], got_size = size[i];
        if (memcmp(&least, &got_least, sizeof(least)) != 0) return "min of doubles";
        if (memcmp(&most, &got_most, sizeof(most)) != 0) return "max of doubles";
        if (value == value && got_size != (value < 0.0 ? -value : value)) return "abs of doubles";
        if ((below >> i & 1) != (a[i] < b[i] ? 1u : 0u)) return "lanes of doubles";
    }
    return below >> CAROM_LANES64 != 0 ? "lanes past the end" : NULL;
}

static const char *check_lists(carom_random *random) {
    uint32_t numbers[2 * CAROM_LANES], first = (uint32_t)carom_random_next(random);
    carom_lanes set = (carom_lanes)carom_random_next(random) & (~0u >> (32 - CAROM_LANES));
    uint32_t count = carom_lanes_list(set, first, numbers), at = 0;
    for (uint32_t i = 0; i < CAROM_LANES; ++i)
        if ((set >> i & 1) != 0 && numbers[at++] != first + i) return "list of lanes";
    return at == count ? NULL : "number of lanes";
}

static bool is_root(float root, float of) {
    return of >= 0.0f ? root == sqrtf(of) : root != root;
}

static const char *check_eight(carom_random *random) {
    float a[8], b[8], to[8], least = HUGE_VALF;
    uint32_t words[8], got[8];
    for (int i = 0; i < 8; ++i) {
        a[i] = special_float(random);
        b[i] = special_float(random);
        words[i] = (uint32_t)carom_random_next(random);
        if (a[i] < least) least = a[i];
    }
    carom_f32x8 x = carom_f32x8_load(a), y = carom_f32x8_load(b);
    carom_f32x8 low = carom_f32x8_min(x, y), high = carom_f32x8_max(x, y);
    carom_f32x8 size = carom_f32x8_abs(x), root = carom_f32x8_sqrt(x);
    carom_lanes below = carom_i32x8_lanes(x < y), at_most = carom_f32x8_lanes_at_most(x, y);
    carom_f32x8_store(to, x);
    for (int i = 0; i < 8; ++i) {
        float smaller = low[i], larger = high[i], value = size[i];
        if (!same(to[i], a[i])) return "load and store of eight";
        if (!same(smaller, a[i] < b[i] ? a[i] : b[i])) return "min of eight";
        if (!same(larger, a[i] > b[i] ? a[i] : b[i])) return "max of eight";
        if (a[i] == a[i] && value != (a[i] < 0.0f ? -a[i] : a[i])) return "abs of eight";
        if (!is_root(root[i], a[i])) return "sqrt of eight";
        if ((below >> i & 1) != (a[i] < b[i] ? 1u : 0u)) return "lanes of eight";
        if ((at_most >> i & 1) != (a[i] <= b[i] ? 1u : 0u)) return "lanes at most of eight";
    }
    if ((below | at_most) >> 8 != 0) return "lanes past eight";
    if (carom_f32x8_least(carom_f32x8_min(x, carom_f32x8_splat(HUGE_VALF))) != least)
        return "least of eight";
    carom_u32x8 w = carom_u32x8_load(words);
    carom_lanes set = (carom_lanes)carom_random_next(random) & 255u;
    carom_u32x8_store(got, carom_u32x8_compress(w, set));
    for (int i = 0, at = 0; i < 8; ++i)
        if ((set >> i & 1) != 0 && got[at++] != words[i]) return "compress of eight";
    carom_u32x8_store(got, carom_u32x8_max(w, carom_u32x8_splat(words[0])));
    for (int i = 0; i < 8; ++i)
        if (got[i] != (words[i] > words[0] ? words[i] : words[0])) return "max of eight integers";
    return NULL;
}

static const char *check_four(carom_random *random) {
    float a[4], b[4];
    uint32_t words[4], got[4];
    carom_f64x4 p, q;
    carom_f32x4 rows[8];
    carom_f32x8 columns[4];
    for (int i = 0; i < 4; ++i) {
        a[i] = special_float(random);
        b[i] = special_float(random);
        p[i] = (double)a[i];
        q[i] = (double)b[i];
        words[i] = (uint32_t)carom_random_next(random);
    }
    for (int i = 0; i < 8; ++i)
        for (int k = 0; k < 4; ++k) rows[i][k] = (float)(4 * i + k);
    carom_f32x8_transpose(rows, columns);
    for (int i = 0; i < 8; ++i)
        for (int k = 0; k < 4; ++k)
            if (columns[k][i] != (float)(4 * i + k)) return "transpose";
    carom_f32x4 x = carom_f32x4_load(a), y = carom_f32x4_load(b);
    carom_f32x4 low = carom_f32x4_min(x, y), high = carom_f32x4_max(x, y);
    carom_f64x4 low64 = carom_f64x4_min(p, q), high64 = carom_f64x4_max(p, q);
    carom_f64x4 chosen = carom_f64x4_select(p < q, p, q);
    carom_lanes below = carom_i32x4_lanes(x < y), below64 = carom_i64x4_lanes(p < q);
    carom_u32x4_store(got, carom_u32x4_max(carom_u32x4_load(words), carom_u32x4_splat(words[0])));
    for (int i = 0; i < 4; ++i) {
        float smaller = low[i], larger = high[i];
        double least = low64[i], most = high64[i], from = a[i] < b[i] ? p[i] : q[i],
               one = chosen[i];
        double up = a[i] > b[i] ? p[i] : q[i];
        if (!same(smaller, a[i] < b[i] ? a[i] : b[i])) return "min of four";
        if (!same(larger, a[i] > b[i] ? a[i] : b[i])) return "max of four";
        if (memcmp(&least, &from, sizeof(from)) != 0) return "min of four doubles";
        if (memcmp(&most, &up, sizeof(up)) != 0) return "max of four doubles";
        if (memcmp(&one, &from, sizeof(from)) != 0) return "select of four doubles";
        if ((below >> i & 1) != (a[i] < b[i] ? 1u : 0u)) return "lanes of four";
        if ((below64 >> i & 1) != (a[i] < b[i] ? 1u : 0u)) return "lanes of four doubles";
        if (got[i] != (words[i] > words[0] ? words[i] : words[0])) return "max of four integers";
    }
    return (below | below64) >> 4 != 0 ? "lanes past four" : NULL;
}

const char *CAROM_CPU(carom_test_simd)(uint64_t seed, int *lanes) {
    carom_random random = {seed};
    float a[CAROM_LANES], b[CAROM_LANES], least[CAROM_LANES], most[CAROM_LANES], copy[CAROM_LANES];
    uint32_t words[CAROM_LANES];
    *lanes = CAROM_LANES;
    for (int i = 0; i < CAROM_LANES; ++i) {
        a[i] = special_float(&random);
        b[i] = special_float(&random);
        words[i] = (uint32_t)carom_random_next(&random);
    }
    carom_f32v x = carom_f32v_load(a), y = carom_f32v_load(b);
    carom_f32v_store(least, carom_f32v_min(x, y));
    carom_f32v_store(most, carom_f32v_max(x, y));
    carom_lanes below = carom_lanes_of(x < y), at_most = carom_lanes_of(x <= y);
    for (int i = 0; i < CAROM_LANES; ++i) {
        if (!same(least[i], a[i] < b[i] ? a[i] : b[i])) return "min";
        if (!same(most[i], a[i] > b[i] ? a[i] : b[i])) return "max";
        if ((below >> i & 1) != (a[i] < b[i] ? 1u : 0u)) return "lanes of <";
        if ((at_most >> i & 1) != (a[i] <= b[i] ? 1u : 0u)) return "lanes of <=";
    }
    if (CAROM_LANES < 32 && below >> CAROM_LANES != 0) return "lanes past the end";
    carom_random more = {~seed};
    const char *wrong = check_doubles(&more);
    if (wrong == NULL) wrong = check_lists(&more);
    if (wrong == NULL) wrong = check_eight(&more);
    if (wrong == NULL) wrong = check_four(&more);
    if (wrong != NULL) return wrong;
    carom_f32v_store(copy, carom_f32v_fma(x, carom_f32v_splat(2.0f), carom_f32v_splat(1.0f)));
    for (int i = 0; i < CAROM_LANES; ++i) /* 2 a is exact, so both roundings agree */
        if (a[i] == a[i] && copy[i] != a[i] * 2.0f + 1.0f) return "fma";
    carom_f32v_store(copy, carom_f32v_abs(x));
    for (int i = 0; i < CAROM_LANES; ++i)
        if (a[i] == a[i] && copy[i] != (a[i] < 0.0f ? -a[i] : a[i])) return "abs";
    carom_f32v_store(copy, carom_f32v_splat(a[0]));
    for (int i = 0; i < CAROM_LANES; ++i) /* a NaN may change its payload in a splat */
        if (!same(copy[i], a[0]) && a[0] == a[0]) return "splat";
    carom_u32v_store(words, carom_u32v_load(words) + 1u);
    carom_random again = {seed};
    for (int i = 0; i < CAROM_LANES; ++i) {
        special_float(&again);
        special_float(&again);
        if (words[i] != (uint32_t)carom_random_next(&again) + 1u) return "integers";
    }
    alignas(64) char from[64], to[64];
    for (int i = 0; i < 64; ++i) from[i] = (char)i;
    carom_stream_line(to, from);
    carom_stream_fence();
    return memcmp(to, from, 64) == 0 ? NULL : "stream";
}
