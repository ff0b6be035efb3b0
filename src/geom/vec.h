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

/* Bounds that hold nothing. */
CAROM_ITEM carom_bounds carom_bounds_empty(void) {
    carom_bounds b;
    b.low = carom_vec(HUGE_VAL, HUGE_VAL, HUGE_VAL);
    b.high = carom_vec(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL);
    return b;
}

/* Extends bounds to hold a point. Adding 0 makes every zero positive, so that the result does not
 * depend on the order of the points. */
CAROM_ITEM void carom_bounds_include(carom_bounds *b, carom_vec3 p) {
    p = carom_vec(p.x + 0.0, p.y + 0.0, p.z + 0.0);
    b->low =
        carom_vec(CAROM_MIN(p.x, b->low.x), CAROM_MIN(p.y, b->low.y), CAROM_MIN(p.z, b->low.z));
    b->high =
        carom_vec(CAROM_MAX(p.x, b->high.x), CAROM_MAX(p.y, b->high.y), CAROM_MAX(p.z, b->high.z));
}

#endif
