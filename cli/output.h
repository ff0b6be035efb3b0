/* SPDX-License-Identifier: MIT */
/* output.h: a text file that is written completely or not at all. */
#ifndef CAROM_CLI_OUTPUT_H
#define CAROM_CLI_OUTPUT_H

#include "cli/command.h"

/* Initialise with {0}. */
typedef struct output {
    cli *cli;
    FILE *file; /* NULL: no output wanted */
    const char *path;
    char draft[4200];      /* path of the unfinished file; empty: written directly */
    char final_path[4200]; /* final path of the draft: the path, or what it links to */
} output;

/* Opens the output. Files are written under another name and renamed, so that no partial file is
 * visible; what is not a regular file, such as /dev/stdout or a pipe, is written directly. "-" is
 * the standard output; a name that ends in .gz is compressed (refused where the tool was built
 * without zlib); NULL means no output. Returns false, after reporting the failure, when it cannot
 * be opened, or when this call has read or written that file (files.h). */
bool output_open(cli *cli, const char *path, output *o);

/* Renames the draft to its final path, or removes it. Returns false, after reporting the failure,
 * when that failed. */
bool output_close(output *o, bool keep);

/* Writes a line `a,b`. Far faster than printf, and large results are common. */
void output_two(output *o, uint32_t a, uint32_t b);

/* Whether the path is "-". Other text is then printed on stderr. */
bool output_is_standard(const char *path);

/* Where text about a result goes: the standard output, unless the result itself goes there. */
FILE *output_words(const char *path);

/* Two results cannot both go to the standard output. Returns a message when `path` is "-" and
 * --json was given, or when the path is empty; else NULL. To be called before any work. */
const char *output_misuse(const cli *cli, const char *path);

/* Prints a named vector as a line of an answer in words. */
void output_vector(FILE *out, const char *name, carom_vec3 v);

#endif
