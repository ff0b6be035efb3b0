/* SPDX-License-Identifier: MIT */
/* mesh_format.h: what each file format provides. */
#ifndef CAROM_SRC_MESH_MESH_FORMAT_H
#define CAROM_SRC_MESH_MESH_FORMAT_H

#include "mesh/mesh_builder.h"
#include "mesh/mesh_writer.h"

/* What can be read and written everywhere, for messages. */
#define CAROM_NATIVE_FORMATS "OBJ, PLY, STL and OFF"

/* The bytes of a whole file, uncompressed. */
typedef struct carom_source {
    const uint8_t *bytes;
    uint64_t size;
} carom_source;

/* Readers fill the builder and say which variant they found. Numbers of vertices and faces in
 * their messages start at 0, but for OBJ's vertices, which the file itself numbers from 1. */
typedef carom_status carom_read_fn(carom_builder *builder, carom_source source,
                                   carom_mesh_format *format);
carom_read_fn carom_read_obj, carom_read_ply, carom_read_stl, carom_read_off;

/* Through assimp; from the file itself when there is a path, as companions lie beside it. */
carom_status carom_read_assimp(carom_builder *builder, const char *path, carom_source source);

/* Writers put a checked view into the writer; what went wrong there is the writer's to say. */
typedef carom_status carom_write_fn(carom_writer *writer, const carom_mesh_view *view,
                                    carom_mesh_format format);
carom_write_fn carom_write_obj, carom_write_ply, carom_write_stl, carom_write_off;

/* Does binary STL hold these positions exactly? */
bool carom_mesh_is_float32(const carom_mesh_view *view);

/* Where the word that begins an OFF file ends (COFF, NOFF, ...); NULL when there is none. */
const uint8_t *carom_off_header_end(const uint8_t *begin, const uint8_t *end);

/* Is the size exactly that of binary STL? */
bool carom_stl_is_binary(carom_source source);
bool carom_name_is_gzip(const char *name);

/* Does the name end like this (small letters), in any case, before an ending .gz? */
bool carom_name_ends(const char *name, const char *ending);

/* How long a pipe is waited for between two looks at whether to stop, in milliseconds. */
#define CAROM_FILE_WAIT 50

/* Are these bytes what some tools pad files with: zeros, white space, control-Z? */
bool carom_is_padding(const uint8_t *bytes, const uint8_t *end);

#endif
