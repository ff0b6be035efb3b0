/* SPDX-License-Identifier: MIT */
/* text.h: text that comes from files, such as names of parts, on its way into files.
 *
 * Every format of text gets the same characters: bytes that are not UTF-8 (also surrogates and
 * overlong forms), noncharacters such as U+FFFE, and control characters (C0, DEL, C1) are each
 * replaced by U+FFFD. JSON alone keeps control characters and noncharacters, escaped as its
 * standard says (json.h).
 */
#ifndef CAROM_CLI_TEXT_H
#define CAROM_CLI_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT_REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD in UTF-8 */

/* The bytes of the UTF-8 sequence that begins the text; 0 where it is none. */
size_t text_utf8_length(const char *text);

/* One character that text formats allow, in UTF-8. */
typedef struct text_character {
    char bytes[5]; /* terminated by zero; "": the text has ended */
    uint32_t code;
} text_character;

/* Reads the character at *text, or what replaces it, and advances past it. */
text_character text_next(const char **text);

/* As strcmp and strncmp, when capital and small letters of ASCII count as the same. */
int text_compare_caseless(const char *a, const char *b);
int text_compare_caseless_n(const char *a, const char *b, size_t most);

/* The longest beginning of the text with at most `most` bytes that cuts no character. */
size_t text_prefix(const char *text, size_t most);

/* Each writes the text with replaced characters: as it is; as text or the value of an attribute of
 * XML, HTML and SVG; as a scalar of YAML, in quotes where a plain one would not be this text; as a
 * quoted cell of CSV. */
void text_put(FILE *out, const char *text);
void text_put_xml(FILE *out, const char *text);
void text_put_yaml(FILE *out, const char *text);
/* Spreadsheets compute cells that begin with = + - or @. Such a cell gets a leading apostrophe,
 * unless it is a number. */
void text_put_csv(FILE *out, const char *text);

#endif
