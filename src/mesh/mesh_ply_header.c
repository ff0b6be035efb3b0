/* SPDX-License-Identifier: MIT */
/* The header of PLY (Turk 1994): text lines from `ply` to `end_header` that describe elements and
 * their properties in file order. A mesh needs the scalars x, y, z of element `vertex` and the list
 * `vertex_indices` (or `vertex_index`) of element `face`, or of element `tristrips` (files of the
 * Stanford repository). The integer `part` of `face` is the part of each; lines `comment part N
 * NAME` name them. Other scalars of vertices and faces become properties of the mesh. The rest is
 * recorded so that it can be skipped. */
#include <inttypes.h>

#include "mesh/mesh_ply.h"

static bool mesh_ply_header_accept_type(carom_text *text, carom_ply_type *type) {
    static const char *const names[CAROM_PLY_TYPE_COUNT][2] = {
        {"char", "int8"}, {"uchar", "uint8"}, {"short", "int16"},   {"ushort", "uint16"},
        {"int", "int32"}, {"uint", "uint32"}, {"float", "float32"}, {"double", "float64"}};
    for (int t = 0; t < CAROM_PLY_TYPE_COUNT; ++t)
        if (carom_text_accept(text, names[t][0]) || carom_text_accept(text, names[t][1])) {
            *type = (carom_ply_type)t;
            return true;
        }
    return false;
}

static carom_status mesh_ply_header_read_format(carom_text *text, carom_ply *ply) {
    if (ply->format != CAROM_MESH_FORMAT_GUESS)
        return carom_text_fail(text, text->at, "a second format");
    if (carom_text_accept(text, "ascii"))
        ply->format = CAROM_MESH_FORMAT_PLY_ASCII;
    else if (carom_text_accept(text, "binary_little_endian"))
        ply->format = CAROM_MESH_FORMAT_PLY;
    else if (carom_text_accept(text, "binary_big_endian"))
        ply->format = CAROM_MESH_FORMAT_PLY_BIG;
    else
        return carom_text_fail(text, text->at,
                               "%s is no format; there are ascii, binary_little_endian and "
                               "binary_big_endian",
                               carom_text_quote(text, text->at).text);
    return CAROM_OK;
}

static carom_status read_element(carom_text *text, carom_ply *ply) {
    if (ply->element_count == CAROM_PLY_MOST_ELEMENTS)
        return carom_text_fail(text, text->at, "more than %d elements", CAROM_PLY_MOST_ELEMENTS);
    carom_ply_element *element = &ply->elements[ply->element_count++];
    carom_text_skip_blanks(text);
    const uint8_t *name = text->at;
    if (carom_text_accept(text, "vertex"))
        element->kind = CAROM_PLY_VERTEX;
    else if (carom_text_accept(text, "face"))
        element->kind = CAROM_PLY_FACE;
    else if (carom_text_accept(text, "tristrips"))
        element->kind = CAROM_PLY_TRISTRIPS;
    else
        carom_text_skip_word(text);
    size_t length = (size_t)(text->at - name), most = sizeof(element->name) - 1;
    if (length > most) length = most;
    for (size_t i = 0; i < length; ++i)
        element->name[i] = name[i] > ' ' && name[i] < 0x7F ? (char)name[i] : '?';
    for (uint32_t e = 0; e + 1 < ply->element_count; ++e)
        if (element->kind != CAROM_PLY_OTHER && ply->elements[e].kind == element->kind)
            return carom_text_fail(text, name, "a second element %s", element->name);
    element->begin = element->end = ply->property_count;
    if (!carom_text_count(text, &element->count))
        return carom_text_fail(text, text->at, "%s is no number of elements",
                               carom_text_quote(text, text->at).text);
    if (element->kind != CAROM_PLY_VERTEX) return CAROM_OK;
    if (element->count > CAROM_MESH_MOST_VERTICES)
        return carom_fail(text->context, CAROM_TOO_LARGE,
                          "%s: %" PRIu64 " vertices, a mesh has at most %" PRIu32, text->name,
                          element->count, CAROM_MESH_MOST_VERTICES);
    ply->vertex_count = element->count;
    return CAROM_OK;
}

static carom_ply_role accept_role(carom_text *text, carom_ply_kind kind, bool list) {
    if (kind == CAROM_PLY_VERTEX && !list) {
        if (carom_text_accept(text, "x")) return CAROM_PLY_X;
        if (carom_text_accept(text, "y")) return CAROM_PLY_Y;
        if (carom_text_accept(text, "z")) return CAROM_PLY_Z;
    }
    if (kind != CAROM_PLY_VERTEX && list &&
        (carom_text_accept(text, "vertex_indices") || carom_text_accept(text, "vertex_index")))
        return kind == CAROM_PLY_TRISTRIPS ? CAROM_PLY_STRIPS : CAROM_PLY_CORNERS;
    if (kind == CAROM_PLY_FACE && !list && carom_text_accept(text, "part")) return CAROM_PLY_PART;
    return CAROM_PLY_IGNORED;
}

/* Stores the name of a property of the mesh. Scalars with names that a view cannot have are not
 * kept. */
static carom_status keep_property(carom_text *text, carom_ply *ply, carom_ply_property *property,
                                  carom_builder *builder) {
    carom_text_skip_blanks(text);
    if (ply->elements[ply->element_count - 1].kind == CAROM_PLY_FACE &&
        (carom_text_accept(text, "vertex_indices") || carom_text_accept(text, "vertex_index")))
        return CAROM_OK; /* the names of its list */
    const uint8_t *name = text->at;
    carom_text_skip_word(text);
    bool word = text->at > name && ply->kept_count < CAROM_MESH_MOST_PROPERTIES;
    for (const uint8_t *at = name; at < text->at; ++at) word = word && *at > ' ' && *at < 0x7F;
    if (!word) return CAROM_OK;
    if (carom_names_push(&builder->property_names, &builder->context->allocator, (const char *)name,
                         (size_t)(text->at - name)) == CAROM_NAMES_FULL)
        return carom_builder_fail_memory(builder);
    property->role = CAROM_PLY_KEPT;
    property->kept = ply->kept_count++;
    return CAROM_OK;
}

static carom_status mesh_ply_header_read_property(carom_text *text, carom_ply *ply,
                                                  carom_builder *builder) {
    if (ply->element_count == 0)
        return carom_text_fail(text, text->at, "a property before the first element");
    if (ply->property_count == CAROM_PLY_MOST_PROPERTIES)
        return carom_text_fail(text, text->at, "more than %d properties",
                               CAROM_PLY_MOST_PROPERTIES);
    carom_ply_element *element = &ply->elements[ply->element_count - 1];
    carom_ply_property *property = &ply->properties[ply->property_count++];
    element->end = ply->property_count;
    property->list = carom_text_accept(text, "list");
    const uint8_t *types = text->at;
    if ((property->list && !mesh_ply_header_accept_type(text, &property->count_type)) ||
        !mesh_ply_header_accept_type(text, &property->type))
        return carom_text_fail(text, text->at, "%s is no type",
                               carom_text_quote(text, text->at).text);
    property->role = accept_role(text, element->kind, property->list);
    if (property->role == CAROM_PLY_PART && property->type >= CAROM_PLY_FLOAT32)
        property->role = CAROM_PLY_IGNORED; /* something else: a number of a part is an integer */
    else if (property->role == CAROM_PLY_IGNORED && !property->list &&
             (element->kind == CAROM_PLY_VERTEX || element->kind == CAROM_PLY_FACE))
        CAROM_TRY(keep_property(text, ply, property, builder));
    if (property->list && property->count_type >= CAROM_PLY_FLOAT32)
        return carom_text_fail(text, types, "the length of a list cannot be a float");
    if ((property->role == CAROM_PLY_CORNERS || property->role == CAROM_PLY_STRIPS) &&
        property->type >= CAROM_PLY_FLOAT32)
        return carom_text_fail(text, types, "corners of faces cannot be floats");
    /* A corner makes a triangle of 12 bytes, while the array grows 30: see the limit of memory in
     * carom/mesh.h. */
    if (property->role == CAROM_PLY_STRIPS && carom_ply_size(property->type) < 2)
        return carom_text_fail(text, types, "corners of triangle strips need two bytes or more");
    for (uint32_t p = element->begin; p + 1 < element->end; ++p)
        if (property->role != CAROM_PLY_IGNORED && property->role != CAROM_PLY_KEPT &&
            ply->properties[p].role == property->role)
            return carom_text_fail(text, types, "element %s has this property twice",
                                   element->name);
    element->has_list = element->has_list || property->list;
    element->fixed_bytes += carom_ply_size(property->list ? property->count_type : property->type);
    return CAROM_OK;
}

static bool has_role(const carom_ply *ply, const carom_ply_element *element, carom_ply_role role) {
    for (uint32_t p = element->begin; p < element->end; ++p)
        if (ply->properties[p].role == role) return true;
    return false;
}

/* Refuses counts in the header that exceed what the rest of the file can hold. */
static carom_status check_element(const carom_text *text, const carom_ply *ply,
                                  const carom_ply_element *element) {
    if (element->kind == CAROM_PLY_VERTEX &&
        !(has_role(ply, element, CAROM_PLY_X) && has_role(ply, element, CAROM_PLY_Y) &&
          has_role(ply, element, CAROM_PLY_Z)))
        return carom_text_fail(text, text->at, "element vertex lacks one of the scalars x, y, z");
    if (element->kind == CAROM_PLY_TRISTRIPS && element->count != 0) {
        if (!has_role(ply, element, CAROM_PLY_STRIPS))
            return carom_text_fail(text, text->at,
                                   "element tristrips lacks the list vertex_indices");
        for (uint32_t e = 0; e < ply->element_count; ++e)
            if (ply->elements[e].kind == CAROM_PLY_FACE && ply->elements[e].count != 0)
                return carom_text_fail(text, text->at,
                                       "the file has both faces and triangle strips; save it with "
                                       "faces alone");
    }
    if (element->kind == CAROM_PLY_OTHER && element->count != 0 &&
        has_role(ply, element, CAROM_PLY_CORNERS))
        return carom_text_fail(text, text->at,
                               "element %s has the list vertex_indices; if it holds the faces, "
                               "name it face",
                               element->name);
    if (element->kind == CAROM_PLY_FACE && element->count != 0 &&
        !has_role(ply, element, CAROM_PLY_CORNERS))
        return carom_text_fail(text, text->at, "element face lacks the list vertex_indices");
    uint64_t left = (uint64_t)(text->end - text->at) + text->beyond, least = element->fixed_bytes;
    if (ply->format == CAROM_MESH_FORMAT_PLY_ASCII) { /* a digit and a space or newline each */
        ++left;
        least = 2 * (uint64_t)(element->end - element->begin);
    }
    if (least != 0 && element->count > left / least)
        return carom_text_fail(text, text->at,
                               "the header promises %" PRIu64 " of element %s, the file has room "
                               "for %" PRIu64,
                               element->count, element->name, left / least);
    return CAROM_OK;
}

/* Advances past one line end of the kind that the first line has. In binary files the data may
 * begin with a byte that looks like another line end. */
static void pass_newline(carom_text *text, bool both) {
    if (text->at < text->end) ++text->at;
    if (both && text->at < text->end && *text->at == '\n') ++text->at;
}

/* ---- Names of parts -------------------------------------------------------------------------- */

/* Reads the number and name of a part from a comment, and advances past both; the name is what
 * follows one blank. */
static bool accept_part(carom_text *text, uint64_t *part, const char **name, size_t *length) {
    if (!carom_text_accept(text, "part") || !carom_text_count(text, part)) return false;
    if (text->at < text->end && carom_is_blank(*text->at)) ++text->at;
    *name = (const char *)text->at;
    carom_text_skip_line(text);
    *length = (size_t)((const char *)text->at - *name);
    return true;
}

/* Stores the names of parts. A comment is no error, whatever it says: numbers out of range are
 * ignored, as are further names of a part. */
static bool read_names(const carom_text *header, carom_ply *ply, carom_builder *builder,
                       uint64_t comments) {
    carom_names *names = &builder->names;
    const carom_allocator *allocator = &builder->context->allocator;
    const char *name;
    uint64_t part, count = 0;
    size_t length;
    for (uint32_t e = 0; e < ply->element_count; ++e)
        if (ply->elements[e].kind == CAROM_PLY_FACE) ply->part_limit = ply->elements[e].count;
    ply->part_limit = CAROM_MIN(ply->part_limit + comments, (uint64_t)CAROM_MESH_MOST_PARTS);
    for (carom_text text = *header; comments != 0 && text.at < text.end; ++text.at) {
        if (carom_text_accept(&text, "comment") && accept_part(&text, &part, &name, &length) &&
            part < ply->part_limit)
            count = CAROM_MAX(count, part + 1);
        carom_text_skip_line(&text);
    }
    if (count == 0) return true;
    if (carom_names_push(names, allocator, "", 0) == CAROM_NAMES_FULL ||
        !carom_name_begins_reserve(&names->begins, allocator, count))
        return false;
    memset(names->begins.data, 0, (size_t)count * sizeof(*names->begins.data));
    for (carom_text text = *header; text.at < text.end; ++text.at) {
        if (carom_text_accept(&text, "comment") && accept_part(&text, &part, &name, &length) &&
            part < ply->part_limit && names->begins.data[part] == 0) {
            names->begins.count = count;
            uint32_t at = carom_names_push(names, allocator, name, length);
            if (at == CAROM_NAMES_FULL) return false;
            names->begins.data[part] = names->begins.data[at];
        }
        carom_text_skip_line(&text);
    }
    names->begins.count = count;
    return true;
}

carom_status carom_ply_read_header(carom_text *text, carom_ply *ply, carom_builder *builder) {
    CAROM_TRY(carom_text_begin(text));
    if (!carom_text_accept(text, "ply"))
        return carom_text_fail(text, text->at, "%s stands where \"ply\" should",
                               carom_text_quote(text, text->at).text);
    carom_text_skip_line(text);
    bool both = text->end - text->at >= 2 && text->at[0] == '\r' && text->at[1] == '\n';
    ply->format = CAROM_MESH_FORMAT_GUESS;
    const uint8_t *first_line = text->at;
    uint64_t named = 0, part;
    const char *name;
    size_t length;
    for (;;) {
        pass_newline(text, both);
        if (text->at == text->end)
            return carom_text_fail(text, text->at, "the file ends inside its header");
        carom_text_skip_blanks(text);
        const uint8_t *line = text->at;
        if (carom_text_accept(text, "end_header"))
            break;
        else if (carom_text_accept(text, "format"))
            CAROM_TRY(mesh_ply_header_read_format(text, ply));
        else if (carom_text_accept(text, "element"))
            CAROM_TRY(read_element(text, ply));
        else if (carom_text_accept(text, "property"))
            CAROM_TRY(mesh_ply_header_read_property(text, ply, builder));
        else if (carom_text_accept(text, "comment"))
            named += accept_part(text, &part, &name, &length);
        else if (!carom_text_accept(text, "obj_info") && !carom_text_line_done(text))
            return carom_text_fail(text, line, "%s is no line of a PLY header",
                                   carom_text_quote(text, line).text);
        carom_text_skip_line(text);
    }
    if (ply->format == CAROM_MESH_FORMAT_GUESS)
        return carom_text_fail(text, text->at, "the header names no format");
    carom_text header = *text;
    header.end = text->at;
    header.at = first_line;
    carom_text_skip_line(text);
    pass_newline(text, both);
    bool has_vertices = false;
    for (uint32_t e = 0; e < ply->element_count; ++e) {
        has_vertices = has_vertices || ply->elements[e].kind == CAROM_PLY_VERTEX;
        CAROM_TRY(check_element(text, ply, &ply->elements[e]));
    }
    if (!has_vertices) return carom_text_fail(text, text->at, "the header has no element vertex");
    return read_names(&header, ply, builder, named) ? CAROM_OK : carom_builder_fail_memory(builder);
}
