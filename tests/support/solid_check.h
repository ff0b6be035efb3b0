/* SPDX-License-Identifier: MIT */
/* solid_check.h: an overlap against the oracle, field by field. */
#ifndef CAROM_TESTS_SOLID_CHECK_H
#define CAROM_TESTS_SOLID_CHECK_H

#include "tests/support/solid_oracle.h"
#include "tests/support/solids.h"

/* The corners as queries see them: x' of soup.h. */
void solid_pose(const solid_mesh *mesh, const carom_pose *pose, solid_mesh *posed);

carom_solid *solid_prepare(carom_context *context, const solid_mesh *mesh, bool complement);

/* What may be lost of a volume: 1e-12 of itself or 1e-14 of the smaller solid. */
double solid_tolerance(double volume, double volume_a, double volume_b);

/* Queries the overlap of a and b in their poses and asserts every field: volume and its error,
 * relation, centroid, area, force, torque, one_sided, pairs. Area, force and torque may be off by
 * `off` of what they could be at most: where planes nearly coincide, so does the line in which they
 * cross with any other. `what` names the case. */
carom_solid_result solid_check(carom_context *context, const solid_mesh *a,
                               const carom_pose *pose_a, const solid_mesh *b,
                               const carom_pose *pose_b, double off, const char *what);

/* Names a case: the test, its number and the kinds of both solids. Valid until the next call. */
const char *solid_case(const solid_mesh *a, const solid_mesh *b, const char *test, uint64_t i);

carom_solid_result solid_overlap_of(carom_context *context, const carom_solid *x,
                                    const carom_pose *pose_x, const carom_solid *y,
                                    const carom_pose *pose_y);

void solid_check_near(const char *what, const char *which, double value, double expected,
                      double tolerance);

/* A hash of all fields of an overlap. */
uint64_t solid_hash(const carom_solid_result *overlap, uint64_t seed);

#endif
