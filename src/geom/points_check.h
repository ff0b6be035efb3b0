/* SPDX-License-Identifier: MIT */
/* points_check.h: what the public functions of single points, triangles and poses require of
 * coordinates, and how they say it. */
#ifndef CAROM_SRC_GEOM_POINTS_CHECK_H
#define CAROM_SRC_GEOM_POINTS_CHECK_H

#include "geom/length.h"

#define CAROM_COORDINATES_FINITE   "coordinates must be finite"
#define CAROM_COORDINATES_IN_RANGE "coordinates must be finite and at most 2^1020 in size"

static inline bool carom_points_are_finite(const carom_vec3 *points, int count) {
    bool finite = true;
    for (int i = 0; i < count; ++i) finite &= carom_vec_finite(points[i]);
    return finite;
}

static inline bool carom_point_is_in_range(carom_vec3 v) {
    return (fabs(v.x) <= CAROM_LARGEST_COORDINATE) & (fabs(v.y) <= CAROM_LARGEST_COORDINATE) &
           (fabs(v.z) <= CAROM_LARGEST_COORDINATE);
}

static inline bool carom_points_are_in_range(const carom_vec3 *points, int count) {
    bool good = true;
    for (int i = 0; i < count; ++i) good &= carom_point_is_in_range(points[i]);
    return good;
}

#endif
