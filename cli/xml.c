/* SPDX-License-Identifier: MIT */
/* A reader of XML tags: one pass, no tree. The names of open elements stay where they are in the
 * text, on a stack of fixed size, so that no text can make the reader use memory. */
#include "cli/xml.h"
#include "cli/platform.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 40 /* bytes of a name in a message */

void xml_begin(xml *x, const char *text, size_t size) {
    memset(x, 0, sizeof(*x));
    x->at = x->name = x->attributes = x->attributes_end = text;
    x->end = text + size;
    x->line = x->here = 1;
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) x->at += 3; /* byte order mark */
}

PLATFORM_PRINTF(3, 4) static bool fail(xml *x, size_t line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(x->error, sizeof(x->error), format, arguments);
    va_end(arguments);
    x->error_line = line;
    x->opens = x->closes = false;
    x->at = x->end;
    return false;
}

static int shown(size_t size) {
    return (int)(size < SHOWN ? size : SHOWN);
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* A character of a name. Names of other scripts are bytes above 127. */
static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == ':' || (unsigned char)c > 127;
}

static bool starts(const xml *x, const char *words) {
    size_t size = strlen(words);
    return (size_t)(x->end - x->at) >= size && memcmp(x->at, words, size) == 0;
}

static void step(xml *x, size_t count) {
    for (; count > 0 && x->at < x->end; --count) x->here += *x->at++ == '\n' ? 1 : 0;
}

static void skip_space(xml *x) {
    while (x->at < x->end && is_space(*x->at)) step(x, 1);
}

/* Goes past the next `words`; false when there are none. */
static bool skip_past(xml *x, const char *words) {
    while (x->at < x->end && !starts(x, words)) step(x, 1);
    if (x->at >= x->end) return false;
    step(x, strlen(words));
    return true;
}

/* <!DOCTYPE a [ <!ENTITY b "c"> ]>: quotes hide all, brackets hide >. */
static bool skip_declaration(xml *x) {
    char quote = '\0';
    for (int depth = 0; x->at < x->end; step(x, 1)) {
        char c = *x->at;
        if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '[' || c == ']')
            depth += c == '[' ? 1 : -1;
        else if (c == '>' && depth <= 0)
            return skip_past(x, ">");
    }
    return false;
}

/* Skips what is not an element: a comment, CDATA, a declaration or an instruction. */
static bool skip_other(xml *x) {
    size_t line = x->here;
    if (starts(x, "<!--"))
        return skip_past(x, "-->") ||
               fail(x, line,
                    "the file ends inside this comment; it was cut short, or --> is missing");
    if (starts(x, "<![CDATA["))
        return skip_past(x, "]]>") ||
               fail(x, line,
                    "the file ends inside this CDATA; it was cut short, or ]]> is missing");
    return (starts(x, "<?") ? skip_past(x, "?>") : skip_declaration(x)) ||
           fail(x, line, "the file ends inside this declaration; it was cut short");
}

/* Goes to the next tag; false at the end or after a failure. */
static bool find_tag(xml *x) {
    for (;;) {
        for (; x->at < x->end && *x->at != '<'; step(x, 1))
            if (x->depth == 0 && !is_space(*x->at))
                return fail(x, x->here,
                            x->has_root ? "text follows the end of the root element; remove it"
                                        : "text stands where an element should; this is no XML");
        if (x->at >= x->end) break;
        if (!starts(x, "<!") && !starts(x, "<?")) return true;
        if (!skip_other(x)) return false;
    }
    if (x->depth > 0) {
        const xml_element *open = &x->open[x->depth - 1];
        return fail(
            x, x->here,
            "the file ends inside <%.*s> of line %zu; it was cut short, or </%.*s> is missing",
            shown(open->name_size), open->name, open->line, shown(open->name_size), open->name);
    }
    if (!x->has_root)
        return fail(x, x->here, "there is no element; the file is empty or was cut short");
    return false;
}

static bool fail_tag_end(xml *x) {
    return fail(x, x->line, "the file ends inside the tag <%.*s; it was cut short",
                shown(x->name_size), x->name);
}

/* Goes past one attribute, NAME="VALUE". */
static bool skip_attribute(xml *x) {
    const char *name = x->at;
    while (x->at < x->end && is_name(*x->at)) step(x, 1);
    size_t size = (size_t)(x->at - name);
    skip_space(x);
    if (x->at >= x->end) return fail_tag_end(x);
    if (size == 0 || *x->at != '=')
        return fail(x, x->here, "the tag <%.*s> has something other than NAME=\"VALUE\"",
                    shown(x->name_size), x->name);
    step(x, 1);
    skip_space(x);
    if (x->at >= x->end) return fail_tag_end(x);
    char quote = *x->at;
    if (quote != '"' && quote != '\'')
        return fail(x, x->here, "the value of the attribute %.*s of <%.*s> must be in quotes",
                    shown(size), name, shown(x->name_size), x->name);
    size_t line = x->here;
    for (step(x, 1); x->at < x->end && *x->at != quote; step(x, 1))
        if (*x->at == '<' || *x->at == '\0')
            return fail(x, line, "the value of the attribute %.*s of <%.*s> has no closing quote",
                        shown(size), name, shown(x->name_size), x->name);
    if (x->at >= x->end) return fail_tag_end(x);
    step(x, 1);
    return true;
}

/* Reads the rest of a tag after its name: attributes and its end. */
static bool read_rest(xml *x) {
    x->attributes = x->at;
    for (;;) {
        skip_space(x);
        x->attributes_end = x->at;
        if (x->at >= x->end) return fail_tag_end(x);
        if (*x->at == '>') break;
        if (x->opens && *x->at == '/') {
            step(x, 1);
            if (x->at >= x->end) return fail_tag_end(x);
            if (*x->at != '>')
                return fail(x, x->here, "the / of <%.*s/> must be followed by >",
                            shown(x->name_size), x->name);
            x->closes = true;
            break;
        }
        if (!x->opens)
            return fail(x, x->here, "the tag </%.*s> has attributes", shown(x->name_size), x->name);
        if (!skip_attribute(x)) return false;
    }
    step(x, 1);
    return true;
}

/* Takes the element that </name> closes off the stack. */
static bool close_element(xml *x) {
    if (x->depth == 0)
        return fail(x, x->line, "</%.*s> closes no element; remove it", shown(x->name_size),
                    x->name);
    const xml_element *open = &x->open[x->depth - 1];
    if (open->name_size != x->name_size || memcmp(open->name, x->name, x->name_size) != 0)
        return fail(x, x->line, "</%.*s> stands where <%.*s> of line %zu should be closed",
                    shown(x->name_size), x->name, shown(open->name_size), open->name, open->line);
    --x->depth;
    return true;
}

bool xml_next(xml *x) {
    if (x->opens && !x->closes) x->open[x->depth++] = (xml_element){x->name, x->name_size, x->line};
    x->opens = x->closes = false;
    if (!find_tag(x)) return false;
    x->line = x->here;
    step(x, 1);
    x->closes = x->at < x->end && *x->at == '/';
    x->opens = !x->closes;
    if (x->closes) step(x, 1);
    x->name = x->at;
    while (x->at < x->end && is_name(*x->at)) step(x, 1);
    x->name_size = (size_t)(x->at - x->name);
    if (x->name_size == 0 && x->at < x->end)
        return fail(x, x->line, "a < begins no tag; as text it is written &lt;");
    if (!read_rest(x)) return false;
    if (!x->opens) return close_element(x);
    if (x->depth == 0 && x->has_root)
        return fail(x, x->line, "<%.*s> follows the end of the root element; a file has one root",
                    shown(x->name_size), x->name);
    if (x->depth == XML_MOST_DEPTH)
        return fail(x, x->line, "more than %d elements are in each other; tags may lack their ends",
                    XML_MOST_DEPTH);
    x->has_root = true;
    return true;
}

bool xml_is(const xml *x, const char *name) {
    return strlen(name) == x->name_size && memcmp(name, x->name, x->name_size) == 0;
}

/* ---- Attributes ------------------------------------------------------------------------------ */

/* Writes a character as UTF-8; returns the number of bytes. */
static size_t encode(unsigned long c, char out[4]) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char first[4] = {0, 0xC0, 0xE0, 0xF0};
    out[0] = (char)(first[more] | (c >> (6 * more)));
    for (size_t i = 1; i <= more; ++i) out[i] = (char)(0x80 | ((c >> (6 * (more - i))) & 0x3F));
    return more + 1;
}

/* &#38; or &#x26;; NULL when it is none of these. */
static const char *decode_number(const char *at, const char *end, char out[4], size_t *count) {
    unsigned long c = 0, base = 10;
    if (end - at < 4 || at[0] != '&' || at[1] != '#') return NULL;
    at += 2;
    if (*at == 'x') {
        base = 16;
        ++at;
    }
    const char *begin = at;
    for (; at < end && *at != ';'; ++at) {
        unsigned long digit = *at >= '0' && *at <= '9'   ? (unsigned long)(*at - '0')
                              : *at >= 'a' && *at <= 'f' ? (unsigned long)(*at - 'a' + 10)
                              : *at >= 'A' && *at <= 'F' ? (unsigned long)(*at - 'A' + 10)
                                                         : 16;
        if (digit >= base || (c = base * c + digit) > 0x10FFFF) return NULL;
    }
    if (at == begin || at >= end || c == 0 || (c >= 0xD800 && c < 0xE000)) return NULL;
    *count = encode(c, out);
    return at + 1;
}

/* One character or entity; returns what follows it. */
static const char *decode(const char *at, const char *end, char out[4], size_t *count) {
    static const struct {
        const char *name;
        char is;
    } entities[] = {
        {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    *count = 1;
    *out = *at;
    if (*at != '&') return at + 1;
    for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); ++i) {
        size_t size = strlen(entities[i].name);
        if ((size_t)(end - at) < size || memcmp(at, entities[i].name, size) != 0) continue;
        *out = entities[i].is;
        return at + size;
    }
    const char *after = decode_number(at, end, out, count);
    return after != NULL ? after : at + 1;
}

/* The value of an attribute as it is in the text; NULL when it is not there. */
static const char *find_value(const xml *x, const char *name, const char **end) {
    const char *at = x->attributes;
    while (at < x->attributes_end) {
        while (at < x->attributes_end && is_space(*at)) ++at;
        const char *key = at;
        while (at < x->attributes_end && is_name(*at)) ++at;
        size_t key_size = (size_t)(at - key);
        while (at < x->attributes_end && *at != '"' && *at != '\'') ++at;
        if (at >= x->attributes_end) return NULL;
        char quote = *at++;
        const char *value = at;
        while (at < x->attributes_end && *at != quote) ++at;
        *end = at++;
        if (key_size == strlen(name) && memcmp(key, name, key_size) == 0) return value;
    }
    return NULL;
}

bool xml_has(const xml *x, const char *name) {
    const char *end;
    return find_value(x, name, &end) != NULL;
}

bool xml_get(const xml *x, const char *name, char *value, size_t size) {
    const char *end, *at = find_value(x, name, &end);
    size_t used = 0;
    if (at == NULL) return false;
    while (at < end) {
        char bytes[4];
        size_t count;
        at = decode(at, end, bytes, &count);
        if (used + count + 1 > size) return false;
        memcpy(value + used, bytes, count);
        used += count;
    }
    value[used] = '\0';
    return true;
}
