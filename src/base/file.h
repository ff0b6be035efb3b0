/* SPDX-License-Identifier: MIT */
/* file.h: the one place where the library opens files to read them. */
#ifndef CAROM_SRC_BASE_FILE_H
#define CAROM_SRC_BASE_FILE_H

#include "base/context.h"

/* Milliseconds to wait for a pipe between two checks for cancellation. */
#define CAROM_FILE_WAIT 50

typedef struct carom_file {
    int descriptor; /* to be closed by the caller */
    bool is_regular;
    uint64_t size; /* of a regular file; else 0 */
} carom_file;

/* Opens a regular file or a pipe. Refuses devices, which may have no end, folders, and regular
 * files beyond the context's limit. */
carom_status carom_file_open(carom_context *context, const char *path, carom_file *file);

/* Reads a whole file or pipe as it is; carom_release frees the bytes. */
carom_status carom_file_read(carom_context *context, const char *path, uint8_t **data,
                             uint64_t *size);

/* The failure of an input, or of what it unpacks to, that is beyond the context's limit. */
carom_status carom_file_fail_limit(carom_context *context, const char *name);

#endif
