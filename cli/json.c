/* SPDX-License-Identifier: MIT */
/* A JSON writer that places commas and escapes characters itself. Bytes above 127 are kept when
 * they form UTF-8 and become U+FFFD when they do not (file names may contain anything). */
#include "cli/json.h"

#include <inttypes.h>
#include <math.h>

/* Length of the UTF-8 sequence at text, or 0. */
static int utf8_length(const unsigned char *text) {
    int length = text[0] < 0x80                       ? 1
                 : text[0] >= 0xC2 && text[0] <= 0xDF ? 2
                 : (text[0] & 0xF0) == 0xE0           ? 3
                 : text[0] >= 0xF0 && text[0] <= 0xF4 ? 4
                                                      : 0;
    for (int i = 1; i < length; ++i)
        if ((text[i] & 0xC0) != 0x80) return 0;
    if (length == 3 && text[0] == 0xE0 && text[1] < 0xA0) return 0; /* overlong */
    if (length == 3 && text[0] == 0xED && text[1] > 0x9F) return 0; /* surrogates */
    if (length == 4 && text[0] == 0xF0 && text[1] < 0x90) return 0;
    if (length == 4 && text[0] == 0xF4 && text[1] > 0x8F) return 0;
    return length;
}

static void write_text(FILE *out, const char *value) {
    putc('"', out);
    for (const unsigned char *c = (const unsigned char *)value; *c != '\0';) {
        int length = utf8_length(c);
        if (length == 0) {
            fputs("\xEF\xBF\xBD", out);
            ++c;
        } else if (*c == '"' || *c == '\\') {
            fprintf(out, "\\%c", *c++);
        } else if (*c < 0x20) {
            fprintf(out, "\\u%04x", *c++);
        } else {
            fwrite(c, 1, (size_t)length, out);
            c += length;
        }
    }
    putc('"', out);
}

static void begin_value(json *j, const char *key) {
    if (j->needs_comma) fputs(", ", j->out);
    if (key != NULL) {
        write_text(j->out, key);
        fputs(": ", j->out);
    }
    j->needs_comma = true;
}

void json_begin_object(json *j, const char *key) {
    begin_value(j, key);
    putc('{', j->out);
    j->needs_comma = false;
}

void json_end_object(json *j) {
    putc('}', j->out);
    j->needs_comma = true;
}

void json_begin_array(json *j, const char *key) {
    begin_value(j, key);
    putc('[', j->out);
    j->needs_comma = false;
}

void json_end_array(json *j) {
    putc(']', j->out);
    j->needs_comma = true;
}

void json_text(json *j, const char *key, const char *value) {
    if (value == NULL) {
        json_null(j, key);
        return;
    }
    begin_value(j, key);
    write_text(j->out, value);
}

void json_count(json *j, const char *key, uint64_t value) {
    begin_value(j, key);
    fprintf(j->out, "%" PRIu64, value);
}

void json_number(json *j, const char *key, double value) {
    if (!isfinite(value)) {
        json_null(j, key);
        return;
    }
    begin_value(j, key);
    fprintf(j->out, "%.17g", value);
}

void json_vector(json *j, const char *key, carom_vec3 value) {
    json_begin_array(j, key);
    json_number(j, NULL, value.x);
    json_number(j, NULL, value.y);
    json_number(j, NULL, value.z);
    json_end_array(j);
}

void json_bool(json *j, const char *key, bool value) {
    begin_value(j, key);
    fputs(value ? "true" : "false", j->out);
}

void json_null(json *j, const char *key) {
    begin_value(j, key);
    fputs("null", j->out);
}
