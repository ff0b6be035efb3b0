/* SPDX-License-Identifier: MIT */
/* Exact sums and turns against schoolbook integers. */
#include <math.h>
#include <string.h>

#include "geom/exact_sum.h"
#include "geom/turn.h"
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
    for (int round = 0; round < 600; ++round) {
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
        carom_exact_sum_settle(&sum);
        carom_exact_sum_settle(&part);
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
    for (int round = 0; round < 400; ++round) {
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
    for (int i = 0; i < 200; ++i) { /* results among the subnormals */
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

static void many_terms_need_settling_only_rarely(void **state) {
    (void)state;
    carom_exact_sum sum = {{0}};
    for (int i = 0; i < 1000000; ++i) carom_exact_sum_add(&sum, 0x1.fffffffffffffp0, -1.0, 3.0);
    for (int i = 0; i < 1000000; ++i) carom_exact_sum_add(&sum, 0x1.fffffffffffffp0, 1.5, 2.0);
    assert_int_equal(carom_exact_sum_sign(&sum), 0);
}

/* ---- turns ----------------------------------------------------------------------------------- */

static int sign_of(int64_t x) {
    return x > 0 ? 1 : x < 0 ? -1 : 0;
}

static void turns_on_lattices_are_exact_at_any_scale(void **state) {
    (void)state;
    static const double scales[] = {1.0, 0x1p-300, 0x1p300, 0x1p-1060, 0x1p1000, 1.0 / 3.0};
    carom_random random = {21};
    for (int round = 0; round < 60000; ++round) {
        int64_t p[6];
        for (int i = 0; i < 6; ++i) p[i] = (int64_t)(carom_random_next(&random) % 7) - 3;
        int64_t turn = (p[0] - p[4]) * (p[3] - p[5]) - (p[1] - p[5]) * (p[2] - p[4]);
        double s = scales[round % 5], far = round % 2 == 0 && s == 1.0 ? 1e15 : 0.0;
        carom_vec2 a = {s * (double)p[0] + far, s * (double)p[1] + far};
        carom_vec2 b = {s * (double)p[2] + far, s * (double)p[3] + far};
        carom_vec2 c = {s * (double)p[4] + far, s * (double)p[5] + far};
        assert_int_equal(carom_turn(a, b, c), sign_of(turn));
        assert_int_equal(carom_turn(b, a, c), -sign_of(turn));
    }
}

static void turns_of_nearly_collinear_points_are_exact(void **state) {
    (void)state;
    carom_random random = {22};
    for (int round = 0; round < 3000; ++round) {
        carom_vec2 a = {carom_random_uniform(&random), carom_random_uniform(&random)};
        carom_vec2 b = {carom_random_uniform(&random), carom_random_uniform(&random)};
        double t = carom_random_between(&random, -1.0, 2.0);
        carom_vec2 c = {a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
        big truth = big_product(a.x, b.y, 1.0), term;
        const double terms[5][2] = {{b.x, c.y}, {c.x, a.y}, {-a.x, c.y}, {-c.x, b.y}, {-b.x, a.y}};
        for (int i = 0; i < 5; ++i) {
            term = big_product(terms[i][0], terms[i][1], 1.0);
            big_add(&truth, &term);
        }
        big zero = {{0}};
        assert_int_equal(carom_turn(a, b, c), big_compare(&truth, &zero));
    }
}

static void collinear_points_are_recognised_exactly(void **state) {
    (void)state;
    carom_random random = {23};
    int found = 0;
    for (int round = 0; round < 60000; ++round) {
        int64_t p[9];
        for (int i = 0; i < 9; ++i) p[i] = (int64_t)(carom_random_next(&random) % 4) - 1;
        int64_t u[3], v[3];
        for (int i = 0; i < 3; ++i) {
            u[i] = p[3 + i] - p[i];
            v[i] = p[6 + i] - p[i];
        }
        bool truth =
            u[1] * v[2] == u[2] * v[1] && u[2] * v[0] == u[0] * v[2] && u[0] * v[1] == u[1] * v[0];
        found += truth;
        double s = round % 3 == 0 ? 0x1p-400 : round % 3 == 1 ? 0x1.8p500 : 1.0;
        carom_vec3 a = {s * (double)p[0], s * (double)p[1], s * (double)p[2]};
        carom_vec3 b = {s * (double)p[3], s * (double)p[4], s * (double)p[5]};
        carom_vec3 c = {s * (double)p[6], s * (double)p[7], s * (double)p[8]};
        assert_int_equal(carom_collinear(a, b, c), truth);
    }
    assert_true(found > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_exact_and_rounded_once),
        cmocka_unit_test(ties_and_neighbours_of_ties_are_right),
        cmocka_unit_test(the_ends_of_the_range_are_right),
        cmocka_unit_test(many_terms_need_settling_only_rarely),
        cmocka_unit_test(turns_on_lattices_are_exact_at_any_scale),
        cmocka_unit_test(turns_of_nearly_collinear_points_are_exact),
        cmocka_unit_test(collinear_points_are_recognised_exactly),
    };
    return cmocka_run_group_tests_name("exact_sum", tests, NULL, NULL);
}
