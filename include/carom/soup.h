/* SPDX-License-Identifier: MIT */
/* soup.h: which faces meet, exactly.
 *
 *   carom_soup_create(context, &(carom_soup_def){.mesh = view}, &soup);      prepare
 *   carom_soup_self_pairs(context, soup, &pairs);                            query
 *
 * A soup is any set of polygons: open, closed, broken, crossing itself. All decisions are made with
 * exact predicates: no misses, no ghosts, no duplicates, whatever the input. Lists are sorted and
 * the same for any number of threads and any instruction set.
 *
 * Which pairs of faces of one soup count. A face without area (the corners of each of its triangles
 * lie on one line) is listed once as (f, f) and takes part in no other pair (see `degenerate`).
 * Otherwise, by vertices in common (the same index: weld first where equal coordinates should be
 * one vertex):
 *   none   the closed faces meet, touching included;
 *   one    they meet elsewhere too: the edge opposite the common vertex in either face meets the
 *          other closed face;
 *   two    they are coplanar and lie on the same side of the common edge;
 *   three  always.
 * Polygons are split into triangles, and two polygons count when a triangle of one and a triangle
 * of the other do; never within one polygon. Two soups: closed faces that meet, touching included;
 * faces without area are left out.
 */
#ifndef CAROM_SOUP_H
#define CAROM_SOUP_H

#include "carom/grid.h"
#include "carom/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- prepare --------------------------------------------------------------------------------- */

/* What a face without area is. */
typedef enum carom_degenerate {
    CAROM_DEGENERATE_ALONE = 0,  /* listed as (f, f), meets nothing */
    CAROM_DEGENERATE_AS_SEGMENT, /* the segment or point that its corners span */
    CAROM_DEGENERATE_COUNT
} carom_degenerate;

/* How pairs are searched for. The answers are the same. */
typedef enum carom_soup_method {
    CAROM_SOUP_METHOD_AUTO =
        0,                  /* the tree, and the grid where the tree takes more than work_budget */
    CAROM_SOUP_METHOD_TREE, /* a box tree: fastest nearly always, without a bound */
    CAROM_SOUP_METHOD_GRID, /* the hierarchical grid of kDet: work as carom_soup_cross_bound says.
                        Holds no tree: for pairs only; distance, points and rays give
                        CAROM_UNSUPPORTED */
    CAROM_SOUP_METHOD_COUNT
} carom_soup_method;

typedef struct carom_soup_def {
    carom_mesh_view mesh; /* copied */
    carom_degenerate degenerate;
    bool fan;   /* split polygons from their first corner, and count and number the triangles */
    bool rigid; /* it will only be moved as a whole: prepare longer, and hold 68 bytes a triangle
                   more, for faster queries of two soups */
    carom_soup_method method;
    carom_grid_def grid;  /* of CAROM_SOUP_METHOD_GRID */
    uint64_t work_budget; /* of CAROM_SOUP_METHOD_AUTO: nodes and candidates a query for pairs may
                             take in the tree; 0: 64 a triangle and 65,536 */
} carom_soup_def;

typedef struct carom_soup carom_soup;

/* Prepares a soup: O(n) on all threads. The mesh must pass carom_mesh_check. Beyond the copy of the
 * mesh it holds about 43 bytes a triangle, with method GRID about 110. On failure *soup is NULL. */
CAROM_API carom_status carom_soup_create(carom_context *context, const carom_soup_def *def,
                                         carom_soup **soup);

/* NULL is fine. */
CAROM_API void carom_soup_destroy(carom_soup *soup);

/* New positions for the same vertices: only positions, scalar, stride and vertex_count of the view
 * are read. Polygons keep the triangles they were split into. Prepares anew in O(n) and allocates
 * nothing once warm: the first update takes room for a second set of positions. Needs exclusive
 * use.
 * A failed update has not happened: positions and faces are the old ones. After bad input that is
 * all; but when memory ran out while preparing, or that was cancelled or too large for a grid, the
 * tree or grid is lost: queries then return the status of that failure until a change succeeds,
 * which may be any: removing no faces will do. */
CAROM_API carom_status carom_soup_update(carom_context *context, carom_soup *soup,
                                         const carom_mesh_view *mesh);

/* Adds the view's vertices and faces after those there are; *first is the number of the first new
 * face (NULL: not wanted). Needs exclusive use, and memory for the old and the new soup at once. On
 * any failure the soup is as it was and can be used, and *first is not written. */
CAROM_API carom_status carom_soup_add(carom_context *context, carom_soup *soup,
                                      const carom_mesh_view *mesh, uint32_t *first);

/* Takes faces out; their numbers are dead and stay so, the others keep theirs. Removing a dead face
 * does nothing. Allocates nothing once warm. Needs exclusive use; failures as for update. */
CAROM_API carom_status carom_soup_remove(carom_context *context, carom_soup *soup,
                                         const uint32_t *faces, uint64_t count);

typedef struct carom_soup_info {
    uint64_t faces;     /* numbers given out, dead ones included */
    uint64_t live;      /* faces that are there */
    uint64_t triangles; /* they are split into */
    uint64_t degenerate_faces;
    uint64_t bytes; /* held by the soup */
} carom_soup_info;

CAROM_API carom_status carom_soup_get_info(carom_context *context, const carom_soup *soup,
                                           carom_soup_info *info);

/* ---- query: a soup with itself --------------------------------------------------------------- */

/* All pairs that count, a <= b, sorted. Allocates nothing once warm. */
CAROM_API carom_status carom_soup_self_pairs(carom_context *context, const carom_soup *soup,
                                             carom_pairs *pairs);

/* Their number, without storing them. */
CAROM_API carom_status carom_soup_self_count(carom_context *context, const carom_soup *soup,
                                             uint64_t *count);

/* Whether there is any; stops at the first found. */
CAROM_API carom_status carom_soup_self_any(carom_context *context, const carom_soup *soup,
                                           bool *any);

/* Receives pairs in ascending order; return true to stop. */
typedef bool carom_pairs_fn(void *user, const carom_pair *pairs, uint64_t count);

/* Streams all pairs in ascending chunks, for results too large to hold. Scratch stays in the order
 * of the soup's own size. */
CAROM_API carom_status carom_soup_self_each(carom_context *context, const carom_soup *soup,
                                            carom_pairs_fn *receive, void *user);

/* ---- query: two soups ------------------------------------------------------------------------ */

/* Poses move a soup's vertices, x' = ((r00 x + r01 y) + r02 z) + tx in doubles; NULL or all zero is
 * the identity. Answers are exact with respect to x'. A face takes part when it has area as given,
 * or as the segment it is (CAROM_DEGENERATE_AS_SEGMENT), whatever becomes of it in the pose.
 * CAROM_BAD_INPUT: a pose that is not finite, or that moves a soup beyond the range of doubles.
 * Soups made `rigid` are searched several times faster; any two may be mixed. Sizes or distances
 * more than 2^50 apart are compared all with all. Allocates nothing once warm. */

/* All pairs (face of a, face of b), sorted. */
CAROM_API carom_status carom_soup_cross_pairs(carom_context *context, const carom_soup *a,
                                              const carom_pose *pose_a, const carom_soup *b,
                                              const carom_pose *pose_b, carom_pairs *pairs);

/* Whether any faces meet; stops at the first found. Says nothing of one inside the other. */
CAROM_API carom_status carom_soup_cross_any(carom_context *context, const carom_soup *a,
                                            const carom_pose *pose_a, const carom_soup *b,
                                            const carom_pose *pose_b, bool *any);

typedef struct carom_soup_gap {
    double distance;             /* 0 when faces meet, infinite when a soup is empty */
    uint32_t face_a, face_b;     /* a closest pair: the lowest of those found equally near */
    carom_vec3 point_a, point_b; /* on the posed faces */
} carom_soup_gap;

/* The least distance of any two faces, and where; 0 when faces meet, which is decided exactly, and
 * the pair is then one of those. The distance is that of carom_triangles_distance: right to 1e-15
 * of the extent of the two faces. The pair is chosen by these distances as they are rounded: unlike
 * for carom_soup_closest_points, pairs whose true distances are no farther apart than that may
 * count as equal or the other way round. */
CAROM_API carom_status carom_soup_cross_distance(carom_context *context, const carom_soup *a,
                                                 const carom_pose *pose_a, const carom_soup *b,
                                                 const carom_pose *pose_b, carom_soup_gap *gap);

/* ---- the bound ------------------------------------------------------------------------------- */

/* The most candidates, carom_work.candidates, that method GRID can have between two soups, whatever
 * their poses: pairs whose boxes and enclosing balls overlap. From the sizes of faces and how they
 * crowd in each soup alone; linear in the number of faces where few large ones lie near one (k_free
 * small). UINT64_MAX: that or more. Holds for poses whose rounding is small against the faces: they
 * move no soup farther than 2^35 times its smallest face. O(n) expected, on one thread; any method.
 */
CAROM_API carom_status carom_soup_cross_bound(carom_context *context, const carom_soup *a,
                                              const carom_soup *b, uint64_t *bound);

/* The same for a soup with itself. */
CAROM_API carom_status carom_soup_self_bound(carom_context *context, const carom_soup *soup,
                                             uint64_t *bound);

/* ---- query: points and rays ------------------------------------------------------------------ */

typedef struct carom_soup_hit {
    uint32_t face;    /* CAROM_NO_FACE when there is none */
    double distance;  /* for rays: the parameter t of origin + t direction */
    carom_vec3 point; /* on the face; the point or origin asked for when there is none */
} carom_soup_hit;
#define CAROM_NO_FACE UINT32_MAX

/* Faces without area take no part in these, or as the segments and points they are
 * (CAROM_DEGENERATE_AS_SEGMENT). Points, origins and directions may be any finite doubles; the
 * scale does not matter. */

/* The nearest point of the soup to each of `count` points, on all threads. hits has room for count.
 * - Which face is the nearest is decided exactly. Faces at exactly the same distance are a tie: the
 *   lowest is taken.
 * - distance is that of carom_point_triangle_distance for this face: right to 1e-15 of the extent
 *   of point and face. Infinite: beyond the doubles, or with CAROM_NO_FACE for an empty soup.
 * A microsecond or a few per point; some more for each face within rounding of the nearest that has
 * no edge or corner with the nearest point on it in common with it; up to a millisecond for each
 * where the exponents of one point and soup lie far apart. */
CAROM_API carom_status carom_soup_closest_points(carom_context *context, const carom_soup *soup,
                                                 const carom_vec3 *points, uint64_t count,
                                                 carom_soup_hit *hits);

typedef struct carom_ray {
    carom_vec3 origin, direction; /* any length but zero, subnormal included */
    double length;                /* in units of direction; 0 or infinite: without end */
} carom_ray;

/* The first face each ray meets, on all threads. The ray is exactly the points origin +
 * t direction with 0 <= t and, where there is a length, t <= length.
 * - Faces are closed: touching an edge or a corner is meeting.
 * - A ray that runs inside a face's plane meets it in the first of their common points: t is 0
 *   where it starts on the face. So it is with segments along the ray.
 * - Which faces are met, which of them first, and whether within the length is decided exactly.
 *   Faces met at the same t are a tie: the lowest is taken.
 * - distance is the exact t, and each coordinate of point that of the exact point, rounded once to
 *   the nearest double: infinite where it is too large, 0 where too small.
 * A miss has CAROM_NO_FACE and infinite distance. CAROM_BAD_INPUT: a ray that is not finite, of
 * negative length or with the direction (0, 0, 0). Some hundred nanoseconds per ray, microseconds
 * where doubles cannot decide, up to milliseconds per face where the exponents of one ray and soup
 * lie more than 200 apart. */
CAROM_API carom_status carom_soup_cast_rays(carom_context *context, const carom_soup *soup,
                                            const carom_ray *rays, uint64_t count,
                                            carom_soup_hit *hits);

/* How often the soup, which must be balanced (carom_mesh_inspect), winds around each point: 0
 * outside, 1 inside, exact; points on a face get CAROM_ON_SURFACE. */
#define CAROM_ON_SURFACE INT32_MAX
CAROM_API carom_status carom_soup_winding(carom_context *context, const carom_soup *soup,
                                          const carom_vec3 *points, uint64_t count,
                                          int32_t *windings);

/* ---- query: how crowded -------------------------------------------------------------------------
 *
 * For a face of diameter d, that of the smallest ball around its corners, count the other faces
 * that are at least as large and at most d/4 away. A soup in which every face counts fewer than k
 * is k-free (Weller, Debowski, Zachmann 2017), and two k-free soups, however they are moved, meet
 * in no more pairs of faces than carom_k_free_get_bounds says: linear in the number of faces.
 *
 * Diameters are doubles, rounded upwards: at least the true one, at most 2^-45 of it larger, the
 * same for any order of a face's corners and of the faces, and for a copy that is moved without
 * rounding. With respect to these doubles everything is exact: sizes are compared as they are
 * (faces of equal diameter count each other), and whether a face is within d/4 is decided without
 * any error, touching that distance included. Faces with a common vertex are at distance 0. Faces
 * without area take no part (but see `degenerate`: as points, of diameter 0, they count what
 * touches them). */

typedef struct carom_k_free {
    uint64_t faces;            /* that take part */
    uint64_t k;                /* the least k for which the soup is k-free; 0: no faces */
    uint32_t worst_face;       /* the lowest that counts k - 1 others; CAROM_NO_FACE: no faces */
    uint32_t worst_neighbours; /* those of the k - 1 that share a vertex with it */

    /* Of the numbers that the faces count. A quantile is the least number that at least that share
     * of the faces does not pass. */
    uint64_t total;
    double mean, deviation;
    uint32_t least, quartile_1, median, quartile_3, percentile_90, percentile_99, most;
    double neighbours; /* the share of all counted that have a common vertex; 0 when none */

    double least_diameter, largest_diameter; /* of faces that are no points */
    double height;                           /* log2 of largest / least */

    /* A quarter of a face's diameter wide and enough to cover all faces: 12 a triangle; for a face
     * of more triangles 12 for each, or 49 when it is flat and that is fewer. */
    uint64_t discs;
} carom_k_free;

/* Counts for every face; O(n k) on all threads, allocates nothing once warm. `counts` gets the
 * number of each face, 0 for faces that take no part (NULL: not wanted). CAROM_BAD_INPUT:
 * coordinates beyond 2^1020. CAROM_UNSUPPORTED: a soup of method GRID, which has no tree to search.
 */
CAROM_API carom_status carom_soup_k_free(carom_context *context, const carom_soup *soup,
                                         carom_k_free *k_free, carom_numbers *counts);

typedef struct carom_k_free_bounds {
    /* No rigid motion makes more pairs meet: discs_a k_b + discs_b k_a, which is at most
     * 12 k (n_a + n_b) for triangles and 49 k (n_a + n_b) for flat polygons; or n_a n_b when that
     * is less. For soups of one scale; moved coordinates are taken as unrounded. */
    uint64_t pairs;
    /* 3 k (n_a + n_b) for triangles, 7 k (n_a + n_b) for polygons: as published. Not a bound: see
     * docs/kfree.md. */
    uint64_t published;
} carom_k_free_bounds;

/* From what is known of each; numbers too large are UINT64_MAX. */
CAROM_API carom_status carom_k_free_get_bounds(carom_context *context, const carom_k_free *a,
                                               const carom_k_free *b, carom_k_free_bounds *bounds);

#ifdef __cplusplus
}
#endif

#endif
