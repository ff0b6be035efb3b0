/* SPDX-License-Identifier: MIT */
/* Enclosing balls. Containment is checked in exact arithmetic. That no smaller ball exists is
 * proved for each case: a ball that touches up to four of the inputs from inside, with its centre
 * in the hull of their centres, is the smallest around those, hence a lower bound for all (in 113
 * bits). One thread. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/enclosing_ball.h"
#include "tests/support/quad.h"
#include "tests/support/test.h"

/* Three points in a row as the triangle they are. */
#define AS_TRIANGLE(points) ((const carom_triangle *)(const void *)(points))

/* ---- exact containment ----------------------------------------------------------------------- */

/* A sum of doubles without rounding: components that do not overlap, smallest first. */
typedef struct exact {
    double part[64];
    int count;
} exact;

static void exact_add(exact *sum, double value) {
    double carry = value;
    for (int i = 0; i < sum->count; ++i) {
        double s = carry + sum->part[i], b = s - carry;
        sum->part[i] = (carry - (s - b)) + (sum->part[i] - b);
        carry = s;
    }
    sum->part[sum->count++] = carry;
}

static void exact_add_product(exact *sum, double a, double b) {
    double p = a * b;
    exact_add(sum, fma(a, b, -p));
    exact_add(sum, p);
}

static int exact_sign(const exact *sum) {
    for (int i = sum->count; i-- > 0;)
        if (sum->part[i] != 0.0) return sum->part[i] > 0.0 ? 1 : -1;
    return 0;
}

/* Adds sign (a - b)^2. */
static void exact_add_square(exact *sum, double a, double b, double sign) {
    double high = a - b, back = high - a, low = (a - (high - back)) + (-b - back);
    exact_add_product(sum, sign * high, high);
    exact_add_product(sum, sign * 2.0 * high, low);
    exact_add_product(sum, sign * low, low);
}

/* |c - p| + r <= R, that is r <= R and |c - p|^2 - (R - r)^2 <= 0. */
static bool contains(const carom_ball *ball, carom_vec3 p, double r) {
    exact sum = {.count = 0};
    exact_add_square(&sum, p.x, ball->centre.x, 1.0);
    exact_add_square(&sum, p.y, ball->centre.y, 1.0);
    exact_add_square(&sum, p.z, ball->centre.z, 1.0);
    exact_add_square(&sum, ball->radius, r, -1.0);
    return r <= ball->radius && exact_sign(&sum) <= 0;
}

/* ---- lower bounds ---------------------------------------------------------------------------- */

static quad determinant(quad m[3][3]) {
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
           m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/* Solves the symmetric system of n <= 3 rows by Cramer's rule; false when it is singular. */
static bool solve(quad g[3][3], const quad *right, int n, quad *x) {
    quad m[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k) m[i][k] = g[i][k];
    quad whole = determinant(m);
    if (!(whole > 0)) return false;
    for (int k = 0; k < n; ++k) {
        quad c[3][3];
        memcpy(c, m, sizeof(c));
        for (int i = 0; i < n; ++i) c[i][k] = right[i];
        x[k] = determinant(c) / whole;
    }
    return true;
}

/* The radius of the ball that touches balls[index[0..n]] from inside when its centre is in their
 * hull, else -1. */
static quad touching_radius(const carom_ball *balls, const int *index, int n) {
    quad3 q[3];
    quad g[3][3], fixed[3], slope[3], x[3] = {0}, y[3] = {0};
    const carom_ball *first = &balls[index[0]];
    for (int i = 0; i < n; ++i) {
        q[i] = quad3_sub(quad3_of(balls[index[i + 1]].centre), quad3_of(first->centre));
        slope[i] = (quad)balls[index[i + 1]].radius - first->radius;
        fixed[i] = (quad3_dot(q[i], q[i]) - slope[i] * slope[i]) / 2;
    }
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k) g[i][k] = quad3_dot(q[i], q[k]);
    if (n == 0) return first->radius;
    if (!solve(g, fixed, n, x) || !solve(g, slope, n, y)) return -1;
    quad aa = 0, ab = 0, bb = 0;
    for (int i = 0; i < n; ++i) {
        aa += x[i] * fixed[i];
        ab += x[i] * slope[i];
        bb += y[i] * slope[i];
    }
    quad root = ab * ab - (bb - 1) * aa, best = -1;
    if (root < 0 || bb == 1) return -1;
    for (int sign = -1; sign <= 1; sign += 2) {
        quad reach = (-ab + sign * quad_sqrt(root)) / (bb - 1), rest = 1;
        bool inside = reach >= 0;
        for (int i = 0; i < n; ++i) {
            quad weight = x[i] + reach * y[i];
            rest -= weight;
            inside = inside && weight >= 0 && reach >= slope[i];
        }
        if (inside && rest >= 0 && (best < 0 || reach + first->radius < best))
            best = reach + first->radius;
    }
    return best;
}

/* The best lower bound that any of the `count` <= 8 balls give. */
static quad lower_bound(const carom_ball *balls, int count) {
    quad best = 0;
    for (int mask = 1; mask < 1 << count; ++mask) {
        int index[4] = {0}, n = 0;
        for (int i = 0; i < count && n <= 4; ++i)
            if (mask >> i & 1) {
                if (n < 4) index[n] = i;
                ++n;
            }
        if (n > 4) continue;
        quad radius = touching_radius(balls, index, n - 1);
        if (radius > best) best = radius;
    }
    return best;
}

/* The eight inputs that come nearest to the ball's boundary. */
static int outermost(const carom_ball *ball, const carom_ball *balls, uint64_t count,
                     carom_ball *out) {
    double reach[8];
    int n = 0;
    for (uint64_t i = 0; i < count; ++i) {
        double r = carom_length(carom_vec_sub(balls[i].centre, ball->centre)) + balls[i].radius;
        int at = n < 8 ? n++ : 8;
        for (; at > 0 && r > reach[at - 1]; --at)
            if (at < 8) {
                reach[at] = reach[at - 1];
                out[at] = out[at - 1];
            }
        if (at < 8) {
            reach[at] = r;
            out[at] = balls[i];
        }
    }
    return n;
}

static void check(const carom_ball *ball, const carom_ball *balls, uint64_t count, double *most) {
    double largest = 0.0;
    carom_ball outer[8];
    for (uint64_t i = 0; i < count; ++i) {
        if (!contains(ball, balls[i].centre, balls[i].radius))
            fail_msg("ball %llu of %llu sticks out", (unsigned long long)i,
                     (unsigned long long)count);
        largest = fmax(largest, carom_vec_largest(balls[i].centre));
    }
    quad lower = lower_bound(outer, outermost(ball, balls, count, outer));
    quad excess = (quad)ball->radius - lower - largest * 0x1p-50;
    if (lower > 0) *most = fmax(*most, (double)(excess / lower));
    if (!(lower > 0)) assert_true(excess <= 0);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static carom_vec3 any_point(carom_random *random, int kind) {
    double v[3];
    for (int i = 0; i < 3; ++i)
        v[i] = kind % 2 == 0 ? carom_random_between(random, -1.0, 1.0)
                             : (double)(carom_random_next(random) % 5) - 2.0;
    return carom_vec(v[0], v[1], v[2]);
}

#define KINDS 8

/* Points; balls when radii are given. */
static void make_points(carom_random *random, int kind, int count, carom_ball *balls, bool radii) {
    carom_vec3 base = any_point(random, 0), u = any_point(random, kind),
               v = any_point(random, kind);
    double width = pow(10.0, carom_random_between(random, -17.0, 0.0));
    for (int i = 0; i < count; ++i) {
        carom_vec3 p = any_point(random, kind);
        if (kind == 2) /* a line, nearly */
            p = carom_vec_add(carom_vec_scale(u, carom_random_between(random, -1.0, 1.0)),
                              carom_vec_scale(p, width));
        if (kind == 3) p = carom_vec_add(p, carom_vec(1e6, -1e6, 1e6));
        if (kind == 4) /* a plane, nearly */
            p = carom_vec_add(carom_vec_add(carom_vec_scale(u, p.x), carom_vec_scale(v, p.y)),
                              carom_vec_scale(p, width));
        if (kind == 5 && i > 0 && carom_random_next(random) % 2 == 0)
            p = balls[carom_random_next(random) % (uint64_t)i].centre; /* twice the same */
        if (kind == 6) p = carom_vec_add(base, carom_vec_scale(p, 1.0 / carom_vec_length(p)));
        if (kind == 7) p = carom_vec_add(base, carom_vec_scale(p, width));
        balls[i].centre = p;
        balls[i].radius = 0.0;
        if (radii) {
            double r = carom_random_uniform(random);
            balls[i].radius =
                kind % 2 == 0 ? r * pow(10.0, -4.0 * carom_random_uniform(random)) : floor(r * 4.0);
        }
    }
}

static void scale_all(carom_ball *balls, int count, double scale) {
    for (int i = 0; i < count; ++i) {
        balls[i].centre = carom_vec_scale(balls[i].centre, scale);
        balls[i].radius *= scale;
    }
}

static void enclose_points(const carom_ball *balls, uint64_t count, carom_ball *ball) {
    static carom_vec3 points[2000];
    uint64_t bad;
    assert_true(count <= COUNT_OF(points));
    for (uint64_t i = 0; i < count; ++i) points[i] = balls[i].centre;
    assert_true(carom_ball_around_points(points, count, ball, &bad));
}

static void points_are_enclosed_tightly(void **state) {
    (void)state;
    static carom_ball balls[2000];
    double most[KINDS] = {0};
    carom_random random = {1};
    for (int i = 0; i < TEST_CASES(4000); ++i) {
        int kind = i % KINDS,
            count = 1 + (int)(carom_random_next(&random) % (i % 40 == 0 ? 1000 : 7));
        if (kind == 6 && count > 8) count = 8; /* the outermost eight must be all that matter */
        make_points(&random, kind, count, balls, false);
        carom_ball ball, scaled;
        uint64_t bad;
        enclose_points(balls, (uint64_t)count, &ball);
        check(&ball, balls, (uint64_t)count, &most[kind]);
        carom_ball other;
        assert_true(carom_ball_around_balls(balls, (uint64_t)count, &other, &bad));
        check(&other, balls, (uint64_t)count, &most[kind]);
        double scale = carom_power_of_two(i % 3 == 0 ? 300 : i % 3 == 1 ? -300 : 1000);
        scale_all(balls, count, scale);
        enclose_points(balls, (uint64_t)count, &scaled);
        assert_true(scaled.radius == ball.radius * scale &&
                    scaled.centre.x == ball.centre.x * scale);
    }
    for (int k = 0; k < KINDS; ++k) {
        print_message("points, kind %d: radius at most %.2g too large\n", k, most[k]);
        assert_true(most[k] < 1e-13);
    }
}

static void balls_are_enclosed_tightly(void **state) {
    (void)state;
    static carom_ball balls[2000];
    double most[KINDS] = {0};
    carom_random random = {2};
    for (int i = 0; i < TEST_CASES(4000); ++i) {
        int kind = i % KINDS,
            count = 1 + (int)(carom_random_next(&random) % (i % 40 == 0 ? 1000 : 7));
        make_points(&random, kind, count, balls, true);
        carom_ball ball, scaled;
        uint64_t bad;
        assert_true(carom_ball_around_balls(balls, (uint64_t)count, &ball, &bad));
        check(&ball, balls, (uint64_t)count, &most[kind]);
        if (count == 1) assert_memory_equal(&ball, balls, sizeof(ball));
        double scale = carom_power_of_two(i % 3 == 0 ? 300 : i % 3 == 1 ? -300 : 1000);
        scale_all(balls, count, scale);
        assert_true(carom_ball_around_balls(balls, (uint64_t)count, &scaled, &bad));
        assert_true(scaled.radius == ball.radius * scale &&
                    scaled.centre.z == ball.centre.z * scale);
    }
    for (int k = 0; k < KINDS; ++k) {
        print_message("balls, kind %d: radius at most %.2g too large\n", k, most[k]);
        assert_true(most[k] < 1e-13);
    }
}

static void triangles_are_enclosed_tightly_in_any_order(void **state) {
    (void)state;
    static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                     {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    double most = 0.0;
    carom_random random = {3};
    uint64_t hash = 0;
    for (int i = 0; i < 40000; ++i) {
        carom_ball balls[3], ball, other;
        make_points(&random, i % KINDS, 3, balls, false);
        if (i % 16 == 9) balls[2].centre = balls[0].centre;
        if (i % 32 == 11) /* equilateral: three equal longest edges */
            for (int k = 0; k < 3; ++k)
                balls[k].centre =
                    carom_vec(k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0);
        for (int k = 0; k < 6; ++k) {
            carom_vec3 t[3];
            for (int m = 0; m < 3; ++m) t[m] = balls[orders[k][m]].centre;
            carom_ball_around_triangle(t, k == 0 ? &ball : &other);
            if (k > 0) assert_memory_equal(&ball, &other, sizeof(ball));
            double scale = carom_power_of_two(k % 2 == 0 ? 300 : -300);
            for (int m = 0; m < 3; ++m) t[m] = carom_vec_scale(t[m], scale);
            carom_ball_around_triangle(t, &other);
            assert_true(other.radius == ball.radius * scale);
        }
        check(&ball, balls, 3, &most);
        if (i % KINDS == 1) hash = test_hash_numbers(&ball, sizeof(ball), "8", hash);
    }
    print_message("triangles: radius at most %.2g too large\n", most);
    assert_true(most < 4e-15);
    test_golden("distance.txt", "ball_of_triangle", hash);
}

/* ---- many ------------------------------------------------------------------------------------ */

static void many_cospherical_points_end_soon(void **state) {
    (void)state;
    enum { COUNT = TEST_FEW_CASES ? 30000 : 300000 };
    carom_vec3 *points = malloc(COUNT * sizeof(*points));
    assert_non_null(points);
    carom_random random = {4};
    for (int shape = 0; shape < 5; ++shape) {
        for (int i = 0; i < COUNT; ++i) {
            double x = carom_random_normal(&random), y = carom_random_normal(&random);
            carom_vec3 p = carom_vec(x, y, shape == 1 ? 0.0 : carom_random_normal(&random));
            if (shape < 2) p = carom_vec_scale(p, 1.0 / carom_vec_length(p)); /* sphere, circle */
            if (shape == 2) p = carom_vec(i % 2 ? 1.0 : -1.0, i % 4 < 2 ? 1.0 : -1.0, i % 8 < 4);
            if (shape == 3) p = carom_vec(0.1, 0.2, 0.3);
            if (shape == 4) p = carom_vec_scale(carom_vec(0.3, -0.7, 0.2), i % 1000);
            points[i] = p;
        }
        carom_ball ball;
        uint64_t bad;
        double start = carom_time_seconds();
        assert_true(carom_ball_around_points(points, COUNT, &ball, &bad));
        double taken = carom_time_seconds() - start;
        static const double radii[] = {1.0, 1.0, 1.5, 0.0, 0.0};
        double want = shape == 4 ? 499.5 * sqrt(0.62) : radii[shape];
        print_message("shape %d: radius %.17g in %.1f ms\n", shape, ball.radius, taken * 1e3);
        assert_true(ball.radius <= want * (1.0 + 1e-13) && ball.radius >= want * (1.0 - 1e-6));
        for (int i = 0; i < COUNT; i += 97) assert_true(contains(&ball, points[i], 0.0));
    }
    free(points);
}

/* ---- the public face ------------------------------------------------------------------------- */

static void public_functions_check_and_answer(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_vec3 points[4] = {{1, 0, 0}, {-1, 0, 0}, {0, 0.5, 0}, {0, 0, -0.5}};
    carom_ball balls[2] = {{{2, 0, 0}, 1}, {{-2, 0, 0}, 1}}, ball;
    uint64_t before = test_malloc_count();
    assert_ok(context, carom_ball_of_points(context, points, 4, &ball));
    assert_true(ball.centre.x == 0.0 && ball.radius >= 1.0 && ball.radius < 1.0 + 1e-14);
    assert_ok(context, carom_ball_of_triangle(context, AS_TRIANGLE(points), &ball));
    assert_true(ball.centre.y == 0.0 && ball.radius >= 1.0 && ball.radius < 1.0 + 1e-14);
    assert_ok(context, carom_ball_of_balls(context, balls, 2, &ball));
    assert_true(ball.centre.x == 0.0 && ball.radius >= 3.0 && ball.radius < 3.0 + 1e-14);
    assert_int_equal(test_malloc_count(), before);
    points[3].z = (double)INFINITY;
    assert_fails(context, carom_ball_of_points(context, points, 4, &ball), CAROM_BAD_INPUT,
                 "point 3 of 4");
    balls[1].radius = -1.0;
    assert_fails(context, carom_ball_of_balls(context, balls, 2, &ball), CAROM_BAD_INPUT,
                 "ball 1 of 2");
    assert_fails(context, carom_ball_of_triangle(context, AS_TRIANGLE(points + 1), &ball),
                 CAROM_BAD_INPUT, "point 2 of the triangle");
    test_asserts_begin();
    assert_int_equal(carom_ball_of_points(context, points, 0, &ball), CAROM_INVALID);
    assert_int_equal(carom_ball_of_balls(context, NULL, 1, &ball), CAROM_INVALID);
    assert_int_equal(carom_ball_of_triangle(context, AS_TRIANGLE(points), NULL), CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 3);
    carom_vec3 huge[3] = {{0x1p1020, 0, 0}, {-0x1p1020, 0, 0}, {0, 0x1p1020, -0x1p1020}};
    assert_ok(context, carom_ball_of_triangle(context, AS_TRIANGLE(huge), &ball));
    assert_true(ball.radius >= 0x1p1020 && ball.radius < 0x1.8p1020);
    assert_ok(context, carom_ball_of_points(context, huge, 3, &ball));
    assert_true(ball.radius >= 0x1p1020 && ball.radius < 0x1.8p1020);
    carom_vec3 least[2] = {{0x1p-1074, 0, 0}, {0, 0, 0}};
    assert_ok(context, carom_ball_of_points(context, least, 2, &ball));
    assert_true(ball.radius > 0.0 && ball.radius < 0x1p-1070);
    carom_context_destroy(context);
}

static void bits_are_golden(void **state) {
    (void)state;
    carom_random random = {5};
    uint64_t hash = 0;
    for (int i = 0; i < 4000; ++i) {
        carom_ball balls[30], ball;
        uint64_t bad;
        make_points(&random, 1, 30, balls, i % 2 == 0);
        assert_true(carom_ball_around_balls(balls, 1 + (uint64_t)i % 30, &ball, &bad));
        hash = test_hash_numbers(&ball, sizeof(ball), "8", hash);
    }
    test_golden("distance.txt", "ball_of_balls", hash);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_enclosed_tightly),
        cmocka_unit_test(balls_are_enclosed_tightly),
        cmocka_unit_test(triangles_are_enclosed_tightly_in_any_order),
        cmocka_unit_test(many_cospherical_points_end_soon),
        cmocka_unit_test(public_functions_check_and_answer),
        cmocka_unit_test(bits_are_golden),
    };
    return cmocka_run_group_tests_name("enclosing_ball", tests, NULL, NULL);
}
