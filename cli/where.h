/* SPDX-License-Identifier: MIT */
/* where.h: where the pairs of `carom pairs` are: coordinates as CSV, and a mesh with marked faces.
 */
#ifndef CAROM_CLI_WHERE_H
#define CAROM_CLI_WHERE_H

#include "cli/display.h"
#include "cli/output.h"

/* The soups of a query, with a pose for b; b is NULL for pairs of a with itself. */
typedef struct where_soups {
    const carom_soup *a, *b;
    const carom_pose *pose;
} where_soups;

/* Removes pairs whose faces only touch, in place. */
carom_status where_keep_crossing(cli *cli, const where_soups *soups, carom_pairs *pairs);

/* Writes lines i,j,x0,y0,z0,x1,y1,z1: a line per segment in which faces meet, or, with `nearest`,
 * one per pair with its nearest points. *lines is their number. */
carom_status where_write(cli *cli, const where_soups *soups, const carom_pairs *pairs, bool nearest,
                         output *out, uint64_t *lines);

/* Makes one mesh of the faces of one mesh or two with colours, for PLY: those of pairs red, all
 * others grey. The second mesh is posed. Positions are float32 where all of the meshes are. */
carom_status where_mark(cli *cli, const carom_mesh_view *a, const carom_mesh_view *b,
                        const carom_pose *pose, const uint8_t *marked, carom_mesh **made);

/* What where_show shows. */
typedef struct where_def {
    where_soups soups;
    const carom_mesh_view *a, *b; /* whose faces are those of the soups; b may be NULL */
    const char *const *paths;     /* of the two */
    const carom_pairs *pairs;
    bool fan;     /* polygons are split so */
    bool nearest; /* pairs are of faces that are near, not of those that meet */
    const char *title;
} where_def;

/* Fills a display: the meshes, the faces of pairs in contacts, which are the sets of faces that
 * pairs or common vertices connect, the segments in which they meet, and a list of the contacts,
 * the largest first. display_free is due also after a failure. */
carom_status where_show(cli *cli, const where_def *def, display *d);

carom_status where_find_segments(cli *cli, const where_soups *soups, const carom_pairs *pairs,
                                 carom_soup_segments *segments);
carom_status where_find_gaps(cli *cli, const where_soups *soups, const carom_pairs *pairs,
                             carom_soup_gap *gaps);

#endif
