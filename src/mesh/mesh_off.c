/* SPDX-License-Identifier: MIT */
/* OFF: a header word, the counts of vertices, faces and edges, then one vertex or one face per
 * line. What follows the three coordinates (normals, colours, textures: COFF, NOFF, STOFF, or no
 * word at all) and the corners (colours) is skipped. So files whose header announces more or less
 * than their lines hold are still read. Comments from # to the end of a line may be anywhere. */
#include <inttypes.h>

#include "mesh/mesh_format.h"
#include "mesh/mesh_text.h"

const uint8_t *carom_off_header_end(const uint8_t *begin, const uint8_t *end) {
    const uint8_t *at = begin;
    if (end - at >= 2 && at[0] == 'S' && at[1] == 'T') at += 2;
    if (at < end && *at == 'C') ++at;
    if (at < end && *at == 'N') ++at;
    if (at < end && *at == '4') ++at;
    if (at < end && *at == 'n') ++at;
    if (end - at < 3 || at[0] != 'O' || at[1] != 'F' || at[2] != 'F') return NULL;
    at += 3;
    /* Some files have the counts directly after the word: OFF8 6 12. */
    bool ends = at == end || carom_is_space(*at) || carom_is_digit(*at) || *at == '#';
    return ends ? at : NULL;
}

/* Advances to the next word that is not in a comment, on this line or a later one. */
static void next_word(carom_text *text) {
    for (;;) {
        carom_text_skip_spaces(text);
        if (text->at == text->end || *text->at != '#') return;
        carom_text_skip_line(text);
    }
}

static carom_status mesh_off_read_header(carom_text *text, uint64_t *vertices, uint64_t *faces) {
    next_word(text);
    const uint8_t *word = text->at, *after = carom_off_header_end(word, text->end);
    if (after != NULL) {
        for (const uint8_t *p = word; p < after; ++p)
            if (*p == '4' || *p == 'n')
                return carom_text_fail(text, word, "%s: only three dimensions can be read",
                                       carom_text_quote(text, word).text);
        text->at = after;
        const uint8_t *next = text->at;
        if (carom_text_accept(text, "binary"))
            return carom_text_fail(text, next, "binary OFF cannot be read; save it as text");
    } else if (word == text->end || !carom_is_digit(*word)) { /* the word may be missing */
        return carom_text_fail(text, word, "%s stands where OFF or counts should",
                               carom_text_quote(text, word).text);
    }
    next_word(text);
    const uint8_t *line = text->at;
    if (!carom_text_count(text, vertices) || !carom_text_count(text, faces))
        return carom_text_fail(text, line,
                               "%s stands where the numbers of vertices and faces should",
                               carom_text_quote(text, text->at).text);
    carom_text_skip_line(text);
    return CAROM_OK;
}

/* Refuses counts in the header that exceed what the rest of the file can hold. */
static carom_status check_counts(const carom_text *text, const uint8_t *line, uint64_t vertices,
                                 uint64_t faces) {
    uint64_t left = (uint64_t)(text->end - text->at) + 1;
    if (vertices > left / 6) /* "0 0 0\n" */
        return carom_text_fail(text, line,
                               "%" PRIu64 " vertices are promised, the file has room for %" PRIu64,
                               vertices, left / 6);
    if (faces > left / 2) /* "0\n" */
        return carom_text_fail(text, line,
                               "%" PRIu64 " faces are promised, the file has room for %" PRIu64,
                               faces, left / 2);
    return CAROM_OK;
}

static carom_status mesh_off_read_vertex(carom_text *text, carom_builder *builder, uint64_t vertex,
                                         uint64_t vertices) {
    double xyz[3];
    next_word(text);
    if (text->at == text->end)
        return carom_text_fail(text, text->at,
                               "the file ends after %" PRIu64 " of %" PRIu64 " vertices", vertex,
                               vertices);
    for (int i = 0; i < 3; ++i)
        if (!carom_text_number(text, &xyz[i]))
            return carom_text_fail(text, text->at, "vertex %" PRIu64 ": %s is no finite number",
                                   vertex, carom_text_quote(text, text->at).text);
    carom_text_skip_line(text);
    carom_vec3 point = {xyz[0], xyz[1], xyz[2]};
    carom_builder_add_point(builder, point);
    return CAROM_OK;
}

static carom_status mesh_off_read_face(carom_text *text, carom_builder *builder, uint64_t face,
                                       uint64_t faces) {
    uint64_t begin = builder->corners.count, count, vertices = builder->points.count;
    next_word(text);
    if (text->at == text->end)
        return carom_text_fail(text, text->at,
                               "the file ends after %" PRIu64 " of %" PRIu64 " faces", face, faces);
    if (!carom_text_count(text, &count))
        return carom_text_fail(text, text->at, "face %" PRIu64 ": %s is no number of corners", face,
                               carom_text_quote(text, text->at).text);
    for (uint64_t i = 0; i < count && !builder->stopped; ++i) {
        uint64_t vertex;
        if (!carom_text_count(text, &vertex))
            return carom_text_fail(text, text->at,
                                   "face %" PRIu64 ": %s stands where corner %" PRIu64
                                   " of %" PRIu64 " should",
                                   face, carom_text_quote(text, text->at).text, i, count);
        if (vertex >= vertices)
            return carom_text_fail(
                text, text->at, "face %" PRIu64 " names vertex %" PRIu64 ", the file has %" PRIu64,
                face, vertex, vertices);
        carom_builder_add_corner(builder, (uint32_t)vertex);
    }
    carom_text_skip_line(text);
    carom_builder_end_face(builder, begin);
    return CAROM_OK;
}

carom_status carom_read_off(carom_builder *builder, carom_source source,
                            carom_mesh_format *format) {
    carom_text text = carom_text_of(builder->context, builder->name, source.bytes, source.size);
    uint64_t vertices = 0, faces = 0;
    *format = CAROM_MESH_FORMAT_OFF;
    CAROM_TRY(carom_text_begin(&text));
    carom_text_trim(&text);
    CAROM_TRY(mesh_off_read_header(&text, &vertices, &faces));
    CAROM_TRY(check_counts(&text, text.at, vertices, faces));
    if (!carom_points_reserve(&builder->points, &builder->context->allocator, vertices))
        carom_builder_run_out(builder);
    for (uint64_t i = 0; i < vertices && carom_builder_goes_on(builder, text.at); ++i)
        CAROM_TRY(mesh_off_read_vertex(&text, builder, i, vertices));
    for (uint64_t f = 0; f < faces && carom_builder_goes_on(builder, text.at); ++f)
        CAROM_TRY(mesh_off_read_face(&text, builder, f, faces));
    next_word(&text);
    if (!builder->stopped && text.at != text.end)
        return carom_text_fail(&text, text.at,
                               "%s follows the last of the %" PRIu64
                               " faces that the header promises; correct its counts, or remove "
                               "what is too much",
                               carom_text_quote(&text, text.at).text, faces);
    return CAROM_OK;
}

/* ---- Writing --------------------------------------------------------------------------------- */

carom_status carom_write_off(carom_writer *writer, const carom_mesh_view *view,
                             carom_mesh_format format) {
    (void)format;
    carom_writer_text(writer, "OFF\n");
    char *at = carom_number_print_count(carom_writer_reserve(writer), view->vertex_count);
    *at++ = ' ';
    at = carom_number_print_count(at, view->face_count);
    *at++ = ' ';
    *at++ = '0';
    *at++ = '\n';
    carom_writer_advance(writer, at);
    for (uint64_t i = 0; i < view->vertex_count && writer->status == CAROM_OK; ++i) {
        carom_writer_point(writer, "", carom_mesh_position(view, i));
        carom_writer_end_line(writer);
    }
    for (uint64_t f = 0; f < view->face_count && writer->status == CAROM_OK; ++f) {
        carom_writer_face(writer, view, f);
        carom_writer_end_line(writer);
    }
    return writer->status;
}
