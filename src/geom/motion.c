/* SPDX-License-Identifier: MIT */
/* Rigid motions in time. The rotation from one pose to the other is one about a fixed axis by at
 * most half a turn (Shoemake, "Animating rotation with quaternion curves", 1985); the centre moves
 * along a line. So every point has a velocity whose part along a fixed direction is bounded by two
 * constants, which is what advancing in steps needs. */
#include "geom/motion.h"

#include "base/context.h"
#include "base/math.h"
#include "geom/length.h"

#define MOTION_MOST_COORDINATE 1e300

void carom_moving_make(const carom_motion *motion, carom_moving *moving) {
    const carom_motion none = {{{0.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
                               {{0.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
                               {0.0, 0.0, 0.0}};
    if (motion == NULL) motion = &none;
    carom_frame from = carom_frame_make(&motion->from), to = carom_frame_make(&motion->to);
    *moving = (carom_moving){.ends = {motion->from, motion->to},
                             .centre = motion->centre,
                             .from = carom_quat_unit(motion->from.q)};
    moving->at = carom_frame_apply(&from, motion->centre);
    moving->velocity = carom_vec_sub(carom_frame_apply(&to, motion->centre), moving->at);
    carom_quat back = {moving->from.w, -moving->from.x, -moving->from.y, -moving->from.z};
    carom_quat turn = carom_quat_multiply(carom_quat_unit(motion->to.q), back);
    double sign = turn.w < 0.0 ? -1.0 : 1.0; /* the shorter way */
    carom_vec3 v = carom_vec_scale(carom_vec(turn.x, turn.y, turn.z), sign);
    double length = carom_length(v);
    if (length > 0.0) {
        moving->axis = carom_vec_scale(v, 1.0 / length);
        moving->angle = 2.0 * carom_atan2(length, sign * turn.w);
        moving->spin = carom_vec_scale(moving->axis, moving->angle);
    }
    double largest = CAROM_MAX(carom_vec_largest(motion->from.t), carom_vec_largest(motion->to.t));
    moving->size = largest + 4.0 * carom_vec_largest(motion->centre);
}

carom_pose carom_moving_at(const carom_moving *moving, double t) {
    if (t == 0.0 || t == 1.0) return moving->ends[t == 0.0 ? 0 : 1];
    double half = 0.5 * moving->angle * t, sine = carom_sin(half);
    carom_quat turn = {carom_cos(half), moving->axis.x * sine, moving->axis.y * sine,
                       moving->axis.z * sine};
    carom_pose pose = {.q = carom_quat_multiply(turn, moving->from)};
    carom_frame frame = carom_frame_make(&pose);
    carom_vec3 at = carom_vec_add(moving->at, carom_vec_scale(moving->velocity, t));
    pose.t = carom_vec_sub(at, carom_frame_turn(&frame, moving->centre));
    return pose;
}

static bool is_fine(const double *x, int count) {
    double sum = 0.0;
    for (int i = 0; i < count; ++i) sum += fabs(x[i]);
    return sum <= MOTION_MOST_COORDINATE;
}

bool carom_motion_is_usable(const carom_motion *motion) {
    return motion == NULL || (is_fine(&motion->from.q.w, 4) && is_fine(&motion->from.t.x, 3) &&
                              is_fine(&motion->to.q.w, 4) && is_fine(&motion->to.t.x, 3) &&
                              is_fine(&motion->centre.x, 3));
}

carom_status carom_motion_check(carom_context *context, const carom_motion *motion,
                                const char *whose) {
    if (carom_motion_is_usable(motion)) return CAROM_OK;
    return carom_fail(context, CAROM_BAD_INPUT,
                      "the motion%s is not finite or beyond 1e300; give finite numbers", whose);
}

carom_status carom_advance_check(carom_context *context, const carom_advance_def *def) {
    if (def == NULL) return CAROM_OK;
    if (!(def->tolerance >= 0.0 && def->tolerance <= DBL_MAX))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the tolerance is %g; it must be positive, or 0 for the default",
                          def->tolerance);
    if (!(def->reach >= 0.0 && def->reach <= DBL_MAX))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the reach is %g; it must be positive, or 0 for none", def->reach);
    return CAROM_OK;
}

carom_status carom_motion_evaluate(carom_context *context, const carom_motion *motion, double time,
                                   carom_pose *pose) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(pose, "pose");
    CAROM_TRY(carom_motion_check(context, motion, ""));
    if (!(time >= 0.0 && time <= 1.0))
        return carom_fail(context, CAROM_BAD_INPUT, "the time is %g; it must be from 0 to 1", time);
    carom_moving moving;
    carom_moving_make(motion, &moving);
    *pose = carom_moving_at(&moving, time);
    return CAROM_OK;
}
