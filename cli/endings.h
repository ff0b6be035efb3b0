/* SPDX-License-Identifier: MIT */
/* endings.h: which format a file is written in: the one that the ending of its name tells, of those
 * that its option knows. The tool refuses other names before any work (cli.c). */
#ifndef CAROM_CLI_ENDINGS_H
#define CAROM_CLI_ENDINGS_H

#include <stdbool.h>
#include <stddef.h>

/* The formats of an option by their endings, NULL after the last: `choice` of an ARG_OUTPUT. The
 * first is that of the standard output, of pipes and of devices. */
typedef const char *endings(int index);

/* Defines such a list. */
#define ENDINGS(name, ...)                                                                         \
    static const char *name(int index) {                                                           \
        static const char *const list[] = {__VA_ARGS__, NULL};                                     \
        return list[index];                                                                        \
    }                                                                                              \
    struct name

/* The format of a file: `format`, the value of --format, where it is not NULL; else by the name, in
 * any case, before a .gz. It is the text of the list itself. NULL: the list has no such format. */
const char *endings_format(const char *path, const char *format, endings *known);

/* Whether two formats are the same; NULL is none. */
bool endings_is(const char *format, const char *name);

/* ".csv, .html or .png" */
void endings_list(endings *known, char *text, size_t size);

#endif
