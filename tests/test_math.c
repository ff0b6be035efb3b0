/* SPDX-License-Identifier: MIT */
/* Elementary functions against the C library's in long double: the error in units in the last place
 * of the result, special values, results that are exact, and hashes that every machine must meet.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/math.h"
#include "scenes/breaking.h"
#include "scenes/gas.h"
#include "tests/support/campaign.h"
#include "tests/support/shapes.h"

/* What base/math.h promises, in units in the last place. */
#define PROMISED 0.52
/* Where long double is no wider than double, the C library's own error comes on top. */
#define PROMISED_BESIDE_DOUBLE 1.6

/* Valgrind has long doubles of 53 bits, whatever the header says. */
static bool long_is_wide(void) {
    volatile long double one = 1.0L, little = 0x1p-60L;
    return one + little != one;
}

static uint64_t samples(void) {
    return campaign_is_long() ? 10000000 : 100000;
}

/* ---- arguments, made without libm ------------------------------------------------------------ */

static double from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static uint64_t to_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static double power(int exponent) {
    return ldexp(1.0, exponent);
}

/* Any finite number, all exponents alike, subnormal ones too. */
static double any_number(carom_random *random) {
    for (;;) {
        double x = from_bits(carom_random_next(random));
        if (isfinite(x)) return x;
    }
}

static double steps_away(double x, int steps) {
    return from_bits(to_bits(x) + (uint64_t)(int64_t)steps);
}

static int few(carom_random *random) {
    return (int)(carom_random_next(random) % 9) - 4;
}

/* In (-1, 1) 2^-k, k below `most`. One draw in an expression: compilers choose their order. */
static double any_small(carom_random *random, unsigned most) {
    double x = carom_random_between(random, -1.0, 1.0);
    return x * power(-(int)(carom_random_next(random) % most));
}

/* An angle: any, moderate, near a multiple of pi/4, or small. */
static double any_angle(carom_random *random) {
    switch (carom_random_next(random) % 5) {
    case 0:
        return any_number(random);
    case 1:
        return carom_random_between(random, -100.0, 100.0);
    case 2:
        return carom_random_between(random, -1.6, 1.6);
    case 3: {
        uint64_t eighths = carom_random_next(random) >> 12;
        eighths >>= carom_random_next(random) % 50;
        return steps_away((double)(eighths + 1) * 0.785398163397448309616, few(random));
    }
    default:
        return any_small(random, 40);
    }
}

/* Any, near 1, or a number of a usual size. */
static double any_positive(carom_random *random) {
    switch (carom_random_next(random) % 4) {
    case 0:
        return fabs(any_number(random));
    case 1:
        return carom_random_uniform(random) + 0x1p-53;
    case 2:
        return 1.0 + 0.5 * any_small(random, 50);
    default:
        return carom_random_between(random, 0.25, 1e6);
    }
}

/* Two numbers: of any size, of similar size, of nearly one size, or on a lattice. */
static void any_two(carom_random *random, double two[2]) {
    uint64_t kind = carom_random_next(random) % 5;
    int exponent = (int)(carom_random_next(random) % 2000) - 1040;
    for (int k = 0; k < 2; ++k) {
        two[k] = any_number(random);
        if (kind == 1) two[k] = carom_random_between(random, -1.0, 1.0) * power(exponent);
        if (kind == 2) two[k] = any_small(random, 64);
        if (kind == 3) two[k] = (double)(carom_random_next(random) % 33) - 16.0;
    }
    if (kind == 4) two[1] = steps_away(two[0], few(random));
    if (!isfinite(two[1])) two[1] = 1.0;
}

/* ---- errors ---------------------------------------------------------------------------------- */

typedef struct worst {
    const char *name;
    double error; /* in units in the last place */
    double x, y;
} worst;

/* The unit in the last place of a double near `value`. */
static long double unit_at(long double value) {
    int exponent;
    (void)frexpl(value, &exponent);
    return ldexpl(1.0L, (exponent < -1021 ? -1021 : exponent) - 53);
}

static void compare(worst *w, double got, long double right, double x, double y) {
    if (fabsl(right) > (long double)DBL_MAX && (!isfinite(got) || !long_is_wide())) return;
    double error = (double)(fabsl((long double)got - right) / unit_at(right));
    if (error <= w->error || isnan(w->error)) return; /* NaN, if there ever was one, stays */
    *w = (worst){w->name, error, x, y};
}

static void judge(const worst *w) {
    print_message("%s: at most %.4f units in the last place, at %a %a\n", w->name, w->error, w->x,
                  w->y);
    assert_true(w->error < (long_is_wide() ? PROMISED : PROMISED_BESIDE_DOUBLE));
}

static void results_are_rounded_almost_right(void **state) {
    (void)state;
    if (!test_library_reduces_angles()) skip();
    carom_random random = {20261};
    worst sine = {.name = "sin"}, cosine = {.name = "cos"}, natural = {.name = "log"},
          binary = {.name = "log2"}, root = {.name = "cbrt"}, angle = {.name = "atan2"},
          length = {.name = "hypot"};
    for (uint64_t i = 0; i < samples(); ++i) {
        double x = any_angle(&random), two[2];
        compare(&sine, carom_sin(x), sinl((long double)x), x, 0.0);
        compare(&cosine, carom_cos(x), cosl((long double)x), x, 0.0);
        x = any_positive(&random);
        if (x > 0.0) {
            compare(&natural, carom_log(x), logl((long double)x), x, 0.0);
            compare(&binary, carom_log2(x), log2l((long double)x), x, 0.0);
        }
        compare(&root, carom_cbrt(x), cbrtl((long double)x), x, 0.0);
        any_two(&random, two);
        compare(&angle, carom_atan2(two[0], two[1]),
                atan2l((long double)two[0], (long double)two[1]), two[0], two[1]);
        compare(&length, carom_hypot(two[0], two[1]),
                long_is_wide() ? hypotl((long double)two[0], (long double)two[1])
                               : (long double)hypot(two[0], two[1]), /* hypotl would overflow */
                two[0], two[1]);
    }
    judge(&sine);
    judge(&cosine);
    judge(&natural);
    judge(&binary);
    judge(&root);
    judge(&angle);
    judge(&length);
}

/* Each exponent looks at bits of 2/pi of its own. The first mantissas of Kahan's and Muller's
 * search for arguments close to multiples of pi/2 are among these. */
static void sines_of_every_exponent(void **state) {
    (void)state;
    if (!test_library_reduces_angles()) skip();
    static const double close[] = {6381956970095103.0 * 0x1p797, 5319372648326541.0 * 0x1p-103,
                                   0x1.6ac5b262ca1ffp849,        0x1.921fb54442d18p+0,
                                   0x1.921fb54442d18p+1,         0x1.fffffffffffffp1023};
    carom_random random = {7};
    worst sine = {.name = "sin, all exponents"}, cosine = {.name = "cos, all exponents"};
    int mantissas = campaign_is_long() ? 1000 : 8;
    for (int exponent = -32; exponent < 1024; ++exponent)
        for (int i = 0; i < mantissas; ++i) {
            double x = (1.0 + carom_random_uniform(&random)) * power(exponent);
            compare(&sine, carom_sin(x), sinl((long double)x), x, 0.0);
            compare(&cosine, carom_cos(x), cosl((long double)x), x, 0.0);
        }
    for (unsigned i = 0; i < COUNT_OF(close); ++i) {
        compare(&sine, carom_sin(close[i]), sinl((long double)close[i]), close[i], 0.0);
        compare(&cosine, carom_cos(close[i]), cosl((long double)close[i]), close[i], 0.0);
    }
    judge(&sine);
    judge(&cosine);
}

/* ---- exact results --------------------------------------------------------------------------- */

static void assert_same(double a, double b) { /* tells -0 from 0; all NaN are one */
    if (isnan(a) && isnan(b)) return;
    if (to_bits(a) != to_bits(b)) fail_msg("%a is not %a", a, b);
}

static void special_values_are_those_of_annex_f(void **state) {
    (void)state;
    const double inf = HUGE_VAL, nan = (double)NAN, least = 0x1p-1074;
    const double pi = 3.14159265358979323846;
    const double one[][6] = {
        /* x, sin, cos, log, log2, cbrt */
        {0.0, 0.0, 1.0, -inf, -inf, 0.0},
        {-0.0, -0.0, 1.0, -inf, -inf, -0.0},
        {1.0, 0x1.aed548f090ceep-1, 0x1.14a280fb5068cp-1, 0.0, 0.0, 1.0},
        {inf, nan, nan, inf, inf, inf},
        {-inf, nan, nan, nan, nan, -inf},
        {nan, nan, nan, nan, nan, nan},
        {least, least, 1.0, -0x1.74385446d71c3p9, -1074.0, 0x1p-358},
        {-least, -least, 1.0, nan, nan, -0x1p-358},
    };
    for (unsigned i = 0; i < COUNT_OF(one); ++i) {
        assert_same(carom_sin(one[i][0]), one[i][1]);
        assert_same(carom_cos(one[i][0]), one[i][2]);
        assert_same(carom_log(one[i][0]), one[i][3]);
        assert_same(carom_log2(one[i][0]), one[i][4]);
        assert_same(carom_cbrt(one[i][0]), one[i][5]);
    }
    const double two[][4] = {
        /* y, x, atan2, hypot */
        {0.0, 1.0, 0.0, 1.0},
        {-0.0, 1.0, -0.0, 1.0},
        {0.0, -1.0, pi, 1.0},
        {-0.0, -1.0, -pi, 1.0},
        {0.0, 0.0, 0.0, 0.0},
        {-0.0, 0.0, -0.0, 0.0},
        {0.0, -0.0, pi, 0.0},
        {-0.0, -0.0, -pi, 0.0},
        {1.0, 0.0, pi / 2, 1.0},
        {-1.0, -0.0, -pi / 2, 1.0},
        {1.0, 1.0, pi / 4, 0x1.6a09e667f3bcdp+0},
        {least, least, pi / 4, least},
        {-1.0, 1.0, -pi / 4, 0x1.6a09e667f3bcdp+0},
        {1.0, -1.0, 0x1.2d97c7f3321d2p+1, 0x1.6a09e667f3bcdp+0},
        {inf, inf, pi / 4, inf},
        {-inf, -inf, -0x1.2d97c7f3321d2p+1, inf},
        {inf, 1.0, pi / 2, inf},
        {inf, -1.0, pi / 2, inf},
        {1.0, inf, 0.0, inf},
        {-1.0, inf, -0.0, inf},
        {1.0, -inf, pi, inf},
        {-1.0, -inf, -pi, inf},
        {nan, 1.0, nan, nan},
        {1.0, nan, nan, nan},
        {nan, inf, nan, inf},
        {-inf, nan, nan, inf},
        {least, 1.0, least, 1.0},
        {least, DBL_MAX, 0.0, DBL_MAX},
        {DBL_MAX, least, pi / 2, DBL_MAX},
        {DBL_MAX, DBL_MAX, pi / 4, inf},
        {least, -DBL_MAX, pi, DBL_MAX},
        {3.0 * least, 4.0 * least, 0x1.4978fa3269ee1p-1, 5.0 * least},
    };
    for (unsigned i = 0; i < COUNT_OF(two); ++i) {
        assert_same(carom_atan2(two[i][0], two[i][1]), two[i][2]);
        assert_same(carom_hypot(two[i][0], two[i][1]), two[i][3]);
        assert_same(carom_hypot(two[i][1], two[i][0]), two[i][3]);
    }
}

static void results_that_are_doubles_are_exact(void **state) {
    (void)state;
    carom_random random = {11};
    for (int exponent = -1074; exponent < 1024; ++exponent)
        assert_same(carom_log2(power(exponent)), (double)exponent);
    for (uint64_t i = 0; i < samples(); ++i) {
        double base = (double)(carom_random_next(&random) % 208064); /* below 2^(53/3) */
        int exponent = (int)(carom_random_next(&random) % 600) - 320;
        assert_same(carom_cbrt(ldexp(base * base * base, 3 * exponent)), ldexp(base, exponent));
        /* Pythagorean triples by Euclid's formula. */
        double p = (double)(carom_random_next(&random) >> 39);
        double q = (double)(carom_random_next(&random) >> 39);
        exponent = (int)(carom_random_next(&random) % 2040) - 1074;
        double a = ldexp(fabs(p * p - q * q), exponent), b = ldexp(2.0 * p * q, exponent);
        double c = ldexp(p * p + q * q, exponent);
        if (c < HUGE_VAL) assert_same(carom_hypot(a, b), c);
    }
}

static void signs_and_order_are_kept(void **state) {
    (void)state;
    carom_random random = {13};
    for (uint64_t i = 0; i < samples(); ++i) {
        double x = any_angle(&random), two[2];
        assert_same(carom_sin(-x), -carom_sin(x));
        assert_same(carom_cos(-x), carom_cos(x));
        assert_true(fabs(carom_sin(x)) <= 1.0 && fabs(carom_cos(x)) <= 1.0);
        x = any_positive(&random);
        assert_same(carom_cbrt(-x), -carom_cbrt(x));
        double next = steps_away(x, 1);
        assert_true(carom_cbrt(x) <= carom_cbrt(next));
        assert_true(carom_log(x) <= carom_log(next));
        assert_true(carom_log2(x) <= carom_log2(next));
        any_two(&random, two);
        assert_same(carom_atan2(-two[0], two[1]), -carom_atan2(two[0], two[1]));
        assert_same(carom_hypot(two[0], two[1]), carom_hypot(two[1], -two[0]));
        assert_true(carom_hypot(two[0], two[1]) >= fmax(fabs(two[0]), fabs(two[1])));
    }
}

/* ---- the same everywhere --------------------------------------------------------------------- */

static uint64_t add_bits(uint64_t hash, double x) {
    if (isnan(x)) x = 0.5; /* the sign of NaN is no business of ours */
    uint64_t bits = to_bits(x);
    return test_hash_numbers(&bits, sizeof(bits), "8", hash);
}

static void every_machine_has_these_bits(void **state) {
    (void)state;
    carom_random random = {17};
    uint64_t angles = 0, logarithms = 0, roots = 0, pairs = 0, normals = 0;
    for (int i = 0; i < 20000; ++i) {
        double x = any_angle(&random), two[2];
        angles = add_bits(add_bits(angles, carom_sin(x)), carom_cos(x));
        x = any_positive(&random);
        logarithms = add_bits(add_bits(logarithms, carom_log(x)), carom_log2(x));
        roots = add_bits(roots, carom_cbrt(x));
        any_two(&random, two);
        pairs = add_bits(pairs, carom_atan2(two[0], two[1]));
        pairs = add_bits(pairs, carom_hypot(two[0], two[1]));
        normals = add_bits(normals, carom_random_normal(&random));
    }
    test_golden("math.txt", "sin-cos", angles);
    test_golden("math.txt", "log-log2", logarithms);
    test_golden("math.txt", "cbrt", roots);
    test_golden("math.txt", "atan2-hypot", pairs);
    test_golden("math.txt", "normal", normals);
}

static void every_machine_has_these_scenes(void **state) {
    (void)state;
    enum { COUNT = 2000, FRAMES = 20 };
    double edge = scene_gas_edge(COUNT, 0.5, 0.2);
    carom_gas_def def = {.edges = {edge, edge, edge}};
    carom_gas_sphere *spheres = scene_gas_lattice(COUNT, 0.5, def.edges, 3);
    assert_non_null(spheres);
    scene_gas_keep_inside(spheres, COUNT, &def);
    scene_gas_set_speed(spheres, COUNT, 2.0);
    uint64_t hash = add_bits(add_bits(0, edge), scene_gas_radius(COUNT, edge, 0.2));
    test_golden("math.txt", "gas", test_hash_numbers(spheres, COUNT * sizeof(*spheres), "8", hash));
    free(spheres);

    scene_breaking scene;
    assert_true(scene_breaking_begin(&scene, 20, FRAMES, 5));
    for (int i = 0; i < FRAMES; ++i) scene_breaking_step(&scene);
    test_golden(
        "math.txt", "breaking",
        test_hash_numbers(scene.positions, scene.vertex_count * sizeof(*scene.positions), "8", 0));
    scene_breaking_end(&scene);
}

static void every_machine_has_these_shapes(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    for (int shape = 0; shape < CAROM_SHAPE_COUNT; ++shape) {
        carom_shape_def def = {.shape = (carom_shape)shape};
        carom_mesh_view view;
        char name[48];
        carom_mesh *mesh = shape_mesh(context, &def, &view);
        assert_int_equal(view.scalar, CAROM_SCALAR_FLOAT64);
        snprintf(name, sizeof(name), "shape-%s", carom_shape_name((carom_shape)shape));
        test_golden(
            "math.txt", name,
            test_hash_numbers(view.positions, view.vertex_count * 3 * sizeof(double), "8", 0));
        carom_mesh_destroy(mesh);
    }
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_rounded_almost_right),
        cmocka_unit_test(sines_of_every_exponent),
        cmocka_unit_test(special_values_are_those_of_annex_f),
        cmocka_unit_test(results_that_are_doubles_are_exact),
        cmocka_unit_test(signs_and_order_are_kept),
        cmocka_unit_test(every_machine_has_these_bits),
        cmocka_unit_test(every_machine_has_these_scenes),
        cmocka_unit_test(every_machine_has_these_shapes),
    };
    return cmocka_run_group_tests_name("math", tests, NULL, NULL);
}
