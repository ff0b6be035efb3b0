/* SPDX-License-Identifier: MIT */
/* A tree: created from a packing, which it copies. */
#include "tree/tree.h"

#include "base/assert.h"
#include "base/names.h"
#include "base/progress.h"
#include "spheres/spheres_overlap.h"
#include "tree/tree_device.h"
#include "tree/tree_moments.h"

CAROM_ENUM_NAMES(carom_tree_method, CAROM_TREE_METHOD_COUNT, "median", "neural-gas", "morton");

#define TREE_ARITY_MIN 2u
#define TREE_GAS_ARITY 4u /* of the paper */

/* Cells of the octree: TREE_CELLS_BASE, one per sphere up to TREE_CELLS_HALVED spheres, and one for
 * two of the others: so its memory, 32 bytes per cell, follows the spheres. A search visits 4,096
 * cells or 16,384 at most (tree_overlap.c), and bounds of few spheres need the most cells. Indices
 * have 30 bits (carom_tree_cell). */
#define TREE_CELLS_BASE   2048u
#define TREE_CELLS_HALVED 16384u
#define TREE_CELLS_MAX    (UINT64_C(1) << 29)

static uint32_t count_cells(uint64_t spheres) {
    uint64_t cells = spheres > TREE_CELLS_HALVED
                         ? TREE_CELLS_HALVED + (spheres - TREE_CELLS_HALVED) / 2
                         : spheres;
    return (uint32_t)CAROM_MIN(cells + TREE_CELLS_BASE, TREE_CELLS_MAX);
}

/* Children come after their parents. */
static void sum_volumes(carom_tree *t) {
    for (uint32_t i = 0; i < t->leaf_count; ++i) {
        double sum = 0.0;
        for (uint32_t lane = 0; lane < CAROM_TREE_WIDTH; ++lane) {
            double r = t->leaves[i].secondary[lane];
            sum += 4.0 / 3.0 * CAROM_PI * (r * r * r);
        }
        t->volumes[t->inner_count + i] = sum * (1.0 + CAROM_TREE_SHARE_ERROR);
    }
    for (uint32_t i = t->inner_count; i-- > 0;) {
        t->volumes[i] = 0.0;
        for (uint32_t lane = 0; lane < CAROM_TREE_WIDTH; ++lane) {
            uint32_t child = t->nodes[i].child[lane];
            if (child == CAROM_TREE_NONE) continue;
            CAROM_ASSERT(child > i); /* its volume is there */
            t->volumes[i] += t->volumes[child];
        }
    }
}

/* Whether the root's volume is that of all spheres, and more by the error of shares: none is left
 * out or counted twice. */
CAROM_TREE_CHECK bool tree_volumes_sum(const carom_tree *t) {
    double sum = 0.0, error = 2.0 * CAROM_TREE_SHARE_ERROR;
    for (uint64_t i = 0; i < t->extent.count; ++i) {
        double r =
            t->leaves[t->slots[i] / CAROM_TREE_WIDTH].secondary[t->slots[i] % CAROM_TREE_WIDTH];
        sum += 4.0 / 3.0 * CAROM_PI * (r * r * r);
    }
    return t->volumes[0] >= sum && t->volumes[0] <= sum * (1.0 + error);
}

/* Fowler, Noll and Vo, by words of 8 bytes or what is left. */
static uint64_t add_bytes(uint64_t hash, const void *data, uint64_t size) {
    const uint8_t *from = data;
    for (uint64_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word = 0, left = size - i;
        memcpy(&word, from + i, CAROM_MIN(left, sizeof(word)));
        hash = (hash ^ word) * UINT64_C(0x100000001b3);
        hash ^= hash >> 29;
    }
    return hash;
}

static uint64_t fingerprint_of(const carom_tree *tree) {
    const carom_tree_surface *s = &tree->surface;
    const double frame[4] = {tree->origin.x, tree->origin.y, tree->origin.z, (double)tree->shift};
    uint64_t hash = add_bytes(UINT64_C(0xcbf29ce484222325), frame, sizeof(frame));
    if (s->triangle_count == 0) return hash;
    hash = add_bytes(hash, s->vertices, (uint64_t)s->vertex_count * sizeof(*s->vertices));
    return add_bytes(hash, s->corners, 3 * (uint64_t)s->triangle_count * sizeof(*s->corners));
}

void carom_tree_finish(carom_tree *tree) {
    carom_tree_info *info = &tree->info;
    tree->fingerprint = fingerprint_of(tree);
    sum_volumes(tree);
    carom_tree_moments_make(tree);
    info->spheres = tree->extent.count;
    info->nodes = tree->inner_count;
    info->leaves = tree->leaf_count;
    info->depth = tree->depth;
    info->triangles = tree->surface.triangle_count;
    info->bytes = sizeof(*tree) +
                  (info->nodes + info->leaves) *
                      (sizeof(*tree->nodes) + sizeof(*tree->volumes) + sizeof(*tree->moments)) +
                  info->nodes * sizeof(*tree->moment_lanes) +
                  info->leaves * (sizeof(*tree->leaves) + CAROM_TREE_WIDTH * sizeof(*tree->faces)) +
                  info->spheres * sizeof(*tree->slots) + carom_tree_surface_bytes(&tree->surface);
    info->bytes += tree->cells.count * sizeof(*tree->cells.cells);
    if (tree->outward != NULL)
        info->bytes += 3 * info->leaves * CAROM_TREE_WIDTH * sizeof(*tree->outward);
}

static carom_status tree_create(carom_context *context, const carom_tree_def *def,
                                carom_tree *tree) {
    uint32_t arity = def->arity != 0                               ? def->arity
                     : def->method == CAROM_TREE_METHOD_NEURAL_GAS ? TREE_GAS_ARITY
                                                                   : CAROM_TREE_WIDTH;
    if (arity < TREE_ARITY_MIN || arity > CAROM_TREE_WIDTH)
        return carom_fail(context, CAROM_BAD_INPUT, "an arity of %u is not in 2 to %u", arity,
                          CAROM_TREE_WIDTH);
    CAROM_TRY(carom_spheres_extent_make(context, def->packing, "the packing", &tree->extent));
    tree->info.method = def->method;
    tree->info.arity = arity;
    tree->seed = def->seed;
    CAROM_TRY(carom_tree_build(context, def, def->packing->spheres, tree));
    if (def->mesh != NULL && def->mesh->positions != NULL)
        CAROM_TRY(
            carom_tree_surface_make(context, def->mesh, tree->origin, tree->shift, &tree->surface));
    if (tree->surface.triangle_count != 0) {
        CAROM_TRY(carom_tree_outward_make(context, tree));
        CAROM_TRY(carom_tree_cells_make(context, &tree->surface, tree->origin, tree->shift,
                                        count_cells(tree->extent.count), &tree->cells));
    }
    carom_tree_finish(tree);
    CAROM_ASSERT(tree_volumes_sum(tree));
    return CAROM_OK;
}

static carom_status tree_make(carom_context *context, const carom_tree_def *def,
                              carom_tree **tree) {
    carom_tree *made = carom_allocate(&context->allocator, 1, sizeof(*made));
    if (made == NULL) return carom_fail_memory(context, sizeof(*made), "a tree");
    *made = (carom_tree){.allocator = context->allocator, .own = context->allocator};
    carom_status status = tree_create(context, def, made);
    if (status == CAROM_OK) status = carom_tree_device_copy(context, made);
    if (status == CAROM_OK)
        *tree = made;
    else
        carom_tree_destroy(made);
    return status;
}

carom_status carom_tree_create(carom_context *context, const carom_tree_def *def,
                               carom_tree **tree) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(def, "definition");
    CAROM_REQUIRE_OUTPUT(tree, "tree");
    *tree = NULL;
    CAROM_REQUIRE_INPUT(def->packing, "packing");
    CAROM_REQUIRE_KNOWN(def->method, CAROM_TREE_METHOD_COUNT, "method");
    return tree_make(context, def, tree);
}

/* Nothing of the old tree would save time: most of it goes into radii, surface and cells. */
carom_status carom_tree_update(carom_context *context, carom_tree *tree,
                               const carom_packing *packing, const carom_mesh_view *mesh) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(tree, "tree");
    CAROM_REQUIRE_INPUT(packing, "packing");
    carom_tree_def def = {.packing = packing,
                          .method = tree->info.method,
                          .arity = tree->info.arity,
                          .seed = tree->seed,
                          .mesh = mesh};
    carom_tree *next;
    CAROM_TRY(carom_context_require_made(context, carom_backend_of(tree->device), "the tree"));
    if (context->device != NULL) CAROM_TRY(carom_cuda_finish(context)); /* of the old tree */
    CAROM_TRY(tree_make(context, &def, &next));
    carom_tree old = *tree;
    carom_allocator own = next->own;
    *tree = *next;
    tree->own = old.own;
    *next = old;
    next->own = own;
    carom_tree_destroy(next);
    return CAROM_OK;
}

void carom_tree_destroy(carom_tree *tree) {
    if (tree == NULL) return;
    carom_allocator allocator = tree->allocator, own = tree->own;
    carom_tree_device_release(tree);
    if (tree->file != NULL) {
        carom_tree_file_release(tree);
    } else {
        carom_tree_surface_free(&tree->surface, &allocator);
        CAROM_RELEASE_ALL(&allocator, tree->nodes, tree->leaves, tree->faces, tree->outward,
                          tree->cells.cells);
    }
    CAROM_RELEASE_ALL(&allocator, tree->volumes, tree->moments, tree->moment_lanes, tree->slots);
    carom_release(&own, tree);
}

carom_status carom_tree_get_info(const carom_tree *tree, carom_tree_info *info) {
    CAROM_REQUIRE_INPUT(tree, "tree");
    CAROM_REQUIRE_OUTPUT(info, "info");
    *info = tree->info;
    return CAROM_OK;
}
