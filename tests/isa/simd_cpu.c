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

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

/* Doubles as floats and integers, the greatest of them, and words moved between lanes. */
static const char *check_conversions(carom_random *random) {
    double a[CAROM_LANES64], b[CAROM_LANES64], top = -HUGE_VAL;
    float floats[CAROM_LANES64], numbers[CAROM_LANES];
    carom_u64v words;
    for (int i = 0; i < CAROM_LANES64; ++i) {
        a[i] = ((double)(carom_random_next(random) >> 11) - 0x1p52) * 0x1p-20;
        b[i] = carom_random_next(random) % 2 != 0 ? a[i] : 1.0;
        top = a[i] > top ? a[i] : top;
        words[i] = carom_random_next(random);
    }
    for (int i = 0; i < CAROM_LANES; ++i)
        numbers[i] = (float)((int32_t)(carom_random_next(random) >> 34) - (1 << 29)) * 0x1p-10f;
    carom_f64v x = carom_f64v_load(a), y = carom_f64v_load(b);
    carom_i64v whole = carom_f64v_truncate(x);
    carom_i32v parts = carom_f32v_truncate(carom_f32v_load(numbers));
    carom_u64v odd = carom_u64v_even_to_odd(words);
    carom_f64v_store_floats(floats, x);
    carom_f64v back = carom_f64v_floats(floats);
    carom_lanes equal = carom_f64v_lanes_equal(x, y);
    for (int i = 0; i < CAROM_LANES64; ++i) {
        if (!same(floats[i], (float)a[i])) return "doubles stored as floats";
        if (bits_of(back[i]) != bits_of((double)floats[i])) return "floats as doubles";
        if (whole[i] != (int64_t)a[i]) return "truncated doubles";
        if ((equal >> i & 1) != (a[i] == b[i] ? 1u : 0u)) return "equal doubles";
        if (odd[i] != (i % 2 != 0 ? words[i - 1] : 0u)) return "even to odd";
    }
    for (int i = 0; i < CAROM_LANES; ++i)
        if (parts[i] != (int32_t)numbers[i]) return "truncated floats";
    if (equal >> CAROM_LANES64 != 0) return "equal doubles past the end";
    return carom_f64v_greatest(x) == top ? NULL : "greatest of doubles";
}

/* Rows made to columns, and comparisons combined. */
static const char *check_rows(carom_random *random) {
    carom_f32x4 rows[CAROM_LANES];
    carom_f32v columns[4], a, b, c;
    for (int i = 0; i < CAROM_LANES; ++i) {
        a[i] = special_float(random);
        b[i] = special_float(random);
        c[i] = special_float(random);
        for (int k = 0; k < 4; ++k) rows[i][k] = (float)(4 * i + k);
    }
    double coordinates[3 * CAROM_LANES64 + 1];
    const double *points[CAROM_LANES64];
    carom_f64v axes[3];
    for (int i = 0; i <= 3 * CAROM_LANES64; ++i) coordinates[i] = (double)i;
    for (int i = 0; i < CAROM_LANES64; ++i) points[i] = coordinates + 3 * (CAROM_LANES64 - 1 - i);
    carom_f64v_points(points, axes);
    for (int i = 0; i < CAROM_LANES64; ++i)
        for (int k = 0; k < 3; ++k)
            if (axes[k][i] != points[i][k]) return "points";
    carom_f32v_transpose(rows, columns);
    carom_f32v_test test = carom_f32v_test_at_most(carom_f32v_test_begin(), a, b);
    carom_lanes both = carom_f32v_test_lanes(carom_f32v_test_at_most(test, b, c));
    for (int i = 0; i < CAROM_LANES; ++i) {
        for (int k = 0; k < 4; ++k)
            if (columns[k][i] != (float)(4 * i + k)) return "wide transpose";
        if ((both >> i & 1) != (a[i] <= b[i] && b[i] <= c[i] ? 1u : 0u)) return "both at most";
    }
    return both >> CAROM_LANES != 0 ? "both at most past the end" : NULL;
}

/* Lanes of four, moved and compared. */
static const char *check_moves(carom_random *random) {
    carom_f32x4 x = {0.0f, 1.0f, 2.0f, 3.0f}, y = x + 4.0f;
    static const float moved[4][4] = {{2, 3, 0, 1}, {1, 2, 0, 0}, {2, 0, 1, 0}, {0, 1, 2, 4}};
    carom_f32x4 got[4] = {carom_f32x4_swap_halves(x), carom_f32x4_yzx(x), carom_f32x4_zxy(x),
                          carom_f32x4_three_and_one(x, y)};
    carom_u32x4 a, b;
    carom_i64x4 wide;
    uint8_t order[8];
    uint32_t taken[8];
    for (int i = 0; i < 8; ++i) order[i] = (uint8_t)(carom_random_next(random) % 8);
    for (int i = 0; i < 4; ++i) {
        a[i] = (uint32_t)(carom_random_next(random) % 3) << 30;
        b[i] = (uint32_t)(carom_random_next(random) % 3) << 30;
        wide[i] = (int32_t)carom_random_next(random);
    }
    uint32_t matches = carom_u32x4_matches(a, b);
    carom_u32x4_take(a, b, order, 8, taken);
    carom_i32x4 narrow = carom_i64x4_narrow(wide);
    carom_f64x4 doubles = carom_i32x4_doubles(narrow);
    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < 4; ++k) {
            if (got[i][k] != moved[i][k]) return "lanes moved";
            if ((matches >> (4 * i + k) & 1) != (a[i] == b[k] ? 1u : 0u)) return "matches";
        }
        if (narrow[i] != (int32_t)wide[i] || doubles[i] != (double)wide[i]) return "narrowed";
    }
    for (int i = 0; i < 8; ++i)
        if (taken[i] != (order[i] < 4 ? a[order[i]] : b[order[i] - 4])) return "lanes taken";
    return matches >> 16 != 0 ? "matches past the end" : NULL;
}

/* Six doubles rounded outwards. */
static const char *check_outwards(carom_random *random) {
#ifdef CAROM_DIRECTED_ROUNDING
    double from[6];
    float to[6];
    bool floats = true, ordered = true;
    for (int i = 0; i < 6; ++i) {
        from[i] = (double)special_float(random);
        if (from[i] - from[i] != 0.0) from[i] = 0.0;
        if (carom_random_next(random) % 4 == 0) from[i] *= 1.0 + 0x1p-40;
        floats &= from[i] == (double)(float)from[i];
    }
    for (int i = 0; i < 3; ++i) ordered &= from[i] <= from[i + 3];
    if (carom_f64x6_ordered(from) != ordered) return "ordered";
    if (carom_f64x6_outwards(from, to) != floats) return "floats";
    for (int i = 0; i < 6; ++i) {
        double out = i < 3 ? from[i] - (double)to[i] : (double)to[i] - from[i];
        float next = nextafterf(to[i], i < 3 ? HUGE_VALF : -HUGE_VALF);
        if (!(out >= 0.0)) return "outwards";
        if (i < 3 ? (double)next <= from[i] : (double)next >= from[i]) return "nearest outwards";
    }
#else
    (void)random;
#endif
    return NULL;
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
    if (wrong == NULL) wrong = check_conversions(&more);
    if (wrong == NULL) wrong = check_rows(&more);
    if (wrong == NULL) wrong = check_moves(&more);
    if (wrong == NULL) wrong = check_outwards(&more);
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
