/* SPDX-License-Identifier: MIT */
/* array.h: growing arrays and result arrays, typed by macro.
 *
 *   CAROM_ARRAY(carom_edges, carom_edge)   the struct {data, count, capacity} and
 *                                          carom_edges_reserve, _push, _release
 *   CAROM_RESULT_FILL(carom_pairs)         carom_pairs_begin and _end, for queries (see result.h)
 *
 * Both grow through one function each in array.c. */
#ifndef CAROM_SRC_BASE_ARRAY_H
#define CAROM_SRC_BASE_ARRAY_H

#include <string.h>

#include "base/item.h"
#include "base/memory.h"
#include "base/status.h"
#include "carom/result.h"

/* Returns a block for at least `needed` elements that starts with the old ones, or NULL (the old
 * block then stays valid). Grows by half at least, so that pushing is O(1) amortised. */
void *carom_array_grow(const carom_allocator *allocator, void *data, uint64_t count,
                       uint64_t needed, size_t size, uint64_t *capacity);

/* A file that makes an array for itself need not use all of its functions. */
#if defined(__GNUC__)
#define CAROM_ARRAY_FUNCTION static inline __attribute__((unused))
#else
#define CAROM_ARRAY_FUNCTION static inline
#endif

#define CAROM_ARRAY(name, type)                                                                    \
    typedef struct name {                                                                          \
        type *data;                                                                                \
        uint64_t count, capacity;                                                                  \
    } name;                                                                                        \
    /* Reserves space for `needed` elements in all; false when there is no memory. */              \
    CAROM_ARRAY_FUNCTION bool name##_reserve(name *array, const carom_allocator *allocator,        \
                                             uint64_t needed) {                                    \
        if (needed <= array->capacity) return true;                                                \
        void *data = carom_array_grow(allocator, array->data, array->count, needed, sizeof(type),  \
                                      &array->capacity);                                           \
        if (data == NULL) return false;                                                            \
        array->data = (type *)data;                                                                \
        return true;                                                                               \
    }                                                                                              \
    CAROM_ARRAY_FUNCTION bool name##_push(name *array, const carom_allocator *allocator,           \
                                          type value) {                                            \
        if (array->count == array->capacity &&                                                     \
            !name##_reserve(array, allocator, array->count + 1))                                   \
            return false;                                                                          \
        array->data[array->count++] = value;                                                       \
        return true;                                                                               \
    }                                                                                              \
    CAROM_ARRAY_FUNCTION void name##_release(name *array, const carom_allocator *allocator) {      \
        carom_release(allocator, array->data);                                                     \
        *array = (name){0};                                                                        \
    }                                                                                              \
    struct name /* consumes the semicolon */

/* Result memory outlives its context, so each block stores its allocator in a header. */
void *carom_result_allocate(const carom_allocator *allocator, uint64_t count, size_t size);
void carom_result_release(void *data);

/* Whether a result array can be filled or freed: it is {0}, filled by an earlier call, or a
 * caller's buffer (result.h). */
bool carom_result_is_sound(const void *data, uint64_t count, uint64_t capacity, carom_owner owner);

#define CAROM_DO_NOT_FIT "has fields that do not fit each other; start with {0}"

/* First lines of a public function that fills `result`, an array of `name`. */
#define CAROM_REQUIRE_RESULT(result, name)                                                         \
    do {                                                                                           \
        CAROM_REQUIRE_OUTPUT(result, name);                                                        \
        CAROM_REQUIRE(carom_result_is_sound((result)->data, (result)->count, (result)->capacity,   \
                                            (result)->owner),                                      \
                      "the output for the " name " " CAROM_DO_NOT_FIT);                            \
    } while (0)

/* name_begin reserves space for `count` elements and sets result->count; *writable is how many to
 * write: all of them, or as many as fit a caller's buffer. Old contents are lost. The query then
 * writes data[0 .. *writable) and returns name_end, CAROM_OK or CAROM_MORE. */
#define CAROM_RESULT_FILL(name)                                                                    \
    static inline carom_status name##_begin(carom_context *context,                                \
                                            const carom_allocator *allocator, name *result,        \
                                            uint64_t count, uint64_t *writable) {                  \
        *writable = 0;                                                                             \
        if (result->owner == CAROM_OWNER_CAROM && result->capacity < count) {                      \
            uint64_t capacity = CAROM_MAX(count, result->capacity + result->capacity / 2);         \
            void *data = carom_result_allocate(allocator, capacity, sizeof(*result->data));        \
            if (data == NULL)                                                                      \
                return carom_fail_memory(context, capacity * sizeof(*result->data), #name);        \
            carom_result_release(result->data);                                                    \
            memcpy(&result->data, &data, sizeof(data));                                            \
            result->capacity = capacity;                                                           \
        }                                                                                          \
        result->count = count;                                                                     \
        *writable = CAROM_MIN(count, result->capacity);                                            \
        return CAROM_OK;                                                                           \
    }                                                                                              \
    static inline carom_status name##_end(const name *result) {                                    \
        return result->count > result->capacity ? CAROM_MORE : CAROM_OK;                           \
    }                                                                                              \
    struct name

/* The body of a result type's public name_free. */
#define CAROM_RESULT_DEFINE_FREE(name)                                                             \
    void name##_free(name *result) {                                                               \
        if (result == NULL) return;                                                                \
        if (!carom_result_is_sound(result->data, result->count, result->capacity,                  \
                                   result->owner)) {                                               \
            carom_assert_failed(__func__, "the result " CAROM_DO_NOT_FIT);                         \
            return;                                                                                \
        }                                                                                          \
        if (result->owner == CAROM_OWNER_CAROM) carom_result_release(result->data);                \
        memset(result, 0, sizeof(*result));                                                        \
    }                                                                                              \
    struct name

CAROM_RESULT_FILL(carom_pairs);
CAROM_RESULT_FILL(carom_numbers);

#endif
