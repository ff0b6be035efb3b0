/* SPDX-License-Identifier: MIT */
/* sort_cpu.h: the loops of the radix sort, one version per instruction set. */
#ifndef CAROM_SRC_BASE_SORT_CPU_H
#define CAROM_SRC_BASE_SORT_CPU_H

#include "base/isa.h"

/* The widest digit a scatter may use: 2^10 open cache lines are 64 KiB, a small part of any
 * second-level cache. 32-bit keys then leave 22 bits, two passes inside the cache. */
#define CAROM_SORT_DIGIT_BITS 10
#define CAROM_SORT_DIGITS     (1u << CAROM_SORT_DIGIT_BITS)

/* Buckets of at most this many words are sorted by one thread: twice 1 MiB, about a second-level
 * cache. Larger ones are split again, in several loops on all threads. Cloths of 4 and 12 million
 * triangles take the same time with 2^17 and 2^18, and 3 % more with 2^15. */
#define CAROM_SORT_BUCKET ((uint64_t)1 << 17)

/* Where items come from or go to: words, or keys and payload when words is NULL. A key with its
 * payload is the word payload << 32 | key. */
typedef struct carom_sort_items {
    uint64_t *words;
    uint32_t *keys, *payload;
} carom_sort_items;

/* Bits in which items [begin, end) differ from the first of all items. */
CAROM_CPU_DECLARE(uint64_t, carom_sort_differences, carom_sort_items items, uint64_t begin,
                  uint64_t end);

/* counts[d] += items of [begin, end) with digit d = bits [shift, shift + bits). */
CAROM_CPU_DECLARE(void, carom_sort_count, carom_sort_items items, uint64_t begin, uint64_t end,
                  uint32_t shift, uint32_t bits, uint64_t *counts);

/* Moves items [begin, end) to `to`, those of digit d from offsets[d] on, in order; offsets are
 * advanced. `lines` has space for one cache line per digit, aligned to 64. `stream`: `to` does not
 * fit the caches. */
CAROM_CPU_DECLARE(void, carom_sort_scatter, carom_sort_items items, uint64_t begin, uint64_t end,
                  uint32_t shift, uint32_t bits, uint64_t *offsets, uint64_t *lines, bool stream,
                  uint64_t *to);

/* Sorts `count` words (at most CAROM_SORT_BUCKET) by bits [shift, shift + bits) into items [begin,
 * begin + count) of `to`. words is overwritten; spare has the same size. */
CAROM_CPU_DECLARE(void, carom_sort_bucket, uint64_t *words, uint64_t *spare, uint64_t count,
                  uint32_t shift, uint32_t bits, carom_sort_items to, uint64_t begin);

#endif
