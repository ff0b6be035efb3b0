/* SPDX-License-Identifier: MIT */
/* A tree: created from a packing, which it copies. */
#include "tree/tree.h"

#include "base/names.h"
#include "base/progress.h"

CAROM_ENUM_NAMES(carom_tree_method, CAROM_TREE_METHOD_COUNT, "median", "neural-gas", "morton");

#define LEAST_ARITY 2u
#define GAS_ARITY   4u /* of the paper */

static carom_status create(carom_context *context, const carom_tree_def *def, carom_tree *tree) {
    uint32_t arity = def->arity != 0                               ? def->arity
                     : def->method == CAROM_TREE_METHOD_NEURAL_GAS ? GAS_ARITY
                                                                   : CAROM_TREE_WIDTH;
    if (arity < LEAST_ARITY || arity > CAROM_TREE_WIDTH)
        return carom_fail(context, CAROM_BAD_INPUT, "an arity of %u is not in 2 to %u", arity,
                          CAROM_TREE_WIDTH);
    CAROM_TRY(carom_pack_extent_make(context, def->packing, "the packing", &tree->extent));
    tree->info.spheres = tree->extent.count;
    tree->info.method = def->method;
    tree->info.arity = arity;
    CAROM_TRY(carom_tree_build(context, def, def->packing->spheres, tree));
    tree->info.nodes = tree->inner_count;
    tree->info.leaves = tree->leaf_count;
    tree->info.depth = tree->depth;
    tree->info.bytes = sizeof(*tree) +
                       (tree->info.nodes + tree->info.leaves) * sizeof(*tree->nodes) +
                       tree->info.leaves * sizeof(*tree->leaves) +
                       (tree->info.nodes + tree->info.leaves) * sizeof(*tree->volumes) +
                       tree->info.spheres * sizeof(*tree->slots);
    return CAROM_OK;
}

carom_status carom_tree_create(carom_context *context, const carom_tree_def *def,
                               carom_tree **tree) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(def != NULL && tree != NULL, "the definition or the place for the tree is NULL");
    *tree = NULL;
    CAROM_REQUIRE(def->packing != NULL, "the packing is NULL");
    CAROM_REQUIRE((unsigned)def->method < CAROM_TREE_METHOD_COUNT, "the method is unknown");
    CAROM_TRY(carom_context_require_cpu(context, "a sphere tree"));
    carom_tree *made = carom_allocate(&context->allocator, 1, sizeof(*made));
    if (made == NULL) return carom_fail_memory(context, sizeof(*made), "a tree");
    *made = (carom_tree){.allocator = context->allocator};
    carom_status status = create(context, def, made);
    if (status == CAROM_OK)
        *tree = made;
    else
        carom_tree_destroy(made);
    return status;
}

void carom_tree_destroy(carom_tree *tree) {
    if (tree == NULL) return;
    carom_allocator allocator = tree->allocator;
    CAROM_RELEASE_ALL(&allocator, tree->nodes, tree->leaves, tree->volumes, tree->slots, tree);
}

carom_status carom_tree_get_info(carom_context *context, const carom_tree *tree,
                                 carom_tree_info *info) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(tree != NULL && info != NULL, "the tree or the info is NULL");
    *info = tree->info;
    return CAROM_OK;
}
