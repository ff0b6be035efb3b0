/* SPDX-License-Identifier: MIT */
/* Checksums, base64, gzip and PNG (ISO/IEC 15948). Where there is no zlib, deflate data (RFC 1951)
 * consist of stored blocks. */
#include "cli/encode.h"

#include <stdlib.h>
#include <string.h>

#ifdef CAROM_HAVE_ZLIB
#define ZLIB_CONST /* what is read is const */
#include <zlib.h>
#endif

uint32_t encode_crc32(uint32_t crc, const void *bytes, size_t size) {
    static uint32_t table[256];
    const unsigned char *at = bytes;
    if (table[255] == 0)
        for (uint32_t i = 0; i < 256; ++i) {
            uint32_t c = i;
            for (int k = 0; k < 8; ++k) c = c >> 1 ^ (c & 1 ? UINT32_C(0xEDB88320) : 0);
            table[i] = c;
        }
    crc = ~crc;
    for (size_t i = 0; i < size; ++i) crc = crc >> 8 ^ table[(crc ^ at[i]) & 0xFF];
    return ~crc;
}

void encode_base64(FILE *out, const void *bytes, size_t size) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *at = bytes;
    char line[4096];
    size_t used = 0;
    for (size_t i = 0; i < size; i += 3) {
        uint32_t three = (uint32_t)at[i] << 16;
        if (i + 1 < size) three |= (uint32_t)at[i + 1] << 8;
        if (i + 2 < size) three |= at[i + 2];
        line[used++] = letters[three >> 18];
        line[used++] = letters[three >> 12 & 63];
        line[used++] = i + 1 < size ? letters[three >> 6 & 63] : '=';
        line[used++] = i + 2 < size ? letters[three & 63] : '=';
        if (used < sizeof(line)) continue;
        (void)fwrite(line, 1, used, out);
        used = 0;
    }
    (void)fwrite(line, 1, used, out);
}

/* ---- Deflate --------------------------------------------------------------------------------- */

#ifdef CAROM_HAVE_ZLIB

#define WINDOW_BITS 15 /* the largest window */
#define GZIP_BITS   16 /* added to it: a gzip stream */
#define MEMORY      9  /* the most that zlib uses, for speed */

/* Compresses all at once; pieces, as zlib counts in 32 bits. */
static bool deflate_all(const void *bytes, size_t size, int bits, int level, char **packed,
                        size_t *packed_size) {
    const size_t piece = (size_t)1 << 30;
    z_stream z = {0};
    if (deflateInit2(&z, level, Z_DEFLATED, bits, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) return false;
    size_t capacity = size / 2 + 4096, used = 0;
    unsigned char *to = malloc(capacity), *larger = to;
    int state = Z_OK;
    for (size_t done = 0; larger != NULL && state != Z_STREAM_END;) {
        size_t in = size - done < piece ? size - done : piece;
        if (capacity - used < 4096) {
            larger = realloc(to, 2 * capacity);
            if (larger == NULL) break;
            to = larger;
            capacity *= 2;
        }
        size_t room = capacity - used < piece ? capacity - used : piece;
        z.next_in = (const Bytef *)bytes + done;
        z.avail_in = (uInt)in;
        z.next_out = to + used;
        z.avail_out = (uInt)room;
        state = deflate(&z, done + in == size ? Z_FINISH : Z_NO_FLUSH);
        done += in - z.avail_in;
        used += room - z.avail_out;
    }
    (void)deflateEnd(&z);
    if (larger == NULL) free(to);
    *packed = (char *)larger;
    *packed_size = used;
    return larger != NULL;
}

bool encode_gzip(const void *bytes, size_t size, char **packed, size_t *packed_size) {
    return deflate_all(bytes, size, WINDOW_BITS + GZIP_BITS, 9, packed, packed_size);
}

static bool deflate_picture(const uint8_t *bytes, size_t size, char **packed, size_t *packed_size) {
    return deflate_all(bytes, size, WINDOW_BITS, 6, packed, packed_size);
}

#else

bool encode_gzip(const void *bytes, size_t size, char **packed, size_t *packed_size) {
    (void)bytes, (void)size;
    *packed = NULL;
    *packed_size = 0;
    return false;
}

#define MOST_STORED 65535u /* bytes of a stored block */

/* The zlib format (RFC 1950) with stored blocks. */
static bool deflate_picture(const uint8_t *bytes, size_t size, char **packed, size_t *packed_size) {
    size_t blocks = size / MOST_STORED + 1, used = 0;
    unsigned char *to = malloc(size + 5 * blocks + 6);
    uint32_t low = 1, high = 0; /* Adler-32 */
    if (to == NULL) return false;
    to[used++] = 0x78;
    to[used++] = 0x01;
    for (size_t b = 0; b < blocks; ++b) {
        size_t from = b * MOST_STORED;
        size_t count = size - from < MOST_STORED ? size - from : MOST_STORED;
        to[used++] = b + 1 == blocks;
        to[used++] = (unsigned char)(count & 0xFF);
        to[used++] = (unsigned char)(count >> 8);
        to[used++] = (unsigned char)(~count & 0xFF);
        to[used++] = (unsigned char)(~count >> 8 & 0xFF);
        memcpy(to + used, bytes + from, count);
        used += count;
    }
    for (size_t i = 0; i < size; ++i) {
        low = (low + bytes[i]) % 65521;
        high = (high + low) % 65521;
    }
    for (int k = 0; k < 4; ++k) to[used++] = (unsigned char)((high << 16 | low) >> (24 - 8 * k));
    *packed = (char *)to;
    *packed_size = used;
    return true;
}

#endif

/* ---- PNG ------------------------------------------------------------------------------------- */

static void put_word(unsigned char *to, uint32_t value) {
    for (int k = 0; k < 4; ++k) to[k] = (unsigned char)(value >> (24 - 8 * k));
}

static void put_chunk(FILE *out, const char *name, const void *bytes, size_t size) {
    unsigned char word[4];
    put_word(word, (uint32_t)size);
    (void)fwrite(word, 1, 4, out);
    (void)fwrite(name, 1, 4, out);
    if (size != 0) (void)fwrite(bytes, 1, size, out);
    put_word(word, encode_crc32(encode_crc32(0, name, 4), bytes, size));
    (void)fwrite(word, 1, 4, out);
}

enum { FILTER_NONE, FILTER_LEFT, FILTER_UP, FILTERS };

/* Writes a row with the filter, and returns the sum of its values as signed numbers: the less, the
 * better it compresses. */
static uint64_t filter_row(int filter, const uint8_t *row, const uint8_t *above, size_t size,
                           uint8_t *to) {
    uint64_t sum = 0;
    *to++ = (uint8_t)filter;
    for (size_t i = 0; i < size; ++i) {
        uint8_t before = filter == FILTER_LEFT && i >= 3        ? row[i - 3]
                         : filter == FILTER_UP && above != NULL ? above[i]
                                                                : 0;
        to[i] = (uint8_t)(row[i] - before);
        sum += to[i] < 128 ? to[i] : 256u - to[i];
    }
    return sum;
}

bool encode_png(FILE *out, const uint8_t *rgb, uint32_t width, uint32_t height) {
    static const unsigned char magic[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    unsigned char head[13] = {[8] = 8, [9] = 2}; /* 8 bits of red, green and blue */
    size_t row_size = 3 * (size_t)width, size = (row_size + 1) * height, packed_size = 0;
    uint8_t *filtered = malloc(size + 1);
    char *packed = NULL;
    if (filtered == NULL) return false;
    for (uint32_t y = 0; y < height; ++y) {
        const uint8_t *row = rgb + y * row_size, *above = y > 0 ? row - row_size : NULL;
        uint8_t *to = filtered + y * (row_size + 1);
        uint64_t least = UINT64_MAX;
        int best = FILTER_NONE;
        for (int f = 0; f < FILTERS; ++f) {
            uint64_t sum = filter_row(f, row, above, row_size, to);
            if (sum < least) best = f;
            if (sum < least) least = sum;
        }
        (void)filter_row(best, row, above, row_size, to);
    }
    bool good = deflate_picture(filtered, size, &packed, &packed_size) && packed_size <= UINT32_MAX;
    if (good) {
        put_word(head, width);
        put_word(head + 4, height);
        (void)fwrite(magic, 1, sizeof(magic), out);
        put_chunk(out, "IHDR", head, sizeof(head));
        put_chunk(out, "IDAT", packed, packed_size);
        put_chunk(out, "IEND", NULL, 0);
    }
    free(filtered);
    free(packed);
    return good;
}
