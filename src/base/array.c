/* SPDX-License-Identifier: MIT */
/* Growth of arrays and result arrays.
 *
 * A result block starts with a cache line that holds a copy of its allocator, so that
 * carom_pairs_free needs no context and works after the context is destroyed. */
#include "base/array.h"

#include "base/names.h"

void *carom_array_grow(const carom_allocator *allocator, void *data, uint64_t count,
                       uint64_t needed, size_t size, uint64_t *capacity) {
    uint64_t larger = CAROM_MAX(needed, *capacity + *capacity / 2);
    CAROM_ASSERT(count <= needed && count <= CAROM_MAX(*capacity, count));
    larger = CAROM_MAX(larger, 16);
    CAROM_ASSERT(larger >= needed && larger > *capacity / 2);
    void *grown = carom_allocate(allocator, larger, size);
    if (grown == NULL) return NULL;
    if (count != 0) memcpy(grown, data, (size_t)count * size);
    carom_release(allocator, data);
    *capacity = larger;
    return grown;
}

void *carom_result_allocate(const carom_allocator *allocator, uint64_t count, size_t size) {
    if (size != 0 && count > (SIZE_MAX - CAROM_ALIGNMENT) / size) return NULL;
    char *block = carom_allocate(allocator, 1, (size_t)count * size + CAROM_ALIGNMENT);
    if (block == NULL) return NULL;
    memcpy(block, allocator, sizeof(*allocator));
    return block + CAROM_ALIGNMENT;
}

void carom_result_release(void *data) {
    if (data == NULL) return;
    char *block = (char *)data - CAROM_ALIGNMENT;
    carom_allocator allocator;
    memcpy(&allocator, block, sizeof(allocator));
    carom_release(&allocator, block);
}

bool carom_result_is_sound(const void *data, uint64_t count, uint64_t capacity, carom_owner owner) {
    if (owner == CAROM_OWNER_CALLER) return data != NULL || capacity == 0;
    return owner == CAROM_OWNER_CAROM && (data != NULL) == (capacity != 0) && count <= capacity;
}

CAROM_RESULT_DEFINE_FREE(carom_pairs);

CAROM_ENUM_NAMES(carom_owner, CAROM_OWNER_COUNT, "carom", "caller");
