/* SPDX-License-Identifier: MIT */
/* vector.h: what pictures and surfaces of results need of vectors. */
#ifndef CAROM_CLI_VECTOR_H
#define CAROM_CLI_VECTOR_H

#include <math.h>

#include "carom/carom.h"

static inline double vector_dot(carom_vec3 a, carom_vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline carom_vec3 vector_cross(carom_vec3 a, carom_vec3 b) {
    return (carom_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline carom_vec3 vector_minus(carom_vec3 a, carom_vec3 b) {
    return (carom_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

/* a + factor * b */
static inline carom_vec3 vector_add(carom_vec3 a, double factor, carom_vec3 b) {
    return (carom_vec3){a.x + factor * b.x, a.y + factor * b.y, a.z + factor * b.z};
}

/* The vector with length 1, for any length that is not 0; 0 stays 0. */
static inline carom_vec3 vector_unit(carom_vec3 a) {
    double most = fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z))); /* against overflow */
    if (!(most > 0.0)) return (carom_vec3){0.0, 0.0, 0.0};
    a = (carom_vec3){a.x / most, a.y / most, a.z / most};
    double length = sqrt(vector_dot(a, a));
    return (carom_vec3){a.x / length, a.y / length, a.z / length};
}

#endif
