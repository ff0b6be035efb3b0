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

CAROM_ITEM carom_quat carom_quat_make(double w, double x, double y, double z) {
    carom_quat q;
    q.w = w;
    q.x = x;
    q.y = y;
    q.z = z;
    return q;
}

/* The same rotation, times the power of two that brings the largest part to [1/2, 1). All zero
 * becomes the identity. Finite input. */
CAROM_ITEM carom_quat carom_quat_scaled(carom_quat q) {
    double most = CAROM_MAX(CAROM_MAX(fabs(q.w), fabs(q.x)), CAROM_MAX(fabs(q.y), fabs(q.z)));
    if (!(most > 0.0)) return carom_quat_make(1.0, 0.0, 0.0, 0.0);
    int k = -carom_scale_range_add(carom_scale_range_empty(), most).high;
    return carom_quat_make(carom_scale_apply(q.w, k), carom_scale_apply(q.x, k),
                           carom_scale_apply(q.y, k), carom_scale_apply(q.z, k));
}

/* The same rotation, of length 1: scaled, then divided by the root of ((w w + x x) + y y) + z z. */
CAROM_ITEM carom_quat carom_quat_unit(carom_quat q) {
    q = carom_quat_scaled(q);
    double length = sqrt(((q.w * q.w + q.x * q.x) + q.y * q.y) + q.z * q.z);
    return carom_quat_make(q.w / length, q.x / length, q.y / length, q.z / length);
}

/* The rotation b, then a. */
CAROM_ITEM carom_quat carom_quat_multiply(carom_quat a, carom_quat b) {
    return carom_quat_make(a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                           a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                           a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                           a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w);
}

/* The matrix of the quaternion of length 1, written out. All zero is the identity, and so is NULL.
 * Finite input. */
CAROM_ITEM carom_frame carom_frame_make(const carom_pose *pose) {
    carom_frame f;
    carom_quat q = carom_quat_make(1.0, 0.0, 0.0, 0.0);
    f.t = carom_vec(0.0, 0.0, 0.0);
    if (pose != 0) {
        q = carom_quat_unit(pose->q);
        f.t = pose->t;
    }
    double w = q.w, x = q.x, y = q.y, z = q.z;
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
