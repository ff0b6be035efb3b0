/* SPDX-License-Identifier: MIT */
/* mesh_format.h: the functions that each file format provides. */
#ifndef CAROM_SRC_MESH_MESH_FORMAT_H
#define CAROM_SRC_MESH_MESH_FORMAT_H

#include "mesh/mesh_builder.h"
#include "mesh/mesh_writer.h"

/* The formats that every build reads and writes, for messages. */
#define CAROM_NATIVE_FORMATS "OBJ, PLY, STL and OFF"

/* The bytes of a whole file, uncompressed. */
typedef struct carom_source {
    const uint8_t *bytes;
    uint64_t size;
} carom_source;

/* Readers fill the builder and return the variant found. Vertex and face indices in their messages
 * start at 0, except for OBJ's vertices, which the file itself counts from 1. */
typedef carom_status carom_read_fn(carom_builder *builder, carom_source source,
                                   carom_mesh_format *format);
carom_read_fn carom_read_obj, carom_read_ply, carom_read_stl, carom_read_off;

/* OBJ piece by piece, without its parts. Each piece but the last ends after a line end that no
 * backslash precedes; begin with {0}. The builder then holds the vertices and faces of the piece
 * alone; the caller takes them and empties it. */
typedef struct carom_obj_pieces {
    bool begun;
    uint64_t points, lines; /* so far */
    uint64_t forward, forward_line, unknown_line;
} carom_obj_pieces;
carom_status carom_read_obj_piece(carom_builder *builder, carom_source piece, bool is_last,
                                  carom_obj_pieces *pieces);

/* Reads through assimp: from the file itself when there is a path, as a file may refer to others in
 * its folder. */
carom_status carom_read_assimp(carom_builder *builder, const char *path, carom_source source);

/* Whether the bytes are binary glTF 2.0. carom_read_glb reads it, unless it needs more than that:
 * *is_foreign then says so, and the builder is unchanged. */
bool carom_glb_is(carom_source source);
carom_status carom_read_glb(carom_builder *builder, carom_source source, bool *is_foreign);

/* Writers put a checked view into the writer, which reports its own failures. */
typedef carom_status carom_write_fn(carom_writer *writer, const carom_mesh_view *view,
                                    carom_mesh_format format);
carom_write_fn carom_write_obj, carom_write_ply, carom_write_stl, carom_write_off;

/* Whether binary STL holds these positions exactly. */
bool carom_mesh_is_float32(const carom_mesh_view *view);

/* The end of the word that begins an OFF file (COFF, NOFF, ...); NULL when there is none. */
const uint8_t *carom_off_header_end(const uint8_t *begin, const uint8_t *end);

/* Whether the size is exactly that of binary STL. */
bool carom_stl_is_binary(carom_source source);
bool carom_name_is_gzip(const char *name);

/* Whether the name has this ending (given in lower case), in any case, before an optional .gz. */
bool carom_name_ends(const char *name, const char *ending);

/* Whether all bytes are padding as some tools write it: zeros, white space, control-Z. */
bool carom_is_padding(const uint8_t *bytes, const uint8_t *end);

#endif
