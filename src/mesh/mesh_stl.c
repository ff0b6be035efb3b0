/* SPDX-License-Identifier: MIT */
/* STL: separate triangles, each with corners of its own (welding is a separate step). Normals and
 * attributes are skipped, as the corners determine the shape. Each solid of a text file is a part,
 * whatever its name: some programs give all solids the same.
 *
 * Binary files may begin with the word `solid` too, so that word alone does not decide. A file is
 * binary when its size is exactly the one that its count of triangles implies. Otherwise it is text
 * when it begins with `solid` and has no zero byte near the start, and binary of the wrong size
 * when not. */
#include <inttypes.h>

#include "geom/vec.h"
#include "mesh/mesh_format.h"
#include "mesh/mesh_text.h"

#define HEADER_BYTES             84u
#define FACET_BYTES              50u
#define MESH_STL_FACETS_PER_LOOK 16384u /* facets between two checks for cancellation */

static uint32_t load_count(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

bool carom_stl_is_binary(carom_source source) {
    if (source.size < HEADER_BYTES) return false;
    return source.size ==
           HEADER_BYTES + (uint64_t)FACET_BYTES * load_count(source.bytes + HEADER_BYTES - 4);
}

/* Bytes at the beginning that have no zero: in a binary file some are, in counts and numbers. */
#define STL_TEXT_BYTES 512

static bool looks_like_text(carom_source source) {
    carom_text text = carom_text_of(NULL, "", source.bytes, source.size);
    if (source.size >= 2 &&
        (memcmp(source.bytes, "\xFE\xFF", 2) == 0 || memcmp(source.bytes, "\xFF\xFE", 2) == 0))
        return true; /* UTF-16: the text reader reports it */
    if (source.size >= 3 && memcmp(source.bytes, "\xEF\xBB\xBF", 3) == 0) text.at += 3;
    carom_text_skip_spaces(&text);
    uint64_t early = CAROM_MIN(source.size, STL_TEXT_BYTES);
    return carom_text_accept(&text, "solid") && memchr(source.bytes, 0, (size_t)early) == NULL;
}

/* ---- Binary ---------------------------------------------------------------------------------- */

static carom_status read_binary(carom_builder *builder, carom_source source) {
    if (source.size < HEADER_BYTES)
        return carom_fail(builder->context, CAROM_BAD_FILE,
                          "%s: byte %" PRIu64 ": the file ends inside its header of %u bytes, and "
                          "is no text that begins with \"solid\"",
                          builder->name, source.size, HEADER_BYTES);
    uint64_t count = load_count(source.bytes + HEADER_BYTES - 4);
    uint64_t space = (source.size - HEADER_BYTES) / FACET_BYTES;
    if (count > space)
        return carom_fail(builder->context, CAROM_BAD_FILE,
                          "%s: byte %u: %" PRIu64 " triangles are promised, the file has room for "
                          "%" PRIu64,
                          builder->name, HEADER_BYTES - 4, count, space);
    const uint8_t *after = source.bytes + HEADER_BYTES + count * FACET_BYTES;
    uint64_t left = (uint64_t)(source.bytes + source.size - after);
    if (left >= FACET_BYTES || !carom_is_padding(after, after + left))
        return carom_fail(builder->context, CAROM_BAD_FILE,
                          "%s: byte %" PRIu64 ": %" PRIu64 " bytes follow the last of the %" PRIu64
                          " triangles that byte %u promises, room for %" PRIu64
                          " more; correct the count, or cut the file there",
                          builder->name, HEADER_BYTES + count * FACET_BYTES, left, count,
                          HEADER_BYTES - 4, left / FACET_BYTES);
    if (3 * count > CAROM_MESH_MOST_VERTICES)
        return carom_fail(builder->context, CAROM_TOO_LARGE,
                          "%s: %" PRIu64 " corners, a mesh has at most %" PRIu32 " vertices",
                          builder->name, 3 * count, CAROM_MESH_MOST_VERTICES);
    const carom_allocator *allocator = &builder->context->allocator;
    float *to = carom_allocate(allocator, count, 9 * sizeof(*to));
    builder->floats = to;
    if (to == NULL || !carom_corners_reserve(&builder->corners, allocator, 3 * count))
        return carom_builder_fail_memory(builder);
    const uint8_t *facet = source.bytes + HEADER_BYTES;
    uint32_t worst = 0; /* the largest exponent, which reveals infinity and NaN */
    for (uint64_t first = 0; first < count; first += MESH_STL_FACETS_PER_LOOK) {
        if (!carom_builder_goes_on(builder, facet)) return CAROM_OK;
        uint64_t end = CAROM_MIN(first + MESH_STL_FACETS_PER_LOOK, count);
        for (uint64_t f = first; f < end; ++f, facet += FACET_BYTES)
            for (uint32_t i = 0; i < 9; ++i) { /* the first 12 bytes are the normal */
                uint32_t bits = load_count(facet + 12 + 4 * i);
                worst = CAROM_MAX(worst, bits & 0x7F800000u);
                memcpy(&to[9 * f + i], &bits, sizeof(bits));
            }
    }
    if (worst == 0x7F800000u) {
        uint64_t i = 0;
        while (to[i] - to[i] == 0.0f) ++i;
        return carom_fail(
            builder->context, CAROM_BAD_FILE,
            "%s: byte %" PRIu64 ": facet %" PRIu64 " has a coordinate that is not finite",
            builder->name, HEADER_BYTES + FACET_BYTES * (i / 9) + 12 + 4 * (i % 9), i / 9);
    }
    for (uint64_t i = 0; i < 3 * count; ++i) builder->corners.data[i] = (uint32_t)i;
    builder->float_count = builder->corners.count = 3 * count;
    builder->face_count = count;
    return CAROM_OK;
}

/* ---- Text ------------------------------------------------------------------------------------ */

static carom_status mesh_stl_read_vertex(carom_text *text, carom_builder *builder) {
    double xyz[3];
    for (int i = 0; i < 3; ++i)
        if (!carom_text_number(text, &xyz[i]))
            return carom_text_fail(text, text->at, "facet %" PRIu64 ": %s is no finite number",
                                   builder->face_count + builder->skipped_faces,
                                   carom_text_quote(text, text->at).text);
    if (builder->points.count == CAROM_MESH_MOST_VERTICES)
        return carom_fail(builder->context, CAROM_TOO_LARGE, "%s: more than %" PRIu32 " corners",
                          builder->name, CAROM_MESH_MOST_VERTICES);
    carom_vec3 point = {xyz[0], xyz[1], xyz[2]};
    carom_builder_add_corner(builder, (uint32_t)builder->points.count);
    carom_builder_add_point(builder, point);
    return CAROM_OK;
}

/* Skips up to three words of the line, whether they are numbers or not. */
static void skip_normal(carom_text *text) {
    if (!carom_text_accept(text, "normal")) return;
    for (int i = 0; i < 3 && !carom_text_line_done(text); ++i) carom_text_skip_word(text);
}

/* "endsolid", or "end solid" as some write it. "end" alone is the former, cut short. */
static bool accept_end(carom_text *text) {
    return carom_text_accept(text, "endsolid") ||
           (carom_text_accept(text, "end") && carom_text_accept(text, "solid"));
}

/* The block that the current word is in. */
typedef enum inside { MESH_STL_NOTHING, SOLID, FACET } inside;

static carom_status read_text(carom_builder *builder, carom_source source) {
    carom_text text = carom_text_of(builder->context, builder->name, source.bytes, source.size);
    inside where = MESH_STL_NOTHING;
    uint64_t first_corner = 0;
    const uint8_t *solid = NULL, *solid_end = NULL;
    CAROM_TRY(carom_text_begin(&text));
    carom_text_trim(&text);
    while (carom_builder_goes_on(builder, text.at)) {
        carom_text_skip_spaces(&text);
        const uint8_t *word = text.at;
        if (word == text.end) break;
        if (where == FACET && carom_text_accept(&text, "vertex")) {
            CAROM_TRY(mesh_stl_read_vertex(&text, builder));
        } else if (where == SOLID && carom_text_accept(&text, "facet")) {
            skip_normal(&text);
            first_corner = builder->corners.count;
            where = FACET;
            if (solid != NULL) {
                carom_builder_add_part(builder, solid, (size_t)(solid_end - solid));
                solid = NULL;
            }
        } else if (where == FACET && carom_text_accept(&text, "endfacet")) {
            if (builder->corners.count - first_corner < 3)
                builder->points.count -= builder->corners.count - first_corner;
            carom_builder_end_face(builder, first_corner);
            where = SOLID;
        } else if (where == MESH_STL_NOTHING && carom_text_accept(&text, "solid")) {
            solid = text.at; /* its name; the part begins with the first facet */
            carom_text_skip_line(&text);
            solid_end = text.at;
            where = SOLID;
        } else if (where == SOLID && accept_end(&text)) {
            carom_text_skip_line(&text);
            where = MESH_STL_NOTHING;
        } else if (where != FACET ||
                   !(carom_text_accept(&text, "outer") || carom_text_accept(&text, "loop") ||
                     carom_text_accept(&text, "endloop"))) {
            return carom_text_fail(&text, word, "%s stands where %s should",
                                   carom_text_quote(&text, word).text,
                                   where == MESH_STL_NOTHING ? "\"solid\""
                                   : where == SOLID          ? "\"facet\" or \"endsolid\""
                                                             : "\"vertex\" or \"endfacet\"");
        }
    }
    if (where == FACET && !builder->stopped)
        return carom_text_fail(&text, text.end, "the file ends inside facet %" PRIu64,
                               builder->face_count + builder->skipped_faces);
    if (where == SOLID && !builder->stopped)
        return carom_text_fail(&text, text.end,
                               "the file ends after %" PRIu64 " facets without \"endsolid\"",
                               builder->face_count + builder->skipped_faces);
    return CAROM_OK;
}

carom_status carom_read_stl(carom_builder *builder, carom_source source,
                            carom_mesh_format *format) {
    if (source.size == 0)
        return carom_fail(builder->context, CAROM_BAD_FILE, "%s: the file is empty", builder->name);
    bool binary = carom_stl_is_binary(source) || !looks_like_text(source);
    *format = binary ? CAROM_MESH_FORMAT_STL : CAROM_MESH_FORMAT_STL_ASCII;
    return binary ? read_binary(builder, source) : read_text(builder, source);
}

/* ---- Writing --------------------------------------------------------------------------------- */

bool carom_mesh_is_float32(const carom_mesh_view *view) {
    if (view->scalar == CAROM_SCALAR_FLOAT32) return true;
    for (uint64_t i = 0; i < view->vertex_count; ++i) {
        carom_vec3 p = carom_mesh_position(view, i);
        if (!((double)(float)p.x == p.x && (double)(float)p.y == p.y && (double)(float)p.z == p.z))
            return false;
    }
    return true;
}

/* Of unit length or zero; only for readers that need a normal. */
static carom_vec3 mesh_stl_normal_of(carom_vec3 a, carom_vec3 b, carom_vec3 c) {
    carom_vec3 u = carom_vec_sub(b, a), v = carom_vec_sub(c, a), n = carom_vec_cross(u, v);
    double length = carom_vec_length(n);
    if (!(length > 0.0) || length - length != 0.0) return carom_vec(0.0, 0.0, 0.0);
    return carom_vec_scale(n, 1.0 / length);
}

static char *put_float(char *to, double value) {
    float f32 = (float)value;
    uint32_t bits;
    memcpy(&bits, &f32, sizeof(bits));
    for (int i = 0; i < 4; ++i) *to++ = (char)(bits >> 8 * i & 0xFF);
    return to;
}

static char *mesh_stl_put_point(char *to, carom_vec3 p) {
    return put_float(put_float(put_float(to, p.x), p.y), p.z);
}

static void write_binary(carom_writer *writer, const carom_mesh_view *view) {
    char *at = carom_writer_reserve(writer);
    memset(at, 0, HEADER_BYTES);
    memcpy(at, "binary STL", 10);
    for (int i = 0; i < 4; ++i) at[HEADER_BYTES - 4 + i] = (char)(view->face_count >> 8 * i & 0xFF);
    carom_writer_advance(writer, at + HEADER_BYTES);
    for (uint64_t f = 0; f < view->face_count && writer->status == CAROM_OK; ++f) {
        const uint32_t *corner = view->corners + 3 * f;
        carom_vec3 a = carom_mesh_position(view, corner[0]);
        carom_vec3 b = carom_mesh_position(view, corner[1]);
        carom_vec3 c = carom_mesh_position(view, corner[2]);
        at = carom_writer_reserve(writer);
        at = mesh_stl_put_point(
            mesh_stl_put_point(
                mesh_stl_put_point(mesh_stl_put_point(at, mesh_stl_normal_of(a, b, c)), a), b),
            c);
        *at++ = 0;
        *at++ = 0;
        carom_writer_advance(writer, at);
    }
}

/* Writes `solid NAME` or `endsolid NAME`. */
static void write_solid(carom_writer *writer, const carom_mesh_view *view, const char *word,
                        uint32_t part) {
    carom_writer_text(writer, word);
    if (part < view->part_count && view->part_names != NULL && view->part_names[part][0] != '\0') {
        carom_writer_text(writer, " ");
        carom_writer_text(writer, view->part_names[part]);
    }
    carom_writer_text(writer, "\n");
}

static void mesh_stl_write_text(carom_writer *writer, const carom_mesh_view *view) {
    uint32_t part = view->parts != NULL && view->face_count != 0 ? view->parts[0] : 0;
    write_solid(writer, view, "solid", part);
    for (uint64_t f = 0; f < view->face_count && writer->status == CAROM_OK; ++f) {
        carom_vec3 p[3];
        if (view->parts != NULL && view->parts[f] != part) {
            write_solid(writer, view, "endsolid", part);
            part = view->parts[f];
            write_solid(writer, view, "solid", part);
        }
        for (int i = 0; i < 3; ++i) p[i] = carom_mesh_position(view, view->corners[3 * f + i]);
        carom_writer_point(writer, "facet normal ", mesh_stl_normal_of(p[0], p[1], p[2]));
        carom_writer_text(writer, "\nouter loop\n");
        for (int i = 0; i < 3; ++i) {
            carom_writer_point(writer, "vertex ", p[i]);
            carom_writer_end_line(writer);
        }
        carom_writer_text(writer, "endloop\nendfacet\n");
    }
    write_solid(writer, view, "endsolid", part);
}

carom_status carom_write_stl(carom_writer *writer, const carom_mesh_view *view,
                             carom_mesh_format format) {
    for (uint64_t f = 0; f < view->face_count && view->offsets != NULL; ++f)
        if (view->offsets[f + 1] - view->offsets[f] != 3)
            return carom_fail(writer->context, CAROM_BAD_INPUT,
                              "%s: face %" PRIu64 " has %" PRIu64
                              " corners and STL holds triangles "
                              "only; triangulate first, or write another format",
                              writer->name, f, view->offsets[f + 1] - view->offsets[f]);
    if (format == CAROM_MESH_FORMAT_STL_ASCII) {
        mesh_stl_write_text(writer, view);
        return writer->status;
    }
    if (view->face_count > UINT32_MAX)
        return carom_fail(writer->context, CAROM_TOO_LARGE,
                          "%s: %" PRIu64 " triangles, binary STL counts to %" PRIu32, writer->name,
                          view->face_count, UINT32_MAX);
    if (!carom_mesh_is_float32(view))
        return carom_fail(writer->context, CAROM_BAD_INPUT,
                          "%s: binary STL holds float32 and these positions need float64; write "
                          "stl-ascii or another format",
                          writer->name);
    write_binary(writer, view);
    return writer->status;
}
