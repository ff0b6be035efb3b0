/* SPDX-License-Identifier: MIT */
/* Fills a torus with spheres and says how well each stands for its share of the volume. */
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
    carom_packing *packing;
    must(NULL, carom_context_create(NULL, &context));

    /* input */
    carom_shape_def shape = {.shape = CAROM_SHAPE_TORUS, .detail = 24};
    must(context, carom_shape_make(context, &shape, &mesh));

    /* prepare */
    carom_packing_def def = {.count = 200};
    must(context, carom_mesh_get_view(mesh, &def.mesh));
    must(context, carom_packing_create(context, &def, &packing));

    /* result */
    carom_packing_info info;
    carom_pack_spheres spheres = {0};
    must(context, carom_packing_get_info(context, packing, &info));
    must(context, carom_packing_get_spheres(context, packing, &spheres));
    printf("%llu spheres fill %.3f of the torus; no ball larger than %.4f is left\n",
           (unsigned long long)info.spheres, info.fill, info.empty_radius);
    for (uint64_t i = 0; i < spheres.count; i += 50) {
        const carom_pack_sphere *s = &spheres.data[i];
        printf("sphere %3llu: radius %.4f, secondary %.4f, cover %.4f, nearest face %u\n",
               (unsigned long long)i, s->radius, s->secondary, s->cover, s->face);
    }

    carom_pack_spheres_free(&spheres);
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return EXIT_SUCCESS;
}
