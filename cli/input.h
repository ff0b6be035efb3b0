/* SPDX-License-Identifier: MIT */
/* input.h: the files that the tool itself reads, as bytes or as lines: text, also compressed, from
 * a file, a pipe, the standard input or memory. Devices and folders are refused, and no input is
 * read beyond its limit. */
#ifndef CAROM_CLI_INPUT_H
#define CAROM_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "carom/carom.h"

#define INPUT_BUFFER ((size_t)1 << 17) /* bytes; also the longest line */

typedef struct input {
    FILE *file;
    void *packed;      /* a gzFile; or NULL */
    const char *bytes; /* memory to read; or NULL */
    size_t byte_count;
    uint64_t limit;  /* bytes, unpacked */
    uint64_t taken;  /* so far, unpacked */
    double read;     /* so far, as they are in the file */
    double size;     /* of the file; 0: not known */
    uint64_t number; /* of the current line, from 1 */
    char *buffer;    /* of lines */
    size_t begin, end;
    bool ended;          /* nothing follows the buffer */
    carom_status status; /* CAROM_OK until something fails */
    char reason[256];    /* of the failure, without the name of the file */
} input;

/* Opens a file, or the standard input where the path is "-". A name that ends in .gz is unpacked.
 * A limit of 0 is CAROM_DEFAULT_INPUT_LIMIT. input_close is due also after a failure. */
bool input_open(input *in, const char *path, uint64_t limit);

/* The same for bytes in memory. */
bool input_open_memory(input *in, const char *bytes, size_t size);

/* Reads up to `size` bytes; 0 at the end or after a failure. */
size_t input_read(input *in, char *to, size_t size);

/* The next line without its end; NULL at the end or after a failure: a line that is too long or has
 * a zero byte is no text. Valid until the next call, and may be changed. Not to be mixed with
 * input_read. */
char *input_line(input *in);

/* Fills the buffer of lines, to look ahead; false after a failure. */
bool input_fill(input *in);

void input_close(input *in);

/* All bytes of a file and a zero; free with free(). On failure a reason, without the name of the
 * file. */
carom_status input_all(const char *path, uint64_t limit, char **bytes, size_t *size, char *reason,
                       size_t reason_size);

/* Whether a name ends in .gz, in any case. */
bool input_is_packed(const char *path);

/* For readers of descriptors: false, with a reason, for devices (but for a terminal as the standard
 * input), folders, and regular files beyond the limit. */
bool input_allows(int descriptor, bool is_standard, uint64_t limit, char *reason, size_t size);

/* The reason where a limit is exceeded. */
void input_say_limit(uint64_t limit, char *reason, size_t size);

#endif
