/* SPDX-License-Identifier: MIT */
/* mesh_points.h: points on the faces of meshes. */
#ifndef CAROM_TESTS_MESH_POINTS_H
#define CAROM_TESTS_MESH_POINTS_H

#include "carom/carom.h"

/* A point of any face: a corner, the middle of an edge, or anywhere in the triangle of its first
 * three corners, up to rounding. */
carom_vec3 mesh_any_point(carom_random *random, const carom_mesh_view *view);

#endif
