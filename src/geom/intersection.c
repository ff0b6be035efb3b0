/* SPDX-License-Identifier: MIT */
/* The common points of two triangles: the items of intersection_item.h on the CPU. */
#include "geom/intersection.h"

#include "geom/intersection_item.h"

void carom_triangle_intersect(const carom_triangle *a, const carom_triangle *b,
                              carom_intersection *result) {
    carom_intersect_triangles(a, b, result);
}
