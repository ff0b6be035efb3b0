/* SPDX-License-Identifier: MIT */
/* soup_motion.h: when moving soups meet: rigid ones by conservative advancement, deforming ones by
 * exact impacts of vertices, edges and faces; what of them is near, and how far they may move.
 *
 *   carom_soup_cross_advance(context, a, &motion_a, b, &motion_b, NULL, &advance);
 *   carom_soup_self_impacts(context, soup, &end, &impacts);
 *   carom_soup_self_safe_step(context, soup, &end, minimum, &step);
 */
#ifndef CAROM_SOUP_MOTION_H
#define CAROM_SOUP_MOTION_H

#include "carom/soup.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Query: when two rigid soups meet ---------------------------------------------------------
 */

/* Finds when two soups that move as a whole first come within a tolerance of each other, by
 * conservative advancement over both trees: from their distance and the speed at which they
 * approach along it, each pair of faces has a time before which it cannot meet; the least of them
 * is the next time looked at.
 * - Never passes through: no faces meet before `time`, and a miss is certain, up to rounding of
 *   some 1e-15 of the sizes, which the tolerance must exceed. Faces that meet at time 0 are found
 *   exactly: time and distance are then 0.
 * - With a reach no faces come so near before `time`; what follows holds beyond it.
 * - A hit may be a near miss: faces were at most the tolerance apart, or most_steps were taken.
 *   Where they do meet, `time` is before that by no more than they need for the tolerance.
 * - Surfaces only: a soup inside the other does not meet it.
 * - Motions may be NULL: at rest at the identity. def may be NULL.
 * - CAROM_BAD_INPUT: a motion, tolerance or reach that is not finite, or a negative one of
 *   the last two.
 *   CAROM_UNSUPPORTED: a soup of method GRID, or backend cuda.
 * - The same bytes for any number of threads. Cost: some ten searches for the least distance. */
CAROM_API carom_status carom_soup_cross_advance(carom_context *context, const carom_soup *a,
                                                const carom_motion *motion_a, const carom_soup *b,
                                                const carom_motion *motion_b,
                                                const carom_advance_def *def,
                                                carom_advance *advance);

/* ---- Query: impacts of soups that deform ----------------------------------------------------- */

/* What meets what. */
typedef enum carom_soup_impact_kind {
    CAROM_SOUP_IMPACT_KIND_VERTEX_FACE = 0, /* a vertex of a and a face of b */
    CAROM_SOUP_IMPACT_KIND_FACE_VERTEX,     /* a face of a and a vertex of b; not within one soup */
    CAROM_SOUP_IMPACT_KIND_EDGE_EDGE,
    CAROM_SOUP_IMPACT_KIND_NONE, /* nothing meets: the first impact where there is none */
    CAROM_SOUP_IMPACT_KIND_COUNT
} carom_soup_impact_kind;

/* "vertex-face", "face-vertex", "edge-edge", "none". */
CAROM_API const char *carom_soup_impact_kind_name(carom_soup_impact_kind kind);
CAROM_API bool carom_soup_impact_kind_from_name(const char *name, carom_soup_impact_kind *kind);

/* Two things that meet on their way. */
typedef struct carom_soup_impact {
    carom_soup_impact_kind kind;
    uint32_t face_a, face_b; /* the face, or the first face that has the vertex or edge */
    uint32_t a[3], b[3];     /* vertices: one, the two of an edge or the three of a triangle; then
                                CAROM_NONE */
    carom_interval time;     /* of their first contact, part of [0, 1]; value is lower */
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
 * - Backend cuda: the same results. With end positions and results in device memory: see cuda.h.
 * - Cost: that of preparing the soup and its pairs, two to four times where it moves smoothly by an
 *   edge's length, less than once where it moves as a whole, and about a microsecond more for
 *   every impact. So a cloth of 100,000 triangles takes 4 times as long as its pairs where its
 *   waves advance by an edge (37,000 impacts), and 13 times where every vertex moves by an edge in
 *   a direction of its own (215,000). On all threads. Allocates nothing once warm. */

/* Finds all impacts of a soup with itself, sorted by kind, then by faces. */
CAROM_API carom_status carom_soup_self_impacts(carom_context *context, const carom_soup *soup,
                                               const carom_mesh_view *end,
                                               carom_soup_impacts *impacts);

/* Finds the impact with the least time.lower, the first of several; time.upper is the least of all.
 * So the first time that anything meets is in [lower, upper]. Where there is none, its kind is
 * CAROM_SOUP_IMPACT_KIND_NONE, all indices are CAROM_NONE and the time is 0. Much faster than all
 * impacts where these are many or points move far: what is later than an impact already found is
 * left out. */
CAROM_API carom_status carom_soup_self_first_impact(carom_context *context, const carom_soup *soup,
                                                    const carom_mesh_view *end,
                                                    carom_soup_impact *impact);

/* The same between two soups: between faces of a and faces of b only. */
CAROM_API carom_status carom_soup_cross_impacts(carom_context *context, const carom_soup *a,
                                                const carom_mesh_view *end_a, const carom_soup *b,
                                                const carom_mesh_view *end_b,
                                                carom_soup_impacts *impacts);
CAROM_API carom_status carom_soup_cross_first_impact(carom_context *context, const carom_soup *a,
                                                     const carom_mesh_view *end_a,
                                                     const carom_soup *b,
                                                     const carom_mesh_view *end_b,
                                                     carom_soup_impact *impact);

/* ---- Query: what is near, and how far things may move ---------------------------------------- */

/* Two things that are near each other. */
typedef struct carom_soup_near_pair {
    carom_soup_impact_kind kind;
    uint32_t face_a, face_b; /* the face, or the first face that has the vertex or edge */
    uint32_t a[3], b[3];     /* vertices: one, the two of an edge or the three of a triangle; then
                                CAROM_NONE */
    carom_interval distance; /* the exact distance is in [lower, upper] */
} carom_soup_near_pair;

CAROM_RESULT_ARRAY(carom_soup_near_pairs, carom_soup_near_pair);

/* Rules for all queries of what is near.
 * - Pairs are those of impacts: a vertex and a triangle, or two edges. In one soup, a vertex and a
 *   triangle that has it, and edges with a common vertex, are left out. All faces that are not
 *   removed take part, those without area as the segments and points they are.
 * - A pair is near when its distance is at most `reach`, decided exactly: a distance of exactly the
 *   reach counts. Reach 0: what touches.
 * - Distances: upper - lower is at most 2^-44 of the extent of the pair, the sum of the sizes of
 *   all its coordinates relative to one of its points. What touches has distance 0.
 * - CAROM_BAD_INPUT: a reach or minimum that is negative, infinite or NaN, a coordinate beyond
 *   2^1020, end positions that are not finite or not as many as the soup has vertices, a pose that
 *   is not finite.
 * - The same bytes for any number of threads and on the GPU. Allocates nothing once warm.
 * - Cost: that of impacts of a soup at rest, and about half a microsecond per pair that is near. */

/* Finds all pairs of a soup that are near, sorted by kind, then by faces. */
CAROM_API carom_status carom_soup_self_near(carom_context *context, const carom_soup *soup,
                                            double reach, carom_soup_near_pairs *pairs);

/* The same between two soups. Poses as for all queries of two soups. */
CAROM_API carom_status carom_soup_cross_near(carom_context *context, const carom_soup *a,
                                             const carom_pose *pose_a, const carom_soup *b,
                                             const carom_pose *pose_b, double reach,
                                             carom_soup_near_pairs *pairs);

/* How far all vertices may move towards their end positions. */
typedef struct carom_soup_step {
    double time;                /* in [0, 1]: vertices may move to start + time (end - start) */
    carom_soup_near_pair limit; /* what comes near then, with its distance at that time; of kind
                                   CAROM_SOUP_IMPACT_KIND_NONE where time is 1 as nothing does */
} carom_soup_step;

/* Finds a common step that is safe: vertices move along straight lines towards `end`, and no pair
 * comes nearer than `minimum` from time 0 to step->time. So there are no impacts on the way.
 * - Certain: found by conservative advancement with all rounding bounded. The minimum is raised by
 *   2^-47 of the largest coordinate, so that positions may be computed as start + time * (end -
 *   start) in doubles.
 * - Nearly the largest: at step->time the limiting pair is nearer than that minimum plus a
 *   tolerance, the least of 2^-20 of its extent and an eighth of what its distance at the start is
 *   above the minimum.
 * - 0 where a pair is that near already.
 * - Of `end` only positions, scalar, stride and vertex_count are read. For two soups NULL means
 *   that the soup stays where it is.
 * - Cost: that of the first impact, and some microseconds for every pair that comes near. */
CAROM_API carom_status carom_soup_self_safe_step(carom_context *context, const carom_soup *soup,
                                                 const carom_mesh_view *end, double minimum,
                                                 carom_soup_step *step);
CAROM_API carom_status carom_soup_cross_safe_step(carom_context *context, const carom_soup *a,
                                                  const carom_mesh_view *end_a, const carom_soup *b,
                                                  const carom_mesh_view *end_b, double minimum,
                                                  carom_soup_step *step);

/* Finds for each vertex how far it may move, in any direction and along any path, while all others
 * do the same: no pair comes nearer than `minimum`, so that nothing meets. distances has space for
 * as many as the soup has vertices.
 * - A vertex of several pairs gets the least of (distance - minimum) / 2, where those beyond
 *   `reach` count as reach: so no vertex gets more than (reach - minimum) / 2. A larger reach
 *   allows more and costs more. As offset geometric contact moves vertices (Chen et al. 2025).
 * - Rounded down, and less by 2^-47 of the largest coordinate, so that positions may be rounded to
 *   doubles. 0 where a pair is as near as that already.
 * - CAROM_BAD_INPUT: a minimum above the reach. */
CAROM_API carom_status carom_soup_self_safe_distances(carom_context *context,
                                                      const carom_soup *soup, double reach,
                                                      double minimum, double *distances);

/* The same between two soups; each array has space for its soup's vertices. */
CAROM_API carom_status carom_soup_cross_safe_distances(carom_context *context, const carom_soup *a,
                                                       const carom_pose *pose_a,
                                                       const carom_soup *b,
                                                       const carom_pose *pose_b, double reach,
                                                       double minimum, double *distances_a,
                                                       double *distances_b);

#ifdef __cplusplus
}
#endif

#endif
