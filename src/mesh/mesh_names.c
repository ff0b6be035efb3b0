/* SPDX-License-Identifier: MIT */
/* Names of parts: their bytes one after another, and a hash table of indices beside them for
 * readers that look names up. The hash starts from an address, so that no file can force
 * collisions; the result does not depend on it. */
#include "mesh/mesh_names.h"

#include "mesh/mesh.h"

#define FEWEST_SLOTS 64u

/* A character as a name has it. */
static char clean(char c) {
    return carom_is_control((uint8_t)c) ? ' ' : c;
}

/* The finaliser of splitmix64 over the bytes. */
static uint64_t hash_name(const carom_names *names, const char *name, size_t length) {
    uint64_t z = (uint64_t)(uintptr_t)names;
    for (size_t i = 0; i < length; ++i) {
        z = (z ^ (uint8_t)clean(name[i])) + UINT64_C(0x9E3779B97F4A7C15);
        z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    }
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static bool mesh_names_is_same(const char *known, const char *name, size_t length) {
    for (size_t i = 0; i < length; ++i)
        if (known[i] != clean(name[i])) return false; /* also at the zero that ends `known` */
    return known[length] == '\0';
}

uint32_t carom_names_push(carom_names *names, const carom_allocator *allocator, const char *name,
                          size_t length) {
    uint64_t begin = names->bytes.count, index = names->begins.count;
    if (index >= CAROM_NAMES_FULL ||
        !carom_name_bytes_reserve(&names->bytes, allocator, begin + length + 1) ||
        !carom_name_begins_push(&names->begins, allocator, begin))
        return CAROM_NAMES_FULL;
    for (size_t i = 0; i < length; ++i) names->bytes.data[begin + i] = clean(name[i]);
    names->bytes.data[begin + length] = '\0';
    names->bytes.count = begin + length + 1;
    return (uint32_t)index;
}

/* The slot of the name, or the empty one where it belongs. */
static uint32_t *find_slot(const carom_names *names, const char *name, size_t length) {
    uint64_t slot = hash_name(names, name, length) & (names->slot_count - 1);
    while (names->slots[slot] != 0 &&
           !mesh_names_is_same(carom_names_get(names, names->slots[slot] - 1), name, length))
        slot = (slot + 1) & (names->slot_count - 1);
    return &names->slots[slot];
}

static bool double_slots(carom_names *names, const carom_allocator *allocator) {
    uint64_t count = CAROM_MAX(2 * names->slot_count, (uint64_t)FEWEST_SLOTS);
    uint32_t *slots = carom_allocate(allocator, count, sizeof(*slots));
    if (slots == NULL) return false;
    memset(slots, 0, count * sizeof(*slots));
    carom_release(allocator, names->slots);
    names->slots = slots;
    names->slot_count = count;
    for (uint32_t i = 0; i < names->begins.count; ++i) {
        const char *name = carom_names_get(names, i);
        *find_slot(names, name, strlen(name)) = i + 1;
    }
    return true;
}

uint32_t carom_names_find_or_add(carom_names *names, const carom_allocator *allocator,
                                 const char *name, size_t length, bool *is_new) {
    *is_new = false;
    if (2 * (names->begins.count + 1) > names->slot_count && !double_slots(names, allocator))
        return CAROM_NAMES_FULL;
    uint32_t *slot = find_slot(names, name, length);
    if (*slot != 0) return *slot - 1;
    uint32_t index = carom_names_push(names, allocator, name, length);
    if (index == CAROM_NAMES_FULL) return index;
    *slot = index + 1;
    *is_new = true;
    return index;
}

void carom_names_release(carom_names *names, const carom_allocator *allocator) {
    carom_name_bytes_release(&names->bytes, allocator);
    carom_name_begins_release(&names->begins, allocator);
    carom_release(allocator, names->slots);
    names->slots = NULL;
    names->slot_count = 0;
}

void carom_name_trim(const char **begin, const char **end) {
    while (*begin < *end && (**begin == ' ' || carom_is_control((uint8_t) * *begin))) ++*begin;
    while (*end > *begin && ((*end)[-1] == ' ' || carom_is_control((uint8_t)(*end)[-1]))) --*end;
}
