/* SPDX-License-Identifier: MIT */
/* pairs_boxes.h: pairs of faces whose boxes overlap, of meshes in memory. */
#ifndef CAROM_CLI_PAIRS_BOXES_H
#define CAROM_CLI_PAIRS_BOXES_H

#include "cli/pose.h"

/* What is searched: one mesh, or two. */
typedef struct pairs_boxes_def {
    const char *const *paths;
    size_t count;
    const pose_arg *pose; /* of the second */
    int from;             /* MESHES_FROM_HELP */
    bool fan;             /* boxes of triangles, not of polygons */
} pairs_boxes_def;

/* Finds all pairs of faces whose boxes overlap, sorted. */
carom_status pairs_boxes(cli *cli, const pairs_boxes_def *def, carom_pairs *pairs);

#endif
