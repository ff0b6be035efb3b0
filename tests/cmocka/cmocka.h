/* SPDX-License-Identifier: MIT */
/* cmocka.h: the part of cmocka's interface that the tests use, for systems where cmocka itself is
 * not installed (CAROM_OWN_CMOCKA): groups of tests with set-up and tear-down, asserts, skipping,
 * filters. Prints what cmocka prints.
 * CAROM_TESTS_ONLY in the environment names tests, such as "test_tree.c:files_hold_the_tree": a
 * group that has one of them runs these alone, others run all (scripts/platforms.inc). */
#ifndef CAROM_TESTS_CMOCKA_H
#define CAROM_TESTS_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CMFixtureFunction(void **state);

struct CMUnitTest {
    const char *name;
    void (*test_func)(void **state);
    CMFixtureFunction *setup_func, *teardown_func;
    void *initial_state;
};

enum { OWN_CMOCKA_FAILED = 1, OWN_CMOCKA_SKIPPED = 2 };

/* Where the present test goes when it fails or is skipped. */
extern jmp_buf own_cmocka_end;

/* What names of tests must match to be run; NULL: all are. */
extern const char *own_cmocka_filter;

static inline void cmocka_set_test_filter(const char *pattern) {
    own_cmocka_filter = pattern;
}

/* In patterns * stands for any characters, and ? for one. */
static inline bool own_cmocka_matches(const char *pattern, const char *name) {
    for (; *pattern != '*'; ++pattern, ++name) {
        if (*pattern == '\0' || *name == '\0') return *pattern == *name;
        if (*pattern != '?' && *pattern != *name) return false;
    }
    for (;; ++name) {
        if (own_cmocka_matches(pattern + 1, name)) return true;
        if (*name == '\0') return false;
    }
}

/* Whether a list of words has FILE:TEST, with the file's name alone. */
static inline bool own_cmocka_named(const char *words, const char *file, const char *test) {
    char word[256];
    const char *folder_end = strrchr(file, '/');
    int length = snprintf(word, sizeof(word), "%s:%s", folder_end ? folder_end + 1 : file, test);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

_Noreturn static inline void own_cmocka_leave(int how) {
    longjmp(own_cmocka_end, how);
}

#define print_message(...) (void)(printf(__VA_ARGS__), fflush(stdout))
#define print_error(...)   (void)fprintf(stderr, __VA_ARGS__)

#define fail_msg(...)                                                                              \
    do {                                                                                           \
        print_error("ERROR: " __VA_ARGS__);                                                        \
        print_error("\n[   LINE   ] --- %s:%d: error: Failure!\n", __FILE__, __LINE__);            \
        own_cmocka_leave(OWN_CMOCKA_FAILED);                                                       \
    } while (0)
#define fail() fail_msg("failed")
#define _fail(file, line)                                                                          \
    do {                                                                                           \
        print_error("[   LINE   ] --- %s:%d: error: Failure!\n", file, line);                      \
        own_cmocka_leave(OWN_CMOCKA_FAILED);                                                       \
    } while (0)
#define skip() own_cmocka_leave(OWN_CMOCKA_SKIPPED)

_Noreturn static inline void own_cmocka_fail(const char *what, const char *file, int line) {
    print_error("%s\n[   LINE   ] --- %s:%d: error: Failure!\n", what, file, line);
    own_cmocka_leave(OWN_CMOCKA_FAILED);
}

/* Macros, so that compilers know what holds after them. */
#define own_cmocka_check(good, what, file, line)                                                   \
    do {                                                                                           \
        if (!(good)) own_cmocka_fail(what, file, line);                                            \
    } while (0)

static inline void own_cmocka_equal(bool wanted, uint64_t a, uint64_t b, const char *file,
                                    int line) {
    if ((a == b) == wanted) return;
    print_error("%llu %s %llu\n", (unsigned long long)a,
                wanted ? "!=" : "==", (unsigned long long)b);
    own_cmocka_fail("", file, line);
}

static inline void own_cmocka_text(bool wanted, const char *a, const char *b, const char *file,
                                   int line) {
    if ((strcmp(a, b) == 0) == wanted) return;
    print_error("\"%s\" %s \"%s\"\n", a, wanted ? "!=" : "==", b);
    own_cmocka_fail("", file, line);
}

#define assert_true(c)     own_cmocka_check((c) ? true : false, #c, __FILE__, __LINE__)
#define assert_false(c)    own_cmocka_check((c) ? false : true, "not " #c, __FILE__, __LINE__)
#define assert_non_null(p) own_cmocka_check((p) != NULL, #p " is NULL", __FILE__, __LINE__)
#define assert_null(p)     own_cmocka_check((p) == NULL, #p " is not NULL", __FILE__, __LINE__)
#define assert_ptr_equal(a, b)                                                                     \
    own_cmocka_check((const void *)(a) == (const void *)(b), #a " != " #b, __FILE__, __LINE__)
#define assert_ptr_not_equal(a, b)                                                                 \
    own_cmocka_check((const void *)(a) != (const void *)(b), #a " == " #b, __FILE__, __LINE__)
#define assert_int_equal(a, b)                                                                     \
    own_cmocka_equal(true, (uint64_t)(a), (uint64_t)(b), __FILE__, __LINE__)
#define assert_int_not_equal(a, b)                                                                 \
    own_cmocka_equal(false, (uint64_t)(a), (uint64_t)(b), __FILE__, __LINE__)
#define assert_string_equal(a, b)     own_cmocka_text(true, (a), (b), __FILE__, __LINE__)
#define assert_string_not_equal(a, b) own_cmocka_text(false, (a), (b), __FILE__, __LINE__)
#define assert_memory_equal(a, b, size)                                                            \
    own_cmocka_check(memcmp((a), (b), (size)) == 0, #a " != " #b, __FILE__, __LINE__)
#define assert_memory_not_equal(a, b, size)                                                        \
    own_cmocka_check(memcmp((a), (b), (size)) != 0, #a " == " #b, __FILE__, __LINE__)
#define assert_in_range(value, low, high)                                                          \
    own_cmocka_check((uint64_t)(value) >= (uint64_t)(low) &&                                       \
                         (uint64_t)(value) <= (uint64_t)(high),                                    \
                     #value " is not in " #low " .. " #high, __FILE__, __LINE__)

#define cmocka_unit_test(f)                                                                        \
    { #f, f, NULL, NULL, NULL }
#define cmocka_unit_test_setup_teardown(f, set_up, tear_down)                                      \
    { #f, f, set_up, tear_down, NULL }

/* 0: passed. */
static inline int own_cmocka_run(const struct CMUnitTest *test, void **state) {
    print_message("[ RUN      ] %s\n", test->name);
    if (test->setup_func != NULL && test->setup_func(state) != 0) return OWN_CMOCKA_FAILED;
    int how = setjmp(own_cmocka_end);
    if (how == 0) test->test_func(state);
    if (test->teardown_func != NULL && test->teardown_func(state) != 0 && how == 0)
        how = OWN_CMOCKA_FAILED;
    print_message("[ %s ] %s\n",
                  how == 0                    ? "      OK"
                  : how == OWN_CMOCKA_SKIPPED ? " SKIPPED"
                                              : " FAILED ",
                  test->name);
    return how;
}

/* Returns how many failed. */
static inline int own_cmocka_run_group(const char *name, const char *file,
                                       const struct CMUnitTest *tests, size_t count,
                                       CMFixtureFunction *set_up, CMFixtureFunction *tear_down) {
    int passed = 0, failed = 0, skipped = 0;
    void *state = NULL;
    const char *only = getenv("CAROM_TESTS_ONLY");
    bool some = false;
    for (size_t i = 0; only != NULL && i < count; ++i)
        some |= own_cmocka_named(only, file, tests[i].name);
    print_message("[==========] %s: Running %u test(s).\n", name, (unsigned)count);
    if (set_up != NULL && set_up(&state) != 0) {
        print_error("[  FAILED  ] GROUP SETUP\n");
        return 1;
    }
    for (size_t i = 0; i < count; ++i) {
        if (some && !own_cmocka_named(only, file, tests[i].name)) continue;
        if (own_cmocka_filter != NULL && !own_cmocka_matches(own_cmocka_filter, tests[i].name))
            continue;
        int how = own_cmocka_run(&tests[i], &state);
        passed += how == 0;
        skipped += how == OWN_CMOCKA_SKIPPED;
        failed += how == OWN_CMOCKA_FAILED;
    }
    if (tear_down != NULL && tear_down(&state) != 0) ++failed;
    print_message("[  PASSED  ] %d test(s).\n", passed);
    if (skipped != 0) print_message("[  SKIPPED ] %d test(s)\n", skipped);
    if (failed != 0) print_message("[  FAILED  ] %d test(s)\n", failed);
    return failed;
}

#define cmocka_run_group_tests_name(name, tests, set_up, tear_down)                                \
    own_cmocka_run_group(name, __FILE__, tests, sizeof(tests) / sizeof((tests)[0]), set_up,        \
                         tear_down)
#define cmocka_run_group_tests(tests, set_up, tear_down)                                           \
    cmocka_run_group_tests_name(#tests, tests, set_up, tear_down)

#endif
