/* SPDX-License-Identifier: MIT */
/* Text files that are written completely or not at all, compressed when their name ends in .gz. */
#define _GNU_SOURCE /* fopencookie */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/interrupt.h"

#if defined(CAROM_HAVE_ZLIB) && defined(__linux__)
#define HAVE_GZIP
#include <zlib.h>
#endif

static bool tell(const output *o, const char *what) {
    char message[512];
    snprintf(message, sizeof(message), "cannot %s '%.300s': %s", what, o->path, strerror(errno));
    (void)cli_fail_with(o->cli, CAROM_IO, message);
    return false;
}

bool output_is_standard(const char *path) {
    return path != NULL && strcmp(path, "-") == 0;
}

FILE *output_words(const char *path) {
    return output_is_standard(path) ? stderr : stdout;
}

const char *output_misuse(const cli *cli, const char *path) {
    if (path != NULL && *path == '\0') return "the name of the output is empty";
    if (cli->json && output_is_standard(path))
        return "-o - and --json both go to the standard output; choose one";
    return NULL;
}

/* ---- gzip ------------------------------------------------------------------------------------ */

static bool is_gzip(const char *path) {
    size_t length = strlen(path);
    return length > 3 && strcasecmp(path + length - 3, ".gz") == 0;
}

#ifdef HAVE_GZIP

static ssize_t write_gzip(void *cookie, const char *bytes, size_t size) {
    /* zlib counts in 32 bits; the buffer of the stream is far smaller */
    return size == 0 ? 0 : gzwrite(cookie, bytes, (unsigned)size);
}

static int close_gzip(void *cookie) {
    return gzclose(cookie) == Z_OK ? 0 : -1;
}

/* A stream whose bytes are compressed before they reach the descriptor. */
static FILE *open_gzip(int descriptor) {
    gzFile packed = gzdopen(descriptor, "w");
    if (packed == NULL) return NULL;
    cookie_io_functions_t functions = {.write = write_gzip, .close = close_gzip};
    FILE *file = fopencookie(packed, "w", functions);
    if (file == NULL) (void)gzclose(packed);
    return file;
}

#else

static FILE *open_gzip(int descriptor) {
    (void)close(descriptor);
    errno = ENOTSUP;
    return NULL;
}

#endif

static bool refuse_gzip(const output *o) {
#ifdef HAVE_GZIP
    (void)o;
    return false;
#else
    char message[512];
    snprintf(message, sizeof(message),
             "%.300s: this build compresses no lists; leave .gz out and use gzip itself", o->path);
    (void)cli_fail_with(o->cli, CAROM_UNSUPPORTED, message);
    return true;
#endif
}

/* ---- Opening and closing --------------------------------------------------------------------- */

/* Opens a file next to the final path, with the first unused number in its name; -1 on failure. */
static int open_draft(output *o) {
    struct stat info;
    bool replaces = stat(o->path, &info) == 0;
    if (replaces && !S_ISREG(info.st_mode)) return open(o->path, O_WRONLY | O_CLOEXEC);
    char *linked = replaces ? realpath(o->path, NULL) : NULL;
    int length = snprintf(o->place, sizeof(o->place), "%s", linked != NULL ? linked : o->path),
        file = -1;
    free(linked);
    errno = ENAMETOOLONG;
    if (length < 0 || (size_t)length + 16 > sizeof(o->draft)) return -1;
    interrupt_hold(); /* until the draft is registered */
    for (unsigned n = 0; n < 1000 && file < 0; ++n) {
        snprintf(o->draft, sizeof(o->draft), "%.4180s.%u.part", o->place, n);
        file = open(o->draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno != EEXIST) break;
    }
    if (file >= 0)
        interrupt_add_file(o->draft);
    else
        o->draft[0] = '\0';
    int reason = errno;
    interrupt_release();
    errno = reason;
    if (file >= 0 && replaces) (void)fchmod(file, info.st_mode & 0777);
    return file;
}

/* Files whose names come from what was read, such as one per part, are known only now. */
static bool is_refused(const output *o) {
    char message[512];
    const char *reason = files_refuse(&o->cli->files, o->path);
    if (reason == NULL) return false;
    snprintf(message, sizeof(message), "cannot write '%.300s': %s", o->path, reason);
    (void)cli_fail_with(o->cli, CAROM_IO, message);
    return true;
}

bool output_open(cli *cli, const char *path, output *o) {
    *o = (output){.cli = cli, .path = path};
    if (path == NULL) return true;
    if (output_is_standard(path)) {
        o->file = stdout;
        return true;
    }
    if (is_gzip(path) && refuse_gzip(o)) return false;
    if (is_refused(o)) return false;
    int file = open_draft(o);
    if (file < 0) return tell(o, "write");
    o->file = is_gzip(path) ? open_gzip(file) : fdopen(file, "w");
    if (o->file != NULL) return true;
    (void)tell(o, "write");
    if (o->draft[0] != '\0') (void)remove(o->draft);
    interrupt_drop_file(o->draft);
    return false;
}

bool output_close(output *o, bool keep) {
    if (o->file == NULL) return true;
    bool renames = o->draft[0] != '\0', standard = o->file == stdout;
    bool good = fflush(o->file) == 0 && !ferror(o->file);
    if (!standard) good = fclose(o->file) == 0 && good;
    o->file = NULL;
    if (good && keep && renames) {
        good = rename(o->draft, o->place) == 0;
        (void)files_add(&o->cli->files, o->place, true); /* without memory: checked no more */
    }
    if (!good && keep) (void)tell(o, "finish");
    if ((!good || !keep) && renames) (void)remove(o->draft);
    if (renames) interrupt_drop_file(o->draft);
    return good || !keep;
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

void output_vector(FILE *out, const char *name, carom_vec3 v) {
    fprintf(out, "  %-9s %.9g, %.9g, %.9g\n", name, v.x, v.y, v.z);
}
