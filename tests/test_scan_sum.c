/* SPDX-License-Identifier: MIT */
/* Prefix sums, order-independent sums, random numbers. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/scan.h"
#include "base/sum.h"
#include "tests/support/test.h"

static const carom_isa isas[] = {CAROM_ISA_BASELINE, CAROM_ISA_AVX2, CAROM_ISA_AVX512};

static void check_scan(carom_context *context, uint32_t *counts, uint64_t count) {
    uint64_t *wide = malloc((count + 1) * sizeof(*wide));
    uint32_t *narrow = malloc((count + 1) * sizeof(*narrow));
    assert_true(wide != NULL && narrow != NULL);
    assert_ok(context, carom_scan_u64(context, counts, count, wide));
    assert_ok(context, carom_scan_u32(context, counts, count, narrow));
    uint64_t sum = 0;
    for (uint64_t i = 0; i <= count; ++i) {
        assert_true(wide[i] == sum && narrow[i] == sum);
        if (i < count) sum += counts[i];
    }
    memcpy(narrow, counts, count * sizeof(*counts)); /* in place */
    assert_ok(context, carom_scan_u32(context, narrow, count, narrow));
    for (uint64_t i = 0; i <= count; ++i) assert_true(narrow[i] == wide[i]);
    free(wide);
    free(narrow);
}

static void scans_equal_the_loop(void **state) {
    (void)state;
    enum { MOST = 300000 };
    static const uint64_t sizes[] = {0, 1, 2, 17, 65536, 65537, MOST};
    uint32_t *counts = malloc((MOST + 1) * sizeof(*counts));
    assert_non_null(counts);
    carom_random random = {1};
    for (int i = 0; i < MOST; ++i) counts[i] = (uint32_t)(carom_random_next(&random) % 100);
    for (size_t isa = 0; isa < COUNT_OF(isas); ++isa) {
        for (uint32_t threads = 1; threads <= 8; threads = threads * 2 + 1) {
            carom_context *context = test_context_isa(threads, isas[isa]);
            if (context == NULL) break;
            for (size_t s = 0; s < COUNT_OF(sizes); ++s) check_scan(context, counts, sizes[s]);
            carom_context_destroy(context);
        }
    }
    free(counts);
}

static void scans_past_32_bits_say_so(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    uint32_t counts[3] = {UINT32_MAX - 5, 5, 1}, narrow[4];
    uint64_t wide[4];
    assert_ok(context, carom_scan_u32(context, counts, 2, narrow));
    assert_int_equal(narrow[2], UINT32_MAX);
    assert_fails(context, carom_scan_u32(context, counts, 3, narrow), CAROM_TOO_LARGE,
                 "4294967296 items");
    assert_ok(context, carom_scan_u64(context, counts, 3, wide));
    assert_int_equal(wide[3], UINT64_C(4294967296));
    carom_context_destroy(context);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void single_terms_come_back_exactly(void **state) {
    (void)state;
    static const double values[] = {0.0,      -0.0,      1.0,          -1.0,      0.1,
                                    -1e-5,    3e7,       DBL_MIN,      5e-324,    1e300,
                                    -DBL_MAX, 1.0 / 3.0, 0x1.fffffp10, -0x1p-1070};
    for (size_t i = 0; i < COUNT_OF(values); ++i) {
        int scale = carom_sum_scale(fabs(values[i]), 1000);
        carom_sum sum = carom_sum_term(values[i], scale);
        assert_true(carom_sum_value(sum, scale) == values[i]);
        sum = carom_sum_add(sum, carom_sum_term(-values[i], scale));
        assert_true(sum.low == 0 && sum.high == 0 && sum.spoiled == 0);
    }
}

static void terms_round_to_nearest_and_away_from_zero(void **state) {
    (void)state;
    static const struct {
        double value;
        int64_t term;
    } cases[] = {{0.4, 0},   {0.5, 1},   {0.6, 1},
                 {1.49, 1},  {1.5, 2},   {2.5, 3},
                 {-0.5, -1}, {-1.5, -2}, {0x1p52 + 1, INT64_C(4503599627370497)},
                 {0.25, 0},  {-0.4, 0}};
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        carom_sum term = carom_sum_term(cases[i].value, 0);
        assert_true((int64_t)term.low == cases[i].term);
        assert_true(term.high == (cases[i].term < 0 ? UINT64_MAX : 0));
    }
}

/* Against long integers: random terms as integers times 2^scale. */
static void sums_round_once(void **state) {
    (void)state;
    carom_random random = {7};
    for (int trial = 0; trial < TEST_CASES(20000); ++trial) {
        int scale = (int)(carom_random_next(&random) % 200) - 100;
        int bits = 1 + (int)(carom_random_next(&random) % 53);
        carom_sum sum = {0};
        __extension__ __int128 exact = 0;
        for (int i = 0; i < 8; ++i) {
            int64_t mantissa = (int64_t)(carom_random_next(&random) >> (64 - bits));
            int shift = (int)(carom_random_next(&random) % (uint64_t)(110 - bits));
            if (carom_random_next(&random) % 2 == 0) mantissa = -mantissa;
            exact += (__extension__(__int128) mantissa) * ((__extension__(__int128) 1) << shift);
            sum = carom_sum_add(sum, carom_sum_term(ldexp((double)mantissa, scale + shift), scale));
        }
        /* The compiler's own conversion from 128 bits rounds to nearest, ties to even. */
        assert_true(carom_sum_value(sum, scale) == ldexp((double)exact, scale));
    }
}

static void no_number_spoils_the_sum(void **state) {
    (void)state;
    double huge = ldexp(1.0, 126);
    assert_true(carom_sum_term(NAN, 0).spoiled == 1);
    assert_true(carom_sum_term(INFINITY, 0).spoiled == 1);
    assert_true(carom_sum_term(-INFINITY, -1074).spoiled == 1);
    assert_true(carom_sum_term(huge, 0).spoiled == 1);
    assert_true(carom_sum_term(nextafter(huge, 0.0), 0).spoiled == 0);
    carom_sum sum = carom_sum_add(carom_sum_term(1.0, 0), carom_sum_term(NAN, 0));
    sum = carom_sum_add(sum, carom_sum_term(2.0, 0));
    assert_true(isnan(carom_sum_value(sum, 0)));
}

static void scales_leave_room_for_all_terms(void **state) {
    (void)state;
    static const double largest[] = {1.0, 0.7, 1e-310, 1e308, 12345.678, 0.0};
    static const uint64_t counts[] = {1, 2, 1000, 1u << 20};
    for (size_t i = 0; i < COUNT_OF(largest); ++i) {
        for (size_t k = 0; k < COUNT_OF(counts); ++k) {
            int scale = carom_sum_scale(largest[i], counts[k]);
            carom_sum term = carom_sum_term(largest[i], scale), sum = term;
            assert_true(term.spoiled == 0);
            uint64_t n = 1;
            for (; n * 2 <= counts[k]; n *= 2) sum = carom_sum_add(sum, sum); /* n terms */
            assert_true(sum.high >> 63 == 0); /* still positive: no overflow */
            if (isfinite(largest[i] * (double)n))
                assert_true(carom_sum_value(sum, scale) == largest[i] * (double)n);
        }
    }
}

static void sums_are_the_same_bits_in_any_order_on_any_threads(void **state) {
    (void)state;
    enum { COUNT = 200000 };
    double *values = malloc(COUNT * sizeof(*values));
    assert_non_null(values);
    carom_random random = {11};
    for (int i = 0; i < COUNT; ++i) { /* powers of two: those of ten are rounded by the C library */
        double normal = carom_random_normal(&random);
        values[i] = ldexp(normal, (int)(carom_random_next(&random) % 54) - 27);
    }
    int scale = carom_sum_scale(1e10, COUNT);
    carom_sum first = {0};
    for (uint32_t threads = 1; threads <= 8; ++threads) {
        carom_context *context = test_context(threads);
        carom_sum sum = {0};
        assert_ok(context, carom_sum_array(context, values, COUNT, scale, &sum));
        if (threads == 1) first = sum;
        assert_memory_equal(&sum, &first, sizeof(sum));
        carom_context_destroy(context);
        for (int i = COUNT - 1; i > 0; --i) { /* another order */
            int k = (int)(carom_random_next(&random) % (uint64_t)(i + 1));
            double swap = values[i];
            values[i] = values[k];
            values[k] = swap;
        }
    }
    test_golden("base.txt", "sum", test_hash_numbers(&first, sizeof(first), "8", 0));
    free(values);
}

static carom_status sum_with(carom_allocator allocator, void *argument) {
    (void)argument;
    static double values[100000];
    static uint32_t counts[100000], offsets[100001];
    carom_context *context;
    carom_context_def def = {.threads = 3, .allocator = allocator};
    CAROM_TRY(carom_context_create(&def, &context));
    carom_sum sum = {0};
    carom_status status = carom_sum_array(context, values, COUNT_OF(values), 0, &sum);
    if (status == CAROM_OK) status = carom_scan_u32(context, counts, COUNT_OF(counts), offsets);
    carom_context_destroy(context);
    return status;
}

static void failing_memory_is_a_status(void **state) {
    (void)state;
    test_allocation_failures(sum_with, NULL);
}

/* ---- random numbers -------------------------------------------------------------------------- */

static void random_numbers_are_splitmix64(void **state) {
    (void)state;
    /* The first outputs for seed 1234567, as published with the generator. */
    static const uint64_t published[] = {
        UINT64_C(6457827717110365317), UINT64_C(3203168211198807973), UINT64_C(9817491932198370423),
        UINT64_C(4593380528125082431), UINT64_C(16408922859458223821)};
    carom_random random = {1234567};
    for (size_t i = 0; i < COUNT_OF(published); ++i)
        assert_true(carom_random_next(&random) == published[i]);
}

static void random_numbers_have_the_right_moments(void **state) {
    (void)state;
    enum { COUNT = 200000 };
    carom_random random = {42};
    double uniform = 0, normal = 0, square = 0;
    for (int i = 0; i < COUNT; ++i) {
        double u = carom_random_uniform(&random), b = carom_random_between(&random, -3, 5);
        assert_true(u >= 0.0 && u < 1.0 && b >= -3.0 && b < 5.0);
        double g = carom_random_normal(&random);
        uniform += u;
        normal += g;
        square += g * g;
    }
    assert_true(fabs(uniform / COUNT - 0.5) < 0.003);
    assert_true(fabs(normal / COUNT) < 0.01);
    assert_true(fabs(square / COUNT - 1.0) < 0.02);
}

static void the_clock_never_goes_back(void **state) {
    (void)state;
    double last = carom_time_seconds();
    for (int i = 0; i < TEST_CASES(100000); ++i) {
        double now = carom_time_seconds();
        assert_true(now >= last);
        last = now;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans_equal_the_loop),
        cmocka_unit_test(scans_past_32_bits_say_so),
        cmocka_unit_test(single_terms_come_back_exactly),
        cmocka_unit_test(terms_round_to_nearest_and_away_from_zero),
        cmocka_unit_test(sums_round_once),
        cmocka_unit_test(no_number_spoils_the_sum),
        cmocka_unit_test(scales_leave_room_for_all_terms),
        cmocka_unit_test(sums_are_the_same_bits_in_any_order_on_any_threads),
        cmocka_unit_test(failing_memory_is_a_status),
        cmocka_unit_test(random_numbers_are_splitmix64),
        cmocka_unit_test(random_numbers_have_the_right_moments),
        cmocka_unit_test(the_clock_never_goes_back),
    };
    return cmocka_run_group_tests_name("scan and sum", tests, NULL, NULL);
}
