/* SPDX-License-Identifier: MIT */
/* Characters for text formats: one function, text_next, says what may be written, and each format
 * adds only its quotes. */
#include "cli/text.h"

#include <stdbool.h>
#include <string.h>

#include "cli/args.h"

size_t text_utf8_length(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    size_t length = at[0] < 0x80                     ? 1
                    : at[0] >= 0xC2 && at[0] <= 0xDF ? 2
                    : (at[0] & 0xF0) == 0xE0         ? 3
                    : at[0] >= 0xF0 && at[0] <= 0xF4 ? 4
                                                     : 0;
    for (size_t i = 1; i < length; ++i)
        if ((at[i] & 0xC0) != 0x80) return 0;
    if (length == 3 && at[0] == 0xE0 && at[1] < 0xA0) return 0; /* overlong */
    if (length == 3 && at[0] == 0xED && at[1] > 0x9F) return 0; /* surrogates */
    if (length == 4 && at[0] == 0xF0 && at[1] < 0x90) return 0; /* overlong */
    if (length == 4 && at[0] == 0xF4 && at[1] > 0x8F) return 0; /* beyond U+10FFFF */
    return length;
}

static uint32_t decode(const char *text, size_t length) {
    static const uint32_t masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = (unsigned char)text[0] & masks[length];
    for (size_t i = 1; i < length; ++i) code = code << 6 | ((unsigned char)text[i] & 0x3F);
    return code;
}

#define REPLACEMENT_CODE 0xFFFDu

static bool is_allowed(uint32_t code) {
    bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    bool noncharacter = (code & 0xFFFE) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF);
    return !control && !noncharacter;
}

text_character text_next(const char **text) {
    text_character c = {.bytes = TEXT_REPLACEMENT, .code = REPLACEMENT_CODE};
    size_t length = text_utf8_length(*text);
    if (**text == '\0') return (text_character){0};
    uint32_t code = length != 0 ? decode(*text, length) : REPLACEMENT_CODE;
    if (length != 0 && is_allowed(code)) {
        c = (text_character){.code = code};
        memcpy(c.bytes, *text, length);
    }
    *text += length != 0 ? length : 1;
    return c;
}

static int small_letter(char c) {
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c;
}

int text_compare_caseless_n(const char *a, const char *b, size_t most) {
    for (size_t i = 0; i < most; ++i) {
        int difference = small_letter(a[i]) - small_letter(b[i]);
        if (difference != 0 || a[i] == '\0') return difference;
    }
    return 0;
}

int text_compare_caseless(const char *a, const char *b) {
    return text_compare_caseless_n(a, b, SIZE_MAX);
}

size_t text_prefix(const char *text, size_t most) {
    size_t used = 0;
    while (text[used] != '\0') {
        size_t length = text_utf8_length(text + used);
        if (length == 0) length = 1;
        if (used + length > most) break;
        used += length;
    }
    return used;
}

void text_put(FILE *out, const char *text) {
    while (*text != '\0') fputs(text_next(&text).bytes, out);
}

void text_put_xml(FILE *out, const char *text) {
    while (*text != '\0') {
        text_character c = text_next(&text);
        fputs(c.code == '<'   ? "&lt;"
              : c.code == '>' ? "&gt;"
              : c.code == '&' ? "&amp;"
              : c.code == '"' ? "&quot;"
                              : c.bytes,
              out);
    }
}

/* ---- YAML ------------------------------------------------------------------------------------ */

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether every YAML reader takes the text as it is for itself: letters, digits and _ - . alone,
 * beginning with a letter, and no word that some reader takes for a boolean or null. */
static bool is_plain(const char *text) {
    static const char *const words[] = {"true", "false", "yes", "no", "on",
                                        "off",  "null",  "y",   "n"};
    if (!is_letter(*text) && *text != '_') return false;
    for (const char *at = text; *at != '\0'; ++at)
        if (!is_letter(*at) && !(*at >= '0' && *at <= '9') && strchr("_-.", *at) == NULL)
            return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i) {
        size_t k = 0;
        while (text[k] != '\0' && (text[k] | 32) == words[i][k]) ++k;
        if (text[k] == '\0' && words[i][k] == '\0') return false;
    }
    return true;
}

/* YAML 1.1 ends lines at U+2028 and U+2029, and a byte order mark is not text everywhere. */
static bool is_escaped(uint32_t code) {
    return code == 0x2028 || code == 0x2029 || code == 0xFEFF;
}

void text_put_yaml(FILE *out, const char *text) {
    if (is_plain(text)) {
        fputs(text, out);
        return;
    }
    putc('"', out);
    while (*text != '\0') {
        text_character c = text_next(&text);
        if (c.code == '"' || c.code == '\\')
            fprintf(out, "\\%s", c.bytes);
        else if (is_escaped(c.code))
            fprintf(out, "\\u%04x", (unsigned)c.code);
        else
            fputs(c.bytes, out);
    }
    putc('"', out);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* Tabs and line ends, which would also begin a formula, are replaced like all control characters.
 */
static bool is_formula(const char *text) {
    double number;
    bool decimal = strspn(text, "+-.0123456789eE") == strlen(text);
    return *text != '\0' && strchr("=+-@", *text) != NULL &&
           !(decimal && args_read_number(text, &number));
}

void text_put_csv(FILE *out, const char *text) {
    fputs(is_formula(text) ? "\"'" : "\"", out);
    while (*text != '\0') {
        text_character c = text_next(&text);
        fputs(c.code == '"' ? "\"\"" : c.bytes, out);
    }
    putc('"', out);
}
