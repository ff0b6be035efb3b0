/* SPDX-License-Identifier: MIT */
/* robots.h: random robots and worlds of simple shapes, for tests and fuzzers. */
#ifndef CAROM_TESTS_ROBOTS_H
#define CAROM_TESTS_ROBOTS_H

#include "carom/carom.h"

#define ROBOTS_LINKS   6
#define ROBOTS_OBJECTS 5

typedef struct robots_case {
    carom_robot_link links[ROBOTS_LINKS];
    carom_robot_shape shapes[ROBOTS_LINKS][2], objects[ROBOTS_OBJECTS];
    carom_robot_joint joints[ROBOTS_LINKS];
    carom_ball balls[40];
    double positions[2][18]; /* an octahedron, and the same without one face */
    uint32_t corners[24];
    carom_mesh_view closed, open;
    carom_robot_def def;
    uint32_t object_count, dof;
} robots_case;

/* A robot of two to six links with up to five objects, all by the seed. */
void robots_make(uint64_t seed, robots_case *made);
/* Makes all lengths of a case `scale` times as large. */
void robots_scale(robots_case *made, double scale);
/* A configuration within the limits. */
void robots_configuration(const robots_case *made, carom_random *random, double *q);

#endif
