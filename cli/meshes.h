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

/* What meshes are written as: a carom_mesh_format, or a display (display.h). */
enum {
    MESHES_HTML = CAROM_MESH_FORMAT_COUNT,
    MESHES_GLB,
    MESHES_PNG,
};

/* The values of --format, and the help for them. meshes_format is the format to write: that value
 * or, where it was not given (0), the one that the path tells. */
const char *meshes_format_choice(int index);
#define MESHES_FORMAT_HELP                                                                         \
    "obj, ply, ply-big, ply-ascii, stl, stl-ascii, off, html, glb or png (by the file's name)"
int meshes_format(const char *path, int choice);

/* The endings of mesh files (endings.h). */
const char *meshes_endings(int index);

/* To be called before any work: refuses with a message the standard output without --format. */
bool meshes_can_write(int format);
int meshes_refuse(cli *cli);

/* Whether the format holds only float32 triangles. */
bool meshes_is_plain(int format);

/* "html", "glb" or "png" for the formats that show a mesh, NULL for those that hold one. */
const char *meshes_shown_format(int format);

/* Saves a mesh, to the standard output when the path is "-". For formats that hold less, polygons
 * are split and positions rounded first; float32 requests the rounding in any case. */
carom_status meshes_save(cli *cli, carom_mesh **mesh, int format, bool float32, const char *path);

#endif
