/* SPDX-License-Identifier: MIT */
/* query.h: which engine to take for how two solids lie to each other.
 *
 *   carom_query_def def = {.triangles_a = 70000, .triangles_b = 70000,
 *                          .spheres_a = 20000, .spheres_b = 20000};
 *   carom_query_advise(context, &def, &advice);
 *
 * solid.h is exact, tree.h and balls.h compare sphere packings, with bounds. Which one is fastest
 * depends on sizes that are known once meshes and packings are created: the time of solid grows
 * with the faces that meet, about the square root of all of them, those of tree and balls with the
 * number of spheres, whatever the mesh. */
#ifndef CAROM_QUERY_H
#define CAROM_QUERY_H

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Who computes the overlap or the distance of two solids. */
typedef enum carom_query_engine {
    CAROM_QUERY_ENGINE_SOLID = 0, /* exact, from closed meshes */
    CAROM_QUERY_ENGINE_TREE,      /* from packings, with bounds; the only one with budgets */
    CAROM_QUERY_ENGINE_BALLS,     /* the same, in about the same time in every pose; no distances */
    CAROM_QUERY_ENGINE_COUNT
} carom_query_engine;

/* "solid", "tree", "balls". */
CAROM_EXPERIMENTAL CAROM_API const char *carom_query_engine_name(carom_query_engine engine);
CAROM_EXPERIMENTAL CAROM_API bool carom_query_engine_from_name(const char *name,
                                                               carom_query_engine *engine);

/* What there is and what is wanted; never NULL: sizes have no default. */
typedef struct carom_query_def {
    uint64_t triangles_a, triangles_b; /* of closed meshes; 0: there is none */
    uint64_t spheres_a, spheres_b;     /* of packings, or to be packed; 0: there are none */
    uint64_t spheres_to_pack;          /* how many of these are yet to be packed, of both */
    uint64_t queries;   /* how often these solids will be compared; 0: so often that the time to
                            prepare them does not count */
    double time_budget; /* seconds that a query may take; 0: any */
    double error;       /* of the volume, relative, that is accepted on average; 0: any */
    bool distance;      /* distances are wanted, too */
    bool steady;        /* the time should not depend on the pose */
} carom_query_def;

/* Which engine, and why. Times are those of one core of this machine for overlaps of up to a tenth
 * of the solids, by sizes and by its speed, right within a factor of about 2; what they are to each
 * other is right more often. */
typedef struct carom_query_advice {
    carom_query_engine engine;
    const char *reason;                                /* a clause; not to be freed */
    double solid_seconds, tree_seconds, balls_seconds; /* of a query; infinite: not possible */
    double tree_error; /* of volumes from packings, relative, on average; infinite: not possible */
} carom_query_advice;

/* Advises an engine for two solids. The first call of a context measures the speed of the machine,
 * which takes about 50 us; that is in the times, and in the choice where there is a time budget.
 * Without one the engine depends on the def alone.
 * - Without a budget it is the fastest of those that give what is wanted, time to prepare included.
 * - With a time budget it is solid where that is certain enough to keep it, as it is exact, else
 *   tree.
 * - CAROM_BAD_INPUT: neither two meshes nor two packings, more spheres to pack than there are, a
 *   negative budget or error. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_query_advise(carom_context *context,
                                                             const carom_query_def *def,
                                                             carom_query_advice *advice);

#ifdef __cplusplus
}
#endif

#endif
