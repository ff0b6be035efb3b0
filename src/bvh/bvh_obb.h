/* SPDX-License-Identifier: MIT */
/* bvh_obb.h: trees of oriented boxes, and traversals of two trees in relative motion.
 *
 * The tree has the shape of the wide box tree (bvh.h): 16 items per block, 16 boxes per node, and
 * child c of node i has index 16 i + c one level below. Each box has its own axes and is aligned
 * with the surface it contains. Where two surfaces come close, boxes of width w are separated once
 * the distance of the surfaces is about w^2 instead of w. Building takes longer than sorting along
 * a curve; queries are several times faster. Use it for rigid meshes.
 *
 * A box is the set c + s0 a0 + s1 a1 + s2 a2 with |si| <= ei. The axes are nearly orthonormal; all
 * bounds here hold for the axes as stored. */
#ifndef CAROM_SRC_BVH_BVH_OBB_H
#define CAROM_SRC_BVH_BVH_OBB_H

#include "bvh/bvh.h"

typedef struct carom_obb {
    float centre[3], axis[3][3], extent[3];
} carom_obb;

/* Sixteen boxes. The extents of slots past the last item are CAROM_OBB_NOWHERE: such a box is far
 * from everything, and its square, 2^180, is infinite in floats. */
#define CAROM_OBB_NOWHERE (-0x1p90f)
typedef struct carom_obb_node {
    float centre[3][CAROM_BVH_WIDTH], axis[3][3][CAROM_BVH_WIDTH], extent[3][CAROM_BVH_WIDTH];
} carom_obb_node;

typedef struct carom_obb_tree {
    uint32_t item_count;
    uint32_t level_count; /* 0: no items */
    uint32_t node_count[CAROM_BVH_LEVELS];
    uint64_t level_start[CAROM_BVH_LEVELS];
    carom_obb_node *nodes;
    uint32_t *items; /* of each slot of each block */
    carom_obb root;  /* around everything */
    uint64_t item_capacity, node_capacity;
} carom_obb_tree;

/* The corners of items. Coordinates are at most about 1 in magnitude. Called from any worker. */
typedef void carom_obb_corners_fn(const void *user, const uint32_t *items, uint32_t count,
                                  carom_vec3 (*corners)[3]);

/* Builds the tree over tree->items[0 .. count), which the caller has written after
 * carom_obb_reserve; the build reorders them. On failure the tree is empty. O(n log n) on all
 * threads; the same tree for any number of them. */
carom_status carom_obb_reserve(carom_context *context, const carom_allocator *allocator,
                               carom_obb_tree *tree, uint32_t count);
carom_status carom_obb_build(carom_context *context, carom_obb_tree *tree,
                             carom_obb_corners_fn *corners, const void *user);
/* Computes all boxes anew for items that have moved, and keeps their order: faster than building,
 * and as good while items stay near their old neighbours. On failure the tree is empty. */
carom_status carom_obb_refit(carom_context *context, carom_obb_tree *tree,
                             carom_obb_corners_fn *corners, const void *user);
/* The surface of the boxes of all blocks, in surfaces of the boxes of all items: it grows as items
 * leave their old neighbours. 0 for a tree of one block. */
double carom_obb_looseness(const carom_obb_tree *tree);
void carom_obb_free(carom_obb_tree *tree, const carom_allocator *allocator);
uint64_t carom_obb_bytes(const carom_obb_tree *tree);

/* For tests and fuzzers: NULL, or the first invariant of the tree that does not hold. Items are
 * below `end`; `corners` and `user` as given to the build. O(count levels). */
const char *carom_obb_validate(const carom_obb_tree *tree, uint32_t end,
                               carom_obb_corners_fn *corners, const void *user);

/* ---- Traversal of two trees ------------------------------------------------------------------ */

/* A tree as a traversal reads it: oriented boxes, or axis-aligned boxes in y, which the traversal
 * converts to oriented boxes by (y - shift) factor when it visits them. */
typedef struct carom_obb_view {
    const carom_obb_node *oriented; /* NULL: aligned */
    const carom_bvh_node *aligned;
    const uint64_t *level_start;
    uint32_t level_count;
    float shift[3], factor;
    carom_obb root;
} carom_obb_view;

void carom_obb_view_of_tree(const carom_obb_tree *tree, carom_obb_view *view);
void carom_obb_view_of_bvh(const carom_bvh *bvh, const float shift[3], float factor,
                           carom_obb_view *view);

/* The box of one lane of a node. */
static inline carom_obb carom_obb_lane(const carom_obb_node *node, uint32_t lane) {
    carom_obb box;
    for (int k = 0; k < 3; ++k) {
        box.centre[k] = node->centre[k][lane];
        box.extent[k] = node->extent[k][lane];
        for (int i = 0; i < 3; ++i) box.axis[i][k] = node->axis[i][k][lane];
    }
    return box;
}

/* The transform from one frame to another: scale R y + t. */
typedef struct carom_obb_move {
    float r[3][3], t[3], scale;
} carom_obb_move;

/* A pair of boxes: that of the node with index index_a on level level_a, as stored in its parent,
 * and the same for b. */
typedef struct carom_obb_pair {
    uint32_t index_a, index_b;
    uint8_t level_a, level_b;
    float apart; /* lower bound of their distance in a's frame; distance queries only */
} carom_obb_pair;

/* Each step pops a pair of boxes and pushes at most 16 pairs that are one level lower on one side,
 * so 16 for each of at most 8 + 8 levels are enough. */
#define CAROM_OBB_STACK (16u * 16u)
#define CAROM_OBB_FOUND 1024u /* pairs: 8 KiB */

/* The state of a traversal. Boxes are widened by the slack in each comparison; it covers all
 * rounding, see soup_posed_pair.c. */
typedef struct carom_obb_traversal {
    carom_obb_view a, b;
    carom_obb_move b_to_a, a_to_b;
    float slack_a, slack_b; /* in the units of either frame */
    carom_obb_pair stack[CAROM_OBB_STACK];
    uint32_t stack_count;
    uint64_t visits;

    /* Overlap queries, which find all pairs of slots whose boxes meet. `receive` gets them in
     * batches; a batch has all pairs of one or several pairs of blocks. False stops the traversal.
     */
    bool (*receive)(struct carom_obb_traversal *traversal);
    bool each_block; /* call `receive` after each pair of blocks */
    bool more; /* another traversal follows at once: pairs found may wait for those it finds */

    /* Instead, if it is not NULL, it gets every pair of blocks, with the lanes of both whose boxes
     * meet the box of the other block, and adds to the visits what it does. `receive` is then
     * called at the end, with no pairs. False stops the traversal. */
    bool (*receive_blocks)(struct carom_obb_traversal *traversal, uint32_t block_a,
                           uint32_t block_b, uint32_t in_a, uint32_t in_b);
    uint32_t found_count;
    uint32_t found_a[CAROM_OBB_FOUND], found_b[CAROM_OBB_FOUND];

    /* Distance queries. `measure` measures two slots and returns an upper bound of the least
     * distance so far, in a's frame. It may also set the direction between the nearest points so
     * far: vectors of length at most 1, direction_a from a to b in a's frame and direction_b from b
     * to a in b's frame. Along this direction boxes near these points are separated better than
     * along their own axes. */
    float (*measure)(struct carom_obb_traversal *traversal, uint32_t slot_a, uint32_t slot_b);
    float direction_a[3], direction_b[3];
    void *user;
} carom_obb_traversal;

/* Pushes the pair of roots; pushes nothing if a tree is empty. */
void carom_obb_traversal_begin(carom_obb_traversal *traversal);

#endif
