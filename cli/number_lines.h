/* SPDX-License-Identifier: MIT */
/* number_lines.h: files of numbers, so many on each line: poses, configurations, motions. */
#ifndef CAROM_CLI_NUMBER_LINES_H
#define CAROM_CLI_NUMBER_LINES_H

#include "cli/command.h"

/* Initialise with {0}; free data with free(). */
typedef struct number_lines {
    double *data;
    uint64_t count, capacity; /* numbers */
    uint64_t lines;
} number_lines;

/* False when there is no memory. */
bool number_lines_push(number_lines *list, double number);

/* Reads lines of `each` finite numbers with spaces, commas, semicolons or tabs between them; "-" is
 * the standard input. Empty lines, those that begin with #, and a first line of names are left out.
 * Returns an exit code; a failure was reported with its line. */
int number_lines_read(cli *cli, const char *path, uint64_t each, number_lines *list);

#endif
