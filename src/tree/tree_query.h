/* SPDX-License-Identifier: MIT */
/* tree_query.h: what the queries of two trees share, and one query by one worker. */
#ifndef CAROM_SRC_TREE_TREE_QUERY_H
#define CAROM_SRC_TREE_TREE_QUERY_H

#include "base/context.h"
#include "tree/tree_cpu.h"

/* What all queries check first. */
carom_status carom_tree_check_query(carom_context *context, const carom_tree *a,
                                    const carom_pose *pose_a, const carom_tree *b,
                                    const carom_pose *pose_b, const carom_tree_query_def *def);

/* CAROM_OK where both trees were made on the backend of the context. */
carom_status carom_tree_check_backend(carom_context *context, const carom_tree *a,
                                      const carom_tree *b);

/* Whether queries run on the GPU. */
static inline bool carom_tree_on_device(const carom_context *context) {
    return context->backend == CAROM_BACKEND_CUDA;
}

/* The pair of a query of two trees; its scales and hint are those of the def. */
carom_tree_pair carom_tree_pair_of(const carom_tree *a, const carom_pose *pose_a,
                                   const carom_tree *b, const carom_pose *pose_b,
                                   const carom_tree_query_def *def);

/* The message is left to the calling thread, as many workers may fail at once. */
carom_status carom_tree_fail_query(carom_context *context, carom_status status);

extern const carom_tree_query_def carom_tree_query_defaults;

/* The first lines of a public query. */
#define CAROM_TREE_ENTER(result)                                                                   \
    CAROM_ENTER(context);                                                                          \
    CAROM_REQUIRE_BOTH(a, b, "tree");                                                              \
    CAROM_REQUIRE_OUTPUT(result, "result");                                                        \
    if (def == NULL) def = &carom_tree_query_defaults;                                             \
    CAROM_TRY(carom_tree_check_query(context, a, pose_a, b, pose_b, def))

/* When a query begins, carom_time_seconds; 0 where no time budget needs it. */
static inline double carom_tree_start(const carom_tree_query_def *def) {
    return def->time_budget > 0.0 ? carom_time_seconds() : 0.0;
}

/* The budget of a search of a query that began at `start`. `finish_part` of a time budget is left
 * for what follows the search. */
carom_tree_budget carom_tree_budget_make(const carom_tree_query_def *def, double start,
                                         double finish_part);

/* Begins the frontier of a search with the roots. False: no memory. */
bool carom_tree_frontier_begin(carom_context *context, carom_arena *scratch,
                               carom_tree_overlap_search *search, carom_tree_frontier *frontier);

/* Opens pairs that are not both leaves until none of them waits or the budget is used up. */
void carom_tree_frontier_run_inner(carom_context *context, carom_tree_overlap_search *search);

/* Opens the other pairs, up to all of a budget if that is enough for all of them; else the heaviest
 * of them, up to a part of it. */
void carom_tree_frontier_run_leaves(carom_context *context, carom_tree_overlap_search *search,
                                    const carom_tree_limits *whole, const carom_tree_limits *part);

/* Adds what the pairs that wait are, about, to the sums of those that were opened; under a deadline
 * until that. */
void carom_tree_frontier_add_rest(const carom_tree_overlap_search *search, double deadline,
                                  carom_spheres_lenses *sum);

/* Adds the work of a search. */
void carom_tree_count_work(const carom_tree_budget *budget, carom_work *work);

/* The overlap of two trees by one worker. CAROM_NO_MEMORY: its scratch is too small; without a
 * message. */
carom_status carom_tree_run_overlap(carom_context *context, uint32_t worker,
                                    const carom_tree_posed_pair *posed,
                                    const carom_tree_query_def *def, double start,
                                    carom_packing_overlap *overlap, carom_work *work);

/* What a hint says for an exact distance: spheres, or triangles, of a and b, CAROM_NONE where
 * nothing is known; and the reverse, after one that found them. */
void carom_tree_read_hint(const carom_tree_hint *hint, bool faces, uint32_t nearest[2]);
void carom_tree_write_hint(const uint32_t nearest[2], bool faces, carom_tree_hint *hint);

/* Completes an exact distance of two surfaces that do not meet, which was found on the GPU: by
 * whether one solid is in the other. */
void carom_tree_complete_gap(const carom_tree_pair *pair, carom_tree_gap *gap);

/* Narrows the bounds of an overlap that was found on the GPU by the octrees of both solids, after a
 * search that opened `visits` pairs of nodes. CAROM_UNSUPPORTED: these trees have none for it, or
 * are far apart. As carom_tree_run_overlap otherwise. */
carom_status carom_tree_narrow_overlap(carom_context *context, uint32_t worker,
                                       const carom_tree_pair *pair, uint64_t visits,
                                       carom_packing_overlap *overlap);

/* Their distance; the hint may be NULL. */
void carom_tree_run_distance(carom_context *context, const carom_tree_posed_pair *posed,
                             carom_tree_hint *hint, const carom_tree_query_def *def, double start,
                             carom_tree_gap *gap, carom_work *work);

#endif
