/* SPDX-License-Identifier: MIT */
/* UUIDs of version 5: the first 16 bytes of the SHA-1 (FIPS 180-4) of the namespace and the name,
 * with six bits that say so. SHA-1 serves as a hash here, not as a seal. */
#include "cli/guid.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct sha1 {
    uint32_t h[5];
    unsigned char block[64];
    size_t used;
    uint64_t bytes;
} sha1;

static uint32_t rotate(uint32_t x, int by) {
    return x << by | x >> (32 - by);
}

static void add_block(sha1 *s) {
    uint32_t w[80], a = s->h[0], b = s->h[1], c = s->h[2], d = s->h[3], e = s->h[4];
    for (int i = 0; i < 16; ++i)
        w[i] = (uint32_t)s->block[4 * i] << 24 | (uint32_t)s->block[4 * i + 1] << 16 |
               (uint32_t)s->block[4 * i + 2] << 8 | s->block[4 * i + 3];
    for (int i = 16; i < 80; ++i) w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (int i = 0; i < 80; ++i) {
        uint32_t f = i < 20   ? (b & c) | (~b & d)
                     : i < 40 ? b ^ c ^ d
                     : i < 60 ? (b & c) | (b & d) | (c & d)
                              : b ^ c ^ d;
        static const uint32_t k[4] = {0x5A827999u, 0x6ED9EBA1u, 0x8F1BBCDCu, 0xCA62C1D6u};
        uint32_t t = rotate(a, 5) + f + e + k[i / 20] + w[i];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = t;
    }
    s->h[0] += a;
    s->h[1] += b;
    s->h[2] += c;
    s->h[3] += d;
    s->h[4] += e;
    s->used = 0;
}

static void add(sha1 *s, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; ++i) {
        s->block[s->used++] = at[i];
        ++s->bytes;
        if (s->used == sizeof(s->block)) add_block(s);
    }
}

static void end(sha1 *s, unsigned char digest[20]) {
    uint64_t bits = 8 * s->bytes;
    unsigned char length[8];
    for (int i = 0; i < 8; ++i) length[i] = (unsigned char)(bits >> (56 - 8 * i));
    add(s, "\x80", 1);
    while (s->used != 56) add(s, "", 1);
    add(s, length, 8);
    for (int i = 0; i < 20; ++i) digest[i] = (unsigned char)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void guid_make(const unsigned char space[16], const void *name, size_t size, char guid[GUID_SIZE]) {
    sha1 s = {.h = {0x67452301u, 0xEFCDAB89u, 0x98BADCFEu, 0x10325476u, 0xC3D2E1F0u}};
    unsigned char d[20];
    add(&s, space, 16);
    add(&s, name, size);
    end(&s, d);
    d[6] = (unsigned char)((d[6] & 0x0F) | 0x50); /* version 5 */
    d[8] = (unsigned char)((d[8] & 0x3F) | 0x80); /* the variant of the RFC */
    char *to = guid;
    for (int i = 0; i < 16; ++i) {
        to += snprintf(to, 4, "%02x", d[i]);
        if (i == 3 || i == 5 || i == 7 || i == 9) *to++ = '-';
    }
    *to = '\0';
}
