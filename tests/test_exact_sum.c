/* SPDX-License-Identifier: MIT */
/* Exact sums against schoolbook integers. One thread. */
#include <math.h>
#include <string.h>

#include "geom/exact_sum.h"
#include "tests/support/test.h"

/* ---- the oracle: two's complement integers of 7,168 bits, in units of 2^-3328 ---------------- */

#define WORDS  224
#define BOTTOM (-3328)

typedef struct big {
    uint32_t words[WORDS];
} big;

static void big_negate(big *a) {
    uint64_t carry = 1;
    for (int i = 0; i < WORDS; ++i) {
        carry += (uint32_t)~a->words[i];
        a->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void big_add(big *a, const big *b) {
    uint64_t carry = 0;
    for (int i = 0; i < WORDS; ++i) {
        carry += (uint64_t)a->words[i] + b->words[i];
        a->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static bool big_is_negative(const big *a) {
    return a->words[WORDS - 1] >> 31 != 0;
}

static int big_compare(const big *a, const big *b) {
    big difference = *b;
    big_negate(&difference);
    big_add(&difference, a);
    if (big_is_negative(&difference)) return -1;
    for (int i = 0; i < WORDS; ++i)
        if (difference.words[i] != 0) return 1;
    return 0;
}

/* Times a small number; the value is not negative. */
static void big_multiply(big *a, uint32_t factor) {
    uint64_t carry = 0;
    for (int i = 0; i < WORDS; ++i) {
        carry += (uint64_t)a->words[i] * factor;
        a->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void big_double_up(big *a, int times) {
    for (; times > 0; times -= 31 < times ? 31 : times)
        big_multiply(a, 1u << (31 < times ? 31 : times));
}

/* a b c, by frexp and digits of 27 bits. */
static big big_product(double a, double b, double c) {
    big product = {{1}};
    double factors[3] = {a, b, c};
    int exponent = -BOTTOM;
    bool negative = false;
    for (int i = 0; i < 3; ++i) {
        int power;
        double fraction = frexp(fabs(factors[i]), &power);
        uint32_t high = (uint32_t)(fraction * 0x1p27);
        uint32_t low = (uint32_t)((fraction * 0x1p27 - (double)high) * 0x1p26);
        big part = product;
        big_multiply(&product, high);
        big_double_up(&product, 26);
        big_multiply(&part, low);
        big_add(&product, &part);
        exponent += power - 53;
        negative ^= signbit(factors[i]) != 0;
    }
    bool zero = true;
    for (int i = 0; i < WORDS; ++i) zero &= product.words[i] == 0;
    if (!zero) {
        /* Small doubles have zeros at the end of their fraction where the unit is too coarse. */
        assert_true(exponent >= 0);
        big_double_up(&product, exponent);
    }
    if (negative) big_negate(&product);
    return product;
}

static big big_distance(const big *sum, double value) {
    big six = big_product(value, 6.0, 1.0);
    big_negate(&six);
    big_add(&six, sum);
    if (big_is_negative(&six)) big_negate(&six);
    return six;
}

/* value is the nearest double to sum / 6, even on ties. */
static void assert_nearest(const big *sum, double value) {
    big here = big_distance(sum, value);
    for (int i = 0; i < 2; ++i) {
        double neighbour = nextafter(value, i == 0 ? -HUGE_VAL : HUGE_VAL);
        if (!isfinite(neighbour)) continue;
        big there = big_distance(sum, neighbour);
        int order = big_compare(&here, &there);
        uint64_t bits;
        memcpy(&bits, &value, sizeof(bits));
        if (order > 0 || (order == 0 && (bits & 1) != 0))
            fail_msg("%a is not the nearest to the sum, %a is nearer", value, neighbour);
    }
}

/* ---- sums ------------------------------------------------------------------------------------ */

static double draw(carom_random *random, int spread) {
    double x = carom_random_normal(random);
    return ldexp(x, (int)(carom_random_next(random) % (2 * (uint64_t)spread + 1)) - spread);
}

static void sums_are_exact_and_rounded_once(void **state) {
    (void)state;
    static const int spreads[] = {0, 1, 20, 60, 300, 330};
    carom_random random = {11};
    for (int round = 0; round < TEST_CASES(600); ++round) {
        int spread = spreads[round % 6], terms = 1 + (int)(carom_random_next(&random) % 12);
        carom_exact_sum sum = {{0}}, part = {{0}};
        big truth = {{0}};
        for (int i = 0; i < terms; ++i) {
            double a = draw(&random, spread), b = draw(&random, spread), c = draw(&random, spread);
            if (spread <= 20) a = (double)(float)a; /* cancels more often */
            big product = big_product(a, b, c);
            if (i % 3 == 2) {
                carom_exact_sum_subtract(&part, a, b, c);
                big_negate(&product);
            } else {
                carom_exact_sum_add(i % 2 == 0 ? &sum : &part, a, b, c);
            }
            big_add(&truth, &product);
        }
        carom_exact_sum_normalize(&sum);
        carom_exact_sum_normalize(&part);
        carom_exact_sum_merge(&sum, &part);
        double value = carom_exact_sum_divide(&sum, 6);
        if (isfinite(value)) assert_nearest(&truth, value);
        int sign = carom_exact_sum_sign(&sum);
        big zero = {{0}};
        assert_int_equal(sign, big_compare(&truth, &zero));
    }
}

static void ties_and_neighbours_of_ties_are_right(void **state) {
    (void)state;
    carom_random random = {12};
    for (int round = 0; round < TEST_CASES(400); ++round) {
        double x = carom_random_between(&random, 1.0, 2.0), tiny = ldexp(1.0, -300 + round);
        int kind = round % 3; /* 6 times half a unit: a tie; a hair below; a hair above */
        carom_exact_sum sum = {{0}};
        carom_exact_sum_add(&sum, 6.0, x, 1.0);
        carom_exact_sum_add(&sum, 6.0, 0x1p-53, 1.0);
        big truth = big_product(6.0, x, 1.0), half = big_product(6.0, 0x1p-53, 1.0);
        big_add(&truth, &half);
        if (kind != 0 && tiny < 0x1p-60) {
            big hair = big_product(tiny, 1.0, kind == 1 ? -1.0 : 1.0);
            carom_exact_sum_add(&sum, tiny, 1.0, kind == 1 ? -1.0 : 1.0);
            big_add(&truth, &hair);
        }
        assert_nearest(&truth, carom_exact_sum_divide(&sum, 6));
    }
}

static void the_ends_of_the_range_are_right(void **state) {
    (void)state;
    carom_exact_sum sum = {{0}};
    assert_true(carom_exact_sum_divide(&sum, 6) == 0.0);
    carom_exact_sum_add(&sum, 1.7e308, 1.7e308, 1.7e308);
    assert_true(carom_exact_sum_divide(&sum, 6) == HUGE_VAL);
    carom_exact_sum_subtract(&sum, 1.7e308, 1.7e308, 1.7e308);
    carom_exact_sum_add(&sum, 4.9e-324, 4.9e-324, -4.9e-324);
    assert_int_equal(carom_exact_sum_sign(&sum), -1);
    assert_true(carom_exact_sum_divide(&sum, 6) == 0.0);
    for (int i = 0; i < TEST_CASES(200); ++i) { /* results among the subnormals */
        carom_random random = {(uint64_t)i};
        double x = ldexp(carom_random_between(&random, 1.0, 2.0), -1074 + i % 54);
        carom_exact_sum small = {{0}};
        carom_exact_sum_add(&small, x, carom_random_between(&random, 0.5, 8.0), 1.0);
        carom_random again = {(uint64_t)i};
        x = ldexp(carom_random_between(&again, 1.0, 2.0), -1074 + i % 54);
        big truth = big_product(x, carom_random_between(&again, 0.5, 8.0), 1.0);
        assert_nearest(&truth, carom_exact_sum_divide(&small, 6));
    }
}

static void many_terms_need_normalizing_only_rarely(void **state) {
    (void)state;
    carom_exact_sum sum = {{0}};
    for (int i = 0; i < 1000000; ++i) carom_exact_sum_add(&sum, 0x1.fffffffffffffp0, -1.0, 3.0);
    for (int i = 0; i < 1000000; ++i) carom_exact_sum_add(&sum, 0x1.fffffffffffffp0, 1.5, 2.0);
    assert_int_equal(carom_exact_sum_sign(&sum), 0);
}

/* ---- and nothing allocated ------------------------------------------------------------------- */

static void sums_need_no_memory(void **state) {
    (void)state;
    uint64_t before = test_malloc_count();
    carom_exact_sum sum = {{0}};
    carom_exact_sum_add_determinant(&sum, (carom_vec3){2, 0, 0}, (carom_vec3){0, 3, 0},
                                    (carom_vec3){0, 0, 5});
    assert_true(carom_exact_sum_divide(&sum, 6) == 5.0);
    assert_int_equal(test_malloc_count(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_exact_and_rounded_once),
        cmocka_unit_test(ties_and_neighbours_of_ties_are_right),
        cmocka_unit_test(the_ends_of_the_range_are_right),
        cmocka_unit_test(many_terms_need_normalizing_only_rarely),
        cmocka_unit_test(sums_need_no_memory),
    };
    return cmocka_run_group_tests_name("exact_sum", tests, NULL, NULL);
}
