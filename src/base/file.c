/* SPDX-License-Identifier: MIT */
/* Reading files. A file is not mapped, as a mapping would crash if it were truncated meanwhile.
 *
 * A device such as /dev/zero has no end, and reading some devices has effects; names come from
 * files of others (the meshes of a robot), so devices are refused wherever a name leads to one. A
 * pipe may also have no end: it is read up to the context's limit. */
#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/item.h"
#include "base/platform.h"
#include "base/progress.h"

#define READ_BYTES ((uint64_t)8 << 20) /* between two reports: a few milliseconds */

static carom_status file_fail_file(carom_context *context, const char *path, const char *what) {
    return carom_fail(context, CAROM_IO, "%s: %s: %s", path, what, strerror(errno));
}

carom_status carom_file_fail_limit(carom_context *context, const char *name) {
    return carom_fail(context, CAROM_TOO_LARGE,
                      "%s: more than %" PRIu64
                      " bytes, the limit for one input; raise input_limit of the context "
                      "(--limit-input) if that is meant",
                      name, context->input_limit);
}

/* Refuses what may have no end or is no file. */
static carom_status check_kind(carom_context *context, const char *path, carom_os_file_kind kind) {
    if (kind == CAROM_OS_FILE_FOLDER)
        return carom_fail(context, CAROM_IO, "%s: is a folder; name a file in it", path);
    if (kind == CAROM_OS_FILE_DEVICE)
        return carom_fail(context, CAROM_IO,
                          "%s: is a device, which is not read; name a regular file or a pipe",
                          path);
    return CAROM_OK;
}

carom_status carom_file_open(carom_context *context, const char *path, carom_file *file) {
    carom_os_file_info info = {.kind = CAROM_OS_FILE_PIPE}; /* gcc wants it set on every path */
    *file = (carom_file){.descriptor = carom_os_open_input(path)};
    if (file->descriptor < 0 && errno == EISDIR)
        return check_kind(context, path, CAROM_OS_FILE_FOLDER);
    if (file->descriptor < 0) return file_fail_file(context, path, "cannot be opened");
    carom_status status = carom_os_descriptor_info(file->descriptor, &info)
                              ? check_kind(context, path, info.kind)
                              : file_fail_file(context, path, "cannot be read");
    if (status == CAROM_OK && info.kind == CAROM_OS_FILE_REGULAR) {
        file->is_regular = true;
        file->size = info.size;
        if (file->size > context->input_limit) status = carom_file_fail_limit(context, path);
    }
    if (status != CAROM_OK) (void)carom_os_close(file->descriptor);
    return status;
}

typedef struct file_bytes {
    uint8_t *data;
    uint64_t size, capacity;
} file_bytes;

/* Reads to the end. The size stated by the system is only a hint, as pipes have none. */
static carom_status read_descriptor(carom_context *context, const char *path,
                                    const carom_file *file, file_bytes *bytes) {
    uint64_t wanted = file->size + 1; /* one more, to detect the end without growing */
    while (!carom_progress_cancelled(context)) {
        if (bytes->size > context->input_limit) return carom_file_fail_limit(context, path);
        if (bytes->size == bytes->capacity) {
            void *data = carom_array_grow(&context->allocator, bytes->data, bytes->size,
                                          CAROM_MAX(wanted, bytes->capacity + (1 << 16)), 1,
                                          &bytes->capacity);
            if (data == NULL) return carom_fail_memory(context, bytes->size + wanted, path);
            bytes->data = data;
        }
        if (!file->is_regular && !carom_os_wait_input(file->descriptor, CAROM_FILE_WAIT)) {
            carom_progress_add(context, 0, 0);
            continue;
        }
        size_t space = (size_t)CAROM_MIN(bytes->capacity - bytes->size, READ_BYTES);
        int64_t got = carom_os_read(file->descriptor, bytes->data + bytes->size, space);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) return file_fail_file(context, path, "cannot be read");
        if (got == 0) break;
        bytes->size += (uint64_t)got;
        carom_progress_add(context, 0, (uint64_t)got);
    }
    return CAROM_OK; /* the caller's carom_progress_finish reports the cancellation */
}

carom_status carom_file_read(carom_context *context, const char *path, uint8_t **data,
                             uint64_t *size) {
    carom_file file;
    file_bytes bytes = {0};
    *data = NULL;
    *size = 0;
    CAROM_TRY(carom_file_open(context, path, &file));
    carom_progress_begin(context, "reading a file", file.size);
    carom_status status =
        carom_progress_finish(context, read_descriptor(context, path, &file, &bytes));
    (void)carom_os_close(file.descriptor);
    if (status != CAROM_OK) {
        carom_release(&context->allocator, bytes.data);
        return status;
    }
    *data = bytes.data;
    *size = bytes.size;
    return CAROM_OK;
}
