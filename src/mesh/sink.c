/* SPDX-License-Identifier: MIT */
/* Where written bytes go. A file is written under another name beside its place and renamed when
 * it is whole: a full disk leaves the old file as it was. A symbolic link stays one, and a file
 * that is replaced keeps its mode. What is no plain file (a pipe, a device) is written straight. */
#define _XOPEN_SOURCE 700
#include "mesh/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/context.h"
#include "base/progress.h"
#include "mesh/format.h"
#include "mesh/gzip.h"
#include "mesh/mesh.h"
#include "mesh/number.h"

#define BUFFER_BYTES ((size_t)1 << 18)
#ifdef PATH_MAX
_Static_assert(CAROM_SINK_LONGEST_PATH >= PATH_MAX, "realpath writes up to PATH_MAX bytes");
#endif

CAROM_RESULT_FILL(carom_bytes);
CAROM_RESULT_DEFINE_FREE(carom_bytes);

void carom_sink_flush(carom_sink *sink) {
    if (sink->used == 0) return;
    if (sink->status == CAROM_OK) sink->status = sink->take(sink);
    carom_progress_add(sink->context, 0, sink->used);
    if (sink->status == CAROM_OK && carom_progress_cancelled(sink->context))
        sink->status = CAROM_CANCELLED; /* carom_progress_end has the message */
    sink->used = 0;
}

void carom_sink_text(carom_sink *sink, const char *text) {
    size_t length = strlen(text);
    char *at = carom_sink_room(sink);
    memcpy(at, text, length);
    carom_sink_advance(sink, at + length);
}

void carom_sink_point(carom_sink *sink, const char *prefix, carom_vec3 point) {
    char *at = carom_sink_room(sink);
    while (*prefix != '\0') *at++ = *prefix++;
    at = carom_number_print(at, point.x);
    *at++ = ' ';
    at = carom_number_print(at, point.y);
    *at++ = ' ';
    at = carom_number_print(at, point.z);
    *at++ = '\n';
    carom_sink_advance(sink, at);
}

void carom_sink_faces(carom_sink *sink, const carom_mesh_view *view) {
    for (uint64_t f = 0; f < view->face_count && sink->status == CAROM_OK; ++f) {
        uint64_t c = carom_mesh_offset(view, f), end = carom_mesh_offset(view, f + 1);
        char *at = carom_number_print_count(carom_sink_room(sink), end - c);
        for (; c < end; ++c) {
            carom_sink_advance(sink, at);
            at = carom_sink_room(sink);
            *at++ = ' ';
            at = carom_number_print_count(at, view->corners[c]);
        }
        *at++ = '\n';
        carom_sink_advance(sink, at);
    }
}

static carom_status take_buffer(carom_sink *sink) {
    sink->size = BUFFER_BYTES;
    sink->buffer = carom_allocate(&sink->context->allocator, sink->size, 1);
    if (sink->buffer == NULL)
        return carom_fail_memory(sink->context, sink->size, "a buffer for writing");
    return CAROM_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static carom_status fail_file(const carom_sink *sink, const char *what) {
    return carom_fail(sink->context, CAROM_IO, "%s: %s: %s", sink->name, what, strerror(errno));
}

static carom_status put_file(void *user, const uint8_t *bytes, size_t size) {
    carom_sink *sink = user;
    while (size != 0) {
        ssize_t written = write(sink->file, bytes, size);
        if (written < 0 && errno == EAGAIN) { /* a pipe that nobody reads from now */
            struct pollfd ready = {.fd = sink->file, .events = POLLOUT};
            (void)poll(&ready, 1, CAROM_FILE_WAIT);
            carom_progress_add(sink->context, 0, 0);
            if (carom_progress_cancelled(sink->context))
                return carom_fail(sink->context, CAROM_CANCELLED, "%s: cancelled while it waited",
                                  sink->name);
            continue;
        }
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return fail_file(sink, "cannot be written");
        bytes += written;
        size -= (size_t)written;
    }
    return CAROM_OK;
}

static carom_status take_for_file(carom_sink *sink) {
    if (sink->deflate == NULL) return put_file(sink, sink->buffer, sink->used);
    return carom_deflate_write(sink->deflate, sink->buffer, sink->used, false, put_file, sink);
}

/* A pipe or a device. Without O_NONBLOCK the opening of a pipe waits for a reader, and nothing can
 * cancel it. */
static int open_pipe(carom_sink *sink) {
    for (;;) {
        int file = open(sink->name, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (file >= 0 || errno != ENXIO) return file;
        (void)poll(NULL, 0, CAROM_FILE_WAIT);
        carom_progress_add(sink->context, 0, 0);
        if (carom_progress_cancelled(sink->context)) return -1;
    }
}

/* Opens a file beside the place with the first free number N in its name, place.N.part, or a pipe
 * or device itself. */
static carom_status open_draft(carom_sink_file *file) {
    carom_sink *sink = &file->sink;
    struct stat info;
    bool replaces = stat(sink->name, &info) == 0;
    if (replaces && !S_ISREG(info.st_mode)) {
        sink->file = open_pipe(sink);
        if (sink->file < 0 && carom_progress_cancelled(sink->context)) return CAROM_CANCELLED;
        return sink->file < 0 ? fail_file(sink, "cannot be opened for writing") : CAROM_OK;
    }
    file->place =
        replaces && realpath(sink->name, file->linked) != NULL ? file->linked : sink->name;
    size_t size = strlen(file->place) + 32;
    file->draft = carom_allocate(&sink->context->allocator, size, 1);
    if (file->draft == NULL) return carom_fail_memory(sink->context, size, "a file name");
    for (unsigned n = 0; n < 1000; ++n) {
        snprintf(file->draft, size, "%s.%u.part", file->place, n);
        sink->file = open(file->draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (sink->file >= 0) {
            if (replaces) (void)fchmod(sink->file, info.st_mode & 0777);
            return CAROM_OK;
        }
        if (errno != EEXIST) break;
    }
    carom_release(&sink->context->allocator, file->draft);
    file->draft = NULL;
    return fail_file(sink, "cannot be created");
}

carom_status carom_sink_open_file(carom_context *context, const char *name, bool gzip,
                                  carom_sink_file *file) {
    memset(file, 0, sizeof(*file));
    carom_sink *sink = &file->sink;
    sink->context = context;
    sink->name = name;
    sink->take = take_for_file;
    sink->file = -1;
    carom_status status = CAROM_OK;
    if (gzip) status = carom_deflate_open(context, name, &sink->deflate);
    if (status == CAROM_OK) status = take_buffer(sink);
    if (status == CAROM_OK) status = open_draft(file);
    if (status != CAROM_OK) {
        carom_deflate_close(sink->deflate);
        carom_release(&context->allocator, sink->buffer);
    }
    return status;
}

carom_status carom_sink_close_file(carom_sink_file *file, carom_status written) {
    carom_sink *sink = &file->sink;
    if (written == CAROM_OK) {
        carom_sink_flush(sink);
        written = sink->status;
    }
    if (written == CAROM_OK && sink->deflate != NULL)
        written = carom_deflate_write(sink->deflate, NULL, 0, true, put_file, sink);
    if (close(sink->file) != 0 && written == CAROM_OK)
        written = fail_file(sink, "cannot be written");
    if (file->draft != NULL) {
        if (written == CAROM_OK && rename(file->draft, file->place) != 0)
            written = fail_file(sink, "cannot be replaced");
        if (written != CAROM_OK) (void)unlink(file->draft);
    }
    carom_release(&sink->context->allocator, file->draft);
    carom_release(&sink->context->allocator, sink->buffer);
    carom_deflate_close(sink->deflate);
    return written;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static carom_status take_for_memory(carom_sink *sink) {
    carom_bytes *bytes = sink->bytes;
    uint64_t needed = bytes->count + sink->used;
    if (bytes->owner == CAROM_OWNER_CAROM && bytes->capacity < needed) {
        carom_bytes larger = {0};
        uint64_t room, wanted = CAROM_MAX(needed, bytes->capacity + bytes->capacity / 2);
        CAROM_TRY(
            carom_bytes_begin(sink->context, &sink->context->allocator, &larger, wanted, &room));
        if (bytes->count != 0) memcpy(larger.data, bytes->data, (size_t)bytes->count);
        larger.count = bytes->count;
        carom_bytes_free(bytes);
        *bytes = larger;
    }
    if (bytes->count < bytes->capacity)
        memcpy(bytes->data + bytes->count, sink->buffer,
               (size_t)CAROM_MIN(sink->used, bytes->capacity - bytes->count));
    bytes->count = needed;
    return CAROM_OK;
}

carom_status carom_sink_open_memory(carom_context *context, carom_bytes *bytes, carom_sink *sink) {
    memset(sink, 0, sizeof(*sink));
    sink->context = context;
    sink->name = "mesh";
    sink->take = take_for_memory;
    sink->bytes = bytes;
    bytes->count = 0;
    bytes->where = CAROM_WHERE_HOST;
    return take_buffer(sink);
}

carom_status carom_sink_close_memory(carom_sink *sink, carom_status written) {
    if (written == CAROM_OK) {
        carom_sink_flush(sink);
        written = sink->status;
    }
    carom_release(&sink->context->allocator, sink->buffer);
    return written == CAROM_OK ? carom_bytes_end(sink->bytes) : written;
}
