/* SPDX-License-Identifier: MIT */
/* test.h: what every test program includes: cmocka and the helpers beside it. */
#ifndef CAROM_TESTS_TEST_H
#define CAROM_TESTS_TEST_H

/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "carom/carom.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* How many of `count` seeded cases to run: all in the release build; fewer under sanitizers, which
 * need each kind of case, not each case. Golden hashes and checks of how often something happened
 * are for TEST_ALL_CASES only. */
#define TEST_CASES(count) (((count) + CAROM_TEST_SHARE - 1) / CAROM_TEST_SHARE)
#define TEST_ALL_CASES    (CAROM_TEST_SHARE == 1)

/* Asserts CAROM_OK and prints the context's message when it is not. */
#define assert_ok(context, call)                                                                   \
    do {                                                                                           \
        carom_status status_ = (call);                                                             \
        if (status_ != CAROM_OK)                                                                   \
            fail_msg("%s: %s: %s", #call, carom_status_name(status_),                              \
                     carom_context_message(context));                                              \
    } while (0)

/* What a _validate function says: NULL, or the invariant that does not hold. */
#define assert_valid(message)                                                                      \
    do {                                                                                           \
        const char *broken_ = (message);                                                           \
        if (broken_ != NULL) fail_msg("_validate: %s", broken_);                                   \
    } while (0)

/* Asserts a status and that the message holds the words. */
#define assert_fails(context, call, expected, words)                                               \
    test_assert_fails(context, call, expected, words, #call, __FILE__, __LINE__)
void test_assert_fails(const carom_context *context, carom_status status, carom_status expected,
                       const char *words, const char *call, const char *file, int line);

/* A context with that many threads, on the best instruction set; fails the test when there is
 * none. */
carom_context *test_context(uint32_t threads);
/* The same with `isa`, or NULL (after a note) when this machine lacks it. */
carom_context *test_context_isa(uint32_t threads, carom_isa isa);
/* One that computes on the GPU, or NULL (after a note) when there is none. */
carom_context *test_context_cuda(uint32_t threads);

/* The folder of shared test data beside the checkout, or NULL: tests then skip what needs it. */
const char *test_shared_folder(void);

/* ---- callers' bugs --------------------------------------------------------------------------- */

/* Counts calls of the assert handler instead of aborting, until test_asserts_end, which returns
 * how many there were. */
void test_asserts_begin(void);
int test_asserts_end(void);

/* ---- memory ---------------------------------------------------------------------------------- */

/* An allocator that counts and can be told to fail. */
typedef struct test_memory {
    uint64_t calls;      /* allocations asked for */
    uint64_t live;       /* blocks not yet released */
    uint64_t fail_after; /* 0: never; n: the n-th allocation and all later ones return NULL */
} test_memory;

carom_allocator test_allocator(test_memory *memory);

/* Runs `work` with the first allocation failing, then the second, and so on until none fails.
 * Asserts that each failed run returned CAROM_NO_MEMORY (or CAROM_OK where it could do without)
 * and that nothing leaked. `work` makes its own context from the allocator, and destroys it. */
typedef carom_status test_work_fn(carom_allocator allocator, void *argument);
void test_allocation_failures(test_work_fn *work, void *argument);

/* Calls of malloc and its kin by anyone in this process, so far. */
uint64_t test_malloc_count(void);

/* ---- golden hashes --------------------------------------------------------------------------- */

/* 64 bits over bytes, the same on every machine for the same bytes. Start with seed 0 and chain. */
uint64_t test_hash(const void *bytes, size_t size, uint64_t seed);

/* Compares with the line `name hash` of tests/golden/FILE. With CAROM_GOLDEN=write in the
 * environment the line is written instead. */
void test_golden(const char *file, const char *name, uint64_t hash);

#endif
