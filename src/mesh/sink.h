/* SPDX-License-Identifier: MIT */
/* sink.h: where writers put bytes: a file, a compressed file, or memory. */
#ifndef CAROM_SRC_MESH_SINK_H
#define CAROM_SRC_MESH_SINK_H

#include <string.h>

#include "base/status.h"
#include "carom/mesh.h"

/* After a failure the sink swallows what comes and remembers the status. */
typedef struct carom_sink carom_sink;
struct carom_sink {
    carom_context *context;
    const char *name; /* for messages */
    uint8_t *buffer;
    size_t used, size;
    carom_status status;
    carom_status (*take)(carom_sink *sink); /* takes buffer[0 .. used) */
    /* one of: */
    int file;
    struct carom_deflate *deflate; /* on the way to the file, when compressed */
    carom_bytes *bytes;            /* count is the true one, data may hold less */
};

#define CAROM_SINK_ROOM 4096 /* the most that carom_sink_room gives */

void carom_sink_flush(carom_sink *sink);

/* A place for up to CAROM_SINK_ROOM bytes; carom_sink_advance says where they end. */
static inline char *carom_sink_room(carom_sink *sink) {
    if (sink->size - sink->used < CAROM_SINK_ROOM) carom_sink_flush(sink);
    return (char *)sink->buffer + sink->used;
}

static inline void carom_sink_advance(carom_sink *sink, const char *end) {
    sink->used = (size_t)(end - (const char *)sink->buffer);
}

/* The text, at most CAROM_SINK_ROOM bytes. */
void carom_sink_text(carom_sink *sink, const char *text);
/* A line: the prefix, then x y z. */
void carom_sink_point(carom_sink *sink, const char *prefix, carom_vec3 point);
/* A line for each face: its number of corners, then these. */
void carom_sink_faces(carom_sink *sink, const carom_mesh_view *view);

/* ---- opening and closing --------------------------------------------------------------------- */

/* As long as a path may be, the closing zero included. */
#define CAROM_SINK_LONGEST_PATH 4096

/* `name` is the file's; bytes go to a new file beside it until carom_sink_close_file renames it or,
 * when the sink has failed, removes it. */
typedef struct carom_sink_file {
    carom_sink sink;
    char *draft;       /* its name */
    const char *place; /* what it becomes: the sink's name, or the file that name links to */
    char linked[CAROM_SINK_LONGEST_PATH];
} carom_sink_file;
carom_status carom_sink_open_file(carom_context *context, const char *name, bool gzip,
                                  carom_sink_file *file);
carom_status carom_sink_close_file(carom_sink_file *file, carom_status written);

carom_status carom_sink_open_memory(carom_context *context, carom_bytes *bytes, carom_sink *sink);
carom_status carom_sink_close_memory(carom_sink *sink, carom_status written);

#endif
