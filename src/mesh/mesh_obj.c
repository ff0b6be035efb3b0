/* SPDX-License-Identifier: MIT */
/* Wavefront OBJ: `v x y z` and `f a b c ...` (in old files `fo`). Vertices are counted from 1 or,
 * when negative, backwards from the newest vertex. Objects `o` and groups `g` are parts: a face is
 * in the part called object/group, or by the one of them that is given. Statements with equal names
 * continue one part, as exporters return to a group they have left. Everything else is skipped, as
 * it does not affect the shape of a mesh: textures, normals, materials, lines, points, free-form
 * surfaces.
 *
 * Faces may refer to vertices that come later in the file. So an index beyond the vertices read so
 * far is only recorded (the largest, with its position) and checked at the end. */
#include <inttypes.h>

#include "mesh/mesh_format.h"
#include "mesh/mesh_text.h"

/* Points into the file. */
typedef struct name {
    const char *begin, *end;
} name;

typedef struct obj {
    carom_text text;
    carom_builder *builder;
    uint64_t forward; /* the largest vertex index that was not yet defined */
    const uint8_t *forward_at;
    const uint8_t *unknown; /* the first statement that OBJ does not have */
    name object, group;     /* the latest; lengths of 0 where there is none */
    bool new_part;          /* one of them has changed since the last face */
    bool no_parts;          /* names are skipped */
    uint64_t before;        /* vertices of earlier pieces of the file */
    carom_name_bytes path;  /* scratch */
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

/* Vertices of the file so far. */
static uint64_t mesh_obj_points(const obj *o) {
    return o->before + o->builder->points.count;
}

static carom_status mesh_obj_read_vertex(obj *o) {
    carom_text *text = &o->text;
    double xyz[3];
    for (int i = 0; i < 3; ++i) {
        skip_blanks(text);
        const uint8_t *after = carom_number_parse(text->at, text->end, &xyz[i]);
        if (after == NULL || !ends_word(text, after) || xyz[i] - xyz[i] != 0.0)
            return carom_text_fail(text, text->at, "vertex %" PRIu64 ": %s is no finite number",
                                   mesh_obj_points(o) + 1, carom_text_quote(text, text->at).text);
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
    uint64_t count = mesh_obj_points(o);
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

static bool same_name(name a, name b) {
    size_t length = (size_t)(a.end - a.begin);
    return length == (size_t)(b.end - b.begin) && memcmp(a.begin, b.begin, length) == 0;
}

/* Enters the part of the current object and group. A part begins at its first face, so that there
 * are none without. */
static void enter_part(obj *o) {
    name n = o->object, g = o->group;
    o->new_part = false;
    if (n.begin == n.end || same_name(n, g)) {
        n = g.begin == g.end ? n : g;
    } else if (g.begin != g.end) {
        size_t first = (size_t)(n.end - n.begin), second = (size_t)(g.end - g.begin);
        if (!carom_name_bytes_reserve(&o->path, &o->builder->context->allocator,
                                      first + second + 1)) {
            carom_builder_run_out(o->builder);
            return;
        }
        memcpy(o->path.data, n.begin, first);
        o->path.data[first] = '/';
        memcpy(o->path.data + first + 1, g.begin, second);
        n = (name){o->path.data, o->path.data + first + second + 1};
    }
    carom_builder_enter_part(o->builder, n.begin, (size_t)(n.end - n.begin));
}

static carom_status mesh_obj_read_face(obj *o) {
    if (o->new_part) enter_part(o);
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

/* An object ends the group before it. */
static void read_name(obj *o, bool is_object) {
    const char *begin = (const char *)++o->text.at;
    skip_statement(&o->text);
    name n = {begin, (const char *)o->text.at};
    carom_name_trim(&n.begin, &n.end);
    if (is_object) o->object = n;
    o->group = is_object ? (name){n.end, n.end} : n;
    o->new_part = true;
}

static carom_status read_statement(obj *o) {
    carom_text *text = &o->text;
    const uint8_t *at = text->at;
    bool one_letter = text->end - at == 1 || carom_is_space(at[1]) || at[1] == '\\';
    bool short_word = text->end - at >= 2 && (carom_is_blank(at[1]) || at[1] == '\\');
    if (short_word && (*at == 'v' || *at == 'V')) {
        ++text->at;
        CAROM_TRY(mesh_obj_read_vertex(o));
    } else if (short_word && (*at == 'f' || *at == 'F')) {
        ++text->at;
        return mesh_obj_read_face(o);
    } else if (text->end - at >= 3 && at[0] == 'f' && at[1] == 'o' && carom_is_blank(at[2])) {
        text->at += 2;
        return mesh_obj_read_face(o);
    } else if (one_letter && !o->no_parts && ((*at | 0x20) == 'o' || (*at | 0x20) == 'g')) {
        read_name(o, (*at | 0x20) == 'o');
        return CAROM_OK;
    } else if (*at != '#' && !is_letter(*at)) {
        return carom_text_fail(text, at, "%s is no OBJ statement", carom_text_quote(text, at).text);
    } else if (*at != '#' && o->unknown == NULL && mesh_obj_points(o) == 0 && !is_known(text)) {
        o->unknown = at;
    }
    skip_statement(text);
    return CAROM_OK;
}

static carom_status mesh_obj_read_statements(obj *o) {
    carom_status status = CAROM_OK;
    while (status == CAROM_OK && carom_builder_goes_on(o->builder, o->text.at)) {
        carom_text_skip_spaces(&o->text);
        if (o->text.at == o->text.end) break;
        status = read_statement(o);
    }
    return status;
}

carom_status carom_read_obj(carom_builder *builder, carom_source source,
                            carom_mesh_format *format) {
    obj o = {.builder = builder};
    o.text = (carom_text){builder->context,
                          builder->name,
                          source.bytes,
                          source.bytes,
                          source.bytes + source.size,
                          0,
                          0};
    *format = CAROM_MESH_FORMAT_OBJ;
    CAROM_TRY(carom_text_begin(&o.text));
    carom_text_trim(&o.text);
    carom_status status = mesh_obj_read_statements(&o);
    carom_name_bytes_release(&o.path, &builder->context->allocator);
    CAROM_TRY(status);
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

carom_status carom_read_obj_piece(carom_builder *builder, carom_source piece, bool is_last,
                                  carom_obj_pieces *pieces) {
    obj o = {
        .builder = builder, .no_parts = true, .before = pieces->points, .forward = pieces->forward};
    o.text = (carom_text){builder->context,
                          builder->name,
                          piece.bytes,
                          piece.bytes,
                          piece.bytes + piece.size,
                          pieces->lines,
                          0};
    if (!pieces->begun) CAROM_TRY(carom_text_begin(&o.text));
    if (is_last) carom_text_trim(&o.text);
    CAROM_TRY(mesh_obj_read_statements(&o));
    pieces->begun = true;
    pieces->points = mesh_obj_points(&o);
    if (o.forward != pieces->forward) pieces->forward_line = carom_text_line(&o.text, o.forward_at);
    if (pieces->unknown_line == 0 && o.unknown != NULL)
        pieces->unknown_line = carom_text_line(&o.text, o.unknown);
    pieces->forward = o.forward;
    pieces->lines = carom_text_line(&o.text, o.text.end) - 1;
    if (!is_last || builder->stopped) return CAROM_OK;
    if (o.forward > pieces->points)
        return carom_fail(builder->context, CAROM_BAD_FILE,
                          "%s: line %" PRIu64 ": a face names vertex %" PRIu64
                          ", the file has %" PRIu64,
                          builder->name, pieces->forward_line, o.forward, pieces->points);
    if (pieces->unknown_line != 0 && pieces->points == 0)
        return carom_fail(builder->context, CAROM_BAD_FILE,
                          "%s: line %" PRIu64 ": is no OBJ statement, and the file has no vertices",
                          builder->name, pieces->unknown_line);
    return CAROM_OK;
}

/* ---- Writing --------------------------------------------------------------------------------- */

#define LONGEST_NUMBER 24 /* bytes of _N */

/* Readers take objects of one name for one object, so the names are made different: part 3 becomes
 * NAME_3 where an earlier one has its name, and part_3 where it has none. */
static carom_status name_objects(carom_context *context, const carom_mesh_view *view,
                                 carom_names *objects) {
    const carom_allocator *allocator = &context->allocator;
    carom_name_bytes text = {0};
    carom_status status = CAROM_OK;
    for (uint64_t p = 0; p < view->part_count && status == CAROM_OK; ++p) {
        const char *begin = view->part_names != NULL ? view->part_names[p] : "";
        const char *end = begin + strlen(begin);
        bool added = false;
        carom_name_trim(&begin, &end);
        if (begin != end &&
            carom_names_find_or_add(objects, allocator, begin, (size_t)(end - begin), &added) ==
                CAROM_NAMES_FULL)
            status = CAROM_NO_MEMORY;
        if (begin == end) end = (begin = "part") + 4;
        text.count = 0;
        while (!added && status == CAROM_OK) {
            size_t length = text.count != 0 ? (size_t)text.count : (size_t)(end - begin);
            if (!carom_name_bytes_reserve(&text, allocator, length + LONGEST_NUMBER)) {
                status = CAROM_NO_MEMORY;
                break;
            }
            if (text.count == 0) memcpy(text.data, begin, length);
            text.data[length] = '_';
            text.count =
                (uint64_t)(carom_number_print_count(text.data + length + 1, p) - text.data);
            if (carom_names_find_or_add(objects, allocator, text.data, (size_t)text.count,
                                        &added) == CAROM_NAMES_FULL)
                status = CAROM_NO_MEMORY;
        }
    }
    carom_name_bytes_release(&text, allocator);
    if (status == CAROM_OK) return status;
    carom_names_release(objects, allocator);
    return carom_fail_memory(context, 32 * view->part_count, "names of objects");
}

/* A backslash at the end of a line would continue it. */
static void write_object(carom_writer *writer, const carom_names *objects, uint64_t part) {
    const char *text = carom_names_get(objects, part);
    carom_writer_text(writer, "o ");
    carom_writer_text(writer, text);
    carom_writer_text(writer, text[strlen(text) - 1] == '\\' ? " \n" : "\n");
}

carom_status carom_write_obj(carom_writer *writer, const carom_mesh_view *view,
                             carom_mesh_format format) {
    (void)format;
    if (view->vertex_count == 0) carom_writer_text(writer, "# a mesh without vertices\n");
    for (uint64_t i = 0; i < view->vertex_count && writer->status == CAROM_OK; ++i) {
        carom_writer_point(writer, "v ", carom_mesh_position(view, i));
        carom_writer_end_line(writer);
    }
    carom_names objects = {0};
    uint32_t part = view->face_count != 0 && view->parts != NULL ? view->parts[0] : 0;
    if (view->parts != NULL ||
        (view->part_count != 0 && view->part_names != NULL && view->part_names[0][0] != '\0')) {
        CAROM_TRY(name_objects(writer->context, view, &objects));
        if (view->face_count != 0) write_object(writer, &objects, part);
    }
    for (uint64_t f = 0; f < view->face_count && writer->status == CAROM_OK; ++f) {
        if (view->parts != NULL && view->parts[f] != part)
            write_object(writer, &objects, part = view->parts[f]);
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
    carom_names_release(&objects, &writer->context->allocator);
    return writer->status;
}
