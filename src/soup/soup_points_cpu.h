/* SPDX-License-Identifier: MIT */
/* soup_points_cpu.h: lower bounds of the distances of faces from a point, one version per
 * instruction set. */
#ifndef CAROM_SRC_SOUP_SOUP_POINTS_CPU_H
#define CAROM_SRC_SOUP_SOUP_POINTS_CPU_H

#include "base/isa.h"
#include "bvh/bvh.h"

/* Triangles as seen from a point: x, y, z of the first corner less the point, of the second, of the
 * third. Then the edges from the first corner to the second and to the third, as differences of the
 * corners themselves. */
typedef struct carom_soup_seen {
    double corner[9][CAROM_BVH_WIDTH], edge[6][CAROM_BVH_WIDTH];
} carom_soup_seen;

/* Computes a lower bound of the distance of each of `count` triangles. It is the distance up to
 * rounding where the nearest point lies on an edge, and that of the plane elsewhere; 0 where
 * products could underflow or overflow. Bounds past the count have no meaning. */
CAROM_CPU_DECLARE(void, carom_soup_lower_bounds, const carom_soup_seen *seen, uint32_t count,
                  double bounds[CAROM_BVH_WIDTH]);

#endif
