/* SPDX-License-Identifier: MIT */
/* meshes.h: loading and saving for commands that take mesh files. */
#ifndef CAROM_CLI_MESHES_H
#define CAROM_CLI_MESHES_H

#include "cli/command.h"

/* What --from takes: how to read the meshes, an index into meshes_from_names; 0: by content, then
 * by the file's name. */
extern const char *const meshes_from_names[];
#define MESHES_FROM_HELP "read the meshes as obj, ply, stl or off (by content, then by name)"

/* Reads a file, or the standard input when the path is "-". Faces that had to be left out are told
 * on stderr. */
carom_status meshes_read(cli *cli, const char *path, int from, carom_mesh **mesh);

/* The same, and welds it unless `no_weld`. */
carom_status meshes_load(cli *cli, const char *path, int from, bool no_weld, carom_mesh **mesh);

/* Makes vertices with equal coordinates one, in place. */
carom_status meshes_weld(cli *cli, carom_mesh **mesh);

/* Splits polygons into triangles in place: by form, or as fans. */
carom_status meshes_triangulate(cli *cli, bool fan, carom_mesh **mesh);

/* The format to write: that of --format (an index into meshes_format_names), or 0: by the path. */
extern const char *const meshes_format_names[]; /* for ARG_CHOICE, ended by NULL; first: by name */
carom_mesh_format meshes_format(const char *path, int choice);

/* To be asked before the work is done; what cannot be written is refused with a message. */
bool meshes_can_write(carom_mesh_format format);
int meshes_refuse(cli *cli, const char *path);

/* Whether the format holds float32 triangles only. */
bool meshes_is_plain(carom_mesh_format format);

/* Saves a mesh, to the standard output when the path is "-". For formats that hold less, polygons
 * are split and positions rounded first; float32 asks for the rounding in any case. */
carom_status meshes_save(cli *cli, carom_mesh **mesh, carom_mesh_format format, bool float32,
                         const char *path);

#endif
