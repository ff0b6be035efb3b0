/* SPDX-License-Identifier: MIT */
/* broad.h: which of many axis-aligned boxes overlap, from scratch and step to step.
 *
 *   carom_broad_create(context, &(carom_broad_def){.boxes = boxes, .box_count = n}, &broad);
 *   carom_broad_pairs(context, broad, &pairs);                       all pairs, once
 *
 *   carom_broad_move(context, broad, ids, boxes, count);             then, for each step: what
 *   carom_broad_add(context, broad, boxes, count, ids);              changed, in any number of
 *   carom_broad_remove(context, broad, ids, count);                  calls,
 *   carom_broad_step(context, broad, &pairs, &begun, &ended);       and the pairs
 *
 * Boxes are closed: boxes that only touch overlap. Bounds are doubles, and every answer is exact
 * with respect to them. No pair is missed, none is wrong, none is listed twice, and there is no
 * limit on their number. All methods give the same answers. Lists are sorted, and identical for any
 * number of threads and any instruction set.
 *
 * A box with low > high in any axis is empty: it is kept and can be moved, but overlaps nothing and
 * is never found.
 *
 * Ids are 32-bit numbers that never change while a box lives: 0, 1, 2 ... in the order of create
 * and add. The ids of removed boxes are given out again after the next carom_broad_step, the most
 * recently removed first.
 */
#ifndef CAROM_BROAD_H
#define CAROM_BROAD_H

#include "carom/geom.h"
#include "carom/grid.h"
#include "carom/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Prepare --------------------------------------------------------------------------------- */

/* How pairs are searched for. The answers are the same. */
typedef enum carom_broad_method {
    CAROM_BROAD_METHOD_AUTO = 0, /* the tree, the fastest for all inputs measured; on cuda cells
                                    that hold each box once, or the tree where boxes are dense */
    CAROM_BROAD_METHOD_TREE,     /* a box tree, rebuilt, refitted or changed in part */
    CAROM_BROAD_METHOD_GRID,     /* the hierarchical hash grid, rebuilt for each step */
    CAROM_BROAD_METHOD_SWEEP,    /* a grid across the axis of largest variance, and parallel sweep
                                    and prune along it (Loi 2010), rebuilt for each step */
    CAROM_BROAD_METHOD_COUNT
} carom_broad_method;

/* "auto", "tree", "grid", "sweep". */
CAROM_API const char *carom_broad_method_name(carom_broad_method method);
CAROM_API bool carom_broad_method_from_name(const char *name, carom_broad_method *method);

/* Which boxes may form a pair with which. Boxes a and b may when they are in each other's mask:
 * when (a.group & b.mask) != 0 and (b.group & a.mask) != 0. In both fields 0 stands for all bits.
 */
typedef struct carom_broad_filter {
    uint32_t group; /* the groups that the box is in, one bit each; 0: all */
    uint32_t mask;  /* the groups that it forms pairs with; 0: all */
} carom_broad_filter;

/* Returns whether a < b are a pair. Called for pairs that overlap and whose masks allow it, on the
 * calling thread, in ascending order within a call. The answer must not change unless one of the
 * two boxes does: it may be remembered. It must not use the context or the structure. */
typedef bool carom_broad_accept_fn(void *user, uint32_t a, uint32_t b);

/* The first boxes, and how pairs are searched for. */
typedef struct carom_broad_def {
    const carom_bounds *boxes; /* the first boxes, copied; may be NULL where box_count is 0 */
    uint64_t box_count;
    const carom_broad_filter *filters; /* one per box, copied; NULL: all pairs are allowed */
    carom_broad_accept_fn *accept;     /* NULL: accepts all pairs */
    void *accept_user;
    carom_broad_method method;
    carom_grid_def grid; /* of CAROM_BROAD_METHOD_GRID */
    double sweep_cell; /* edge of the cells of CAROM_BROAD_METHOD_SWEEP; 0: chosen from the density
                          and the sizes of the boxes. It is doubled until boxes are in three cells
                          each, on average, or fewer */
} carom_broad_def;

/* A set of boxes, prepared for queries. */
typedef struct carom_broad carom_broad;

/* Prepares a set of boxes. On failure *broad is NULL.
 * CAROM_BAD_INPUT: bounds that are NaN or infinite. CAROM_TOO_LARGE: more than 2^30 boxes.
 * Cost: O(n) on all threads. Memory: 78 bytes per box, 8 more with filters. With changes up to 17
 * more, and 8 per pair with carom_broad_step. */
CAROM_API carom_status carom_broad_create(carom_context *context, const carom_broad_def *def,
                                          carom_broad **broad);

/* NULL is fine. */
CAROM_API void carom_broad_destroy(carom_broad *broad);

/* ---- Changes ------------------------------------------------------------------------------------
 *
 * Changes need exclusive use, and take effect at the next carom_broad_commit or carom_broad_step.
 * A change that fails has changed nothing. CAROM_BAD_INPUT: an id that is not that of a box, bounds
 * that are NaN or infinite. */

/* Replaces the bounds of boxes: ids[i] gets boxes[i]. NULL ids: the ids 0 to count - 1. Of an id
 * that is given several times, the last counts. */
CAROM_API carom_status carom_broad_move(carom_context *context, carom_broad *broad,
                                        const uint32_t *ids, const carom_bounds *boxes,
                                        uint64_t count);

/* Adds boxes, without filters; ids has space for count and may be NULL. */
CAROM_API carom_status carom_broad_add(carom_context *context, carom_broad *broad,
                                       const carom_bounds *boxes, uint64_t count, uint32_t *ids);

/* Removes boxes. An id must not be given twice. */
CAROM_API carom_status carom_broad_remove(carom_context *context, carom_broad *broad,
                                          const uint32_t *ids, uint64_t count);

/* Replaces the filters of boxes: as carom_broad_move. NULL ids: the ids 0 to count - 1. */
CAROM_API carom_status carom_broad_set_filters(carom_context *context, carom_broad *broad,
                                               const uint32_t *ids,
                                               const carom_broad_filter *filters, uint64_t count);

/* Brings the prepared structure up to date, for queries. Does nothing when nothing changed.
 * Needs exclusive use. Cost: O(changes) with method TREE where few boxes changed, else O(n).
 * When it runs out of memory, is cancelled or is too large for a grid, queries fail until a commit
 * succeeds; the boxes are not lost. */
CAROM_API carom_status carom_broad_commit(carom_context *context, carom_broad *broad);

/* Commits, and finds all pairs, and what changed since the last step: the pairs that began and
 * those that ended; pairs, begun and ended may be NULL. Before the first step there are no pairs.
 * - With method TREE, only boxes that changed are searched where that is faster: the other pairs
 *   are kept from the last step.
 * - A box that was removed has no pairs.
 * - CAROM_MORE: a caller's buffer was too small; the step is complete all the same.
 * - Another failure leaves the last step: the next call compares with that.
 *
 * Needs exclusive use. Allocates nothing once warm. */
CAROM_API carom_status carom_broad_step(carom_context *context, carom_broad *broad,
                                        carom_pairs *pairs, carom_pairs *begun, carom_pairs *ended);

/* What the structure consists of. */
typedef struct carom_broad_info {
    uint64_t ids;              /* given out, those of removed boxes included */
    uint64_t live;             /* boxes that are not removed */
    carom_broad_method method; /* never AUTO; GRID also stands for the cells of cuda */
    uint64_t bytes;            /* held by the structure */

    /* How often the structure was brought up to date since create, and how. */
    uint64_t builds;  /* from scratch */
    uint64_t refits;  /* all boxes anew in the old order (TREE) */
    uint64_t patches; /* only the boxes that changed (TREE) */

    /* What it consists of. */
    uint64_t nodes;       /* of the tree */
    uint64_t cells;       /* GRID: buckets; SWEEP: cells with boxes */
    uint64_t lone_cells;  /* SWEEP: of these, with one box, which are not swept */
    uint64_t entries;     /* boxes in cells; a box is in every cell it meets */
    uint32_t sweep_axis;  /* SWEEP: 0, 1, 2 */
    double sweep_cell;    /* SWEEP: edge of a cell */
    uint64_t sweep_bound; /* SWEEP: the thesis's upper bound on pairs, the sum of c (c - 1) / 2 over
                             cells of c boxes */
} carom_broad_info;

/* Gets what the structure consists of. */
CAROM_API carom_status carom_broad_get_info(const carom_broad *broad, carom_broad_info *info);

/* ---- Query --------------------------------------------------------------------------------------
 *
 * Rules for all queries. Querying after a change and before a commit or a step is a caller's bug.
 * Allocates nothing once warm. carom_context_get_work says how much work it was: visits are nodes
 * (TREE), buckets (GRID) or steps of the sweep (SWEEP), candidates are pairs of boxes that overlap
 * when rounded to float32, and undecided are those of them that doubles had to decide. */

/* Finds all pairs a < b of boxes that overlap and that filters allow, sorted. */
CAROM_API carom_status carom_broad_pairs(carom_context *context, const carom_broad *broad,
                                         carom_pairs *pairs);

/* The queries below find boxes whatever their filters, on all threads. CAROM_UNSUPPORTED: methods
 * GRID and SWEEP, which are for pairs only. */

/* Finds the boxes that overlap each of `count` other boxes: pairs (index of the query, id), sorted.
 */
CAROM_API carom_status carom_broad_query_boxes(carom_context *context, const carom_broad *broad,
                                               const carom_bounds *boxes, uint64_t count,
                                               carom_pairs *pairs);

/* Finds the boxes that each ray meets: pairs (index of the ray, id), sorted. The ray is exactly the
 * points origin + t direction with 0 <= t and, where there is a length, t <= length.
 * CAROM_BAD_INPUT: a ray that is not finite, of negative length or with the direction (0, 0, 0). */
CAROM_API carom_status carom_broad_query_rays(carom_context *context, const carom_broad *broad,
                                              const carom_ray *rays, uint64_t count,
                                              carom_pairs *pairs);

/* Finds the first box that each ray meets. hits has space for count.
 * - Which box is first is decided exactly. Of boxes met at the same t, as all those that contain
 *   the origin are, the one of lowest id is taken.
 * - distance is right to two units in the last place: 0 where the origin is in the box. */
CAROM_API carom_status carom_broad_cast_rays(carom_context *context, const carom_broad *broad,
                                             const carom_ray *rays, uint64_t count,
                                             carom_hit *hits);

/* Finds the box nearest to each point. hits has space for count.
 * - Which box is nearest is decided exactly. Of boxes equally near, as all those that contain the
 *   point are, the one of lowest id is taken.
 * - distance is right to four units in the last place: 0 where the point is in the box, infinite
 *   beyond the doubles. */
CAROM_API carom_status carom_broad_closest_points(carom_context *context, const carom_broad *broad,
                                                  const carom_vec3 *points, uint64_t count,
                                                  carom_hit *hits);

#ifdef __cplusplus
}
#endif

#endif
