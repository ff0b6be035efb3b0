/* SPDX-License-Identifier: MIT */
/* Text files that are written completely or not at all, compressed when their name ends in .gz. */
#include "cli/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/platform.h"
#include "cli/text.h"

#ifdef CAROM_HAVE_ZLIB
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
    return length > 3 && text_compare_caseless(path + length - 3, ".gz") == 0;
}

#ifdef CAROM_HAVE_ZLIB

static int64_t write_gzip(void *packed, const char *bytes, size_t size) {
    /* zlib counts in 32 bits; the buffer of the stream is far smaller */
    return size == 0 ? 0 : gzwrite(packed, bytes, (unsigned)size);
}

static int close_gzip(void *packed) {
    return gzclose(packed) == Z_OK ? 0 : -1;
}

/* A stream whose bytes are compressed before they reach the descriptor. */
static FILE *open_gzip(int descriptor) {
    gzFile packed = gzdopen(descriptor, "wb");
    if (packed == NULL) return NULL;
    FILE *file = platform_open_filter(&(platform_filter){write_gzip, close_gzip, packed});
    if (file == NULL) (void)gzclose(packed);
    return file;
}

static bool has_gzip(void) {
    return platform_has_filters();
}

#else

static FILE *open_gzip(int descriptor) {
    (void)carom_os_close(descriptor);
    return NULL;
}

static bool has_gzip(void) {
    return false;
}

#endif

static bool refuse_gzip(const output *o) {
    char message[512];
    if (has_gzip()) return false;
    snprintf(message, sizeof(message),
             "%.300s: this build compresses no lists; leave .gz out and use gzip itself", o->path);
    (void)cli_fail_with(o->cli, CAROM_UNSUPPORTED, message);
    return true;
}

/* ---- Opening and closing --------------------------------------------------------------------- */

/* Opens a file next to the final path, with the first unused number in its name; -1 on failure. */
static int open_draft(output *o) {
    carom_os_file_info info;
    bool replaces = carom_os_file_info_of(o->path, &info);
    if (replaces && info.kind != CAROM_OS_FILE_REGULAR) return platform_open_stream(o->path);
    int file = -1, length;
    if (replaces && carom_os_real_path(o->path, o->final_path, sizeof(o->final_path)))
        length = (int)strlen(o->final_path);
    else
        length = snprintf(o->final_path, sizeof(o->final_path), "%s", o->path);
    errno = ENAMETOOLONG;
    if (length < 0 || (size_t)length + 16 > sizeof(o->draft)) return -1;
    interrupt_hold(); /* until the draft is registered */
    for (unsigned n = 0; n < 1000 && file < 0; ++n) {
        snprintf(o->draft, sizeof(o->draft), "%.4180s.%u.part", o->final_path, n);
        file = carom_os_open_new(o->draft);
        if (file < 0 && errno != EEXIST) break;
    }
    if (file >= 0)
        interrupt_add_file(o->draft);
    else
        o->draft[0] = '\0';
    int reason = errno;
    interrupt_release();
    errno = reason;
    if (file >= 0 && replaces) carom_os_set_mode(file, info.mode);
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
    o->file = is_gzip(path) ? open_gzip(file) : platform_stream_over(file, "w");
    if (o->file != NULL) return true;
    (void)tell(o, "write");
    if (o->draft[0] != '\0') (void)carom_os_remove(o->draft);
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
        good = carom_os_replace(o->draft, o->final_path);
        (void)files_add(&o->cli->files, o->final_path, true); /* without memory: checked no more */
    }
    if (!good && keep) (void)tell(o, "finish");
    if ((!good || !keep) && renames) (void)carom_os_remove(o->draft);
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
