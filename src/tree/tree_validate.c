/* SPDX-License-Identifier: MIT */
/* The invariants of a tree, as code: for tests and fuzzers. */
#include <math.h>

#include "base/memory.h"
#include "geom/length.h"
#include "tree/tree.h"

/* Of lengths in the frame, and relative: floats are rounded by 2^-24, radii up by 2^-22 = 2.4e-7.
 */
#define TREE_NODE_ROUNDING 1e-6

/* Checks that one lane encloses a sphere, given in the frame. */
static const char *check_lane(const carom_tree_node *node, uint32_t lane, carom_vec3 centre,
                              const double radii[3]) {
    carom_vec3 at = carom_vec((double)node->x[lane], (double)node->y[lane], (double)node->z[lane]);
    double apart = carom_length(carom_vec_sub(centre, at));
    if (!(apart + radii[0] <=
          (double)node->radius[lane] * (1.0 + TREE_NODE_ROUNDING) + TREE_NODE_ROUNDING))
        return "tree: an inner ball is not in a node's";
    if (!(apart + radii[1] <=
          (double)node->reach[lane] * (1.0 + TREE_NODE_ROUNDING) + TREE_NODE_ROUNDING))
        return "tree: a secondary ball is not in a node's";
    if (!(apart + radii[2] <=
          (double)node->cover[lane] * (1.0 + TREE_NODE_ROUNDING) + TREE_NODE_ROUNDING))
        return "tree: a cover is not in a node's";
    return NULL;
}

/* Where a node hangs: the lane above it. */
typedef struct parent {
    uint32_t node, lane;
} parent;

static const char *tree_validate_check_sphere(const carom_tree *t, const parent *parents,
                                              uint32_t leaf, uint32_t lane) {
    const carom_tree_leaf *l = &t->leaves[leaf];
    uint32_t sphere = t->nodes[t->inner_count + leaf].child[lane];
    double scale = carom_power_of_two(t->shift);
    if (sphere >= t->extent.count) return "tree: a leaf names no sphere";
    if (t->slots[sphere] != leaf * CAROM_TREE_WIDTH + lane)
        return "tree: a sphere is not where its slot says";
    carom_vec3 centre =
        carom_vec((l->x[lane] - t->origin.x) * scale, (l->y[lane] - t->origin.y) * scale,
                  (l->z[lane] - t->origin.z) * scale);
    const double radii[3] = {l->radius[lane] * scale,
                             CAROM_MAX(l->radius[lane], l->secondary[lane]) * scale,
                             l->cover[lane] * scale};
    if (!((double)l->depth[lane] >= radii[0] - TREE_NODE_ROUNDING))
        return "tree: a depth is smaller than its radius";
    uint32_t node = t->inner_count + leaf;
    const char *broken = check_lane(&t->nodes[node], lane, centre, radii);
    for (uint32_t depth = 0; broken == NULL && node != 0; ++depth) {
        if (depth > t->depth) return "tree: deeper than it says";
        broken = check_lane(&t->nodes[parents[node].node], parents[node].lane, centre, radii);
        node = parents[node].node;
    }
    if (broken != NULL) return broken;
    double apart = carom_length(carom_vec_sub(centre, t->centre));
    if (!(apart + radii[0] <= t->radius * (1.0 + TREE_NODE_ROUNDING) &&
          apart + radii[1] <= t->reach * (1.0 + TREE_NODE_ROUNDING)))
        return "tree: a ball is not in the root's";
    return apart + radii[2] <= t->cover * (1.0 + TREE_NODE_ROUNDING)
               ? NULL
               : "tree: a cover is not in the root's";
}

static const char *tree_validate_check_spheres(const carom_tree *t, const parent *parents) {
    uint64_t seen = 0;
    for (uint32_t leaf = 0; leaf < t->leaf_count; ++leaf) {
        const carom_tree_node *node = &t->nodes[t->inner_count + leaf];
        for (uint32_t lane = 0; lane < CAROM_TREE_WIDTH; ++lane) {
            if (node->child[lane] == CAROM_TREE_NONE) {
                if (!isnan(node->x[lane]) || t->leaves[leaf].void_units[lane] != 0)
                    return "tree: a lane past the end is not empty";
                continue;
            }
            const char *broken = tree_validate_check_sphere(t, parents, leaf, lane);
            if (broken != NULL) return broken;
            ++seen;
        }
    }
    return seen == t->extent.count ? NULL : "tree: not every sphere is in one leaf";
}

static const char *check_links(const carom_tree *t, parent *parents, uint32_t total) {
    for (uint32_t i = 0; i < total; ++i) parents[i].node = CAROM_TREE_NONE;
    for (uint32_t i = 0; i < t->inner_count; ++i) {
        for (uint32_t lane = 0; lane < CAROM_TREE_WIDTH; ++lane) {
            uint32_t child = t->nodes[i].child[lane];
            if (child == CAROM_TREE_NONE) continue;
            if (child <= i || child >= total) return "tree: a child does not come after its parent";
            if (parents[child].node != CAROM_TREE_NONE) return "tree: a node has two parents";
            parents[child] = (parent){i, lane};
        }
    }
    for (uint32_t i = 1; i < total; ++i)
        if (parents[i].node == CAROM_TREE_NONE) return "tree: a node has no parent";
    return NULL;
}

static const char *check_outward(const carom_tree *t) {
    if ((t->outward != NULL) != (t->surface.triangle_count != 0))
        return "tree: directions of spheres are there without a surface, or not with one";
    for (uint64_t i = 0; t->outward != NULL && i < 3 * (uint64_t)t->leaf_count * CAROM_TREE_WIDTH;
         ++i)
        if (!(fabsf(t->outward[i]) <= 1.0f + (float)TREE_NODE_ROUNDING))
            return "tree: the direction of a sphere is longer than 1";
    return NULL;
}

const char *carom_tree_validate(const carom_tree *tree) {
    uint32_t total = tree->inner_count + tree->leaf_count;
    if (tree->leaf_count == 0) return "tree: no leaves";
    parent *parents = carom_allocate(&tree->allocator, total, sizeof(*parents));
    if (parents == NULL) return CAROM_TREE_NO_MEMORY;
    const char *broken = check_links(tree, parents, total);
    if (broken == NULL) broken = tree_validate_check_spheres(tree, parents);
    if (broken == NULL)
        broken = carom_tree_surface_validate(&tree->surface, tree->origin, tree->shift);
    if (broken == NULL) broken = check_outward(tree);
    if (broken == NULL) broken = carom_tree_cells_validate(&tree->cells);
    carom_release(&tree->allocator, parents);
    return broken;
}
