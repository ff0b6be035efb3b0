/* SPDX-License-Identifier: MIT */
/* intersection.h: the common points of two triangles, rounded once. */
#ifndef CAROM_SRC_GEOM_INTERSECTION_H
#define CAROM_SRC_GEOM_INTERSECTION_H

#include "carom/geom.h"

/* The outline of an area has at most three edges of either triangle. */
#define CAROM_INTERSECTION_MOST 6

typedef struct carom_intersection {
    int dimension; /* of the common points: -1 none, 0 a point, 1 a segment, 2 an area */
    bool interior; /* the relative interiors meet */
    int count; /* 1 for a point or segment, which runs along the cross product of the normals; the
                  edges of the outline of an area */
    carom_vec3 end[CAROM_INTERSECTION_MOST][2];
} carom_intersection;

/* Computes the common points of two closed triangles of any shape. Decisions are exact; each
 * coordinate is that of the exact point, rounded once to nearest. So the same point computed from
 * other triangles has the same bits. A microsecond or two; some ten where doubles do not suffice.
 */
void carom_triangle_intersect(const carom_triangle *a, const carom_triangle *b,
                              carom_intersection *result);

#endif
