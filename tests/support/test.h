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

/* How many of `count` seeded cases to run: all in `make test-all`, one in CAROM_TEST_SHARE of them
 * elsewhere (CMakePresets.json). What happened at least TEST_CASES(n) times is checked where there
 * are cases enough, TEST_MANY_CASES; that each kind of thing happened, for TEST_ALL_CASES. In
 * emulators of other processors, TEST_FEW_CASES, what takes seconds is made smaller or skipped. */
#define TEST_CASES(count) (((count) + CAROM_TEST_SHARE - 1) / CAROM_TEST_SHARE)
#define TEST_MANY_CASES   (CAROM_TEST_SHARE <= 8)
#define TEST_ALL_CASES    (CAROM_TEST_SHARE == 1)
#define TEST_FEW_CASES    (CAROM_TEST_SHARE >= 64)

/* Whether this is a sanitizer's build, for tests of whole programs, which it would take minutes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED true
#else
#define TEST_SANITIZED false
#endif

/* Whether this is the thread sanitizer's build with some of the cases: what one thread does, and
 * what takes minutes there, is left to the other builds. */
#ifdef __SANITIZE_THREAD__
#define TEST_THREADS_ONLY (!TEST_ALL_CASES)
#else
#define TEST_THREADS_ONLY false
#endif

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
/* One per instruction set that this machine has, from contexts[count] on; returns the new count.
 * With 0 threads the first has one, the next two and so on. */
int test_contexts_of_isas(uint32_t threads, carom_context **contexts, int count);
/* One that computes on the GPU, or NULL (after a note) when there is none. */
carom_context *test_context_cuda(uint32_t threads);

/* Fixtures: what all tests of a program share, with the set_up and tear_down that its group is run
 * with. One line after the includes. */
#define TEST_CONTEXT(threads)                                                                      \
    static carom_context *context;                                                                 \
    static int set_up(void **state) {                                                              \
        (void)state;                                                                               \
        context = test_context(threads);                                                           \
        return 0;                                                                                  \
    }                                                                                              \
    static int tear_down(void **state) {                                                           \
        (void)state;                                                                               \
        carom_context_destroy(context);                                                            \
        return 0;                                                                                  \
    }

/* Both backends, with two threads each; cuda is NULL where there is no device. */
#define TEST_BACKENDS                                                                              \
    static carom_context *cpu, *cuda;                                                              \
    static int set_up(void **state) {                                                              \
        (void)state;                                                                               \
        cpu = test_context(2);                                                                     \
        cuda = test_context_cuda(2);                                                               \
        return 0;                                                                                  \
    }                                                                                              \
    static int tear_down(void **state) {                                                           \
        (void)state;                                                                               \
        carom_context_destroy(cpu);                                                                \
        carom_context_destroy(cuda);                                                               \
        return 0;                                                                                  \
    }

/* The folder of shared test data beside the checkout, or NULL: tests then skip what needs it. */
const char *test_shared_folder(void);

/* A number below `bound`. */
uint32_t test_below(carom_random *random, uint32_t bound);

/* Whether sinl of the C library, an oracle of sines, is right for large angles. That of Windows is
 * the processor's, which is not. */
bool test_library_reduces_angles(void);

/* ---- callers' bugs --------------------------------------------------------------------------- */

/* Counts calls of the assert handler instead of aborting, until test_asserts_end, which returns
 * how many there were. */
void test_asserts_begin(void);
int test_asserts_end(void);

/* ---- memory ---------------------------------------------------------------------------------- */

/* An allocator that counts and can be told to fail. */
typedef struct test_memory {
    uint64_t calls;      /* allocations requested */
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

/* ---- precision ------------------------------------------------------------------------------- */

/* Whether long double has more bits than double, which some oracles need. Valgrind computes it in
 * doubles; what cannot be proved there is skipped: a program then exits with TEST_SKIPPED. */
bool test_has_long_double(void);
#define TEST_SKIPPED 77

/* ---- golden hashes --------------------------------------------------------------------------- */

/* 64 bits over bytes, the same on every machine for the same bytes. Start with seed 0 and chain. */
uint64_t test_hash(const void *bytes, size_t size, uint64_t seed);

/* The same over numbers as they are in memory, as if the low byte of each came first on every
 * machine. `widths` are the bytes of each number of a record: "4*2 8*3" are two of four, then three
 * of eight. */
uint64_t test_hash_numbers(const void *numbers, size_t size, const char *widths, uint64_t seed);

/* Compares with the line `name hash` of tests/golden/FILE. With CAROM_GOLDEN=write in the
 * environment the line is written instead. */
void test_golden(const char *file, const char *name, uint64_t hash);

#endif
