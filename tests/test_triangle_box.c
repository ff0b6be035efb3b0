/* SPDX-License-Identifier: MIT */
/* Triangle against box: "no" is always true, "yes" is only wrong where it is a matter of rounding.
 * The oracle tries the 13 axes in 113 bits: exact on lattices, and beyond doubt elsewhere.
 * One thread. */
#include <string.h>

#include "geom/triangle_box.h"
#include "tests/support/quad.h"
#include "tests/support/test.h"

/* Three points in a row as the triangle they are. */
#define AS_TRIANGLE(points) ((const carom_triangle *)(const void *)(points))

/* The largest gap over the axes, each as a part of the magnitudes that enter; `size` is what
 * entered the axis itself. */
static void gap_on(const carom_vec3 *t, const carom_bounds *box, quad3 axis, quad3 size,
                   quad *most) {
    quad first = 0, last = 0, low = 0, high = 0, sum = 0;
    const double *ends[2] = {&box->low.x, &box->high.x};
    quad direction[3] = {axis.x, axis.y, axis.z};
    quad weight[3] = {quad_abs(size.x), quad_abs(size.y), quad_abs(size.z)};
    for (int i = 0; i < 3; ++i) {
        quad at = quad3_dot(axis, quad3_sub(quad3_of(t[i]), quad3_of(t[0])));
        if (at < first) first = at;
        if (at > last) last = at;
        double from[3], origin[3];
        memcpy(from, &t[i], sizeof(from));
        memcpy(origin, &t[0], sizeof(origin));
        for (int k = 0; k < 3; ++k) sum += weight[k] * quad_abs((quad)from[k] - origin[k]);
        quad from_low = (quad)ends[0][i] - origin[i], from_high = (quad)ends[1][i] - origin[i];
        quad a = direction[i] * from_low, b = direction[i] * from_high;
        low += a < b ? a : b;
        high += a < b ? b : a;
        sum += weight[i] * (quad_abs(from_low) + quad_abs(from_high));
    }
    quad gap = first - high > low - last ? first - high : low - last;
    if (sum > 0 && gap / sum > *most) *most = gap / sum;
}

static quad largest_gap(const carom_vec3 *t, const carom_bounds *box) {
    static const quad3 units[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    quad most = -1;
    for (int i = 0; i < 3; ++i) {
        gap_on(t, box, units[i], units[i], &most);
        quad3 edge = quad3_sub(quad3_of(t[(i + 1) % 3]), quad3_of(t[i]));
        for (int k = 0; k < 3; ++k) {
            quad3 axis = quad3_cross(units[k], edge);
            gap_on(t, box, axis, axis, &most);
        }
    }
    quad3 u = quad3_sub(quad3_of(t[1]), quad3_of(t[0]));
    quad3 v = quad3_sub(quad3_of(t[2]), quad3_of(t[0]));
    quad3 size = {quad_abs(u.y * v.z) + quad_abs(u.z * v.y),
                  quad_abs(u.z * v.x) + quad_abs(u.x * v.z),
                  quad_abs(u.x * v.y) + quad_abs(u.y * v.x)};
    gap_on(t, box, quad3_cross(u, v), size, &most);
    return most;
}

static double coordinate(carom_random *random, bool whole) {
    return whole ? (double)(carom_random_next(random) % 9) - 4.0
                 : carom_random_between(random, -1.0, 1.0);
}

static carom_vec3 any_point(carom_random *random, bool whole) {
    double x = coordinate(random, whole), y = coordinate(random, whole);
    return carom_vec(x, y, coordinate(random, whole));
}

static carom_bounds any_box(carom_random *random, bool whole) {
    carom_vec3 p = any_point(random, whole), q = any_point(random, whole);
    carom_bounds box;
    box.low = carom_vec(CAROM_MIN(p.x, q.x), CAROM_MIN(p.y, q.y), CAROM_MIN(p.z, q.z));
    box.high = carom_vec(CAROM_MAX(p.x, q.x), CAROM_MAX(p.y, q.y), CAROM_MAX(p.z, q.z));
    return box;
}

static void lattice_cases_are_exact(void **state) {
    (void)state;
    carom_random random = {1};
    uint64_t hash = 0, meets = 0;
    for (int i = 0; i < 20000; ++i) {
        carom_vec3 t[3];
        for (int k = 0; k < 3; ++k) t[k] = any_point(&random, true);
        if (i % 5 == 0) t[2] = t[i % 2];
        if (i % 25 == 0) t[1] = t[0];
        carom_bounds box = any_box(&random, true);
        bool met = carom_triangle_meets_bounds(t, &box), truth = largest_gap(t, &box) <= 0;
        assert_int_equal(met, truth);
        hash = test_hash(&met, sizeof(met), hash);
        meets += met;
        /* Far away, the differences stay whole; scaled, they stay exact. */
        static const double scales[] = {0x1p300, 0x1p-300, 0x1p900, 0x1p-1000, 3.0};
        double scale = scales[i % 5], offset = i % 5 == 4 ? 3e6 : 0.0;
        carom_vec3 shift = carom_vec(offset, -offset, offset);
        for (int k = 0; k < 3; ++k) t[k] = carom_vec_add(carom_vec_scale(t[k], scale), shift);
        box.low = carom_vec_add(carom_vec_scale(box.low, scale), shift);
        box.high = carom_vec_add(carom_vec_scale(box.high, scale), shift);
        assert_int_equal(carom_triangle_meets_bounds(t, &box), truth);
    }
    assert_true(meets > 3000 && meets < 17000);
    test_golden("distance.txt", "triangle_box", hash);
}

static void check(const carom_vec3 *t, const carom_bounds *box, int counts[3]) {
    quad gap = largest_gap(t, box);
    bool met = carom_triangle_meets_bounds(t, box);
    if (!met && !(gap > 0)) fail_msg("missed an overlap");
    if (met && gap > 0x1p-46) fail_msg("a gap of %g not seen", (double)gap);
    ++counts[met ? (gap > 0 ? 1 : 2) : 0];
}

static void no_is_certain_and_yes_nearly(void **state) {
    (void)state;
    carom_random random = {2};
    int counts[3] = {0};
    for (int i = 0; i < TEST_CASES(10000); ++i) {
        carom_vec3 t[3];
        for (int k = 0; k < 3; ++k) t[k] = any_point(&random, false);
        if (i % 4 == 1) { /* a needle */
            double width = pow(10.0, carom_random_between(&random, -17.0, 0.0));
            t[2] = carom_vec_add(carom_vec_scale(carom_vec_add(t[0], t[1]), 0.5),
                                 carom_vec_scale(any_point(&random, false), width));
        }
        carom_bounds box = any_box(&random, false);
        check(t, &box, counts);
        /* Move the triangle so that a point of it is at a corner or edge of the box, nearly. */
        double x = carom_random_uniform(&random), y = (1.0 - x) * (i % 3) / 2.0;
        carom_vec3 at =
            carom_vec_add(t[0], carom_vec_add(carom_vec_scale(carom_vec_sub(t[1], t[0]), x),
                                              carom_vec_scale(carom_vec_sub(t[2], t[0]), y)));
        carom_vec3 to = carom_vec(i & 1 ? box.low.x : box.high.x, i & 2 ? box.low.y : box.high.y,
                                  i & 4 ? box.low.z : 0.5 * (box.low.z + box.high.z));
        double off = pow(10.0, carom_random_between(&random, -18.0, -10.0));
        carom_vec3 shift =
            carom_vec_add(carom_vec_sub(to, at), carom_vec_scale(any_point(&random, false), off));
        for (int k = 0; k < 3; ++k) t[k] = carom_vec_add(t[k], shift);
        check(t, &box, counts);
    }
    print_message("%d apart, %d meet, %d said to meet within rounding\n", counts[0], counts[2],
                  counts[1]);
    if (TEST_MANY_CASES) assert_true(counts[0] > TEST_CASES(1000) && counts[2] > TEST_CASES(1000));
}

static void odd_inputs(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_vec3 t[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    carom_bounds empty = {{1, 1, 1}, {-1, -1, -1}}, box = {{-1, -1, -1}, {1, 1, 1}}, away;
    bool meets = true;
    uint64_t before = test_malloc_count();
    assert_ok(context, carom_triangle_meets_box(context, AS_TRIANGLE(t), &empty, &meets));
    assert_false(meets);
    assert_ok(context, carom_triangle_meets_box(context, AS_TRIANGLE(t), &box, &meets));
    assert_true(meets);
    away = (carom_bounds){{5, 5, 5}, {6, 6, 6}};
    assert_ok(context, carom_triangle_meets_box(context, AS_TRIANGLE(t), &away, &meets));
    assert_false(meets);
    assert_int_equal(test_malloc_count(), before);
    t[1].x = (double)NAN;
    assert_true(carom_triangle_meets_bounds(t, &box));
    assert_fails(context, carom_triangle_meets_box(context, AS_TRIANGLE(t), &box, &meets),
                 CAROM_BAD_INPUT, "point 1 of the triangle");
    t[1].x = (double)INFINITY;
    assert_true(carom_triangle_meets_bounds(t, &box));
    t[1].x = 1.0;
    box.high.y = (double)INFINITY;
    assert_true(carom_triangle_meets_bounds(t, &box));
    assert_fails(context, carom_triangle_meets_box(context, AS_TRIANGLE(t), &box, &meets),
                 CAROM_BAD_INPUT, "upper end");
    test_asserts_begin();
    assert_int_equal(carom_triangle_meets_box(context, AS_TRIANGLE(t), NULL, &meets),
                     CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 1);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_cases_are_exact),
        cmocka_unit_test(no_is_certain_and_yes_nearly),
        cmocka_unit_test(odd_inputs),
    };
    return cmocka_run_group_tests_name("triangle_box", tests, NULL, NULL);
}
