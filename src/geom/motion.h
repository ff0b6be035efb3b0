/* SPDX-License-Identifier: MIT */
/* motion.h: rigid motions in time, prepared: a straight line for the centre, a fixed axis. */
#ifndef CAROM_SRC_GEOM_MOTION_H
#define CAROM_SRC_GEOM_MOTION_H

#include "geom/pose.h"

/* Where carom_advance_def names none. */
#define CAROM_ADVANCE_MOST_STEPS 100000u
#define CAROM_ADVANCE_TOLERANCE  0x1p-20 /* of sizes and movement */

typedef struct carom_moving {
    carom_pose ends[2];  /* at time 0 and 1, as given */
    carom_vec3 centre;   /* in the shape */
    carom_vec3 at;       /* where it is at time 0 */
    carom_vec3 velocity; /* by which it moves until time 1 */
    carom_quat from;     /* the rotation at time 0, of length 1 */
    carom_vec3 axis;     /* unit, or zero without rotation */
    double angle;        /* turned until time 1, in [0, pi] */
    carom_vec3 spin;     /* axis times angle */
    double size;         /* at least all coordinates of `at` and the translations */
} carom_moving;

/* Finite motions; NULL stays at the identity. */
void carom_moving_make(const carom_motion *motion, carom_moving *moving);

/* The pose at a time in [0, 1]; right to some 2^-50 of the distances involved. */
carom_pose carom_moving_at(const carom_moving *moving, double t);

/* An upper bound on the speed along the unit vector n, at all times, of a point that is `reach` or
 * less from the centre: the centre's and that of the rotation, (spin x r).n = (n x spin).r. */
static inline double carom_moving_speed(const carom_moving *moving, carom_vec3 n, double reach) {
    carom_vec3 turn = carom_vec_cross(n, moving->spin);
    return carom_vec_dot(n, moving->velocity) + carom_vec_length(turn) * reach;
}

/* Whether a motion is finite and at most 1e300 in size. */
bool carom_motion_is_usable(const carom_motion *motion);

/* CAROM_OK, or CAROM_BAD_INPUT where the motion `whose` is not. */
carom_status carom_motion_check(carom_context *context, const carom_motion *motion,
                                const char *whose);

/* CAROM_OK, or CAROM_BAD_INPUT where the tolerance or reach is not finite or negative. */
carom_status carom_advance_check(carom_context *context, const carom_advance_def *def);

#endif
