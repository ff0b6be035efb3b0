/* SPDX-License-Identifier: MIT */
/* pair_list.h: lists of pairs found, one per worker, and their merging into one result.
 *
 * A worker's list consists of chunks from the worker's own scratch. It grows without copying and is
 * released when the scratch is rewound. At the end all lists are joined and sorted, so the result
 * does not depend on the order in which pairs were found. */
#ifndef CAROM_SRC_BASE_PAIR_LIST_H
#define CAROM_SRC_BASE_PAIR_LIST_H

#include "base/arena.h"
#include "base/array.h"

#define CAROM_PAIR_CHUNK 1022u /* with the two other members 8 KiB */

typedef struct carom_pair_chunk {
    struct carom_pair_chunk *next;
    uint64_t count;
    uint64_t pairs[CAROM_PAIR_CHUNK]; /* first << 32 | second */
} carom_pair_chunk;

typedef struct carom_pair_list {
    carom_arena *scratch;
    carom_pair_chunk *chunks; /* newest first */
    uint64_t count;
} carom_pair_list;

static inline void carom_pair_list_begin(carom_pair_list *list, carom_arena *scratch) {
    *list = (carom_pair_list){.scratch = scratch};
}

/* Adds an empty chunk; false if out of memory. */
bool carom_pair_list_grow(carom_pair_list *list);

static inline bool carom_pair_list_add(carom_pair_list *list, uint32_t first, uint32_t second) {
    if ((list->chunks == NULL || list->chunks->count == CAROM_PAIR_CHUNK) &&
        !carom_pair_list_grow(list))
        return false;
    CAROM_ASSERT(list->chunks->count < CAROM_PAIR_CHUNK);
    list->chunks->pairs[list->chunks->count++] = (uint64_t)first << 32 | second;
    ++list->count;
    return true;
}

/* Appends the pairs of another list without copying them. The other list must not change after. */
void carom_pair_list_join(carom_pair_list *list, const carom_pair_list *other);

/* Copies the pairs into scratch of worker 0 and sorts them there. With `repeats` it also removes
 * duplicates. */
carom_status carom_pair_list_sort(carom_context *context, const carom_pair_list *list, bool repeats,
                                  uint64_t **pairs, uint64_t *count);

/* Receives the sorted pairs of a search while they are in scratch. */
typedef carom_status carom_pair_finish_fn(carom_context *context, const uint64_t *pairs,
                                          uint64_t count, void *argument);

/* Copies sorted pairs into a result; the argument is a carom_pairs. */
carom_pair_finish_fn carom_pair_list_fill;

/* For asserts: whether pairs are sorted, none twice, each with its lower id first, and all ids are
 * below `ids`. */
static inline bool carom_pair_words_are_canonical(const uint64_t *pairs, uint64_t count,
                                                  uint32_t ids) {
    for (uint64_t i = 0; i < count; ++i) {
        if ((uint32_t)(pairs[i] >> 32) >= (uint32_t)pairs[i] || (uint32_t)pairs[i] >= ids)
            return false;
        if (i > 0 && pairs[i - 1] >= pairs[i]) return false;
    }
    return true;
}

/* For asserts: how many pairs two sorted lists have in common. */
static inline uint64_t carom_pair_words_in_common(const uint64_t *a, uint64_t count_a,
                                                  const uint64_t *b, uint64_t count_b) {
    uint64_t common = 0;
    for (uint64_t i = 0, j = 0; i < count_a && j < count_b;) {
        common += a[i] == b[j] ? 1 : 0;
        if (a[i] <= b[j])
            ++i;
        else
            ++j;
    }
    return common;
}

static inline carom_pair carom_pair_unpack(uint64_t pair) {
    return (carom_pair){(uint32_t)(pair >> 32), (uint32_t)pair};
}

#endif
