/* SPDX-License-Identifier: MIT */
/* Which faces meet: of a mesh with itself, in the next frame, and of two meshes. Give it a file, or
 * it crumples a cloth. */
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
    carom_mesh_view view;
    carom_soup *soup;
    carom_pairs pairs = {0};
    must(NULL, carom_context_create(NULL, &context));

    /* input */
    carom_shape_def cloth = {.shape = CAROM_SHAPE_CLOTH, .detail = 40};
    must(context, argc > 1 ? carom_mesh_load(context, argv[1], CAROM_MESH_FORMAT_GUESS, &mesh)
                           : carom_shape_make(context, &cloth, &mesh));
    must(context, carom_mesh_get_view(mesh, &view));

    /* prepare, query, result */
    carom_soup_def def = {.mesh = &view};
    must(context, carom_soup_create(context, &def, &soup));
    must(context, carom_soup_self_pairs(context, soup, &pairs));
    printf("%llu pairs of faces meet\n", (unsigned long long)pairs.count);
    for (uint64_t i = 0; i < pairs.count && i < 3; ++i)
        printf("  %u and %u\n", pairs.data[i].a, pairs.data[i].b);

    /* the next frame: new positions in the same soup; nothing is allocated once it is warm */
    must(context, carom_soup_update(context, soup, &view));
    must(context, carom_soup_self_pairs(context, soup, &pairs));

    /* the soup and itself, moved aside */
    carom_pose aside = {.q = {.w = 1.0}, .t = {0.25, 0.0, 0.1}};
    must(context, carom_soup_cross_pairs(context, soup, NULL, soup, &aside, &pairs));
    printf("%llu pairs meet when it is moved against itself\n", (unsigned long long)pairs.count);

    carom_pairs_free(&pairs);
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return EXIT_SUCCESS;
}
