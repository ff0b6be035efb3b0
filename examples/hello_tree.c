/* SPDX-License-Identifier: MIT */
/* hello_tree.c: how far is a torus from its moved copy, by their spheres? */
#include <carom/carom.h>
#include <stdio.h>

int main(void) {
    carom_context *context;
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_packing *packing;
    carom_tree *tree;
    carom_tree_result result;
    if (carom_context_create(NULL, &context) ||
        carom_shape_make(context, &(carom_shape_def){.shape = CAROM_SHAPE_TORUS}, &mesh) ||
        carom_mesh_get_view(mesh, &view) ||
        carom_packing_create(context, &(carom_packing_def){.mesh = &view, .count = 64}, &packing) ||
        carom_tree_create(context, &(carom_tree_def){.packing = packing, .mesh = &view}, &tree) ||
        carom_tree_query(context, tree, NULL, tree, &(carom_pose){.t = {3, 0, 0}}, NULL, &result))
        return fprintf(stderr, "%s\n", carom_context_message(context)), 1;
    printf("%.3f to %.3f apart\n", result.gap.distance.lower, result.gap.distance.upper);
    carom_tree_destroy(tree);
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}
