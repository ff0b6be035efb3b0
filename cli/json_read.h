/* SPDX-License-Identifier: MIT */
/* json_read.h: reads a JSON value from memory (RFC 8259). */
#ifndef CAROM_CLI_JSON_READ_H
#define CAROM_CLI_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum json_kind {
    JSON_NULL = 0,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_TEXT,
    JSON_ARRAY,
    JSON_OBJECT
} json_kind;

/* A value; those in an array or object follow it, each with what is in it. */
typedef struct json_value {
    json_kind kind;
    uint32_t size;    /* of this value and all in it, in values */
    const char *key;  /* in an object, in UTF-8; else NULL */
    const char *text; /* of a text, in UTF-8; escaped zeros are U+FFFD */
    double number;
} json_value;

typedef struct json_tree {
    json_value *values; /* the first is the whole */
    char *texts;
    size_t at;        /* where reading failed */
    const char *what; /* that failed; NULL: nothing, or there was no memory */
} json_tree;

/* Reads all of the text. False when it is no JSON (`what`), or there is no memory; json_tree_free
 * is due in any case. */
bool json_read(const char *text, size_t size, json_tree *tree);
void json_tree_free(json_tree *tree);

/* The value of a key of an object, the first in an array or object, and the one after another.
 * NULL: none; `value` may be NULL. `end` is that of the array or object: json_end. */
const json_value *json_get(const json_value *object, const char *key);
const json_value *json_first(const json_value *value);
const json_value *json_end(const json_value *value);
static inline const json_value *json_next(const json_value *value) {
    return value + value->size;
}

/* A text, or NULL; a number, or NaN. */
const char *json_get_text(const json_value *object, const char *key);
double json_get_number(const json_value *object, const char *key);

#endif
