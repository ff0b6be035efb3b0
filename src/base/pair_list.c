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

/* Lists up to this length, 1 MiB, stay in the second-level cache, where passes over all pairs cost
 * less than the digits that they save. */
#define PACK_MOST ((uint64_t)1 << 17)

static uint32_t pair_list_bits_of(uint32_t x) {
    return x == 0 ? 0 : 32 - (uint32_t)__builtin_clz(x);
}

/* Sorts pairs without the bits that no second index has: the digits between the two indices, which
 * are all zero, would be counted otherwise. */
static carom_status sort_packed(carom_context *context, uint64_t *pairs, uint64_t count) {
    uint64_t seen = 0;
    for (uint64_t i = 0; i < count; ++i) seen |= pairs[i];
    uint32_t bits = pair_list_bits_of((uint32_t)seen),
             all = bits + pair_list_bits_of((uint32_t)(seen >> 32));
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    for (uint64_t i = 0; i < count; ++i) pairs[i] = pairs[i] >> 32 << bits | (pairs[i] & mask);
    CAROM_TRY(carom_sort_words(context, pairs, count, 0, all));
    for (uint64_t i = 0; i < count; ++i) pairs[i] = pairs[i] >> bits << 32 | (pairs[i] & mask);
    return CAROM_OK;
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
    CAROM_TRY(*count <= PACK_MOST ? sort_packed(context, *pairs, *count)
                                  : carom_sort_words(context, *pairs, *count, 0, 64));
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
