/* SPDX-License-Identifier: MIT */
/* bvh_ray_cpu.h: search for the slots of a box tree that a ray may pass through, one version per
 * instruction set. */
#ifndef CAROM_SRC_BVH_BVH_RAY_CPU_H
#define CAROM_SRC_BVH_BVH_RAY_CPU_H

#include <math.h>

#include "base/isa.h"
#include "bvh/bvh.h"

/* The ray from + s direction, s >= 0, in the tree's frame. Coordinates are up to 2^200, and the
 * largest component of the direction is 1 or -1. `margin` is an upper bound of the distance of the
 * true ray from this one anywhere in the tree, plus at least 2^-48 of the largest coordinate in the
 * tree and in `from`. */
typedef struct carom_bvh_ray {
    double from[3], direction[3], margin;
} carom_bvh_ray;

/* The margin of a ray whose position is unknown: it passes through every slot. `from` is then 0.
 * Boxes are floats, below 2^128. */
#define CAROM_BVH_EVERYWHERE 0x1p200

/* Part of an advance by which rounding may make it, or the entry into a box, wrong: the bound of a
 * hit has some dozens of roundings of 2^-53. */
#define CAROM_BVH_ADVANCE_ERROR 0x1p-45

/* The s up to which to search for what is met at `advance` at the latest. */
static inline double carom_bvh_ray_limit(double advance, double margin) {
    return advance + (CAROM_BVH_ADVANCE_ERROR * fabs(advance) + margin);
}

/* Receives a slot whose box the ray may enter, and returns the s up to which to continue;
 * -infinity stops the search. */
typedef double carom_bvh_slot_fn(void *user, uint32_t slot);

/* Calls `visit` for every slot whose box the ray may enter at s <= limit, or at most what `visit`
 * returned last. Boxes entered earlier come first, approximately. Returns the number of nodes
 * opened. */
CAROM_CPU_DECLARE(uint64_t, carom_bvh_cast, const carom_bvh *bvh, const carom_bvh_ray *ray,
                  double limit, carom_bvh_slot_fn *visit, void *user);

#endif
