/* SPDX-License-Identifier: MIT */
/* vec.h: vectors of three doubles, as items. The order of operations is fixed: dot is (x x' + y y')
 * + z z', everywhere. */
#ifndef CAROM_SRC_GEOM_VEC_H
#define CAROM_SRC_GEOM_VEC_H

#include <math.h>

#include "base/item.h"
#include "carom/geom.h"

CAROM_ITEM carom_vec3 carom_vec(double x, double y, double z) {
    carom_vec3 v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}

CAROM_ITEM carom_vec3 carom_vec_add(carom_vec3 a, carom_vec3 b) {
    return carom_vec(a.x + b.x, a.y + b.y, a.z + b.z);
}

CAROM_ITEM carom_vec3 carom_vec_sub(carom_vec3 a, carom_vec3 b) {
    return carom_vec(a.x - b.x, a.y - b.y, a.z - b.z);
}

CAROM_ITEM carom_vec3 carom_vec_scale(carom_vec3 a, double s) {
    return carom_vec(a.x * s, a.y * s, a.z * s);
}

CAROM_ITEM double carom_vec_dot(carom_vec3 a, carom_vec3 b) {
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

CAROM_ITEM carom_vec3 carom_vec_cross(carom_vec3 a, carom_vec3 b) {
    return carom_vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

CAROM_ITEM double carom_vec_length(carom_vec3 a) {
    return sqrt(carom_vec_dot(a, a));
}

/* Order of points by x, then y, then z: -1, 0, 1. Along a line it is the order on the line. */
CAROM_ITEM int carom_vec_compare(carom_vec3 a, carom_vec3 b) {
    if (a.x != b.x) return a.x < b.x ? -1 : 1;
    if (a.y != b.y) return a.y < b.y ? -1 : 1;
    if (a.z != b.z) return a.z < b.z ? -1 : 1;
    return 0;
}

#endif
