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
    char draft[4200];
} output;

/* Files are written under another name and renamed, so that nobody sees half of one; what is no
 * file, such as /dev/stdout or a pipe, is written as it is. A path of NULL wants nothing. False,
 * with the failure told, when it cannot be opened. */
bool output_open(cli *cli, const char *path, output *o);

/* Puts the file in its place, or removes what there is of it; false when that failed, which is
 * told.
 */
bool output_close(output *o, bool keep);

/* A line `a,b`: far faster than printf, and large results are common. */
void output_two(output *o, uint32_t a, uint32_t b);

#endif
