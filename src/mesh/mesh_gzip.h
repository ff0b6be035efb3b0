/* SPDX-License-Identifier: MIT */
/* mesh_gzip.h: gzip compression. Without zlib at build time, all functions return
 * CAROM_UNSUPPORTED. */
#ifndef CAROM_SRC_MESH_MESH_GZIP_H
#define CAROM_SRC_MESH_MESH_GZIP_H

#include "mesh/mesh_writer.h"

static inline bool carom_is_gzip(const uint8_t *bytes, uint64_t size) {
    return size >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
}

/* Unpacks into memory from the context's allocator. */
carom_status carom_gzip_unpack(carom_context *context, const char *name, const uint8_t *bytes,
                               uint64_t size, uint8_t **out, uint64_t *out_size);

/* Unpacks raw deflate data of a known size, as in a ZIP archive. False when the data are damaged,
 * have another size, or there is no zlib or no memory. */
bool carom_inflate(carom_context *context, const uint8_t *bytes, uint64_t size, uint8_t *out,
                   uint64_t out_size);

typedef struct carom_deflate carom_deflate;
typedef carom_status carom_put_fn(void *user, const uint8_t *bytes, size_t size);

carom_status carom_deflate_open(carom_context *context, const char *name, carom_deflate **deflate);
/* Passes compressed bytes to `put` as they are produced; `last` closes the stream. */
carom_status carom_deflate_write(carom_deflate *deflate, const uint8_t *bytes, size_t size,
                                 bool last, carom_put_fn *put, void *user);
void carom_deflate_close(carom_deflate *deflate); /* NULL is allowed */

#endif
