/* SPDX-License-Identifier: MIT */
/* mesh_writer.h: the destination of written bytes: a file, a compressed file, or memory. */
#ifndef CAROM_SRC_MESH_MESH_WRITER_H
#define CAROM_SRC_MESH_MESH_WRITER_H

#include <string.h>

#include "base/status.h"
#include "carom/mesh.h"

/* After a failure the writer discards further bytes and keeps the status. */
typedef struct carom_writer carom_writer;
struct carom_writer {
    carom_context *context;
    const char *name; /* for messages */
    uint8_t *buffer;
    size_t used, size;
    carom_status status;
    carom_status (*take)(carom_writer *writer); /* consumes buffer[0 .. used) */
    /* one of: */
    int file;
    struct carom_deflate *deflate; /* compresses before the file, or NULL */
    carom_bytes *bytes;            /* count is the full size, data may hold less */
};

#define CAROM_WRITER_ROOM 4096 /* the most bytes that carom_writer_reserve gives */

void carom_writer_flush(carom_writer *writer);

/* Space for up to CAROM_WRITER_ROOM bytes; carom_writer_advance sets their end. */
static inline char *carom_writer_reserve(carom_writer *writer) {
    if (writer->size - writer->used < CAROM_WRITER_ROOM) carom_writer_flush(writer);
    return (char *)writer->buffer + writer->used;
}

static inline void carom_writer_advance(carom_writer *writer, const char *end) {
    writer->used = (size_t)(end - (const char *)writer->buffer);
}

/* Writes text of any length. */
void carom_writer_text(carom_writer *writer, const char *text);
/* Writes the prefix, then x y z, without a line end. */
void carom_writer_point(carom_writer *writer, const char *prefix, carom_vec3 point);
/* Writes the number of corners of a face, then their indices, without a line end. */
void carom_writer_face(carom_writer *writer, const carom_mesh_view *view, uint64_t face);

static inline void carom_writer_end_line(carom_writer *writer) {
    *carom_writer_reserve(writer) = '\n';
    ++writer->used;
}

/* ---- Opening and closing --------------------------------------------------------------------- */

/* The longest path, including the terminating zero. */
#define CAROM_WRITER_LONGEST_PATH 4096

/* `name` is the file's. Bytes go to a new file in the same folder, the draft.
 * carom_writer_close_file renames it, or removes it when the writer has failed. */
typedef struct carom_writer_file {
    carom_writer writer;
    char *draft;            /* its path */
    const char *final_path; /* its final path: the writer's name, or the file that name links to */
    char linked[CAROM_WRITER_LONGEST_PATH];
} carom_writer_file;
carom_status carom_writer_open_file(carom_context *context, const char *name, bool gzip,
                                    carom_writer_file *file);
carom_status carom_writer_close_file(carom_writer_file *file, carom_status written);

carom_status carom_writer_open_memory(carom_context *context, carom_bytes *bytes,
                                      carom_writer *writer);
carom_status carom_writer_close_memory(carom_writer *writer, carom_status written);

#endif
