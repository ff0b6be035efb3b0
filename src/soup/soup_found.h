/* SPDX-License-Identifier: MIT */
/* soup_found.h: lists of pairs found, one per worker, and their merging into one result.
 *
 * A worker's list consists of chunks from the worker's own scratch. It grows without copying and is
 * released when the scratch is rewound. At the end all lists are sorted into one, so the result
 * does not depend on the order in which pairs were found. */
#ifndef CAROM_SRC_SOUP_SOUP_FOUND_H
#define CAROM_SRC_SOUP_SOUP_FOUND_H

#include "base/arena.h"
#include "base/array.h"

#define CAROM_SOUP_CHUNK 1022u

typedef struct carom_soup_chunk {
    struct carom_soup_chunk *next;
    uint64_t count;
    uint64_t pairs[CAROM_SOUP_CHUNK]; /* first face << 32 | second face */
} carom_soup_chunk;

typedef struct carom_soup_list {
    carom_arena *scratch;
    carom_soup_chunk *chunks; /* newest first */
    uint64_t count;
} carom_soup_list;

static inline void carom_soup_list_begin(carom_soup_list *list, carom_arena *scratch) {
    *list = (carom_soup_list){.scratch = scratch};
}

/* Adds an empty chunk; false if out of memory. */
bool carom_soup_list_grow(carom_soup_list *list);

static inline bool carom_soup_list_put(carom_soup_list *list, uint32_t first, uint32_t second) {
    if ((list->chunks == NULL || list->chunks->count == CAROM_SOUP_CHUNK) &&
        !carom_soup_list_grow(list))
        return false;
    list->chunks->pairs[list->chunks->count++] = (uint64_t)first << 32 | second;
    ++list->count;
    return true;
}

/* Copies the list and returns the end of the copy. */
uint64_t *carom_soup_list_copy(const carom_soup_list *list, uint64_t *to);

/* Sorts pairs. With `repeats` it also removes duplicates and corrects the count. */
carom_status carom_soup_sort_pairs(carom_context *context, uint64_t *pairs, uint64_t *count,
                                   bool repeats);

/* Copies sorted pairs into the result. */
carom_status carom_soup_fill_pairs(carom_context *context, const uint64_t *pairs, uint64_t count,
                                   carom_pairs *out);

#endif
