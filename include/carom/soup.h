/* SPDX-License-Identifier: MIT */
/* soup.h: which faces of polygon soups meet, exactly.
 *
 *   carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup);      prepare
 *   carom_soup_self_pairs(context, soup, &pairs);                            query
 *
 * A soup is any set of polygons: open, closed, broken, self-intersecting. All decisions are made
 * with exact predicates: no pair is missed, none is wrong, none is listed twice, whatever the
 * input. Lists are sorted and identical for any number of threads and any instruction set.
 *
 * Pairs of faces of one soup. A face without area (the corners of each of its triangles lie on one
 * line) is listed once as (f, f) and takes part in no other pair (see `degenerate`). Whether two
 * other faces are a pair depends on how many vertices they have in common. A vertex is common when
 * the index is the same: weld first where equal coordinates should be one vertex.
 *   none   the closed faces meet, touching included;
 *   one    they meet elsewhere too: the edge opposite the common vertex in either face meets the
 *          other closed face;
 *   two    they are coplanar and lie on the same side of the common edge;
 *   three  always.
 * Polygons are split into triangles. Two polygons are a pair when a triangle of one and a triangle
 * of the other are; triangles of the same polygon never are.
 *
 * Pairs of faces of two soups: the closed faces meet, touching included. Faces without area are
 * left out.
 */
#ifndef CAROM_SOUP_H
#define CAROM_SOUP_H

#include "carom/grid.h"
#include "carom/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Prepare --------------------------------------------------------------------------------- */

/* How a face without area is treated. */
typedef enum carom_soup_degenerate {
    CAROM_SOUP_DEGENERATE_ALONE = 0,  /* listed as (f, f), meets nothing else */
    CAROM_SOUP_DEGENERATE_AS_SEGMENT, /* the segment or point that its corners span */
    CAROM_SOUP_DEGENERATE_COUNT
} carom_soup_degenerate;

/* "alone", "as-segment". */
CAROM_API const char *carom_soup_degenerate_name(carom_soup_degenerate degenerate);
CAROM_API bool carom_soup_degenerate_from_name(const char *name, carom_soup_degenerate *degenerate);

/* How pairs are searched for. The results are the same. */
typedef enum carom_soup_method {
    CAROM_SOUP_METHOD_AUTO = 0, /* the tree, then the grid if the tree exceeds work_budget */
    CAROM_SOUP_METHOD_TREE,     /* a box tree: nearly always the fastest; work unbounded */
    CAROM_SOUP_METHOD_GRID,     /* the hierarchical grid of kDet: work bounded by
                                   carom_soup_cross_bound. Has no tree: for pairs only;
                                   distance, points and rays give CAROM_UNSUPPORTED */
    CAROM_SOUP_METHOD_COUNT
} carom_soup_method;

/* "auto", "tree", "grid". */
CAROM_API const char *carom_soup_method_name(carom_soup_method method);
CAROM_API bool carom_soup_method_from_name(const char *name, carom_soup_method *method);

/* The faces, and how they are searched. */
typedef struct carom_soup_def {
    const carom_mesh_view *mesh; /* copied; NULL: no faces */
    carom_soup_degenerate degenerate;
    bool fan;   /* split polygons into fans from their first corner, and count and index the
                   triangles */
    bool rigid; /* the soup will only move as a whole: preparing takes longer and 68 bytes more per
                   triangle, queries of two soups are faster */
    carom_soup_method method;
    carom_grid_def grid;  /* of CAROM_SOUP_METHOD_GRID */
    uint64_t work_budget; /* of CAROM_SOUP_METHOD_AUTO: nodes and candidates that a query for pairs
                             may visit in the tree; 0: 256 per triangle and 65,536 */
} carom_soup_def;

/* Polygons, prepared for queries. */
typedef struct carom_soup carom_soup;

/* Prepares a soup. The mesh must pass carom_mesh_check. On failure *soup is NULL.
 * Cost: O(n) on all threads. Memory: beyond the copy of the mesh about 43 bytes per triangle, with
 * method GRID about 110; preparing takes 12 more from the context's scratch.
 * CAROM_NO_MEMORY: the message has the bytes refused and those that the soup needs in all.
 * CAROM_TOO_LARGE: more than 2^32 - 65 triangles. */
CAROM_API carom_status carom_soup_create(carom_context *context, const carom_soup_def *def,
                                         carom_soup **soup);

/* NULL is fine. */
CAROM_API void carom_soup_destroy(carom_soup *soup);

/* Replaces the positions of the vertices: only positions, scalar, stride and vertex_count of the
 * view are read. Polygons keep the triangles they were split into. Needs exclusive use.
 * Cost: prepares anew in O(n). Allocates nothing once warm; the first update allocates a second set
 * of positions.
 * A failed update leaves the old positions and faces. After bad input the soup can still be used.
 * When preparing ran out of memory, was cancelled, or was too large for a grid, the tree or grid is
 * lost: queries then return the status of that failure until a change succeeds. Any change will do,
 * such as removing no faces. */
CAROM_API carom_status carom_soup_update(carom_context *context, carom_soup *soup,
                                         const carom_mesh_view *mesh);

/* Appends the view's vertices and faces to those of the soup; *first is the index of the first new
 * face (first may be NULL). Needs exclusive use, and memory for the old and the new soup at once.
 * On any failure the soup is unchanged and can be used, and *first is not written. */
CAROM_API carom_status carom_soup_add(carom_context *context, carom_soup *soup,
                                      const carom_mesh_view *mesh, uint32_t *first);

/* Removes faces. Indices of removed faces are not reused, and the other faces keep theirs. Removing
 * a removed face does nothing. Allocates nothing once warm. Needs exclusive use; failures as for
 * update. */
CAROM_API carom_status carom_soup_remove(carom_context *context, carom_soup *soup,
                                         const uint32_t *faces, uint64_t count);

/* What a soup consists of. */
typedef struct carom_soup_info {
    uint64_t faces;     /* indices given out, those of removed faces included */
    uint64_t live;      /* faces that are not removed */
    uint64_t triangles; /* of these faces */
    uint64_t degenerate_faces;
    uint64_t bytes; /* held by the soup */
} carom_soup_info;

/* Gets what the soup consists of. */
CAROM_API carom_status carom_soup_get_info(const carom_soup *soup, carom_soup_info *info);
/* ---- Query: a soup with itself --------------------------------------------------------------- */

/* Finds all pairs, with a <= b, sorted. Allocates nothing once warm. */
CAROM_API carom_status carom_soup_self_pairs(carom_context *context, const carom_soup *soup,
                                             carom_pairs *pairs);

/* Counts the pairs without storing them. */
CAROM_API carom_status carom_soup_self_count(carom_context *context, const carom_soup *soup,
                                             uint64_t *count);

/* Says whether there is a pair; stops at the first found. */
CAROM_API carom_status carom_soup_self_meet(carom_context *context, const carom_soup *soup,
                                            bool *meet);

/* Passes all pairs to `receive` in ascending chunks, for results too large to hold. Scratch is
 * O(size of the soup). */
CAROM_API carom_status carom_soup_self_each(carom_context *context, const carom_soup *soup,
                                            carom_pairs_fn *receive, void *user);

/* ---- Query: two soups ------------------------------------------------------------------------ */

/* Rules for all queries of two soups.
 * - A pose maps a vertex x to x' = ((r00 x + r01 y) + r02 z) + tx in doubles; NULL or all zero is
 *   the identity. Results are exact with respect to x'.
 * - A face takes part when it has area before the pose is applied, or as the segment it is
 *   (CAROM_SOUP_DEGENERATE_AS_SEGMENT), whatever its shape after it.
 * - CAROM_BAD_INPUT: a pose that is not finite, or that moves a soup beyond the range of doubles.
 * - Soups made `rigid` are searched several times faster; any two soups may be combined.
 * - Where sizes or distances differ by more than a factor of 2^50, all faces are compared with all.
 * - Allocates nothing once warm. */

/* Finds all pairs (face of a, face of b), sorted. */
CAROM_API carom_status carom_soup_cross_pairs(carom_context *context, const carom_soup *a,
                                              const carom_pose *pose_a, const carom_soup *b,
                                              const carom_pose *pose_b, carom_pairs *pairs);

/* Counts these pairs without storing them. */
CAROM_API carom_status carom_soup_cross_count(carom_context *context, const carom_soup *a,
                                              const carom_pose *pose_a, const carom_soup *b,
                                              const carom_pose *pose_b, uint64_t *count);

/* Passes these pairs to `receive` in ascending chunks, for results too large to hold. Scratch is
 * O(size of the soups). */
CAROM_API carom_status carom_soup_cross_each(carom_context *context, const carom_soup *a,
                                             const carom_pose *pose_a, const carom_soup *b,
                                             const carom_pose *pose_b, carom_pairs_fn *receive,
                                             void *user);

/* Says whether any faces meet; stops at the first found. Does not tell whether one soup is inside
 * the other. */
CAROM_API carom_status carom_soup_cross_meet(carom_context *context, const carom_soup *a,
                                             const carom_pose *pose_a, const carom_soup *b,
                                             const carom_pose *pose_b, bool *meet);

/* How far apart two soups or two faces are, and where. */
typedef struct carom_soup_gap {
    double distance;             /* 0 when faces meet, infinite when a soup is empty or above the
                                    limit */
    uint32_t face_a, face_b;     /* a closest pair: the one of lowest index of those found equally
                                    near; CAROM_NONE when the distance is infinite */
    carom_vec3 point_a, point_b; /* on the posed faces */
} carom_soup_gap;

/* Finds the least distance between faces of a and b, and where it is. It is 0 when faces meet,
 * which is decided exactly; the pair is then one that meets.
 * The distance is that of carom_triangles_distance: right to 1e-15 of the extent of the two faces.
 * The pair is chosen by these rounded distances. Unlike in carom_soup_closest_points, pairs whose
 * true distances differ by less than that rounding may be taken as equal or in the wrong order.
 * `limit`: 0 for none. A distance above it is reported as infinite, with CAROM_NONE. The search
 * starts from the limit, so that a small one makes it faster. Whether faces meet is decided as
 * without it.
 * On a context of backend cuda the search is on the GPU. Where faces meet, the host finds the pair
 * of faces, for which it makes a tree once per change of a soup.
 * CAROM_BAD_INPUT: a limit that is negative or NaN. */
CAROM_API carom_status carom_soup_cross_distance(carom_context *context, const carom_soup *a,
                                                 const carom_pose *pose_a, const carom_soup *b,
                                                 const carom_pose *pose_b, double limit,
                                                 carom_soup_gap *gap);

/* ---- Query: many pairs of soups -------------------------------------------------------------- */

/* Two soups in their poses. */
typedef struct carom_soup_pair {
    const carom_soup *a, *b;
    carom_pose pose_a, pose_b; /* all zero: the identity */
} carom_soup_pair;

/* carom_soup_cross_meet for each of `count` pairs; meet has space for count. On failure the message
 * names the pair; the answers before it are complete. */
CAROM_API carom_status carom_soup_cross_meet_batch(carom_context *context,
                                                   const carom_soup_pair *pairs, uint64_t count,
                                                   bool *meet);

/* carom_soup_cross_distance for each of `count` pairs, with one limit; gaps has space for count. On
 * the GPU all poses of two soups are searched together, as in carom_soup_cross_meet_batch. */
CAROM_API carom_status carom_soup_cross_distance_batch(carom_context *context,
                                                       const carom_soup_pair *pairs, uint64_t count,
                                                       double limit, carom_soup_gap *gaps);

/* ---- Query: faces within reach ----------------------------------------------------------------
 */

/* Rules for all queries of faces within reach.
 * - Two faces are within reach when the least distance between them is at most `reach`, which
 *   is decided exactly: a distance of exactly the reach counts. Reach 0: the closed faces meet.
 * - In one soup, faces with a common vertex are left out, even where they meet elsewhere
 *   (carom_soup_self_pairs finds these). A vertex is common when the index is the same.
 * - Faces without area take no part, or take part as the segments and points they are
 *   (CAROM_SOUP_DEGENERATE_AS_SEGMENT).
 * - Poses as for all queries of two soups.
 * - CAROM_BAD_INPUT: a reach that is negative, infinite or NaN. CAROM_UNSUPPORTED: a soup of
 *   method GRID, which has no tree to search.
 * - Cost: that of the query for pairs that meet and some ten nanoseconds for every two faces whose
 *   boxes are within reach. work_budget does not apply. Allocates nothing once warm.
 *
 * How far apart the faces of a pair are, and where they are nearest: carom_soup_self_gaps and
 * carom_soup_cross_gaps. */

/* Finds all pairs of faces of a soup within reach, with a < b, sorted. */
CAROM_API carom_status carom_soup_self_pairs_within(carom_context *context, const carom_soup *soup,
                                                    double reach, carom_pairs *pairs);

/* Counts these pairs without storing them. */
CAROM_API carom_status carom_soup_self_count_within(carom_context *context, const carom_soup *soup,
                                                    double reach, uint64_t *count);

/* Says whether there is such a pair; stops at the first found. */
CAROM_API carom_status carom_soup_self_meet_within(carom_context *context, const carom_soup *soup,
                                                   double reach, bool *meet);

/* Passes these pairs to `receive` in ascending chunks, for results too large to hold. Scratch is
 * O(size of the soup). */
CAROM_API carom_status carom_soup_self_each_within(carom_context *context, const carom_soup *soup,
                                                   double reach, carom_pairs_fn *receive,
                                                   void *user);

/* Finds all pairs (face of a, face of b) within reach, sorted. */
CAROM_API carom_status carom_soup_cross_pairs_within(carom_context *context, const carom_soup *a,
                                                     const carom_pose *pose_a, const carom_soup *b,
                                                     const carom_pose *pose_b, double reach,
                                                     carom_pairs *pairs);

/* Counts these pairs without storing them. */
CAROM_API carom_status carom_soup_cross_count_within(carom_context *context, const carom_soup *a,
                                                     const carom_pose *pose_a, const carom_soup *b,
                                                     const carom_pose *pose_b, double reach,
                                                     uint64_t *count);

/* Says whether there is such a pair; stops at the first found. */
CAROM_API carom_status carom_soup_cross_meet_within(carom_context *context, const carom_soup *a,
                                                    const carom_pose *pose_a, const carom_soup *b,
                                                    const carom_pose *pose_b, double reach,
                                                    bool *meet);

/* Passes these pairs to `receive` in ascending chunks, for results too large to hold. Scratch is
 * O(size of the soups). */
CAROM_API carom_status carom_soup_cross_each_within(carom_context *context, const carom_soup *a,
                                                    const carom_pose *pose_a, const carom_soup *b,
                                                    const carom_pose *pose_b, double reach,
                                                    carom_pairs_fn *receive, void *user);

/* ---- Query: where pairs of faces are nearest, and where they meet ---------------------------- */

/* Measures the distance of each of `count` pairs of faces of a soup, on all threads, and finds
 * points where they are nearest. gaps has space for count.
 * - The pairs may be any: those of a query, or others, in any order.
 * - The distance is that of carom_triangles_distance, or for polygons the least of their
 *   triangles': right to 1e-15 of the extent of the two faces. It is 0 when the faces meet, which
 *   is decided exactly. So it may be above a reach that the exact distance is not above, by that
 *   rounding.
 * - Faces without area count as the segments and points they are.
 * - CAROM_BAD_INPUT: a face that is not there or was removed.
 *
 * Cost: about half a microsecond per pair of triangles. */
CAROM_API carom_status carom_soup_self_gaps(carom_context *context, const carom_soup *soup,
                                            const carom_pair *pairs, uint64_t count,
                                            carom_soup_gap *gaps);

/* The same for pairs (face of a, face of b). */
CAROM_API carom_status carom_soup_cross_gaps(carom_context *context, const carom_soup *a,
                                             const carom_pose *pose_a, const carom_soup *b,
                                             const carom_pose *pose_b, const carom_pair *pairs,
                                             uint64_t count, carom_soup_gap *gaps);

/* What two faces have in common. */
typedef enum carom_soup_segment_kind {
    CAROM_SOUP_SEGMENT_KIND_POINT = 0, /* the faces have one point in common: p and q are equal */
    CAROM_SOUP_SEGMENT_KIND_SEGMENT,
    CAROM_SOUP_SEGMENT_KIND_OUTLINE, /* an edge of the outline of an area that coplanar faces share
                                      */
    CAROM_SOUP_SEGMENT_KIND_COUNT
} carom_soup_segment_kind;

/* "point", "segment", "outline". */
CAROM_API const char *carom_soup_segment_kind_name(carom_soup_segment_kind kind);
CAROM_API bool carom_soup_segment_kind_from_name(const char *name, carom_soup_segment_kind *kind);

/* Where two faces meet. */
typedef struct carom_soup_segment {
    carom_pair pair; /* the faces it belongs to */
    carom_soup_segment_kind kind;
    bool crossing;   /* the relative interiors of the two triangles meet; false: they only touch */
    carom_vec3 p, q; /* on the posed faces */
} carom_soup_segment;

CAROM_RESULT_ARRAY(carom_soup_segments, carom_soup_segment);

/* Finds where each of `count` pairs of faces of a soup meets, on all threads: the common points of
 * the two closed faces, as segments.
 * - The pairs may be any: those of carom_soup_self_pairs, or others, in any order. The segments are
 *   in the order of the pairs. A pair that does not meet has none.
 * - A pair of triangles has one point, one segment, or as many as the outline of the common area
 *   has edges. A common vertex or edge is part of it. Polygons have the segments of all their
 *   triangles.
 * - What meets and what crosses is decided exactly. Each coordinate is that of the exact point,
 *   rounded once to the nearest double. So an end that belongs to several pairs has the same bits
 *   in each: the segments of two closed meshes that cross form closed loops.
 * - The segment of two triangles that are not coplanar runs along the cross product of the normals
 *   of a and b, so that the loops are oriented.
 * - Faces without area count as the segments and points they are.
 * - CAROM_BAD_INPUT: a face that is not there or was removed.
 *
 * Cost: a few microseconds per pair. Allocates nothing once warm. */
CAROM_API carom_status carom_soup_self_segments(carom_context *context, const carom_soup *soup,
                                                const carom_pair *pairs, uint64_t count,
                                                carom_soup_segments *segments);

/* The same for pairs (face of a, face of b). */
CAROM_API carom_status carom_soup_cross_segments(carom_context *context, const carom_soup *a,
                                                 const carom_pose *pose_a, const carom_soup *b,
                                                 const carom_pose *pose_b, const carom_pair *pairs,
                                                 uint64_t count, carom_soup_segments *segments);

/* ---- Bounds on the number of candidates ------------------------------------------------------ */

/* Gives an upper bound on the candidates (carom_work.candidates) of method GRID between two soups,
 * whatever their poses. Candidates are pairs whose boxes and enclosing balls overlap. UINT64_MAX:
 * that or more.
 * The bound follows from the sizes and the density of the faces of each soup alone. It is linear
 * in the number of faces where few large faces lie near any one (small k: kfree.h).
 * It holds for poses whose rounding is small against the faces: they move no soup farther than 2^35
 * times its smallest face.
 * Cost: O(n) expected, on one thread; for any method. */
CAROM_API carom_status carom_soup_cross_bound(carom_context *context, const carom_soup *a,
                                              const carom_soup *b, uint64_t *most);

/* The same for a soup with itself. */
CAROM_API carom_status carom_soup_self_bound(carom_context *context, const carom_soup *soup,
                                             uint64_t *most);

#ifdef __cplusplus
}
#endif

#endif
