/* SPDX-License-Identifier: MIT */
/* robot_audit.h: how far the spheres of a planner leave a robot outside (carom robot --audit). */
#ifndef CAROM_CLI_ROBOT_AUDIT_H
#define CAROM_CLI_ROBOT_AUDIT_H

#include "cli/command.h"

typedef struct robot_audit_def {
    const carom_robot *robot;
    const carom_urdf *urdf; /* of the picture; NULL: the robot has none */
    const char *path;       /* of the robot */
    const char *spheres;    /* a cuRobo or XRDF file, or a URDF file of spheres */
    const char *picture;    /* HTML, GLB or PNG; NULL: none */
} robot_audit_def;

/* Measures and prints; an exit code. */
int robot_audit_run(cli *cli, const robot_audit_def *def);

#endif
