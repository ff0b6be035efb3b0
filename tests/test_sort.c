/* SPDX-License-Identifier: MIT */
/* The radix sort against the C library's, on every instruction set and several thread counts. */
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/sort.h"
#include "tests/support/test.h"

static const uint32_t thread_counts[] = {1, 2, 3, 8};
static const carom_isa isas[] = {CAROM_ISA_BASELINE, CAROM_ISA_AVX2, CAROM_ISA_AVX512};

static uint64_t oracle_mask;

/* By the bits that count, then by position, which is what stable means. */
typedef struct numbered {
    uint64_t word, position;
} numbered;

static int by_masked_word(const void *a, const void *b) {
    const numbered *x = a, *y = b;
    uint64_t p = x->word & oracle_mask, q = y->word & oracle_mask;
    if (p != q) return p < q ? -1 : 1;
    return x->position < y->position ? -1 : 1;
}

static void oracle_sort(uint64_t *words, uint64_t count, uint64_t mask) {
    numbered *items = malloc((count + 1) * sizeof(*items));
    assert_non_null(items);
    for (uint64_t i = 0; i < count; ++i) items[i] = (numbered){words[i], i};
    oracle_mask = mask;
    qsort(items, count, sizeof(*items), by_masked_word);
    for (uint64_t i = 0; i < count; ++i) words[i] = items[i].word;
    free(items);
}

typedef uint64_t word_fn(carom_random *random, uint64_t i, uint64_t count);

static uint64_t uniform(carom_random *random, uint64_t i, uint64_t count) {
    (void)i, (void)count;
    return carom_random_next(random);
}
static uint64_t few_values(carom_random *random, uint64_t i, uint64_t count) {
    (void)i, (void)count;
    return carom_random_next(random) % 3 * UINT64_C(0x1111111111111111);
}
static uint64_t all_equal(carom_random *random, uint64_t i, uint64_t count) {
    (void)random, (void)i, (void)count;
    return UINT64_C(0x123456789ABCDEF0);
}
static uint64_t ascending(carom_random *random, uint64_t i, uint64_t count) {
    (void)random, (void)count;
    return i << 32 | i;
}
static uint64_t descending(carom_random *random, uint64_t i, uint64_t count) {
    (void)random;
    return (count - i) << 32 | (count - i);
}
static uint64_t low_bits(carom_random *random, uint64_t i, uint64_t count) {
    (void)i, (void)count;
    return carom_random_next(random) & UINT64_C(0x0000003F0000003F);
}
/* Nearly all in one bucket, however the digits are cut: what splits again and again. */
static uint64_t skewed(carom_random *random, uint64_t i, uint64_t count) {
    uint64_t word = carom_random_next(random);
    if (i == 0) return UINT64_MAX;
    return i % 64 == count % 64 ? word : word & UINT64_C(0x0000001F0000001F);
}

static word_fn *const kinds[] = {uniform,    few_values, all_equal, ascending,
                                 descending, low_bits,   skewed};
static const uint64_t sizes[] = {0, 1, 2, 3, 24, 25, 1000, 2048, 32768, 32769, 300000};

static void check_words(carom_context *context, const uint64_t *input, uint64_t count,
                        uint32_t first_bit, uint32_t bits, const uint64_t *expected) {
    uint64_t *words = malloc((count + 1) * sizeof(*words));
    assert_non_null(words);
    memcpy(words, input, count * sizeof(*words));
    words[count] = 77; /* must not be touched */
    assert_ok(context, carom_sort_words(context, words, count, first_bit, bits));
    assert_memory_equal(words, expected, count * sizeof(*words));
    assert_int_equal(words[count], 77);
    free(words);
}

static void check_keys(carom_context *context, const uint64_t *input, uint64_t count,
                       const uint64_t *expected) {
    uint32_t *keys = malloc((count + 1) * sizeof(*keys));
    uint32_t *payload = malloc((count + 1) * sizeof(*payload));
    assert_true(keys != NULL && payload != NULL);
    for (uint64_t i = 0; i < count; ++i) {
        keys[i] = (uint32_t)input[i];
        payload[i] = (uint32_t)(input[i] >> 32);
    }
    assert_ok(context, carom_sort_keys(context, keys, payload, count));
    for (uint64_t i = 0; i < count; ++i)
        if (keys[i] != (uint32_t)expected[i] || payload[i] != (uint32_t)(expected[i] >> 32))
            fail_msg("item %llu of %llu", (unsigned long long)i, (unsigned long long)count);
    free(keys);
    free(payload);
}

/* All sizes and kinds of input in one context. */
static void check_context(carom_context *context) {
    for (size_t s = 0; s < COUNT_OF(sizes); ++s) {
        uint64_t count = sizes[s];
        if (TEST_FEW_CASES && count > 40000) continue;
        uint64_t *input = malloc((count + 1) * sizeof(*input));
        uint64_t *expected = malloc((count + 1) * sizeof(*expected));
        assert_true(input != NULL && expected != NULL);
        for (size_t k = 0; k < COUNT_OF(kinds); ++k) {
            if (!TEST_ALL_CASES && (s + k) % 2 != 0) continue;
            carom_random random = {s * 100 + k};
            for (uint64_t i = 0; i < count; ++i) input[i] = kinds[k](&random, i, count);
            memcpy(expected, input, count * sizeof(*input));
            oracle_sort(expected, count, UINT32_MAX);
            check_keys(context, input, count, expected);
            check_words(context, input, count, 0, 32, expected);
            memcpy(expected, input, count * sizeof(*input));
            oracle_sort(expected, count, UINT64_MAX);
            check_words(context, input, count, 0, 64, expected);
        }
        free(input);
        free(expected);
    }
}

static void sorts_like_the_oracle_on_every_instruction_set(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(isas); ++i) {
        carom_context *context = test_context_isa(2, isas[i]);
        if (context == NULL) continue;
        check_context(context);
        carom_context_destroy(context);
    }
}

static void sorts_the_same_on_any_number_of_threads(void **state) {
    (void)state;
    for (size_t i = 0; i < (TEST_FEW_CASES ? 1 : COUNT_OF(thread_counts)); ++i) {
        carom_context *context = test_context(thread_counts[i]);
        check_context(context);
        carom_context_destroy(context);
    }
}

static void sorts_by_any_range_of_bits(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    enum { COUNT = 20000 };
    static uint64_t input[COUNT], expected[COUNT];
    carom_random random = {5};
    for (int trial = 0; trial < 60; ++trial) {
        uint32_t first = (uint32_t)(carom_random_next(&random) % 64);
        uint32_t bits = (uint32_t)(carom_random_next(&random) % (65 - first));
        uint64_t count = trial % 2 == 0 ? COUNT : 500;
        for (uint64_t i = 0; i < count; ++i) input[i] = carom_random_next(&random);
        memcpy(expected, input, sizeof(input));
        uint64_t mask = bits == 0 ? 0 : UINT64_MAX >> (64 - bits) << first;
        oracle_sort(expected, count, mask);
        check_words(context, input, count, first, bits, expected);
    }
    test_asserts_begin();
    assert_int_equal(carom_sort_words(context, input, COUNT, 60, 5), CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 1);
    carom_context_destroy(context);
}

/* Past the size where the scatter writes around the caches. */
static void sorts_more_than_the_caches_hold(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    uint64_t count = 1500000;
    uint32_t *keys = malloc(count * sizeof(*keys)), *payload = malloc(count * sizeof(*payload));
    assert_true(keys != NULL && payload != NULL);
    carom_random random = {9};
    uint64_t key_sum = 0;
    for (uint64_t i = 0; i < count; ++i) {
        keys[i] = (uint32_t)(carom_random_next(&random) >> 40); /* 24 bits: many equal */
        payload[i] = (uint32_t)i;
        key_sum += keys[i] * (i + 1);
    }
    assert_ok(context, carom_sort_keys(context, keys, payload, count));
    for (uint64_t i = 0; i < count; ++i) {
        key_sum -= keys[i] * ((uint64_t)payload[i] + 1); /* each key still with its payload */
        if (i != 0)
            assert_true(keys[i - 1] < keys[i] ||
                        (keys[i - 1] == keys[i] && payload[i - 1] < payload[i]));
    }
    assert_int_equal(key_sum, 0);
    free(keys);
    free(payload);
    carom_context_destroy(context);
}

static void repeated_sorts_allocate_nothing(void **state) {
    (void)state;
    enum { COUNT = 200000 };
    static uint32_t keys[COUNT], payload[COUNT];
    carom_context *context = test_context(2);
    carom_random random = {3};
    /* A worker that comes too late for all work of the first sorts takes its scratch later. */
    int quiet = 0;
    for (int run = 0; run < 200 && quiet < 5; ++run) {
        for (int i = 0; i < COUNT; ++i) keys[i] = (uint32_t)carom_random_next(&random);
        uint64_t before = test_malloc_count();
        assert_ok(context, carom_sort_keys(context, keys, payload, COUNT));
        quiet = test_malloc_count() == before ? quiet + 1 : 0;
    }
    assert_int_equal(quiet, 5);
    carom_context_info info;
    assert_ok(context, carom_context_get_info(context, &info));
    assert_true(info.scratch_bytes >= 8 * COUNT && info.scratch_bytes < 24 * COUNT);
    assert_ok(context, carom_context_trim(context));
    assert_ok(context, carom_context_get_info(context, &info));
    assert_int_equal(info.scratch_bytes, 0);
    carom_context_destroy(context);
}

static carom_status sort_with(carom_allocator allocator, void *argument) {
    enum { COUNT = 60000 };
    static uint32_t keys[COUNT], payload[COUNT];
    carom_context *context;
    carom_context_def def = {.threads = *(uint32_t *)argument, .allocator = allocator};
    CAROM_TRY(carom_context_create(&def, &context));
    carom_random random = {4};
    for (int i = 0; i < COUNT; ++i) keys[i] = (uint32_t)carom_random_next(&random) & 0xFFF0000F;
    carom_status status = carom_sort_keys(context, keys, payload, COUNT);
    if (status == CAROM_NO_MEMORY)
        assert_non_null(strstr(carom_context_message(context), "out of memory"));
    carom_context_destroy(context);
    return status;
}

static void failing_memory_is_a_status(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= 2; ++threads)
        test_allocation_failures(sort_with, &threads);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_like_the_oracle_on_every_instruction_set),
        cmocka_unit_test(sorts_the_same_on_any_number_of_threads),
        cmocka_unit_test(sorts_by_any_range_of_bits),
        cmocka_unit_test(sorts_more_than_the_caches_hold),
        cmocka_unit_test(repeated_sorts_allocate_nothing),
        cmocka_unit_test(failing_memory_is_a_status),
    };
    return cmocka_run_group_tests_name("sort", tests, NULL, NULL);
}
