/* SPDX-License-Identifier: MIT */
/* Text files, whole or not at all. */
#define _POSIX_C_SOURCE 200809L
#include "cli/output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

bool output_open(output *o, const char *path) {
    struct stat info;
    o->path = path;
    o->file = NULL;
    if (path == NULL) return true;
    bool as_it_is = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
    int length = snprintf(o->draft, sizeof(o->draft), as_it_is ? "%s" : "%s.part", path);
    errno = ENAMETOOLONG;
    if (length > 0 && (size_t)length < sizeof(o->draft)) o->file = fopen(o->draft, "w");
    if (as_it_is) o->draft[0] = '\0';
    if (o->file == NULL) fprintf(stderr, "carom: cannot write '%s': %s\n", path, strerror(errno));
    return o->file != NULL;
}

bool output_close(output *o, bool keep) {
    if (o->file == NULL) return true;
    bool good = !ferror(o->file), renames = o->draft[0] != '\0';
    good = fclose(o->file) == 0 && good;
    o->file = NULL;
    if (good && keep && renames) good = rename(o->draft, o->path) == 0;
    if (!good) fprintf(stderr, "carom: cannot finish '%s': %s\n", o->path, strerror(errno));
    if ((!good || !keep) && renames) (void)remove(o->draft);
    return good;
}

static char *put_number(char *to, uint32_t value) {
    char digits[10];
    int count = 0;
    do digits[count++] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    while (count > 0) *to++ = digits[--count];
    return to;
}

void output_two(output *o, uint32_t a, uint32_t b) {
    char line[24], *end = put_number(line, a);
    *end++ = ',';
    end = put_number(end, b);
    *end++ = '\n';
    (void)fwrite(line, 1, (size_t)(end - line), o->file);
}
