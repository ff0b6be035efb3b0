/* SPDX-License-Identifier: MIT */
/* Checks of a finished tree of oriented boxes, from what bvh_obb.h says of it.
 *
 * Unlike in the tree of aligned boxes, the box of a child does not contain those of its own
 * children: each box contains the corners of all its descendants, and that is what is checked. The
 * extents carry a margin of 2^-19 for axes that are orthonormal to 2^-22, so the test in doubles
 * needs none of its own. */
#include "bvh/bvh_obb.h"

#include "base/memory.h"

#define MOST_SKEW 0x1p-20 /* of the axes: products of two, and squares less 1 */

static double bvh_obb_validate_dot(const float a[3], const float b[3]) {
    return ((double)a[0] * (double)b[0] + (double)a[1] * (double)b[1]) +
           (double)a[2] * (double)b[2];
}

static bool is_orthonormal(const carom_obb *box) {
    for (int i = 0; i < 3; ++i)
        for (int j = i; j < 3; ++j)
            if (!(fabs(bvh_obb_validate_dot(box->axis[i], box->axis[j]) - (i == j ? 1.0 : 0.0)) <=
                  MOST_SKEW))
                return false;
    return true;
}

static bool bvh_obb_validate_contains(const carom_obb *box, const carom_vec3 corners[3]) {
    for (int c = 0; c < 3; ++c) {
        carom_vec3 direction =
            carom_vec_sub(corners[c], carom_vec((double)box->centre[0], (double)box->centre[1],
                                                (double)box->centre[2]));
        for (int i = 0; i < 3; ++i) {
            const float *a = box->axis[i];
            carom_vec3 axis = carom_vec((double)a[0], (double)a[1], (double)a[2]);
            if (!(fabs(carom_vec_dot(direction, axis)) <= (double)box->extent[i])) return false;
        }
    }
    return true;
}

static const char *validate_padding(const carom_obb_tree *tree, uint32_t level) {
    uint64_t below = level == 0 ? tree->item_count : tree->node_count[level - 1];
    for (uint64_t i = 0; i < (uint64_t)tree->node_count[level] * CAROM_BVH_WIDTH; ++i) {
        const carom_obb_node *nodes = tree->nodes + tree->level_start[level];
        carom_obb box =
            carom_obb_lane(&nodes[i / CAROM_BVH_WIDTH], (uint32_t)(i % CAROM_BVH_WIDTH));
        if (!is_orthonormal(&box)) return "obb: the axes of a box are not orthonormal";
        for (int k = 0; k < 3; ++k)
            if (i >= below && box.extent[k] != CAROM_OBB_NOWHERE)
                return "obb: a slot past the end has a box";
    }
    return NULL;
}

static const char *validate_slot(const carom_obb_tree *tree, uint64_t slot,
                                 const carom_vec3 corners[3]) {
    for (uint32_t level = 0; level < tree->level_count; ++level) {
        const carom_obb_node *nodes = tree->nodes + tree->level_start[level];
        uint64_t child = slot >> (4 * level);
        carom_obb box =
            carom_obb_lane(&nodes[child / CAROM_BVH_WIDTH], (uint32_t)(child % CAROM_BVH_WIDTH));
        if (!bvh_obb_validate_contains(&box, corners))
            return level == 0 ? "obb: the box of an item does not contain it"
                              : "obb: a node's box does not contain its items";
    }
    return bvh_obb_validate_contains(&tree->root, corners)
               ? NULL
               : "obb: the root does not contain all items";
}

const char *carom_obb_validate(const carom_obb_tree *tree, uint32_t end,
                               carom_obb_corners_fn *corners, const void *user) {
    const char *message = carom_bvh_validate_shape(tree->item_count, tree->level_count,
                                                   tree->node_count, tree->level_start);
    if (message != NULL || tree->item_count == 0) return message;
    uint64_t slots = (uint64_t)tree->node_count[0] * CAROM_BVH_WIDTH;
    if (tree->item_capacity < slots ||
        tree->node_capacity < tree->level_start[tree->level_count - 1] + 1)
        return "obb: the arrays are smaller than the tree";
    message = carom_bvh_validate_items(tree->items, tree->item_count, slots, end);
    for (uint32_t level = 0; level < tree->level_count && message == NULL; ++level)
        message = validate_padding(tree, level);
    for (uint64_t slot = 0; slot < tree->item_count && message == NULL; ++slot) {
        carom_vec3 p[3];
        corners(user, &tree->items[slot], 1, &p);
        message = validate_slot(tree, slot, p);
    }
    return message;
}
