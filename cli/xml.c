/* SPDX-License-Identifier: MIT */
/* A reader of XML tags: one pass, no tree. What is between < and > is a tag; quotes hide both. */
#include "cli/xml.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void xml_begin(xml *x, const char *text, size_t size) {
    *x = (xml){.at = text, .end = text + size, .line = 1};
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool starts(const xml *x, const char *words) {
    size_t size = strlen(words);
    return (size_t)(x->end - x->at) >= size && memcmp(x->at, words, size) == 0;
}

static void step(xml *x, size_t count) {
    for (; count > 0 && x->at < x->end; --count) x->line += *x->at++ == '\n' ? 1 : 0;
}

/* Goes past the next `words`; false when there are none. */
static bool skip_past(xml *x, const char *words) {
    while (x->at < x->end && !starts(x, words)) step(x, 1);
    if (x->at >= x->end) return false;
    step(x, strlen(words));
    return true;
}

/* Skips what is not an element. */
static bool skip_other(xml *x) {
    if (starts(x, "<!--")) return skip_past(x, "-->");
    if (starts(x, "<![CDATA[")) return skip_past(x, "]]>");
    return skip_past(x, ">");
}

bool xml_next(xml *x) {
    if (x->opens && !x->closes) ++x->depth;
    x->opens = x->closes = false;
    for (;;) {
        while (x->at < x->end && *x->at != '<') step(x, 1);
        if (x->at >= x->end) return false;
        if (!starts(x, "<!") && !starts(x, "<?")) break;
        if (!skip_other(x)) {
            x->broken = true;
            return false;
        }
    }
    step(x, 1);
    x->closes = x->at < x->end && *x->at == '/';
    x->opens = !x->closes;
    if (x->closes) step(x, 1);
    x->name = x->at;
    while (x->at < x->end && !is_space(*x->at) && *x->at != '>' && *x->at != '/') step(x, 1);
    x->name_size = (size_t)(x->at - x->name);
    x->attributes = x->at;
    char quote = '\0';
    for (; x->at < x->end && (quote != '\0' || *x->at != '>'); step(x, 1)) {
        if (quote != '\0')
            quote = *x->at == quote ? '\0' : quote;
        else if (*x->at == '"' || *x->at == '\'')
            quote = *x->at;
    }
    x->attributes_end = x->at;
    if (x->at >= x->end) {
        x->broken = true;
        return false;
    }
    if (x->opens && x->attributes_end > x->attributes && x->attributes_end[-1] == '/') {
        x->closes = true;
        --x->attributes_end;
    }
    step(x, 1);
    if (x->closes && !x->opens && x->depth > 0) --x->depth;
    return true;
}

bool xml_is(const xml *x, const char *name) {
    return strlen(name) == x->name_size && memcmp(name, x->name, x->name_size) == 0;
}

/* One character or entity; returns what follows it. */
static const char *decode(const char *at, const char *end, char *out) {
    static const struct {
        const char *name;
        char is;
    } entities[] = {
        {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); ++i) {
        size_t size = strlen(entities[i].name);
        if ((size_t)(end - at) < size || memcmp(at, entities[i].name, size) != 0) continue;
        *out = entities[i].is;
        return at + size;
    }
    *out = *at;
    return at + 1;
}

bool xml_get(const xml *x, const char *name, char *value, size_t size) {
    const char *at = x->attributes, *end = x->attributes_end;
    while (at < end) {
        while (at < end && is_space(*at)) ++at;
        const char *key = at;
        while (at < end && *at != '=' && !is_space(*at)) ++at;
        size_t key_size = (size_t)(at - key);
        while (at < end && *at != '"' && *at != '\'') ++at;
        if (at >= end) return false;
        char quote = *at++;
        bool wanted = key_size == strlen(name) && memcmp(key, name, key_size) == 0;
        size_t used = 0;
        while (at < end && *at != quote) {
            char c;
            at = decode(at, end, &c);
            if (used + 1 < size) value[used] = c;
            ++used;
        }
        ++at;
        if (!wanted) continue;
        if (used + 1 > size) return false;
        value[used] = '\0';
        return true;
    }
    return false;
}
