/* SPDX-License-Identifier: MIT */
/* How many pairs of faces can ever meet, before any pose is known? Give it a file, or it makes a
 * knot. */
#include <carom/carom.h>
#include <stdio.h>
#include <stdlib.h>

static void must(carom_context *context, carom_status status) {
    if (status == CAROM_OK) return;
    fprintf(stderr, "%s\n", carom_context_message(context));
    exit(EXIT_FAILURE);
}

int main(int argc, char **argv) {
    carom_context *context;
    carom_mesh *mesh;
    carom_soup *soup;
    carom_mesh_view view;
    carom_soup_def def = {.mesh = &view, .rigid = true};
    must(NULL, carom_context_create(NULL, &context));

    /* input, prepare */
    carom_shape_def knot = {.shape = CAROM_SHAPE_KNOT};
    must(context, argc > 1 ? carom_mesh_load(context, argv[1], CAROM_MESH_FORMAT_GUESS, &mesh)
                           : carom_shape_make(context, &knot, &mesh));
    must(context, carom_mesh_get_view(mesh, &view));
    must(context, carom_soup_create(context, &def, &soup));

    /* query: how dense, and what follows for the mesh and a copy of it */
    carom_kfree k_free;
    carom_kfree_most bounds;
    must(context, carom_kfree_measure(context, soup, &k_free, NULL));
    must(context, carom_kfree_bound(context, &k_free, &k_free, &bounds));
    printf("%llu faces, %llu-free: a face has up to %u larger ones near it, %.1f on average\n",
           (unsigned long long)k_free.faces, (unsigned long long)k_free.k, k_free.most,
           k_free.mean);
    printf("in any pose at most %llu pairs meet\n", (unsigned long long)bounds.pairs);

    /* one such pose */
    carom_pairs pairs = {0};
    carom_pose pose = {.q = {.w = 0.9, .x = 0.3, .y = 0.3}, .t = {0.1, 0.2, 0.0}};
    must(context, carom_soup_cross_pairs(context, soup, NULL, soup, &pose, &pairs));
    printf("in this one %llu do\n", (unsigned long long)pairs.count);

    carom_pairs_free(&pairs);
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return EXIT_SUCCESS;
}
