/* SPDX-License-Identifier: MIT */
/* Merging the workers' lists of pairs into one sorted list. */
#include "soup/soup_found.h"

#include "base/context.h"
#include "base/sort.h"

bool carom_soup_list_grow(carom_soup_list *list) {
    carom_soup_chunk *fresh = CAROM_ARENA_TAKE(list->scratch, carom_soup_chunk, 1);
    if (fresh == NULL) return false;
    fresh->next = list->chunks;
    fresh->count = 0;
    list->chunks = fresh;
    return true;
}

uint64_t *carom_soup_list_copy(const carom_soup_list *list, uint64_t *to) {
    for (const carom_soup_chunk *c = list->chunks; c != NULL; c = c->next) {
        memcpy(to, c->pairs, c->count * sizeof(*to));
        to += c->count;
    }
    return to;
}

carom_status carom_soup_sort_pairs(carom_context *context, uint64_t *pairs, uint64_t *count,
                                   bool repeats) {
    CAROM_TRY(carom_sort_words(context, pairs, *count, 0, 64));
    if (!repeats || *count == 0) return CAROM_OK;
    uint64_t kept = 1;
    for (uint64_t i = 1; i < *count; ++i)
        if (pairs[i] != pairs[i - 1]) pairs[kept++] = pairs[i];
    *count = kept;
    return CAROM_OK;
}

carom_status carom_soup_fill_pairs(carom_context *context, const uint64_t *pairs, uint64_t count,
                                   carom_pairs *out) {
    uint64_t room;
    CAROM_TRY(carom_pairs_begin(context, &context->allocator, out, count, &room));
    for (uint64_t i = 0; i < room; ++i)
        out->data[i] = (carom_pair){(uint32_t)(pairs[i] >> 32), (uint32_t)pairs[i]};
    return carom_pairs_end(out);
}
