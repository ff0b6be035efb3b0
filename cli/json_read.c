/* SPDX-License-Identifier: MIT */
/* A JSON reader: one pass that appends values to one array and texts to one buffer, which is as
 * long as the input, as no text becomes longer than it is written. Values know how many values are
 * in them, so that the array is the tree. Arrays and objects are nested at most MOST_DEPTH deep;
 * the reader keeps its own stack. */
#include "cli/json_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/text.h"

#define MOST_DEPTH    64u /* reports have 5 */
#define LONGEST_COUNT 64u /* letters of a number */

typedef struct reader {
    const char *text;
    size_t size, at;
    json_tree *tree;
    uint32_t count, capacity;
    char *to; /* the next free letter of `texts` */
} reader;

static bool fail(reader *r, const char *what) {
    r->tree->what = what;
    r->tree->at = r->at;
    return false;
}

static char peek(const reader *r) {
    return r->at < r->size ? r->text[r->at] : '\0';
}

static void skip_blanks(reader *r) {
    while (r->at < r->size && strchr(" \t\r\n", r->text[r->at]) != NULL && r->text[r->at] != '\0')
        ++r->at;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static bool read_hex(reader *r, uint32_t *code) {
    *code = 0;
    for (int i = 0; i < 4; ++i, ++r->at) {
        char c = peek(r);
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                                : 16;
        if (digit == 16) return fail(r, "\\u needs four hexadecimal digits");
        *code = 16 * *code + digit;
    }
    return true;
}

static void put_code(reader *r, uint32_t code) {
    if (code == 0 || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD; /* a zero, half a pair */
    if (code < 0x80) {
        *r->to++ = (char)code;
    } else if (code < 0x800) {
        *r->to++ = (char)(0xC0 | code >> 6);
        *r->to++ = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        *r->to++ = (char)(0xE0 | code >> 12);
        *r->to++ = (char)(0x80 | (code >> 6 & 63));
        *r->to++ = (char)(0x80 | (code & 63));
    } else {
        *r->to++ = (char)(0xF0 | code >> 18);
        *r->to++ = (char)(0x80 | (code >> 12 & 63));
        *r->to++ = (char)(0x80 | (code >> 6 & 63));
        *r->to++ = (char)(0x80 | (code & 63));
    }
}

/* After the backslash. */
static bool read_escape(reader *r) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = peek(r);
    const char *found = c != '\0' ? strchr(from, c) : NULL;
    ++r->at;
    if (found != NULL) {
        *r->to++ = to[found - from];
        return true;
    }
    uint32_t code, low;
    if (c != 'u') return fail(r, "an escape that JSON does not have");
    if (!read_hex(r, &code)) return false;
    if (code >= 0xD800 && code < 0xDC00 && r->at + 1 < r->size && r->text[r->at] == '\\' &&
        r->text[r->at + 1] == 'u') {
        r->at += 2;
        if (!read_hex(r, &low)) return false;
        if (low >= 0xDC00 && low < 0xE000)
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        else
            put_code(r, code), code = low;
    }
    put_code(r, code);
    return true;
}

/* At the opening quote. */
static bool read_text(reader *r, const char **text) {
    *text = r->to;
    ++r->at;
    while (r->at < r->size && r->text[r->at] != '"') {
        unsigned char c = (unsigned char)r->text[r->at];
        if (c < 0x20) return fail(r, "a control character in a text");
        ++r->at;
        if (c != '\\')
            *r->to++ = (char)c;
        else if (!read_escape(r))
            return false;
    }
    if (r->at == r->size) return fail(r, "a text without an end");
    ++r->at;
    *r->to++ = '\0';
    return true;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static json_value *append(reader *r) {
    if (r->count == r->capacity) {
        uint32_t capacity = r->capacity < UINT32_MAX / 2 - 64 ? 2 * r->capacity + 64 : 0;
        json_value *values =
            capacity != 0 ? realloc(r->tree->values, capacity * sizeof(*values)) : NULL;
        if (values == NULL) return NULL;
        r->tree->values = values;
        r->capacity = capacity;
    }
    json_value *v = &r->tree->values[r->count++];
    *v = (json_value){.size = 1, .number = (double)NAN};
    return v;
}

static bool read_number(reader *r, json_value *v) {
    char text[LONGEST_COUNT];
    size_t length = 0;
    while (r->at + length < r->size && length < sizeof(text) - 1 &&
           r->text[r->at + length] != '\0' &&
           strchr("+-.0123456789eE", r->text[r->at + length]) != NULL)
        ++length;
    memcpy(text, r->text + r->at, length);
    text[length] = '\0';
    v->kind = JSON_NUMBER;
    if (length == 0 || !args_read_number(text, &v->number))
        return fail(r, "neither a value nor a number");
    r->at += length;
    return true;
}

static bool read_word(reader *r, json_value *v) {
    static const char *const words[] = {"null", "false", "true"};
    for (int i = 0; i < 3; ++i) {
        size_t length = strlen(words[i]);
        if (r->size - r->at < length || memcmp(r->text + r->at, words[i], length) != 0) continue;
        v->kind = (json_kind)i;
        r->at += length;
        return true;
    }
    return read_number(r, v);
}

/* Reads one value, or only the beginning of an array or object. */
static bool read_value(reader *r, const char *key) {
    json_value *v = append(r);
    if (v == NULL) return false;
    v->key = key;
    char c = peek(r);
    if (c == '{' || c == '[') {
        v->kind = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        ++r->at;
        return true;
    }
    if (c != '"') return read_word(r, v);
    v->kind = JSON_TEXT;
    return read_text(r, &v->text);
}

/* Reads what stands before the next value of an array or object: a comma, a key. */
static bool read_between(reader *r, bool first, bool in_object, const char **key) {
    skip_blanks(r);
    if (!first) {
        if (peek(r) != ',') return fail(r, "a comma or an end is missing");
        ++r->at;
        skip_blanks(r);
    }
    *key = NULL;
    if (!in_object) return true;
    if (peek(r) != '"') return fail(r, "a key is missing");
    if (!read_text(r, key)) return false;
    skip_blanks(r);
    if (peek(r) != ':') return fail(r, "a colon is missing");
    ++r->at;
    skip_blanks(r);
    return true;
}

static bool read_all(reader *r) {
    uint32_t open[MOST_DEPTH], depth = 0;
    const char *key = NULL;
    bool fresh = true; /* the innermost array or object has no value yet */
    skip_blanks(r);
    for (;;) {
        if (!read_value(r, key)) return false;
        json_value *v = &r->tree->values[r->count - 1];
        if (v->kind >= JSON_ARRAY) {
            if (depth == MOST_DEPTH) return fail(r, "too deeply nested");
            open[depth++] = r->count - 1;
            fresh = true;
        } else {
            fresh = false;
        }
        for (;;) { /* ends */
            skip_blanks(r);
            if (depth == 0) return r->at == r->size || fail(r, "something after the end");
            v = &r->tree->values[open[depth - 1]];
            if (peek(r) != (v->kind == JSON_OBJECT ? '}' : ']')) break;
            ++r->at;
            v->size = r->count - open[--depth];
            fresh = false;
        }
        if (!read_between(r, fresh, v->kind == JSON_OBJECT, &key)) return false;
    }
}

bool json_read(const char *text, size_t size, json_tree *tree) {
    reader r = {.text = text, .size = size, .tree = tree};
    *tree = (json_tree){0};
    tree->texts = malloc(size + 1);
    r.to = tree->texts;
    return tree->texts != NULL && read_all(&r);
}

void json_tree_free(json_tree *tree) {
    free(tree->values);
    free(tree->texts);
    *tree = (json_tree){0};
}

const json_value *json_first(const json_value *value) {
    return value != NULL && value->kind >= JSON_ARRAY && value->size > 1 ? value + 1 : NULL;
}

const json_value *json_end(const json_value *value) {
    return value != NULL ? value + value->size : NULL;
}

const json_value *json_get(const json_value *object, const char *key) {
    if (object == NULL || object->kind != JSON_OBJECT) return NULL;
    for (const json_value *v = object + 1; v < object + object->size; v = json_next(v))
        if (strcmp(v->key, key) == 0) return v;
    return NULL;
}

const char *json_get_text(const json_value *object, const char *key) {
    const json_value *v = json_get(object, key);
    return v != NULL && v->kind == JSON_TEXT ? v->text : NULL;
}

double json_get_number(const json_value *object, const char *key) {
    const json_value *v = json_get(object, key);
    return v != NULL ? v->number : (double)NAN;
}
