/* SPDX-License-Identifier: MIT */
/* digest.h: seeded inputs for the shared items, by the million, and their digests on the CPU. */
#ifndef CAROM_TESTS_DIGEST_H
#define CAROM_TESTS_DIGEST_H

#include "carom/geom.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DIGEST_KINDS 3 /* of pairs: lattice, near, random (triangle_pairs.h) */
extern const char *const digest_kind_names[DIGEST_KINDS];

typedef struct digest_pair_of_triangles {
    carom_triangle a, b;
} digest_pair_of_triangles;

/* Pairs are made in blocks with seeds of their own, so that any part can be made anywhere. */
#define DIGEST_BLOCK 4096u

/* Makes the pairs [first, first + count) of a kind, on all threads. first is a multiple of
 * DIGEST_BLOCK. */
void digest_make_pairs(carom_context *context, int kind, uint64_t first, uint64_t count,
                       digest_pair_of_triangles *pairs);

/* The sum of the digests of the first `count` pairs of a kind. */
uint64_t digest_of_pairs(carom_context *context, int kind, uint64_t count);

/* The line in tests/golden/items.txt for that many pairs. */
void digest_name(char *name, size_t size, int kind, uint64_t count);

/* How many pairs the short and the long comparison take. */
#define DIGEST_SHORT 100000u
#define DIGEST_LONG  10000000u

#ifdef __cplusplus
}
#endif

#endif
