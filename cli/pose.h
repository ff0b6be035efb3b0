/* SPDX-License-Identifier: MIT */
/* pose.h: the pose of the second object, as given by --pose. */
#ifndef CAROM_CLI_POSE_H
#define CAROM_CLI_POSE_H

#include "cli/command.h"

#define POSE_NUMBERS 12

/* Seven numbers are a rigid pose, tx,ty,tz,qw,qx,qy,qz; twelve are an affine 3x4 matrix, row by
 * row. */
typedef struct pose_arg {
    bool is_matrix;
    carom_pose pose;             /* all zero, the identity, when a matrix was given */
    double matrix[POSE_NUMBERS]; /* when a matrix was given */
} pose_arg;

#define POSE_VALUE "tx,ty,tz,qw,qx,qy,qz"

/* Reads the value of --pose; NULL gives the identity. Returns false with a message. */
bool pose_read(const char *text, pose_arg *pose, char *message, size_t size);

/* Applies a matrix to all vertices in place, x' = ((m00 x + m01 y) + m02 z) + m03 in doubles.
 * Leaves the mesh unchanged for a rigid pose, which is passed to the queries instead. */
carom_status pose_apply(cli *cli, const pose_arg *pose, carom_mesh **mesh);

/* The 3x4 matrix of a pose as geom.h defines it, row by row; all zero is the identity. */
void pose_matrix(const carom_pose *pose, double matrix[POSE_NUMBERS]);

#endif
