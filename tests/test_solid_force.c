/* SPDX-License-Identifier: MIT */
/* Force and torque are minus the derivatives of the volume. One thread. */
#include <math.h>
#include <stdlib.h>

#include "tests/support/campaign.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

TEST_CONTEXT(1)

static carom_solid *make(carom_shape shape, uint64_t detail, double size) {
    carom_shape_def def = {.shape = shape, .detail = detail, .size = size};
    return shape_solid(context, &def, false);
}

static double volume_at(const carom_solid *a, const carom_solid *b, const carom_pose *pose) {
    carom_solid_result overlap;
    assert_ok(context, carom_solid_overlap(context, a, NULL, b, pose, NULL, &overlap));
    return overlap.volume;
}

static carom_pose shifted(carom_pose pose, int axis, double by) {
    double *t[3] = {&pose.t.x, &pose.t.y, &pose.t.z};
    *t[axis] += by;
    return pose;
}

static carom_vec3 rotate(const carom_pose *q, carom_vec3 p) {
    double n = q->q.w * q->q.w + q->q.x * q->q.x + q->q.y * q->q.y + q->q.z * q->q.z, s = 2 / n;
    carom_vec3 u = {q->q.y * p.z - q->q.z * p.y, q->q.z * p.x - q->q.x * p.z,
                    q->q.x * p.y - q->q.y * p.x};
    carom_vec3 v = {q->q.y * u.z - q->q.z * u.y, q->q.z * u.x - q->q.x * u.z,
                    q->q.x * u.y - q->q.y * u.x};
    return (carom_vec3){p.x + s * (q->q.w * u.x + v.x), p.y + s * (q->q.w * u.y + v.y),
                        p.z + s * (q->q.w * u.z + v.z)};
}

/* Turned by an angle about an axis of the world through the posed centroid. */
static carom_pose turned(carom_pose pose, carom_vec3 centroid, int axis, double angle) {
    double x[3] = {0, 0, 0}, w = cos(0.5 * angle);
    x[axis] = sin(0.5 * angle);
    carom_vec3 r = rotate(&pose, centroid);
    carom_vec3 c = {r.x + pose.t.x, r.y + pose.t.y, r.z + pose.t.z};
    carom_pose q = pose;
    q.q.w = w * pose.q.w - x[0] * pose.q.x - x[1] * pose.q.y - x[2] * pose.q.z;
    q.q.x = w * pose.q.x + x[0] * pose.q.w + x[1] * pose.q.z - x[2] * pose.q.y;
    q.q.y = w * pose.q.y + x[1] * pose.q.w + x[2] * pose.q.x - x[0] * pose.q.z;
    q.q.z = w * pose.q.z + x[2] * pose.q.w + x[0] * pose.q.y - x[1] * pose.q.x;
    r = rotate(&q, centroid);
    q.t = (carom_vec3){c.x - r.x, c.y - r.y, c.z - r.z};
    return q;
}

static void check(const char *what, uint64_t i, double value, double expected, double scale) {
    if (!(fabs(value - expected) <= 1e-6 * scale))
        fail_msg("%llu: %s %.12g, by differences %.12g (of %g)", (unsigned long long)i, what, value,
                 expected, scale);
}

static void force_and_torque_are_derivatives(void **state) {
    (void)state;
    carom_solid *solids[] = {
        make(CAROM_SHAPE_SPHERE, 3, 1.0), make(CAROM_SHAPE_TORUS, 24, 1.0),
        make(CAROM_SHAPE_KNOT, 64, 0.8),  make(CAROM_SHAPE_BOX, 2, 0.7),
        make(CAROM_SHAPE_CONE, 20, 0.9),  make(CAROM_SHAPE_CHAZELLE, 4, 1.0),
    };
    carom_random random = {1};
    uint64_t in_contact = 0;
    double h = 0x1p-13; /* truncation h^2, rounding 1e-15 / h */
    for (uint64_t i = 0; i < (campaign_is_long() ? 1000 : 60); ++i) {
        const carom_solid *a = solids[carom_random_next(&random) % COUNT_OF(solids)];
        const carom_solid *b = solids[carom_random_next(&random) % COUNT_OF(solids)];
        carom_pose pose = {{carom_random_normal(&random), carom_random_normal(&random),
                            carom_random_normal(&random), carom_random_normal(&random)},
                           {0.6 * carom_random_normal(&random), 0.6 * carom_random_normal(&random),
                            0.6 * carom_random_normal(&random)}};
        carom_solid_result overlap;
        carom_solid_info info;
        assert_ok(context, carom_solid_get_info(b, &info));
        assert_ok(context, carom_solid_overlap(context, a, NULL, b, &pose, NULL, &overlap));
        in_contact += overlap.volume > 0.0;
        const double force[3] = {overlap.force.x, overlap.force.y, overlap.force.z};
        const double torque[3] = {overlap.torque.x, overlap.torque.y, overlap.torque.z};
        for (int k = 0; k < 3; ++k) {
            /* The volume is a piecewise polynomial; Richardson's step takes the next term out. */
            double by_shift[2], by_turn[2];
            for (int s = 0; s < 2; ++s) {
                double step = s == 0 ? h : 0.5 * h;
                carom_pose up = shifted(pose, k, step), down = shifted(pose, k, -step);
                by_shift[s] = -(volume_at(a, b, &up) - volume_at(a, b, &down)) / (2 * step);
                up = turned(pose, info.centroid, k, step);
                down = turned(pose, info.centroid, k, -step);
                by_turn[s] = -(volume_at(a, b, &up) - volume_at(a, b, &down)) / (2 * step);
            }
            double scale = 1.0 + overlap.area;
            check("force", i, force[k], (4 * by_shift[1] - by_shift[0]) / 3, scale);
            check("torque", i, torque[k], (4 * by_turn[1] - by_turn[0]) / 3, scale);
        }
    }
    assert_true(in_contact > 20);
    for (size_t i = 0; i < COUNT_OF(solids); ++i) carom_solid_destroy(solids[i]);
}

/* Two fine spheres: the lens of two balls. */
static void spheres_push_as_balls_do(void **state) {
    (void)state;
    carom_solid *sphere = make(CAROM_SHAPE_SPHERE, 6, 1.0);
    for (int i = 1; i < 10; ++i) {
        carom_pose pose = {.t = {0.12 * i, 0.08 * i, 0.05 * i}};
        double distance = sqrt(pose.t.x * pose.t.x + pose.t.y * pose.t.y + pose.t.z * pose.t.z);
        carom_ball one = {{0, 0, 0}, 1.0}, other = {pose.t, 1.0};
        carom_lens lens;
        carom_solid_result overlap;
        assert_ok(context, carom_ball_lens(context, &one, &other, &lens));
        assert_ok(context,
                  carom_solid_overlap(context, sphere, NULL, sphere, &pose, NULL, &overlap));
        assert_true(fabs(overlap.volume - lens.volume) < 5e-3);
        double push = -lens.derivative / distance; /* away from a */
        assert_true(fabs(overlap.force.x - push * pose.t.x) < 2e-2);
        assert_true(fabs(overlap.force.y - push * pose.t.y) < 2e-2);
        assert_true(fabs(overlap.force.z - push * pose.t.z) < 2e-2);
        assert_true(fabs(overlap.centroid.x - 0.5 * pose.t.x) < 2e-3);
        assert_true(fabs(overlap.torque.x) + fabs(overlap.torque.y) + fabs(overlap.torque.z) <
                    2e-2);
    }
    carom_solid_destroy(sphere);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(force_and_torque_are_derivatives),
        cmocka_unit_test(spheres_push_as_balls_do),
    };
    return cmocka_run_group_tests_name("solid_force", tests, set_up, tear_down);
}
