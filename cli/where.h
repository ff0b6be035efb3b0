/* SPDX-License-Identifier: MIT */
/* where.h: where the pairs of `carom pairs` are: coordinates as CSV, and a mesh with marked faces.
 */
#ifndef CAROM_CLI_WHERE_H
#define CAROM_CLI_WHERE_H

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

/* Writes the faces of one mesh or two as PLY with colours: those of pairs red, all others grey. The
 * second mesh is posed. */
void where_mark(const carom_mesh_view *a, const carom_mesh_view *b, const carom_pose *pose,
                const uint8_t *marked, output *out);

#endif
