/* SPDX-License-Identifier: MIT */
/* robot_oracle.h: collisions of a robot by its definition: kinematics in long doubles by Rodrigues'
 * formula, all pairs of triangles by their distance in long doubles, inside or outside by solid
 * angles. It shares nothing with the engine. */
#ifndef CAROM_TESTS_ROBOT_ORACLE_H
#define CAROM_TESTS_ROBOT_ORACLE_H

#include "carom/carom.h"

typedef struct robot_oracle_shape {
    long double (*triangles)[3][3];
    uint64_t count;
    long double *radii; /* of each triangle: points that are no farther belong to it */
    bool closed;
} robot_oracle_shape;

/* A rotation, row by row, and a translation. */
typedef struct robot_oracle_frame {
    long double r[9], t[3];
} robot_oracle_frame;

typedef struct robot_oracle {
    const carom_robot_def *def;
    robot_oracle_shape *links; /* those of all shapes, link after link */
    uint64_t *link_starts;
    robot_oracle_shape *objects;
    uint32_t object_count;
    uint8_t *allowed; /* of two links */
} robot_oracle;

/* Makes it from the same definition, whose meshes are triangles with shared vertices; `closed` says
 * which meshes enclose space: all whose view is listed in open are open. */
void robot_oracle_create(const carom_robot_def *def, const carom_robot_shape *objects,
                         uint32_t object_count, const carom_mesh_view *open, robot_oracle *oracle);
void robot_oracle_destroy(robot_oracle *oracle);

/* The least distance of two bodies that are tested, 0 where they collide; infinite: no pair. */
long double robot_oracle_distance(const robot_oracle *oracle, const double *q);

/* The same of one pair. */
long double robot_oracle_pair(const robot_oracle *oracle, const double *q, uint32_t a, uint32_t b,
                              bool with_object);

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* The triangles of a shape in its link or in the world; the mesh must be triangles in doubles. Free
 * with robot_oracle_shape_free. */
void robot_oracle_shape_make(const carom_robot_shape *from, const carom_mesh_view *open,
                             robot_oracle_shape *shape);
void robot_oracle_shape_free(robot_oracle_shape *shape);

/* Where a link is: its parent moved by the joint between them. */
robot_oracle_frame robot_oracle_move(const robot_oracle_frame *parent,
                                     const carom_robot_joint *joint, double value);

void robot_oracle_apply(const robot_oracle_frame *frame, const long double *p, long double *to);

/* The distance of two triangles, which may be segments or points. */
long double robot_oracle_triangles(long double (*s)[3], long double (*t)[3]);

/* Solid angles of all triangles, seen from a point: 4 pi for each time that they enclose it. */
long double robot_oracle_angle(const robot_oracle_shape *shape, const long double *p);

/* Whether two links may collide: links^2 flags, which are freed by the caller. */
uint8_t *robot_oracle_allowed(const carom_robot_def *def);

/* Where a link is: the matrix by rows, the translation. */
void robot_oracle_pose(const carom_robot_def *def, const double *q, uint32_t link, long double r[9],
                       long double t[3]);

#endif
