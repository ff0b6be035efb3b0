/* SPDX-License-Identifier: MIT */
/* mesh_names.h: a growing list of names, which can be searched. */
#ifndef CAROM_SRC_MESH_MESH_NAMES_H
#define CAROM_SRC_MESH_MESH_NAMES_H

#include "base/array.h"

CAROM_ARRAY(carom_name_bytes, char);
CAROM_ARRAY(carom_name_begins, uint64_t);

/* Starts as {0}. Name i is the text at bytes.data + begins.data[i], terminated by zero. Where names
 * are only pushed there are no slots, and names may repeat. */
typedef struct carom_names {
    carom_name_bytes bytes;
    carom_name_begins begins;
    uint32_t *slots; /* open addressing, at most half full: the index of a name, plus one */
    uint64_t slot_count;
} carom_names;

#define CAROM_NAMES_FULL UINT32_MAX

static inline const char *carom_names_get(const carom_names *names, uint64_t index) {
    return names->bytes.data + names->begins.data[index];
}

/* Appends a name. Control characters become spaces. Returns its index, or CAROM_NAMES_FULL when
 * there is no memory. */
uint32_t carom_names_push(carom_names *names, const carom_allocator *allocator, const char *name,
                          size_t length);

/* The index of the name, which is appended if it is new; or CAROM_NAMES_FULL. *is_new says which.
 */
uint32_t carom_names_find_or_add(carom_names *names, const carom_allocator *allocator,
                                 const char *name, size_t length, bool *is_new);

void carom_names_release(carom_names *names, const carom_allocator *allocator);

/* Shortens [*begin, *end) by the blanks and control characters at both ends. */
void carom_name_trim(const char **begin, const char **end);

#endif
