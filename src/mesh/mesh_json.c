/* SPDX-License-Identifier: MIT */
/* JSON (RFC 8259) as far as files that are read need it: brackets must match and strings end, what
 * is between them is checked where it is used. Nothing is allocated, and no byte at `end` is read.
 */
#include "mesh/mesh_json.h"

#include <string.h>

#include "mesh/mesh_number.h"
#include "mesh/mesh_text.h"

static const uint8_t *json_blanks(const uint8_t *at, const uint8_t *end) {
    while (at < end && carom_is_space(*at)) ++at;
    return at;
}

/* Past a string that begins at `at`. */
static const uint8_t *json_string(const uint8_t *at, const uint8_t *end) {
    for (++at; at < end && *at != '"'; ++at)
        if (*at == '\\' && ++at == end) return NULL;
    return at < end ? at + 1 : NULL;
}

carom_json carom_json_begin(const uint8_t *bytes, uint64_t size) {
    return (carom_json){json_blanks(bytes, bytes + size), bytes + size};
}

const uint8_t *carom_json_skip(carom_json value) {
    const uint8_t *at = value.at, *end = value.end;
    uint8_t open[CAROM_JSON_MOST_DEPTH];
    int depth = 0;
    do {
        if (at == NULL || at == end) return NULL;
        uint8_t c = *at;
        if (c == '"') {
            at = json_string(at, end);
        } else if (c == '{' || c == '[') {
            if (depth == CAROM_JSON_MOST_DEPTH) return NULL;
            open[depth++] = c == '{' ? '}' : ']';
            ++at;
        } else if (c == '}' || c == ']') {
            if (depth == 0 || open[--depth] != c) return NULL;
            ++at;
        } else if (depth > 0 && (c == ',' || c == ':' || carom_is_space(c))) {
            ++at;
        } else { /* a number or a word */
            const uint8_t *begin = at;
            while (at < end && strchr(",:{}[]\"", *at) == NULL && !carom_is_space(*at)) ++at;
            if (at == begin) return NULL;
        }
    } while (depth > 0);
    return at;
}

carom_json_walk carom_json_enter(carom_json value, char open) {
    bool is_right = value.at < value.end && *value.at == (uint8_t)open;
    return (carom_json_walk){is_right ? value.at + 1 : value.end, value.end, true, false};
}

/* Moves to the next element, past a comma but for the first; false at the end. */
static bool json_step(carom_json_walk *walk, carom_json *value) {
    if (walk->is_failed) return false;
    walk->at = json_blanks(walk->at, walk->end);
    if (walk->at == walk->end || *walk->at == ']' || *walk->at == '}') return false;
    if (!walk->is_first) {
        walk->is_failed = *walk->at != ',';
        if (walk->is_failed) return false;
        walk->at = json_blanks(walk->at + 1, walk->end);
    }
    walk->is_first = false;
    *value = (carom_json){walk->at, walk->end};
    const uint8_t *after = carom_json_skip(*value);
    walk->is_failed = after == NULL;
    if (after != NULL) walk->at = after;
    return after != NULL;
}

bool carom_json_next(carom_json_walk *walk, carom_json *value) {
    return json_step(walk, value);
}

bool carom_json_next_member(carom_json_walk *walk, carom_json *key, carom_json *value) {
    if (!json_step(walk, key)) return false;
    walk->at = json_blanks(walk->at, walk->end);
    walk->is_failed = *key->at != '"' || walk->at == walk->end || *walk->at != ':';
    if (walk->is_failed) return false;
    walk->at = json_blanks(walk->at + 1, walk->end);
    *value = (carom_json){walk->at, walk->end};
    const uint8_t *after = carom_json_skip(*value);
    walk->is_failed = after == NULL;
    if (after != NULL) walk->at = after;
    return after != NULL;
}

bool carom_json_find(carom_json object, const char *name, carom_json *value) {
    carom_json_walk walk = carom_json_enter(object, '{');
    carom_json key;
    while (carom_json_next_member(&walk, &key, value))
        if (carom_json_is(key, name)) return true;
    return false;
}

bool carom_json_is(carom_json value, const char *text) {
    size_t length = strlen(text);
    return (uint64_t)(value.end - value.at) >= length + 2 && value.at[0] == '"' &&
           memcmp(value.at + 1, text, length) == 0 && value.at[length + 1] == '"';
}

bool carom_json_number(carom_json value, double *number) {
    return value.at < value.end && (*value.at == '-' || carom_is_digit(*value.at)) &&
           carom_number_parse(value.at, value.end, number) != NULL && *number - *number == 0.0;
}

bool carom_json_count(carom_json value, uint64_t *count) {
    double number;
    if (!carom_json_number(value, &number) || !(number >= 0.0 && number <= 0x1p53)) return false;
    *count = (uint64_t)number;
    return (double)*count == number;
}

/* ---- Strings --------------------------------------------------------------------------------- */

/* Four hexadecimal digits; false where there are others. */
static bool json_hex(const uint8_t *at, const uint8_t *end, uint32_t *code) {
    if (end - at < 4) return false;
    *code = 0;
    for (int i = 0; i < 4; ++i) {
        uint32_t lower = (uint32_t)at[i] | 0x20;
        bool letter = lower >= 'a' && lower <= 'f';
        if (!carom_is_digit(at[i]) && !letter) return false;
        *code = *code << 4 | (letter ? lower - 'a' + 10 : (uint32_t)at[i] - '0');
    }
    return true;
}

#define JSON_REPLACEMENT 0xFFFDu /* of surrogates without a partner */

/* The character of an escape at `at`, which follows the backslash and is advanced past it. */
static uint32_t json_escape(const uint8_t **at, const uint8_t *end) {
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    uint8_t c = *(*at)++;
    const char *found = c != '\0' ? strchr(from, c) : NULL;
    uint32_t high, low;
    if (found != NULL) return (uint32_t)to[found - from];
    if (c != 'u' || !json_hex(*at, end, &high)) return c;
    *at += 4;
    if (high < 0xD800 || high > 0xDFFF) return high;
    if (high < 0xDC00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u' &&
        json_hex(*at + 2, end, &low) && low >= 0xDC00 && low <= 0xDFFF) {
        *at += 6;
        return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    }
    return JSON_REPLACEMENT;
}

/* Writes a character; its length. */
static uint64_t json_utf8(uint32_t c, char bytes[4]) {
    uint64_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t heads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (uint64_t i = length; i-- > 1; c >>= 6) bytes[i] = (char)(0x80 | (c & 0x3F));
    bytes[0] = (char)(heads[length] | c);
    return length;
}

uint64_t carom_json_decode(carom_json value, char *to, uint64_t size) {
    uint64_t used = 0;
    const uint8_t *at = value.at;
    if (at < value.end && *at == '"')
        for (++at; at < value.end && *at != '"';) {
            char bytes[4] = {(char)*at};
            uint64_t length = 1;
            if (*at++ == '\\') {
                if (at == value.end) break;
                length = json_utf8(json_escape(&at, value.end), bytes);
            } else { /* the rest of a character in UTF-8 */
                while (length < 4 && at < value.end && (bytes[0] & 0xC0) == 0xC0 &&
                       (*at & 0xC0) == 0x80)
                    bytes[length++] = (char)*at++;
            }
            if (used + length + 1 > size) break;
            memcpy(to + used, bytes, (size_t)length);
            used += length;
        }
    if (size != 0) to[used] = '\0';
    return used;
}
