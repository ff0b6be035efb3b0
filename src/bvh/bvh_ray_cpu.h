/* SPDX-License-Identifier: MIT */
/* bvh_ray_cpu.h: the places of a box tree that a ray may pass through, one version per instruction
 * set. */
#ifndef CAROM_SRC_BVH_BVH_RAY_CPU_H
#define CAROM_SRC_BVH_BVH_RAY_CPU_H

#include "base/isa.h"
#include "bvh/bvh.h"

/* The ray from + s way, s >= 0, in the tree's frame: numbers up to 2^200, and the largest component
 * of the way is 1 or -1. `margin` is how far the true ray can be from it anywhere in the tree, plus
 * at least 2^-48 of the largest number in the tree and in `from`. */
typedef struct carom_bvh_ray {
    double from[3], way[3], margin;
} carom_bvh_ray;

/* The margin of a ray of which nothing is known: it passes through every place. `from` is then 0.
 */
#define CAROM_BVH_EVERYWHERE 0x1p200

/* Is told a place whose box the ray may enter, and answers up to which s to go on; -infinity stops.
 */
typedef double carom_bvh_place_fn(void *user, uint32_t place);

/* Calls `visit` for every place whose box the ray may enter at s <= limit, or at what `visit`
 * answered last: nearer ones first, as far as the boxes tell. Returns the nodes opened. */
CAROM_CPU_DECLARE(uint64_t, carom_bvh_cast, const carom_bvh *bvh, const carom_bvh_ray *ray,
                  double limit, carom_bvh_place_fn *visit, void *user);

#endif
