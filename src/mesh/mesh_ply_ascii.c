/* SPDX-License-Identifier: MIT */
/* PLY data as text: one element per line. Coordinates become the nearest doubles, whatever type the
 * header declares. Whole lines are checked, so that a header that does not match the data is
 * detected at the first line. */
#include <inttypes.h>

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

static carom_status read_corners(const line *l, uint64_t count, const carom_ply *ply,
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

static carom_status read_part(const line *l, uint64_t limit, uint32_t *part) {
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
            CAROM_TRY(read_corners(l, count, ply, builder));
            break;
        case CAROM_PLY_STRIPS:
            CAROM_TRY(read_strips(l, count, ply, builder));
            break;
        case CAROM_PLY_PART:
            CAROM_TRY(read_part(l, ply->part_limit, &builder->part));
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
