/* SPDX-License-Identifier: MIT */
/* query_show.h: the answer of `carom query`, and how it is shown. */
#ifndef CAROM_CLI_QUERY_SHOW_H
#define CAROM_CLI_QUERY_SHOW_H

#include "cli/display.h"
#include "cli/pose.h"
#include "cli/repeat.h"

/* The results that every engine gives. */
typedef struct query_answer {
    const char *relation;
    bool estimated; /* there are no area and no errors but bounds */
    bool partial;   /* a budget ended the search */
    bool colliding, one_sided, by_winding;
    double distance, distance_lower, distance_upper, volume, volume_lower, volume_upper, area;
    carom_vec3 centroid, force, torque, point_a, point_b;
    double centroid_error, area_error, force_error, torque_error;
    double prepare_s;
    repeat query;
    carom_solid_patches patches;
    const char *reason; /* of --engine auto; NULL: the engine was named */
    bool reported;      /* a failure was */
    bool collided;      /* in some frame */
    int refused;        /* when preparing failed: 1 or 2, the solid that was refused */
} query_answer;

/* A mesh with its pose's matrix applied, and its extent. */
typedef struct query_body {
    carom_mesh *mesh;
    carom_mesh_view view;
    double extent;
    carom_packing *packing; /* for engines that compare packings; then no pose was applied */
} query_body;

/* Fills a display: both solids, see-through where they overlap, the surface of the overlap, the
 * curve in which their surfaces meet, force and torque, the pieces of the overlap; or the nearest
 * points.
 * display_free is due also after a failure. */
carom_status query_show(cli *cli, const query_body bodies[2], char **paths, const pose_arg *pose,
                        const query_answer *answer, display *d);

#endif
