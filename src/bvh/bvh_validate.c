/* SPDX-License-Identifier: MIT */
/* Checks of a finished box tree, from what bvh.h says of it.
 *
 * The shape follows from the number of items; every item is in exactly one slot; the box of a
 * slot is that of its item; the box of a child in its parent contains all boxes of the child; what
 * is past the end is empty. Together these are all that searches rely on: an item whose box meets
 * the query's is reached from the root. */
#include "bvh/bvh.h"

#include "base/memory.h"

#include <string.h>

const char *carom_bvh_validate_shape(uint32_t item_count, uint32_t level_count,
                                     const uint32_t *node_count, const uint64_t *level_start) {
    uint64_t size = item_count, nodes = 0;
    uint32_t level = 0;
    if (item_count == 0) return level_count == 0 ? NULL : "tree: a tree without items has levels";
    if (level_count == 0 || level_count > CAROM_BVH_LEVELS)
        return "tree: the number of levels is out of range";
    for (; level < level_count; ++level) {
        size = (size + CAROM_BVH_WIDTH - 1) / CAROM_BVH_WIDTH;
        if (node_count[level] != size) return "tree: a level has the wrong number of nodes";
        if (level_start[level] != nodes) return "tree: a level does not begin after the one below";
        nodes += size;
        if (level + 1 < level_count && size == 1) return "tree: there are levels above the root";
    }
    return size == 1 ? NULL : "tree: the highest level has more than one node";
}

const char *carom_bvh_validate_items(const uint32_t *items, uint32_t count, uint64_t slots,
                                     uint32_t end) {
    const carom_allocator allocator = carom_allocator_default();
    const char *message = NULL;
    uint8_t *seen = carom_allocate(&allocator, end, 1);
    if (seen == NULL) return "tree: no memory to check the items";
    memset(seen, 0, end);
    for (uint64_t slot = 0; slot < slots && message == NULL; ++slot) {
        uint32_t item = items[slot];
        if (slot >= count) {
            if (item != CAROM_BVH_NONE) message = "tree: a slot past the end has an item";
        } else if (item >= end) {
            message = "tree: an item is out of range";
        } else if (seen[item]++ != 0) {
            message = "tree: an item is in two slots";
        }
    }
    carom_release(&allocator, seen);
    return message;
}

static bool is_empty(const carom_bvh_node *node, uint32_t lane) {
    return node->low[0][lane] > node->high[0][lane];
}

/* Whether a lane is exactly this box; all empty boxes are equal. */
static bool is_box(const carom_bvh_node *node, uint32_t lane, const carom_box *box) {
    if (!(box->low[0] <= box->high[0])) return is_empty(node, lane);
    for (int k = 0; k < 3; ++k)
        if (node->low[k][lane] != box->low[k] || node->high[k][lane] != box->high[k]) return false;
    return true;
}

static bool bvh_validate_contains(const carom_bvh_node *node, uint32_t lane,
                                  const carom_bvh_node *child) {
    for (uint32_t i = 0; i < CAROM_BVH_WIDTH; ++i) {
        if (is_empty(child, i)) continue;
        for (int k = 0; k < 3; ++k)
            if (!(node->low[k][lane] <= child->low[k][i] &&
                  child->high[k][i] <= node->high[k][lane]))
                return false;
    }
    return true;
}

static const char *bvh_validate_blocks(const carom_bvh *bvh, carom_bvh_boxes_fn *boxes,
                                       const void *user) {
    for (uint64_t slot = 0; slot < (uint64_t)bvh->node_count[0] * CAROM_BVH_WIDTH; ++slot) {
        const carom_bvh_node *block = &bvh->nodes[slot / CAROM_BVH_WIDTH];
        uint32_t lane = (uint32_t)(slot % CAROM_BVH_WIDTH);
        carom_box box;
        if (slot >= bvh->item_count) {
            if (!is_empty(block, lane)) return "bvh: a slot past the end has a box";
            continue;
        }
        boxes(user, &bvh->items[slot], 0, 1, &box);
        if (!is_box(block, lane, &box)) return "bvh: a slot does not have the box of its item";
    }
    return NULL;
}

static const char *validate_level(const carom_bvh *bvh, uint32_t level) {
    const carom_bvh_node *nodes = carom_bvh_level(bvh, level);
    const carom_bvh_node *below = carom_bvh_level(bvh, level - 1);
    for (uint64_t child = 0; child < (uint64_t)bvh->node_count[level] * CAROM_BVH_WIDTH; ++child) {
        const carom_bvh_node *node = &nodes[child / CAROM_BVH_WIDTH];
        uint32_t lane = (uint32_t)(child % CAROM_BVH_WIDTH);
        if (child >= bvh->node_count[level - 1]) {
            if (!is_empty(node, lane)) return "bvh: a child past the end has a box";
        } else if (!bvh_validate_contains(node, lane, &below[child])) {
            return "bvh: a node's box does not contain those of its child";
        }
    }
    return NULL;
}

const char *carom_bvh_validate(const carom_bvh *bvh, carom_bvh_boxes_fn *boxes, const void *user) {
    const char *message = carom_bvh_validate_shape(bvh->item_count, bvh->level_count,
                                                   bvh->node_count, bvh->level_start);
    if (message != NULL || bvh->item_count == 0) return message;
    uint32_t top = bvh->level_count - 1;
    uint64_t slots = (uint64_t)bvh->node_count[0] * CAROM_BVH_WIDTH;
    if (bvh->item_capacity < slots || bvh->node_capacity < bvh->level_start[top] + 1)
        return "bvh: the arrays are smaller than the tree";
    message = carom_bvh_validate_items(bvh->items, bvh->item_count, slots, bvh->item_count);
    if (message == NULL) message = bvh_validate_blocks(bvh, boxes, user);
    for (uint32_t level = 1; level <= top && message == NULL; ++level)
        message = validate_level(bvh, level);
    return message;
}
