/* SPDX-License-Identifier: MIT */
/* One buffer for lines, filled from whatever the input is. Memory does not grow with the input. */
#include "cli/input.h"
#include "cli/platform.h"
#include "cli/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#ifdef CAROM_HAVE_ZLIB
#include <zlib.h>
#endif

PLATFORM_PRINTF(3, 4) static bool fail(input *in, carom_status status, const char *format, ...) {
    va_list arguments;
    if (in->status != CAROM_OK) return false;
    in->status = status;
    va_start(arguments, format);
    (void)vsnprintf(in->reason, sizeof(in->reason), format, arguments);
    va_end(arguments);
    return false;
}

void input_say_limit(uint64_t limit, char *reason, size_t size) {
    snprintf(reason, size,
             "more than %llu bytes, the limit for one input; --limit-input raises it if that is "
             "meant",
             (unsigned long long)limit);
}

static bool allows(const carom_os_file_info *info, bool is_terminal, uint64_t limit, char *reason,
                   size_t size) {
    if (info->kind == CAROM_OS_FILE_FOLDER) {
        snprintf(reason, size, "is a folder; name a file in it");
        return false;
    }
    if (info->kind == CAROM_OS_FILE_DEVICE && !is_terminal) {
        snprintf(reason, size, "is a device, which is not read; name a regular file or a pipe");
        return false;
    }
    if (info->kind == CAROM_OS_FILE_REGULAR && info->size > limit) {
        input_say_limit(limit, reason, size);
        return false;
    }
    return true;
}

bool input_allows(int descriptor, bool is_standard, uint64_t limit, char *reason, size_t size) {
    carom_os_file_info info;
    if (!carom_os_descriptor_info(descriptor, &info)) {
        snprintf(reason, size, "cannot be read: %s", strerror(errno));
        return false;
    }
    return allows(&info, is_standard && platform_is_terminal(descriptor), limit, reason, size);
}

bool input_is_packed(const char *path) {
    size_t length = strlen(path);
    return length >= 3 && text_compare_caseless(path + length - 3, ".gz") == 0;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static bool begin(input *in, uint64_t limit) {
    *in = (input){.limit = limit != 0 ? limit : CAROM_DEFAULT_INPUT_LIMIT};
    in->buffer = malloc(INPUT_BUFFER + 1);
    return in->buffer != NULL || fail(in, CAROM_NO_MEMORY, "no memory to read it");
}

static bool open_packed(input *in, const char *path) {
#ifdef CAROM_HAVE_ZLIB
    (void)fclose(in->file);
    in->file = NULL;
    in->packed = gzopen(path, "rb");
    return in->packed != NULL || fail(in, CAROM_IO, "cannot be read: %s", strerror(errno));
#else
    (void)path;
    return fail(in, CAROM_UNSUPPORTED, "this build, made without zlib, reads no .gz; unpack it");
#endif
}

bool input_open(input *in, const char *path, uint64_t limit) {
    carom_os_file_info info;
    bool is_standard = strcmp(path, "-") == 0;
    if (!begin(in, limit)) return false;
    /* Checked before it is opened, as opening a device may have effects, and after, as another file
     * may have the name by then. */
    if (!is_standard && carom_os_file_info_of(path, &info) &&
        !allows(&info, false, in->limit, in->reason, sizeof(in->reason))) {
        in->status = info.kind == CAROM_OS_FILE_REGULAR ? CAROM_TOO_LARGE : CAROM_IO;
        return false;
    }
    in->file = is_standard ? stdin : carom_os_stream(path, "rb");
    int file = in->file != NULL ? platform_descriptor(in->file) : -1;
    if (file < 0 || !carom_os_descriptor_info(file, &info))
        return fail(in, CAROM_IO, "cannot be read: %s", strerror(errno));
    if (!input_allows(file, is_standard, in->limit, in->reason, sizeof(in->reason))) {
        in->status = info.kind == CAROM_OS_FILE_REGULAR ? CAROM_TOO_LARGE : CAROM_IO;
        return false;
    }
    if (info.kind == CAROM_OS_FILE_REGULAR) in->size = (double)info.size;
    return is_standard || !input_is_packed(path) || open_packed(in, path);
}

bool input_open_memory(input *in, const char *bytes, size_t size) {
    if (!begin(in, 0)) return false;
    in->bytes = bytes;
    in->byte_count = size;
    in->size = (double)size;
    return true;
}

void input_close(input *in) {
    if (in->file != NULL && in->file != stdin) (void)fclose(in->file);
#ifdef CAROM_HAVE_ZLIB
    if (in->packed != NULL) (void)gzclose(in->packed);
#endif
    free(in->buffer);
    in->file = NULL;
    in->packed = NULL;
    in->buffer = NULL;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static size_t read_memory(input *in, char *to, size_t size) {
    size_t left = in->byte_count - (size_t)in->taken, count = left < size ? left : size;
    if (count != 0) memcpy(to, in->bytes + in->taken, count);
    in->read += (double)count;
    return count;
}

static size_t read_packed(input *in, char *to, size_t size) {
#ifdef CAROM_HAVE_ZLIB
    int count = gzread(in->packed, to, (unsigned)size), error = Z_OK;
    (void)gzerror(in->packed, &error);
    if (count < 0 || (count == 0 && error != Z_OK && error != Z_STREAM_END)) {
        (void)fail(in, CAROM_BAD_FILE, "the gzip data are damaged or end too early");
        return 0;
    }
    in->read = (double)gzoffset(in->packed);
    return (size_t)count;
#else
    (void)in;
    (void)to;
    (void)size;
    return 0;
#endif
}

static size_t read_plain(input *in, char *to, size_t size) {
    size_t count = fread(to, 1, size, in->file);
    if (count == 0 && ferror(in->file))
        (void)fail(in, CAROM_IO, "cannot be read: %s", strerror(errno));
    in->read += (double)count;
    return count;
}

size_t input_read(input *in, char *to, size_t size) {
    if (in->status != CAROM_OK) return 0;
    size_t count = in->bytes != NULL    ? read_memory(in, to, size)
                   : in->packed != NULL ? read_packed(in, to, size)
                                        : read_plain(in, to, size);
    in->taken += count;
    if (in->bytes == NULL && in->taken > in->limit) {
        in->status = CAROM_TOO_LARGE;
        input_say_limit(in->limit, in->reason, sizeof(in->reason));
        return 0;
    }
    return count;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Moves what is left to the front of the buffer and fills the rest. */
bool input_fill(input *in) {
    memmove(in->buffer, in->buffer + in->begin, in->end - in->begin);
    in->end -= in->begin;
    in->begin = 0;
    while (!in->ended && in->end < INPUT_BUFFER) {
        size_t count = input_read(in, in->buffer + in->end, INPUT_BUFFER - in->end);
        in->end += count;
        in->ended = count == 0;
    }
    return in->status == CAROM_OK;
}

char *input_line(input *in) {
    if (in->status != CAROM_OK) return NULL;
    char *end = memchr(in->buffer + in->begin, '\n', in->end - in->begin);
    if (end == NULL && !in->ended) {
        if (!input_fill(in)) return NULL;
        end = memchr(in->buffer + in->begin, '\n', in->end - in->begin);
    }
    if (end == NULL && in->begin == in->end) return NULL;
    ++in->number;
    if (end == NULL && !in->ended) {
        (void)fail(in, CAROM_BAD_FILE, "a line has more than %zu bytes; this is no text file",
                   INPUT_BUFFER);
        return NULL;
    }
    char *start = in->buffer + in->begin;
    size_t length = end != NULL ? (size_t)(end - start) : in->end - in->begin;
    in->begin += length + (end != NULL);
    if (memchr(start, '\0', length) != NULL) {
        (void)fail(in, CAROM_BAD_FILE, "the line has a zero byte; this is no text file");
        return NULL;
    }
    while (length > 0 && (start[length - 1] == '\r' || start[length - 1] == ' ')) --length;
    start[length] = '\0';
    return start;
}

carom_status input_all(const char *path, uint64_t limit, char **bytes, size_t *size, char *reason,
                       size_t reason_size) {
    input in;
    char *data = NULL;
    size_t used = 0, capacity = 0;
    bool good = input_open(&in, path, limit);
    for (size_t got = 1; good && got != 0; used += got) {
        if (capacity - used < INPUT_BUFFER) {
            capacity = 2 * capacity + 2 * INPUT_BUFFER;
            char *larger = realloc(data, capacity);
            if (larger == NULL) {
                in.status = CAROM_NO_MEMORY;
                snprintf(in.reason, sizeof(in.reason), "no memory for its bytes");
                break;
            }
            data = larger;
        }
        got = input_read(&in, data + used, INPUT_BUFFER);
    }
    if (in.status != CAROM_OK) {
        snprintf(reason, reason_size, "%s", in.reason);
        free(data);
        data = NULL;
        used = 0;
    }
    if (data != NULL) data[used] = '\0';
    carom_status status = in.status;
    input_close(&in);
    *bytes = data;
    *size = used;
    return status;
}
