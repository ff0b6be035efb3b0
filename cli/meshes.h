/* SPDX-License-Identifier: MIT */
/* meshes.h: loading and saving for commands that take mesh files. */
#ifndef CAROM_CLI_MESHES_H
#define CAROM_CLI_MESHES_H

#include "cli/command.h"

/* The values of --from: a carom_mesh_format. */
const char *meshes_from_choice(int index);
#define MESHES_FROM_HELP "read the meshes as obj, ply, stl or off (by content, then by name)"

/* Reads a file, or the standard input when the path is "-". Reports faces that had to be left out
 * on stderr. */
carom_status meshes_read(cli *cli, const char *path, int from, carom_mesh **mesh);

/* The same, then welds the mesh unless `no_weld`. */
carom_status meshes_load(cli *cli, const char *path, int from, bool no_weld, carom_mesh **mesh);

/* Merges vertices with equal coordinates, in place: all, or those of each part. */
carom_status meshes_weld(cli *cli, carom_mesh **mesh);
carom_status meshes_weld_parts(cli *cli, carom_mesh **mesh);

/* Splits polygons into triangles in place: by shape, or as fans. */
carom_status meshes_triangulate(cli *cli, bool fan, carom_mesh **mesh);

/* The values of --format: a carom_mesh_format that can be written. meshes_format is the format to
 * write: that value or, for CAROM_MESH_FORMAT_GUESS, the one that the path tells. */
const char *meshes_format_choice(int index);
carom_mesh_format meshes_format(const char *path, int choice);

/* To be called before any work: refuses with a message a format that cannot be written. */
bool meshes_can_write(carom_mesh_format format);
int meshes_refuse(cli *cli, const char *path);

/* Whether the format holds only float32 triangles. */
bool meshes_is_plain(carom_mesh_format format);

/* Saves a mesh, to the standard output when the path is "-". For formats that hold less, polygons
 * are split and positions rounded first; float32 requests the rounding in any case. */
carom_status meshes_save(cli *cli, carom_mesh **mesh, carom_mesh_format format, bool float32,
                         const char *path);

#endif
