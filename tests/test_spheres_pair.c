/* SPDX-License-Identifier: MIT */
/* The terms of two balls: volume and error against quad precision, force and torque as derivatives,
 * symmetry, sums whose bits do not depend on the order. One thread. */
#include <math.h>
#include <string.h>

#include "spheres/spheres_item.h"
#include "tests/support/test.h"

typedef long double real;

/* The volume of the lens, from the distance in long doubles. */
static real lens_volume(const carom_ball *a, const carom_ball *b) {
    real x = (real)b->centre.x - a->centre.x, y = (real)b->centre.y - a->centre.y;
    real z = (real)b->centre.z - a->centre.z, d = sqrtl(x * x + y * y + z * z);
    real r = a->radius, s = b->radius, pi = 3.14159265358979323846264338327950288L;
    if (d >= r + s) return 0;
    real small = fminl(r, s);
    if (d <= fabsl(r - s)) return 4 * pi / 3 * small * small * small;
    real h = r + s - d, hr = h * (d + s - r) / (2 * d), hs = h * (d + r - s) / (2 * d);
    return pi / 3 * (hr * hr * (3 * r - hr) + hs * hs * (3 * s - hs));
}

static carom_ball random_ball(carom_random *random, double size) {
    return (carom_ball){{carom_random_between(random, -size, size),
                         carom_random_between(random, -size, size),
                         carom_random_between(random, -size, size)},
                        carom_random_between(random, 0.05, 1.0) * size};
}

static void volume_is_within_its_error(void **state) {
    (void)state;
    carom_random random = {1};
    uint64_t overlaps = 0;
    for (int i = 0; i < TEST_CASES(20000); ++i) {
        double size = ldexp(1.0, i % 41 - 20), far = i % 3 == 0 ? 1000.0 * size : 0.0;
        carom_ball a = random_ball(&random, size), b = random_ball(&random, size);
        a.centre.x += far;
        b.centre.x += far;
        if (i % 5 == 0) { /* a shallow touch */
            carom_vec3 apart = carom_vec_sub(b.centre, a.centre);
            double d = carom_vec_length(apart);
            b.radius = d > a.radius ? (d - a.radius) * (1.0 + ldexp(1.0, -(i % 50))) : b.radius;
        }
        carom_spheres_term term;
        bool meet = carom_spheres_pair(&a, &b, a.centre, &term);
        real truth = lens_volume(&a, &b);
        if (!meet) {
            double small = CAROM_MIN(a.radius, b.radius);
            assert_true(truth <= 1e-25L * small * small * small);
            continue;
        }
        ++overlaps;
        assert_true(carom_spheres_may_meet(&a, &b));
        assert_true(fabsl(term.volume - truth) <= term.error);
        assert_true(term.error <= 1e-12 * term.volume + 1e-12 * a.radius * b.radius * size);
    }
    if (TEST_MANY_CASES) assert_true(overlaps > TEST_CASES(1000));
}

static carom_vec3 rotated(carom_vec3 p, carom_vec3 pivot, int axis, double angle) {
    double v[3] = {p.x - pivot.x, p.y - pivot.y, p.z - pivot.z};
    int k = (axis + 1) % 3, l = (axis + 2) % 3;
    double c = cos(angle), s = sin(angle), u = v[k], w = v[l];
    v[k] = c * u - s * w;
    v[l] = s * u + c * w;
    return (carom_vec3){pivot.x + v[0], pivot.y + v[1], pivot.z + v[2]};
}

static double coordinate(carom_vec3 v, int k) {
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

static void force_and_torque_are_derivatives(void **state) {
    (void)state;
    carom_random random = {2};
    for (int i = 0; i < TEST_CASES(2000); ++i) {
        carom_ball a = random_ball(&random, 1.0), b = random_ball(&random, 1.0);
        carom_vec3 pivot = random_ball(&random, 1.0).centre;
        carom_spheres_term term;
        if (!carom_spheres_pair(&a, &b, pivot, &term)) continue;
        double d = carom_vec_length(carom_vec_sub(b.centre, a.centre)), step = 1e-4;
        if (fabs(d - fabs(a.radius - b.radius)) < 0.02 || fabs(d - a.radius - b.radius) < 0.02)
            continue; /* the derivative has a kink there */
        for (int k = 0; k < 3; ++k) {
            carom_ball low = b, high = b;
            (k == 0 ? &low.centre.x : k == 1 ? &low.centre.y : &low.centre.z)[0] -= step;
            (k == 0 ? &high.centre.x : k == 1 ? &high.centre.y : &high.centre.z)[0] += step;
            real slope = (lens_volume(&a, &high) - lens_volume(&a, &low)) / (2 * step);
            assert_true(fabsl(slope + coordinate(term.force, k)) < 1e-5);
            low.centre = rotated(b.centre, pivot, k, -step);
            high.centre = rotated(b.centre, pivot, k, step);
            slope = (lens_volume(&a, &high) - lens_volume(&a, &low)) / (2 * step);
            assert_true(fabsl(slope + coordinate(term.torque, k)) < 1e-5);
        }
    }
}

static void swapping_changes_signs_only(void **state) {
    (void)state;
    carom_random random = {3};
    for (int i = 0; i < TEST_CASES(5000); ++i) {
        carom_ball a = random_ball(&random, 1.0), b = random_ball(&random, 1.0);
        if (i % 3 == 0) b.radius = a.radius;
        if (i % 50 == 0) b.centre = a.centre;
        carom_vec3 pivot = random_ball(&random, 1.0).centre;
        carom_spheres_term s, t;
        bool meet = carom_spheres_pair(&a, &b, pivot, &s);
        assert_true(carom_spheres_pair(&b, &a, pivot, &t) == meet);
        if (!meet) continue;
        assert_true(s.volume == t.volume && s.error == t.error);
        assert_true(s.moment.x == t.moment.x && s.moment.y == t.moment.y);
        assert_true(s.force.x == -t.force.x && s.force.y == -t.force.y && s.force.z == -t.force.z);
        assert_true(s.torque.x == -t.torque.x && s.torque.y == -t.torque.y &&
                    s.torque.z == -t.torque.z);
        assert_true(s.direction.x == -t.direction.x && s.direction.z == -t.direction.z);
    }
}

#define BALLS 40

static void the_order_has_no_effect(void **state) {
    (void)state;
    carom_random random = {4};
    carom_ball balls[BALLS];
    carom_vec3 pivot = {0.25, -0.5, 0.125};
    for (int i = 0; i < BALLS; ++i) balls[i] = random_ball(&random, 1.0);
    carom_spheres_scales scales = carom_spheres_scales_make(1.0, 8.0, BALLS * BALLS);
    carom_spheres_sum forward, backward, half;
    memset(&forward, 0, sizeof(forward));
    memset(&backward, 0, sizeof(backward));
    memset(&half, 0, sizeof(half));
    double volume = 0.0;
    for (int i = 0; i < BALLS * BALLS; ++i) {
        carom_spheres_term term;
        int k = BALLS * BALLS - 1 - i;
        if (carom_spheres_pair(&balls[i / BALLS], &balls[i % BALLS], pivot, &term)) {
            carom_spheres_sum_add(i % 2 == 0 ? &forward : &half, &term, &scales);
            volume += term.volume;
        }
        if (carom_spheres_pair(&balls[k / BALLS], &balls[k % BALLS], pivot, &term))
            carom_spheres_sum_add(&backward, &term, &scales);
    }
    carom_spheres_sum_join(&forward, &half);
    assert_memory_equal(&forward, &backward, sizeof(forward));
    carom_spheres_lenses overlap = carom_spheres_sum_value(&forward, &scales);
    assert_true(fabs(overlap.volume - volume) <= 1e-12 * volume);
    assert_true(overlap.error > 0.0 && overlap.error < 1e-9 * volume);
    /* All pairs in both orders: forces cancel exactly. */
    assert_true(overlap.force.x == 0.0 && overlap.force.y == 0.0 && overlap.torque.z == 0.0);
    /* A bound that does not hold is noticed. */
    scales = carom_spheres_scales_make(1e-30, 1e-30, 1);
    carom_spheres_term term;
    memset(&backward, 0, sizeof(backward));
    assert_true(carom_spheres_pair(&balls[0], &balls[0], pivot, &term));
    carom_spheres_sum_add(&backward, &term, &scales);
    assert_true(isnan(carom_spheres_sum_value(&backward, &scales).volume));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volume_is_within_its_error),
        cmocka_unit_test(force_and_torque_are_derivatives),
        cmocka_unit_test(swapping_changes_signs_only),
        cmocka_unit_test(the_order_has_no_effect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
