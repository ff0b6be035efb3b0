/* SPDX-License-Identifier: MIT */
/* Wavefront OBJ: `v x y z` and `f a b c ...` (in old files `fo`). Vertices are counted from 1 or,
 * when negative, backwards from the newest vertex. Everything else is skipped, as it does not
 * affect the shape of a mesh: textures, normals, groups, materials, lines, points, free-form
 * surfaces.
 *
 * Faces may refer to vertices that come later in the file. So an index beyond the vertices read so
 * far is only recorded (the largest, with its position) and checked at the end. */
#include <inttypes.h>

#include "mesh/mesh_format.h"
#include "mesh/mesh_text.h"

typedef struct obj {
    carom_text text;
    carom_builder *builder;
    uint64_t forward; /* the largest vertex index that was not yet defined */
    const uint8_t *forward_at;
    const uint8_t *unknown; /* the first statement that OBJ does not have */
} obj;

/* Skips blanks and escaped line ends (backslash, newline). */
static void skip_blanks(carom_text *text) {
    for (;;) {
        carom_text_skip_blanks(text);
        const uint8_t *at = text->at;
        if (text->end - at < 2 || at[0] != '\\' || !carom_is_newline(at[1])) return;
        text->at += text->end - at > 2 && at[1] == '\r' && at[2] == '\n' ? 3 : 2;
    }
}

static void skip_statement(carom_text *text) {
    for (;;) {
        while (text->at < text->end && !carom_is_newline(*text->at) && *text->at != '\\')
            ++text->at;
        if (text->at == text->end || *text->at != '\\') return;
        ++text->at;
        if (text->at < text->end && carom_is_newline(*text->at)) {
            bool both = text->end - text->at > 1 && text->at[0] == '\r' && text->at[1] == '\n';
            text->at += both ? 2 : 1;
        }
    }
}

static bool ends_word(const carom_text *text, const uint8_t *at) {
    return at == text->end || carom_is_space(*at) || *at == '\\';
}

static carom_status read_vertex(obj *o) {
    carom_text *text = &o->text;
    double xyz[3];
    for (int i = 0; i < 3; ++i) {
        skip_blanks(text);
        const uint8_t *after = carom_number_parse(text->at, text->end, &xyz[i]);
        if (after == NULL || !ends_word(text, after) || xyz[i] - xyz[i] != 0.0)
            return carom_text_fail(text, text->at, "vertex %" PRIu64 ": %s is no finite number",
                                   o->builder->points.count + 1,
                                   carom_text_quote(text, text->at).text);
        text->at = after;
    }
    carom_vec3 point = {xyz[0], xyz[1], xyz[2]};
    carom_builder_add_point(o->builder, point);
    return CAROM_OK;
}

/* Reads the integer before the first slash of a word such as 7/3/2 or -1//4. */
static carom_status read_corner(obj *o) {
    carom_text *text = &o->text;
    const uint8_t *word = text->at, *at = word, *end = text->end;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) ++at;
    const uint8_t *digits = at;
    uint64_t number = 0;
    for (; at < end && carom_is_digit(*at); ++at)
        if (number < UINT64_MAX / 16) number = 10 * number + (*at - '0');
    if (at == digits || number >= UINT64_MAX / 16 || (!ends_word(text, at) && *at != '/'))
        return carom_text_fail(text, word, "%s is no vertex number",
                               carom_text_quote(text, word).text);
    while (!ends_word(text, at)) ++at;
    text->at = at;
    uint64_t count = o->builder->points.count;
    if (number == 0)
        return carom_text_fail(text, word, "a face names vertex 0; they are numbered from 1");
    if (negative) {
        if (number > count)
            return carom_text_fail(text, word,
                                   "a face names vertex -%" PRIu64 ", there are %" PRIu64 " so far",
                                   number, count);
        number = count + 1 - number;
    } else if (number > count && number > o->forward) {
        o->forward = number;
        o->forward_at = word;
    }
    carom_builder_add_corner(o->builder, (uint32_t)(number - 1));
    return CAROM_OK;
}

static carom_status read_face(obj *o) {
    uint64_t begin = o->builder->corners.count;
    for (;;) {
        skip_blanks(&o->text);
        if (o->text.at == o->text.end || carom_is_newline(*o->text.at) || *o->text.at == '#') break;
        CAROM_TRY(read_corner(o));
    }
    carom_builder_end_face(o->builder, begin);
    return CAROM_OK;
}

static bool is_letter(uint8_t c) {
    return (uint8_t)((c | 0x20) - 'a') < 26;
}

/* Known statements that are skipped. Unknown ones are skipped too, as programs add their own, but
 * not in a file without vertices, which is then not OBJ. */
static bool is_known(const carom_text *text) {
    static const char *const words[] = {
        "v",          "vt",        "vn",    "vp",       "cstype",   "deg",    "bmat",   "step",
        "p",          "l",         "f",     "fo",       "curv",     "curv2",  "surf",   "parm",
        "trim",       "hole",      "scrv",  "sp",       "end",      "con",    "g",      "s",
        "mg",         "o",         "bevel", "c_interp", "d_interp", "lod",    "usemtl", "mtllib",
        "shadow_obj", "trace_obj", "ctech", "stech",    "maplib",   "usemap", "call",   "csh"};
    size_t length = 0, left = (size_t)(text->end - text->at);
    while (length < left && !carom_is_space(text->at[length])) ++length;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i)
        if (strlen(words[i]) == length && memcmp(words[i], text->at, length) == 0) return true;
    return false;
}

static carom_status read_statement(obj *o) {
    carom_text *text = &o->text;
    const uint8_t *at = text->at;
    bool short_word = text->end - at >= 2 && (carom_is_blank(at[1]) || at[1] == '\\');
    if (short_word && (*at == 'v' || *at == 'V')) {
        ++text->at;
        CAROM_TRY(read_vertex(o));
    } else if (short_word && (*at == 'f' || *at == 'F')) {
        ++text->at;
        return read_face(o);
    } else if (text->end - at >= 3 && at[0] == 'f' && at[1] == 'o' && carom_is_blank(at[2])) {
        text->at += 2;
        return read_face(o);
    } else if (*at != '#' && !is_letter(*at)) {
        return carom_text_fail(text, at, "%s is no OBJ statement", carom_text_quote(text, at).text);
    } else if (*at != '#' && o->unknown == NULL && o->builder->points.count == 0 &&
               !is_known(text)) {
        o->unknown = at;
    }
    skip_statement(text);
    return CAROM_OK;
}

carom_status carom_read_obj(carom_builder *builder, carom_source source,
                            carom_mesh_format *format) {
    obj o = {.builder = builder};
    o.text = (carom_text){builder->context, builder->name, source.bytes, source.bytes,
                          source.bytes + source.size};
    *format = CAROM_MESH_FORMAT_OBJ;
    CAROM_TRY(carom_text_begin(&o.text));
    carom_text_trim(&o.text);
    while (carom_builder_goes_on(builder, o.text.at)) {
        carom_text_skip_spaces(&o.text);
        if (o.text.at == o.text.end) break;
        CAROM_TRY(read_statement(&o));
    }
    if (o.forward > builder->points.count && !builder->stopped)
        return carom_text_fail(&o.text, o.forward_at,
                               "a face names vertex %" PRIu64 ", the file has %" PRIu64, o.forward,
                               builder->points.count);
    if (o.unknown != NULL && builder->points.count == 0 && !builder->stopped)
        return carom_text_fail(&o.text, o.unknown,
                               "%s is no OBJ statement, and the file has no vertices",
                               carom_text_quote(&o.text, o.unknown).text);
    return CAROM_OK;
}

/* ---- Writing --------------------------------------------------------------------------------- */

carom_status carom_write_obj(carom_writer *writer, const carom_mesh_view *view,
                             carom_mesh_format format) {
    (void)format;
    if (view->vertex_count == 0) carom_writer_text(writer, "# a mesh without vertices\n");
    for (uint64_t i = 0; i < view->vertex_count && writer->status == CAROM_OK; ++i)
        carom_writer_point(writer, "v ", carom_mesh_position(view, i));
    for (uint64_t f = 0; f < view->face_count && writer->status == CAROM_OK; ++f) {
        uint64_t end = carom_mesh_offset(view, f + 1);
        char *at = carom_writer_reserve(writer);
        *at++ = 'f';
        for (uint64_t c = carom_mesh_offset(view, f); c < end; ++c) {
            carom_writer_advance(writer, at);
            at = carom_writer_reserve(writer);
            *at++ = ' ';
            at = carom_number_print_count(at, (uint64_t)view->corners[c] + 1);
        }
        *at++ = '\n';
        carom_writer_advance(writer, at);
    }
    return writer->status;
}
