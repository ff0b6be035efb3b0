/* SPDX-License-Identifier: MIT */
/* The destinations of written bytes. A file is written under another name in the same folder, as a
 * draft, and renamed when it is complete, so a full disk leaves the old file unchanged. Symbolic
 * links are followed and kept, and a replaced file keeps its mode. What is not a regular file (a
 * pipe, a device) is written directly. */
#include "mesh/mesh_writer.h"

#include <errno.h>
#include <stdio.h>

#include "base/array.h"
#include "base/context.h"
#include "base/file.h"
#include "base/platform.h"
#include "base/progress.h"
#include "mesh/mesh.h"
#include "mesh/mesh_format.h"
#include "mesh/mesh_gzip.h"
#include "mesh/mesh_number.h"

/* Names that are tried for a draft: as many may be written beside each other. */
#define WRITER_MOST_DRAFTS 1000u

#define BUFFER_BYTES ((size_t)1 << 18)

CAROM_RESULT_FILL(carom_bytes);
CAROM_RESULT_DEFINE_FREE(carom_bytes);

void carom_writer_flush(carom_writer *writer) {
    if (writer->used == 0) return;
    if (writer->status == CAROM_OK) writer->status = writer->take(writer);
    carom_progress_add(writer->context, 0, writer->used);
    if (writer->status == CAROM_OK && carom_progress_cancelled(writer->context))
        writer->status = CAROM_CANCELLED; /* carom_progress_end sets the message */
    writer->used = 0;
}

void carom_writer_text(carom_writer *writer, const char *text) {
    for (size_t left = strlen(text); left != 0;) {
        size_t length = CAROM_MIN(left, (size_t)CAROM_WRITER_ROOM);
        char *at = carom_writer_reserve(writer);
        memcpy(at, text, length);
        carom_writer_advance(writer, at + length);
        text += length;
        left -= length;
    }
}

void carom_writer_point(carom_writer *writer, const char *prefix, carom_vec3 point) {
    char *at = carom_writer_reserve(writer);
    while (*prefix != '\0') *at++ = *prefix++;
    at = carom_number_print(at, point.x);
    *at++ = ' ';
    at = carom_number_print(at, point.y);
    *at++ = ' ';
    at = carom_number_print(at, point.z);
    carom_writer_advance(writer, at);
}

void carom_writer_face(carom_writer *writer, const carom_mesh_view *view, uint64_t face) {
    uint64_t c = carom_mesh_offset(view, face), end = carom_mesh_offset(view, face + 1);
    char *at = carom_number_print_count(carom_writer_reserve(writer), end - c);
    for (; c < end; ++c) {
        carom_writer_advance(writer, at);
        at = carom_writer_reserve(writer);
        *at++ = ' ';
        at = carom_number_print_count(at, view->corners[c]);
    }
    carom_writer_advance(writer, at);
}

static carom_status take_buffer(carom_writer *writer) {
    writer->size = BUFFER_BYTES;
    writer->buffer = carom_allocate(&writer->context->allocator, writer->size, 1);
    if (writer->buffer == NULL)
        return carom_fail_memory(writer->context, writer->size, "a buffer for writing");
    return CAROM_OK;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static carom_status mesh_writer_fail_file(const carom_writer *writer, const char *what) {
    return carom_fail(writer->context, CAROM_IO, "%s: %s: %s", writer->name, what, strerror(errno));
}

static carom_status put_file(void *user, const uint8_t *bytes, size_t size) {
    carom_writer *writer = user;
    while (size != 0) {
        int64_t written = carom_os_write(writer->file, bytes, size);
        if (written < 0 && errno == EAGAIN) { /* a pipe whose reader is not reading */
            (void)carom_os_wait_output(writer->file, CAROM_FILE_WAIT);
            carom_progress_add(writer->context, 0, 0);
            if (carom_progress_cancelled(writer->context))
                return carom_fail(writer->context, CAROM_CANCELLED, "%s: cancelled while it waited",
                                  writer->name);
            continue;
        }
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return mesh_writer_fail_file(writer, "cannot be written");
        bytes += written;
        size -= (size_t)written;
    }
    return CAROM_OK;
}

static carom_status take_for_file(carom_writer *writer) {
    if (writer->deflate == NULL) return put_file(writer, writer->buffer, writer->used);
    return carom_deflate_write(writer->deflate, writer->buffer, writer->used, false, put_file,
                               writer);
}

/* Opens a pipe or a device. Waits for a reader of the pipe until it is cancelled. */
static int open_pipe(carom_writer *writer) {
    for (;;) {
        int file = carom_os_open_pipe(writer->name);
        if (file >= 0 || errno != ENXIO) return file;
        carom_os_sleep(CAROM_FILE_WAIT);
        carom_progress_add(writer->context, 0, 0);
        if (carom_progress_cancelled(writer->context)) return -1;
    }
}

/* Opens a file next to the final path, named FINAL_PATH.N.part with the first unused number N.
 * Pipes and devices are opened themselves. */
static carom_status open_draft(carom_writer_file *file) {
    carom_writer *writer = &file->writer;
    carom_os_file_info info;
    bool replaces = carom_os_file_info_of(writer->name, &info);
    if (replaces && info.kind != CAROM_OS_FILE_REGULAR) {
        writer->file = open_pipe(writer);
        if (writer->file < 0 && carom_progress_cancelled(writer->context)) return CAROM_CANCELLED;
        return writer->file < 0 ? mesh_writer_fail_file(writer, "cannot be opened for writing")
                                : CAROM_OK;
    }
    file->final_path =
        replaces && carom_os_real_path(writer->name, file->linked, sizeof(file->linked))
            ? file->linked
            : writer->name;
    size_t size = strlen(file->final_path) + 32;
    file->draft = carom_allocate(&writer->context->allocator, size, 1);
    if (file->draft == NULL) return carom_fail_memory(writer->context, size, "a file name");
    for (unsigned n = 0; n < WRITER_MOST_DRAFTS; ++n) {
        snprintf(file->draft, size, "%s.%u.part", file->final_path, n);
        writer->file = carom_os_open_new(file->draft);
        if (writer->file >= 0) {
            if (replaces) carom_os_set_mode(writer->file, info.mode);
            return CAROM_OK;
        }
        if (errno != EEXIST) break;
    }
    carom_release(&writer->context->allocator, file->draft);
    file->draft = NULL;
    return mesh_writer_fail_file(writer, "cannot be created");
}

carom_status carom_writer_open_file(carom_context *context, const char *name, bool gzip,
                                    carom_writer_file *file) {
    memset(file, 0, sizeof(*file));
    carom_writer *writer = &file->writer;
    writer->context = context;
    writer->name = name;
    writer->take = take_for_file;
    writer->file = -1;
    carom_status status = CAROM_OK;
    if (gzip) status = carom_deflate_open(context, name, &writer->deflate);
    if (status == CAROM_OK) status = take_buffer(writer);
    if (status == CAROM_OK) status = open_draft(file);
    if (status != CAROM_OK) {
        carom_deflate_close(writer->deflate);
        carom_release(&context->allocator, writer->buffer);
    }
    return status;
}

carom_status carom_writer_close_file(carom_writer_file *file, carom_status written) {
    carom_writer *writer = &file->writer;
    if (written == CAROM_OK) {
        carom_writer_flush(writer);
        written = writer->status;
    }
    if (written == CAROM_OK && writer->deflate != NULL)
        written = carom_deflate_write(writer->deflate, NULL, 0, true, put_file, writer);
    if (carom_os_close(writer->file) != 0 && written == CAROM_OK)
        written = mesh_writer_fail_file(writer, "cannot be written");
    if (file->draft != NULL) {
        if (written == CAROM_OK && !carom_os_replace(file->draft, file->final_path))
            written = mesh_writer_fail_file(writer, "cannot be replaced");
        if (written != CAROM_OK) (void)carom_os_remove(file->draft);
    }
    carom_release(&writer->context->allocator, file->draft);
    carom_release(&writer->context->allocator, writer->buffer);
    carom_deflate_close(writer->deflate);
    return written;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static carom_status take_for_memory(carom_writer *writer) {
    carom_bytes *bytes = writer->bytes;
    uint64_t needed = bytes->count + writer->used;
    if (bytes->owner == CAROM_OWNER_CAROM && bytes->capacity < needed) {
        carom_bytes larger = {0};
        uint64_t space, wanted = CAROM_MAX(needed, bytes->capacity + bytes->capacity / 2);
        CAROM_TRY(carom_bytes_begin(writer->context, &writer->context->allocator, &larger, wanted,
                                    &space));
        if (bytes->count != 0) memcpy(larger.data, bytes->data, (size_t)bytes->count);
        larger.count = bytes->count;
        carom_bytes_free(bytes);
        *bytes = larger;
    }
    if (bytes->count < bytes->capacity)
        memcpy(bytes->data + bytes->count, writer->buffer,
               (size_t)CAROM_MIN(writer->used, bytes->capacity - bytes->count));
    bytes->count = needed;
    return CAROM_OK;
}

carom_status carom_writer_open_memory(carom_context *context, carom_bytes *bytes,
                                      carom_writer *writer) {
    memset(writer, 0, sizeof(*writer));
    writer->context = context;
    writer->name = "mesh";
    writer->take = take_for_memory;
    writer->bytes = bytes;
    bytes->count = 0;
    return take_buffer(writer);
}

carom_status carom_writer_close_memory(carom_writer *writer, carom_status written) {
    if (written == CAROM_OK) {
        carom_writer_flush(writer);
        written = writer->status;
    }
    carom_release(&writer->context->allocator, writer->buffer);
    return written == CAROM_OK ? carom_bytes_end(writer->bytes) : written;
}
