/* SPDX-License-Identifier: MIT */
/* hello_pack.c: the spheres that fill a torus. */
#include <carom/carom.h>
#include <stdio.h>

int main(void) {
    carom_context *context;
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_packing *packing;
    carom_packing_spheres spheres = {0};
    if (carom_context_create(NULL, &context) ||
        carom_shape_make(context, &(carom_shape_def){.shape = CAROM_SHAPE_TORUS}, &mesh) ||
        carom_mesh_get_view(mesh, &view) ||
        carom_packing_create(context, &(carom_packing_def){.mesh = &view, .count = 64}, &packing) ||
        carom_packing_list_spheres(context, packing, &spheres))
        return fprintf(stderr, "%s\n", carom_context_message(context)), 1;
    printf("the largest sphere has the radius %.6f\n", spheres.data[0].radius);
    carom_packing_spheres_free(&spheres);
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}
