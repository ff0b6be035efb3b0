/* SPDX-License-Identifier: MIT */
/* Text files, whole or not at all. */
#define _POSIX_C_SOURCE 200809L
#include "cli/output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static bool tell(const output *o, const char *what) {
    char sentence[512];
    snprintf(sentence, sizeof(sentence), "cannot %s '%.300s': %s", what, o->path, strerror(errno));
    (void)cli_fail_with(o->cli, CAROM_IO, sentence);
    return false;
}

bool output_open(cli *cli, const char *path, output *o) {
    struct stat info;
    o->cli = cli;
    o->path = path;
    o->file = NULL;
    if (path == NULL) return true;
    bool as_it_is = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
    int length = snprintf(o->draft, sizeof(o->draft), as_it_is ? "%s" : "%s.part", path);
    errno = ENAMETOOLONG;
    if (length > 0 && (size_t)length < sizeof(o->draft)) o->file = fopen(o->draft, "w");
    if (as_it_is) o->draft[0] = '\0';
    return o->file != NULL || tell(o, "write");
}

bool output_close(output *o, bool keep) {
    if (o->file == NULL) return true;
    bool good = !ferror(o->file), renames = o->draft[0] != '\0';
    good = fclose(o->file) == 0 && good;
    o->file = NULL;
    if (good && keep && renames) good = rename(o->draft, o->path) == 0;
    if (!good) (void)tell(o, "finish");
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
