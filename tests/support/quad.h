/* SPDX-License-Identifier: MIT */
/* quad.h: numbers of 113 bits for oracles. */
#ifndef CAROM_TESTS_QUAD_H
#define CAROM_TESTS_QUAD_H

#include <math.h>

#include "carom/geom.h"

#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif

typedef struct quad3 {
    quad x, y, z;
} quad3;

static inline quad quad_sqrt(quad value) {
    if (!(value > 0)) return 0;
    int exponent = 0; /* squares can be out of the range of a double */
    while (value > 0x1p200) value *= 0x1p-200, ++exponent;
    while (value < 0x1p-200) value *= 0x1p200, --exponent;
    quad root = (quad)sqrt((double)value);
    for (int i = 0; i < 2; ++i) root = (root + value / root) / 2;
    for (; exponent > 0; --exponent) root *= 0x1p100;
    for (; exponent < 0; ++exponent) root *= 0x1p-100;
    return root;
}

static inline quad quad_abs(quad a) {
    return a < 0 ? -a : a;
}

static inline quad3 quad3_of(carom_vec3 v) {
    return (quad3){v.x, v.y, v.z};
}

static inline quad3 quad3_sub(quad3 a, quad3 b) {
    return (quad3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline quad3 quad3_along(quad3 p, quad3 u, quad t) {
    return (quad3){p.x + u.x * t, p.y + u.y * t, p.z + u.z * t};
}

static inline quad quad3_dot(quad3 a, quad3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline quad3 quad3_cross(quad3 a, quad3 b) {
    return (quad3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline quad quad3_distance(quad3 a, quad3 b) {
    quad3 apart = quad3_sub(a, b);
    return quad_sqrt(quad3_dot(apart, apart));
}

#endif
