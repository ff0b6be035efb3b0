/* SPDX-License-Identifier: MIT */
/* OBJ as vertices and lists of corners in two temporary files: text does not say where a face or a
 * vertex could be found again. The file is read in pieces that end with a line (mesh_obj.c). */
#include <inttypes.h>

#include "base/byte_order.h"
#include "base/item.h"
#include "base/progress.h"
#include "mesh/mesh_format.h"
#include "parts/parts.h"

#define PARTS_OBJ_PIECE ((uint64_t)4 << 20) /* bytes, unless a line is longer */

/* The end of the last line that no backslash continues; 0: there is none. */
static uint64_t parts_obj_lines(const uint8_t *bytes, uint64_t size) {
    for (uint64_t end = size; end > 0; --end) {
        if (bytes[end - 1] != '\n') continue;
        uint64_t before = end - 1;
        if (before > 0 && bytes[before - 1] == '\r') --before;
        if (before == 0 || bytes[before - 1] != '\\') return end;
    }
    return 0;
}

/* Writes what the builder holds, and empties it: low bytes first, so that their hash is
 * the same everywhere. */
static carom_status parts_obj_drain(carom_builder *builder, parts_input *input) {
    uint64_t bytes = builder->points.count * sizeof(*builder->points.data);
    if (input->swap) carom_reverse_numbers(builder->points.data, (size_t)bytes, sizeof(double));
    CAROM_TRY(carom_parts_write_at(&input->file, input->file.size, builder->points.data, bytes));
    input->file.size += bytes;
    uint64_t corners = builder->corners.count, faces = builder->face_count;
    /* Lists are u32 count, then u32 corners: made room for at the end of the corners, from behind,
     * so that none is overwritten before it is moved. */
    if (!carom_corners_reserve(&builder->corners, &builder->context->allocator, corners + faces))
        return carom_builder_fail_memory(builder);
    uint32_t *data = builder->corners.data;
    uint64_t to = corners + faces, end = corners;
    for (uint64_t f = faces; f-- > 0;) {
        uint64_t begin = builder->offsets.count != 0 ? builder->offsets.data[f] : 3 * f;
        uint64_t count = end - begin;
        to -= count;
        memmove(data + to, data + begin, (size_t)count * sizeof(*data));
        data[--to] = (uint32_t)count;
        end = begin;
    }
    CAROM_ASSERT(to == 0 && end == 0);
    bytes = (corners + faces) * sizeof(*data);
    if (input->swap) carom_reverse_numbers(data, (size_t)bytes, sizeof(*data));
    CAROM_TRY(carom_parts_write_at(&input->corners, input->corners.size, data, bytes));
    input->corners.size += bytes;
    input->list_count += faces;
    builder->points.count = builder->corners.count = builder->offsets.count = 0;
    builder->face_count = 0;
    return CAROM_OK;
}

/* A piece of the file, which grows where a line is longer. */
typedef struct parts_piece {
    uint8_t *bytes;
    uint64_t size, filled;
} parts_piece;

static carom_status parts_obj_fill(parts_job *job, const parts_file *file, uint64_t *offset,
                                   parts_piece *piece) {
    if (piece->filled == piece->size) {
        uint64_t larger = 2 * piece->size;
        uint8_t *bytes = carom_allocate(job->allocator, larger, 1);
        if (bytes == NULL) return carom_parts_fail_memory(job, larger, "a line of OBJ");
        memcpy(bytes, piece->bytes, (size_t)piece->filled);
        carom_release(job->allocator, piece->bytes);
        piece->bytes = bytes;
        piece->size = larger;
    }
    uint64_t size = CAROM_MIN(piece->size - piece->filled, file->size - *offset);
    CAROM_TRY(carom_parts_read_at(file, *offset, piece->bytes + piece->filled, size));
    *offset += size;
    piece->filled += size;
    job->report.bytes_read += size;
    carom_progress_add(job->context, 0, size);
    return carom_progress_look(job->context);
}

static carom_status parts_obj_read(parts_job *job, const parts_file *file, parts_piece *piece,
                                   carom_builder *builder, parts_input *input) {
    carom_obj_pieces pieces = {0};
    for (uint64_t offset = 0; offset < file->size || !pieces.begun;) {
        CAROM_TRY(parts_obj_fill(job, file, &offset, piece));
        bool is_last = offset == file->size;
        uint64_t end = is_last ? piece->filled : parts_obj_lines(piece->bytes, piece->filled);
        if (end == 0 && !is_last) continue;
        builder->reported = piece->bytes;
        carom_source source = {piece->bytes, end};
        CAROM_TRY(carom_read_obj_piece(builder, source, is_last, &pieces));
        if (builder->out_of_memory) return carom_builder_fail_memory(builder);
        CAROM_TRY(parts_obj_drain(builder, input));
        memmove(piece->bytes, piece->bytes + end, (size_t)(piece->filled - end));
        piece->filled -= end;
    }
    input->vertex_count = pieces.points;
    input->skipped = builder->skipped_faces;
    if (pieces.points > CAROM_MESH_MOST_VERTICES)
        return carom_fail(job->context, CAROM_TOO_LARGE,
                          "%s: %" PRIu64 " vertices, a mesh has at most %" PRIu32, input->name,
                          pieces.points, CAROM_MESH_MOST_VERTICES);
    return CAROM_OK;
}

carom_status carom_parts_read_obj(parts_job *job, parts_input *input) {
    parts_file file = input->file;
    parts_piece piece = {.size = PARTS_OBJ_PIECE};
    carom_builder builder = {.context = job->inner, .name = input->name};
    input->file = (parts_file){0};
    input->swap = !carom_is_little_endian();
    piece.bytes = carom_allocate(job->allocator, piece.size, 1);
    carom_status status =
        piece.bytes != NULL ? CAROM_OK : carom_parts_fail_memory(job, piece.size, "a piece of OBJ");
    if (status == CAROM_OK) status = carom_parts_temporary(job->context, job->folder, &input->file);
    if (status == CAROM_OK)
        status = carom_parts_temporary(job->context, job->folder, &input->corners);
    carom_progress_begin(job->context, "reading OBJ", file.size);
    if (status == CAROM_OK) {
        job->inner->message[0] = '\0';
        status = parts_obj_read(job, &file, &piece, &builder, input);
        if (job->inner->message[0] != '\0') status = carom_parts_fail_inner(job, status);
    }
    status = carom_progress_finish(job->context, status);
    carom_builder_release(&builder);
    carom_release(job->allocator, piece.bytes);
    carom_parts_close(&file);
    input->kind = PARTS_LISTS;
    input->scalar = CAROM_SCALAR_FLOAT64;
    input->stride = sizeof(carom_vec3);
    input->list_end = input->corners.size;
    input->count_type = input->corner_type = CAROM_PLY_UINT32;
    for (int i = 0; i < 3; ++i) {
        input->at[i] = (uint64_t)i * sizeof(double);
        input->types[i] = CAROM_PLY_FLOAT64;
    }
    return status;
}
