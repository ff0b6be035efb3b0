/* SPDX-License-Identifier: MIT */
/* encode.h: bytes on their way into files: checksums, base64, deflate and gzip, PNG. */
#ifndef CAROM_CLI_ENCODE_H
#define CAROM_CLI_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* CRC-32 of ISO 3309; begin with 0, and go on with what was returned. */
uint32_t encode_crc32(uint32_t crc, const void *bytes, size_t size);

/* Writes bytes as base64 (RFC 4648), in one line. */
void encode_base64(FILE *out, const void *bytes, size_t size);

/* Compresses to gzip; free with free(). False where the tool was built without zlib, or there is no
 * memory. */
bool encode_gzip(const void *bytes, size_t size, char **packed, size_t *packed_size);

/* Writes a PNG of width * height pixels of red, green and blue, row by row; false when there is no
 * memory. Without zlib it is not compressed. */
bool encode_png(FILE *out, const uint8_t *rgb, uint32_t width, uint32_t height);

#endif
