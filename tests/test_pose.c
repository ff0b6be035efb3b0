/* SPDX-License-Identifier: MIT */
/* Poses: the written formula, bit for bit, and rotations that are rotations. One thread. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "geom/pose.h"

static carom_pose random_pose(carom_random *random) {
    carom_pose pose;
    double *x = &pose.q.w;
    for (int i = 0; i < 7; ++i) x[i] = carom_random_normal(random);
    return pose;
}

static void nothing_and_zero_are_the_identity(void **state) {
    (void)state;
    carom_pose zero = {0}, unit = {.q.w = 1.0}, moved = {.t = {1.0, 2.0, 3.0}};
    carom_frame frames[] = {carom_frame_make(NULL), carom_frame_make(&zero),
                            carom_frame_make(&unit)};
    carom_vec3 p = {0.1, -0.2, 1e300};
    for (size_t i = 0; i < COUNT_OF(frames); ++i) {
        for (int j = 0; j < 9; ++j) assert_true(frames[i].r[j] == (j % 4 == 0 ? 1.0 : 0.0));
        carom_vec3 q = carom_frame_apply(&frames[i], p);
        assert_true(q.x == p.x && q.y == p.y && q.z == p.z);
    }
    carom_frame f = carom_frame_make(&moved);
    carom_vec3 q = carom_frame_apply(&f, (carom_vec3){0.5, 0.5, 0.5});
    assert_true(q.x == 1.5 && q.y == 2.5 && q.z == 3.5);
}

static void quarter_turns_are_exact(void **state) {
    (void)state;
    /* About z by 180 degrees, and about (1, 1, 1) by 120: x to y, y to z, z to x. */
    carom_pose half = {.q.z = -3.0}, third = {.q.w = 2.0, .q.x = 2.0, .q.y = 2.0, .q.z = 2.0};
    carom_frame f = carom_frame_make(&half), g = carom_frame_make(&third);
    carom_vec3 p = carom_frame_apply(&f, (carom_vec3){1.0, 2.0, 3.0});
    carom_vec3 q = carom_frame_apply(&g, (carom_vec3){1.0, 2.0, 3.0});
    assert_true(p.x == -1.0 && p.y == -2.0 && p.z == 3.0);
    assert_true(q.x == 3.0 && q.y == 1.0 && q.z == 2.0);
}

static void rotations_keep_lengths_and_angles(void **state) {
    (void)state;
    carom_random random = {31};
    for (int i = 0; i < TEST_CASES(20000); ++i) {
        carom_pose pose = random_pose(&random);
        carom_frame f = carom_frame_make(&pose);
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) {
                double dot = f.r[3 * a] * f.r[3 * b] + f.r[3 * a + 1] * f.r[3 * b + 1] +
                             f.r[3 * a + 2] * f.r[3 * b + 2];
                assert_true(fabs(dot - (a == b)) < 4e-15);
            }
        carom_vec3 x = {f.r[0], f.r[3], f.r[6]}, y = {f.r[1], f.r[4], f.r[7]};
        carom_vec3 z = carom_vec_cross(x, y); /* no mirror image */
        assert_true(fabs(z.x - f.r[2]) + fabs(z.y - f.r[5]) + fabs(z.z - f.r[8]) < 4e-15);
    }
}

/* The size of the quaternion does not matter, to the last bit where it is a power of two. */
static void quaternions_of_any_size_give_the_same_bits(void **state) {
    (void)state;
    carom_random random = {32};
    for (int i = 0; i < TEST_CASES(5000); ++i) {
        carom_pose pose = random_pose(&random);
        double *x = &pose.q.w;
        for (int j = 0; j < 4; ++j) x[j] = (double)(float)x[j]; /* survives subnormals */
        carom_frame f = carom_frame_make(&pose);
        int k = (int)(carom_random_next(&random) % 2000) - 1000;
        for (int j = 0; j < 4; ++j) x[j] = ldexp(x[j], k);
        carom_frame g = carom_frame_make(&pose);
        for (int j = 0; j < 9; ++j) assert_true(isfinite(f.r[j]) && f.r[j] == g.r[j]);
    }
    carom_pose least = {.q.x = 0x1p-1074}, most = {.q.x = 0x1.fffffffffffffp1023};
    carom_frame f = carom_frame_make(&least), g = carom_frame_make(&most);
    assert_memory_equal(&f, &g, sizeof(f));
    assert_true(f.r[0] == 1.0 && f.r[4] == -1.0 && f.r[8] == -1.0);
}

static void points_move_by_the_written_formula(void **state) {
    (void)state;
    carom_random random = {33};
    uint64_t hash = 0, mallocs = test_malloc_count();
    for (int i = 0; i < 20000; ++i) {
        carom_pose pose = random_pose(&random);
        carom_frame f = carom_frame_make(&pose);
        carom_vec3 p = {carom_random_normal(&random), carom_random_normal(&random),
                        carom_random_normal(&random)};
        carom_vec3 q = carom_frame_apply(&f, p);
        /* volatile: each operation by itself, rounded to double */
        volatile double sum = f.r[0] * p.x, y = f.r[1] * p.y, z = f.r[2] * p.z;
        sum = sum + y;
        sum = sum + z;
        sum = sum + pose.t.x;
        assert_true(q.x == sum);
        hash = test_hash_numbers(&q, sizeof(q), "8", hash);
    }
    assert_int_equal(test_malloc_count(), mallocs);
    test_golden("geom.txt", "pose", hash);
}

static void matrices_become_the_pose_they_came_from(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {77};
    for (int i = 0; i < 20000; ++i) {
        carom_pose pose = random_pose(&random), back;
        if (i % 3 == 1) pose.q.w *= 1e-3; /* near half turns */
        if (i % 3 == 2) pose.q.w = 0.0, pose.q.x *= 1e-6;
        carom_frame f = carom_frame_make(&pose);
        double m[12];
        for (int k = 0; k < 12; ++k) m[k] = k % 4 < 3 ? f.r[3 * (k / 4) + k % 4] : (&f.t.x)[k / 4];
        assert_ok(context, carom_pose_from_matrix(context, m, &back));
        double both[2][16] = {{0}};
        carom_pose many[2];
        for (int k = 0; k < 2; ++k) memcpy(both[k], m, sizeof(m)), both[k][15] = 1.0;
        assert_ok(context, carom_pose_from_matrices(context, both[0], 4, 2, many));
        assert_memory_equal(&many[0], &back, sizeof(back));
        assert_memory_equal(&many[1], &back, sizeof(back));
        carom_frame g = carom_frame_make(&back);
        for (int k = 0; k < 9; ++k) assert_true(fabs(f.r[k] - g.r[k]) < 3e-15);
        assert_true(g.t.x == f.t.x && g.t.y == f.t.y && g.t.z == f.t.z);
    }
    carom_context_destroy(context);
}

static void matrices_that_are_no_rotations_are_refused(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_pose pose;
    const double unit[12] = {1, 0, 0, 5, 0, 1, 0, 6, 0, 0, 1, 7};
    static const struct {
        int at;
        double value;
    } bad[] = {{0, 2.0}, {0, -1.0}, {1, 0.5}, {5, 1.001}, {10, 0.0}, {6, 1e300}, {10, -1.0}};
    for (size_t i = 0; i < COUNT_OF(bad); ++i) {
        double m[12];
        memcpy(m, unit, sizeof(m));
        m[bad[i].at] = bad[i].value;
        assert_fails(context, carom_pose_from_matrix(context, m, &pose), CAROM_BAD_INPUT,
                     "no rotation");
    }
    for (int k = 0; k < 12; ++k) {
        double m[12];
        memcpy(m, unit, sizeof(m));
        m[k] = k % 2 == 0 ? (double)NAN : (double)INFINITY;
        assert_fails(context, carom_pose_from_matrix(context, m, &pose), CAROM_BAD_INPUT, "finite");
    }
    double three[3][12], four[2][16] = {{0}};
    carom_pose poses[3] = {0};
    for (int k = 0; k < 3; ++k) memcpy(three[k], unit, sizeof(unit));
    three[2][5] = 2.0;
    assert_fails(context, carom_pose_from_matrices(context, three[0], 3, 3, poses), CAROM_BAD_INPUT,
                 "matrix 2: the left three columns are no rotation");
    assert_true(poses[1].t.z == 7.0 && poses[2].q.w == 0.0);
    for (int k = 0; k < 2; ++k) memcpy(four[k], unit, sizeof(unit));
    four[0][15] = 1.0;
    assert_fails(context, carom_pose_from_matrices(context, four[0], 4, 2, poses), CAROM_BAD_INPUT,
                 "matrix 1: the last row");
    double rounded[12] = {0.8660254, -0.5, 0, 1, 0.5, 0.8660254, 0, 2, 0, 0, 1, 3};
    assert_ok(context, carom_pose_from_matrix(context, rounded, &pose));
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_and_zero_are_the_identity),
        cmocka_unit_test(matrices_become_the_pose_they_came_from),
        cmocka_unit_test(matrices_that_are_no_rotations_are_refused),
        cmocka_unit_test(quarter_turns_are_exact),
        cmocka_unit_test(rotations_keep_lengths_and_angles),
        cmocka_unit_test(quaternions_of_any_size_give_the_same_bits),
        cmocka_unit_test(points_move_by_the_written_formula),
    };
    return cmocka_run_group_tests_name("pose", tests, NULL, NULL);
}
