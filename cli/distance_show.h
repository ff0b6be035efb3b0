/* SPDX-License-Identifier: MIT */
/* distance_show.h: what carom distance found, to look at. */
#ifndef CAROM_CLI_DISTANCE_SHOW_H
#define CAROM_CLI_DISTANCE_SHOW_H

#include "cli/command.h"

typedef struct distance_show_def {
    const char *path; /* of the mesh */
    const carom_mesh *mesh;
    const carom_vec3 *points;
    const double *distances;
    const carom_hit *hits; /* the nearest point and face of each */
    uint64_t count, inside;
    double least, most;
} distance_show_def;

/* Writes a page, GLB or picture: the mesh see-through, the points coloured by their distances, and
 * lines to the nearest points of the mesh. CAROM_IO after it was reported. */
carom_status distance_show(cli *cli, const distance_show_def *def, const char *output,
                           const char *format);

#endif
