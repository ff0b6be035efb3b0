/* SPDX-License-Identifier: MIT */
/* bvh_cpu.h: the SIMD loops of the box tree, one version per instruction set. */
#ifndef CAROM_SRC_BVH_BVH_CPU_H
#define CAROM_SRC_BVH_BVH_CPU_H

#include "base/isa.h"
#include "bvh/bvh.h"
#include "bvh/bvh_item.h"

/* For keys in these bounds, without classes of large items. */
carom_bvh_space carom_bvh_space_of(const carom_box *bounds);

/* Hilbert keys of boxes: see bvh.c. */
CAROM_CPU_DECLARE(void, carom_bvh_keys, const carom_bvh_space *space, const carom_box *boxes,
                  uint32_t count, uint32_t *keys);

/* Stores the boxes of all slots of `count` nodes. */
CAROM_CPU_DECLARE(void, carom_bvh_put_boxes, const carom_box *boxes, uint32_t count,
                  carom_bvh_node *nodes);

/* Finds the pairs (a, b) of slots with a in the 16 blocks of `node` of level 1, or in the only
 * block of a tree of one level, and b > a whose boxes overlap. Does not flush at the end. Returns
 * false if a flush did. */
CAROM_CPU_DECLARE(bool, carom_bvh_self_node, const carom_bvh *bvh, uint32_t node,
                  carom_bvh_found *found);

/* The same for boxes at most `reach` apart along each axis. The reach allows for the rounding of a
 * box that is enlarged by it. */
CAROM_CPU_DECLARE(bool, carom_bvh_self_node_within, const carom_bvh *bvh, uint32_t node,
                  float reach, carom_bvh_found *found);

/* The number of nodes to search for all pairs. */
static inline uint32_t carom_bvh_self_nodes(const carom_bvh *bvh) {
    return bvh->level_count > 1 ? bvh->node_count[1] : bvh->level_count;
}

/* Finds the slots b whose boxes overlap `box`, each as (a, b) with the given a. */
CAROM_CPU_DECLARE(bool, carom_bvh_find_box, const carom_bvh *bvh, const carom_box *box, uint32_t a,
                  carom_bvh_found *found);

/* Finds the slots b whose boxes overlap those of ascending slots a, each as (a, b), a itself
 * included. Faster than one by one where slots are near each other. */
CAROM_CPU_DECLARE(bool, carom_bvh_find_slots, const carom_bvh *bvh, const uint32_t *slots,
                  uint64_t count, carom_bvh_found *found);

#endif
