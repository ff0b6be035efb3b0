/* SPDX-License-Identifier: MIT */
/* The less frequent operations on text: keywords, and messages with a line number. */
#include "mesh/mesh_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool carom_text_accept(carom_text *text, const char *word) {
    carom_text_skip_blanks(text);
    const uint8_t *at = text->at;
    for (; *word != '\0'; ++word, ++at)
        if (at == text->end || (*at != (uint8_t)*word && (*at | 0x20) != (uint8_t)*word))
            return false;
    if (at < text->end && !carom_is_space(*at)) return false;
    text->at = at;
    return true;
}

carom_quote carom_text_quote(const carom_text *text, const uint8_t *at) {
    carom_quote quote;
    size_t length = 0, most = sizeof(quote.text) - 6;
    if (at == text->end || carom_is_newline(*at)) {
        strcpy(quote.text, at == text->end ? "the end of the file" : "the end of the line");
        return quote;
    }
    quote.text[length++] = '"';
    for (; at < text->end && !carom_is_space(*at) && length < most; ++at)
        quote.text[length++] = *at > ' ' && *at < 0x7F ? (char)*at : '?';
    strcpy(quote.text + length, at < text->end && !carom_is_space(*at) ? "...\"" : "\"");
    return quote;
}

uint64_t carom_text_line(const carom_text *text, const uint8_t *at) {
    uint64_t line = text->lines + 1;
    for (const uint8_t *p = text->begin; p < at; ++p)
        if (*p == '\n' ? p == text->begin || p[-1] != '\r' : *p == '\r') ++line;
    return line;
}

carom_status carom_text_fail(const carom_text *text, const uint8_t *at, const char *format, ...) {
    char reason[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
    return carom_fail(text->context, CAROM_BAD_FILE, "%s: line %" PRIu64 ": %s", text->name,
                      carom_text_line(text, at), reason);
}

void carom_text_trim(carom_text *text) {
    while (text->end > text->at && (text->end[-1] == 0x00 || text->end[-1] == 0x1A)) --text->end;
}

carom_status carom_text_begin(carom_text *text) {
    const uint8_t *at = text->begin;
    text->at = at;
    if (at == text->end)
        return carom_fail(text->context, CAROM_BAD_FILE, "%s: the file is empty", text->name);
    if (text->end - at >= 2 &&
        ((at[0] == 0xFE && at[1] == 0xFF) || (at[0] == 0xFF && at[1] == 0xFE)))
        return carom_fail(text->context, CAROM_BAD_FILE,
                          "%s: byte 0: the text is UTF-16; save it as ASCII or UTF-8", text->name);
    if (text->end - at >= 3 && at[0] == 0xEF && at[1] == 0xBB && at[2] == 0xBF) text->at += 3;
    return CAROM_OK;
}
