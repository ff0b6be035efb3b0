/* SPDX-License-Identifier: MIT */
/* robot_show.h: what carom robot found, to look at. */
#ifndef CAROM_CLI_ROBOT_SHOW_H
#define CAROM_CLI_ROBOT_SHOW_H

#include "cli/command.h"

typedef struct robot_show_def {
    const char *path;
    const carom_robot *robot;
    const carom_urdf *urdf; /* NULL: the robot was saved, and its covers are shown */
    const arg_list *world;  /* mesh files */
    uint32_t first_object;  /* the number of the first of them */
    uint32_t links, dof;
    const double *values; /* of configurations; of motions those of the start, then of the end */
    uint64_t count;
    const carom_robot_result *results;      /* of configurations; else NULL */
    const carom_robot_gap *gaps;            /* or NULL */
    const carom_robot_motion_result *moved; /* of motions; else NULL */
} robot_show_def;

/* Writes a page, GLB or picture: the robot in the first configurations, or along the first motions,
 * what collides lit, and the world see-through. CAROM_IO after it was reported. */
carom_status robot_show(cli *cli, const robot_show_def *def, const char *output,
                        const char *format);

#endif
