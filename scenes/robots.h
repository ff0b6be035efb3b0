/* SPDX-License-Identifier: MIT */
/* robots.h: robots by formula, as URDF, and the worlds they stand in: what campaigns and
 * comparisons with other libraries run on. */
#ifndef CAROM_SCENES_ROBOTS_H
#define CAROM_SCENES_ROBOTS_H

#include <stddef.h>

#include "carom/carom.h"

/* ---- Robots ---------------------------------------------------------------------------------- */

typedef enum scene_robot {
    SCENE_ROBOT_SCARA = 0, /* two arms in a plane, a spindle that slides, fingers that mimic */
    SCENE_ROBOT_GANTRY,    /* three prismatic joints, a wrist that turns without limits */
    SCENE_ROBOT_CHAIN,     /* 200 links */
    SCENE_ROBOT_RING,      /* one link is a mesh of 200,704 triangles, SCENE_ROBOT_RING_FILE */
    SCENE_ROBOT_COUNT
} scene_robot;

#define SCENE_ROBOT_CHAIN_LINKS 200
#define SCENE_ROBOT_RING_FILE   "ring.ply"
#define SCENE_ROBOT_TEXT        (1u << 17) /* bytes that suffice for each of the texts */

/* "scara", "gantry", "chain", "ring". */
const char *scene_robot_name(scene_robot robot);

/* Writes the URDF of a robot, as a string; returns its length, or 0 where `size` does not
 * suffice. */
size_t scene_robot_write(scene_robot robot, char *text, size_t size);

/* The def of the mesh that SCENE_ROBOT_RING names. */
carom_shape_def scene_robot_ring(void);

/* ---- Worlds ---------------------------------------------------------------------------------- */

typedef enum scene_cell_kind {
    SCENE_CELL_KIND_EMPTY = 0,
    SCENE_CELL_KIND_BOXES, /* 20 boxes on two rings */
    SCENE_CELL_KIND_KNOT,  /* a closed mesh, a knot around the robot: 190,080 triangles */
    SCENE_CELL_KIND_SHELF, /* boards and walls */
    SCENE_CELL_KIND_CLOUD, /* 4,000 points with a radius, on a wall that is bent */
    SCENE_CELL_KIND_COUNT
} scene_cell_kind;

/* "empty", "boxes", "knot", "shelf", "cloud". */
const char *scene_cell_name(scene_cell_kind kind);

#define SCENE_CELL_OBJECTS 20u
#define SCENE_CELL_POINTS  4000u

/* Its objects point into it and to its mesh: do not copy. */
typedef struct scene_cell {
    carom_robot_shape objects[SCENE_CELL_OBJECTS];
    uint32_t count;
    carom_ball points[SCENE_CELL_POINTS];
    carom_mesh *mesh;
    carom_mesh_view view;
} scene_cell;

/* Makes a world for a robot that reaches as far as `reach` from the origin. `detail` is of the
 * knot, 48 triangles each; 0: 3,960. Failures are those of carom_shape_make. */
carom_status scene_cell_make(carom_context *context, scene_cell_kind kind, double reach,
                             uint64_t detail, scene_cell *cell);
void scene_cell_free(scene_cell *cell);

#endif
