/* SPDX-License-Identifier: MIT */
/* Expansions, orientation signs and scaling against integers, at the ends of their ranges above
 * all. One thread. */
#include "tests/support/test.h"

#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "geom/orient.h"
#include "geom/scale.h"

#define BIG_WORDS 104 /* products of three differences of any doubles */
#define BIG(name) big_##name
#include "tests/support/triangle_oracle.h"

#define LOWEST (-1074)

/* A double with all bits random, its exponent in [low, high]. */
static double random_double(carom_random *random, int low, int high) {
    uint64_t bits = carom_random_next(random);
    int exponent = low + (int)(carom_random_next(random) % (uint64_t)(high - low + 1));
    double x = ldexp(1.0 + ldexp((double)(bits >> 12), -52), exponent);
    return (bits & 1) != 0 ? -x : x;
}

/* ---- expansions ------------------------------------------------------------------------------ */

/* The value of an expansion in multiples of 2^base. */
static big_int value(const double *e, int n, int base) {
    big_int sum = big_from(0);
    for (int i = 0; i < n; ++i) sum = big_add(sum, big_from_double(e[i], base));
    return sum;
}

static bool equal(big_int a, big_int b) {
    return big_sign(big_sub(a, b)) == 0;
}

static void check_form(const double *e, int n) {
    for (int i = 1; i < n; ++i) {
        assert_true(e[i - 1] != 0.0 && e[i] != 0.0);
        int exponent; /* the next component is a multiple of more than this one */
        (void)frexp(e[i - 1], &exponent);
        assert_true(fmod(e[i], ldexp(1.0, exponent)) == 0.0);
    }
}

static void expansions_are_exact(void **state) {
    (void)state;
    carom_random random = {11};
    for (int round = 0; round < TEST_CASES(3000); ++round) {
        double e[2], f[2], g[8], h[16], scratch[8], sum[24];
        int spread = round % 3 == 0 ? 4 : 200;
        double a = random_double(&random, 0, spread), b = random_double(&random, 0, spread);
        double c = random_double(&random, -spread, 0), d = random_double(&random, -spread, 0);
        int ne = carom_expansion_diff(a, c, e), nf = carom_expansion_diff(b, d, f);
        big_int ve = big_sub(big_from_double(a, -300), big_from_double(c, -300));
        big_int vf = big_sub(big_from_double(b, -300), big_from_double(d, -300));
        assert_true(equal(value(e, ne, -300), ve));
        int ng = carom_expansion_product(e, ne, f, nf, g, scratch);
        assert_true(ng <= 2 * ne * nf);
        check_form(g, ng);
        assert_true(equal(value(g, ng, -600), big_mul(ve, vf)));
        int nh = carom_expansion_scale(g, ng, a, h);
        check_form(h, nh);
        assert_true(equal(value(h, nh, -900), big_mul(big_mul(ve, vf), big_from_double(a, -300))));
        int ns = carom_expansion_sum(h, nh, g, ng, sum);
        check_form(sum, ns);
        assert_true(equal(value(sum, ns, -900), big_add(value(h, nh, -900), value(g, ng, -900))));
        assert_int_equal(carom_expansion_sign(sum, ns), big_sign(value(sum, ns, -900)));
        /* What is taken away again leaves zero, as one component. */
        for (int i = 0; i < nh; ++i) sum[i] = -h[i];
        double zero[32];
        assert_int_equal(carom_expansion_sum(h, nh, sum, nh, zero), 1);
        assert_true(zero[0] == 0.0);
    }
}

/* ---- orientations ---------------------------------------------------------------------------- */

static int big_oracle_orient2d(const double *x) {
    big_int p[6];
    for (int i = 0; i < 6; ++i) p[i] = big_from_double(x[i], LOWEST);
    big_int left = big_mul(big_sub(p[2], p[0]), big_sub(p[5], p[1]));
    big_int right = big_mul(big_sub(p[3], p[1]), big_sub(p[4], p[0]));
    return big_sign(big_sub(left, right));
}

/* All stages agree with the oracle, each where it may be used. */
static void check_points(const carom_vec3 *p) {
    double x[12];
    for (int i = 0; i < 4; ++i) carom_vec_store(p[i], x + 3 * i);
    int truth = big_oracle_orient3d(p, LOWEST);
    int filter = carom_orient3d_filter(p[0], p[1], p[2], p[3]);
    assert_true(filter == CAROM_ORIENT_UNDECIDED || filter == truth);
    int integers = carom_orient3d_integers(x);
    assert_true(integers == CAROM_ORIENT_UNDECIDED || integers == truth);
    assert_int_equal(carom_orient3d_exact(p[0], p[1], p[2], p[3]), truth);
    assert_int_equal(carom_orient3d_expanded(x), truth);
    assert_int_equal(carom_limbs_orient3d(x), truth);
    assert_int_equal(carom_orient3d(p[0], p[1], p[2], p[3]), truth);
    assert_int_equal(carom_orient3d(p[1], p[0], p[2], p[3]), -truth);
    assert_int_equal(carom_orient3d(p[3], p[0], p[1], p[2]), -truth);
    truth = big_oracle_orient2d(x);
    filter = carom_orient2d_filter(x[0], x[1], x[2], x[3], x[4], x[5]);
    assert_true(filter == CAROM_ORIENT_UNDECIDED || filter == truth);
    integers = carom_orient2d_integers(x);
    assert_true(integers == CAROM_ORIENT_UNDECIDED || integers == truth);
    assert_int_equal(carom_orient2d_exact(x), truth);
    assert_int_equal(carom_orient2d_expanded(x), truth);
    assert_int_equal(carom_limbs_orient2d(x), truth);
    assert_int_equal(carom_orient2d(x[0], x[1], x[2], x[3], x[4], x[5]), truth);
}

/* Four points on a plane up to rounding; the last is a combination of the first three. */
static void near_plane(carom_random *random, int low, int high, carom_vec3 *p) {
    double *x = &p[0].x;
    for (int i = 0; i < 9; ++i) x[i] = random_double(random, low, high);
    double u = carom_random_between(random, -1.0, 1.0);
    double v = carom_random_between(random, -1.0, 1.0);
    for (int k = 0; k < 3; ++k) x[9 + k] = (1.0 - u - v) * x[k] + u * x[3 + k] + v * x[6 + k];
}

static void orientations_near_a_plane_are_exact(void **state) {
    (void)state;
    carom_random random = {12};
    for (int i = 0; i < TEST_CASES(1500); ++i) {
        carom_vec3 p[4];
        near_plane(&random, -1, i % 2 == 0 ? 0 : 30, p);
        if (i % 3 == 0) p[2] = p[1]; /* collinear */
        check_points(p);
    }
}

/* Everything expansions are said to bear, and everything beyond. */
static void orientations_are_exact_at_any_magnitude(void **state) {
    (void)state;
    static const int ranges[][2] = {{-306, -306}, {-306, -300},  {329, 329},   {-306, 329},
                                    {-307, 331},  {-400, -350},  {500, 600},   {-1022, -1000},
                                    {1000, 1021}, {-1022, 1021}, {-300, -290}, {299, 301}};
    carom_random random = {13};
    for (int i = 0; i < TEST_CASES(1200); ++i) {
        const int *range = ranges[i % (int)COUNT_OF(ranges)];
        carom_vec3 p[4];
        near_plane(&random, range[0], range[1], p);
        double *x = &p[0].x;
        for (int j = 0; j < 12; ++j) /* mixed with zeros, equal coordinates and subnormals */
            switch (carom_random_next(&random) % 24) {
            case 0:
                x[j] = 0.0;
                break;
            case 1:
                x[j] = x[j % 3];
                break;
            case 2:
                x[j] = i % 5 == 0 ? 0x1p-1074 : x[j];
                break;
            case 3:
                x[j] = i % 7 == 0 ? DBL_MAX : x[j];
                break;
            default:
                break;
            }
        for (int j = 0; j < 12; ++j) assert_true(isfinite(x[j]));
        check_points(p);
    }
}

/* Differences of nearly 2^41 units, at the ends above all: nothing overflows, and all are decided.
 * A larger difference beside a finer one is for the stages that follow. */
static void small_integers_decide_flat_points(void **state) {
    (void)state;
    carom_random random = {16};
    const double most = 0x1p41 - 0x1p17; /* 24 bits */
    for (int i = 0; i < TEST_CASES(4000); ++i) {
        carom_vec3 p[4];
        double *x = &p[0].x, unit = i % 3 == 0 ? 0x1p-60 : 1.0;
        for (int j = 0; j < 12; ++j) {
            uint64_t bits = carom_random_next(&random);
            double size = bits % 3 == 0 ? most : (double)(float)(bits >> 24);
            if (bits % 7 == 0) size = (double)(bits >> 60); /* fine units beside large ones */
            x[j] = j < 3 ? 0.0 : (bits & 8) != 0 ? -size * unit : size * unit;
        }
        for (int k = 0; k < 3 && i % 2 == 0; ++k) x[9 + k] = -x[3 + k]; /* in a plane */
        check_points(p);
#ifdef __SIZEOF_INT128__
        assert_int_not_equal(carom_orient3d_integers(x), CAROM_ORIENT_UNDECIDED);
        x[4] = 0x1p41 * unit;
        x[5] = unit;
        assert_int_equal(carom_orient3d_integers(x), CAROM_ORIENT_UNDECIDED);
        check_points(p);
#endif
    }
}

/* Differences of float32 coordinates, as in most meshes: nothing is left to the slow stages but
 * what is truly flat. */
static void the_filter_decides_random_points(void **state) {
    (void)state;
    carom_random random = {14};
    int undecided = 0, count = 200000;
    for (int i = 0; i < count; ++i) {
        carom_vec3 p[4];
        double *x = &p[0].x;
        for (int j = 0; j < 12; ++j)
            x[j] = (double)(float)carom_random_between(&random, 100.0, 101.0);
        undecided += carom_orient3d_filter(p[0], p[1], p[2], p[3]) == CAROM_ORIENT_UNDECIDED;
    }
    print_message("orient3d: %d of %d random points undecided\n", undecided, count);
    assert_true(undecided * 1000 <= count);
}

/* ---- scaling --------------------------------------------------------------------------------- */

static void scaling_loses_no_bit(void **state) {
    (void)state;
    carom_random random = {15};
    for (int i = 0; i < TEST_CASES(20000); ++i) {
        double x[6];
        carom_scale_range range = carom_scale_range_empty();
        int low = -1074 + (int)(carom_random_next(&random) % 2097);
        int high = low + (int)(carom_random_next(&random) % (uint64_t)(1024 - low));
        double most = 0.0;
        for (int j = 0; j < 6; ++j) {
            x[j] = random_double(&random, low, high);
            most = fmax(most, fabs(x[j]));
            range = carom_scale_range_add(range, x[j]);
        }
        range =
            carom_scale_range_join(range, carom_scale_range_add(carom_scale_range_empty(), 0.0));
        assert_true(most < ldexp(1.0, range.high) || range.high == 1024);
        int k = carom_scale_choose(range);
        if (most >= ldexp(1.0, CAROM_SCALE_LOW) && most < ldexp(1.0, CAROM_SCALE_HIGH))
            assert_int_equal(k, 0);
        double scaled = 0.0;
        for (int j = 0; j < 6; ++j) {
            double y = carom_scale_apply(x[j], k);
            assert_true(y == ldexp(x[j], k));
            assert_true(carom_scale_apply(y, -k) == x[j]);
            scaled = fmax(scaled, fabs(y));
        }
        assert_true(scaled < ldexp(1.0, CAROM_SCALE_HIGH) || range.low + k == LOWEST);
        assert_true(scaled >= ldexp(1.0, CAROM_SCALE_LOW));
    }
    assert_int_equal(carom_scale_choose(carom_scale_range_empty()), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expansions_are_exact),
        cmocka_unit_test(orientations_near_a_plane_are_exact),
        cmocka_unit_test(orientations_are_exact_at_any_magnitude),
        cmocka_unit_test(small_integers_decide_flat_points),
        cmocka_unit_test(the_filter_decides_random_points),
        cmocka_unit_test(scaling_loses_no_bit),
    };
    return cmocka_run_group_tests_name("orient", tests, NULL, NULL);
}
