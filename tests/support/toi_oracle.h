/* SPDX-License-Identifier: MIT */
/* toi_oracle.h: times of impact by advancing in small steps, in long doubles. */
#ifndef CAROM_TESTS_TOI_ORACLE_H
#define CAROM_TESTS_TOI_ORACLE_H

#include <stdbool.h>

#include "carom/geom.h"

/* The distance of a point and a triangle, or of two segments (edges), at time t; points as for
 * carom_point_triangle_toi. */
double toi_oracle_distance(const carom_vec3 *start, const carom_vec3 *end, bool edges, double t);

/* The most by which that distance changes per time. */
double toi_oracle_speed(const carom_vec3 *start, const carom_vec3 *end, bool edges);

/* Whether the distance falls to `near` times the speed, and a time before which it does not. */
bool toi_oracle(const carom_vec3 *start, const carom_vec3 *end, bool edges, double near,
                double *time);

#endif
