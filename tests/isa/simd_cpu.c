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
    if (wrong != NULL) return wrong;
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
