/* SPDX-License-Identifier: MIT */
/* Reading and writing of PLY. Reading is the header (mesh_ply_header.c), then text or binary data
 * (mesh_ply_ascii.c, mesh_ply_binary.c). Writing is one loop for vertices and one for faces. */
#include "mesh/mesh_ply.h"

carom_status carom_read_ply(carom_builder *builder, carom_source source,
                            carom_mesh_format *format) {
    carom_text text = {builder->context, builder->name, source.bytes, source.bytes,
                       source.bytes + source.size};
    carom_ply *ply = carom_allocate(&builder->context->allocator, 1, sizeof(*ply));
    if (ply == NULL) return carom_builder_fail_memory(builder);
    memset(ply, 0, sizeof(*ply));
    carom_status status = carom_ply_read_header(&text, ply, builder);
    if (status == CAROM_OK)
        status = ply->format == CAROM_MESH_FORMAT_PLY_ASCII
                     ? carom_ply_read_ascii(&text, ply, builder)
                     : carom_ply_read_binary(&text, ply, builder);
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

static void write_header(carom_writer *writer, const carom_mesh_view *view,
                         carom_mesh_format format, bool wide_counts) {
    const char *type = view->scalar == CAROM_SCALAR_FLOAT32 ? "float" : "double";
    char number[CAROM_NUMBER_SIZE];
    carom_writer_text(writer, "ply\nformat ");
    carom_writer_text(writer, format == CAROM_MESH_FORMAT_PLY_ASCII ? "ascii"
                              : format == CAROM_MESH_FORMAT_PLY     ? "binary_little_endian"
                                                                    : "binary_big_endian");
    carom_writer_text(writer, " 1.0");
    for (uint64_t p = 0; p < view->part_count && view->part_names != NULL; ++p) {
        carom_writer_text(writer, "\ncomment part ");
        *carom_number_print_count(number, p) = '\0';
        carom_writer_text(writer, number);
        carom_writer_text(writer, " ");
        carom_writer_text(writer, view->part_names[p]);
    }
    carom_writer_text(writer, "\nelement vertex ");
    *carom_number_print_count(number, view->vertex_count) = '\0';
    carom_writer_text(writer, number);
    for (int axis = 0; axis < 3; ++axis) {
        carom_writer_text(writer, "\nproperty ");
        carom_writer_text(writer, type);
        carom_writer_text(writer, axis == 0 ? " x" : axis == 1 ? " y" : " z");
    }
    carom_writer_text(writer, "\nelement face ");
    *carom_number_print_count(number, view->face_count) = '\0';
    carom_writer_text(writer, number);
    carom_writer_text(writer, wide_counts ? "\nproperty list uint uint vertex_indices"
                                          : "\nproperty list uchar uint vertex_indices");
    if (view->parts != NULL) carom_writer_text(writer, "\nproperty uint part");
    carom_writer_text(writer, "\nend_header\n");
}

static char *put_bytes(char *to, uint64_t value, int size, bool big) {
    for (int i = 0; i < size; ++i) *to++ = (char)(value >> 8 * (big ? size - 1 - i : i) & 0xFF);
    return to;
}

static void write_positions(carom_writer *writer, const carom_mesh_view *view, bool big) {
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
    }
}

static void write_faces(carom_writer *writer, const carom_mesh_view *view, bool big, bool wide) {
    for (uint64_t f = 0; f < view->face_count && writer->status == CAROM_OK; ++f) {
        uint64_t c = carom_mesh_offset(view, f), end = carom_mesh_offset(view, f + 1);
        char *at = put_bytes(carom_writer_reserve(writer), end - c, wide ? 4 : 1, big);
        while (c < end) {
            uint64_t part = CAROM_MIN(end, c + 256);
            for (; c < part; ++c) at = put_bytes(at, view->corners[c], 4, big);
            carom_writer_advance(writer, at);
            at = carom_writer_reserve(writer);
        }
        if (view->parts != NULL)
            carom_writer_advance(writer, put_bytes(at, view->parts[f], 4, big));
    }
}

carom_status carom_write_ply(carom_writer *writer, const carom_mesh_view *view,
                             carom_mesh_format format) {
    bool wide = false, big = format == CAROM_MESH_FORMAT_PLY_BIG;
    for (uint64_t f = 0; f < view->face_count && !wide; ++f)
        wide = carom_mesh_offset(view, f + 1) - carom_mesh_offset(view, f) > 255;
    write_header(writer, view, format, wide);
    if (format == CAROM_MESH_FORMAT_PLY_ASCII) {
        for (uint64_t i = 0; i < view->vertex_count && writer->status == CAROM_OK; ++i)
            carom_writer_point(writer, "", carom_mesh_position(view, i));
        carom_writer_faces(writer, view, true);
    } else {
        write_positions(writer, view, big);
        write_faces(writer, view, big, wide);
    }
    return writer->status;
}
