/* SPDX-License-Identifier: MIT */
/* Poses composed, inverted, applied, made from angles and interpolated, beside matrices in long
 * double that are made from the definitions, at scales from 1e-300 to 1e300. One thread. */
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "geom/length.h"
#include "geom/pose.h"

TEST_CONTEXT(1)

typedef long double real;

/* What the header promises for each element of a rotation, and of a distance. */
#define E 1e-15L

/* ---- oracle ---------------------------------------------------------------------------------- */

typedef struct matrix {
    real r[3][3];
} matrix;

/* The rotation of a quaternion of any length; all zero is the identity. */
static matrix matrix_of(carom_quat q) {
    real x[4] = {(real)q.w, (real)q.x, (real)q.y, (real)q.z}, most = 0.0L, square = 0.0L;
    for (int i = 0; i < 4; ++i) most = fmaxl(most, fabsl(x[i]));
    if (most == 0.0L) x[0] = most = 1.0L;
    for (int i = 0; i < 4; ++i) x[i] /= most, square += x[i] * x[i];
    real w = x[0], a = x[1], b = x[2], c = x[3], k = 2.0L / square;
    return (matrix){{{1.0L - k * (b * b + c * c), k * (a * b - w * c), k * (a * c + w * b)},
                     {k * (a * b + w * c), 1.0L - k * (a * a + c * c), k * (b * c - w * a)},
                     {k * (a * c - w * b), k * (b * c + w * a), 1.0L - k * (a * a + b * b)}}};
}

static matrix product(matrix a, matrix b) {
    matrix m;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            m.r[i][k] = a.r[i][0] * b.r[0][k] + a.r[i][1] * b.r[1][k] + a.r[i][2] * b.r[2][k];
    return m;
}

/* Rodrigues: the axis has any length. */
static matrix about(const real axis[3], real angle) {
    real most = fmaxl(fabsl(axis[0]), fmaxl(fabsl(axis[1]), fabsl(axis[2]))), n[3], square = 0.0L;
    for (int i = 0; i < 3; ++i) n[i] = axis[i] / most, square += n[i] * n[i];
    for (int i = 0; i < 3; ++i) n[i] /= sqrtl(square);
    real s = sinl(angle), c = cosl(angle);
    matrix m;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) m.r[i][k] = n[i] * n[k] * (1.0L - c) + (i == k ? c : 0.0L);
    for (int i = 0; i < 3; ++i) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        m.r[j][k] -= s * n[i];
        m.r[k][j] += s * n[i];
    }
    return m;
}

static real matrix_error(matrix a, matrix b) {
    real most = 0.0L;
    for (int i = 0; i < 9; ++i) {
        real off = fabsl(a.r[i / 3][i % 3] - b.r[i / 3][i % 3]);
        if (!(off <= most)) most = off; /* NaN stays */
    }
    return most;
}

static real length_of(carom_vec3 v) {
    return sqrtl((real)v.x * (real)v.x + (real)v.y * (real)v.y + (real)v.z * (real)v.z);
}

/* The largest part of R v + t - x, and |v| + |t|. */
static real point_error(matrix m, carom_vec3 v, carom_vec3 t, carom_vec3 x, real *size) {
    real off = 0.0L;
    for (int i = 0; i < 3; ++i) {
        real exact =
            m.r[i][0] * (real)v.x + m.r[i][1] * (real)v.y + m.r[i][2] * (real)v.z + (real)(&t.x)[i];
        off = fmaxl(off, fabsl(exact - (real)(&x.x)[i]));
    }
    *size = length_of(v) + length_of(t);
    return off;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static double power_of_ten(carom_random *random, int low, int high) {
    int e = low + (int)(carom_random_next(random) % (uint64_t)(high - low + 1));
    return pow(10.0, e);
}

static carom_vec3 random_vec(carom_random *random, double size) {
    return (carom_vec3){size * carom_random_normal(random), size * carom_random_normal(random),
                        size * carom_random_normal(random)};
}

/* Of any size: general, near a half turn, nearly none, about one axis, zero. */
static carom_quat random_quat(carom_random *random) {
    double size = power_of_ten(random, -300, 298);
    double q[4];
    for (int i = 0; i < 4; ++i) q[i] = carom_random_normal(random);
    switch (carom_random_next(random) % 8) {
    case 0:
        q[0] *= power_of_ten(random, -20, -1);
        break;
    case 1:
        for (int i = 1; i < 4; ++i) q[i] *= power_of_ten(random, -20, -1);
        break;
    case 2:
        for (int i = 1; i < 4; ++i) q[i] = i == 2 ? q[i] : 0.0;
        break;
    case 3:
        for (int i = 0; i < 4; ++i) q[i] = (double)(int)q[i]; /* small integers, often zero */
        break;
    default:
        break;
    }
    return (carom_quat){size * q[0], size * q[1], size * q[2], size * q[3]};
}

/* Translations of one size for all of a case: the bounds are relative to the larger. */
static carom_pose random_pose(carom_random *random, double size) {
    carom_pose pose = {random_quat(random), {0.0, 0.0, 0.0}};
    if (carom_random_next(random) % 8 != 0) pose.t = random_vec(random, size);
    return pose;
}

/* ---- algebra --------------------------------------------------------------------------------- */

static void composed_poses_apply_one_after_the_other(void **state) {
    (void)state;
    if (!test_has_long_double()) skip();
    carom_random random = {411};
    real worst_r = 0.0L, worst_t = 0.0L;
    for (int i = 0; i < TEST_CASES(40000); ++i) {
        double size = power_of_ten(&random, -200, 200);
        carom_pose a = random_pose(&random, size), b = random_pose(&random, size), c, same = a;
        b.t = random_vec(&random, size * power_of_ten(&random, -20, 20));
        assert_ok(context, carom_pose_compose(context, &a, &b, &c));
        matrix ra = matrix_of(a.q), rb = matrix_of(b.q);
        real extent, off_r = matrix_error(matrix_of(c.q), product(ra, rb));
        real off_t = point_error(ra, b.t, a.t, c.t, &extent);
        worst_r = fmaxl(worst_r, off_r);
        if (extent > 0.0L) worst_t = fmaxl(worst_t, off_t / extent);
        assert_true(off_r <= E);
        assert_true(off_t <= 2.0L * E * extent);
        carom_pose value = carom_pose_compose_value(&a, &b);
        assert_memory_equal(&value, &c, sizeof(c));
        assert_ok(context, carom_pose_compose(context, &same, &b, &same)); /* in place */
        assert_memory_equal(&same, &c, sizeof(c));
    }
    print_message("compose: rotation %.2Lg, translation %.2Lg\n", worst_r, worst_t);
}

static void what_does_not_turn_keeps_the_other(void **state) {
    (void)state;
    carom_random random = {412};
    const carom_pose zero = {0}, one = {.q.w = -1e300};
    const carom_pose *const none[] = {NULL, &zero, &one};
    for (int i = 0; i < TEST_CASES(10000); ++i) {
        carom_pose a = random_pose(&random, 1.0);
        if (i % 16 == 0) a.q = (carom_quat){0x1p-1074, 0x1p-1073, 0.0, 0x1.8p-1022};
        for (size_t k = 0; k < COUNT_OF(none); ++k) {
            carom_pose left = carom_pose_compose_value(none[k], &a);
            carom_pose right = carom_pose_compose_value(&a, none[k]);
            carom_frame f = carom_frame_make(&a), g = carom_frame_make(&left);
            carom_frame h = carom_frame_make(&right);
            assert_memory_equal(f.r, g.r, sizeof(f.r));
            assert_memory_equal(f.r, h.r, sizeof(f.r));
            assert_true(left.t.x == a.t.x && left.t.y == a.t.y && left.t.z == a.t.z);
            assert_true(right.t.x == a.t.x && right.t.y == a.t.y && right.t.z == a.t.z);
        }
    }
    carom_pose both = carom_pose_compose_value(NULL, NULL);
    assert_memory_equal(&both, &zero, sizeof(both));
}

static void an_inverse_undoes_its_pose(void **state) {
    (void)state;
    if (!test_has_long_double()) skip();
    carom_random random = {413};
    real worst = 0.0L;
    for (int i = 0; i < TEST_CASES(40000); ++i) {
        double size = power_of_ten(&random, -200, 200);
        carom_pose a = random_pose(&random, size), b, again;
        assert_ok(context, carom_pose_invert(context, &a, &b));
        carom_frame f = carom_frame_make(&a), g = carom_frame_make(&b);
        for (int k = 0; k < 9; ++k) assert_true(f.r[k] == g.r[3 * (k % 3) + k / 3]);
        real extent;
        carom_vec3 none = {0.0, 0.0, 0.0}, back = {-b.t.x, -b.t.y, -b.t.z};
        real off = point_error(matrix_of(b.q), a.t, none, back, &extent);
        if (extent > 0.0L) worst = fmaxl(worst, off / extent);
        assert_true(off <= 2.0L * E * extent);
        assert_ok(context, carom_pose_invert(context, &b, &again));
        assert_true(again.q.w == a.q.w && again.q.x == a.q.x && again.q.y == a.q.y &&
                    again.q.z == a.q.z);
        carom_pose value = carom_pose_invert_value(&a), unit = carom_pose_compose_value(&b, &a);
        assert_memory_equal(&value, &b, sizeof(b));
        assert_true(matrix_error(matrix_of(unit.q), matrix_of((carom_quat){1, 0, 0, 0})) <= E);
        assert_true((real)carom_vec_largest(unit.t) <= 3.0L * E * extent);
    }
    print_message("invert: translation %.2Lg\n", worst);
    carom_pose zero = {0}, none = carom_pose_invert_value(NULL);
    assert_memory_equal(&none, &zero, sizeof(none));
}

/* ---- points ---------------------------------------------------------------------------------- */

/* ((r0 x + r1 y) + r2 z) + t, each operation rounded by itself. */
static double written(const double *r, const double *p, double t, bool move) {
    volatile double sum = r[0] * p[0], y = r[1] * p[1], z = r[2] * p[2];
    sum = sum + y;
    sum = sum + z;
    if (move) sum = sum + t;
    return sum;
}

static void points_move_by_the_definition(void **state) {
    (void)state;
    enum { POINTS = 7 };
    carom_random random = {414};
    for (int i = 0; i < TEST_CASES(5000); ++i) {
        double size = power_of_ten(&random, -200, 200);
        carom_pose pose = random_pose(&random, size);
        const carom_pose *given = i % 50 == 0 ? NULL : &pose;
        carom_vec3 points[POINTS], moved[POINTS], turned[POINTS];
        for (int k = 0; k < POINTS; ++k)
            points[k] = random_vec(&random, size * power_of_ten(&random, -9, 9));
        double m[12];
        assert_ok(context, carom_pose_to_matrix(context, given, m));
        carom_frame f = carom_frame_make(given);
        for (int k = 0; k < 12; ++k)
            assert_true(m[k] == (k % 4 < 3 ? f.r[3 * (k / 4) + k % 4] : (&f.t.x)[k / 4]));
        assert_ok(context, carom_pose_apply(context, given, points, POINTS, moved));
        assert_ok(context, carom_pose_rotate(context, given, points, POINTS, turned));
        for (int k = 0; k < POINTS; ++k) {
            for (int axis = 0; axis < 3; ++axis) {
                const double *r = &m[4 * axis], *p = &points[k].x;
                assert_true((&moved[k].x)[axis] == written(r, p, m[4 * axis + 3], true));
                assert_true((&turned[k].x)[axis] == written(r, p, 0.0, false));
            }
            carom_vec3 a = carom_pose_apply_value(given, &points[k]);
            carom_vec3 b = carom_pose_rotate_value(given, &points[k]);
            assert_memory_equal(&a, &moved[k], sizeof(a));
            assert_memory_equal(&b, &turned[k], sizeof(b));
        }
        carom_vec3 copy[POINTS]; /* in place */
        memcpy(copy, points, sizeof(copy));
        assert_ok(context, carom_pose_apply(context, given, points, POINTS, points));
        assert_memory_equal(points, moved, sizeof(points));
        assert_ok(context, carom_pose_rotate(context, given, copy, POINTS, copy));
        assert_memory_equal(copy, turned, sizeof(copy));
    }
    assert_ok(context, carom_pose_apply(context, NULL, NULL, 0, NULL));
    assert_ok(context, carom_pose_rotate(context, NULL, NULL, 0, NULL));
}

static void matrices_come_back(void **state) {
    (void)state;
    carom_random random = {415};
    for (int i = 0; i < TEST_CASES(10000); ++i) {
        carom_pose pose = random_pose(&random, power_of_ten(&random, -200, 200)), back;
        double m[12];
        assert_ok(context, carom_pose_to_matrix(context, &pose, m));
        assert_ok(context, carom_pose_from_matrix(context, m, &back));
        assert_true(matrix_error(matrix_of(pose.q), matrix_of(back.q)) < 3.0L * E);
        assert_memory_equal(&back.t, &pose.t, sizeof(back.t));
    }
}

/* ---- angles ---------------------------------------------------------------------------------- */

static double random_angle(carom_random *random) {
    double angle = carom_random_between(random, -7.0, 7.0);
    switch (carom_random_next(random) % 6) {
    case 0:
        return angle * power_of_ten(random, -300, test_library_reduces_angles() ? 15 : 0);
    case 1: /* quarter turns and their neighbours */
        return (double)(int)angle * 1.5707963267948966;
    default:
        return angle;
    }
}

static void an_axis_and_an_angle_make_a_rotation(void **state) {
    (void)state;
    carom_random random = {416};
    real worst = 0.0L;
    for (int i = 0; i < TEST_CASES(40000); ++i) {
        carom_vec3 axis = random_vec(&random, power_of_ten(&random, -300, 300));
        if (i % 8 == 0) axis.x = axis.y = 0.0;
        if (i % 8 == 1) axis = (carom_vec3){axis.x, axis.x * 1e-200, 0x1p-1074};
        if (i % 64 == 2) axis = (carom_vec3){0x1p-1074, -0x1p-1073, 0.0};
        double angle = random_angle(&random);
        carom_pose pose;
        assert_ok(context, carom_pose_from_axis_angle(context, &axis, angle, &pose));
        const real a[3] = {(real)axis.x, (real)axis.y, (real)axis.z};
        real off = matrix_error(matrix_of(pose.q), about(a, (real)angle));
        worst = fmaxl(worst, off);
        assert_true(off <= E);
        assert_true(pose.t.x == 0.0 && pose.t.y == 0.0 && pose.t.z == 0.0);
        carom_pose value = carom_pose_from_axis_angle_value(&axis, angle);
        assert_memory_equal(&value, &pose, sizeof(pose));
    }
    print_message("axis and angle: %.2Lg\n", worst);
    /* Counter-clockwise: a quarter turn about z takes x to y. */
    const carom_vec3 z = {0.0, 0.0, 1.0}, x = {1.0, 0.0, 0.0};
    carom_pose quarter = carom_pose_from_axis_angle_value(&z, 1.5707963267948966);
    carom_vec3 y = carom_pose_apply_value(&quarter, &x);
    assert_true(fabs(y.x) < 1e-15 && fabs(y.y - 1.0) < 1e-15 && y.z == 0.0);
}

static void roll_pitch_and_yaw_are_those_of_urdf(void **state) {
    (void)state;
    static const real axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    carom_random random = {417};
    real worst = 0.0L;
    for (int i = 0; i < TEST_CASES(40000); ++i) {
        double angle[3];
        for (int k = 0; k < 3; ++k) angle[k] = i % 9 == k ? 0.0 : random_angle(&random);
        if (i % 9 == 3) angle[1] = 1.5707963267948966; /* the axes of roll and yaw coincide */
        carom_pose pose;
        assert_ok(context, carom_pose_from_euler(context, angle[0], angle[1], angle[2], &pose));
        matrix m = product(about(axes[2], (real)angle[2]),
                           product(about(axes[1], (real)angle[1]), about(axes[0], (real)angle[0])));
        real off = matrix_error(matrix_of(pose.q), m);
        worst = fmaxl(worst, off);
        assert_true(off <= E);
        carom_pose value = carom_pose_from_euler_value(angle[0], angle[1], angle[2]);
        assert_memory_equal(&value, &pose, sizeof(pose));
    }
    print_message("Euler angles: %.2Lg\n", worst);
}

/* ---- between two ----------------------------------------------------------------------------- */

/* The rotation from R to S, as axis times sine and cosine of half its angle, then the part of it.
 * Up to rounding, half a turn is as long the other way round. */
static matrix slerp(carom_quat from, carom_quat to, real time, bool other_way) {
    real p[4] = {(real)from.w, (real)from.x, (real)from.y, (real)from.z};
    real q[4] = {(real)to.w, (real)to.x, (real)to.y, (real)to.z}, *both[2] = {p, q};
    for (int b = 0; b < 2; ++b) {
        real most = 0.0L, square = 0.0L;
        for (int i = 0; i < 4; ++i) most = fmaxl(most, fabsl(both[b][i]));
        if (most == 0.0L) both[b][0] = most = 1.0L;
        for (int i = 0; i < 4; ++i) both[b][i] /= most, square += both[b][i] * both[b][i];
        for (int i = 0; i < 4; ++i) both[b][i] /= sqrtl(square);
    }
    /* q times p conjugated */
    real w = q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3];
    real v[3] = {-q[0] * p[1] + q[1] * p[0] - q[2] * p[3] + q[3] * p[2],
                 -q[0] * p[2] + q[1] * p[3] + q[2] * p[0] - q[3] * p[1],
                 -q[0] * p[3] - q[1] * p[2] + q[2] * p[1] + q[3] * p[0]};
    real length = sqrtl(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if ((w < 0.0L) != (other_way && fabsl(w) < E)) {
        w = -w;
        for (int i = 0; i < 3; ++i) v[i] = -v[i];
    }
    if (length == 0.0L) return matrix_of(from);
    return product(about(v, 2.0L * atan2l(length, w) * time), matrix_of(from));
}

static void poses_between_two_turn_evenly(void **state) {
    (void)state;
    carom_random random = {418};
    real worst_r = 0.0L, worst_t = 0.0L;
    for (int i = 0; i < TEST_CASES(40000); ++i) {
        double size = power_of_ten(&random, -200, 200), time = carom_random_uniform(&random);
        carom_pose a = random_pose(&random, size), b = random_pose(&random, size), c;
        if (i % 4 == 0) { /* nearly the same rotation, said by nearly opposite quaternions */
            double k = -carom_random_between(&random, 0.5, 2.0),
                   near = power_of_ten(&random, -18, -3);
            b.q = (carom_quat){k * a.q.w, k * a.q.x, k * a.q.y * (1.0 + near), k * a.q.z};
        }
        assert_ok(context, carom_pose_interpolate(context, &a, &b, time, &c));
        matrix got = matrix_of(c.q);
        real off_r = fminl(matrix_error(got, slerp(a.q, b.q, (real)time, false)),
                           matrix_error(got, slerp(a.q, b.q, (real)time, true)));
        real off_t = 0.0L, extent = 0.0L;
        for (int k = 0; k < 3; ++k) {
            real from = (real)(&a.t.x)[k], to = (real)(&b.t.x)[k];
            off_t = fmaxl(off_t, fabsl(from + (to - from) * (real)time - (real)(&c.t.x)[k]));
            extent = fmaxl(extent, fmaxl(fabsl(from), fabsl(to)));
        }
        worst_r = fmaxl(worst_r, off_r);
        if (extent > 0.0L) worst_t = fmaxl(worst_t, off_t / extent);
        assert_true(off_r <= 3.0L * E);
        assert_true(off_t <= 2.0L * E * extent);
        carom_motion motion = {.from = a, .to = b};
        carom_pose same, value = carom_pose_interpolate_value(&a, &b, time);
        assert_ok(context, carom_motion_evaluate(context, &motion, time, &same));
        assert_memory_equal(&value, &c, sizeof(c));
        assert_memory_equal(&same, &c, sizeof(c));
        for (int end = 0; end < 2; ++end) {
            assert_ok(context, carom_pose_interpolate(context, &a, &b, end, &c));
            assert_memory_equal(&c, end == 0 ? &a : &b, sizeof(c));
        }
    }
    print_message("interpolate: rotation %.2Lg, translation %.2Lg\n", worst_r, worst_t);
    carom_pose half, to = {.q.w = 1.0, .t = {2.0, 4.0, 6.0}};
    assert_ok(context, carom_pose_interpolate(context, NULL, &to, 0.5, &half));
    assert_true(half.t.x == 1.0 && half.t.y == 2.0 && half.t.z == 3.0 && half.q.x == 0.0);
}

/* ---- bad input ------------------------------------------------------------------------------- */

static void what_is_not_finite_is_refused(void **state) {
    (void)state;
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 0x1p1021};
    for (int k = 0; k < 7; ++k)
        for (size_t b = 0; b < COUNT_OF(bad); ++b) {
            carom_pose pose = {.q.w = 1.0}, out = {.t.x = 7.0}, before = out;
            carom_vec3 point = {1.0, 2.0, 3.0}, moved = point;
            double m[12] = {7.0};
            (&pose.q.w)[k] = bad[b];
            if (k < 4 && isfinite(bad[b])) continue; /* a quaternion may be as large as that */
            carom_status statuses[] = {carom_pose_compose(context, &pose, NULL, &out),
                                       carom_pose_compose(context, NULL, &pose, &out),
                                       carom_pose_invert(context, &pose, &out),
                                       carom_pose_apply(context, &pose, &point, 1, &moved),
                                       carom_pose_rotate(context, &pose, &point, 1, &moved),
                                       carom_pose_interpolate(context, &pose, NULL, 0.5, &out),
                                       carom_pose_interpolate(context, NULL, &pose, 0.5, &out),
                                       carom_pose_to_matrix(context, &pose, m)};
            for (size_t i = 0; i < COUNT_OF(statuses); ++i)
                assert_int_equal(statuses[i], CAROM_BAD_INPUT);
            assert_memory_equal(&out, &before, sizeof(out));
            assert_memory_equal(&moved, &point, sizeof(moved));
            assert_true(m[0] == 7.0);
        }
    carom_vec3 points[3] = {{1, 2, 3}, {4, (double)NAN, 6}, {7, 8, 9}}, moved[3] = {{0}};
    assert_fails(context, carom_pose_apply(context, NULL, points, 3, moved), CAROM_BAD_INPUT,
                 "point 1 is (4, nan, 6)");
    assert_true(moved[0].x == 0.0);
    assert_fails(context, carom_pose_rotate(context, NULL, points, 3, moved), CAROM_BAD_INPUT,
                 "direction 1 is");
    carom_pose pose = {.t.x = 7.0};
    const carom_vec3 zero = {0}, z = {0, 0, 1};
    assert_fails(context, carom_pose_from_axis_angle(context, &zero, 1.0, &pose), CAROM_BAD_INPUT,
                 "the axis not zero");
    for (size_t b = 0; b < 3; ++b) {
        const carom_vec3 axis = {1.0, bad[b], 0.0};
        assert_fails(context, carom_pose_from_axis_angle(context, &axis, 1.0, &pose),
                     CAROM_BAD_INPUT, "the axis is");
        assert_fails(context, carom_pose_from_axis_angle(context, &z, bad[b], &pose),
                     CAROM_BAD_INPUT, "the angle");
        for (int k = 0; k < 3; ++k) {
            double a[3] = {0.1, 0.2, 0.3};
            a[k] = bad[b];
            assert_fails(context, carom_pose_from_euler(context, a[0], a[1], a[2], &pose),
                         CAROM_BAD_INPUT, "roll, pitch and yaw are");
        }
        assert_fails(context, carom_pose_interpolate(context, NULL, NULL, bad[b], &pose),
                     CAROM_BAD_INPUT, "the time is");
    }
    assert_fails(context, carom_pose_interpolate(context, NULL, NULL, -1e-300, &pose),
                 CAROM_BAD_INPUT, "the time is");
    assert_true(pose.t.x == 7.0);
    /* The largest that are allowed give something finite. */
    carom_pose large = {.q = {1e308, -1e308, 1e308, 1e308}, .t = {0x1p1020, -0x1p1020, 0x1p1020}},
               out;
    assert_ok(context, carom_pose_compose(context, &large, &large, &out));
    assert_true(isfinite(out.t.x + out.t.y + out.t.z) && isfinite(out.q.w));
    assert_ok(context, carom_pose_invert(context, &large, &out));
    assert_true(isfinite(out.t.x + out.t.y + out.t.z));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composed_poses_apply_one_after_the_other),
        cmocka_unit_test(what_does_not_turn_keeps_the_other),
        cmocka_unit_test(an_inverse_undoes_its_pose),
        cmocka_unit_test(points_move_by_the_definition),
        cmocka_unit_test(matrices_come_back),
        cmocka_unit_test(an_axis_and_an_angle_make_a_rotation),
        cmocka_unit_test(roll_pitch_and_yaw_are_those_of_urdf),
        cmocka_unit_test(poses_between_two_turn_evenly),
        cmocka_unit_test(what_is_not_finite_is_refused),
    };
    return cmocka_run_group_tests_name("pose_algebra", tests, set_up, tear_down);
}
