/* SPDX-License-Identifier: MIT */
/* sort.h: stable radix sort on all threads of the context. */
#ifndef CAROM_SRC_BASE_SORT_H
#define CAROM_SRC_BASE_SORT_H

#include "carom/base.h"

/* Sorts keys ascending and moves payload[i] along with keys[i]; equal keys keep their order.
 * Scratch: 8 bytes per item, at most 16 for skewed keys, and less than 1 MB per thread. O(n). */
carom_status carom_sort_keys(carom_context *context, uint32_t *keys, uint32_t *payload,
                             uint64_t count);

/* Sorts words by their bits [first_bit, first_bit + bits) ascending; words with equal bits there
 * keep their order. With first_bit 0 and bits 64 this sorts integers; other bits may hold a
 * payload. Scratch and cost as above. */
carom_status carom_sort_words(carom_context *context, uint64_t *words, uint64_t count,
                              uint32_t first_bit, uint32_t bits);

/* The first index of sorted words that is not below `word`. */
static inline uint64_t carom_lower_bound(const uint64_t *words, uint64_t count, uint64_t word) {
    uint64_t low = 0, high = count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (words[middle] < word)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
