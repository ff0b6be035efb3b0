/* SPDX-License-Identifier: MIT */
/* pack_carry_cpu.h: the vector loops of carrying points, one version per instruction set. All give
 * the same bits. */
#ifndef CAROM_SRC_PACK_PACK_CARRY_CPU_H
#define CAROM_SRC_PACK_PACK_CARRY_CPU_H

#include "base/isa.h"
#include "spheres/spheres_cpu.h"

/* The moments of a set of triangles. With x a point of it before and y the same point after, all
 * integrals over the area before:
 *   before, after   the means of x and y
 *   spread          of (x - mean) (x - mean)^T: xx, yy, zz, xy, xz, yz
 *   mixed           of (y - mean) (x - mean)^T, row by row
 *   area            of 1; 0: the set is empty
 *   radius          the largest distance of x from the mean, about */
enum {
    CAROM_PACK_BEFORE = 0,
    CAROM_PACK_AFTER = 3,
    CAROM_PACK_SPREAD = 6,
    CAROM_PACK_MIXED = 12,
    CAROM_PACK_AREA = 21,
    CAROM_PACK_RADIUS,
    CAROM_PACK_MOMENTS
};

/* Of the sixteen children of a node. */
typedef struct carom_pack_moments {
    double row[CAROM_PACK_MOMENTS][CAROM_BVH_WIDTH];
} carom_pack_moments;

/* Weighted sums about a point p: of d = x - p, of y, of d d^T, of y d^T, and of 1. */
enum {
    CAROM_PACK_SUM_BEFORE = 0,
    CAROM_PACK_SUM_AFTER = 3,
    CAROM_PACK_SUM_SPREAD = 6,
    CAROM_PACK_SUM_MIXED = 12,
    CAROM_PACK_SUM_WEIGHT = 21,
    CAROM_PACK_SUMS
};

typedef struct carom_pack_sums {
    double row[CAROM_PACK_SUMS][CAROM_BVH_WIDTH]; /* per lane */
} carom_pack_sums;

/* Adds the children of a node that are far from the point against their size, each with the weight
 * of its mean. Returns a bit mask of the others that are not empty. */
CAROM_CPU_DECLARE(uint32_t, carom_pack_add_far, const carom_pack_moments *moments,
                  const double point[3], carom_pack_sums *sums);

/* Adds sixteen triangles at these squared distances. */
CAROM_CPU_DECLARE(void, carom_pack_add_near, const carom_pack_moments *moments,
                  const double point[3], const double squares[CAROM_BVH_WIDTH],
                  carom_pack_sums *sums);

#endif
