/* SPDX-License-Identifier: MIT */
/* The lens of two balls against the textbook polynomial in 113 bits. One thread. */
#include <float.h>
#include <stdlib.h>

#include "geom/lens.h"
#include "tests/support/quad.h"
#include "tests/support/test.h"

static quad quad_pi(void) {
    return (quad)3.141592653589793116 + (quad)1.2246467991473532e-16;
}

/* V = pi h^2 (d^2 + 2d(r+s) - 3(r-s)^2) / 12d; the double inputs are taken as exact. */
static quad volume(quad r, quad s, quad d) {
    quad smaller = r < s ? r : s, h = r + s - d;
    if (h <= 0) return 0;
    if (d <= quad_abs(r - s)) return 4 * quad_pi() * smaller * smaller * smaller / 3;
    return quad_pi() * h * h * (d * d + 2 * d * (r + s) - 3 * (r - s) * (r - s)) / (12 * d);
}

/* Where the spheres cross: x from the first centre, the circle's radius squared r^2 - x^2. */
static quad circle_squared(quad r, quad s, quad d) {
    quad h = r + s - d;
    if (h <= 0 || d <= quad_abs(r - s)) return 0;
    quad more = s - r; /* exact, so that a small d is not lost */
    return h * (r + s + d) * (d + more) * (d - more) / (4 * d * d);
}

typedef struct worst {
    double volume, area, radius, along;
} worst;

static void keep(double *most, quad got, quad want, quad scale) {
    double error = scale > 0 ? (double)(quad_abs(got - want) / scale) : got == want ? 0.0 : 1.0;
    if (!(error <= *most)) *most = error;
}

static void check(double r, double s, double d, worst *w) {
    carom_lens_shape lens = carom_lens_at(r, s, d);
    quad v = volume(r, s, d);
    if (v > 0 && v < 0x1p-1000) return; /* no digits left to be right */
    quad squared = circle_squared(r, s, d), a = quad_sqrt(squared);
    keep(&w->volume, lens.volume, v, v);
    keep(&w->area, lens.area, quad_pi() * squared, quad_pi() * squared);
    keep(&w->radius, lens.radius, a, a);
    if (squared > 0) {
        quad along = ((quad)d * d + (quad)r * r - (quad)s * s) / (2 * (quad)d);
        keep(&w->along, lens.along_r, along, r + quad_abs(along));
        keep(&w->along, lens.along_s, d - along, s + quad_abs(d - along));
    }
    carom_lens_shape swapped = carom_lens_at(s, r, d);
    assert_true(swapped.along_r == lens.along_s || squared == 0);
    assert_true(fabs(swapped.volume - lens.volume) <= 4e-16 * lens.volume);
}

static void finish(const char *name, const worst *w) {
    print_message(
        "%s: worst relative error: volume %.2g, derivative %.2g, circle %.2g, plane %.2g\n", name,
        w->volume, w->area, w->radius, w->along);
    assert_true(w->volume < 2e-15 && w->area < 2e-15 && w->radius < 2e-15 && w->along < 1e-15);
}

static void every_ratio_and_depth_is_right_to_the_last_digits(void **state) {
    (void)state;
    static const int scales[] = {0, 0, 0, 300, -300};
    worst w = {0};
    carom_random random = {1};
    for (int i = 0; i < TEST_CASES(200000); ++i) {
        double scale = carom_power_of_two(scales[i % 5]);
        double r = carom_random_between(&random, 0.5, 2.0) * scale;
        double s = r * pow(10.0, carom_random_between(&random, -6.0, 6.0));
        double smaller = r < s ? r : s;
        double depth = 2.0 * smaller * pow(10.0, carom_random_between(&random, -17.0, 0.3));
        check(r, s, r + s - depth, &w);       /* from a bare touch inwards */
        check(r, s, fabs(r - s) + depth, &w); /* from nested outwards */
        check(r, s, fabs(r - s) * (1.0 - depth / r), &w);
        check(r, s, (r + s) * carom_random_uniform(&random), &w);
    }
    finish("lens", &w);
}

static void neighbouring_doubles_are_right_too(void **state) {
    (void)state;
    worst w = {0};
    carom_random random = {2};
    for (int i = 0; i < TEST_CASES(20000); ++i) {
        double r = carom_random_between(&random, 0.5, 2.0);
        double s = i % 3 == 0 ? r : carom_random_between(&random, 0.5, 2.0);
        double touch = r + s, nested = fabs(r - s);
        for (int k = 0; k < 4; ++k) {
            check(r, s, touch, &w);
            check(r, s, nested, &w);
            touch = nextafter(touch, k % 2 == 0 ? 0.0 : 10.0);
            nested = nextafter(nested, 10.0);
        }
        check(r, s, 0.0, &w);
        check(r, 0.0, r * carom_random_uniform(&random), &w);
    }
    finish("lens at the ends", &w);
}

static void special_lenses(void **state) {
    (void)state;
    carom_lens_shape lens = carom_lens_at(1.0, 1.0, 2.0);
    assert_true(lens.volume == 0.0 && lens.area == 0.0 && lens.radius == 0.0 &&
                lens.along_r == 1.0);
    lens = carom_lens_at(1.0, 1.0, 3.0);
    assert_true(lens.volume == 0.0 && lens.along_r == 1.5 && lens.along_s == 1.5);
    lens = carom_lens_at(1.0, 3.0, 2.0); /* touching from inside */
    assert_true(fabs(lens.volume - 4.0 / 3.0 * CAROM_PI) < 1e-15 && lens.area == 0.0);
    lens = carom_lens_at(1.0, 1.0, 0.0);
    assert_true(fabs(lens.volume - 4.0 / 3.0 * CAROM_PI) < 1e-15 && lens.area == 0.0);
    lens = carom_lens_at(0.0, 0.0, 0.0);
    assert_true(lens.volume == 0.0);
    assert_true(isnan(carom_lens_at((double)NAN, 1.0, 1.0).volume));
    assert_true(isnan(carom_lens_at(1.0, 1.0, (double)INFINITY).volume));
}

static void volume_falls_with_distance(void **state) {
    (void)state;
    carom_random random = {3};
    for (int i = 0; i < TEST_CASES(2000); ++i) {
        double r = carom_random_between(&random, 0.5, 2.0);
        double s = r * pow(10.0, carom_random_between(&random, -3.0, 3.0));
        double low = fabs(r - s), before = DBL_MAX, smaller = r < s ? r : s;
        for (int k = -5; k <= 205; ++k) {
            double d = low + 2.0 * smaller * k / 200.0;
            if (d < 0.0) continue;
            double v = carom_lens_at(r, s, d).volume;
            assert_true(v <= before);
            assert_true(v <= 4.0 / 3.0 * CAROM_PI * (smaller * smaller * smaller));
            before = v;
        }
        assert_true(before == 0.0);
        /* Neighbours may only differ by rounding. */
        double d = low + 2.0 * smaller * carom_random_uniform(&random);
        for (int k = 0; k < 100; ++k) {
            double v = carom_lens_at(r, s, d).volume;
            d = nextafter(d, DBL_MAX);
            assert_true(carom_lens_at(r, s, d).volume <= v * (1.0 + 2e-15));
        }
    }
}

/* (V(d + e) - V(d - e)) / 2e, in 113 bits, is the derivative. */
static void derivative_is_the_slope_of_the_volume(void **state) {
    (void)state;
    carom_random random = {4};
    for (int i = 0; i < TEST_CASES(20000); ++i) {
        double r = carom_random_between(&random, 0.1, 2.0),
               s = carom_random_between(&random, 0.1, 2.0);
        double d = carom_random_between(&random, fabs(r - s), r + s);
        quad e = 1e-9;
        if (d - fabs(r - s) < 1e-6 || r + s - d < 1e-6) continue;
        quad slope = (volume(r, s, d + e) - volume(r, s, d - e)) / (2 * e);
        double area = carom_lens_at(r, s, d).area;
        assert_true(fabs((double)slope + area) < 1e-13 * area + 1e-15);
    }
}

static void balls_in_space_give_the_same_lens(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {5};
    uint64_t hash = 0, before = test_malloc_count();
    for (int i = 0; i < 20000; ++i) {
        double n[8];
        for (int k = 0; k < 8; ++k) n[k] = carom_random_uniform(&random);
        carom_ball a = {{n[0], n[1], n[2]}, n[3]}, b = {{n[4], n[5], n[6]}, n[7]};
        carom_lens lens, swapped;
        assert_ok(context, carom_ball_lens(context, &a, &b, &lens));
        assert_ok(context, carom_ball_lens(context, &b, &a, &swapped));
        carom_vec3 to_a = carom_vec_sub(lens.centre, a.centre);
        carom_vec3 to_b = carom_vec_sub(lens.centre, b.centre);
        assert_true(carom_vec_length(carom_vec_sub(lens.centre, swapped.centre)) < 1e-14);
        assert_true(lens.derivative <= 0.0 && lens.radius >= 0.0 && lens.volume >= 0.0);
        if (lens.radius > 0.0) { /* the circle lies on both spheres */
            double squared = lens.radius * lens.radius;
            assert_true(fabs(carom_vec_dot(to_a, to_a) + squared - a.radius * a.radius) < 1e-14);
            assert_true(fabs(carom_vec_dot(to_b, to_b) + squared - b.radius * b.radius) < 1e-14);
        }
        hash = test_hash_numbers(&lens, sizeof(lens), "8", hash);
    }
    assert_int_equal(test_malloc_count(), before);
    test_golden("distance.txt", "lens", hash);
    carom_ball good = {{0, 0, 0}, 1}, bad = {{0, (double)NAN, 0}, 1};
    carom_lens lens;
    assert_fails(context, carom_ball_lens(context, &good, &bad, &lens), CAROM_BAD_INPUT,
                 "centre of the second ball");
    bad = (carom_ball){{0, 0, 0}, -1};
    assert_fails(context, carom_ball_lens(context, &bad, &good, &lens), CAROM_BAD_INPUT, "radius");
    carom_ball inside = {{0.25, 0, 0}, 0.5};
    assert_ok(context, carom_ball_lens(context, &good, &inside, &lens));
    assert_true(lens.centre.x == 0.25 && lens.radius == 0.0 && lens.derivative == 0.0);
    assert_ok(context, carom_ball_lens(context, &good, &good, &lens));
    assert_true(lens.centre.x == 0.0);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_ratio_and_depth_is_right_to_the_last_digits),
        cmocka_unit_test(neighbouring_doubles_are_right_too),
        cmocka_unit_test(special_lenses),
        cmocka_unit_test(volume_falls_with_distance),
        cmocka_unit_test(derivative_is_the_slope_of_the_volume),
        cmocka_unit_test(balls_in_space_give_the_same_lens),
    };
    return cmocka_run_group_tests_name("lens", tests, NULL, NULL);
}
