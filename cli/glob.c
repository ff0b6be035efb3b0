/* SPDX-License-Identifier: MIT */
/* As fnmatch of POSIX without flags, which Windows lacks, but for characters of UTF-8, not bytes.
 *
 * When characters differ after a *, this * takes one more and all after it is tried again. Only the
 * last * needs that: those before it have matched as little as they can, and taking more could not
 * help what follows. So the time is at most the product of both lengths. */
#include "cli/glob.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cli/text.h"

#define LETTER(c) ((uint32_t)(c) << 24) /* a character of ASCII, as take_character gives it */

/* The next character: its bytes of UTF-8 from the highest down, so that numbers have the order of
 * characters. A byte that is not UTF-8 is one. */
static uint32_t take_character(const char **at) {
    size_t length = text_utf8_length(*at);
    uint32_t c = 0;
    if (length == 0) length = 1;
    for (size_t i = 0; i < length; ++i) c |= LETTER((unsigned char)(*at)[i]) >> 8 * i;
    *at += length;
    return c;
}

/* Whether one of [:alpha:] and the like, of which the name begins at `name`, has a character. */
static bool class_has(const char *name, size_t length, uint32_t c) {
    static const struct {
        const char *name;
        int (*has)(int c);
    } classes[] = {{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank},
                   {"cntrl", iscntrl}, {"digit", isdigit}, {"graph", isgraph},
                   {"lower", islower}, {"print", isprint}, {"punct", ispunct},
                   {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit}};
    if (c >= LETTER(0x80)) return false;
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); ++i)
        if (strlen(classes[i].name) == length && memcmp(classes[i].name, name, length) == 0)
            return classes[i].has((int)(c >> 24)) != 0;
    return false;
}

static uint32_t take_member(const char **at) {
    if ((*at)[0] == '\\' && (*at)[1] != '\0') ++*at;
    return take_character(at);
}

/* Whether the set that begins behind a [ at *glob has a character; *glob is moved behind its ]. */
static bool set_has(const char **glob, uint32_t c) {
    const char *at = *glob;
    bool negated = *at == '!' || *at == '^', found = false;
    if (negated) ++at;
    for (bool first = true; first || *at != ']'; first = false) {
        const char *end = at[0] == '[' && at[1] == ':' ? strstr(at + 2, ":]") : NULL;
        if (*at == '\0') return c == LETTER('['); /* no end: it was a character */
        if (end != NULL) {
            found |= class_has(at + 2, (size_t)(end - at) - 2, c);
            at = end + 2;
            continue;
        }
        uint32_t low = take_member(&at), high = low;
        if (at[0] == '-' && at[1] != ']' && at[1] != '\0') {
            ++at;
            high = take_member(&at);
        }
        found |= low <= c && c <= high;
    }
    *glob = at + 1;
    return found != negated;
}

/* Whether the part of a pattern at *glob, which is no *, takes a character; *glob is moved on. */
static bool takes(const char **glob, uint32_t c) {
    char kind = **glob;
    if (kind == '?' || kind == '[') ++*glob;
    if (kind == '?') return true;
    if (kind == '[') return set_has(glob, c);
    if (kind == '\\') ++*glob;
    return **glob != '\0' && take_character(glob) == c;
}

bool glob_matches(const char *glob, const char *text) {
    const char *star = NULL, *left = NULL; /* behind the last *, and the text that it left */
    while (*text != '\0') {
        if (*glob == '*') {
            star = ++glob;
            left = text;
            continue;
        }
        const char *next = glob, *rest = text;
        if (takes(&next, take_character(&rest))) {
            glob = next;
            text = rest;
        } else if (star != NULL) {
            glob = star;
            (void)take_character(&left);
            text = left;
        } else {
            return false;
        }
    }
    while (*glob == '*') ++glob;
    return *glob == '\0';
}
