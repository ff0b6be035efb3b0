/* SPDX-License-Identifier: MIT */
/* bvh.h: a bounding volume hierarchy of axis-aligned boxes with 16 children per node.
 *
 *   level 2            [ node ]                       one node: the root
 *   level 1     [ node ][ node ] ... [ node ]         16 boxes per node, one per child
 *   level 0     [blk][blk][blk][blk] ...              16 items per block, in Hilbert order
 *
 * Child c of node i on level l has index 16 i + c on level l - 1. There are no pointers: the shape
 * of the tree follows from the number of items. A node is six rows of 16 floats, so one box is
 * compared with 16 at a time. Items much larger than most are sorted to the end, where their boxes
 * do not widen those of small items. Slots past the last item hold empty boxes, which overlap
 * nothing. */
#ifndef CAROM_SRC_BVH_BVH_H
#define CAROM_SRC_BVH_BVH_H

#include "base/array.h"
#include "bvh/bvh_item.h"

#define CAROM_BVH_WIDTH  16u        /* boxes of a node: one vector of AVX-512 per side */
#define CAROM_BVH_LEVELS 8u         /* 16^8 = 2^32 items */
#define CAROM_BVH_NONE   UINT32_MAX /* the item of a slot past the end */

typedef struct carom_bvh_node {
    float low[3][CAROM_BVH_WIDTH], high[3][CAROM_BVH_WIDTH];
} carom_bvh_node;

typedef struct carom_bvh {
    uint32_t item_count;
    uint32_t level_count;                   /* 0: no items */
    uint32_t node_count[CAROM_BVH_LEVELS];  /* of each level */
    carom_bvh_node *nodes;                  /* level after level, blocks first */
    uint64_t level_start[CAROM_BVH_LEVELS]; /* the first node of each level */
    uint32_t *items;                        /* of each slot of each block */
    uint64_t item_capacity, node_capacity;
} carom_bvh;

/* Computes the boxes of `count` items: items[i], or first + i where items is NULL. Called from any
 * worker. An item with an empty box is never found. */
typedef void carom_bvh_boxes_fn(const void *user, const uint32_t *items, uint32_t first,
                                uint32_t count, carom_box *boxes);

/* Builds the tree over items [0, count), taking memory from `allocator` only if the capacity is too
 * small. On failure the tree is empty. All boxes are finite or empty. `bounds` contains them all,
 * or nearly so: items are sorted by the position of their centres in it. O(count) on all threads.
 */
carom_status carom_bvh_build(carom_context *context, const carom_allocator *allocator,
                             carom_bvh *bvh, uint32_t count, const carom_box *bounds,
                             carom_bvh_boxes_fn *boxes, const void *user);

/* The same in the order of another tree of as many items, which is not computed anew: as good where
 * the boxes are near those of the other tree. */
carom_status carom_bvh_build_like(carom_context *context, const carom_allocator *allocator,
                                  carom_bvh *bvh, const carom_bvh *like, carom_bvh_boxes_fn *boxes,
                                  const void *user);

void carom_bvh_free(carom_bvh *bvh, const carom_allocator *allocator);

/* For tests and fuzzers: NULL, or the first invariant of the tree that does not hold. `boxes` and
 * `user` as given to the build. O(count). */
const char *carom_bvh_validate(const carom_bvh *bvh, carom_bvh_boxes_fn *boxes, const void *user);

/* The same for the shape of a tree of either kind: levels, counts and starts. */
const char *carom_bvh_validate_shape(uint32_t item_count, uint32_t level_count,
                                     const uint32_t *node_count, const uint64_t *level_start);
/* The same for the items of its slots: each below `end` at most once, then padding. */
const char *carom_bvh_validate_items(const uint32_t *items, uint32_t count, uint64_t slots,
                                     uint32_t end);

uint64_t carom_bvh_bytes(const carom_bvh *bvh);

static inline const carom_bvh_node *carom_bvh_level(const carom_bvh *bvh, uint32_t level) {
    return bvh->nodes + bvh->level_start[level];
}

/* The bounding box of the sixteen boxes of a node. */
carom_box carom_bvh_node_bounds(const carom_bvh_node *node);

/* ---- Boxes that move ------------------------------------------------------------------------- */

/* Computes all boxes anew and keeps the order of items: faster than building, and as good while
 * items stay near their old neighbours. On failure the tree is empty. */
carom_status carom_bvh_refit(carom_context *context, carom_bvh *bvh, carom_bvh_boxes_fn *boxes,
                             const void *user);

/* Replaces the box of one slot. The levels above follow with one of the next two. */
static inline void carom_bvh_set_box(carom_bvh *bvh, uint32_t slot, const carom_box *box) {
    carom_bvh_node *node = &bvh->nodes[slot / CAROM_BVH_WIDTH];
    for (int k = 0; k < 3; ++k) {
        node->low[k][slot % CAROM_BVH_WIDTH] = box->low[k];
        node->high[k][slot % CAROM_BVH_WIDTH] = box->high[k];
    }
}

/* Computes the ancestors of a slot anew, up to the first that stays the same. */
void carom_bvh_refit_above(carom_bvh *bvh, uint32_t slot);

/* Computes all levels above the blocks anew. On failure the tree is empty. */
carom_status carom_bvh_refit_levels(carom_context *context, carom_bvh *bvh);

/* The sum of the extents of all blocks along all axes: a measure of how much work searches are. It
 * is the same for any number of threads. */
double carom_bvh_extent(const carom_bvh *bvh);

/* The bounding box of the tree; empty if the tree has no items. */
carom_box carom_bvh_bounds(const carom_bvh *bvh);

/* ---- Output buffer for overlapping pairs ----------------------------------------------------- */

/* The output buffer of a search: slots of items (block * 16 + lane). `flush` is called when fewer
 * than CAROM_BVH_FLUSH entries are free, and must free space; false stops the search. */
#define CAROM_BVH_FLUSH 256u  /* pairs of two nodes: 16 by 16 */
#define CAROM_BVH_FOUND 4096u /* pairs: 32 KiB */

typedef struct carom_bvh_found {
    /* SIMD stores may write up to a node's width past the count. */
    uint32_t a[CAROM_BVH_FOUND + CAROM_BVH_WIDTH], b[CAROM_BVH_FOUND + CAROM_BVH_WIDTH];
    uint32_t count;
    uint64_t visits;
    bool (*flush)(struct carom_bvh_found *found);
    void *user;
} carom_bvh_found;

/* The first lane of a set that is not empty; bit i is lane i. */
static inline uint32_t carom_bvh_lowest_lane(uint32_t lanes) {
    return (uint32_t)__builtin_ctz(lanes);
}

#endif
