/* SPDX-License-Identifier: MIT */
/* Moves a knot towards a torus and computes how far apart they are, or how much they overlap and
 * which way they push, from packings of both. */
#include <carom/carom.h>
#include <stdio.h>
#include <stdlib.h>

static void must(carom_context *context, carom_status status) {
    if (status == CAROM_OK) return;
    fprintf(stderr, "%s\n", carom_context_message(context));
    exit(EXIT_FAILURE);
}

static carom_tree *prepare(carom_context *context, carom_shape shape) {
    carom_mesh *mesh;
    carom_packing *packing;
    carom_tree *tree;
    carom_shape_def of_shape = {.shape = shape};
    must(context, carom_shape_make(context, &of_shape, &mesh));

    carom_mesh_view view;
    must(context, carom_mesh_get_view(mesh, &view));
    carom_packing_def of_packing = {.mesh = &view, .count = 1000, .fast = true};
    must(context, carom_packing_create(context, &of_packing, &packing));

    carom_tree_def of_tree = {.packing = packing, .mesh = &view};
    must(context, carom_tree_create(context, &of_tree, &tree));
    carom_packing_destroy(packing); /* the tree has copied what it needs */
    carom_mesh_destroy(mesh);
    return tree;
}

int main(void) {
    carom_context *context;
    must(NULL, carom_context_create(NULL, &context));

    /* input and prepare */
    carom_tree *torus = prepare(context, CAROM_SHAPE_TORUS);
    carom_tree *knot = prepare(context, CAROM_SHAPE_KNOT);

    /* query */
    for (int step = 0; step <= 4; ++step) {
        carom_pose pose = {{1, 0, 0, 0}, {4.0 - 0.5 * step, 0, 0}};
        carom_tree_result answer;
        must(context, carom_tree_query(context, torus, NULL, knot, &pose, NULL, &answer));

        /* result */
        const carom_packing_overlap *o = &answer.overlap;
        printf("x = %.1f, %s: ", pose.t.x, carom_relation_name(o->relation));
        if (answer.has_gap)
            printf("distance %.4f to %.4f\n", answer.gap.distance.lower, answer.gap.distance.upper);
        else
            printf("volume %.4f (%.4f to %.4f), force %.3f, %.3f, %.3f\n", o->volume.value,
                   o->volume.lower, o->volume.upper, o->force.x, o->force.y, o->force.z);
    }

    carom_tree_destroy(torus);
    carom_tree_destroy(knot);
    carom_context_destroy(context);
    return EXIT_SUCCESS;
}
