/* SPDX-License-Identifier: MIT */
/* Allocators, arenas, arrays and result arrays. One thread. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/context.h"
#include "tests/support/test.h"

static void sizes_that_overflow_give_null(void **state) {
    (void)state;
    carom_allocator allocator = carom_allocator_default();
    carom_arena arena;
    carom_arena_init(&arena, &allocator);
    assert_null(carom_allocate(&allocator, UINT64_MAX, 8));
    assert_null(carom_allocate(&allocator, SIZE_MAX / 2, 4));
    assert_null(carom_allocate(&allocator, SIZE_MAX, 1));
    assert_null(carom_allocate(&allocator, UINT64_C(1) << 46, 1)); /* more than there is */
    assert_null(carom_arena_take(&arena, UINT64_MAX, 16));
    assert_null(carom_arena_take(&arena, SIZE_MAX - 10, 1));
    assert_null(carom_result_allocate(&allocator, UINT64_MAX / 4, 8));
    void *empty = carom_allocate(&allocator, 0, 8);
    assert_non_null(empty);
    carom_release(&allocator, empty);
    carom_release(&allocator, NULL);
    carom_arena_free(&arena);
}

static void large_blocks_are_usable(void **state) {
    (void)state;
    carom_allocator allocator = carom_allocator_default();
    size_t size = (size_t)9 << 20;
    char *block = carom_allocate(&allocator, size, 1);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % CAROM_ALIGNMENT, 0);
    memset(block, 1, size);
    carom_release(&allocator, block);
}

/* Random takes, marks and rewinds; every block filled with its own byte and checked at the end. */
static void arena_blocks_never_overlap(void **state) {
    (void)state;
    test_memory memory = {0};
    carom_allocator allocator = test_allocator(&memory);
    carom_random random = {1};
    for (int trial = 0; trial < TEST_CASES(200); ++trial) {
        carom_arena arena;
        carom_arena_init(&arena, &allocator);
        enum { MOST = 64 };
        struct {
            unsigned char *bytes;
            size_t size;
            carom_arena_mark before;
        } taken[MOST];
        int count = 0;
        for (int step = 0; step < 300; ++step) {
            if (count < MOST && carom_random_next(&random) % 3 != 0) {
                size_t size = (size_t)(carom_random_next(&random) %
                                       (carom_random_next(&random) % 8 == 0 ? 100000 : 500));
                taken[count].before = carom_arena_get_mark(&arena);
                taken[count].bytes = carom_arena_take(&arena, size, 1);
                taken[count].size = size;
                assert_non_null(taken[count].bytes);
                assert_int_equal((uintptr_t)taken[count].bytes % CAROM_ALIGNMENT, 0);
                memset(taken[count].bytes, count, size);
                ++count;
            } else if (count > 0) {
                int back = (int)(carom_random_next(&random) % (uint64_t)(count + 1));
                if (back == count) continue;
                for (int i = 0; i < count; ++i)
                    for (size_t k = 0; k < taken[i].size; ++k)
                        assert_int_equal(taken[i].bytes[k], i);
                carom_arena_rewind(&arena, taken[back].before);
                count = back;
            }
        }
        carom_arena_free(&arena);
        assert_int_equal(memory.live, 0);
    }
}

static void a_warm_arena_takes_nothing_more(void **state) {
    (void)state;
    test_memory memory = {0};
    carom_allocator allocator = test_allocator(&memory);
    carom_arena arena;
    carom_arena_init(&arena, &allocator);
    uint64_t calls = 0;
    for (int round = 0; round < 5; ++round) {
        carom_arena_mark outer = carom_arena_get_mark(&arena);
        for (int i = 0; i < 10; ++i) {
            assert_non_null(carom_arena_take(&arena, 30000, 1));
            carom_arena_mark inner = carom_arena_get_mark(&arena);
            assert_non_null(carom_arena_take(&arena, 200000, 1));
            carom_arena_rewind(&arena, inner);
        }
        carom_arena_rewind(&arena, outer);
        if (round == 0) calls = memory.calls;
    }
    assert_int_equal(memory.calls, calls);
    assert_true(carom_arena_bytes(&arena) >= 500000);
    carom_arena_free(&arena);
    assert_int_equal(memory.live, 0);
}

static void an_arena_without_memory_recovers(void **state) {
    (void)state;
    test_memory memory = {0};
    carom_allocator allocator = test_allocator(&memory);
    carom_arena arena;
    carom_arena_init(&arena, &allocator);
    carom_arena_mark mark = carom_arena_get_mark(&arena);
    assert_non_null(carom_arena_take(&arena, 100, 1));
    memory.fail_after = 1;
    assert_null(carom_arena_take(&arena, 1000000, 1));
    carom_arena_rewind(&arena, mark);
    memory.fail_after = 0;
    assert_non_null(carom_arena_take(&arena, 1000000, 1));
    carom_arena_rewind(&arena, mark);
    carom_arena_free(&arena);
    assert_int_equal(memory.live, 0);
}

CAROM_ARRAY(test_numbers, uint32_t);

static void arrays_grow_and_keep_their_contents(void **state) {
    (void)state;
    test_memory memory = {0};
    carom_allocator allocator = test_allocator(&memory);
    test_numbers numbers = {0};
    for (uint32_t i = 0; i < 10000; ++i) assert_true(test_numbers_push(&numbers, &allocator, i));
    assert_int_equal(numbers.count, 10000);
    for (uint32_t i = 0; i < 10000; ++i) assert_int_equal(numbers.data[i], i);
    assert_true(memory.calls < 25); /* growth by half: O(log n) allocations */
    memory.fail_after = 1;
    assert_false(test_numbers_reserve(&numbers, &allocator, 1000000));
    assert_int_equal(numbers.data[9999], 9999);
    memory.fail_after = 0;
    test_numbers_release(&numbers, &allocator);
    assert_int_equal(memory.live, 0);
}

/* What a query does: n pairs, pair i is (i, i + 1). */
static carom_status fill_pairs(carom_context *context, uint32_t n, carom_pairs *pairs) {
    uint64_t room;
    CAROM_TRY(carom_pairs_begin(context, &context->allocator, pairs, n, &room));
    for (uint32_t i = 0; i < room; ++i) pairs->data[i] = (carom_pair){i, i + 1};
    return carom_pairs_end(pairs);
}

static void results_are_reused_and_outlive_the_context(void **state) {
    (void)state;
    test_memory memory = {0};
    carom_context *context;
    carom_context_def def = {.threads = 1, .allocator = test_allocator(&memory)};
    assert_ok(NULL, carom_context_create(&def, &context));
    carom_pairs pairs = {0};
    assert_ok(context, fill_pairs(context, 1000, &pairs));
    uint64_t calls = memory.calls;
    assert_ok(context, fill_pairs(context, 10, &pairs));
    assert_ok(context, fill_pairs(context, 1000, &pairs));
    assert_int_equal(memory.calls, calls);
    assert_int_equal(pairs.count, 1000);
    carom_context_destroy(context);
    assert_int_equal(pairs.data[999].b, 1000);
    carom_pairs_free(&pairs);
    assert_null(pairs.data);
    assert_int_equal(pairs.count + pairs.capacity, 0);
    assert_int_equal(memory.live, 0);
    carom_pairs_free(&pairs);
    carom_pairs_free(NULL);
}

static void a_callers_buffer_is_filled_and_more_is_said(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_pair buffer[10];
    memset(buffer, 0x55, sizeof(buffer));
    carom_pairs pairs = {.data = buffer, .capacity = 8, .owner = CAROM_OWNER_CALLER};
    assert_ok(context, fill_pairs(context, 8, &pairs));
    assert_int_equal(fill_pairs(context, 100, &pairs), CAROM_MORE);
    assert_int_equal(pairs.count, 100);
    assert_int_equal(pairs.capacity, 8);
    assert_int_equal(buffer[7].a, 7);
    assert_int_equal(buffer[8].a, 0x55555555);
    carom_pairs_free(&pairs);
    carom_context_destroy(context);
}

static void a_result_too_large_for_memory_is_a_status(void **state) {
    (void)state;
    test_memory memory = {0};
    carom_context *context;
    carom_context_def def = {.threads = 1, .allocator = test_allocator(&memory)};
    assert_ok(NULL, carom_context_create(&def, &context));
    carom_pairs pairs = {0};
    memory.fail_after = 1;
    assert_fails(context, fill_pairs(context, 1000, &pairs), CAROM_NO_MEMORY, "carom_pairs");
    carom_pairs_free(&pairs);
    carom_context_destroy(context);
    assert_int_equal(memory.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_overflow_give_null),
        cmocka_unit_test(large_blocks_are_usable),
        cmocka_unit_test(arena_blocks_never_overlap),
        cmocka_unit_test(a_warm_arena_takes_nothing_more),
        cmocka_unit_test(an_arena_without_memory_recovers),
        cmocka_unit_test(arrays_grow_and_keep_their_contents),
        cmocka_unit_test(results_are_reused_and_outlive_the_context),
        cmocka_unit_test(a_callers_buffer_is_filled_and_more_is_said),
        cmocka_unit_test(a_result_too_large_for_memory_is_a_status),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
