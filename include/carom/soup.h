/* SPDX-License-Identifier: MIT */
/* soup.h: which faces of polygon soups meet, exactly.
 *
 *   carom_soup_create(context, &(carom_soup_def){.mesh = view}, &soup);      prepare
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
typedef enum carom_degenerate {
    CAROM_DEGENERATE_ALONE = 0,  /* listed as (f, f), meets nothing else */
    CAROM_DEGENERATE_AS_SEGMENT, /* the segment or point that its corners span */
    CAROM_DEGENERATE_COUNT
} carom_degenerate;

/* "alone", "as-segment". */
CAROM_API const char *carom_degenerate_name(carom_degenerate degenerate);
CAROM_API bool carom_degenerate_from_name(const char *name, carom_degenerate *degenerate);

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
    carom_mesh_view mesh; /* copied */
    carom_degenerate degenerate;
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
CAROM_API carom_status carom_soup_get_info(carom_context *context, const carom_soup *soup,
                                           carom_soup_info *info);

/* ---- Query: a soup with itself --------------------------------------------------------------- */

/* Finds all pairs, with a <= b, sorted. Allocates nothing once warm. */
CAROM_API carom_status carom_soup_self_pairs(carom_context *context, const carom_soup *soup,
                                             carom_pairs *pairs);

/* Counts the pairs without storing them. */
CAROM_API carom_status carom_soup_self_count(carom_context *context, const carom_soup *soup,
                                             uint64_t *count);

/* Says whether there is a pair; stops at the first found. */
CAROM_API carom_status carom_soup_self_any(carom_context *context, const carom_soup *soup,
                                           bool *any);

/* Receives pairs in ascending order; return true to stop. */
typedef bool carom_pairs_fn(void *user, const carom_pair *pairs, uint64_t count);

/* Passes all pairs to `receive` in ascending chunks, for results too large to hold. Scratch is
 * O(size of the soup). */
CAROM_API carom_status carom_soup_self_each(carom_context *context, const carom_soup *soup,
                                            carom_pairs_fn *receive, void *user);

/* ---- Query: two soups ------------------------------------------------------------------------ */

/* Rules for all queries of two soups.
 * - A pose maps a vertex x to x' = ((r00 x + r01 y) + r02 z) + tx in doubles; NULL or all zero is
 *   the identity. Results are exact with respect to x'.
 * - A face takes part when it has area before the pose is applied, or as the segment it is
 *   (CAROM_DEGENERATE_AS_SEGMENT), whatever its shape after it.
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
CAROM_API carom_status carom_soup_cross_any(carom_context *context, const carom_soup *a,
                                            const carom_pose *pose_a, const carom_soup *b,
                                            const carom_pose *pose_b, bool *any);

/* How far apart two soups or two faces are, and where. */
typedef struct carom_soup_gap {
    double distance;             /* 0 when faces meet, infinite when a soup is empty or above the
                                    limit */
    uint32_t face_a, face_b;     /* a closest pair: the one of lowest index of those found equally
                                    near; CAROM_NO_FACE when the distance is infinite */
    carom_vec3 point_a, point_b; /* on the posed faces */
} carom_soup_gap;

/* Finds the least distance between faces of a and b, and where it is. It is 0 when faces meet,
 * which is decided exactly; the pair is then one that meets.
 * The distance is that of carom_triangles_distance: right to 1e-15 of the extent of the two faces.
 * The pair is chosen by these rounded distances. Unlike in carom_soup_closest_points, pairs whose
 * true distances differ by less than that rounding may be taken as equal or in the wrong order.
 * `limit`: 0 for none. A distance above it is reported as infinite, with CAROM_NO_FACE. The search
 * starts from the limit, so that a small one makes it faster. Whether faces meet is decided as
 * without it.
 * CAROM_BAD_INPUT: a limit that is negative or NaN. */
CAROM_API carom_status carom_soup_cross_distance(carom_context *context, const carom_soup *a,
                                                 const carom_pose *pose_a, const carom_soup *b,
                                                 const carom_pose *pose_b, double limit,
                                                 carom_soup_gap *gap);

/* ---- Query: faces within a margin ------------------------------------------------------------ */

/* Rules for all queries of faces within a margin.
 * - Two faces are within the margin when the least distance between them is at most `margin`, which
 *   is decided exactly: a distance of exactly the margin counts. Margin 0: the closed faces meet.
 * - In one soup, faces with a common vertex are left out, even where they meet elsewhere
 *   (carom_soup_self_pairs finds these). A vertex is common when the index is the same.
 * - Faces without area take no part, or take part as the segments and points they are
 *   (CAROM_DEGENERATE_AS_SEGMENT).
 * - Poses as for all queries of two soups.
 * - CAROM_BAD_INPUT: a margin that is negative, infinite or NaN. CAROM_UNSUPPORTED: a soup of
 *   method GRID, which has no tree to search.
 * - Cost: that of the query for pairs that meet and some ten nanoseconds for every two faces whose
 *   boxes are within the margin. work_budget does not apply. Allocates nothing once warm.
 * How far apart the faces of a pair are, and where they are nearest: carom_soup_self_gaps and
 * carom_soup_cross_gaps. */

/* Finds all pairs of faces of a soup within the margin, with a < b, sorted. */
CAROM_API carom_status carom_soup_self_within(carom_context *context, const carom_soup *soup,
                                              double margin, carom_pairs *pairs);

/* Counts these pairs without storing them. */
CAROM_API carom_status carom_soup_self_within_count(carom_context *context, const carom_soup *soup,
                                                    double margin, uint64_t *count);

/* Says whether there is such a pair; stops at the first found. */
CAROM_API carom_status carom_soup_self_within_any(carom_context *context, const carom_soup *soup,
                                                  double margin, bool *any);

/* Passes these pairs to `receive` in ascending chunks, for results too large to hold. Scratch is
 * O(size of the soup). */
CAROM_API carom_status carom_soup_self_within_each(carom_context *context, const carom_soup *soup,
                                                   double margin, carom_pairs_fn *receive,
                                                   void *user);

/* Finds all pairs (face of a, face of b) within the margin, sorted. */
CAROM_API carom_status carom_soup_cross_within(carom_context *context, const carom_soup *a,
                                               const carom_pose *pose_a, const carom_soup *b,
                                               const carom_pose *pose_b, double margin,
                                               carom_pairs *pairs);

/* Counts these pairs without storing them. */
CAROM_API carom_status carom_soup_cross_within_count(carom_context *context, const carom_soup *a,
                                                     const carom_pose *pose_a, const carom_soup *b,
                                                     const carom_pose *pose_b, double margin,
                                                     uint64_t *count);

/* Says whether there is such a pair; stops at the first found. */
CAROM_API carom_status carom_soup_cross_within_any(carom_context *context, const carom_soup *a,
                                                   const carom_pose *pose_a, const carom_soup *b,
                                                   const carom_pose *pose_b, double margin,
                                                   bool *any);

/* Passes these pairs to `receive` in ascending chunks, for results too large to hold. Scratch is
 * O(size of the soups). */
CAROM_API carom_status carom_soup_cross_within_each(carom_context *context, const carom_soup *a,
                                                    const carom_pose *pose_a, const carom_soup *b,
                                                    const carom_pose *pose_b, double margin,
                                                    carom_pairs_fn *receive, void *user);

/* ---- Query: where pairs of faces are nearest, and where they meet ---------------------------- */

/* Measures the distance of each of `count` pairs of faces of a soup, on all threads, and finds
 * points where they are nearest. gaps has space for count.
 * - The pairs may be any: those of a query, or others, in any order.
 * - The distance is that of carom_triangles_distance, or for polygons the least of their
 * triangles': right to 1e-15 of the extent of the two faces. It is 0 when the faces meet, which is
 * decided exactly. So it may be above a margin that the exact distance is not above, by that
 * rounding.
 * - Faces without area count as the segments and points they are.
 * - CAROM_BAD_INPUT: a face that is not there or was removed.
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
typedef enum carom_segment_kind {
    CAROM_SEGMENT_KIND_POINT = 0, /* the faces have one point in common: p and q are equal */
    CAROM_SEGMENT_KIND_SEGMENT,
    CAROM_SEGMENT_KIND_OUTLINE, /* an edge of the outline of an area that coplanar faces share */
    CAROM_SEGMENT_KIND_COUNT
} carom_segment_kind;

/* "point", "segment", "outline". */
CAROM_API const char *carom_segment_kind_name(carom_segment_kind kind);
CAROM_API bool carom_segment_kind_from_name(const char *name, carom_segment_kind *kind);

/* Where two faces meet. */
typedef struct carom_soup_segment {
    carom_pair pair; /* the faces it belongs to */
    carom_segment_kind kind;
    bool crossing;   /* the relative interiors of the two triangles meet; false: they only touch */
    carom_vec3 p, q; /* on the posed faces */
} carom_soup_segment;

CAROM_RESULT_ARRAY(carom_soup_segments, carom_soup_segment);

/* Finds where each of `count` pairs of faces of a soup meets, on all threads: the common points of
 * the two closed faces, as segments.
 * - The pairs may be any: those of carom_soup_self_pairs, or others, in any order. The segments are
 *   in the order of the pairs. A pair that does not meet has none.
 * - A pair of triangles has one point, one segment, or as many as the outline of the common area
 * has edges. A common vertex or edge is part of it. Polygons have the segments of all their
 * triangles.
 * - What meets and what crosses is decided exactly. Each coordinate is that of the exact point,
 *   rounded once to the nearest double. So an end that belongs to several pairs has the same bits
 * in each: the segments of two closed meshes that cross form closed loops.
 * - The segment of two triangles that are not coplanar runs along the cross product of the normals
 *   of a and b, so that the loops are oriented.
 * - Faces without area count as the segments and points they are.
 * - CAROM_BAD_INPUT: a face that is not there or was removed.
 * Cost: a few microseconds per pair. Allocates nothing once warm. */
CAROM_API carom_status carom_soup_self_segments(carom_context *context, const carom_soup *soup,
                                                const carom_pair *pairs, uint64_t count,
                                                carom_soup_segments *segments);

/* The same for pairs (face of a, face of b). */
CAROM_API carom_status carom_soup_cross_segments(carom_context *context, const carom_soup *a,
                                                 const carom_pose *pose_a, const carom_soup *b,
                                                 const carom_pose *pose_b, const carom_pair *pairs,
                                                 uint64_t count, carom_soup_segments *segments);

/* ---- Query: when two rigid soups meet ---------------------------------------------------------
 */

/* When two moving soups meet. */
typedef struct carom_soup_toi {
    bool hit;                    /* they come within the tolerance of each other */
    double time;                 /* when; no faces meet before it. 1 for a miss */
    double distance;             /* then, of the two faces below */
    uint32_t face_a, face_b;     /* nearest at that time; CAROM_NO_FACE for a miss */
    carom_vec3 point_a, point_b; /* nearest points at that time */
    uint64_t steps;              /* searches */
} carom_soup_toi;

/* Finds when two soups that move as a whole first come within a tolerance of each other, by
 * conservative advancement over both trees: from their distance and the speed at which they
 * approach along it, each pair of faces has a time before which it cannot meet; the least of them
 * is the next time looked at.
 * - Never passes through: no faces meet before `time`, and a miss is certain, up to rounding of
 * some 1e-15 of the sizes, which the tolerance must exceed. Faces that meet at time 0 are found
 *   exactly: time and distance are then 0.
 * - With a separation no faces come so near before `time`; what follows holds beyond it.
 * - A hit may be a near miss: faces were at most the tolerance apart, or most_steps were taken.
 *   Where they do meet, `time` is before that by no more than they need for the tolerance.
 * - Surfaces only: a soup inside the other does not meet it.
 * - Motions may be NULL: at rest at the identity. def may be NULL.
 * - CAROM_BAD_INPUT: a motion, tolerance or separation that is not finite, or a negative one of
 *   the last two.
 *   CAROM_UNSUPPORTED: a soup of method GRID, or backend cuda.
 * - The same bytes for any number of threads. Cost: some ten searches for the least distance. */
CAROM_API carom_status carom_soup_cross_toi(carom_context *context, const carom_soup *a,
                                            const carom_motion *motion_a, const carom_soup *b,
                                            const carom_motion *motion_b,
                                            const carom_advance_def *def, carom_soup_toi *toi);

/* ---- Query: impacts of soups that deform ----------------------------------------------------- */

/* What meets on its way. */
typedef enum carom_impact_kind {
    CAROM_IMPACT_KIND_VERTEX_FACE = 0, /* a vertex of a and a face of b */
    CAROM_IMPACT_KIND_FACE_VERTEX,     /* a face of a and a vertex of b; not within one soup */
    CAROM_IMPACT_KIND_EDGE_EDGE,
    CAROM_IMPACT_KIND_COUNT
} carom_impact_kind;

/* "vertex-face", "face-vertex", "edge-edge". */
CAROM_API const char *carom_impact_kind_name(carom_impact_kind kind);
CAROM_API bool carom_impact_kind_from_name(const char *name, carom_impact_kind *kind);

/* Two things that meet on their way. */
typedef struct carom_soup_impact {
    carom_impact_kind kind;
    uint32_t face_a, face_b; /* the face, or the first face that has the vertex or edge */
    uint32_t a[3], b[3];     /* vertices: one, the two of an edge or the three of a triangle; then
                                UINT32_MAX */
    double lower, upper;     /* the first time they meet is in [lower, upper], part of [0, 1] */
} carom_soup_impact;

CAROM_RESULT_ARRAY(carom_soup_impacts, carom_soup_impact);

/* Rules for all queries of impacts.
 * - Every vertex moves along a straight line at constant speed, from its position in the soup at
 *   time 0 to that in `end` at time 1. Of `end` only positions, scalar, stride and vertex_count are
 *   read. For two soups NULL means that the soup stays where it is.
 * - An impact is a vertex that meets a triangle, or an edge that meets an edge, at some time of
 *   [0, 1]: touching at time 0 counts. Decided exactly, as by carom_point_triangle_toi and
 *   carom_segments_toi. None is missed, none is wrong, none is listed twice.
 * - Triangles that do not meet at time 0 never pass through each other without an impact.
 * - In one soup, a vertex and a triangle that has it, and edges with a common vertex, are left out.
 *   A vertex is common when the index is the same.
 * - All faces that are not removed take part, those without area as the segments and points they
 *   are. Polygons take part as the triangles they are split into.
 * - CAROM_BAD_INPUT: positions that are not finite, or not as many as the soup has vertices.
 *   CAROM_UNSUPPORTED: backend cuda.
 * - Cost: two or three times that of preparing the soup and its pairs, where it moves by some
 *   edges' lengths; on all threads. Allocates nothing once warm. */

/* Finds all impacts of a soup with itself, sorted by kind, then by faces. */
CAROM_API carom_status carom_soup_self_impacts(carom_context *context, const carom_soup *soup,
                                               const carom_mesh_view *end,
                                               carom_soup_impacts *impacts);

/* Finds the impact with the least `lower`, the first of several; `upper` is the least of all. So
 * the first time that anything meets is in [lower, upper]. kind is CAROM_IMPACT_KIND_COUNT when
 * there is none. Much faster than all impacts where these are many or points move far: what is
 * later than an impact already found is left out. */
CAROM_API carom_status carom_soup_self_first_impact(carom_context *context, const carom_soup *soup,
                                                    const carom_mesh_view *end,
                                                    carom_soup_impact *impact);

/* The same between two soups: between faces of a and faces of b only. end_a and end_b may be NULL:
 * that soup stays where it is. */
CAROM_API carom_status carom_soup_cross_impacts(carom_context *context, const carom_soup *a,
                                                const carom_mesh_view *end_a, const carom_soup *b,
                                                const carom_mesh_view *end_b,
                                                carom_soup_impacts *impacts);
CAROM_API carom_status carom_soup_cross_first_impact(carom_context *context, const carom_soup *a,
                                                     const carom_mesh_view *end_a,
                                                     const carom_soup *b,
                                                     const carom_mesh_view *end_b,
                                                     carom_soup_impact *impact);

/* ---- Bounds on the number of candidates ------------------------------------------------------ */

/* Gives an upper bound on the candidates (carom_work.candidates) of method GRID between two soups,
 * whatever their poses. Candidates are pairs whose boxes and enclosing balls overlap. UINT64_MAX:
 * that or more.
 * The bound follows from the sizes and the crowding of the faces of each soup alone. It is linear
 * in the number of faces where few large faces lie near any one (small k_free).
 * It holds for poses whose rounding is small against the faces: they move no soup farther than 2^35
 * times its smallest face.
 * Cost: O(n) expected, on one thread; for any method. */
CAROM_API carom_status carom_soup_cross_bound(carom_context *context, const carom_soup *a,
                                              const carom_soup *b, uint64_t *bound);

/* The same for a soup with itself. */
CAROM_API carom_status carom_soup_self_bound(carom_context *context, const carom_soup *soup,
                                             uint64_t *bound);

/* ---- Query: points and rays ------------------------------------------------------------------ */

/* The face that a ray meets first, or that is nearest to a point. */
typedef struct carom_soup_hit {
    uint32_t face;    /* CAROM_NO_FACE when there is none */
    double distance;  /* for rays: the parameter t of origin + t direction */
    carom_vec3 point; /* on the face; the queried point or origin when there is none */
} carom_soup_hit;
/* No face: that of a hit when there is none. */
#define CAROM_NO_FACE UINT32_MAX

/* Rules for all queries of points and rays. Faces without area take no part, or take part as the
 * segments and points they are (CAROM_DEGENERATE_AS_SEGMENT). Points, origins and directions may be
 * any finite doubles of any scale. */

/* Finds the nearest point of the soup to each of `count` points, on all threads. hits has space for
 * count.
 * - Which face is the nearest is decided exactly. Of faces at exactly the same distance, the one of
 *   lowest index is taken.
 * - distance is that of carom_point_triangle_distance for this face: right to 1e-15 of the extent
 *   of point and face. Infinite: beyond the doubles, or with CAROM_NO_FACE for an empty soup.
 * Cost: a few microseconds per point. More for each face that is equally near up to rounding,
 * unless it shares with the nearest face the edge or corner that holds the nearest point. Up to a
 * millisecond for each where the exponents of one point and soup lie far apart. */
CAROM_API carom_status carom_soup_closest_points(carom_context *context, const carom_soup *soup,
                                                 const carom_vec3 *points, uint64_t count,
                                                 carom_soup_hit *hits);

/* Finds the first face that each ray meets, on all threads. The ray is exactly the points origin +
 * t direction with 0 <= t and, where there is a length, t <= length.
 * - Faces are closed: touching an edge or a corner is meeting.
 * - A ray in the plane of a face meets it in the first of their common points: t is 0 where it
 *   starts on the face. The same holds for segments along the ray.
 * - Which faces are met, which of them first, and whether within the length is decided exactly. Of
 *   faces met at the same t, the one of lowest index is taken.
 * - distance is the exact t, and each coordinate of point that of the exact point, rounded once to
 *   the nearest double: infinite where it is too large, 0 where too small.
 * - A miss has CAROM_NO_FACE and infinite distance.
 * - CAROM_BAD_INPUT: a ray that is not finite, of negative length or with the direction (0, 0, 0).
 * Cost: some hundred nanoseconds per ray, microseconds where doubles cannot decide, up to
 * milliseconds per face where the exponents of one ray and soup lie more than 200 apart. */
CAROM_API carom_status carom_soup_cast_rays(carom_context *context, const carom_soup *soup,
                                            const carom_ray *rays, uint64_t count,
                                            carom_soup_hit *hits);

/* Computes the winding number of the soup around each point, exactly: 0 outside, 1 inside. The soup
 * must be balanced (carom_mesh_inspect). Points on a face get CAROM_ON_SURFACE. */
#define CAROM_ON_SURFACE INT32_MAX
CAROM_API carom_status carom_soup_winding(carom_context *context, const carom_soup *soup,
                                          const carom_vec3 *points, uint64_t count,
                                          int32_t *windings);

/* Computes the generalised winding number of any soup around each point, on all threads: the signed
 * solid angles of all faces, seen from the point, over 4 pi (Jacobson et al. 2013). It is the
 * winding number where the soup is balanced. Where a closed surface has holes it is near 1 inside
 * and near 0 outside: take 0.5 as the limit.
 * - Distant faces are summed up (Barill et al. 2018). The error is at most 0.01, and mostly below
 *   1e-4. Rounding comes on top: of points nearer to a face than 1e-14 of the size of the soup it
 *   may take the other side.
 * - Faces without area count nothing. An empty soup gives 0.
 * - The results have the same bits for any number of threads and any instruction set.
 * Cost: some ten microseconds per point; and O(n) per call on all threads to sum up the faces, so
 * give many points at once. */
CAROM_API carom_status carom_soup_winding_fractions(carom_context *context, const carom_soup *soup,
                                                    const carom_vec3 *points, uint64_t count,
                                                    double *windings);

/* Computes the distance of each point from the soup, on all threads: negative inside, positive
 * outside, infinite for an empty soup. hits gets what carom_soup_closest_points finds (may be
 * NULL).
 * - The soup is balanced (carom_mesh_inspect): inside is a winding number of 1 or more, exactly. So
 *   a mesh that is inside out has no inside. A point on a face has distance 0.
 * - It is not: inside is a generalised winding number of 0.5 or more, as
 *   carom_soup_winding_fractions computes it. The sign of a point near a hole, where that number is
 *   near 0.5, has no meaning.
 * Cost: that of carom_soup_closest_points and carom_soup_winding or _winding_fractions. The first
 * call after a change of the soup also finds out whether it is balanced, in O(n) on all threads. */
CAROM_API carom_status carom_soup_signed_distances(carom_context *context, const carom_soup *soup,
                                                   const carom_vec3 *points, uint64_t count,
                                                   double *distances, carom_soup_hit *hits);

/* ---- Query: k-freeness --------------------------------------------------------------------------
 *
 * The diameter d of a face is that of the smallest ball around its corners. Each face counts the
 * other faces that are at least as large and at most d/4 away. A soup in which every face counts
 * fewer than k is k-free (Weller, Debowski, Zachmann 2017). Two k-free soups meet, in any pose, in
 * at most as many pairs of faces as carom_k_free_get_bounds says: linear in the number of faces.
 *
 * Diameters are doubles, rounded upwards: at least the true one, at most 2^-45 of it larger, the
 * same for any order of a face's corners and of the faces, and for a copy that is moved without
 * rounding. With respect to these doubles all counts are exact. Faces of equal diameter count each
 * other. Whether a face is within d/4 is decided exactly, and a distance of exactly d/4 counts.
 * Faces with a common vertex are at distance 0. Faces without area take no part (but see
 * `degenerate`: as points, of diameter 0, they count what touches them). */

/* How free a soup is, and statistics of the counts. */
typedef struct carom_k_free {
    uint64_t faces;            /* that take part */
    uint64_t k;                /* the least k for which the soup is k-free; 0: no faces */
    uint32_t worst_face;       /* the lowest index of a face that counts k - 1 others;
                                  CAROM_NO_FACE: no faces */
    uint32_t worst_neighbours; /* of these k - 1, those that share a vertex with it */

    /* Statistics of the counts of all faces. A quantile is the least number such that at least that
     * share of the faces has a count no larger. */
    uint64_t total;
    double mean, deviation;
    uint32_t least, quartile_1, median, quartile_3, percentile_90, percentile_99, most;
    double neighbours; /* the share of all counted faces that have a common vertex; 0 when none */

    double least_diameter, largest_diameter; /* of faces that are not points */
    double height;                           /* log2 of largest / least */

    /* Discs, each a quarter of a face's diameter wide, that suffice to cover all faces: 12 per
     * triangle; for a face of more triangles 12 for each, or 49 when it is flat and that is fewer.
     */
    uint64_t discs;
} carom_k_free;

/* Computes k and the count of every face. `counts` gets the count of each face, 0 for faces that
 * take no part (may be NULL).
 * CAROM_BAD_INPUT: coordinates beyond 2^1020. CAROM_UNSUPPORTED: on the CPU a soup of method GRID,
 * which has no tree to search; on cuda a soup of polygons.
 * Cost: O(n k) on all threads; allocates nothing once warm. */
CAROM_API carom_status carom_soup_k_free(carom_context *context, const carom_soup *soup,
                                         carom_k_free *k_free, carom_numbers *counts);

/* How many pairs of faces two soups can have. */
typedef struct carom_k_free_bounds {
    /* Upper bound on the pairs that meet in any rigid motion: discs_a k_b + discs_b k_a, which is
     * at most 12 k (n_a + n_b) for triangles and 49 k (n_a + n_b) for flat polygons; or n_a n_b
     * when that is less. For soups of one scale; posed coordinates are assumed not to be rounded.
     */
    uint64_t pairs;
    /* 3 k (n_a + n_b) for triangles, 7 k (n_a + n_b) for polygons: as published. Not a bound: see
     * docs/kfree.md. */
    uint64_t published;
} carom_k_free_bounds;

/* Computes the bounds from k and the counts of two soups. Numbers too large are UINT64_MAX. */
CAROM_API carom_status carom_k_free_get_bounds(carom_context *context, const carom_k_free *a,
                                               const carom_k_free *b, carom_k_free_bounds *bounds);

#ifdef __cplusplus
}
#endif

#endif
