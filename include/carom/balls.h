/* SPDX-License-Identifier: MIT */
/* balls.h: how much two sphere packings overlap, in time that does not depend on the pose.
 *
 *   carom_balls_create(context, &(carom_balls_def){.packing = packing}, &balls);     prepare
 *   carom_balls_overlap(context, a, &pose_a, b, &pose_b, NULL, &overlap);            query
 *
 * Spheres are entered in a hierarchical grid, each on the level of its size (Weller, Frese,
 * Zachmann 2013). A query looks up, for each sphere of either packing, the larger ones of the other
 * near it: a constant number of cells, with a constant number of spheres in each where spheres of
 * one packing are disjoint. So the work is linear in the number of spheres, whatever the poses, and
 * carom_balls_bound says beforehand how many pairs there can be.
 *
 * The result is that of all engines that compare packings (pack.h), bit for bit, and the same for
 * any number of threads, any instruction set and any grid.
 */
#ifndef CAROM_BALLS_H
#define CAROM_BALLS_H

#include "carom/grid.h"
#include "carom/pack.h"
#include "carom/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Prepare --------------------------------------------------------------------------------- */

/* What is prepared, and how; never NULL: the packing has no default. */
typedef struct carom_balls_def {
    const carom_packing *packing; /* its spheres are copied; with shares */
    carom_grid_def grid; /* hash; buckets, 0: as many as there is use for; cell_scale: the edge of
                            cells relative to the largest cover on their level, 0: 1 */
} carom_balls_def;

/* The spheres of a packing in a hierarchical grid. */
typedef struct carom_balls carom_balls;

/* Prepares the spheres of a packing. On failure *balls is NULL.
 * - CAROM_BAD_INPUT: the packing has no spheres or no shares (pack.h); a cover is smaller than its
 *   radius; sizes below 2^-200 or above 2^200; bad values of the grid.
 * - CAROM_TOO_LARGE: more than 2^31 spheres.
 * - CAROM_UNSUPPORTED: CAROM_GRID_HASH_PERFECT on cuda.
 *
 * Cost: O(n) on all threads, except with CAROM_GRID_HASH_PERFECT. Memory: 100 to 300 bytes per
 * sphere. */
CAROM_API carom_status carom_balls_create(carom_context *context, const carom_balls_def *def,
                                          carom_balls **balls);

/* NULL is fine. */
CAROM_API void carom_balls_destroy(carom_balls *balls);

/* Replaces the spheres by others: moved, resized, more or fewer. `volume` is that of the solid; 0:
 * not known, volume.upper is then not limited by it. Equal to a structure created anew. Needs
 * exclusive use.
 * - Spheres and their statuses as for create. Pairs refer to their indices in `spheres`.
 * - On any failure nothing has changed.
 *
 * Cost: that of create. Allocates nothing once warm; the first update allocates a second set of all
 * arrays. */
CAROM_API carom_status carom_balls_update(carom_context *context, carom_balls *balls,
                                          const carom_packing_sphere *spheres, uint64_t count,
                                          double volume);

/* What the structure consists of. */
typedef struct carom_balls_info {
    uint64_t spheres;
    uint32_t levels;  /* of the grid */
    uint64_t buckets; /* of its hash table */
    uint64_t entries; /* of spheres in cells */
    uint64_t bytes;   /* held */
} carom_balls_info;

/* Gets what the structure consists of. */
CAROM_API carom_status carom_balls_get_info(const carom_balls *balls, carom_balls_info *info);

/* ---- Query ----------------------------------------------------------------------------------- */

/* How packings are compared. */
typedef struct carom_balls_query_def {
    double scale_a, scale_b; /* factors by which the packings are scaled before their poses; 0: 1 */
    bool skip_limits;        /* estimate, force and torque only: volume.lower is then 0,
                              volume.upper the smaller volume of the solids, and the relation
                              not certain: TOUCHING where secondary balls overlap, else APART */
} carom_balls_query_def;

/* Rules for all queries.
 * - A pose maps a centre c to x' = R (scale c) + t, by the arithmetic of soup.h. NULL or all zero
 *   is the identity. def may be NULL.
 * - CAROM_BAD_INPUT: a pose or scale that is not finite, a negative scale, or sizes out of the
 *   range of create.
 * - Where sizes differ by a factor of more than some 2^20, or distances from the origin are that
 *   many sizes, spheres near the other packing are compared with all of it.
 * - carom_context_get_work: cells visited, pairs tested in doubles, and pairs of covers that floats
 *   could not decide.
 * - Allocates nothing once warm. */

/* Computes the overlap of a and b: volume, bounds, force and torque (pack.h).
 * Cost: some 30 ns per sphere that is within the other's box and 20 ns per pair, on one core with
 * AVX-512; on all threads. */
CAROM_API carom_status carom_balls_overlap(carom_context *context, const carom_balls *a,
                                           const carom_pose *pose_a, const carom_balls *b,
                                           const carom_pose *pose_b,
                                           const carom_balls_query_def *def,
                                           carom_packing_overlap *overlap);

/* Two packings in their poses. */
typedef struct carom_balls_pair {
    const carom_balls *a, *b;
    carom_pose pose_a, pose_b; /* all zero: the identity */
    double scale_a, scale_b;   /* 0: 1 */
} carom_balls_pair;

/* carom_balls_overlap for each of `count` pairs, on all threads; overlaps has space for count. Each
 * pair has scales of its own: those of the def must be 0. On failure the message names the pair. */
CAROM_API carom_status carom_balls_overlap_batch(carom_context *context,
                                                 const carom_balls_pair *pairs, uint64_t count,
                                                 const carom_balls_query_def *def,
                                                 carom_packing_overlap *overlaps);

/* Which balls of the spheres make a pair. */
typedef enum carom_balls_pair_kind {
    CAROM_BALLS_PAIR_KIND_SECONDARY =
        0,                       /* secondary balls with a common volume: those of the estimate */
    CAROM_BALLS_PAIR_KIND_INNER, /* inner balls with a common volume: those of volume.lower */
    CAROM_BALLS_PAIR_KIND_COVER, /* covers that may meet: those of volume.upper */
    CAROM_BALLS_PAIR_KIND_COUNT
} carom_balls_pair_kind;

/* "secondary", "inner", "cover". */
CAROM_API const char *carom_balls_pair_kind_name(carom_balls_pair_kind kind);
CAROM_API bool carom_balls_pair_kind_from_name(const char *name, carom_balls_pair_kind *kind);

/* Finds all pairs (sphere of a, sphere of b), sorted. `skip_limits` has no effect. */
CAROM_API carom_status carom_balls_pairs(carom_context *context, const carom_balls *a,
                                         const carom_pose *pose_a, const carom_balls *b,
                                         const carom_pose *pose_b, carom_balls_pair_kind kind,
                                         const carom_balls_query_def *def, carom_pairs *pairs);

/* Counts these pairs without storing them. */
CAROM_API carom_status carom_balls_count(carom_context *context, const carom_balls *a,
                                         const carom_pose *pose_a, const carom_balls *b,
                                         const carom_pose *pose_b, carom_balls_pair_kind kind,
                                         const carom_balls_query_def *def, uint64_t *count);

/* Says whether there is such a pair; stops soon after the first found. */
CAROM_API carom_status carom_balls_meet(carom_context *context, const carom_balls *a,
                                        const carom_pose *pose_a, const carom_balls *b,
                                        const carom_pose *pose_b, carom_balls_pair_kind kind,
                                        const carom_balls_query_def *def, bool *meet);

/* ---- Bounds on the number of pairs ----------------------------------------------------------- */

/* Upper bounds of the number of pairs. */
typedef struct carom_balls_most {
    uint64_t pairs;    /* that there can be in any poses, from the sizes and the density of the
                          balls; UINT64_MAX: that or more */
    uint64_t disjoint; /* 27 (n_a + n_b): the most where the balls of each packing are disjoint, as
                          inner balls are (Weller, Frese, Zachmann 2013, Theorem 3.2) */
} carom_balls_most;

/* Gives upper bounds of the number of pairs of a kind in any poses, at the scales of def. They hold
 * for poses whose rounding is small against the balls: they move no packing farther than 2^30 times
 * its smallest ball. CAROM_UNSUPPORTED: backend cuda.
 * Cost: O(n) expected, on one thread. */
CAROM_API carom_status carom_balls_bound(carom_context *context, const carom_balls *a,
                                         const carom_balls *b, carom_balls_pair_kind kind,
                                         const carom_balls_query_def *def, carom_balls_most *most);

#ifdef __cplusplus
}
#endif

#endif
