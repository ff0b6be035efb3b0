/* SPDX-License-Identifier: MIT */
/* Patterns for names: cases by hand, and fnmatch of glibc as the oracle. One thread. */
#include <string.h>

#include "carom/base.h"
#include "cli/glob.h"
#include "tests/support/test.h"

#if defined(__GLIBC__)
#include <fnmatch.h>
#endif

static void patterns_by_hand(void **state) {
    (void)state;
    static const struct {
        const char *glob, *text;
        bool matches;
    } cases[] = {{"", "", true},
                 {"", "a", false},
                 {"*", "", true},
                 {"**", "a/b.c", true},
                 {"wheel_*", "wheel_1/bolt", true},
                 {"*.stl", "a.stl.stl", true},
                 {"*.stl", "a.stl.obj", false},
                 {"a*b*c", "abcbabc", true},
                 {"a*b*c", "abcbabd", false},
                 {"?", "\xC3\xB6", true}, /* one character of two bytes */
                 {"??", "\xC3\xB6", false},
                 {"gr\xC3\xB6?e",
                  "gr\xC3\xB6\xC3\x9F"
                  "e",
                  true},
                 {"[\xC3\xA4-\xC3\xBC]", "\xC3\xB6", true},
                 {"[a-z]", "\xC3\xB6", false},
                 {"?\xFF", "a\xFF", true}, /* not UTF-8 */
                 {"?", "\xFF", true},
                 {"[]a]", "]", true},
                 {"[!]a]", "]", false},
                 {"[^a-c]", "d", true},
                 {"[a-]", "-", true},
                 {"[[:digit:]x]", "7", true},
                 {"[[:digit:]x]", "a", false},
                 {"[![:alpha:]]", "\xC3\xB6", true},
                 {"[ab", "[ab", true},
                 {"\\*", "*", true},
                 {"\\*", "a", false},
                 {"a\\", "a\\", false},
                 {"[\\]]", "]", true},
                 {"C:\\\\a", "C:\\a", true}};
    for (size_t i = 0; i < COUNT_OF(cases); ++i)
        assert_int_equal(glob_matches(cases[i].glob, cases[i].text), cases[i].matches);
}

/* Each * goes over what is left of the text once: no time that doubles with every *. */
static void stars_end(void **state) {
    (void)state;
    char glob[201], text[2001];
    for (size_t i = 0; i < 200; ++i) glob[i] = i % 2 == 0 ? '*' : 'a';
    memset(text, 'a', 2000);
    glob[200] = text[2000] = '\0';
    assert_true(glob_matches(glob, text));
    glob[199] = 'b';
    assert_false(glob_matches(glob, text));
}

static void fnmatch_agrees(void **state) {
    (void)state;
#if defined(__GLIBC__)
    static const char letters[] = "aab*?[]!-\\/", others[] = "aaab-]/";
    carom_random random = {44};
    uint64_t matched = 0;
    for (uint64_t n = 0; n < TEST_CASES(400000); ++n) {
        char glob[9], text[7];
        size_t length = (size_t)(carom_random_next(&random) % sizeof(glob));
        size_t size = (size_t)(carom_random_next(&random) % sizeof(text));
        for (size_t i = 0; i < length; ++i)
            glob[i] = letters[carom_random_next(&random) % (sizeof(letters) - 1)];
        for (size_t i = 0; i < size; ++i)
            text[i] = others[carom_random_next(&random) % (sizeof(others) - 1)];
        glob[length] = text[size] = '\0';
        bool right = fnmatch(glob, text, 0) == 0;
        if (glob_matches(glob, text) != right) fail_msg("'%s' and '%s'", glob, text);
        matched += right;
    }
    assert_true(matched > TEST_CASES(400000) / 50);
#else
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_by_hand),
        cmocka_unit_test(stars_end),
        cmocka_unit_test(fnmatch_agrees),
    };
    return cmocka_run_group_tests_name("glob", tests, NULL, NULL);
}
