/* SPDX-License-Identifier: MIT */
/* files.h: which files a call of the tool reads and writes, so that it never replaces what it reads
 * or has written itself. Files are compared by device and inode, after links are followed. */
#ifndef CAROM_CLI_FILES_H
#define CAROM_CLI_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file that exists. */
typedef struct file_identity {
    uint64_t volume, number;
    bool written; /* by this call; else read */
} file_identity;

/* Initialise with {0}. */
typedef struct files {
    file_identity *data;
    size_t count, capacity;
} files;

/* Adds a regular file; what is no regular file or not there is left out. False: no memory. */
bool files_add(files *list, const char *path, bool written);

/* Why the path must not be written: it is one of the files. NULL: it may be. */
const char *files_refuse(const files *list, const char *path);

/* Whether two paths are the same file, even where there is no file yet. False for devices. */
bool files_same(const char *a, const char *b);

void files_free(files *list);

#endif
