/* SPDX-License-Identifier: MIT */
/* 3MF (3MF Consortium, Core Specification): a ZIP archive with the model as XML. Assimp reads the
 * geometry but loses the attributes `unit` of <model> and `name` of <object>. They are read here:
 * the entry is found through the central directory of the archive, unpacked, and scanned for these
 * two tags. Every offset and size is checked against the file before use. */
#include "mesh/mesh_3mf.h"

#include "mesh/mesh_gzip.h"
#include "mesh/mesh_text.h"

/* ---- The archive (APPNOTE.TXT of PKWARE) ----------------------------------------------------- */

#define END_BYTES     22u /* of the end of central directory, without its comment */
#define MOST_COMMENT  65535u
#define ENTRY_BYTES   46u /* of a central directory entry, without its texts */
#define LOCAL_BYTES   30u /* of a local header, without its texts */
#define METHOD_STORED 0u
#define METHOD_PACKED 8u
#define MOST_RATIO    1032u /* deflate cannot pack better than this */

static uint64_t load16(const uint8_t *at) {
    return (uint64_t)at[0] | (uint64_t)at[1] << 8;
}

static uint64_t load32(const uint8_t *at) {
    return load16(at) | load16(at + 2) << 16;
}

/* The packed bytes of an entry. */
typedef struct mesh_3mf_entry {
    const uint8_t *bytes;
    uint64_t packed, size, method;
} mesh_3mf_entry;

static const uint8_t *find_end(carom_source source) {
    if (source.size < END_BYTES) return NULL;
    uint64_t first =
        source.size - END_BYTES > MOST_COMMENT ? source.size - END_BYTES - MOST_COMMENT : 0;
    for (uint64_t at = source.size - END_BYTES + 1; at-- > first;)
        if (memcmp(source.bytes + at, "PK\5\6", 4) == 0) return source.bytes + at;
    return NULL;
}

static bool locate(carom_source source, const uint8_t *directory, mesh_3mf_entry *e) {
    uint64_t at = load32(directory + 42);
    e->method = load16(directory + 10);
    e->packed = load32(directory + 20);
    e->size = load32(directory + 24);
    if (at > source.size || source.size - at < LOCAL_BYTES) return false;
    const uint8_t *local = source.bytes + at;
    if (memcmp(local, "PK\3\4", 4) != 0) return false;
    uint64_t begin = at + LOCAL_BYTES + load16(local + 26) + load16(local + 28);
    if (begin > source.size || source.size - begin < e->packed) return false;
    e->bytes = source.bytes + begin;
    return e->size / MOST_RATIO <= e->packed;
}

static bool is_model(const char *name, uint64_t length, bool exact) {
    static const char usual[] = "3D/3dmodel.model", ending[] = ".model";
    if (exact) return length == sizeof(usual) - 1 && memcmp(name, usual, sizeof(usual) - 1) == 0;
    return length >= sizeof(ending) &&
           memcmp(name + length - (sizeof(ending) - 1), ending, sizeof(ending) - 1) == 0;
}

/* The entry with the usual name, else the first one whose name ends in .model. */
static bool find_model(carom_source source, mesh_3mf_entry *e) {
    const uint8_t *end = find_end(source);
    if (end == NULL) return false;
    for (int exact = 1; exact >= 0; --exact) {
        uint64_t at = load32(end + 16), count = load16(end + 10);
        for (; count > 0 && at <= source.size && source.size - at >= ENTRY_BYTES; --count) {
            const uint8_t *d = source.bytes + at;
            uint64_t length = load16(d + 28);
            if (memcmp(d, "PK\1\2", 4) != 0 || source.size - at - ENTRY_BYTES < length) break;
            if (is_model((const char *)d + ENTRY_BYTES, length, exact != 0))
                return locate(source, d, e);
            at += ENTRY_BYTES + length + load16(d + 30) + load16(d + 32);
        }
    }
    return false;
}

/* ---- The model ------------------------------------------------------------------------------- */

typedef struct mesh_3mf_span {
    const char *begin, *end;
} mesh_3mf_span;

static bool is(mesh_3mf_span s, const char *word) {
    size_t length = strlen(word);
    return (size_t)(s.end - s.begin) == length && memcmp(s.begin, word, length) == 0;
}

/* Reads name="value" or name='value' and advances past it; false at the end of the tag. */
static bool next_attribute(const char **at, const char *end, mesh_3mf_span *name,
                           mesh_3mf_span *value) {
    const char *p = *at;
    while (p < end && carom_is_space((uint8_t)*p)) ++p;
    name->begin = p;
    while (p < end && *p != '=' && *p != '>' && *p != '/' && !carom_is_space((uint8_t)*p)) ++p;
    name->end = p;
    while (p < end && carom_is_space((uint8_t)*p)) ++p;
    if (p == end || *p != '=') return false;
    ++p;
    while (p < end && carom_is_space((uint8_t)*p)) ++p;
    if (p == end || (*p != '"' && *p != '\'')) return false;
    char quote = *p++;
    value->begin = p;
    p = memchr(p, quote, (size_t)(end - p));
    if (p == NULL) return false;
    value->end = p;
    *at = p + 1;
    return true;
}

static char *put_utf8(char *to, uint32_t c) {
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xC0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *to++ = (char)(0xE0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3F));
        *to++ = (char)(0x80 | (c & 0x3F));
    } else {
        *to++ = (char)(0xF0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3F));
        *to++ = (char)(0x80 | (c >> 6 & 0x3F));
        *to++ = (char)(0x80 | (c & 0x3F));
    }
    return to;
}

/* The character of an entity such as &amp; or &#x41; at `at`, which is advanced past it; 0 where it
 * is none. */
static uint32_t read_entity(const char **at, const char *end) {
    static const struct {
        const char *name;
        uint32_t character;
    } known[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    const char *begin = *at + 1, *stop = begin;
    while (stop < end && stop - begin < 10 && *stop != ';') ++stop;
    if (stop == end || *stop != ';') return 0;
    uint32_t character = 0;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i)
        if (is((mesh_3mf_span){begin, stop}, known[i].name)) character = known[i].character;
    if (stop - begin >= 2 && *begin == '#') {
        uint32_t base = begin[1] == 'x' ? 16 : 10;
        for (const char *p = begin + (base == 16 ? 2 : 1); p < stop && character < 0x110000; ++p) {
            uint32_t lower = (uint32_t)(uint8_t)*p | 0x20;
            uint32_t digit = carom_is_digit((uint8_t)*p)    ? (uint32_t)(*p - '0')
                             : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10
                                                            : 16;
            if (digit >= base) return 0;
            character = base * character + digit;
        }
        if (character >= 0x110000) return 0;
    }
    if (character != 0) *at = stop + 1;
    return character;
}

/* Appends a value with its entities replaced, which are never shorter than their characters. */
static bool push_decoded(carom_names *names, const carom_allocator *allocator,
                         mesh_3mf_span value) {
    char *text = carom_allocate(allocator, (uint64_t)(value.end - value.begin) + 1, 1), *to = text;
    if (text == NULL) return false;
    while (value.begin < value.end) {
        uint32_t c = *value.begin == '&' ? read_entity(&value.begin, value.end) : 0;
        if (c != 0)
            to = put_utf8(to, c);
        else
            *to++ = *value.begin++;
    }
    bool pushed = carom_names_push(names, allocator, text, (size_t)(to - text)) != CAROM_NAMES_FULL;
    carom_release(allocator, text);
    return pushed;
}

static double metres_of(mesh_3mf_span unit) {
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"micron", 1e-6}, {"millimeter", 1e-3}, {"centimeter", 1e-2},
                 {"inch", 0.0254}, {"foot", 0.3048},     {"meter", 1.0}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); ++i)
        if (is(unit, units[i].name)) return units[i].metres;
    return 0.0;
}

static void scan_model_tag(const char *at, const char *end, carom_3mf *model) {
    mesh_3mf_span name, value;
    model->metres = 1e-3; /* the default of the format */
    while (next_attribute(&at, end, &name, &value))
        if (is(name, "unit")) model->metres = metres_of(value);
}

static bool scan_object_tag(const char *at, const char *end, const carom_allocator *allocator,
                            carom_3mf *model) {
    mesh_3mf_span name, value, id = {NULL, NULL}, title = {NULL, NULL};
    bool is_new;
    while (next_attribute(&at, end, &name, &value)) {
        if (is(name, "id")) id = value;
        if (is(name, "name")) title = value;
    }
    if (id.begin == NULL) return true;
    if (carom_names_find_or_add(&model->ids, allocator, id.begin, (size_t)(id.end - id.begin),
                                &is_new) == CAROM_NAMES_FULL)
        return false;
    if (title.begin == NULL) title = (mesh_3mf_span){"", ""};
    return !is_new || push_decoded(&model->names, allocator, title);
}

/* Scans the tags. Comments may hold anything, the values of attributes no "<". */
static bool mesh_3mf_scan(const char *at, const char *end, const carom_allocator *allocator,
                          carom_3mf *model) {
    while ((at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        ++at;
        mesh_3mf_span tag = {at, at};
        if (end - at >= 3 && memcmp(at, "!--", 3) == 0) {
            for (at += 3; end - at >= 3 && memcmp(at, "-->", 3) != 0;) ++at;
            continue;
        }
        while (at < end && !carom_is_space((uint8_t)*at) && *at != '>' && *at != '/') {
            if (*at++ == ':') tag.begin = at; /* after the prefix of a namespace */
        }
        tag.end = at;
        if (is(tag, "model")) scan_model_tag(at, end, model);
        if (is(tag, "object") && !scan_object_tag(at, end, allocator, model)) return false;
    }
    return true;
}

carom_status carom_3mf_read(carom_builder *builder, carom_source source, carom_3mf *model) {
    const carom_allocator *allocator = &builder->context->allocator;
    mesh_3mf_entry e;
    if (!find_model(source, &e)) return CAROM_OK;
    uint8_t *unpacked = NULL;
    bool known = e.method == METHOD_STORED && e.packed == e.size;
    const uint8_t *text = e.bytes;
    if (e.method == METHOD_PACKED) {
        unpacked = carom_allocate(allocator, e.size, 1);
        if (unpacked == NULL) return carom_builder_fail_memory(builder);
        known = carom_inflate(builder->context, e.bytes, e.packed, unpacked, e.size);
        text = unpacked;
    }
    bool allocated =
        !known || mesh_3mf_scan((const char *)text, (const char *)text + e.size, allocator, model);
    carom_release(allocator, unpacked);
    return allocated ? CAROM_OK : carom_builder_fail_memory(builder);
}

const char *carom_3mf_name(const carom_builder *builder, carom_3mf *model, const char *id) {
    bool is_new;
    uint32_t index =
        carom_names_find_or_add(&model->ids, &builder->context->allocator, id, strlen(id), &is_new);
    if (index >= model->names.begins.count) return NULL;
    const char *name = carom_names_get(&model->names, index);
    return *name != '\0' ? name : NULL;
}

void carom_3mf_release(const carom_builder *builder, carom_3mf *model) {
    carom_names_release(&model->ids, &builder->context->allocator);
    carom_names_release(&model->names, &builder->context->allocator);
}
