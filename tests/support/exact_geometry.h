/* SPDX-License-Identifier: MIT */
/* exact_geometry.h: rays, distances and winding numbers as rational numbers; the oracle of all
 * scales. Everything follows from the definitions, by trying every face, edge and corner; no
 * filter, no tree, no rounding. Coordinates are any finite doubles. */
#ifndef CAROM_TESTS_EXACT_GEOMETRY_H
#define CAROM_TESTS_EXACT_GEOMETRY_H

#include "tests/support/exact_number.h"

typedef struct exact_triangle {
    number3 p[3];
    number3 normal; /* (p1 - p0) x (p2 - p0) */
    bool has_area;
} exact_triangle;

exact_triangle exact_triangle_of(const carom_vec3 corner[3]);

/* The sign of (p1 - p0) x (p2 - p0) . (p3 - p0). */
int exact_orient_3d(const carom_vec3 p[4]);

/* The least t >= 0 for which origin + t direction lies in the closed triangle, segment or point;
 * false when there is none. */
bool exact_ray_meets(number3 origin, number3 direction, const exact_triangle *triangle, ratio *t);

/* Squared distances. */
ratio exact_point_segment(number3 p, number3 a, number3 b);
ratio exact_point_triangle(number3 p, const exact_triangle *triangle);
ratio exact_segments(const number3 a[2], const number3 b[2]);
ratio exact_segment_triangle(const number3 segment[2], const exact_triangle *triangle);
ratio exact_triangles(const exact_triangle *a, const exact_triangle *b); /* 0: they meet */

/* Are a point and a closed triangle (segment, point) in contact? */
bool exact_point_on(number3 p, const exact_triangle *triangle);

/* How often balanced triangles wind around a point that is on none of them. */
int exact_winding(number3 p, const exact_triangle *triangles, uint64_t count, carom_random *random);

/* The largest distance of two of the points, rounded up by a little; at most 2^1022. */
double exact_extent(const carom_vec3 *points, int count);

/* No less than the distance of the boxes of two sets of points, but for a little rounding; to leave
 * out pairs that are far apart. Squared; long doubles do not overflow. */
long double exact_box_gap(const carom_vec3 *a, int count_a, const carom_vec3 *b, int count_b);

#endif
