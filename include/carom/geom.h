/* SPDX-License-Identifier: MIT */
/* geom.h: points, poses, balls and the small geometric questions all engines ask. */
#ifndef CAROM_GEOM_H
#define CAROM_GEOM_H

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- values ---------------------------------------------------------------------------------- */

typedef struct carom_vec3 {
    double x, y, z;
} carom_vec3;

/* x' = R(q) x + t. q = (w, x, y, z) is normalised once; all zero is the identity. */
typedef struct carom_pose {
    double w, x, y, z; /* the quaternion */
    carom_vec3 t;
} carom_pose;

/* Empty when low > high in any axis. */
typedef struct carom_bounds {
    carom_vec3 low, high;
} carom_bounds;

typedef struct carom_ball {
    carom_vec3 centre;
    double radius;
} carom_ball;

#ifdef __cplusplus
}
#endif

#endif
