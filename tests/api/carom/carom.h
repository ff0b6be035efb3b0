/* SPDX-License-Identifier: MIT */
/* A header with one case of each rule of scripts/api.py. rules.txt has what must come of it. */
#ifndef CAROM_H
#define CAROM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAROM_API          __attribute__((visibility("default")))
#define CAROM_EXPERIMENTAL CAROM_API
#define CAROM_ABI          7u
/* The version. */
#define CAROM_VERSION_MAJOR 1
#define CAROM_VERSION_MINOR 2
#define CAROM_VERSION_PATCH 3

/* ---- Numbers --------------------------------------------------------------------------------- */

/* Rules that stand alone are those of the section. */

#define CAROM_CORNERS (1 << 2) /* behind it */

/* Below 0. */
#define CAROM_LEAST (-CAROM_CORNERS)

#define CAROM_ALL  UINT64_MAX
#define CAROM_TEXT "no number"

/* ---- Types -----------------------------------------------------------------------------------
 *
 * Part of the title's comment. */

/* Above: é. */
typedef enum carom_kind {
    CAROM_KIND_A = -1, /* behind; it */
    /* Above. */
    CAROM_KIND_B,
    CAROM_KIND_C = CAROM_CORNERS /* behind the last */
    /* Of nothing. */
} carom_kind;

typedef struct carom_thing carom_thing;

typedef struct carom_thing_def {
    /* Above two. */
    double x; /* behind; x
                 and more */
    double y, z;
    float w; /* w alone */

    bool last[CAROM_CORNERS];
    void (*call)(void *user, int n); /* called */
} carom_thing_def;

/* A thing; never NULL. */
typedef struct carom_other_def {
    carom_kind kind;
} carom_other_def;

/* NULL is the origin. */
typedef struct carom_place {
    double x;
} carom_place;

/* Start with {0}. */
typedef struct carom_hint {
    uint32_t n;
} carom_hint;

typedef enum carom_owner { CAROM_OWNER_CAROM, CAROM_OWNER_COUNT } carom_owner;

/* The array `name` of `type`, freed by name_free. NULL is allowed. */
#define CAROM_RESULT_ARRAY(name, type)                                                             \
    typedef struct name {                                                                          \
        type *data; /* items */                                                                    \
        uint64_t count, capacity;                                                                  \
        carom_owner owner;                                                                         \
    } name;                                                                                        \
    CAROM_API void name##_free(name *result)

/* Several places. */
CAROM_RESULT_ARRAY(carom_places, carom_place);

typedef uint32_t carom_id;

/* Called for each; b may be NULL. */
typedef bool carom_each_fn(void *user, const carom_place *places, uint64_t count, carom_hint *b);

/* ---- Functions ------------------------------------------------------------------------------- */

/* Shared by two. */
CAROM_API int carom_thing_create(const carom_thing_def *def, carom_thing **thing);
CAROM_API int carom_thing_create_other(const carom_other_def *def, const carom_place *place,
                                       carom_thing **thing);
/* NULL is fine. */
CAROM_API void carom_thing_destroy(carom_thing *thing);

CAROM_API carom_each_fn *carom_thing_replace(carom_thing *thing, carom_each_fn *each, void *user);

/* Adds; ids may be NULL. CAROM_BAD: the count may be wrong. */
CAROM_EXPERIMENTAL int carom_thing_add(carom_thing *thing, const carom_place *places,
                                       const carom_place *pose_b, const void *from, uint64_t count,
                                       uint32_t *ids, uint64_t *first);

/* NULL corners: all. */
CAROM_API carom_place carom_thing_find(const carom_thing *thing, const double corners[4],
                                       const carom_place sides[CAROM_CORNERS], carom_hint *hint,
                                       carom_places *places);

/* Borrows. */
CAROM_API void carom_thing_set_free(carom_thing *thing, const double *borrowed_grid, bool *is_free);

/* Compiled into the caller. */
static inline void carom_thing_twice(carom_thing *thing) {
    if (thing) carom_thing_destroy(thing); /* not; a comment of anything */
}
CAROM_API void carom_nothing(void);

#ifdef __cplusplus
}
#endif

#endif
