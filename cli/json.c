/* SPDX-License-Identifier: MIT */
/* A JSON writer that writes commas and escapes characters itself. Bytes above 127 are kept when
 * they form UTF-8 and become U+FFFD when they do not (file names may contain anything). */
#include "cli/json.h"

#include <inttypes.h>
#include <math.h>

#include "cli/text.h"

void json_put_text(FILE *out, const char *value) {
    putc('"', out);
    while (*value != '\0') {
        size_t length = text_utf8_length(value);
        unsigned char c = (unsigned char)*value;
        if (length == 0)
            fputs(TEXT_REPLACEMENT, out);
        else if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            fwrite(value, 1, length, out);
        value += length != 0 ? length : 1;
    }
    putc('"', out);
}

static void begin_value(json *j, const char *key) {
    if (j->needs_comma) fputs(", ", j->out);
    if (key != NULL) {
        json_put_text(j->out, key);
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
    json_put_text(j->out, value);
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
