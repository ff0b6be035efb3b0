/* SPDX-License-Identifier: MIT */
/* bvh_winding_cpu.h: the SIMD loops of generalised winding numbers, one version per instruction
 * set. All give the same bits. */
#ifndef CAROM_SRC_BVH_BVH_WINDING_CPU_H
#define CAROM_SRC_BVH_BVH_WINDING_CPU_H

#include "base/isa.h"
#include "bvh/bvh.h"

/* The moments of a set of triangles. With x a point of it, n its unit normal and d = x - centre,
 * all integrals over the area:
 *   normal  of n
 *   first   of n d, symmetrised: xx, yy, zz, xy, xz, yz
 *   second  of n d d, symmetrised: xxx, yyy, zzz, xxy, xxz, xyy, yyz, xzz, yzz, xyz
 *   area    of 1; 0: the set is empty
 *   radius  the largest |d|, rounded up
 *   spread  of |d|^3, or more */
enum {
    CAROM_BVH_CENTRE = 0,
    CAROM_BVH_NORMAL = 3,
    CAROM_BVH_FIRST = 6,
    CAROM_BVH_SECOND = 12,
    CAROM_BVH_AREA = 22,
    CAROM_BVH_RADIUS,
    CAROM_BVH_SPREAD,
    CAROM_BVH_MOMENTS
};

/* Of the sixteen children of a node. */
typedef struct carom_bvh_moments {
    double row[CAROM_BVH_MOMENTS][CAROM_BVH_WIDTH];
} carom_bvh_moments;

/* Sums per lane. Solid angles are kept as the argument of a complex number, which is the product of
 * one number per triangle, and the number of full turns. */
typedef struct carom_bvh_angles {
    double far[CAROM_BVH_WIDTH], error[CAROM_BVH_WIDTH]; /* times 4 pi */
    double real[CAROM_BVH_WIDTH], imaginary[CAROM_BVH_WIDTH], turns[CAROM_BVH_WIDTH];
} carom_bvh_angles;

/* Adds the children of a node whose error is at most `tolerance` of their area over the square of
 * their distance. Returns a bit mask of the others that are not empty. */
CAROM_CPU_DECLARE(uint32_t, carom_bvh_add_far, const carom_bvh_moments *moments,
                  const double point[3], double tolerance, carom_bvh_angles *sum);

/* The corners of sixteen triangles: x, y, z of the first, the second, the third. */
typedef struct carom_bvh_corners {
    double row[9][CAROM_BVH_WIDTH];
} carom_bvh_corners;

/* Adds the solid angles of sixteen triangles; those with three equal corners add nothing. */
CAROM_CPU_DECLARE(void, carom_bvh_add_near, const carom_bvh_corners *corners, const double point[3],
                  carom_bvh_angles *sum);

#endif
