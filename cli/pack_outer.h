/* SPDX-License-Identifier: MIT */
/* pack_outer.h: `carom pack --outer`: covers from outside, one per part of a mesh or link of a
 * robot.
 */
#ifndef CAROM_CLI_PACK_OUTER_H
#define CAROM_CLI_PACK_OUTER_H

#include "cli/command.h"

typedef struct pack_outer_options {
    const char *out, *cells;
    uint64_t count; /* per part */
    double distance, margin;
    int format, from; /* a pack_format, or 0: by the name of the file */
    bool allow_open, whole, visual, check;
    const arg_list *packages; /* where the meshes of a robot are */
} pack_outer_options;

/* Returns an exit code. */
int pack_outer(cli *cli, const pack_outer_options *options, const char *path);

#endif
