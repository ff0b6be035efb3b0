/* SPDX-License-Identifier: MIT */
/* tree.h: how far apart two solids are, or how much they overlap, from their sphere packings.
 *
 *   carom_tree_create(context, &(carom_tree_def){.packing = packing}, &tree);            prepare
 *   carom_tree_query(context, a, NULL, b, &pose_b, NULL, &result);                       query
 *
 * An inner sphere tree (Weller, Zachmann 2009) is a hierarchy over the spheres of a packing. Its
 * cost depends on the number of spheres, not on the mesh, and every answer has bounds that hold for
 * the solids that were packed. solid.h is exact, and often fast enough: docs/tree.md says which to
 * take. Poses are rigid; a scale, which multiplies radii too, is in the def of a query.
 *
 * The same input gives the same bytes for any number of threads and any instruction set, and for
 * every method of building. */
#ifndef CAROM_TREE_H
#define CAROM_TREE_H

#include "carom/pack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Prepare --------------------------------------------------------------------------------- */

/* How spheres are grouped. All methods give the same answers. */
typedef enum carom_tree_method {
    CAROM_TREE_METHOD_MEDIAN = 0, /* in halves along the longest side: the fastest */
    CAROM_TREE_METHOD_NEURAL_GAS, /* by batch neural gas, weighted by volumes (Weller, Zachmann
                                     2009) */
    CAROM_TREE_METHOD_MORTON,     /* by a space-filling curve */
    CAROM_TREE_METHOD_COUNT
} carom_tree_method;

/* "median", "neural-gas", "morton". */
CAROM_API const char *carom_tree_method_name(carom_tree_method method);
CAROM_API bool carom_tree_method_from_name(const char *name, carom_tree_method *method);

/* What a tree is built from; never NULL: the packing has no default. */
typedef struct carom_tree_def {
    const carom_packing *packing; /* copied; with shares */
    carom_tree_method method;
    uint32_t arity; /* children of a node, 2 to 16; 0: 16, for NEURAL_GAS the paper's 4 */
    uint64_t seed;  /* NEURAL_GAS: of the first prototypes */
    const carom_mesh_view *mesh; /* that was packed, closed; copied. Distances are then those of its
                             faces, and an octree of its solid bounds overlaps. NULL: distances are
                             those of balls, and far less precise */
} carom_tree_def;

/* The inner sphere tree of a packing. */
typedef struct carom_tree carom_tree;

/* Builds the tree of a packing. On failure *tree is NULL.
 * CAROM_BAD_INPUT: the packing has no spheres or no shares; a cover is smaller than its radius; an
 * arity out of range; sizes below 2^-200 or above 2^200; a mesh that fails carom_mesh_check, is not
 * closed, or reaches far beyond the spheres. Whether it is the mesh that was packed is not checked.
 * Cost: about 2 us of processor time per sphere, NEURAL_GAS 40 us; 102 bytes per sphere. With a
 * mesh, about 3 us and 28 bytes more per sphere (of fewer than 16,384 spheres 44 bytes), and about
 * 1 us and 76 bytes per triangle. */
CAROM_API carom_status carom_tree_create(carom_context *context, const carom_tree_def *def,
                                         carom_tree **tree);

/* Replaces the spheres of a tree by those of another packing, such as one that was deformed
 * (carom_packing_deform), and its mesh. The tree is then as one created anew, with the method, the
 * arity and the seed of before; a seed of 0 where it was loaded. Needs exclusive use. `mesh` may be
 * NULL, as in the def.
 * - Statuses and cost are those of carom_tree_create. On failure the tree is as it was. */
CAROM_EXPERIMENTAL CAROM_API carom_status carom_tree_update(carom_context *context,
                                                            carom_tree *tree,
                                                            const carom_packing *packing,
                                                            const carom_mesh_view *mesh);

/* NULL is fine. */
CAROM_API void carom_tree_destroy(carom_tree *tree);

/* What a tree consists of. */
typedef struct carom_tree_info {
    uint64_t spheres;
    carom_tree_method method;
    uint32_t arity;
    uint64_t nodes;     /* above the leaves */
    uint64_t leaves;    /* of up to 16 spheres */
    uint32_t depth;     /* nodes from the root to a leaf, at most */
    uint64_t bytes;     /* held by the tree */
    uint64_t triangles; /* of its surface; 0: no mesh was given */
} carom_tree_info;

/* Gets what the tree consists of. */
CAROM_API carom_status carom_tree_get_info(const carom_tree *tree, carom_tree_info *info);

/* ---- Files ----------------------------------------------------------------------------------- */

/* How a tree is stored. */
typedef enum carom_tree_format {
    CAROM_TREE_FORMAT_GUESS = 0, /* the only one there is */
    CAROM_TREE_FORMAT_CAROM,     /* the tree as it is in memory */
    CAROM_TREE_FORMAT_COUNT
} carom_tree_format;

/* "guess", "carom". */
CAROM_API const char *carom_tree_format_name(carom_tree_format format);
CAROM_API bool carom_tree_format_from_name(const char *name, carom_tree_format *format);

/* Writes a tree, as it is in memory: about 94 bytes per sphere; with a surface 28 more, and 76 per
 * triangle. The file is complete, or what it was. CAROM_IO: it cannot be written. */
CAROM_API carom_status carom_tree_save(carom_context *context, const carom_tree *tree,
                                       carom_tree_format format, const char *path);

/* The same into memory. */
CAROM_API carom_status carom_tree_save_memory(carom_context *context, const carom_tree *tree,
                                              carom_tree_format format, carom_bytes *bytes);

/* Reads what carom_tree_save wrote: the same tree, and the same answers. On failure *tree is NULL.
 * The file is mapped, not copied: several processes share its pages, and it must not change while
 * the tree is there. CAROM_IO: cannot be opened or read. CAROM_BAD_FILE: not a tree, or damaged:
 * all that a search follows is checked; spheres and triangles are taken as they are. Cost: about 1
 * us per sphere, and a little less per triangle. */
CAROM_API carom_status carom_tree_load(carom_context *context, const char *path,
                                       carom_tree_format format, carom_tree **tree);

/* Reads a tree from a copy of bytes in memory. `name` stands for the file in messages, and may be
 * NULL. */
CAROM_API carom_status carom_tree_load_memory(carom_context *context, const void *bytes,
                                              uint64_t size, carom_tree_format format,
                                              const char *name, carom_tree **tree);

/* ---- Query ----------------------------------------------------------------------------------- */

/* What one query of a pair of trees learned for the next, in nearby poses: the closest spheres, or
 * triangles. It saves time; distances stay within their bounds, and exact ones and those of balls
 * do not change. All zero: nothing yet. */
typedef struct carom_tree_hint {
    uint64_t words[20]; /* Carom's own */
} carom_tree_hint;

/* What is computed, and when to stop. */
typedef struct carom_tree_query_def {
    double scale_a, scale_b; /* of the packings, before their rotation; 0: 1 */
    bool skip_limits;        /* of the overlap: estimate, force and torque only. volume.lower is
                              then 0, volume.upper the smaller volume of the solids, and the
                              relation not certain: TOUCHING where secondary balls overlap,
                              else APART */
    bool narrow_limits; /* of the overlap: also bound it by the octrees of both solids. Of trees
                           without meshes, a share whose cover lies in a ball of the other solid
                           counts exactly, by the depths of the other's spheres. The relation may
                           then say that one solid is inside the other. Takes half as long again.
                           Otherwise, and where no budget or tolerance is set, all engines give
                           the same bounds, bit for bit */
    /* When to stop early; 0: at the end. With a budget the estimate of an overlap comes first, and
     * bounds with what is left. Pairs of nodes that were not opened then count as two balls with
     * their moments, and a partial answer has its estimate between its bounds. A budget that is
     * enough gives the answer of none. */
    uint64_t work_budget;  /* nodes and cells visited, about. Deterministic */
    double time_budget;    /* seconds by the clock, kept within about a tenth where nothing
                              interrupts the thread; not deterministic */
    double tolerance;      /* of the overlap: when the bounds are at most this share of the estimate
                              apart. Where that cannot be reached, the answer is that of all
                              spheres, with the better of all bounds */
    carom_tree_hint *hint; /* of distances: read and written; NULL: none. A hint of other trees is
                              wrong only in that it saves nothing */
    bool flip;           /* of the overlap of trees with meshes: in direction_2009, pairs of spheres
                            that would push b deeper, as directions to their nearest faces tell,
                            count with a weight that falls smoothly from 1 to -1. For deep
                            overlaps */
    bool exact_distance; /* of trees with meshes: find the nearest faces, as
                            carom_soup_cross_distance does. Else the distance is nearly always that,
                            too, but its lower bound is up to 1 % of the larger solid's size below
                            it. Without meshes no effect */
} carom_tree_query_def;

/* Rules for the queries below. Poses may be NULL or all zero, which is the identity; a query def
 * may be NULL. One thread. carom_context_get_work: nodes visited, and pairs of spheres computed in
 * doubles. Nothing is allocated once warm. CAROM_BAD_INPUT: a pose or scale that is not finite, a
 * negative scale, sizes in their poses outside of 2^-200 to 2^200. */

/* Says whether inner balls of a and b overlap: then the solids certainly do. Stops at the first
 * such pair; budgets have no effect. */
CAROM_API carom_status carom_tree_meet(carom_context *context, const carom_tree *a,
                                       const carom_pose *pose_a, const carom_tree *b,
                                       const carom_pose *pose_b, const carom_tree_query_def *def,
                                       bool *meet);

/* Lists faces where the solids overlap: those nearest to the spheres whose inner balls overlap some
 * of the other solid, ascending, each once. It is a partial list: faces may cross that no such
 * sphere is next to. They are indices of the meshes that were packed, as the packings name them.
 * Budgets have no effect. A caller's buffer that is too small gives CAROM_MORE. */
CAROM_API carom_status carom_tree_faces(carom_context *context, const carom_tree *a,
                                        const carom_pose *pose_a, const carom_tree *b,
                                        const carom_pose *pose_b, const carom_tree_query_def *def,
                                        carom_numbers *faces_a, carom_numbers *faces_b);

/* Computes the overlap (pack.h). Bounds are as defined there, or narrower: see the def. */
CAROM_API carom_status carom_tree_overlap(carom_context *context, const carom_tree *a,
                                          const carom_pose *pose_a, const carom_tree *b,
                                          const carom_pose *pose_b, const carom_tree_query_def *def,
                                          carom_packing_overlap *overlap);

/* How far apart two solids are. */
typedef struct carom_tree_gap {
    carom_interval distance; /* of the solids; value is an estimate within the limits. Of trees with
                            meshes: of the faces; 0 where these meet, or where one solid is in the
                            other. Else the least gap of two covers and of two inner balls; 0 where
                            these overlap */
    carom_vec3 point_a, point_b; /* on the two faces or inner balls, where they are closest; world
                                    axes */
    uint32_t sphere_a, sphere_b; /* these balls: of all pairs with the least gap the first by a's
                                    index, then b's. CAROM_NONE: faces were compared */
    bool partial;                /* a budget ended the search: bounds hold, but are wider */
    uint32_t face_a, face_b;     /* of the meshes, where the points are; CAROM_NONE: balls were
                                    compared, or the solids meet */
} carom_tree_gap;

/* Computes the distance of the solids. */
CAROM_API carom_status carom_tree_distance(carom_context *context, const carom_tree *a,
                                           const carom_pose *pose_a, const carom_tree *b,
                                           const carom_pose *pose_b,
                                           const carom_tree_query_def *def, carom_tree_gap *gap);

/* The overlap of two solids or their distance. */
typedef struct carom_tree_result {
    carom_packing_overlap overlap; /* as from carom_tree_overlap */
    bool has_gap;                  /* the relation is APART or TOUCHING */
    carom_tree_gap gap;            /* then as from carom_tree_distance; else all zero */
} carom_tree_result;

/* Computes the overlap and, where that is not certain, the distance. */
CAROM_API carom_status carom_tree_query(carom_context *context, const carom_tree *a,
                                        const carom_pose *pose_a, const carom_tree *b,
                                        const carom_pose *pose_b, const carom_tree_query_def *def,
                                        carom_tree_result *result);

/* ---- Query: many pairs of trees -------------------------------------------------------------- */

/* Two trees in their poses. */
typedef struct carom_tree_pair {
    const carom_tree *a, *b;
    carom_pose pose_a, pose_b; /* all zero: the identity */
    double scale_a, scale_b;   /* 0: 1 */
    carom_tree_hint *hint;     /* NULL: none */
} carom_tree_pair;

/* carom_tree_overlap, _distance and _query for each of `count` pairs, on all threads; results have
 * space for count. Identical bytes for any number of threads, unless there is a time_budget, which
 * is that of each pair.
 * - Each pair has scales and a hint of its own: those of the def must be 0. No two pairs share a
 *   hint.
 * - On failure the message names the pair. */
CAROM_API carom_status carom_tree_overlap_batch(carom_context *context,
                                                const carom_tree_pair *pairs, uint64_t count,
                                                const carom_tree_query_def *def,
                                                carom_packing_overlap *overlaps);
CAROM_API carom_status carom_tree_distance_batch(carom_context *context,
                                                 const carom_tree_pair *pairs, uint64_t count,
                                                 const carom_tree_query_def *def,
                                                 carom_tree_gap *gaps);
CAROM_API carom_status carom_tree_query_batch(carom_context *context, const carom_tree_pair *pairs,
                                              uint64_t count, const carom_tree_query_def *def,
                                              carom_tree_result *results);

#ifdef __cplusplus
}
#endif

#endif
