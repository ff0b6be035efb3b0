/* SPDX-License-Identifier: MIT */
/* Reading and writing of PLY. Reading is the header (mesh_ply_header.c), then text or binary data
 * (mesh_ply_ascii.c, mesh_ply_binary.c). Writing is one loop for vertices and one for faces. */
#include "mesh/mesh_ply.h"
#include "base/byte_order.h"

/* Allocates the properties that are kept. */
static bool reserve_properties(const carom_ply *ply, carom_builder *builder) {
    static const carom_mesh_property_type types[CAROM_PLY_TYPE_COUNT] = {
        CAROM_MESH_PROPERTY_TYPE_INT8,    CAROM_MESH_PROPERTY_TYPE_UINT8,
        CAROM_MESH_PROPERTY_TYPE_INT16,   CAROM_MESH_PROPERTY_TYPE_UINT16,
        CAROM_MESH_PROPERTY_TYPE_INT32,   CAROM_MESH_PROPERTY_TYPE_UINT32,
        CAROM_MESH_PROPERTY_TYPE_FLOAT32, CAROM_MESH_PROPERTY_TYPE_FLOAT64};
    const carom_allocator *allocator = &builder->context->allocator;
    if (ply->kept_count == 0) return true;
    const carom_allocation arrays[] = {CAROM_ALLOCATION(builder->properties, ply->kept_count),
                                       CAROM_ALLOCATION(builder->property_values, ply->kept_count)};
    if (!carom_allocate_all(allocator, arrays, 2)) return false;
    for (uint32_t e = 0; e < ply->element_count; ++e)
        for (uint32_t i = ply->elements[e].begin; i < ply->elements[e].end; ++i) {
            const carom_ply_property *property = &ply->properties[i];
            if (property->role != CAROM_PLY_KEPT) continue;
            void *values = carom_allocate(allocator, ply->elements[e].count,
                                          (size_t)carom_ply_size(property->type));
            if (values == NULL) return false;
            builder->property_values[builder->property_count] = values;
            builder->properties[builder->property_count++] =
                (carom_mesh_property){.of_faces = ply->elements[e].kind == CAROM_PLY_FACE,
                                      .type = types[property->type],
                                      .values = values};
        }
    return true;
}

/* Names the properties; removes those that were given up. */
static void finish_properties(carom_builder *builder) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < builder->property_count; ++i) {
        if (builder->property_values[i] == NULL) continue;
        builder->property_values[kept] = builder->property_values[i];
        builder->properties[kept] = builder->properties[i];
        builder->properties[kept++].name = carom_names_get(&builder->property_names, i);
    }
    builder->property_count = kept;
}

carom_status carom_read_ply(carom_builder *builder, carom_source source,
                            carom_mesh_format *format) {
    carom_text text = carom_text_of(builder->context, builder->name, source.bytes, source.size);
    carom_ply *ply = carom_allocate(&builder->context->allocator, 1, sizeof(*ply));
    if (ply == NULL) return carom_builder_fail_memory(builder);
    memset(ply, 0, sizeof(*ply));
    carom_status status = carom_ply_read_header(&text, ply, builder);
    if (status == CAROM_OK && !reserve_properties(ply, builder))
        status = carom_builder_fail_memory(builder);
    if (status == CAROM_OK)
        status = ply->format == CAROM_MESH_FORMAT_PLY_ASCII
                     ? carom_ply_read_ascii(&text, ply, builder)
                     : carom_ply_read_binary(&text, ply, builder);
    finish_properties(builder);
    *format = ply->format;
    carom_release(&builder->context->allocator, ply);
    return status;
}

void carom_ply_add_to_strip(carom_builder *builder, carom_ply_strip *strip, uint32_t vertex) {
    uint64_t begin = builder->corners.count;
    uint32_t a = strip->a, b = strip->b;
    strip->a = b;
    strip->b = vertex;
    if (++strip->length < 3) return;
    if (a != b && b != vertex && a != vertex) {
        bool odd = strip->length % 2 == 0;
        carom_builder_add_corner(builder, odd ? b : a);
        carom_builder_add_corner(builder, odd ? a : b);
        carom_builder_add_corner(builder, vertex);
    }
    if (!builder->stopped) carom_builder_end_face(builder, begin);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void write_property_lines(carom_writer *writer, const carom_mesh_view *view, bool of_faces) {
    static const char *const types[CAROM_MESH_PROPERTY_TYPE_COUNT] = {
        "double", "float", "char", "uchar", "short", "ushort", "int", "uint"};
    for (uint64_t i = 0; i < view->property_count; ++i) {
        const carom_mesh_property *p = &view->properties[i];
        if (p->of_faces != of_faces) continue;
        carom_writer_text(writer, "\nproperty ");
        carom_writer_text(writer, types[p->type]);
        carom_writer_text(writer, " ");
        carom_writer_text(writer, p->name);
    }
}

void carom_ply_write_header(carom_writer *writer, const carom_mesh_view *view,
                            carom_mesh_format format, bool wide_counts) {
    const char *type = view->scalar == CAROM_SCALAR_FLOAT32 ? "float" : "double";
    char number[CAROM_NUMBER_SIZE];
    carom_writer_text(writer, "ply\nformat ");
    carom_writer_text(writer, format == CAROM_MESH_FORMAT_PLY_ASCII ? "ascii"
                              : format == CAROM_MESH_FORMAT_PLY     ? "binary_little_endian"
                                                                    : "binary_big_endian");
    carom_writer_text(writer, " 1.0");
    /* A reader allows as many parts as there are faces and lines that name one. Where there are
     * more parts than faces, lines without a name make up the difference. */
    bool named = view->part_names != NULL;
    uint64_t parts = named || view->parts != NULL ? view->part_count : 0;
    for (uint64_t p = named ? 0 : view->face_count; p < parts; ++p) {
        carom_writer_text(writer, "\ncomment part ");
        *carom_number_print_count(number, p) = '\0';
        carom_writer_text(writer, number);
        carom_writer_text(writer, " ");
        if (named) carom_writer_text(writer, view->part_names[p]);
    }
    carom_writer_text(writer, "\nelement vertex ");
    *carom_number_print_count(number, view->vertex_count) = '\0';
    carom_writer_text(writer, number);
    for (int axis = 0; axis < 3; ++axis) {
        carom_writer_text(writer, "\nproperty ");
        carom_writer_text(writer, type);
        carom_writer_text(writer, axis == 0 ? " x" : axis == 1 ? " y" : " z");
    }
    write_property_lines(writer, view, false);
    carom_writer_text(writer, "\nelement face ");
    *carom_number_print_count(number, view->face_count) = '\0';
    carom_writer_text(writer, number);
    carom_writer_text(writer, wide_counts ? "\nproperty list uint uint vertex_indices"
                                          : "\nproperty list uchar uint vertex_indices");
    if (view->parts != NULL) carom_writer_text(writer, "\nproperty uint part");
    write_property_lines(writer, view, true);
    carom_writer_text(writer, "\nend_header\n");
}

static char *put_bytes(char *to, uint64_t value, int size, bool big) {
    for (int i = 0; i < size; ++i) *to++ = (char)(value >> 8 * (big ? size - 1 - i : i) & 0xFF);
    return to;
}

/* Writes the properties of one vertex or face. */
static void write_values(carom_writer *writer, const carom_mesh_view *view, bool of_faces,
                         uint64_t index, bool big) {
    bool turns = big == carom_is_little_endian();
    for (uint64_t i = 0; i < view->property_count; ++i) {
        const carom_mesh_property *p = &view->properties[i];
        if (p->of_faces != of_faces) continue;
        size_t size = carom_property_size(p->type);
        const char *from = (const char *)p->values + index * size;
        char *at = carom_writer_reserve(writer);
        for (size_t b = 0; b < size; ++b) *at++ = from[turns ? size - 1 - b : b];
        carom_writer_advance(writer, at);
    }
}

static double load_value(const carom_mesh_property *p, uint64_t index) {
    const void *v = p->values;
    switch (p->type) {
    case CAROM_MESH_PROPERTY_TYPE_FLOAT64:
        return ((const double *)v)[index];
    case CAROM_MESH_PROPERTY_TYPE_FLOAT32:
        return (double)((const float *)v)[index];
    case CAROM_MESH_PROPERTY_TYPE_INT8:
        return ((const int8_t *)v)[index];
    case CAROM_MESH_PROPERTY_TYPE_UINT8:
        return ((const uint8_t *)v)[index];
    case CAROM_MESH_PROPERTY_TYPE_INT16:
        return ((const int16_t *)v)[index];
    case CAROM_MESH_PROPERTY_TYPE_UINT16:
        return ((const uint16_t *)v)[index];
    case CAROM_MESH_PROPERTY_TYPE_INT32:
        return ((const int32_t *)v)[index];
    default:
        return ((const uint32_t *)v)[index];
    }
}

/* The same as text, each after a space. */
static void write_text_values(carom_writer *writer, const carom_mesh_view *view, bool of_faces,
                              uint64_t index) {
    for (uint64_t i = 0; i < view->property_count; ++i) {
        if (view->properties[i].of_faces != of_faces) continue;
        double value = load_value(&view->properties[i], index);
        char *at = carom_writer_reserve(writer);
        *at++ = ' ';
        if (value - value == 0.0) {
            at = carom_number_print(at, value);
        } else {
            const char *word = value > 0.0 ? "inf" : value < 0.0 ? "-inf" : "nan";
            while (*word != '\0') *at++ = *word++;
        }
        carom_writer_advance(writer, at);
    }
}

void carom_ply_write_positions(carom_writer *writer, const carom_mesh_view *view, bool big) {
    for (uint64_t i = 0; i < view->vertex_count && writer->status == CAROM_OK; ++i) {
        carom_vec3 p = carom_mesh_position(view, i);
        const double xyz[3] = {p.x, p.y, p.z};
        char *at = carom_writer_reserve(writer);
        for (int c = 0; c < 3; ++c) {
            float f32 = (float)xyz[c];
            uint32_t b32;
            uint64_t b64;
            memcpy(&b32, &f32, sizeof(b32));
            memcpy(&b64, &xyz[c], sizeof(b64));
            at = view->scalar == CAROM_SCALAR_FLOAT32 ? put_bytes(at, b32, 4, big)
                                                      : put_bytes(at, b64, 8, big);
        }
        carom_writer_advance(writer, at);
        write_values(writer, view, false, i, big);
    }
}

/* Corners of a face, 1 KiB, that fit what a writer reserves. */
#define PLY_CORNERS_AT_ONCE 256

void carom_ply_write_faces(carom_writer *writer, const carom_mesh_view *view, bool big, bool wide) {
    for (uint64_t f = 0; f < view->face_count && writer->status == CAROM_OK; ++f) {
        uint64_t c = carom_mesh_offset(view, f), end = carom_mesh_offset(view, f + 1);
        char *at = put_bytes(carom_writer_reserve(writer), end - c, wide ? 4 : 1, big);
        while (c < end) {
            uint64_t part = CAROM_MIN(end, c + PLY_CORNERS_AT_ONCE);
            for (; c < part; ++c) at = put_bytes(at, view->corners[c], 4, big);
            carom_writer_advance(writer, at);
            at = carom_writer_reserve(writer);
        }
        if (view->parts != NULL)
            carom_writer_advance(writer, put_bytes(at, view->parts[f], 4, big));
        write_values(writer, view, true, f, big);
    }
}

static void mesh_ply_write_text(carom_writer *writer, const carom_mesh_view *view) {
    for (uint64_t i = 0; i < view->vertex_count && writer->status == CAROM_OK; ++i) {
        carom_writer_point(writer, "", carom_mesh_position(view, i));
        write_text_values(writer, view, false, i);
        carom_writer_end_line(writer);
    }
    for (uint64_t f = 0; f < view->face_count && writer->status == CAROM_OK; ++f) {
        carom_writer_face(writer, view, f);
        if (view->parts != NULL) {
            char *at = carom_writer_reserve(writer);
            *at++ = ' ';
            carom_writer_advance(writer, carom_number_print_count(at, view->parts[f]));
        }
        write_text_values(writer, view, true, f);
        carom_writer_end_line(writer);
    }
}

carom_status carom_write_ply(carom_writer *writer, const carom_mesh_view *view,
                             carom_mesh_format format) {
    bool wide = false, big = format == CAROM_MESH_FORMAT_PLY_BIG;
    for (uint64_t f = 0; f < view->face_count && !wide; ++f)
        wide = carom_mesh_offset(view, f + 1) - carom_mesh_offset(view, f) > 255;
    carom_ply_write_header(writer, view, format, wide);
    if (format == CAROM_MESH_FORMAT_PLY_ASCII) {
        mesh_ply_write_text(writer, view);
    } else {
        carom_ply_write_positions(writer, view, big);
        carom_ply_write_faces(writer, view, big, wide);
    }
    return writer->status;
}
