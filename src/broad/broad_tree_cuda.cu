/* SPDX-License-Identifier: MIT */
/* Boxes in the tree of bvh_cuda.h, for dense boxes and on demand: the tree is part of the
 * structure, or made for one search where boxes turn out to be dense. */
#include "broad/broad_cuda.h"
#include "bvh/bvh_cuda.h"

/* Boxes per pair of leaves that there is room for at first. */
#define BROAD_BOXES_PER_LEAF_PAIR 2u

/* The bytes that a tree takes; with memory the addresses. */
static uint64_t lay_out_tree(uint32_t count, char *memory, carom_bvh_cuda_tree *tree) {
    uint64_t floats = carom_tree_shape(count, tree);
    carom_bvh_cuda_tree_lay_out(tree, (float *)memory);
    tree->items = (uint32_t *)(memory + carom_device_row(floats * sizeof(float)));
    tree->sides = nullptr;
    return carom_device_row(floats * sizeof(float)) + sizeof(uint32_t) * (uint64_t)count + 16;
}

carom_status carom_broad_tree_reserve(carom_device *device, carom_device_broad *broad) {
    uint32_t count = broad->def.count;
    carom_bvh_cuda_tree tree = {};
    CAROM_DEVICE_TRY(carom_tree_sort_reserve(device, count));
    CAROM_DEVICE_TRY(carom_device_reserve(device, &broad->tree_memory,
                                          lay_out_tree(count, nullptr, &tree), "a tree"));
    (void)lay_out_tree(count, (char *)broad->tree_memory.data, &broad->tree);
    return CAROM_OK;
}

static void build_tree(carom_device *device, carom_device_op *op, const carom_device_broad *broad,
                       const carom_bvh_cuda_tree &tree) {
    carom_tree_sort sort = carom_tree_sort_take(device, broad->def.count);
    sort.space = &broad->s()->tree;
    carom_bvh_cuda_build(device, broad_boxes_of(broad, op), tree, sort, true);
}

void carom_broad_tree_build(carom_device *device, carom_device_op *op,
                            const carom_device_broad *broad) {
    build_tree(device, op, broad, broad->tree);
}

carom_status carom_broad_tree_find_reserve(carom_device *device, const carom_device_broad *broad) {
    uint32_t count = broad->def.count;
    carom_bvh_cuda_tree tree = {};
    CAROM_DEVICE_TRY(carom_tree_find_reserve(device, count / BROAD_BOXES_PER_LEAF_PAIR));
    if (broad->has_tree) return CAROM_OK;
    CAROM_DEVICE_TRY(carom_tree_sort_reserve(device, count));
    return carom_device_reserve_scratch(device, CAROM_SCRATCH_BROAD_TREE,
                                        lay_out_tree(count, nullptr, &tree), "a tree");
}

const uint32_t *carom_broad_tree_find(carom_device *device, carom_device_op *op,
                                      const carom_device_broad *broad,
                                      const carom_device_list<uint2> &candidates) {
    carom_bvh_cuda_tree tree = broad->tree;
    if (!broad->has_tree) {
        uint64_t bytes = lay_out_tree(broad->def.count, nullptr, &tree);
        char *memory = carom_device_take<char>(device, CAROM_SCRATCH_BROAD_TREE, bytes);
        (void)lay_out_tree(broad->def.count, memory, &tree);
        build_tree(device, op, broad, tree);
    }
    carom_tree_find(device, op, tree, N_ENTRIES, candidates);
    return tree.items;
}

bool carom_broad_tree_grows(carom_device *device, uint64_t leaf_pairs) {
    return carom_tree_find_grows(device, leaf_pairs);
}
