/* SPDX-License-Identifier: MIT */
/* Instruction sets: what the machine has is chosen, forced when requested, and right.
 * One thread. */
#include <string.h>

#include "base/context.h"
#include "base/isa.h"
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_set_is_the_widest_there_is),
        cmocka_unit_test(the_compiler_agrees),
        cmocka_unit_test(each_set_computes_what_plain_c_computes),
    };
    return cmocka_run_group_tests_name("isa", tests, NULL, NULL);
}
