/* SPDX-License-Identifier: MIT */
/* Decimal text against the C library, which rounds correctly in the C locale the tests run in.
 * One thread. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/mesh_number.h"

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void check_text(const char *text) {
    double ours = 0.0, theirs = strtod(text, NULL);
    const uint8_t *begin = (const uint8_t *)text, *end = begin + strlen(text);
    if (carom_number_parse(begin, end, &ours) != end)
        fail_msg("\"%s\" is not read to its end", text);
    if (bits_of(ours) != bits_of(theirs)) fail_msg("\"%s\" gives %a, not %a", text, ours, theirs);
}

static void check_value(double value) {
    char text[CAROM_NUMBER_SIZE + 1];
    char *end = carom_number_print(text, value);
    *end = '\0';
    assert_true(end - text <= 24);
    double back = strtod(text, NULL);
    if (bits_of(back) != bits_of(value)) fail_msg("%a is written \"%s\"", value, text);
    check_text(text);
}

static double random_double(carom_random *random) {
    for (;;) {
        double value = double_of(carom_random_next(random));
        if (value - value == 0.0) return value;
    }
}

static void numbers_are_read_as_the_nearest_double(void **state) {
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "1",
        "+1",
        "1.",
        ".5",
        "-.5e1",
        "1e22",
        "1e23",
        "1E-5",
        "1e+2",
        "9007199254740993",
        "9007199254740992.99999999999999999999",
        "9007199254740993.0000000001",
        "1e400",
        "-1e400",
        "1e-400",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "0.000e500",
        "000000000000000000000000000000001.5",
        "1797693134862315807e290",
        "0.00000000000000000000000000000000000000000000000000000000000000000001e60",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0e99999999999999999999",
        "123456789012345678901234567890",
        "0.1234567890123456789012345678901234567890"};
    for (size_t i = 0; i < COUNT_OF(texts); ++i) check_text(texts[i]);
    carom_random random = {1};
    char text[256];
    for (int i = 0; i < TEST_CASES(50000); ++i) {
        snprintf(text, sizeof(text), "%.*e", (int)(carom_random_next(&random) % 40),
                 random_double(&random));
        check_text(text);
        snprintf(text, sizeof(text), "%llu.%llue%d", (unsigned long long)carom_random_next(&random),
                 (unsigned long long)carom_random_next(&random),
                 (int)(carom_random_next(&random) % 720) - 360);
        check_text(text);
        snprintf(text, sizeof(text), "%.*f", (int)(carom_random_next(&random) % 10),
                 carom_random_between(&random, -1000.0, 1000.0));
        check_text(text);
    }
}

/* The text halfway between two doubles, one unit of its last digit below, and a trace above. */
static void midpoints_go_to_the_even_double(void **state) {
    (void)state;
    carom_random random = {2};
    static char text[1400], tail[32];
    for (int i = 0; i < TEST_CASES(1000); ++i) {
        uint64_t bits = bits_of(random_double(&random)) & INT64_MAX;
        if (i % 2 == 0) bits &= (UINT64_C(1) << 52) - 1; /* subnormal */
        long double below = (long double)double_of(bits), above = (long double)double_of(bits + 1);
        snprintf(text, sizeof(text), "%.800Le", below / 2 + above / 2); /* exact in 64 bits */
        check_text(text);
        char *mark = strchr(text, 'e'), *last = mark - 1;
        snprintf(tail, sizeof(tail), "%s", mark);
        while (*last == '0' || *last == '.') --last;
        if (last > text) {
            --*last;
            check_text(text);
            ++*last;
        }
        snprintf(mark, sizeof(text) - (size_t)(mark - text), "%0*d%s", 300, 1, tail);
        check_text(text);
    }
}

static void numbers_end_where_they_end(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int length; /* -1: no number */
    } cases[] = {{"", -1},     {"-", -1},    {".", -1},    {"e5", -1},   {"nan", -1},
                 {"inf", -1},  {"+-1", -1},  {"1x", 1},    {"1e", 1},    {"1e+", 1},
                 {"1e+x", 1},  {"1.2.3", 3}, {"1,5", 1},   {"0x10", 1},  {"3.1+e2", 3},
                 {"12 34", 2}, {"--1", -1},  {"1e5e5", 3}, {"1.e2x", 4}, {".e1", -1}};
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        double value;
        const uint8_t *begin = (const uint8_t *)cases[i].text;
        const uint8_t *end = carom_number_parse(begin, begin + strlen(cases[i].text), &value);
        assert_int_equal(end != NULL ? (int)(end - begin) : -1, cases[i].length);
    }
}

static void written_numbers_read_back_the_same(void **state) {
    (void)state;
    static const double values[] = {0.0,
                                    -0.0,
                                    0.1,
                                    1.0 / 3.0,
                                    1e22,
                                    1e23,
                                    1e-5,
                                    1e15,
                                    1e16,
                                    1e17,
                                    5e-324,
                                    0.0001,
                                    1e-4,
                                    123456789012345678.0,
                                    1.0 - 1e-16,
                                    4e300,
                                    1e308,
                                    2.2250738585072014e-308,
                                    1.7976931348623157e308,
                                    9007199254740991.0,
                                    9007199254740993.0};
    for (size_t i = 0; i < COUNT_OF(values); ++i) {
        check_value(values[i]);
        check_value(-values[i]);
    }
    carom_random random = {3};
    for (int i = 0; i < TEST_CASES(60000); ++i) {
        check_value(random_double(&random));
        check_value(carom_random_between(&random, -10.0, 10.0));
        check_value((double)(float)carom_random_between(&random, -10.0, 10.0));
        check_value(double_of(carom_random_next(&random) >> 12));              /* subnormal */
        check_value(double_of((carom_random_next(&random) % 2046 + 1) << 52)); /* power of two */
    }
}

static void short_numbers_are_written_short(void **state) {
    (void)state;
    static const char *const texts[] = {
        "0",     "1",       "-1.5",    "0.1",    "0.0001",
        "1e-5",  "123.456", "1e22",    "1000",   "0.30000000000000004",
        "1e300", "-2e-300", "65536.5", "3.14159"};
    for (size_t i = 0; i < COUNT_OF(texts); ++i) {
        char text[CAROM_NUMBER_SIZE + 1];
        *carom_number_print(text, strtod(texts[i], NULL)) = '\0';
        assert_string_equal(text, texts[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_as_the_nearest_double),
        cmocka_unit_test(midpoints_go_to_the_even_double),
        cmocka_unit_test(numbers_end_where_they_end),
        cmocka_unit_test(written_numbers_read_back_the_same),
        cmocka_unit_test(short_numbers_are_written_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
