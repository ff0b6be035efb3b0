/* SPDX-License-Identifier: MIT */
/* mesh_json.h: walks over JSON text in memory, without a tree: values are places in the text. */
#ifndef CAROM_SRC_MESH_MESH_JSON_H
#define CAROM_SRC_MESH_MESH_JSON_H

#include <stdbool.h>
#include <stdint.h>

#define CAROM_JSON_MOST_DEPTH 64 /* arrays and objects in each other; glTF has 8 of its own */

/* A value begins at `at`; the text ends at `end`. */
typedef struct carom_json {
    const uint8_t *at, *end;
} carom_json;

/* The value at the beginning of a text, blanks skipped. */
carom_json carom_json_begin(const uint8_t *bytes, uint64_t size);

/* Past the value; NULL where the text is malformed, ends too early or is too deep. */
const uint8_t *carom_json_skip(carom_json value);

/* A walk over an array or object. */
typedef struct carom_json_walk {
    const uint8_t *at, *end;
    bool is_first;
    bool is_failed; /* the text is malformed */
} carom_json_walk;

/* Begins a walk; it has no steps where the value is of another kind. */
carom_json_walk carom_json_enter(carom_json value, char open);

/* The next element of an array; false at its end. */
bool carom_json_next(carom_json_walk *walk, carom_json *value);

/* The next member of an object; false at its end. */
bool carom_json_next_member(carom_json_walk *walk, carom_json *key, carom_json *value);

/* The member of that name, or false. */
bool carom_json_find(carom_json object, const char *name, carom_json *value);

/* Whether a value is a string with this text, without escapes. */
bool carom_json_is(carom_json value, const char *text);

bool carom_json_number(carom_json value, double *number);

/* A whole number from 0 to 2^53. */
bool carom_json_count(carom_json value, uint64_t *count);

/* Decodes a string to UTF-8: at most size - 1 bytes, cut between characters, and a 0. Returns its
 * length; 0 for other values. */
uint64_t carom_json_decode(carom_json value, char *to, uint64_t size);

#endif
