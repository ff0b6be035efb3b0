/* SPDX-License-Identifier: MIT */
/* Rigid motions in time. The rotation from one pose to the other is one about a fixed axis by at
 * most half a turn (Shoemake, "Animating rotation with quaternion curves", 1985); the centre moves
 * along a line. So every point has a velocity whose part along a fixed direction is bounded by two
 * constants, which is what advancing in steps needs. */
#include "geom/motion.h"

#include "base/math.h"
#include "base/status.h"
#include "geom/length.h"

#define MOST_SIZE 1e300

static carom_quat multiply(carom_quat a, carom_quat b) {
    return (carom_quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

/* Of length 1; all zero is the identity. */
static carom_quat unit(carom_quat q) {
    double most = CAROM_MAX(CAROM_MAX(fabs(q.w), fabs(q.x)), CAROM_MAX(fabs(q.y), fabs(q.z)));
    if (!(most > 0.0)) return (carom_quat){1.0, 0.0, 0.0, 0.0};
    int k = -carom_exponent(most);
    q = (carom_quat){carom_scale_apply(q.w, k), carom_scale_apply(q.x, k),
                     carom_scale_apply(q.y, k), carom_scale_apply(q.z, k)};
    double length = sqrt(((q.w * q.w + q.x * q.x) + q.y * q.y) + q.z * q.z);
    return (carom_quat){q.w / length, q.x / length, q.y / length, q.z / length};
}

void carom_moving_make(const carom_motion *motion, carom_moving *moving) {
    const carom_motion none = {{{0.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
                               {{0.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
                               {0.0, 0.0, 0.0}};
    if (motion == NULL) motion = &none;
    carom_frame from = carom_frame_make(&motion->from), to = carom_frame_make(&motion->to);
    *moving = (carom_moving){
        .ends = {motion->from, motion->to}, .centre = motion->centre, .from = unit(motion->from.q)};
    moving->at = carom_frame_apply(&from, motion->centre);
    moving->velocity = carom_vec_sub(carom_frame_apply(&to, motion->centre), moving->at);
    carom_quat back = {moving->from.w, -moving->from.x, -moving->from.y, -moving->from.z};
    carom_quat turn = multiply(unit(motion->to.q), back);
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
    carom_pose pose = {.q = multiply(turn, moving->from)};
    carom_frame frame = carom_frame_make(&pose);
    carom_vec3 at = carom_vec_add(moving->at, carom_vec_scale(moving->velocity, t));
    pose.t = carom_vec_sub(at, carom_frame_turn(&frame, moving->centre));
    return pose;
}

static bool is_fine(const double *x, int count) {
    double sum = 0.0;
    for (int i = 0; i < count; ++i) sum += fabs(x[i]);
    return sum <= MOST_SIZE;
}

carom_status carom_motion_check(carom_context *context, const carom_motion *motion,
                                const char *whose) {
    if (motion == NULL) return CAROM_OK;
    if (is_fine(&motion->from.q.w, 4) && is_fine(&motion->from.t.x, 3) &&
        is_fine(&motion->to.q.w, 4) && is_fine(&motion->to.t.x, 3) && is_fine(&motion->centre.x, 3))
        return CAROM_OK;
    return carom_fail(context, CAROM_BAD_INPUT,
                      "the motion%s is not finite or beyond 1e300; give finite numbers", whose);
}

carom_status carom_advance_check(carom_context *context, const carom_advance_def *def) {
    if (def == NULL) return CAROM_OK;
    if (!(def->tolerance >= 0.0 && def->tolerance <= DBL_MAX))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the tolerance is %g; it must be positive, or 0 for the default",
                          def->tolerance);
    if (!(def->separation >= 0.0 && def->separation <= DBL_MAX))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the separation is %g; it must be positive, or 0 for none",
                          def->separation);
    return CAROM_OK;
}

carom_status carom_motion_get_pose(carom_context *context, const carom_motion *motion, double time,
                                   carom_pose *pose) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(pose != NULL, "the place for the pose is NULL");
    CAROM_TRY(carom_motion_check(context, motion, ""));
    if (!(time >= 0.0 && time <= 1.0))
        return carom_fail(context, CAROM_BAD_INPUT, "the time is %g; it must be from 0 to 1", time);
    carom_moving moving;
    carom_moving_make(motion, &moving);
    *pose = carom_moving_at(&moving, time);
    return CAROM_OK;
}
