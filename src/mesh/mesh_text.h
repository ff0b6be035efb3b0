/* SPDX-License-Identifier: MIT */
/* mesh_text.h: reads text in memory word by word, never past its end.
 *
 * Lines end with LF, CR LF or CR. Line numbers are counted only when a message needs one. */
#ifndef CAROM_SRC_MESH_MESH_TEXT_H
#define CAROM_SRC_MESH_MESH_TEXT_H

#include "base/status.h"
#include "mesh/mesh_number.h"

typedef struct carom_text {
    carom_context *context;
    const char *name; /* file name, for messages */
    const uint8_t *begin, *at, *end;
    uint64_t lines;  /* of the file before `begin` */
    uint64_t beyond; /* bytes of the file after `end` */
} carom_text;

/* A whole file as text. */
static inline carom_text carom_text_of(carom_context *context, const char *name,
                                       const uint8_t *bytes, uint64_t size) {
    return (carom_text){
        .context = context, .name = name, .begin = bytes, .at = bytes, .end = bytes + size};
}

static inline bool carom_is_newline(uint8_t c) {
    return c == '\n' || c == '\r';
}

static inline bool carom_is_blank(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static inline bool carom_is_space(uint8_t c) {
    return carom_is_blank(c) || carom_is_newline(c);
}

static inline void carom_text_skip_blanks(carom_text *text) {
    while (text->at < text->end && carom_is_blank(*text->at)) ++text->at;
}

static inline void carom_text_skip_spaces(carom_text *text) {
    while (text->at < text->end && carom_is_space(*text->at)) ++text->at;
}

/* Advances to the newline that ends this line, not past it. */
static inline void carom_text_skip_line(carom_text *text) {
    while (text->at < text->end && !carom_is_newline(*text->at)) ++text->at;
}

static inline void carom_text_skip_word(carom_text *text) {
    while (text->at < text->end && !carom_is_space(*text->at)) ++text->at;
}

/* Skips blanks; true at the end of the line or of the text. */
static inline bool carom_text_line_done(carom_text *text) {
    carom_text_skip_blanks(text);
    return text->at == text->end || carom_is_newline(*text->at);
}

/* Reads a finite number on this line that ends where a word ends. Does not advance when there is
 * none. */
static inline bool carom_text_number(carom_text *text, double *value) {
    carom_text_skip_blanks(text);
    const uint8_t *after = carom_number_parse(text->at, text->end, value);
    if (after == NULL || (after < text->end && !carom_is_space(*after)) || *value - *value != 0.0)
        return false;
    text->at = after;
    return true;
}

/* The same for an unsigned integer. */
static inline bool carom_text_count(carom_text *text, uint64_t *value) {
    carom_text_skip_blanks(text);
    const uint8_t *at = text->at;
    uint64_t count = 0;
    for (; at < text->end && carom_is_digit(*at); ++at) {
        if (count > (UINT64_MAX - 9) / 10) return false;
        count = 10 * count + (*at - '0');
    }
    if (at == text->at || (at < text->end && !carom_is_space(*at))) return false;
    text->at = at;
    *value = count;
    return true;
}

/* Skips blanks, then advances past `word` (given in lower case) if it comes next, in any case. */
bool carom_text_accept(carom_text *text, const char *word);

/* The word at `at` in quotes, shortened, with unprintable bytes as '?'; "the end" at an end. */
typedef struct carom_quote {
    char text[40];
} carom_quote;
carom_quote carom_text_quote(const carom_text *text, const uint8_t *at);

/* The number of the line of `at`, from 1. */
uint64_t carom_text_line(const carom_text *text, const uint8_t *at);

/* CAROM_BAD_FILE with the message `name: line N: ...`, where N is the line of `at`. */
carom_status carom_text_fail(const carom_text *text, const uint8_t *at, const char *format, ...)
    CAROM_PRINTF(3, 4);

/* Skips a UTF-8 byte order mark; CAROM_BAD_FILE for UTF-16 and for an empty file. */
carom_status carom_text_begin(carom_text *text);

/* Drops zero bytes and control-Z at the end, with which some tools pad text. */
void carom_text_trim(carom_text *text);

#endif
