/* SPDX-License-Identifier: MIT */
/* soup_points.h: the nearest points of a soup, rays, winding numbers and signed distances.
 *
 *   carom_soup_closest_points(context, soup, points, count, hits);
 *   carom_soup_cast_rays(context, soup, rays, count, hits);
 */
#ifndef CAROM_SOUP_POINTS_H
#define CAROM_SOUP_POINTS_H

#include "carom/soup.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Query: points and rays ------------------------------------------------------------------ */

/* Rules for all queries of points and rays. Faces without area take no part, or take part as the
 * segments and points they are (CAROM_SOUP_DEGENERATE_AS_SEGMENT). Points, origins and directions
 * may be any finite doubles of any scale. */

/* Finds the nearest point of the soup to each of `count` points, on all threads. hits has space for
 * count.
 * - Which face is the nearest is decided exactly. Of faces at exactly the same distance, the one of
 *   lowest index is taken.
 * - distance is that of carom_point_triangle_distance for this face: right to 1e-15 of the extent
 *   of point and face. Infinite: beyond the doubles, or with CAROM_NONE for an empty soup.
 *
 * Cost: a few microseconds per point. More for each face that is equally near up to rounding,
 * unless it shares with the nearest face the edge or corner that holds the nearest point. Up to a
 * millisecond for each where the exponents of one point and soup lie far apart. */
CAROM_API carom_status carom_soup_closest_points(carom_context *context, const carom_soup *soup,
                                                 const carom_vec3 *points, uint64_t count,
                                                 carom_hit *hits);

/* Finds the first face that each ray meets, on all threads. The ray is exactly the points origin +
 * t direction with 0 <= t and, where there is a length, t <= length.
 * - Faces are closed: touching an edge or a corner is intersecting.
 * - A ray in the plane of a face meets it in the first of their common points: t is 0 where it
 *   starts on the face. The same holds for segments along the ray.
 * - Which faces are met, which of them first, and whether within the length is decided exactly. Of
 *   faces met at the same t, the one of lowest index is taken.
 * - distance is the exact t, and each coordinate of point that of the exact point, rounded once to
 *   the nearest double: infinite where it is too large, 0 where too small.
 * - A miss has CAROM_NONE and infinite distance.
 * - CAROM_BAD_INPUT: a ray that is not finite, of negative length or with the direction (0, 0, 0).
 *
 * Cost: some hundred nanoseconds per ray, microseconds where doubles cannot decide, up to
 * milliseconds per face where the exponents of one ray and soup lie more than 200 apart. */
CAROM_API carom_status carom_soup_cast_rays(carom_context *context, const carom_soup *soup,
                                            const carom_ray *rays, uint64_t count, carom_hit *hits);

/* A face that a ray meets. */
typedef struct carom_soup_ray_hit {
    uint32_t ray; /* its index among the rays */
    uint32_t face;
    double distance;   /* the t of origin + t direction */
    carom_vec3 point;  /* the first one that the ray has in common with the face */
    carom_vec3 normal; /* unit, of the face, on the side that the ray comes from */
} carom_soup_ray_hit;

CAROM_RESULT_ARRAY(carom_soup_ray_hits, carom_soup_ray_hit);

/* Finds all faces that each ray meets, on all threads, with the rules of carom_soup_cast_rays.
 * - A face is listed once per ray: at the first point that they have in common.
 * - The list is sorted by ray, then by exact t, then by face. The first hit of a ray is that of
 *   carom_soup_cast_rays.
 * - A ray through an edge meets all faces at that edge, at the same t: count such hits once where
 *   crossings of a surface are wanted, or use carom_soup_winding.
 * - CAROM_TOO_LARGE: 2^32 rays or more.
 *
 * Cost: that of carom_soup_cast_rays without its first hit to end the search, and about two hundred
 * nanoseconds per face that is met. Allocates nothing once warm. */
CAROM_API carom_status carom_soup_query_rays(carom_context *context, const carom_soup *soup,
                                             const carom_ray *rays, uint64_t count,
                                             carom_soup_ray_hits *hits);

/* Computes the winding number of the soup around each point, exactly: 0 outside, 1 inside. The soup
 * must be balanced (carom_mesh_inspect). Points on a face get CAROM_SOUP_ON_SURFACE. */
#define CAROM_SOUP_ON_SURFACE INT32_MAX
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
 *
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
 *
 * Cost: that of carom_soup_closest_points and carom_soup_winding or _winding_fractions. The first
 * call after a change of the soup also finds out whether it is balanced, in O(n) on all threads. */
CAROM_API carom_status carom_soup_signed_distances(carom_context *context, const carom_soup *soup,
                                                   const carom_vec3 *points, uint64_t count,
                                                   double *distances, carom_hit *hits);

#ifdef __cplusplus
}
#endif

#endif
