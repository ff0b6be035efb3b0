/* SPDX-License-Identifier: MIT */
/* Instruction sets: what the machine has is chosen, forced when requested, and right.
 * One thread. */
#include <string.h>

#include "base/context.h"
#include "base/isa.h"
#include "bvh/bvh_obb_cpu.h"
#include "tests/isa/simd_cpu.h"
#include "tests/support/test.h"

static void the_best_set_is_the_widest_there_is(void **state) {
    (void)state;
    carom_isa best = carom_isa_best();
    assert_true(carom_isa_available(best));
    for (int isa = (int)best + 1; isa < CAROM_ISA_COUNT; ++isa)
        assert_false(carom_isa_available((carom_isa)isa));
    assert_true(carom_isa_available(CAROM_ISA_BASELINE));
    assert_true(carom_isa_available(CAROM_ISA_BEST));
}

/* The compiler's library, where it is linked, agrees. */
static void the_compiler_agrees(void **state) {
    (void)state;
#if defined(CAROM_HAVE_X86_ISAS) && !defined(__APPLE__)
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
    assert_int_equal(carom_isa_available(CAROM_ISA_AVX2), avx2);
    assert_int_equal(carom_isa_available(CAROM_ISA_AVX512), avx2 && avx512);
#else
    skip();
#endif
}

static void each_set_computes_what_plain_c_computes(void **state) {
    (void)state;
    static const int widths[CAROM_ISA_COUNT] = {0, 4, 8, 16};
    for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa) {
        carom_context *context = test_context_isa(1, (carom_isa)isa);
        if (context == NULL) continue;
        for (uint64_t seed = 0; seed < 5000; ++seed) {
            int lanes;
            const char *wrong = CAROM_CPU_CALL(context, carom_test_simd)(seed, &lanes);
            if (wrong != NULL) fail_msg("%s: %s", carom_isa_name((carom_isa)isa), wrong);
            assert_int_equal(lanes, widths[isa]); /* the requested version ran */
        }
        carom_context_destroy(context);
    }
}

/* Points of a block as it may be: in general position, in a plane, on a line, at one point. */
static void random_points(carom_random *random, float rows[3][48], uint32_t count) {
    int shape = (int)(carom_random_next(random) % 4);
    for (uint32_t i = 0; i < count; ++i)
        for (int k = 0; k < 3; ++k)
            rows[k][i] = k < shape ? (float)carom_random_between(random, -1, 1)
                         : k == 0  ? 0.25f
                                   : rows[k - 1][i];
}

/* Sums and principal axes of blocks: the bits of carom_spread_axes, in every lane. */
static void each_set_finds_the_same_axes(void **state) {
    (void)state;
    carom_random random = {51};
    carom_context *contexts[CAROM_ISA_COUNT] = {NULL};
    for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa)
        contexts[isa] = test_context_isa(1, (carom_isa)isa);
    for (int round = 0; round < 500; ++round) {
        carom_spread spreads[CAROM_BVH_WIDTH];
        uint32_t count = 1 + (uint32_t)(carom_random_next(&random) % CAROM_BVH_WIDTH);
        memset(spreads, 0, sizeof(spreads));
        for (uint32_t i = 0; i < count; ++i) {
            float rows[3][48];
            const float *const points[3] = {rows[0], rows[1], rows[2]};
            uint32_t corners = 3 * (1 + (uint32_t)(carom_random_next(&random) % CAROM_BVH_WIDTH));
            random_points(&random, rows, corners);
            carom_obb_spread_baseline(points, corners, &spreads[i]);
            for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa) {
                carom_spread spread = {0};
                if (contexts[isa] == NULL) continue;
                CAROM_CPU_CALL(contexts[isa], carom_obb_spread)(points, corners, &spread);
                assert_memory_equal(&spread, &spreads[i], sizeof(spread));
            }
        }
        for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa) {
            double axes[CAROM_BVH_WIDTH][3][3], expected[3][3];
            if (contexts[isa] == NULL) continue;
            CAROM_CPU_CALL(contexts[isa], carom_obb_axes)(spreads, count, axes);
            for (uint32_t i = 0; i < count; ++i) {
                carom_spread_axes(&spreads[i], expected);
                assert_memory_equal(axes[i], expected, sizeof(expected));
            }
        }
    }
    for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa)
        carom_context_destroy(contexts[isa]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_set_is_the_widest_there_is),
        cmocka_unit_test(the_compiler_agrees),
        cmocka_unit_test(each_set_computes_what_plain_c_computes),
        cmocka_unit_test(each_set_finds_the_same_axes),
    };
    return cmocka_run_group_tests_name("isa", tests, NULL, NULL);
}
