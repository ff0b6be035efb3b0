/* SPDX-License-Identifier: MIT */
/* cloth.h: a cloth that falls on obstacles, simulated by positions. */
#ifndef CAROM_SCENES_CLOTH_H
#define CAROM_SCENES_CLOTH_H

#include "carom/carom.h"

/* The obstacle nearest to a point: its distance, negative inside; the direction away from it; and
 * the velocity of its surface there. */
typedef struct scene_contact {
    double distance;
    carom_vec3 normal, velocity;
} scene_contact;

typedef scene_contact scene_obstacle_fn(const void *user, carom_vec3 p, double time);

typedef struct scene_cloth_def {
    uint32_t points[2];       /* of the simulated grid, columns and rows */
    carom_vec3 origin;        /* of its first point */
    carom_vec3 across, along; /* its edges */
    double thickness;         /* distance that it keeps from obstacles */
    double friction;          /* share of the slip that a contact takes away, in [0, 1] */
    scene_obstacle_fn *obstacle;
    const void *user;
} scene_cloth_def;

/* Seconds from one frame to the next. */
#define SCENE_FRAME_SECONDS (1.0 / 60.0)

/* Writes the points of each frame, all those of frame 0 first, which is the start. False when there
 * is no memory. */
bool scene_cloth_simulate(const scene_cloth_def *def, uint32_t frames, carom_vec3 *points);

/* The nearer of two. */
scene_contact scene_contact_nearer(scene_contact a, scene_contact b);

/* A ball around the segment from a to b, which may be one point. */
scene_contact scene_contact_capsule(carom_vec3 p, carom_vec3 a, carom_vec3 b, double radius);

/* A wall around the z axis: the segment from (radius, z) = a to b, turned about it. Both sides of
 * it push away. */
scene_contact scene_contact_wall(carom_vec3 p, const double a[2], const double b[2]);

#endif
