/* SPDX-License-Identifier: MIT */
/* Endings of names. Some formats have several. */
#include "cli/endings.h"

#include <stdio.h>
#include <string.h>

#include "cli/platform.h"
#include "cli/text.h"

/* What is written with another ending. */
static const char *const aliases[][2] = {
    {"htm", "html"}, {"yaml", "yml"}, {"bcfzip", "bcf"}, {"extxyz", "xyz"}, {"txt", "xyzr"}};

static const char *find(const char *name, size_t length, endings *known) {
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); ++i)
        if (strlen(aliases[i][0]) == length &&
            text_compare_caseless_n(name, aliases[i][0], length) == 0) {
            name = aliases[i][1];
            length = strlen(name);
            break;
        }
    for (int i = 0; known(i) != NULL; ++i)
        if (strlen(known(i)) == length && text_compare_caseless_n(name, known(i), length) == 0)
            return known(i);
    return NULL;
}

/* The standard output, a pipe or a device, whose name tells nothing. */
static bool is_stream(const char *path) {
    carom_os_file_info info;
    return strcmp(path, "-") == 0 ||
           (carom_os_file_info_of(path, &info) && info.kind != CAROM_OS_FILE_REGULAR &&
            info.kind != CAROM_OS_FILE_FOLDER);
}

const char *endings_format(const char *path, const char *format, endings *known) {
    if (format != NULL) return find(format, strlen(format), known);
    if (is_stream(path)) return known(0);
    size_t length = strlen(path);
    if (length > 3 && text_compare_caseless(path + length - 3, ".gz") == 0) length -= 3;
    size_t begin = length, name = (size_t)(carom_os_file_name(path) - path);
    while (begin > name && path[begin - 1] != '.') --begin;
    if (begin <= name) return NULL;
    return find(path + begin, length - begin, known);
}

bool endings_is(const char *format, const char *name) {
    return format != NULL && strcmp(format, name) == 0;
}

void endings_list(endings *known, char *text, size_t size) {
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; known(i) != NULL && length < size; ++i) {
        const char *between = i == 0 ? "" : known(i + 1) == NULL ? " or " : ", ";
        int added = snprintf(text + length, size - length, "%s.%s", between, known(i));
        length += added > 0 ? (size_t)added : 0;
    }
}
