/* SPDX-License-Identifier: MIT */
/* Temporary files, and streams of faces in them.
 *
 * All streams are in one file, in chunks of one size: a stream is a list of chunks, and what it
 * gives back others use. The file has no name, so nothing is left behind however the process ends.
 *
 * A face is: its id less the one before, shifted left by one bit, with the lowest bit set when it
 * has more than three corners, as a number of seven bits a byte; then, if so, the number of
 * corners; then the coordinates of each corner; then, if they are kept, the indices of its
 * vertices. Coordinates are kept rather than indices, so that a part needs nothing but its stream.
 *
 * Invariant: ids ascend in a stream. */
#include <errno.h>
#include <inttypes.h>

#include "base/item.h"
#include "base/platform.h"
#include "parts/parts.h"

/* ---- Files ----------------------------------------------------------------------------------- */

carom_status carom_parts_read_at(const parts_file *file, uint64_t offset, void *to, uint64_t size) {
    uint8_t *at = to;
    if (file->read != NULL) return file->read(file, offset, to, size);
    while (size != 0) {
        int64_t got = carom_os_read_at(file->descriptor, at, (size_t)size, offset);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0)
            return carom_fail(file->context, CAROM_IO, "%s: cannot be read: %s", file->name,
                              strerror(errno));
        if (got == 0)
            return carom_fail(file->context, CAROM_BAD_FILE,
                              "%s: byte %" PRIu64 ": the file ends, and had %" PRIu64
                              " bytes before; it must not change while it is read",
                              file->name, offset, file->size);
        at += got;
        offset += (uint64_t)got;
        size -= (uint64_t)got;
    }
    return CAROM_OK;
}

carom_status carom_parts_write_at(const parts_file *file, uint64_t offset, const void *from,
                                  uint64_t size) {
    const uint8_t *at = from;
    while (size != 0) {
        int64_t put = carom_os_write_at(file->descriptor, at, (size_t)size, offset);
        if (put < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (put <= 0)
            return carom_fail(file->context, CAROM_IO,
                              "%s: a temporary file of %" PRIu64
                              " bytes cannot grow: %s; name a folder with more space (folder of "
                              "the def, --temp), or set TMPDIR",
                              file->name, offset, put < 0 ? strerror(errno) : "nothing is written");
        at += put;
        offset += (uint64_t)put;
        size -= (uint64_t)put;
    }
    return CAROM_OK;
}

carom_status carom_parts_temporary(carom_context *context, const char *folder, parts_file *file) {
    *file = (parts_file){
        .context = context, .name = folder, .descriptor = carom_os_open_temporary(folder)};
    if (file->descriptor < 0)
        return carom_fail(
            context, CAROM_IO,
            "%s: no temporary file can be made there: %s; name another folder (folder "
            "of the def, --temp), or set TMPDIR",
            folder, strerror(errno));
    return CAROM_OK;
}

void carom_parts_close(parts_file *file) {
    if (file->name != NULL && file->descriptor >= 0) (void)carom_os_close(file->descriptor);
    file->name = NULL;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static carom_status parts_spill_out(parts_spill *spill, parts_stream *stream) {
    uint64_t offset = spill->end;
    if (spill->unused.count != 0)
        offset = spill->unused.data[--spill->unused.count];
    else
        spill->end += spill->chunk;
    if (!parts_offsets_push(&stream->chunks, spill->allocator, offset))
        return carom_fail_memory(spill->file.context, 8 * stream->chunks.count,
                                 "the chunks of a part");
    stream->used = 0;
    return carom_parts_write_at(&spill->file, offset, stream->buffer, spill->chunk);
}

static carom_status parts_spill_put(parts_spill *spill, parts_stream *stream, const void *from,
                                    uint64_t size) {
    const uint8_t *at = from;
    while (size != 0) {
        if (stream->used == spill->chunk) CAROM_TRY(parts_spill_out(spill, stream));
        uint64_t piece = CAROM_MIN(size, spill->chunk - stream->used);
        memcpy(stream->buffer + stream->used, at, (size_t)piece);
        stream->used += piece;
        at += piece;
        size -= piece;
    }
    return CAROM_OK;
}

static uint8_t *parts_spill_number(uint8_t *to, uint64_t number) {
    for (; number >= 0x80; number >>= 7) *to++ = (uint8_t)(number | 0x80);
    *to++ = (uint8_t)number;
    return to;
}

carom_status carom_parts_stream_add(parts_spill *spill, parts_stream *stream,
                                    const parts_face *face, carom_scalar scalar) {
    uint8_t head[20]; /* two numbers of ten bytes at most */
    CAROM_ASSERT(face->count >= 3 && (stream->faces == 0 || face->id > stream->last));
    if (stream->buffer == NULL) {
        stream->buffer = carom_allocate(spill->allocator, spill->chunk, 1);
        if (stream->buffer == NULL)
            return carom_fail_memory(spill->file.context, spill->chunk, "the buffer of a part");
    }
    uint64_t step = stream->faces == 0 ? face->id : face->id - stream->last;
    uint8_t *end = parts_spill_number(head, step << 1 | (face->count != 3 ? 1 : 0));
    if (face->count != 3) end = parts_spill_number(end, face->count);
    CAROM_TRY(parts_spill_put(spill, stream, head, (uint64_t)(end - head)));
    CAROM_TRY(parts_spill_put(spill, stream, face->positions,
                              3 * face->count * carom_scalar_size(scalar)));
    if (face->vertices != NULL)
        CAROM_TRY(
            parts_spill_put(spill, stream, face->vertices, face->count * sizeof(*face->vertices)));
    stream->last = face->id;
    stream->corners += face->count;
    ++stream->faces;
    return CAROM_OK;
}

carom_status carom_parts_stream_end(parts_spill *spill, parts_stream *stream) {
    carom_status status = CAROM_OK;
    if (stream->used != 0) {
        memset(stream->buffer + stream->used, 0, (size_t)(spill->chunk - stream->used));
        status = parts_spill_out(spill, stream);
    }
    carom_release(spill->allocator, stream->buffer);
    stream->buffer = NULL;
    return status;
}

void carom_parts_stream_release(parts_spill *spill, parts_stream *stream) {
    carom_release(spill->allocator, stream->buffer);
    /* Where there is no memory for the list of unused chunks, they stay unused. */
    for (uint64_t i = 0; i < stream->chunks.count; ++i)
        (void)parts_offsets_push(&spill->unused, spill->allocator, stream->chunks.data[i]);
    parts_offsets_release(&stream->chunks, spill->allocator);
    *stream = (parts_stream){0};
}

/* ---- Reading --------------------------------------------------------------------------------- */

carom_status carom_parts_stream_open(parts_spill *spill, const parts_stream *stream,
                                     carom_scalar scalar, bool indexed, const parts_cursor *from,
                                     parts_stream_reader *reader) {
    *reader = (parts_stream_reader){.spill = spill,
                                    .stream = stream,
                                    .scalar = scalar,
                                    .indexed = indexed,
                                    .at = {.left = stream->faces},
                                    .loaded = UINT64_MAX};
    if (from != NULL) reader->at = *from;
    reader->buffer = carom_allocate(spill->allocator, spill->chunk, 1);
    if (reader->buffer == NULL)
        return carom_fail_memory(spill->file.context, spill->chunk, "reading a part");
    return CAROM_OK;
}

static carom_status parts_stream_get(parts_stream_reader *reader, void *to, uint64_t size) {
    uint64_t chunk = reader->spill->chunk;
    uint8_t *at = to;
    while (size != 0) {
        if (reader->at.at == chunk) {
            ++reader->at.chunk;
            reader->at.at = 0;
        }
        if (reader->loaded != reader->at.chunk) {
            CAROM_ASSERT(reader->at.chunk < reader->stream->chunks.count);
            CAROM_TRY(carom_parts_read_at(&reader->spill->file,
                                          reader->stream->chunks.data[reader->at.chunk],
                                          reader->buffer, chunk));
            reader->loaded = reader->at.chunk;
        }
        uint64_t piece = CAROM_MIN(size, chunk - reader->at.at);
        memcpy(at, reader->buffer + reader->at.at, (size_t)piece);
        reader->at.at += piece;
        at += piece;
        size -= piece;
    }
    return CAROM_OK;
}

static carom_status parts_stream_number(parts_stream_reader *reader, uint64_t *number) {
    uint8_t byte = 0x80;
    *number = 0;
    for (uint32_t shift = 0; byte >= 0x80; shift += 7) {
        CAROM_TRY(parts_stream_get(reader, &byte, 1));
        *number |= (uint64_t)(byte & 0x7F) << shift;
    }
    return CAROM_OK;
}

static carom_status parts_stream_reserve(parts_stream_reader *reader, uint64_t count) {
    const carom_allocator *allocator = reader->spill->allocator;
    if (count <= reader->room) return CAROM_OK;
    CAROM_RELEASE_ALL(allocator, reader->positions, reader->vertices);
    reader->room = count;
    const carom_allocation arrays[] = {
        {&reader->positions, count, (size_t)(3 * carom_scalar_size(reader->scalar))},
        CAROM_ALLOCATION(reader->vertices, reader->indexed ? count : 0)};
    if (carom_allocate_all(allocator, arrays, 2)) return CAROM_OK;
    reader->room = 0;
    return carom_fail_memory(reader->spill->file.context, 28 * count, "a face of many corners");
}

carom_status carom_parts_stream_next(parts_stream_reader *reader, parts_face *face) {
    uint64_t head, count = 3;
    *face = (parts_face){0};
    if (reader->at.left == 0) return CAROM_OK;
    CAROM_TRY(parts_stream_number(reader, &head));
    if (head & 1) CAROM_TRY(parts_stream_number(reader, &count));
    CAROM_TRY(parts_stream_reserve(reader, count));
    CAROM_TRY(
        parts_stream_get(reader, reader->positions, 3 * count * carom_scalar_size(reader->scalar)));
    if (reader->indexed)
        CAROM_TRY(parts_stream_get(reader, reader->vertices, count * sizeof(*reader->vertices)));
    reader->at.last += (uint32_t)(head >> 1);
    --reader->at.left;
    *face = (parts_face){.id = reader->at.last,
                         .count = count,
                         .positions = reader->positions,
                         .vertices = reader->indexed ? reader->vertices : NULL};
    return CAROM_OK;
}

void carom_parts_stream_close(parts_stream_reader *reader) {
    CAROM_RELEASE_ALL(reader->spill->allocator, reader->buffer, reader->positions,
                      reader->vertices);
}
