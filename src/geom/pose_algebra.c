/* SPDX-License-Identifier: MIT */
/* Poses composed, inverted, applied, and made from angles.
 *
 * Products of quaternions are scaled by powers of two and never divided: poses need no length 1,
 * and each division would round once more. */
#include "base/context.h"
#include "base/math.h"
#include "geom/motion.h"
#include "geom/points_check.h"

#define BAD_POSE  "quaternions must be finite, translations at most 2^1020 in size"
#define BAD_AXIS  "axis and angle must be finite, the axis not zero"
#define BAD_ANGLE "angles must be finite"
#define BAD_TIME  "the motion must be finite and at most 1e300 in size, the time from 0 to 1"

static const carom_pose
    pose_algebra_identity; /* all zero; the result of a value form after a caller's bug */

/* ---- Input ----------------------------------------------------------------------------------- */

static bool usable_pose(const carom_pose *pose) {
    return pose == NULL || (isfinite(pose->q.w) && isfinite(pose->q.x) && isfinite(pose->q.y) &&
                            isfinite(pose->q.z) && carom_point_is_in_range(pose->t));
}

static carom_status check_pose(carom_context *context, const carom_pose *pose, const char *what) {
    if (usable_pose(pose)) return CAROM_OK;
    return carom_fail(context, CAROM_BAD_INPUT,
                      "%s has q (%g, %g, %g, %g) and t (%g, %g, %g); " BAD_POSE, what, pose->q.w,
                      pose->q.x, pose->q.y, pose->q.z, pose->t.x, pose->t.y, pose->t.z);
}

static carom_status pose_algebra_check_points(carom_context *context, const carom_vec3 *points,
                                              uint64_t count, const char *what) {
    for (uint64_t i = 0; i < count; ++i)
        if (!carom_point_is_in_range(points[i]))
            return carom_fail(context, CAROM_BAD_INPUT,
                              "%s %llu is (%g, %g, %g); " CAROM_COORDINATES_IN_RANGE, what,
                              (unsigned long long)i, points[i].x, points[i].y, points[i].z);
    return CAROM_OK;
}

static bool usable_axis(const carom_vec3 *axis, double angle) {
    return carom_vec_finite(*axis) && carom_vec_largest(*axis) > 0.0 && isfinite(angle);
}

static bool usable_angles(double roll, double pitch, double yaw) {
    return isfinite(roll) && isfinite(pitch) && isfinite(yaw);
}

/* ---- The computations ------------------------------------------------------------------------ */

static bool turns(carom_quat q) {
    return q.x != 0.0 || q.y != 0.0 || q.z != 0.0;
}

/* Where one of them does not turn, the other is kept to the last bit, subnormal parts included. */
static carom_quat product(carom_quat a, carom_quat b) {
    if (!turns(a)) return b;
    if (!turns(b)) return a;
    return carom_quat_scaled(carom_quat_multiply(carom_quat_scaled(a), carom_quat_scaled(b)));
}

static carom_pose compose(const carom_pose *a, const carom_pose *b) {
    carom_frame frame = carom_frame_make(a);
    if (a == NULL) a = &pose_algebra_identity;
    if (b == NULL) b = &pose_algebra_identity;
    return (carom_pose){product(a->q, b->q), carom_frame_apply(&frame, b->t)};
}

static carom_pose invert(const carom_pose *pose) {
    if (pose == NULL) return pose_algebra_identity;
    carom_pose inverse = {.q = {pose->q.w, -pose->q.x, -pose->q.y, -pose->q.z}};
    carom_frame frame = carom_frame_make(&inverse);
    carom_vec3 t = carom_frame_turn(&frame, pose->t);
    inverse.t = carom_vec(0.0 - t.x, 0.0 - t.y, 0.0 - t.z); /* no -0 */
    return inverse;
}

static carom_quat half_turned(carom_vec3 unit_axis, double angle) {
    double half = 0.5 * angle, sine = carom_sin(half);
    return (carom_quat){carom_cos(half), unit_axis.x * sine, unit_axis.y * sine,
                        unit_axis.z * sine};
}

static carom_pose from_axis_angle(carom_vec3 axis, double angle) {
    int k = -carom_exponent(carom_vec_largest(axis));
    axis = carom_vec(carom_scale_apply(axis.x, k), carom_scale_apply(axis.y, k),
                     carom_scale_apply(axis.z, k));
    double length = carom_length(axis);
    carom_vec3 unit = {axis.x / length, axis.y / length, axis.z / length};
    return (carom_pose){.q = half_turned(unit, angle)};
}

static carom_pose from_euler(double roll, double pitch, double yaw) {
    carom_quat x = half_turned(carom_vec(1.0, 0.0, 0.0), roll);
    carom_quat y = half_turned(carom_vec(0.0, 1.0, 0.0), pitch);
    carom_quat z = half_turned(carom_vec(0.0, 0.0, 1.0), yaw);
    return (carom_pose){.q = carom_quat_multiply(z, carom_quat_multiply(y, x))};
}

static carom_motion motion_between(const carom_pose *from, const carom_pose *to) {
    return (carom_motion){.from = from != NULL ? *from : pose_algebra_identity,
                          .to = to != NULL ? *to : pose_algebra_identity};
}

/* ---- Forms with a context -------------------------------------------------------------------- */

carom_status carom_pose_compose(carom_context *context, const carom_pose *a, const carom_pose *b,
                                carom_pose *pose) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(pose, "pose");
    CAROM_TRY(check_pose(context, a, "the first pose"));
    CAROM_TRY(check_pose(context, b, "the second pose"));
    *pose = compose(a, b);
    return CAROM_OK;
}

carom_status carom_pose_invert(carom_context *context, const carom_pose *pose,
                               carom_pose *inverse) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(inverse, "inverse");
    CAROM_TRY(check_pose(context, pose, "the pose"));
    *inverse = invert(pose);
    return CAROM_OK;
}

/* Passes `count` points or directions, `what` of them, through the frame of a pose. */
static carom_status map_all(carom_context *context, const carom_pose *pose, const carom_vec3 *from,
                            uint64_t count, const char *what,
                            carom_vec3 (*map)(const carom_frame *, carom_vec3), carom_vec3 *to) {
    CAROM_TRY(check_pose(context, pose, "the pose"));
    CAROM_TRY(pose_algebra_check_points(context, from, count, what));
    carom_frame frame = carom_frame_make(pose);
    for (uint64_t i = 0; i < count; ++i) to[i] = map(&frame, from[i]);
    return CAROM_OK;
}

carom_status carom_pose_apply(carom_context *context, const carom_pose *pose,
                              const carom_vec3 *points, uint64_t count, carom_vec3 *moved) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUTS(points, count, "points");
    CAROM_REQUIRE_OUTPUTS(moved, count, "points");
    return map_all(context, pose, points, count, "point", carom_frame_apply, moved);
}

carom_status carom_pose_rotate(carom_context *context, const carom_pose *pose,
                               const carom_vec3 *directions, uint64_t count, carom_vec3 *rotated) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUTS(directions, count, "directions");
    CAROM_REQUIRE_OUTPUTS(rotated, count, "directions");
    return map_all(context, pose, directions, count, "direction", carom_frame_turn, rotated);
}

carom_status carom_pose_from_axis_angle(carom_context *context, const carom_vec3 *axis,
                                        double angle, carom_pose *pose) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(axis, "axis");
    CAROM_REQUIRE_OUTPUT(pose, "pose");
    if (!usable_axis(axis, angle))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the axis is (%g, %g, %g), the angle %g; " BAD_AXIS, axis->x, axis->y,
                          axis->z, angle);
    *pose = from_axis_angle(*axis, angle);
    return CAROM_OK;
}

carom_status carom_pose_from_euler(carom_context *context, double roll, double pitch, double yaw,
                                   carom_pose *pose) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(pose, "pose");
    if (!usable_angles(roll, pitch, yaw))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "roll, pitch and yaw are %g, %g and %g; " BAD_ANGLE, roll, pitch, yaw);
    *pose = from_euler(roll, pitch, yaw);
    return CAROM_OK;
}

carom_status carom_pose_interpolate(carom_context *context, const carom_pose *from,
                                    const carom_pose *to, double time, carom_pose *pose) {
    CAROM_ENTER(context);
    carom_motion motion = motion_between(from, to);
    return carom_motion_evaluate(context, &motion, time, pose);
}

carom_status carom_pose_to_matrix(carom_context *context, const carom_pose *pose,
                                  double matrix[12]) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(matrix, "matrix");
    CAROM_TRY(check_pose(context, pose, "the pose"));
    carom_frame frame = carom_frame_make(pose);
    const double t[3] = {frame.t.x, frame.t.y, frame.t.z};
    for (int row = 0; row < 3; ++row) {
        for (int k = 0; k < 3; ++k) matrix[4 * row + k] = frame.r[3 * row + k];
        matrix[4 * row + 3] = t[row];
    }
    return CAROM_OK;
}

/* ---- Forms without a context ----------------------------------------------------------------- */

carom_pose carom_pose_compose_value(const carom_pose *a, const carom_pose *b) {
    CAROM_REQUIRE_OR(usable_pose(a) && usable_pose(b), BAD_POSE, pose_algebra_identity);
    return compose(a, b);
}

carom_pose carom_pose_invert_value(const carom_pose *pose) {
    CAROM_REQUIRE_OR(usable_pose(pose), BAD_POSE, pose_algebra_identity);
    return invert(pose);
}

carom_vec3 carom_pose_apply_value(const carom_pose *pose, const carom_vec3 *point) {
    CAROM_REQUIRE_OR(point != NULL, CAROM_IS_NULL("point"), pose_algebra_identity.t);
    CAROM_REQUIRE_OR(usable_pose(pose), BAD_POSE, pose_algebra_identity.t);
    CAROM_REQUIRE_OR(carom_point_is_in_range(*point), CAROM_COORDINATES_IN_RANGE,
                     pose_algebra_identity.t);
    carom_frame frame = carom_frame_make(pose);
    return carom_frame_apply(&frame, *point);
}

carom_vec3 carom_pose_rotate_value(const carom_pose *pose, const carom_vec3 *direction) {
    CAROM_REQUIRE_OR(direction != NULL, CAROM_IS_NULL("direction"), pose_algebra_identity.t);
    CAROM_REQUIRE_OR(usable_pose(pose), BAD_POSE, pose_algebra_identity.t);
    CAROM_REQUIRE_OR(carom_point_is_in_range(*direction), CAROM_COORDINATES_IN_RANGE,
                     pose_algebra_identity.t);
    carom_frame frame = carom_frame_make(pose);
    return carom_frame_turn(&frame, *direction);
}

carom_pose carom_pose_from_axis_angle_value(const carom_vec3 *axis, double angle) {
    CAROM_REQUIRE_OR(axis != NULL, CAROM_IS_NULL("axis"), pose_algebra_identity);
    CAROM_REQUIRE_OR(usable_axis(axis, angle), BAD_AXIS, pose_algebra_identity);
    return from_axis_angle(*axis, angle);
}

carom_pose carom_pose_from_euler_value(double roll, double pitch, double yaw) {
    CAROM_REQUIRE_OR(usable_angles(roll, pitch, yaw), BAD_ANGLE, pose_algebra_identity);
    return from_euler(roll, pitch, yaw);
}

carom_pose carom_pose_interpolate_value(const carom_pose *from, const carom_pose *to, double time) {
    carom_motion motion = motion_between(from, to);
    carom_moving moving;
    CAROM_REQUIRE_OR(carom_motion_is_usable(&motion) && time >= 0.0 && time <= 1.0, BAD_TIME,
                     pose_algebra_identity);
    carom_moving_make(&motion, &moving);
    return carom_moving_at(&moving, time);
}
