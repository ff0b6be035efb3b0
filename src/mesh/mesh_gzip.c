/* SPDX-License-Identifier: MIT */
/* gzip through zlib, using the context's allocator.
 *
 * A few bytes can unpack to a thousand times as many. So memory grows with the bytes actually
 * unpacked, and a large file whose ratio exceeds what meshes reach is refused. */
#include "mesh/mesh_gzip.h"

#include <inttypes.h>

#include "base/context.h"
#include "base/file.h"
#include "base/item.h"
#include "base/progress.h"

#ifdef CAROM_HAVE_ZLIB
#define ZLIB_CONST /* what is read is const */
#include <zlib.h>

#define GZIP_WINDOW       (1 << 15) /* bytes: deflate refers back as far, and zlib keeps them */
#define GZIP_LEAST_OUTPUT (UINT64_C(4096)) /* bytes: a page */

/* The text of a mesh shrinks to a third or a tenth. Data beyond both this size and this ratio are
 * taken for a decompression bomb. */
#define TRAP_SIZE  ((uint64_t)256 << 20)
#define TRAP_RATIO 256u
#define MESH_GZIP_BYTES_PER_REPORT                                                                 \
    ((size_t)1 << 20) /* bytes between two reports; zlib counts in 32 bits */
#define GZIP_ONLY (15 + 16)
#define RAW       (-15) /* without any header */

static void *zlib_allocate(void *user, uInt count, uInt size) {
    return carom_allocate(user, count, size);
}

static void zlib_release(void *user, void *pointer) {
    carom_release(user, pointer);
}

/* ---- Unpacking ------------------------------------------------------------------------------- */

typedef struct unpacking {
    carom_context *context;
    const char *name;
    z_stream stream;
    uint64_t size; /* compressed size */
    uint8_t *out;
    uint64_t used, capacity;
} unpacking;

/* Grows the output: to twice the compressed size at first, then by half each time. */
static carom_status mesh_gzip_grow(unpacking *u) {
    if (u->used >= TRAP_SIZE && u->used / TRAP_RATIO > u->size)
        return carom_fail(u->context, CAROM_TOO_LARGE,
                          "%s: %" PRIu64 " bytes unpack to more than %" PRIu64
                          ", which no mesh does; unpack it first if it is one",
                          u->name, u->size, u->used);
    if (u->used > u->context->input_limit) return carom_file_fail_limit(u->context, u->name);
    uint64_t capacity = CAROM_MAX(2 * u->size, GZIP_LEAST_OUTPUT);
    capacity = CAROM_MAX(capacity, u->capacity + u->capacity / 2);
    uint8_t *out = carom_allocate(&u->context->allocator, capacity, 1);
    if (out == NULL) return carom_fail_memory(u->context, capacity, "an unpacked file");
    if (u->used != 0) memcpy(out, u->out, (size_t)u->used);
    carom_release(&u->context->allocator, u->out);
    u->out = out;
    u->capacity = capacity;
    return CAROM_OK;
}

static carom_status fail_stream(const unpacking *u, uint64_t at, const char *reason) {
    return carom_fail(u->context, CAROM_BAD_FILE, "%s: byte %" PRIu64 " of the gzip data: %s",
                      u->name, at, reason);
}

static carom_status fail_rest(const unpacking *u, uint64_t at) {
    return carom_fail(u->context, CAROM_BAD_FILE,
                      "%s: byte %" PRIu64 " of the gzip data: %" PRIu64
                      " bytes follow that are not compressed; cut the file there, or compress all "
                      "of it",
                      u->name, at, u->size - at);
}

static carom_status unpack(unpacking *u, const uint8_t *bytes) {
    z_stream *stream = &u->stream;
    uint64_t given = 0;
    while (!carom_progress_cancelled(u->context)) {
        if (stream->avail_in == 0) {
            stream->next_in = bytes + given;
            stream->avail_in = (uInt)CAROM_MIN(u->size - given, MESH_GZIP_BYTES_PER_REPORT);
            given += stream->avail_in;
            carom_progress_add(u->context, 0, stream->avail_in);
        }
        if (u->used == u->capacity) CAROM_TRY(mesh_gzip_grow(u));
        uInt space = (uInt)CAROM_MIN(u->capacity - u->used, MESH_GZIP_BYTES_PER_REPORT);
        stream->next_out = u->out + u->used;
        stream->avail_out = space;
        int code = inflate(stream, Z_NO_FLUSH);
        u->used += space - stream->avail_out;
        carom_progress_add(u->context, 0, 0); /* a few bytes may unpack to many */
        uint64_t at = given - stream->avail_in;
        if (code == Z_STREAM_END) { /* another member may follow, or zeros as padding */
            if (!carom_is_gzip(bytes + at, u->size - at)) {
                for (uint64_t i = at; i < u->size; ++i)
                    if (bytes[i] != 0) return fail_rest(u, at);
                return CAROM_OK;
            }
            if (inflateReset(stream) != Z_OK) return fail_stream(u, at, "zlib failed");
        } else if (code == Z_MEM_ERROR) {
            return carom_fail_memory(u->context, GZIP_WINDOW, "unpacking");
        } else if (code == Z_BUF_ERROR || code == Z_OK) {
            if (at == u->size && stream->avail_out != 0)
                return fail_stream(u, at, "the data end too early");
        } else {
            return fail_stream(u, at, stream->msg != NULL ? stream->msg : "the data are damaged");
        }
    }
    return CAROM_OK; /* carom_progress_end reports the cancellation */
}

carom_status carom_gzip_unpack(carom_context *context, const char *name, const uint8_t *bytes,
                               uint64_t size, uint8_t **out, uint64_t *out_size) {
    unpacking u = {.context = context, .name = name, .size = size};
    u.stream.zalloc = zlib_allocate;
    u.stream.zfree = zlib_release;
    u.stream.opaque = &context->allocator;
    if (inflateInit2(&u.stream, GZIP_ONLY) != Z_OK)
        return carom_fail_memory(context, GZIP_WINDOW, "unpacking");
    carom_progress_begin(context, "unpacking a file", size);
    carom_status status = unpack(&u, bytes);
    carom_status ended = carom_progress_end(context);
    if (ended != CAROM_OK) status = ended;
    (void)inflateEnd(&u.stream);
    if (status != CAROM_OK) {
        carom_release(&context->allocator, u.out);
        return status;
    }
    *out = u.out;
    *out_size = u.used;
    return CAROM_OK;
}

bool carom_inflate(carom_context *context, const uint8_t *bytes, uint64_t size, uint8_t *out,
                   uint64_t out_size) {
    z_stream stream = {
        .zalloc = zlib_allocate, .zfree = zlib_release, .opaque = &context->allocator};
    if (inflateInit2(&stream, RAW) != Z_OK) return false;
    uint64_t given = 0, space = out_size;
    int code = Z_OK;
    while (code == Z_OK) {
        if (stream.avail_in == 0) {
            stream.next_in = bytes + given;
            stream.avail_in = (uInt)CAROM_MIN(size - given, MESH_GZIP_BYTES_PER_REPORT);
            given += stream.avail_in;
        }
        if (stream.avail_out == 0) {
            stream.next_out = out + (out_size - space);
            stream.avail_out = (uInt)CAROM_MIN(space, MESH_GZIP_BYTES_PER_REPORT);
            space -= stream.avail_out;
        }
        code = inflate(&stream, Z_NO_FLUSH); /* Z_BUF_ERROR when neither side has any left */
    }
    bool whole = code == Z_STREAM_END && space == 0 && stream.avail_out == 0;
    (void)inflateEnd(&stream);
    return whole;
}

/* ---- Packing --------------------------------------------------------------------------------- */

struct carom_deflate {
    carom_context *context;
    z_stream stream;
    uint8_t out[GZIP_WINDOW];
};

carom_status carom_deflate_open(carom_context *context, const char *name, carom_deflate **out) {
    (void)name;
    carom_deflate *deflate = carom_allocate(&context->allocator, 1, sizeof(*deflate));
    if (deflate == NULL) return carom_fail_memory(context, sizeof(*deflate), "packing");
    deflate->context = context;
    memset(&deflate->stream, 0, sizeof(deflate->stream));
    deflate->stream.zalloc = zlib_allocate;
    deflate->stream.zfree = zlib_release;
    deflate->stream.opaque = &context->allocator;
    if (deflateInit2(&deflate->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_ONLY, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        carom_release(&context->allocator, deflate);
        return carom_fail_memory(context, 1 << 18, "packing");
    }
    *out = deflate;
    return CAROM_OK;
}

carom_status carom_deflate_write(carom_deflate *d, const uint8_t *bytes, size_t size, bool last,
                                 carom_put_fn *put, void *user) {
    d->stream.next_in = bytes;
    d->stream.avail_in = (uInt)size;
    do {
        d->stream.next_out = d->out;
        d->stream.avail_out = sizeof(d->out);
        (void)deflate(&d->stream, last ? Z_FINISH : Z_NO_FLUSH);
        CAROM_TRY(put(user, d->out, sizeof(d->out) - d->stream.avail_out));
    } while (d->stream.avail_out == 0);
    return CAROM_OK;
}

void carom_deflate_close(carom_deflate *d) {
    if (d == NULL) return;
    (void)deflateEnd(&d->stream);
    carom_release(&d->context->allocator, d);
}

#else

static carom_status fail_without(carom_context *context, const char *name) {
    return carom_fail(
        context, CAROM_UNSUPPORTED,
        "%s: gzip needs zlib, and this build was made without it; use gzip itself, or "
        "build where zlib is installed",
        name);
}

carom_status carom_gzip_unpack(carom_context *context, const char *name, const uint8_t *bytes,
                               uint64_t size, uint8_t **out, uint64_t *out_size) {
    (void)bytes;
    (void)size;
    (void)out;
    (void)out_size;
    return fail_without(context, name);
}

bool carom_inflate(carom_context *context, const uint8_t *bytes, uint64_t size, uint8_t *out,
                   uint64_t out_size) {
    (void)context;
    (void)bytes;
    (void)size;
    (void)out;
    (void)out_size;
    return false;
}

carom_status carom_deflate_open(carom_context *context, const char *name, carom_deflate **deflate) {
    (void)deflate;
    return fail_without(context, name);
}

carom_status carom_deflate_write(carom_deflate *deflate, const uint8_t *bytes, size_t size,
                                 bool last, carom_put_fn *put, void *user) {
    (void)deflate;
    (void)bytes;
    (void)size;
    (void)last;
    (void)put;
    (void)user;
    return CAROM_UNSUPPORTED;
}

void carom_deflate_close(carom_deflate *deflate) {
    (void)deflate;
}

#endif
