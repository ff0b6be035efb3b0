/* SPDX-License-Identifier: MIT */
/* Ball arithmetic: every result contains the truth, which is known by construction, and its radius
 * is what the number of limbs promises. One thread. */
#include <float.h>
#include <math.h>

#include "geom/real.h"
#include "tests/support/test.h"

static double any(carom_random *random, int exponents) {
    double m = carom_random_uniform(random) - 0.5;
    int e = (int)(carom_random_next(random) % (2u * (unsigned)exponents + 1u)) - exponents;
    return carom_random_next(random) % 16 == 0 ? 0.0 : ldexp(m, e);
}

/* Whether a ball holds 0, and is no wider than 2^-bits of `size`. */
static void assert_nothing(const carom_real *a, int n, double size, int bits) {
    assert_true(carom_real_lower(a, n).m == 0.0);
    assert_true(size == 0.0 || carom_bound_within(a->radius, carom_bound_make(size), -bits));
}

static void sums_and_products_distribute(void **state) {
    (void)state;
    for (uint64_t i = 0; i < TEST_CASES(20000); ++i) {
        carom_random random = {i};
        int n = 2 + (int)(i % 7), far = i % 3 == 0 ? 300 : 20;
        double x = any(&random, far), y = any(&random, far), z = any(&random, far);
        carom_real a, b, c, left, right, t;
        carom_real_set(&a, x, n);
        carom_real_set(&b, y, n);
        carom_real_set(&c, z, n);
        carom_real_add(&left, &a, &b, n); /* (a + b) c - (a c + b c) */
        carom_real_mul(&left, &left, &c, n);
        carom_real_mul(&right, &a, &c, n);
        carom_real_mul(&t, &b, &c, n);
        carom_real_add(&right, &right, &t, n);
        carom_real_sub(&left, &left, &right, n);
        assert_nothing(&left, n, (fabs(x) + fabs(y)) * fabs(z), 64 * n - 8);
        carom_real_sub(&t, &a, &a, n);
        assert_true(t.sign == 0 && t.radius.m == 0.0);
    }
}

static void quotients_and_roots_undo_products(void **state) {
    (void)state;
    for (uint64_t i = 0; i < TEST_CASES(5000); ++i) {
        carom_random random = {i + 77};
        static const int limbs[] = {2, 3, 4, 8, 16, 32};
        int n = limbs[i % 6];
        double x = any(&random, 200), y = any(&random, 200);
        carom_real a, b, q, t;
        carom_real_set(&a, x, n);
        carom_real_set(&b, y, n);
        carom_real_divide(&q, &a, &b, n);
        if (y == 0.0) {
            assert_true(q.radius.m > DBL_MAX);
            continue;
        }
        carom_real_mul(&t, &q, &b, n);
        carom_real_sub(&t, &t, &a, n);
        assert_nothing(&t, n, fabs(x), 64 * n - 12);
        carom_real_mul(&t, &b, &b, n);
        carom_real_root(&q, &t, n);
        if (y < 0.0) b.sign = -b.sign;
        carom_real_sub(&t, &q, &b, n);
        assert_nothing(&t, n, fabs(y), 64 * n - 12);
        carom_real_root(&q, &b, n); /* of any number */
        carom_real_mul(&t, &q, &q, n);
        carom_real_sub(&t, &t, &b, n);
        assert_nothing(&t, n, fabs(y), 64 * n - 12);
    }
}

static void doubles_come_back(void **state) {
    (void)state;
    double error;
    for (uint64_t i = 0; i < TEST_CASES(20000); ++i) {
        carom_random random = {i + 5};
        double x = any(&random, 1020);
        carom_real a;
        carom_real_set(&a, x, 3);
        assert_true(carom_real_round(&a, 0, 3, &error) == x && error == 0.0);
        int power = (int)(carom_random_next(&random) % 4000u) - 2000;
        double value = carom_real_round(&a, power, 3, &error), right = ldexp(x, power);
        if (fabs(right) > DBL_MAX)
            assert_true(fabs(value) == DBL_MAX && error == HUGE_VAL);
        else
            assert_true(value == right && error <= 0x1p-1071);
        carom_real third, three; /* rounded to nearest, and the error says so */
        carom_real_set(&three, 3.0, 3);
        carom_real_divide(&third, &a, &three, 3);
        if (fabs(x) < 0x1p-1000) continue;
        assert_true(carom_real_round(&third, 0, 3, &error) == x / 3.0);
        assert_true(error <= 0x1.01p-53 * fabs(x / 3.0) && (x == 0.0 || error > 0.0));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_products_distribute),
        cmocka_unit_test(quotients_and_roots_undo_products),
        cmocka_unit_test(doubles_come_back),
    };
    return cmocka_run_group_tests_name("real", tests, NULL, NULL);
}
