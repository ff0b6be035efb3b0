/* SPDX-License-Identifier: MIT */
/* Fills a torus with spheres and says how well each stands for its share of the volume; then lets
 * the spheres follow the torus as it is bent. */
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
    carom_shape_def shape = {
        .shape = CAROM_SHAPE_TORUS, .detail = 24, .scalar = CAROM_SCALAR_FLOAT32};
    must(context, carom_shape_make(context, &shape, &mesh));

    /* prepare */
    carom_mesh_view view;
    must(context, carom_mesh_get_view(mesh, &view));
    carom_packing_def def = {.mesh = &view, .count = 200};
    must(context, carom_packing_create(context, &def, &packing));

    /* result */
    carom_packing_info info;
    carom_packing_spheres spheres = {0};
    must(context, carom_packing_get_info(packing, &info));
    must(context, carom_packing_list_spheres(context, packing, &spheres));
    printf("%llu spheres fill %.3f of the torus; no ball larger than %.4f is left\n",
           (unsigned long long)info.spheres, info.fill, info.empty_radius);
    for (uint64_t i = 0; i < spheres.count; i += 50) {
        const carom_packing_sphere *s = &spheres.data[i];
        printf("sphere %3llu: radius %.4f, secondary %.4f, cover %.4f, nearest face %u\n",
               (unsigned long long)i, s->radius, s->secondary, s->cover, s->face);
    }

    /* the torus is bent, and its spheres follow */
    const float *from = view.positions;
    double(*bent)[3] = malloc(view.vertex_count * sizeof(*bent));
    if (bent == NULL) return EXIT_FAILURE;
    for (uint64_t i = 0; i < view.vertex_count; ++i) {
        const float *p = from + 3 * i;
        bent[i][0] = (double)p[0];
        bent[i][1] = (double)p[1];
        bent[i][2] = (double)p[2] + 0.25 * (double)(p[0] * p[0]);
    }
    carom_mesh_view after = {.positions = bent, .vertex_count = view.vertex_count};
    carom_packing_deform_def deform = {.before = &view, .after = &after, .refill = true};
    carom_packing *deformed;
    must(context, carom_packing_deform(context, packing, &deform, &deformed));
    must(context, carom_packing_get_info(deformed, &info));
    printf("bent: %llu spheres fill %.3f of it\n", (unsigned long long)info.spheres, info.fill);

    free(bent);
    carom_packing_destroy(deformed);
    carom_packing_spheres_free(&spheres);
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return EXIT_SUCCESS;
}
