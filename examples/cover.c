/* SPDX-License-Identifier: MIT */
/* Covers a knot with spheres from outside, as a motion planner needs them, and says how far they
 * reach out of it. */
#include <carom/carom.h>
#include <stdio.h>
#include <stdlib.h>

static void must(carom_context *context, carom_status status) {
    if (status == CAROM_OK) return;
    fprintf(stderr, "%s\n", carom_context_message(context));
    exit(EXIT_FAILURE);
}

int main(void) {
    carom_context *context;
    carom_mesh *mesh;
    carom_cover *cover;
    must(NULL, carom_context_create(NULL, &context));

    /* input */
    carom_shape_def shape = {.shape = CAROM_SHAPE_KNOT, .detail = 32};
    must(context, carom_shape_make(context, &shape, &mesh));

    /* prepare: with .distance instead of .count, as many as that takes */
    carom_mesh_view view;
    must(context, carom_mesh_get_view(mesh, &view));
    carom_cover_def def = {.mesh = &view, .count = 16};
    must(context, carom_cover_create(context, &def, &cover));

    /* result */
    carom_cover_info info;
    carom_cover_spheres spheres = {0};
    must(context, carom_cover_get_info(cover, &info));
    must(context, carom_cover_list_spheres(context, cover, &spheres));
    printf("%llu spheres contain the knot and reach out of it by at most %.3f, on average %.3f\n",
           (unsigned long long)info.spheres, info.measure.worst.upper, info.measure.mean);
    for (uint64_t i = 0; i < spheres.count; i += 5) {
        const carom_ball *s = &spheres.data[i];
        printf("sphere %2llu: radius %.3f around (%.3f, %.3f, %.3f)\n", (unsigned long long)i,
               s->radius, s->centre.x, s->centre.y, s->centre.z);
    }

    carom_cover_spheres_free(&spheres);
    carom_cover_destroy(cover);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return EXIT_SUCCESS;
}
