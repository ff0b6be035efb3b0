/* SPDX-License-Identifier: MIT */
/* PLY data as text: one element per line. Coordinates become the nearest doubles, whatever type the
 * header declares; properties become the type that it does. Whole lines are checked, so that a
 * header that does not match the data is detected at the first line. */
#include <inttypes.h>
#include <math.h>

#include "base/byte_order.h"
#include "mesh/mesh_ply.h"

typedef struct line {
    carom_text *text;
    const carom_ply_element *element;
    uint64_t number;
} line;

static carom_status fail_value(const line *l, const char *wanted) {
    carom_text *text = l->text;
    carom_text_skip_blanks(text);
    return carom_text_fail(text, text->at, "%s %" PRIu64 ": %s stands where %s should",
                           l->element->name, l->number, carom_text_quote(text, text->at).text,
                           wanted);
}

static carom_status skip_values(const line *l, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        if (carom_text_line_done(l->text)) return fail_value(l, "a value");
        carom_text_skip_word(l->text);
    }
    return CAROM_OK;
}

static carom_status mesh_ply_ascii_read_corners(const line *l, uint64_t count, const carom_ply *ply,
                                                carom_builder *builder) {
    for (uint64_t i = 0; i < count && !builder->stopped; ++i) {
        uint64_t vertex;
        if (!carom_text_count(l->text, &vertex)) return fail_value(l, "a vertex number");
        if (vertex >= ply->vertex_count)
            return carom_text_fail(l->text, l->text->at,
                                   "face %" PRIu64 " names vertex %" PRIu64
                                   ", the file has %" PRIu64,
                                   l->number, vertex, ply->vertex_count);
        carom_builder_add_corner(builder, (uint32_t)vertex);
    }
    return CAROM_OK;
}

/* Reads the numbers of one list; -1 ends a strip. */
static carom_status read_strips(const line *l, uint64_t count, const carom_ply *ply,
                                carom_builder *builder) {
    carom_ply_strip strip = {0};
    for (uint64_t i = 0; i < count && !builder->stopped; ++i) {
        uint64_t vertex;
        if (carom_text_accept(l->text, "-1")) {
            strip.length = 0;
            continue;
        }
        if (!carom_text_count(l->text, &vertex)) return fail_value(l, "a vertex number or -1");
        if (vertex >= ply->vertex_count)
            return carom_text_fail(l->text, l->text->at,
                                   "tristrips %" PRIu64 " names vertex %" PRIu64
                                   ", the file has %" PRIu64,
                                   l->number, vertex, ply->vertex_count);
        carom_ply_add_to_strip(builder, &strip, (uint32_t)vertex);
    }
    return CAROM_OK;
}

static carom_status mesh_ply_ascii_read_part(const line *l, uint64_t limit, uint32_t *part) {
    uint64_t value;
    if (!carom_text_count(l->text, &value)) return fail_value(l, "the number of a part");
    if (value >= limit)
        return carom_text_fail(l->text, l->text->at,
                               "face %" PRIu64 " is in part %" PRIu64
                               ", more than the file has faces and named parts; number them from 0",
                               l->number, value);
    *part = (uint32_t)value;
    return CAROM_OK;
}

/* Reads a value as text of any type; false when it is not a number. */
static bool read_number(carom_text *text, double *value) {
    carom_text_skip_blanks(text);
    if (carom_text_accept(text, "nan")) {
        *value = (double)NAN;
        return true;
    }
    if (carom_text_accept(text, "inf") || carom_text_accept(text, "-inf")) {
        *value = text->at[-4] == '-' ? -(double)INFINITY : (double)INFINITY;
        return true;
    }
    const uint8_t *after = carom_number_parse(text->at, text->end, value);
    if (after == NULL || (after < text->end && !carom_is_space(*after))) return false;
    text->at = after;
    return true;
}

/* Stores a value in a type; false when that type does not hold it. */
static bool store_value(carom_mesh_property_type type, void *values, uint64_t index, double value) {
    static const double limits[CAROM_MESH_PROPERTY_TYPE_COUNT][2] = {
        [CAROM_MESH_PROPERTY_TYPE_INT8] = {-128.0, 127.0},
        [CAROM_MESH_PROPERTY_TYPE_UINT8] = {0.0, 255.0},
        [CAROM_MESH_PROPERTY_TYPE_INT16] = {-32768.0, 32767.0},
        [CAROM_MESH_PROPERTY_TYPE_UINT16] = {0.0, 65535.0},
        [CAROM_MESH_PROPERTY_TYPE_INT32] = {-2147483648.0, 2147483647.0},
        [CAROM_MESH_PROPERTY_TYPE_UINT32] = {0.0, 4294967295.0}};
    size_t size = carom_property_size(type);
    char *to = (char *)values + index * size;
    if (type == CAROM_MESH_PROPERTY_TYPE_FLOAT64) {
        memcpy(to, &value, sizeof(value));
    } else if (type == CAROM_MESH_PROPERTY_TYPE_FLOAT32) {
        const double most = 3.4028235677973366e38; /* from here on, the nearest float is infinite */
        if (value - value == 0.0 && (value >= most || value <= -most)) return false;
        float f32 = (float)value;
        memcpy(to, &f32, sizeof(f32));
    } else {
        const double *limit = limits[type];
        if (!(value >= limit[0] && value <= limit[1]) || value != (double)(int64_t)value)
            return false;
        uint64_t bits = (uint64_t)(int64_t)value; /* the low bytes are those of the narrow type */
        bool little = carom_is_little_endian();
        for (size_t i = 0; i < size; ++i)
            to[little ? i : size - 1 - i] = (char)(bits >> 8 * i & 0xFF);
    }
    return true;
}

/* Values must not make a mesh unreadable: a property with one that does not fit is given up. */
static carom_status read_kept(const line *l, carom_builder *builder, uint32_t kept,
                              uint64_t index) {
    carom_mesh_property *property = &builder->properties[kept];
    void *values = builder->property_values[kept];
    double value;
    if (carom_text_line_done(l->text)) return fail_value(l, "a value");
    const uint8_t *word = l->text->at;
    bool held = read_number(l->text, &value) &&
                (values == NULL || store_value(property->type, values, index, value));
    l->text->at = word;
    carom_text_skip_word(l->text);
    if (held || values == NULL) return CAROM_OK;
    carom_release(&builder->context->allocator, values);
    property->values = builder->property_values[kept] = NULL;
    return CAROM_OK;
}

/* The part of a face may follow its corners, so the face is ended when the line is. */
static carom_status read_line(const line *l, const carom_ply *ply, carom_builder *builder) {
    double xyz[3] = {0.0, 0.0, 0.0};
    uint64_t first_corner = builder->corners.count;
    for (uint32_t p = l->element->begin; p < l->element->end && !builder->stopped; ++p) {
        const carom_ply_property *property = &ply->properties[p];
        uint64_t count = 1;
        if (property->list && !carom_text_count(l->text, &count))
            return fail_value(l, "the length of a list");
        switch (property->role) {
        case CAROM_PLY_X:
        case CAROM_PLY_Y:
        case CAROM_PLY_Z:
            if (!carom_text_number(l->text, &xyz[property->role - CAROM_PLY_X]))
                return fail_value(l, "a finite number");
            break;
        case CAROM_PLY_CORNERS:
            CAROM_TRY(mesh_ply_ascii_read_corners(l, count, ply, builder));
            break;
        case CAROM_PLY_STRIPS:
            CAROM_TRY(read_strips(l, count, ply, builder));
            break;
        case CAROM_PLY_PART:
            CAROM_TRY(mesh_ply_ascii_read_part(l, ply->part_limit, &builder->part));
            break;
        case CAROM_PLY_KEPT:
            CAROM_TRY(
                read_kept(l, builder, property->kept,
                          l->element->kind == CAROM_PLY_FACE ? builder->face_count : l->number));
            break;
        case CAROM_PLY_IGNORED:
            CAROM_TRY(skip_values(l, count));
            break;
        }
    }
    if (!builder->stopped && !carom_text_line_done(l->text))
        return fail_value(l, "the end of the line");
    if (l->element->kind == CAROM_PLY_FACE && !builder->stopped)
        carom_builder_end_face(builder, first_corner);
    if (l->element->kind == CAROM_PLY_VERTEX) {
        carom_vec3 point = {xyz[0], xyz[1], xyz[2]};
        carom_builder_add_point(builder, point);
    }
    return CAROM_OK;
}

carom_status carom_ply_read_ascii(carom_text *text, const carom_ply *ply, carom_builder *builder) {
    carom_text_trim(text);
    if (!carom_points_reserve(&builder->points, &builder->context->allocator, ply->vertex_count))
        return carom_builder_fail_memory(builder);
    for (uint32_t e = 0; e < ply->element_count; ++e) {
        line l = {text, &ply->elements[e], 0};
        if (l.element->begin == l.element->end) continue; /* no properties, no lines */
        for (; l.number < l.element->count && carom_builder_goes_on(builder, text->at);
             ++l.number) {
            carom_text_skip_spaces(text);
            if (text->at == text->end)
                return carom_text_fail(
                    text, text->at, "the file ends after %" PRIu64 " of %" PRIu64 " of element %s",
                    l.number, l.element->count, l.element->name);
            CAROM_TRY(read_line(&l, ply, builder));
        }
    }
    carom_text_skip_spaces(text);
    if (builder->stopped || text->at == text->end) return CAROM_OK;
    const carom_ply_element *last = carom_ply_last_element(ply);
    return carom_text_fail(text, text->at,
                           "%s follows the last of the %" PRIu64
                           " of element %s that the header promises; correct its counts, or remove "
                           "what is too much",
                           carom_text_quote(text, text->at).text, last->count, last->name);
}
