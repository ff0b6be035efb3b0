/* SPDX-License-Identifier: MIT */
/* pose.h: rigid motions, as items. One fixed formula, so that x' has the same bits everywhere: the
 * results of all engines are exact with respect to x'. */
#ifndef CAROM_SRC_GEOM_POSE_H
#define CAROM_SRC_GEOM_POSE_H

#include "geom/scale.h"
#include "geom/vec.h"

/* A prepared pose: the rotation matrix, row by row, and the translation. */
typedef struct carom_frame {
    double r[9];
    carom_vec3 t;
} carom_frame;

/* Scales the quaternion by the power of two that brings its largest part to [1/2, 1), divides by
 * the root of ((w w + x x) + y y) + z z, and writes the matrix out. All zero is the identity, and
 * so is NULL. Finite input. */
CAROM_ITEM carom_frame carom_frame_make(const carom_pose *pose) {
    carom_frame f;
    double w = 1.0, x = 0.0, y = 0.0, z = 0.0;
    f.t = carom_vec(0.0, 0.0, 0.0);
    if (pose != 0) {
        double most = CAROM_MAX(CAROM_MAX(fabs(pose->q.w), fabs(pose->q.x)),
                                CAROM_MAX(fabs(pose->q.y), fabs(pose->q.z)));
        f.t = pose->t;
        if (most > 0.0) {
            int k = -carom_scale_range_add(carom_scale_range_empty(), most).high;
            w = carom_scale_apply(pose->q.w, k);
            x = carom_scale_apply(pose->q.x, k);
            y = carom_scale_apply(pose->q.y, k);
            z = carom_scale_apply(pose->q.z, k);
        }
    }
    double length = sqrt(((w * w + x * x) + y * y) + z * z);
    w = w / length;
    x = x / length;
    y = y / length;
    z = z / length;
    f.r[0] = 1.0 - 2.0 * (y * y + z * z);
    f.r[1] = 2.0 * (x * y - w * z);
    f.r[2] = 2.0 * (x * z + w * y);
    f.r[3] = 2.0 * (x * y + w * z);
    f.r[4] = 1.0 - 2.0 * (x * x + z * z);
    f.r[5] = 2.0 * (y * z - w * x);
    f.r[6] = 2.0 * (x * z - w * y);
    f.r[7] = 2.0 * (y * z + w * x);
    f.r[8] = 1.0 - 2.0 * (x * x + y * y);
    return f;
}

/* R d, without the translation: for directions. */
CAROM_ITEM carom_vec3 carom_frame_turn(const carom_frame *f, carom_vec3 d) {
    return carom_vec((f->r[0] * d.x + f->r[1] * d.y) + f->r[2] * d.z,
                     (f->r[3] * d.x + f->r[4] * d.y) + f->r[5] * d.z,
                     (f->r[6] * d.x + f->r[7] * d.y) + f->r[8] * d.z);
}

/* x' = ((r00 x + r01 y) + r02 z) + tx, and so on. */
CAROM_ITEM carom_vec3 carom_frame_apply(const carom_frame *f, carom_vec3 p) {
    return carom_vec_add(carom_frame_turn(f, p), f->t);
}

#endif
