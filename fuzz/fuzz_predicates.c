/* SPDX-License-Identifier: MIT */
/* Two triangles of any doubles: relation, filter and self-pair rules against the integer oracle,
 * in every order. */
#include "fuzz/fuzz.h"

#include "geom/face_item.h"

#define BIG_WORDS 4
#define BIG(name) narrow_##name
#include "tests/support/triangle_oracle.h"
#undef BIG_WORDS
#undef BIG

#define BIG_WORDS 18
#define BIG(name) middle_##name
#include "tests/support/triangle_oracle.h"
#undef BIG_WORDS
#undef BIG

#define BIG_WORDS 134
#define BIG(name) widest_##name
#include "tests/support/triangle_oracle.h"

/* The oracle with as many words as these coordinates need. */
static carom_triangle_intersection oracle(const carom_triangle *a, const carom_triangle *b) {
    const double *x[2] = {&a->corner[0].x, &b->corner[0].x};
    int low = 1100, high = -1100;
    for (int i = 0; i < 18; ++i) {
        double value = x[i / 9][i % 9];
        if (value == 0.0) continue;
        int exponent, lowest;
        int64_t mantissa = (int64_t)ldexp(frexp(value, &exponent), 53);
        for (lowest = exponent - 53; mantissa % 2 == 0; mantissa /= 2) ++lowest;
        low = lowest < low ? lowest : low;
        high = exponent > high ? exponent : high;
    }
    return high - low <= 59    ? narrow_oracle(a, b, low)
           : high - low <= 284 ? middle_oracle(a, b, low)
                               : widest_oracle(a, b, low);
}

static void check(const carom_triangle *a, const carom_triangle *b,
                  carom_triangle_intersection truth) {
    carom_triangle_intersection r = carom_triangle_relate(a, b);
    int meet = truth.dimension >= 0, verdict = carom_triangle_filter(a, b);
    FUZZ_CHECK(r.relation == truth.relation && r.dimension == truth.dimension);
    FUZZ_CHECK(r.coplanar == truth.coplanar);
    FUZZ_CHECK(carom_triangle_meet(a, b) == meet);
    FUZZ_CHECK(verdict == CAROM_UNDECIDED || verdict == meet);
    FUZZ_CHECK(carom_face_degenerate(a) == (r.dimension_a < 2));
}

/* One coordinate: any double, any float, a small integer, or a double of moderate size. */
static double take_coordinate(const uint8_t **bytes, size_t *size, int how) {
    double wide;
    float narrow;
    int8_t whole;
    switch (how) {
    case 0:
        fuzz_take(bytes, size, &wide, sizeof(wide));
        break;
    case 1:
        fuzz_take(bytes, size, &narrow, sizeof(narrow));
        wide = (double)narrow;
        break;
    case 2:
        fuzz_take(bytes, size, &whole, sizeof(whole));
        wide = whole;
        break;
    default:
        fuzz_take(bytes, size, &wide, sizeof(wide));
        int exponent = 0;
        if (isfinite(wide)) wide = ldexp(frexp(wide, &exponent), exponent % 4);
    }
    return isfinite(wide) ? wide : 1.0;
}

/* The first byte selects how the coordinates are read, the second which corners of b repeat
 * corners of a. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    carom_triangle a, b;
    double *x[2] = {&a.corner[0].x, &b.corner[0].x};
    uint8_t how[2];
    fuzz_take(&bytes, &size, how, sizeof(how));
    for (int i = 0; i < 18; ++i) x[i / 9][i % 9] = take_coordinate(&bytes, &size, how[0] % 4);
    uint32_t index[6] = {0, 1, 2, 3, 4, 5};
    for (uint32_t i = 0; i < 3; ++i) {
        uint32_t from = how[1] >> (2 * i) & 3;
        if (from == 3) continue;
        b.corner[i] = a.corner[from];
        index[3 + i] = from;
    }
    carom_triangle_intersection truth = oracle(&a, &b);
    check(&a, &b, truth);
    check(&b, &a, truth);
    carom_triangle turned = {{b.corner[2], b.corner[1], b.corner[0]}};
    check(&a, &turned, truth);

    /* A pair counts only when the faces meet, and one rule holds in both orders. */
    for (int as_segments = 0; as_segments < 2; ++as_segments) {
        int counts = carom_face_pair(&a, index, &b, index + 3, as_segments);
        FUZZ_CHECK(counts == carom_face_pair(&b, index + 3, &a, index, as_segments));
        FUZZ_CHECK(!counts || truth.dimension >= 0);
        if (truth.dimension == 2) FUZZ_CHECK(counts);
    }
    return 0;
}
