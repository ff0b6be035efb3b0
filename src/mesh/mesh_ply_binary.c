/* SPDX-License-Identifier: MIT */
/* PLY data in binary, in either byte order. Positions that are three floats stay float32, all
 * others become float64. Two loops are specialised for common files: vertices without lists, and
 * faces that are a list of 32-bit indices after a count of one byte. Everything else is read value
 * by value. */
#include <inttypes.h>

#include "base/byte_order.h"
#include "mesh/mesh_ply.h"

typedef struct data {
    carom_text *text; /* `at` is the current position */
    const carom_ply *ply;
    carom_builder *builder;
    const carom_ply_element *element;
    bool swap; /* the file's byte order is not the machine's */
} data;

/* ---- Messages -------------------------------------------------------------------------------- */

static carom_status fail_end(const data *d, uint64_t number) {
    return carom_fail(d->text->context, CAROM_BAD_FILE,
                      "%s: byte %" PRIu64 ": the file ends inside %s %" PRIu64 " of %" PRIu64,
                      d->text->name, (uint64_t)(d->text->end - d->text->begin), d->element->name,
                      number, d->element->count);
}

static carom_status fail_list(const data *d, uint64_t number, int64_t count) {
    return carom_fail(d->text->context, CAROM_BAD_FILE,
                      "%s: byte %" PRIu64 ": %s %" PRIu64 " has a list of length %" PRId64,
                      d->text->name, (uint64_t)(d->text->at - d->text->begin), d->element->name,
                      number, count);
}

static carom_status fail_corner(const data *d, uint64_t face, int64_t vertex) {
    return carom_fail(d->text->context, CAROM_BAD_FILE,
                      "%s: %s %" PRIu64 " names vertex %" PRId64 ", the file has %" PRIu64,
                      d->text->name, d->element->name, face, vertex, d->ply->vertex_count);
}

static carom_status fail_position(const data *d, uint64_t vertex) {
    return carom_fail(d->text->context, CAROM_BAD_FILE,
                      "%s: vertex %" PRIu64 " has a coordinate that is not finite", d->text->name,
                      vertex);
}

/* ---- Elements value by value ----------------------------------------------------------------- */

static carom_status mesh_ply_binary_read_corners(data *d, const carom_ply_property *property,
                                                 uint64_t face, uint64_t count) {
    uint64_t size = carom_ply_size(property->type);
    carom_ply_strip strip = {0};
    for (uint64_t i = 0; i < count && !d->builder->stopped; ++i) {
        int64_t vertex = carom_ply_load_integer(d->text->at + i * size, property->type, d->swap);
        if (vertex == -1 && property->role == CAROM_PLY_STRIPS) {
            strip.length = 0;
            continue;
        }
        if (vertex < 0 || (uint64_t)vertex >= d->ply->vertex_count)
            return fail_corner(d, face, vertex);
        if (property->role == CAROM_PLY_STRIPS)
            carom_ply_add_to_strip(d->builder, &strip, (uint32_t)vertex);
        else
            carom_builder_add_corner(d->builder, (uint32_t)vertex);
    }
    return CAROM_OK;
}

static carom_status mesh_ply_binary_read_part(data *d, carom_ply_type type, uint64_t face) {
    int64_t part = carom_ply_load_integer(d->text->at, type, d->swap);
    if (part < 0 || (uint64_t)part >= d->ply->part_limit)
        return carom_fail(d->text->context, CAROM_BAD_FILE,
                          "%s: face %" PRIu64 " is in part %" PRId64
                          ", which is negative or more than the file has faces and named parts; "
                          "number them from 0",
                          d->text->name, face, part);
    d->builder->part = (uint32_t)part;
    return CAROM_OK;
}

static void keep_value(data *d, const carom_ply_property *property, uint64_t index,
                       const uint8_t *at) {
    size_t size = (size_t)carom_ply_size(property->type);
    char *values = d->builder->property_values[property->kept];
    carom_ply_load_bytes(at, values + index * size, size, d->swap);
}

static carom_status read_one(data *d, uint64_t number) {
    double xyz[3] = {0.0, 0.0, 0.0};
    uint64_t first_corner = d->builder->corners.count;
    for (uint32_t p = d->element->begin; p < d->element->end; ++p) {
        const carom_ply_property *property = &d->ply->properties[p];
        uint64_t left = (uint64_t)(d->text->end - d->text->at), count = 1;
        uint64_t size = carom_ply_size(property->type);
        if (property->list) {
            uint64_t count_size = carom_ply_size(property->count_type);
            if (left < count_size) return fail_end(d, number);
            int64_t given = carom_ply_load_integer(d->text->at, property->count_type, d->swap);
            if (given < 0) return fail_list(d, number, given);
            count = (uint64_t)given;
            d->text->at += count_size;
            left -= count_size;
        }
        if (count > left / size) return fail_end(d, number);
        if (property->role == CAROM_PLY_CORNERS || property->role == CAROM_PLY_STRIPS)
            CAROM_TRY(mesh_ply_binary_read_corners(d, property, number, count));
        else if (property->role == CAROM_PLY_PART)
            CAROM_TRY(mesh_ply_binary_read_part(d, property->type, number));
        else if (property->role == CAROM_PLY_KEPT)
            keep_value(d, property,
                       d->element->kind == CAROM_PLY_FACE ? d->builder->face_count : number,
                       d->text->at);
        else if (property->role != CAROM_PLY_IGNORED)
            xyz[property->role - CAROM_PLY_X] =
                carom_ply_load_number(d->text->at, property->type, d->swap);
        d->text->at += count * size;
    }
    if (d->element->kind == CAROM_PLY_FACE && !d->builder->stopped)
        carom_builder_end_face(d->builder, first_corner); /* its part may follow its corners */
    if (d->element->kind != CAROM_PLY_VERTEX) return CAROM_OK;
    for (int i = 0; i < 3; ++i)
        if (xyz[i] - xyz[i] != 0.0) return fail_position(d, number);
    if (d->builder->floats != NULL) {
        float *to = (float *)d->builder->floats + 3 * number;
        for (int i = 0; i < 3; ++i) to[i] = (float)xyz[i];
    } else {
        carom_vec3 point = {xyz[0], xyz[1], xyz[2]};
        carom_builder_add_point(d->builder, point);
    }
    return CAROM_OK;
}

/* The fewest bytes of one element; a face counts with three corners. */
static uint64_t least_bytes(const carom_ply *ply, const carom_ply_element *element) {
    uint64_t bytes = element->fixed_bytes;
    for (uint32_t p = element->begin; p < element->end; ++p)
        if (ply->properties[p].role == CAROM_PLY_CORNERS)
            bytes += 3 * carom_ply_size(ply->properties[p].type);
    return bytes;
}

/* Reports bytes after the data, unless they are padding that is shorter than one element. */
static carom_status check_end(const data *d) {
    const carom_ply_element *last = carom_ply_last_element(d->ply);
    uint64_t left = (uint64_t)(d->text->end - d->text->at);
    if (left < least_bytes(d->ply, last) && carom_is_padding(d->text->at, d->text->end))
        return CAROM_OK;
    return carom_fail(d->text->context, CAROM_BAD_FILE,
                      "%s: byte %" PRIu64 ": %" PRIu64 " bytes follow the last of the %" PRIu64
                      " of element %s that the header promises; correct its counts, or cut the "
                      "file there",
                      d->text->name, (uint64_t)(d->text->at - d->text->begin), left, last->count,
                      last->name);
}

/* ---- Loops for common files ------------------------------------------------------------------ */

/* The offsets of x, y and z in a vertex without lists, and whether all are floats. */
static bool floats_of_vertex(const data *d, uint64_t at[3]) {
    uint64_t offset = 0;
    bool floats = true;
    for (uint32_t p = d->element->begin; p < d->element->end; ++p) {
        const carom_ply_property *property = &d->ply->properties[p];
        if (property->role >= CAROM_PLY_X && property->role <= CAROM_PLY_Z) {
            at[property->role - CAROM_PLY_X] = offset;
            floats = floats && property->type == CAROM_PLY_FLOAT32;
        }
        offset += carom_ply_size(property->type);
    }
    return floats;
}

#define MESH_PLY_ITEMS_PER_LOOK 65536u /* vertices or faces between two checks for cancellation */

static carom_status read_float_vertices(data *d, const uint64_t offsets[3]) {
    uint64_t count = d->element->count, stride = d->element->fixed_bytes;
    uint8_t *to = d->builder->floats;
    uint32_t worst = 0; /* the largest exponent, which reveals infinity and NaN */
    if (count > (uint64_t)(d->text->end - d->text->at) / stride) return fail_end(d, 0);
    for (uint64_t first = 0; first < count; first += MESH_PLY_ITEMS_PER_LOOK) {
        if (!carom_builder_goes_on(d->builder, d->text->at + first * stride)) return CAROM_OK;
        uint64_t end = CAROM_MIN(first + MESH_PLY_ITEMS_PER_LOOK, count);
        for (uint64_t i = first; i < end; ++i)
            for (int c = 0; c < 3; ++c) {
                uint32_t bits = carom_ply_load_u32(d->text->at + i * stride + offsets[c], d->swap);
                worst = CAROM_MAX(worst, bits & 0x7F800000u);
                memcpy(to + (3 * i + (uint64_t)c) * sizeof(bits), &bits, sizeof(bits));
            }
    }
    if (worst == 0x7F800000u) {
        const float *f = d->builder->floats;
        uint64_t i = 0;
        while (f[i] - f[i] == 0.0f) ++i;
        return fail_position(d, i / 3);
    }
    uint64_t offset = 0;
    for (uint32_t p = d->element->begin; p < d->element->end; ++p) {
        const carom_ply_property *property = &d->ply->properties[p];
        for (uint64_t i = 0; i < count && property->role == CAROM_PLY_KEPT; ++i)
            keep_value(d, property, i, d->text->at + i * stride + offset);
        offset += carom_ply_size(property->type);
    }
    d->text->at += count * stride;
    return CAROM_OK;
}

static carom_status read_vertices(data *d) {
    uint64_t offsets[3] = {0, 0, 0}, count = d->element->count;
    const carom_allocator *allocator = &d->builder->context->allocator;
    if (floats_of_vertex(d, offsets)) {
        d->builder->floats = carom_allocate(allocator, count, 3 * sizeof(float));
        if (d->builder->floats == NULL) return carom_builder_fail_memory(d->builder);
        d->builder->float_count = count;
        if (!d->element->has_list) return read_float_vertices(d, offsets);
    } else if (!carom_points_reserve(&d->builder->points, allocator, count)) {
        return carom_builder_fail_memory(d->builder);
    }
    for (uint64_t i = 0; i < count && carom_builder_goes_on(d->builder, d->text->at); ++i)
        CAROM_TRY(read_one(d, i));
    return CAROM_OK;
}

static bool faces_are_plain(const data *d) {
    const carom_ply_property *list = &d->ply->properties[d->element->begin];
    return d->element->end - d->element->begin == 1 && list->role == CAROM_PLY_CORNERS &&
           list->count_type <= CAROM_PLY_UINT8 &&
           (list->type == CAROM_PLY_INT32 || list->type == CAROM_PLY_UINT32);
}

/* Reads consecutive triangles; returns the number of faces read. */
static uint64_t read_plain_triangles(data *d, uint64_t most) {
    carom_builder *builder = d->builder;
    uint64_t left = (uint64_t)(d->text->end - d->text->at) / 13, done = 0;
    most = CAROM_MIN(most, left);
    if (most == 0 || builder->offsets.count != 0 ||
        !carom_corners_reserve(&builder->corners, &builder->context->allocator,
                               builder->corners.count + 3 * most))
        return 0;
    uint32_t *to = builder->corners.data + builder->corners.count;
    uint64_t vertices = d->ply->vertex_count;
    const uint8_t *at = d->text->at;
    for (; done < most && at[0] == 3; ++done, at += 13, to += 3) {
        uint32_t a = carom_ply_load_u32(at + 1, d->swap), b = carom_ply_load_u32(at + 5, d->swap);
        uint32_t c = carom_ply_load_u32(at + 9, d->swap);
        if (a >= vertices || b >= vertices || c >= vertices) break;
        to[0] = a;
        to[1] = b;
        to[2] = c;
    }
    d->text->at = at;
    builder->corners.count += 3 * done;
    builder->face_count += done;
    return done;
}

static carom_status read_elements(data *d) {
    uint64_t i = 0;
    if (d->element->begin == d->element->end) return CAROM_OK; /* no bytes, whatever the count */
    if (d->element->kind == CAROM_PLY_FACE && d->element->count != 0 && faces_are_plain(d)) {
        uint64_t most = d->element->count, done = MESH_PLY_ITEMS_PER_LOOK;
        carom_builder *builder = d->builder;
        uint64_t space = CAROM_MIN(most, (uint64_t)(d->text->end - d->text->at) / 13);
        if (!carom_corners_reserve(&builder->corners, &builder->context->allocator,
                                   builder->corners.count + 3 * space))
            done = 0; /* one by one, with growing arrays */
        while (i < most && done == MESH_PLY_ITEMS_PER_LOOK &&
               carom_builder_goes_on(builder, d->text->at)) {
            done = read_plain_triangles(d, CAROM_MIN(most - i, MESH_PLY_ITEMS_PER_LOOK));
            i += done;
        }
    }
    if (d->element->kind == CAROM_PLY_OTHER && !d->element->has_list) {
        uint64_t left = (uint64_t)(d->text->end - d->text->at) / d->element->fixed_bytes;
        if (d->element->count > left) return fail_end(d, left);
        d->text->at += d->element->count * d->element->fixed_bytes;
        return CAROM_OK;
    }
    for (; i < d->element->count && carom_builder_goes_on(d->builder, d->text->at); ++i)
        CAROM_TRY(read_one(d, i));
    return CAROM_OK;
}

carom_status carom_ply_read_binary(carom_text *text, const carom_ply *ply, carom_builder *builder) {
    data d = {.text = text, .ply = ply, .builder = builder};
    d.swap = carom_is_little_endian() != (ply->format == CAROM_MESH_FORMAT_PLY);
    for (uint32_t e = 0; e < ply->element_count && !builder->stopped; ++e) {
        d.element = &ply->elements[e];
        if (d.element->kind == CAROM_PLY_VERTEX)
            CAROM_TRY(read_vertices(&d));
        else
            CAROM_TRY(read_elements(&d));
    }
    return builder->stopped ? CAROM_OK : check_end(&d);
}
