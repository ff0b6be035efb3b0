/* SPDX-License-Identifier: MIT */
/* soup_motion.h: when moving soups meet: rigid ones by conservative advancement, deforming ones by
 * exact impacts of vertices, edges and faces.
 *
 *   carom_soup_cross_advance(context, a, &motion_a, b, &motion_b, NULL, &advance);
 *   carom_soup_self_impacts(context, soup, &end, &impacts);
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
    CAROM_SOUP_IMPACT_KIND_COUNT
} carom_soup_impact_kind;

/* "vertex-face", "face-vertex", "edge-edge". */
CAROM_API const char *carom_soup_impact_kind_name(carom_soup_impact_kind kind);
CAROM_API bool carom_soup_impact_kind_from_name(const char *name, carom_soup_impact_kind *kind);

/* Two things that meet on their way. */
typedef struct carom_soup_impact {
    carom_soup_impact_kind kind;
    uint32_t face_a, face_b; /* the face, or the first face that has the vertex or edge */
    uint32_t a[3], b[3];     /* vertices: one, the two of an edge or the three of a triangle; then
                                CAROM_NONE */
    carom_interval time;     /* of their first meeting, part of [0, 1]; value is lower */
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

/* Finds the impact with the least time.lower, the first of several; time.upper is the least of
 * all. So the first time that anything meets is in [lower, upper]. face_a is CAROM_NONE when there
 * is none. Much faster than all impacts where these are many or points move far: what is
 * later than an impact already found is left out. */
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

#ifdef __cplusplus
}
#endif

#endif
