/* SPDX-License-Identifier: MIT */
/* A reader of XML tags: one pass, no tree. The names of open elements stay where they are in the
 * text, on a stack of fixed size, so that no text can make the reader use memory. */
#include "robot/robot_xml.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

#define XML_SHOWN 40 /* bytes of a name in a message */

void carom_xml_begin(carom_xml *x, const char *text, size_t size) {
    memset(x, 0, sizeof(*x));
    x->at = x->name = x->attributes = x->attributes_end = text;
    x->end = text + size;
    x->line = x->here = 1;
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) x->at += 3; /* byte order mark */
}

CAROM_PRINTF(3, 4) static bool xml_fail(carom_xml *x, size_t line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(x->error, sizeof(x->error), format, arguments);
    va_end(arguments);
    x->error_line = line;
    x->opens = x->closes = false;
    x->at = x->end;
    return false;
}

static int xml_shown(size_t size) {
    return (int)(size < XML_SHOWN ? size : XML_SHOWN);
}

static bool xml_is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* A character of a name. Names of other scripts are bytes above 127. */
static bool xml_is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == ':' || (unsigned char)c > 127;
}

static bool xml_starts(const carom_xml *x, const char *words) {
    size_t size = strlen(words);
    return (size_t)(x->end - x->at) >= size && memcmp(x->at, words, size) == 0;
}

static void xml_step(carom_xml *x, size_t count) {
    for (; count > 0 && x->at < x->end; --count) x->here += *x->at++ == '\n' ? 1 : 0;
}

static void xml_skip_space(carom_xml *x) {
    while (x->at < x->end && xml_is_space(*x->at)) xml_step(x, 1);
}

/* Goes past the next `words`; false when there are none. */
static bool xml_skip_past(carom_xml *x, const char *words) {
    while (x->at < x->end && !xml_starts(x, words)) xml_step(x, 1);
    if (x->at >= x->end) return false;
    xml_step(x, strlen(words));
    return true;
}

/* <!DOCTYPE a [ <!ATTLIST b "c"> ]>: quotes hide all, brackets hide >. What entities stand for can
 * be a file, or grow without bound: a text that declares one is refused. */
static bool xml_skip_declaration(carom_xml *x) {
    char quote = '\0';
    for (int depth = 0; x->at < x->end; xml_step(x, 1)) {
        char c = *x->at;
        if (quote == '\0' && xml_starts(x, "<!ENTITY"))
            return xml_fail(x, x->here,
                            "an entity is declared, which is not read; expand it first "
                            "(xmllint --noent)");
        if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '[' || c == ']')
            depth += c == '[' ? 1 : -1;
        else if (c == '>' && depth <= 0)
            return xml_skip_past(x, ">");
    }
    return false;
}

/* Skips what is not an element: a comment, CDATA, a declaration or an instruction. */
static bool xml_skip_other(carom_xml *x) {
    size_t line = x->here;
    if (xml_starts(x, "<!--"))
        return xml_skip_past(x, "-->") ||
               xml_fail(x, line,
                        "the file ends inside this comment; it was cut short, or --> is missing");
    if (xml_starts(x, "<![CDATA["))
        return xml_skip_past(x, "]]>") ||
               xml_fail(x, line,
                        "the file ends inside this CDATA; it was cut short, or ]]> is missing");
    bool skipped = xml_starts(x, "<?") ? xml_skip_past(x, "?>") : xml_skip_declaration(x);
    if (skipped || *x->error != '\0') return skipped;
    return xml_fail(x, line, "the file ends inside this declaration; it was cut short");
}

/* Goes to the next tag; false at the end or after a failure. */
static bool xml_find_tag(carom_xml *x) {
    for (;;) {
        for (; x->at < x->end && *x->at != '<'; xml_step(x, 1))
            if (x->depth == 0 && !xml_is_space(*x->at))
                return xml_fail(x, x->here,
                                x->has_root
                                    ? "text follows the end of the root element; remove it"
                                    : "text stands where an element should; this is no XML");
        if (x->at >= x->end) break;
        if (!xml_starts(x, "<!") && !xml_starts(x, "<?")) return true;
        if (!xml_skip_other(x)) return false;
    }
    if (x->depth > 0) {
        const carom_xml_element *open = &x->open[x->depth - 1];
        return xml_fail(
            x, x->here,
            "the file ends inside <%.*s> of line %zu; it was cut short, or </%.*s> is missing",
            xml_shown(open->name_size), open->name, open->line, xml_shown(open->name_size),
            open->name);
    }
    if (!x->has_root)
        return xml_fail(x, x->here, "there is no element; the file is empty or was cut short");
    return false;
}

static bool xml_fail_tag_end(carom_xml *x) {
    return xml_fail(x, x->line, "the file ends inside the tag <%.*s; it was cut short",
                    xml_shown(x->name_size), x->name);
}

/* Goes past one attribute, NAME="VALUE". */
static bool xml_skip_attribute(carom_xml *x) {
    const char *name = x->at;
    while (x->at < x->end && xml_is_name(*x->at)) xml_step(x, 1);
    size_t size = (size_t)(x->at - name);
    xml_skip_space(x);
    if (x->at >= x->end) return xml_fail_tag_end(x);
    if (size == 0 || *x->at != '=')
        return xml_fail(x, x->here, "the tag <%.*s> has something other than NAME=\"VALUE\"",
                        xml_shown(x->name_size), x->name);
    xml_step(x, 1);
    xml_skip_space(x);
    if (x->at >= x->end) return xml_fail_tag_end(x);
    char quote = *x->at;
    if (quote != '"' && quote != '\'')
        return xml_fail(x, x->here, "the value of the attribute %.*s of <%.*s> must be in quotes",
                        xml_shown(size), name, xml_shown(x->name_size), x->name);
    size_t line = x->here;
    for (xml_step(x, 1); x->at < x->end && *x->at != quote; xml_step(x, 1))
        if (*x->at == '<' || *x->at == '\0')
            return xml_fail(x, line,
                            "the value of the attribute %.*s of <%.*s> has no closing quote",
                            xml_shown(size), name, xml_shown(x->name_size), x->name);
    if (x->at >= x->end) return xml_fail_tag_end(x);
    xml_step(x, 1);
    return true;
}

/* Reads the rest of a tag after its name: attributes and its end. */
static bool xml_read_rest(carom_xml *x) {
    x->attributes = x->at;
    for (;;) {
        xml_skip_space(x);
        x->attributes_end = x->at;
        if (x->at >= x->end) return xml_fail_tag_end(x);
        if (*x->at == '>') break;
        if (x->opens && *x->at == '/') {
            xml_step(x, 1);
            if (x->at >= x->end) return xml_fail_tag_end(x);
            if (*x->at != '>')
                return xml_fail(x, x->here, "the / of <%.*s/> must be followed by >",
                                xml_shown(x->name_size), x->name);
            x->closes = true;
            break;
        }
        if (!x->opens)
            return xml_fail(x, x->here, "the tag </%.*s> has attributes", xml_shown(x->name_size),
                            x->name);
        if (!xml_skip_attribute(x)) return false;
    }
    xml_step(x, 1);
    return true;
}

/* Takes the element that </name> closes off the stack. */
static bool xml_close_element(carom_xml *x) {
    if (x->depth == 0)
        return xml_fail(x, x->line, "</%.*s> closes no element; remove it", xml_shown(x->name_size),
                        x->name);
    const carom_xml_element *open = &x->open[x->depth - 1];
    if (open->name_size != x->name_size || memcmp(open->name, x->name, x->name_size) != 0)
        return xml_fail(x, x->line, "</%.*s> stands where <%.*s> of line %zu should be closed",
                        xml_shown(x->name_size), x->name, xml_shown(open->name_size), open->name,
                        open->line);
    --x->depth;
    return true;
}

bool carom_xml_next(carom_xml *x) {
    if (x->opens && !x->closes)
        x->open[x->depth++] = (carom_xml_element){x->name, x->name_size, x->line};
    x->opens = x->closes = false;
    if (!xml_find_tag(x)) return false;
    x->line = x->here;
    xml_step(x, 1);
    x->closes = x->at < x->end && *x->at == '/';
    x->opens = !x->closes;
    if (x->closes) xml_step(x, 1);
    x->name = x->at;
    while (x->at < x->end && xml_is_name(*x->at)) xml_step(x, 1);
    x->name_size = (size_t)(x->at - x->name);
    if (x->name_size == 0 && x->at < x->end)
        return xml_fail(x, x->line, "a < begins no tag; as text it is written &lt;");
    if (!xml_read_rest(x)) return false;
    if (!x->opens) return xml_close_element(x);
    if (x->depth == 0 && x->has_root)
        return xml_fail(x, x->line,
                        "<%.*s> follows the end of the root element; a file has one root",
                        xml_shown(x->name_size), x->name);
    if (x->depth == CAROM_XML_MOST_DEPTH)
        return xml_fail(x, x->line,
                        "more than %d elements are in each other; tags may lack their ends",
                        CAROM_XML_MOST_DEPTH);
    x->has_root = true;
    return true;
}

bool carom_xml_is(const carom_xml *x, const char *name) {
    return strlen(name) == x->name_size && memcmp(name, x->name, x->name_size) == 0;
}

/* ---- Attributes ------------------------------------------------------------------------------ */

/* Writes a character as UTF-8; returns the number of bytes. */
static size_t xml_encode(unsigned long c, char out[4]) {
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
static const char *xml_decode_number(const char *at, const char *end, char out[4], size_t *count) {
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
    *count = xml_encode(c, out);
    return at + 1;
}

/* One character or entity; returns what follows it. */
static const char *xml_decode(const char *at, const char *end, char out[4], size_t *count) {
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
    const char *after = xml_decode_number(at, end, out, count);
    return after != NULL ? after : at + 1;
}

/* The value of an attribute as it is in the text; NULL when it is not there. */
static const char *xml_find_value(const carom_xml *x, const char *name, const char **end) {
    const char *at = x->attributes;
    while (at < x->attributes_end) {
        while (at < x->attributes_end && xml_is_space(*at)) ++at;
        const char *key = at;
        while (at < x->attributes_end && xml_is_name(*at)) ++at;
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

bool carom_xml_has(const carom_xml *x, const char *name) {
    const char *end;
    return xml_find_value(x, name, &end) != NULL;
}

bool carom_xml_get(const carom_xml *x, const char *name, char *value, size_t size) {
    const char *end, *at = xml_find_value(x, name, &end);
    size_t used = 0;
    if (at == NULL) return false;
    while (at < end) {
        char bytes[4];
        size_t count;
        at = xml_decode(at, end, bytes, &count);
        if (used + count + 1 > size) return false;
        memcpy(value + used, bytes, count);
        used += count;
    }
    value[used] = '\0';
    return true;
}
