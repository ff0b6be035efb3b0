/* SPDX-License-Identifier: MIT */
/* output.h: a text file that is written whole or not at all. */
#ifndef CAROM_CLI_OUTPUT_H
#define CAROM_CLI_OUTPUT_H

#include "cli/command.h"

/* Start with {0}. */
typedef struct output {
    cli *cli;
    FILE *file; /* NULL: nothing is wanted */
    const char *path;
    char draft[4200]; /* the file while it is not whole; empty: it is written as it is */
    char place[4200]; /* what the draft becomes: the path, or what it links to */
} output;

/* Files are written under another name and renamed, so that nobody sees half of one; what is no
 * file, such as /dev/stdout or a pipe, is written as it is. "-" is the standard output, a name that
 * ends in .gz is compressed (refused where the tool was built without zlib), NULL wants nothing.
 * False, with the failure told, when it cannot be opened. */
bool output_open(cli *cli, const char *path, output *o);

/* Puts the file in its place, or removes what there is of it; false when that failed, which is
 * told.
 */
bool output_close(output *o, bool keep);

/* A line `a,b`: far faster than printf, and large results are common. */
void output_two(output *o, uint32_t a, uint32_t b);

/* Is the path "-"? What is printed besides then goes to stderr. */
bool output_is_standard(const char *path);

/* Where words about a result go: the standard output, unless the result itself goes there. */
FILE *output_words(const char *path);

/* Two results cannot both go to the standard output: a message when `path` is "-" and --json was
 * given, or when the path is empty; else NULL. To be asked before any work. */
const char *output_misuse(const cli *cli, const char *path);

#endif
