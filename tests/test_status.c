/* SPDX-License-Identifier: MIT */
/* Status names, messages, the assert handler, context creation. */
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "tests/support/test.h"

static void every_status_has_a_name(void **state) {
    (void)state;
    for (int i = 0; i < CAROM_STATUS_COUNT; ++i) {
        assert_string_not_equal(carom_status_name((carom_status)i), "unknown");
        for (int k = 0; k < i; ++k)
            assert_string_not_equal(carom_status_name((carom_status)i),
                                    carom_status_name((carom_status)k));
    }
    assert_string_equal(carom_status_name((carom_status)999), "unknown");
}

static void long_messages_end_in_dots(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    char words[2 * CAROM_MESSAGE_SIZE];
    memset(words, 'x', sizeof(words) - 1);
    words[sizeof(words) - 1] = '\0';
    assert_string_equal(carom_context_message(context), "");
    assert_int_equal(carom_fail(context, CAROM_IO, "%s", words), CAROM_IO);
    const char *message = carom_context_message(context);
    assert_int_equal(strlen(message), CAROM_MESSAGE_SIZE - 1);
    assert_string_equal(message + strlen(message) - 4, "x...");
    carom_context_destroy(context);
}

static void messages_about_memory_say_how_much(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    assert_fails(context, carom_fail_memory(context, 123, "a net"), CAROM_NO_MEMORY,
                 "out of memory: 123 bytes for a net; ");
    assert_fails(context, carom_fail_memory(context, 0, "a net"), CAROM_NO_MEMORY,
                 "out of memory for a net; ");
    carom_arena *scratch = carom_scratch(context, 1);
    assert_null(carom_arena_take(scratch, SIZE_MAX / 4, 1));
    assert_fails(context, carom_fail_memory(context, 0, "a net"), CAROM_NO_MEMORY,
                 "out of memory: 46116860184273"); /* 2^62, to the next line */
    assert_non_null(carom_arena_take(scratch, 1000, 1));
    assert_fails(context, carom_fail_memory(context, 0, "a net"), CAROM_NO_MEMORY,
                 "out of memory for a net, beside 65600 bytes of scratch; ");
    assert_fails(context, carom_fail_in(context, CAROM_NO_MEMORY, "%d fish", 7), CAROM_NO_MEMORY,
                 "7 fish: out of memory for a net, ");
    assert_fails(NULL, carom_fail_memory(NULL, 5, "a net"), CAROM_NO_MEMORY,
                 "out of memory: 5 bytes for a net; ");
    carom_context_destroy(context);
}

static void callers_bugs_reach_the_handler(void **state) {
    (void)state;
    carom_context *context = NULL;
    carom_context_info info;
    test_asserts_begin();
    assert_int_equal(carom_context_create(NULL, NULL), CAROM_INVALID);
    assert_int_equal(carom_context_get_info(NULL, &info), CAROM_INVALID);
    assert_int_equal(carom_context_trim(NULL), CAROM_INVALID);
    carom_context_def def = {.backend = (carom_backend)7};
    assert_int_equal(carom_context_create(&def, &context), CAROM_INVALID);
    def = (carom_context_def){.isa = (carom_isa)-1};
    assert_int_equal(carom_context_create(&def, &context), CAROM_INVALID);
    test_memory memory = {0};
    def = (carom_context_def){.allocator = test_allocator(&memory)};
    def.allocator.release = NULL;
    assert_int_equal(carom_context_create(&def, &context), CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 6);
    assert_null(context);
}

static void creation_failures_leave_a_message(void **state) {
    (void)state;
    carom_context *context = (carom_context *)state;
    assert_fails(NULL, carom_context_create_abi(CAROM_ABI + 1, NULL, &context), CAROM_UNSUPPORTED,
                 "compile it again");
    assert_null(context);
    carom_context_def def = {.threads = 257};
    assert_fails(NULL, carom_context_create(&def, &context), CAROM_BAD_INPUT, "at most 256");
    if (!carom_isa_available(CAROM_ISA_AVX512)) {
        def = (carom_context_def){.isa = CAROM_ISA_AVX512};
        assert_fails(NULL, carom_context_create(&def, &context), CAROM_UNSUPPORTED, "avx512");
    }
    char line[256];
    if (!carom_cuda_describe(line, sizeof(line))) {
        assert_memory_equal(line, "none: ", 6);
        def = (carom_context_def){.backend = CAROM_BACKEND_CUDA};
        assert_fails(NULL, carom_context_create(&def, &context), CAROM_NO_DEVICE, line);
    }
    test_memory memory = {.fail_after = 1};
    def = (carom_context_def){.allocator = test_allocator(&memory)};
    assert_fails(NULL, carom_context_create(&def, &context), CAROM_NO_MEMORY, "a context");
    assert_null(context);
}

static void zero_means_default(void **state) {
    (void)state;
    carom_context *from_null, *from_zero;
    carom_context_info a, b;
    assert_ok(NULL, carom_context_create(NULL, &from_null));
    assert_ok(NULL, carom_context_create(&(carom_context_def){0}, &from_zero));
    assert_ok(from_null, carom_context_get_info(from_null, &a));
    assert_ok(from_zero, carom_context_get_info(from_zero, &b));
    assert_int_equal(a.threads, b.threads);
    assert_true(a.threads >= 1);
    assert_int_equal(a.isa, b.isa);
    assert_true(carom_isa_available(a.isa));
    assert_int_equal(a.backend, CAROM_BACKEND_CPU);
    assert_int_equal(a.scratch_bytes, 0);
    carom_context_destroy(from_null);
    carom_context_destroy(from_zero);
    carom_context_destroy(NULL);
}

static void the_build_knows_itself(void **state) {
    (void)state;
    const carom_build *build = carom_build_get();
    char version[32];
    snprintf(version, sizeof(version), "%d.%d.%d", CAROM_VERSION_MAJOR, CAROM_VERSION_MINOR,
             CAROM_VERSION_PATCH);
    assert_string_equal(build->version, version);
    assert_true(strlen(build->commit) > 0 && strlen(build->compiler) > 0);
    assert_non_null(strstr(build->instruction_sets, "baseline"));
    assert_string_equal(carom_isa_name(CAROM_ISA_AVX2), "avx2");
    assert_string_equal(carom_isa_name((carom_isa)99), "unknown");
    assert_false(carom_isa_available((carom_isa)99));
    (void)carom_cuda_describe(NULL, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_name),
        cmocka_unit_test(long_messages_end_in_dots),
        cmocka_unit_test(messages_about_memory_say_how_much),
        cmocka_unit_test(callers_bugs_reach_the_handler),
        cmocka_unit_test(creation_failures_leave_a_message),
        cmocka_unit_test(zero_means_default),
        cmocka_unit_test(the_build_knows_itself),
    };
    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
