/* SPDX-License-Identifier: MIT */
/* The faces of an input, one after another, with the coordinates of their corners.
 *
 * Lists of corners are read once from front to back, through a window. The vertices that they name
 * lie anywhere: blocks of them are kept, as many as the memory allows, each in the one slot that
 * its number leads to. Where all fit, each is read once; meshes whose faces lie near each other in
 * the file when they are near in space read few twice; a mesh in random order reads a block for
 * most corners.
 *
 * Invariant: ids are the indices that carom_mesh_load would give, as faces with fewer than three
 * corners are left out; with `fan` they are those of triangles. */
#include <inttypes.h>

#include "base/byte_order.h"
#include "base/item.h"
#include "base/progress.h"
#include "mesh/mesh_format.h"
#include "parts/parts.h"

#define PARTS_BLOCK         4096u /* vertices that are read at once */
#define PARTS_CACHE_SHARE   3u    /* the blocks of vertices take at most a third of the memory */
#define PARTS_FEWEST_SLOTS  4u
#define PARTS_FACET_BYTES   UINT64_C(50)
#define PARTS_FACES_A_LOOK  65536u /* faces between two checks for cancellation */
#define PARTS_LISTS_AT_ONCE 4096u  /* corners of one face that are read at once */

/* ---- Window ---------------------------------------------------------------------------------- */

static void parts_window_hash(parts_window *window, const uint8_t *bytes, uint64_t size) {
    uint64_t hash = *window->hash, word;
    for (uint64_t i = 0; i < size; i += sizeof(word)) {
        word = 0;
        memcpy(&word, bytes + i, (size_t)CAROM_MIN(sizeof(word), size - i));
        if (!carom_is_little_endian()) carom_reverse_numbers(&word, sizeof(word), sizeof(word));
        hash = carom_parts_hash(hash, word);
    }
    *window->hash = hash;
}

carom_status carom_parts_window_need(parts_window *window, uint64_t size) {
    uint64_t left = window->filled - window->at;
    CAROM_ASSERT(size <= PARTS_WINDOW);
    if (left >= size) return CAROM_OK;
    memmove(window->bytes, window->bytes + window->at, (size_t)left);
    window->at = 0;
    window->filled = left;
    uint64_t end = CAROM_MIN(window->end, window->file->size);
    uint64_t more = CAROM_MIN(PARTS_WINDOW - left, end - CAROM_MIN(window->offset, end));
    if (left + more < size)
        return carom_fail(window->file->context, CAROM_BAD_FILE,
                          "%s: byte %" PRIu64 ": the file ends inside its vertices or faces",
                          window->file->name, end);
    CAROM_TRY(carom_parts_read_at(window->file, window->offset, window->bytes + left, more));
    if (window->hash != NULL) parts_window_hash(window, window->bytes + left, more);
    *window->read += more;
    window->offset += more;
    window->filled += more;
    carom_progress_add(window->file->context, 0, more);
    return carom_progress_look(window->file->context);
}

/* ---- Vertices -------------------------------------------------------------------------------- */

static uint64_t parts_point_bytes(const parts_input *input) {
    return 3 * carom_scalar_size(input->scalar);
}

/* Reads a block of vertices into its slot, packed. */
static carom_status parts_reader_load(parts_reader *reader, uint64_t block, uint8_t *to) {
    const parts_input *input = reader->input;
    uint64_t first = block * PARTS_BLOCK;
    uint64_t count = CAROM_MIN((uint64_t)PARTS_BLOCK, input->vertex_count - first);
    CAROM_TRY(carom_parts_read_at(&input->file, input->vertex_offset + first * input->stride,
                                  reader->raw, count * input->stride));
    reader->job->report.bytes_read += count * input->stride;
    for (uint64_t i = 0; i < count; ++i)
        for (int a = 0; a < 3; ++a) {
            const uint8_t *from = reader->raw + i * input->stride + input->at[a];
            if (input->scalar == CAROM_SCALAR_FLOAT32) {
                uint32_t bits = carom_ply_load_u32(from, input->swap);
                memcpy(to + 4 * (3 * i + (uint64_t)a), &bits, sizeof(bits));
            } else {
                double x = carom_ply_load_number(from, input->types[a], input->swap);
                memcpy(to + 8 * (3 * i + (uint64_t)a), &x, sizeof(x));
            }
        }
    return CAROM_OK;
}

static carom_status parts_vertex(parts_reader *reader, uint32_t vertex, void *to) {
    const parts_input *input = reader->input;
    uint64_t bytes = parts_point_bytes(input), block = vertex / PARTS_BLOCK;
    uint64_t slot = block % reader->slots;
    uint8_t *at = reader->slot_bytes + slot * PARTS_BLOCK * bytes;
    if (reader->slot_block[slot] != block) {
        reader->slot_block[slot] = UINT32_MAX;
        CAROM_TRY(parts_reader_load(reader, block, at));
        reader->slot_block[slot] = (uint32_t)block;
    }
    memcpy(to, at + vertex % PARTS_BLOCK * bytes, (size_t)bytes);
    return CAROM_OK;
}

static carom_status parts_open_cache(parts_reader *reader) {
    const parts_input *input = reader->input;
    parts_job *job = reader->job;
    uint64_t bytes = PARTS_BLOCK * parts_point_bytes(input);
    uint64_t blocks = (input->vertex_count + PARTS_BLOCK - 1) / PARTS_BLOCK;
    uint64_t most = CAROM_MAX(job->memory.limit / PARTS_CACHE_SHARE / bytes, PARTS_FEWEST_SLOTS);
    reader->slots = CAROM_MAX(CAROM_MIN(blocks, most), UINT64_C(1));
    const carom_allocation arrays[] = {
        CAROM_ALLOCATION(reader->slot_block, reader->slots),
        CAROM_ALLOCATION(reader->slot_bytes, reader->slots * bytes),
        CAROM_ALLOCATION(reader->raw, PARTS_BLOCK * CAROM_MAX(input->stride, UINT64_C(1)))};
    if (!carom_allocate_all(job->allocator, arrays, 3))
        return carom_parts_fail_memory(job, reader->slots * bytes, "blocks of vertices");
    memset(reader->slot_block, 0xFF, (size_t)reader->slots * sizeof(*reader->slot_block));
    return CAROM_OK;
}

/* ---- Faces ----------------------------------------------------------------------------------- */

/* Makes room for the corners of a face. */
static carom_status parts_reserve(parts_reader *reader, uint64_t count) {
    parts_job *job = reader->job;
    if (count <= reader->room) return CAROM_OK;
    uint64_t room = CAROM_MAX(count, 2 * reader->room);
    uint32_t *vertices = carom_allocate(job->allocator, room, sizeof(*vertices));
    void *positions =
        carom_allocate(job->allocator, room, (size_t)parts_point_bytes(reader->input));
    if (vertices == NULL || positions == NULL) {
        CAROM_RELEASE_ALL(job->allocator, vertices, positions);
        return carom_parts_fail_memory(job, 28 * room, "a face of many corners");
    }
    if (reader->count != 0) {
        memcpy(vertices, reader->vertices, (size_t)reader->count * sizeof(*vertices));
        memcpy(positions, reader->positions,
               (size_t)(reader->count * parts_point_bytes(reader->input)));
    }
    CAROM_RELEASE_ALL(job->allocator, reader->vertices, reader->positions);
    reader->vertices = vertices;
    reader->positions = positions;
    reader->room = room;
    return CAROM_OK;
}

static uint8_t *parts_corner(const parts_reader *reader, uint64_t corner) {
    return (uint8_t *)reader->positions + corner * parts_point_bytes(reader->input);
}

/* Reads one corner of a list: its vertex, and where that is. */
static carom_status parts_read_corner(parts_reader *reader, const uint8_t *at) {
    const parts_input *input = reader->input;
    int64_t vertex = carom_ply_load_integer(at, input->corner_type, input->swap);
    if (vertex < 0 || (uint64_t)vertex >= input->vertex_count)
        return carom_fail(reader->job->context, CAROM_BAD_FILE,
                          "%s: face %" PRIu64 " names vertex %" PRId64 ", the file has %" PRIu64,
                          input->name, reader->next, vertex, input->vertex_count);
    reader->vertices[reader->count] = (uint32_t)vertex;
    CAROM_TRY(parts_vertex(reader, (uint32_t)vertex, parts_corner(reader, reader->count)));
    ++reader->count;
    return CAROM_OK;
}

static carom_status parts_read_list(parts_reader *reader) {
    const parts_input *input = reader->input;
    parts_window *window = &reader->window;
    uint64_t head = input->before + carom_ply_size(input->count_type);
    uint64_t size = carom_ply_size(input->corner_type);
    CAROM_TRY(carom_parts_window_need(window, head));
    int64_t given = carom_ply_load_integer(window->bytes + window->at + input->before,
                                           input->count_type, input->swap);
    window->at += head;
    if (given < 0)
        return carom_fail(reader->job->context, CAROM_BAD_FILE,
                          "%s: face %" PRIu64 " has a list of length %" PRId64, input->name,
                          reader->next, given);
    for (uint64_t left = (uint64_t)given; left != 0;) {
        uint64_t piece = CAROM_MIN(left, (uint64_t)PARTS_LISTS_AT_ONCE);
        CAROM_TRY(carom_parts_window_need(window, piece * size));
        CAROM_TRY(parts_reserve(reader, reader->count + piece));
        for (uint64_t i = 0; i < piece; ++i, window->at += size)
            CAROM_TRY(parts_read_corner(reader, window->bytes + window->at));
        left -= piece;
    }
    CAROM_TRY(carom_parts_window_need(window, input->after));
    window->at += input->after;
    return CAROM_OK;
}

static carom_status parts_read_facet(parts_reader *reader) {
    parts_window *window = &reader->window;
    CAROM_TRY(carom_parts_window_need(window, PARTS_FACET_BYTES));
    const uint8_t *at = window->bytes + window->at + 12; /* after the normal */
    float *to = reader->positions;
    for (uint64_t i = 0; i < 9; ++i)
        to[i] = (float)carom_ply_load_number(at + 4 * i, CAROM_PLY_FLOAT32, reader->input->swap);
    /* Each facet has three vertices of its own; beyond 2^32 of them the numbers repeat, which no
     * two facets of one part notice: they are only kept where vertices are not welded, and there
     * are fewer then (parts.c). */
    for (uint32_t i = 0; i < 3; ++i) reader->vertices[i] = (uint32_t)(3 * reader->next + i);
    reader->count = 3;
    window->at += PARTS_FACET_BYTES;
    return CAROM_OK;
}

static carom_status parts_read_view(parts_reader *reader) {
    const carom_mesh_view *view = reader->input->view;
    uint64_t begin = carom_mesh_offset(view, reader->next), end;
    end = carom_mesh_offset(view, reader->next + 1);
    CAROM_TRY(parts_reserve(reader, end - begin));
    for (uint64_t c = begin; c < end; ++c) {
        uint32_t vertex = view->corners[c];
        reader->vertices[c - begin] = vertex;
        memcpy(parts_corner(reader, c - begin), carom_mesh_vertex(view, vertex),
               (size_t)parts_point_bytes(reader->input));
        if (reader->hash != NULL) *reader->hash = carom_parts_hash(*reader->hash, vertex);
    }
    reader->count = end - begin;
    if (reader->hash != NULL) *reader->hash = carom_parts_hash(*reader->hash, reader->count);
    if (reader->next % PARTS_FACES_A_LOOK == 0) return carom_progress_look(reader->job->context);
    return CAROM_OK;
}

/* ---- Reader ---------------------------------------------------------------------------------- */

carom_status carom_parts_reader_open(parts_job *job, parts_input *input, uint64_t *hash,
                                     parts_reader *reader) {
    *reader = (parts_reader){.job = job, .input = input, .hash = hash, .last = input->list_count};
    if (input->kind == PARTS_EMPTY) return CAROM_OK;
    CAROM_TRY(parts_reserve(reader, 16));
    if (input->kind == PARTS_VIEW) return CAROM_OK;
    reader->window =
        (parts_window){.file = input->corners.name != NULL ? &input->corners : &input->file,
                       .bytes = carom_allocate(job->allocator, PARTS_WINDOW, 1),
                       .offset = input->list_offset,
                       .end = input->list_end,
                       .hash = hash,
                       .read = &job->report.bytes_read};
    if (reader->window.bytes == NULL)
        return carom_parts_fail_memory(job, PARTS_WINDOW, "reading faces");
    return input->kind == PARTS_LISTS ? parts_open_cache(reader) : CAROM_OK;
}

carom_status carom_parts_reader_set_range(parts_reader *reader, uint64_t first, uint64_t last) {
    const parts_input *input = reader->input;
    uint64_t bytes = PARTS_FACET_BYTES;
    CAROM_ASSERT(first <= last && last <= input->list_count);
    if (input->kind == PARTS_LISTS)
        bytes = input->before + input->after + carom_ply_size(input->count_type) +
                3 * carom_ply_size(input->corner_type);
    if (input->kind == PARTS_LISTS &&
        (input->corners.name != NULL ||
         input->list_end - input->list_offset != bytes * input->list_count))
        return carom_fail(reader->job->context, CAROM_UNSUPPORTED,
                          "%s: not a binary file of triangles alone, in which each has its place; "
                          "convert it first (carom convert --triangulate)",
                          input->name);
    reader->next = reader->id = first;
    reader->last = last;
    if (input->kind != PARTS_VIEW) reader->window.offset = input->list_offset + bytes * first;
    if (input->kind != PARTS_VIEW) reader->window.end = input->list_offset + bytes * last;
    return CAROM_OK;
}

void carom_parts_reader_close(parts_reader *reader) {
    CAROM_RELEASE_ALL(reader->job->allocator, reader->window.bytes, reader->vertices,
                      reader->positions, reader->slot_block, reader->slot_bytes, reader->raw);
}

/* After the last list only padding may follow, as for carom_mesh_load. */
static carom_status parts_check_end(parts_reader *reader) {
    const parts_input *input = reader->input;
    parts_window *window = &reader->window;
    if (input->kind != PARTS_LISTS || input->corners.name != NULL) return CAROM_OK;
    uint64_t least = input->before + input->after + carom_ply_size(input->count_type) +
                     3 * carom_ply_size(input->corner_type);
    uint64_t left = window->filled - window->at, beyond = window->end - window->offset;
    const uint8_t *at = window->bytes + window->at;
    if (input->list_count == 0 ||
        (left + beyond < least && beyond == 0 && carom_is_padding(at, at + left)))
        return CAROM_OK;
    return carom_fail(reader->job->context, CAROM_BAD_FILE,
                      "%s: byte %" PRIu64 ": %" PRIu64 " bytes follow the last of the %" PRIu64
                      " of element face that the header promises; correct its counts, or cut the "
                      "file there",
                      input->name, window->offset - left, left + beyond, input->list_count);
}

/* The next polygon, with three corners or more; a count of 0 after the last. */
static carom_status parts_next_polygon(parts_reader *reader) {
    const parts_input *input = reader->input;
    for (reader->count = 0; reader->count < 3;) {
        reader->count = 0;
        if (reader->next == reader->last)
            return reader->last == input->list_count ? parts_check_end(reader) : CAROM_OK;
        if (input->kind == PARTS_LISTS)
            CAROM_TRY(parts_read_list(reader));
        else if (input->kind == PARTS_FACETS)
            CAROM_TRY(parts_read_facet(reader));
        else
            CAROM_TRY(parts_read_view(reader));
        ++reader->next;
        reader->skipped += reader->count < 3;
    }
    return CAROM_OK;
}

/* Triangle `fan` of the polygon: corners 0, fan, fan + 1. */
static void parts_fan(parts_reader *reader, parts_face *face) {
    uint64_t bytes = parts_point_bytes(reader->input);
    const uint64_t from[3] = {0, reader->fan, reader->fan + 1};
    for (int i = 0; i < 3; ++i) {
        reader->fan_vertices[i] = reader->vertices[from[i]];
        memcpy((uint8_t *)reader->fan_positions + (uint64_t)i * bytes,
               parts_corner(reader, from[i]), (size_t)bytes);
    }
    face->count = 3;
    face->positions = reader->fan_positions;
    face->vertices = reader->fan_vertices;
    reader->fan = reader->fan + 2 < reader->count ? reader->fan + 1 : 0;
}

carom_status carom_parts_reader_next(parts_reader *reader, parts_face *face) {
    *face = (parts_face){0};
    if (reader->input->kind == PARTS_EMPTY) return CAROM_OK;
    if (reader->fan == 0) {
        CAROM_TRY(parts_next_polygon(reader));
        if (reader->count == 0) return CAROM_OK;
        if (reader->job->def->fan && reader->count > 3) reader->fan = 1;
    }
    if (reader->id >= PARTS_MOST_FACES)
        return carom_parts_fail_faces(reader->job, reader->input->name);
    face->id = (uint32_t)reader->id++;
    if (reader->fan != 0) {
        parts_fan(reader, face);
    } else {
        face->count = reader->count;
        face->positions = reader->positions;
        face->vertices = reader->vertices;
    }
    if (!reader->job->def->no_weld) face->vertices = NULL;
    return CAROM_OK;
}
