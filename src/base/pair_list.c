/* SPDX-License-Identifier: MIT */
/* Merging lists of pairs: chunks are linked, then copied once into the array that is sorted. */
#include "base/pair_list.h"

#include "base/context.h"
#include "base/sort.h"

bool carom_pair_list_grow(carom_pair_list *list) {
    carom_pair_chunk *fresh = CAROM_ARENA_TAKE(list->scratch, carom_pair_chunk, 1);
    if (fresh == NULL) return false;
    CAROM_ASSERT(list->chunks == NULL || list->chunks->count == CAROM_PAIR_CHUNK);
    fresh->next = list->chunks;
    fresh->count = 0;
    list->chunks = fresh;
    return true;
}

void carom_pair_list_join(carom_pair_list *list, const carom_pair_list *other) {
    carom_pair_chunk *last = other->chunks;
    CAROM_ASSERT(list != other && (other->chunks != NULL) == (other->count != 0));
    if (last == NULL) return;
    while (last->next != NULL) last = last->next;
    last->next = list->chunks;
    list->chunks = other->chunks;
    list->count += other->count;
}

/* Removes pairs equal to the one before and returns how many are left. */
static uint64_t remove_repeats(uint64_t *pairs, uint64_t count) {
    uint64_t kept = count != 0 ? 1 : 0;
    for (uint64_t i = 1; i < count; ++i)
        if (pairs[i] != pairs[i - 1]) pairs[kept++] = pairs[i];
    CAROM_ASSERT(kept <= count);
    return kept;
}

carom_status carom_pair_list_sort(carom_context *context, const carom_pair_list *list, bool repeats,
                                  uint64_t **pairs, uint64_t *count) {
    *count = list->count;
    *pairs = CAROM_ARENA_TAKE(carom_scratch(context, 0), uint64_t, list->count);
    if (*pairs == NULL)
        return carom_fail_memory(context, list->count * sizeof(**pairs), "the list of pairs");
    uint64_t *end = *pairs;
    for (const carom_pair_chunk *c = list->chunks; c != NULL; c = c->next) {
        CAROM_ASSERT(c->count <= CAROM_PAIR_CHUNK);
        CAROM_ASSERT(c->count <= *count - (uint64_t)(end - *pairs));
        memcpy(end, c->pairs, c->count * sizeof(*end));
        end += c->count;
    }
    CAROM_ASSERT((uint64_t)(end - *pairs) == *count);
    CAROM_TRY(carom_sort_words(context, *pairs, *count, 0, 64));
    if (repeats) *count = remove_repeats(*pairs, *count);
    return CAROM_OK;
}

carom_status carom_pair_list_fill(carom_context *context, const uint64_t *pairs, uint64_t count,
                                  void *argument) {
    carom_pairs *out = argument;
    uint64_t space;
    CAROM_TRY(carom_pairs_begin(context, &context->allocator, out, count, &space));
    for (uint64_t i = 0; i < space; ++i) out->data[i] = carom_pair_unpack(pairs[i]);
    return carom_pairs_end(out);
}
