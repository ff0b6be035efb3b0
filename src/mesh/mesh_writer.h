/* SPDX-License-Identifier: MIT */
/* mesh_writer.h: where writers put bytes: a file, a compressed file, or memory. */
#ifndef CAROM_SRC_MESH_MESH_WRITER_H
#define CAROM_SRC_MESH_MESH_WRITER_H

#include <string.h>

#include "base/status.h"
#include "carom/mesh.h"

/* After a failure the writer swallows what comes and remembers the status. */
typedef struct carom_writer carom_writer;
struct carom_writer {
    carom_context *context;
    const char *name; /* for messages */
    uint8_t *buffer;
    size_t used, size;
    carom_status status;
    carom_status (*take)(carom_writer *writer); /* takes buffer[0 .. used) */
    /* one of: */
    int file;
    struct carom_deflate *deflate; /* on the way to the file, when compressed */
    carom_bytes *bytes;            /* count is the true one, data may hold less */
};

#define CAROM_WRITER_ROOM 4096 /* the most that carom_writer_reserve gives */

void carom_writer_flush(carom_writer *writer);

/* A place for up to CAROM_WRITER_ROOM bytes; carom_writer_advance says where they end. */
static inline char *carom_writer_reserve(carom_writer *writer) {
    if (writer->size - writer->used < CAROM_WRITER_ROOM) carom_writer_flush(writer);
    return (char *)writer->buffer + writer->used;
}

static inline void carom_writer_advance(carom_writer *writer, const char *end) {
    writer->used = (size_t)(end - (const char *)writer->buffer);
}

/* The text, at most CAROM_WRITER_ROOM bytes. */
void carom_writer_text(carom_writer *writer, const char *text);
/* A line: the prefix, then x y z. */
void carom_writer_point(carom_writer *writer, const char *prefix, carom_vec3 point);
/* A line for each face: its number of corners, then these. */
void carom_writer_faces(carom_writer *writer, const carom_mesh_view *view);

/* ---- opening and closing --------------------------------------------------------------------- */

/* As long as a path may be, the closing zero included. */
#define CAROM_WRITER_LONGEST_PATH 4096

/* `name` is the file's; bytes go to a new file beside it until carom_writer_close_file renames it
 * or, when the writer has failed, removes it. */
typedef struct carom_writer_file {
    carom_writer writer;
    char *draft;       /* its name */
    const char *place; /* what it becomes: the writer's name, or the file that name links to */
    char linked[CAROM_WRITER_LONGEST_PATH];
} carom_writer_file;
carom_status carom_writer_open_file(carom_context *context, const char *name, bool gzip,
                                    carom_writer_file *file);
carom_status carom_writer_close_file(carom_writer_file *file, carom_status written);

carom_status carom_writer_open_memory(carom_context *context, carom_bytes *bytes,
                                      carom_writer *writer);
carom_status carom_writer_close_memory(carom_writer *writer, carom_status written);

#endif
