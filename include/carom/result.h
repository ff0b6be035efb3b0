/* SPDX-License-Identifier: MIT */
/* result.h: arrays that queries fill.
 *
 * All have the same four fields. There are two ways to use one:
 *   - Start with `{0}`: Carom owns the memory, grows it as needed and reuses it in the next call,
 *     so that repeated queries allocate nothing. Free it at the end with the type's _free.
 *   - Bring your own buffer: set data, capacity and owner = CAROM_OWNER_CALLER. The buffer is
 *     filled up to its capacity. When the result is larger, the call returns CAROM_MORE and `count`
 *     is the true number, larger than the capacity.
 *
 * These are a caller's bug, for queries and for _free alike:
 *   - a capacity without data;
 *   - where Carom owns the memory: data without a capacity, or a count larger than the capacity.
 */
#ifndef CAROM_RESULT_H
#define CAROM_RESULT_H

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whose the memory of a result array is. */
typedef enum carom_owner {
    CAROM_OWNER_CAROM = 0,
    CAROM_OWNER_CALLER = 1,
    CAROM_OWNER_COUNT
} carom_owner;

/* "carom", "caller". */
CAROM_API const char *carom_owner_name(carom_owner owner);
CAROM_API bool carom_owner_from_name(const char *name, carom_owner *owner);

/* Declares the result array `name` of `type` and its name_free. Freeing resets the array to `{0}`;
 * a caller's buffer is not freed. NULL is allowed. */
#define CAROM_RESULT_ARRAY(name, type)                                                             \
    typedef struct name {                                                                          \
        type *data;        /* the items */                                                         \
        uint64_t count;    /* of items; where it is larger than the capacity, the true number */   \
        uint64_t capacity; /* of the memory, in items */                                           \
        carom_owner owner; /* of the memory */                                                     \
    } name;                                                                                        \
    CAROM_API void name##_free(name *result)

/* Two faces, boxes, spheres or objects that meet. Pairs of a set with itself have a <= b. Lists are
 * sorted by (a, b) and hold no pair twice. */
typedef struct carom_pair {
    uint32_t a, b;
} carom_pair;

CAROM_RESULT_ARRAY(carom_pairs, carom_pair);

/* Vertex or face indices, or counts. */
CAROM_RESULT_ARRAY(carom_numbers, uint32_t);

/* The content of a file. */
CAROM_RESULT_ARRAY(carom_bytes, uint8_t);

/* Receives pairs in ascending order; return true to stop. */
typedef bool carom_pairs_fn(void *user, const carom_pair *pairs, uint64_t count);

#ifdef __cplusplus
}
#endif

#endif
