/* SPDX-License-Identifier: MIT */
/* bvh_ray_cpu.h: search for the slots of a box tree that a ray may pass through, one version per
 * instruction set. */
#ifndef CAROM_SRC_BVH_BVH_RAY_CPU_H
#define CAROM_SRC_BVH_BVH_RAY_CPU_H

#include "base/isa.h"
#include "bvh/bvh.h"
#include "bvh/bvh_ray_item.h"

/* Receives a slot whose box the ray may enter, and returns the s up to which to continue;
 * -infinity stops the search. */
typedef double carom_bvh_slot_fn(void *user, uint32_t slot);

/* Calls `visit` for every slot whose box the ray may enter at s <= limit, or at most what `visit`
 * returned last. Boxes entered earlier come first, approximately. Returns the number of nodes
 * opened. */
CAROM_CPU_DECLARE(uint64_t, carom_bvh_cast, const carom_bvh *bvh, const carom_bvh_ray *ray,
                  double limit, carom_bvh_slot_fn *visit, void *user);

#endif
