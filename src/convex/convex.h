/* SPDX-License-Identifier: MIT */
/* convex.h: what scenes and times of impact need of convex shapes beyond their public functions:
 * checks of the input, and queries of many pairs side by side, each with its own arena. */
#ifndef CAROM_SRC_CONVEX_CONVEX_H
#define CAROM_SRC_CONVEX_CONVEX_H

#include <string.h>

#include "base/context.h"
#include "convex/convex_hull.h"
#include "convex/convex_query_item.h"

/* Whether the caller filled in what the kind needs. */
bool carom_convex_is_complete(const carom_convex *shape);

/* Of shapes that are not NULL, and of those of a batch, which may be. */
#define CAROM_REQUIRE_SHAPE(shape)                                                                 \
    CAROM_REQUIRE(carom_convex_is_complete(shape),                                                 \
                  "a shape has an unknown kind, or no hull or support function")
#define CAROM_REQUIRE_BATCH_SHAPE(shape)                                                           \
    do {                                                                                           \
        CAROM_REQUIRE_INPUT(shape, "shape of a pair");                                             \
        CAROM_REQUIRE_SHAPE(shape);                                                                \
    } while (0)

/* Whether start and search are choices that there are. */
bool carom_convex_is_known(const carom_convex_query_def *def);

#define CAROM_REQUIRE_CONVEX_DEF(def)                                                              \
    CAROM_REQUIRE((def) == NULL || carom_convex_is_known(def),                                     \
                  "the def has an unknown start or search")
#define CAROM_REQUIRE_CONVEX_BATCH_DEF(def)                                                        \
    do {                                                                                           \
        CAROM_REQUIRE_CONVEX_DEF(def);                                                             \
        CAROM_REQUIRE((def) == NULL || (def)->hint == NULL,                                        \
                      "the def has a hint; each pair has its own");                                \
    } while (0)

/* Fails with CAROM_BAD_INPUT and names `which` unless shape and pose are finite and in range. The
 * pose may be NULL. */
carom_status carom_convex_check(carom_context *context, const carom_convex *shape,
                                const carom_pose *pose, const char *which);

/* carom_convex_depth on the CPU, also in a context of backend cuda and of support functions. */
carom_status carom_convex_depth_on_cpu(carom_context *context, const carom_convex *a,
                                       const carom_pose *pose_a, const carom_convex *b,
                                       const carom_pose *pose_b, carom_convex_result *result);

/* What queries see of a shape's hull; NULL for other shapes. */
static inline const carom_hull_view *carom_convex_hull_view(const carom_convex *shape) {
    return shape->kind == CAROM_CONVEX_KIND_HULL ? &shape->borrowed_hull->view : NULL;
}

/* Two posed shapes, before any query. */
static inline carom_convex_question_item carom_convex_question_of(const carom_convex *a,
                                                                  const carom_pose *pose_a,
                                                                  const carom_convex *b,
                                                                  const carom_pose *pose_b) {
    return (carom_convex_question_item){.a = a,
                                        .b = b,
                                        .hull_a = carom_convex_hull_view(a),
                                        .hull_b = carom_convex_hull_view(b),
                                        .pose_a = pose_a,
                                        .pose_b = pose_b};
}

_Static_assert(sizeof(carom_convex_learned) <= sizeof(carom_convex_hint),
               "a hint holds what was learned");

/* NULL where there is no hint. */
static inline carom_convex_learned *carom_convex_read_hint(const carom_convex_hint *hint,
                                                           carom_convex_learned *to) {
    if (hint == NULL) return NULL;
    memcpy(to, hint->words, sizeof(*to));
    return to;
}

static inline void carom_convex_write_hint(const carom_convex_learned *from,
                                           carom_convex_hint *hint) {
    if (hint != NULL) memcpy(hint->words, from, sizeof(*from));
}

/* ---- The same on the GPU: convex_device.c ---------------------------------------------------- */

/* CAROM_OK if the cuda library knows convex shapes. */
carom_status carom_convex_device_check(carom_context *context);
/* Copies a hull to the device, for queries there. */
carom_status carom_hull_device_create(carom_context *context, carom_hull *hull);
void carom_hull_device_release(carom_hull *hull);
/* A shape as it is copied to the device; `which` and its number are for messages.
 * CAROM_UNSUPPORTED: a support function, or a hull that is not there. */
carom_status carom_convex_device_shape(carom_context *context, const carom_convex *shape,
                                       const char *which, uint64_t number, carom_device_shape *to);
/* One question about many pairs. */
typedef struct carom_convex_batch {
    const carom_convex_pair *pairs;
    uint64_t count;
    carom_convex_question question;
    carom_convex_query_def def; /* its hint is NULL: each pair has its own */
} carom_convex_batch;

/* Answers all pairs of a batch that is checked; there is space for their results. */
carom_status carom_convex_device_query(carom_context *context, const carom_convex_batch *batch,
                                       carom_convex_result *results);
/* carom_convex_contacts, but for the checks of everything but the shapes. */
carom_status carom_convex_device_contacts(carom_context *context, const carom_convex *a,
                                          const carom_pose *pose_a, const carom_convex *b,
                                          const carom_pose *pose_b, double reach,
                                          const carom_convex_query_def *def,
                                          carom_convex_manifold *manifold);

/* CAROM_BAD_INPUT where it is negative, infinite or NaN. */
carom_status carom_convex_check_reach(carom_context *context, double reach);

/* ---- Contact points -------------------------------------------------------------------------- */

/* The faces of a shape's hull; NULL for other shapes. */
static inline const carom_hull_faces *carom_convex_hull_faces(const carom_convex *shape) {
    return shape->kind == CAROM_CONVEX_KIND_HULL ? &shape->borrowed_hull->faces : NULL;
}

/* Fills the points of a manifold from its result, which is that of the two shapes. The faces are
 * those of shapes of kind HULL, else NULL. CAROM_NO_MEMORY when the arena has none. */
carom_status carom_convex_find_points(const carom_context *context, carom_arena *arena,
                                      const carom_convex_question_item *q,
                                      const carom_hull_faces *faces_a,
                                      const carom_hull_faces *faces_b, double reach,
                                      carom_convex_manifold *manifold);

#endif
