/* SPDX-License-Identifier: MIT */
/* json.h: writes one JSON value, piece by piece. */
#ifndef CAROM_CLI_JSON_H
#define CAROM_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "carom/geom.h"

typedef struct json {
    FILE *out;
    bool needs_comma;
} json;

/* Objects and arrays nest; `key` is NULL at the top level and inside arrays. */
void json_begin_object(json *j, const char *key);
void json_end_object(json *j);
void json_begin_array(json *j, const char *key);
void json_end_array(json *j);

/* Writes a string on its own: bytes that are not UTF-8 become U+FFFD, control characters escapes.
 */
void json_put_text(FILE *out, const char *value);

void json_text(json *j, const char *key, const char *value); /* NULL gives null */
void json_count(json *j, const char *key, uint64_t value);
void json_number(json *j, const char *key, double value); /* all digits; NaN, infinity give null */
void json_vector(json *j, const char *key, carom_vec3 value); /* an array of three numbers */
void json_bool(json *j, const char *key, bool value);
void json_null(json *j, const char *key);

#endif
