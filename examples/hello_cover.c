/* SPDX-License-Identifier: MIT */
/* hello_cover.c: spheres that contain a torus. */
#include <carom/carom.h>
#include <stdio.h>

int main(void) {
    carom_context *context;
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_cover *cover;
    carom_cover_spheres spheres = {0};
    if (carom_context_create(NULL, &context) ||
        carom_shape_make(context, &(carom_shape_def){.shape = CAROM_SHAPE_TORUS}, &mesh) ||
        carom_mesh_get_view(mesh, &view) ||
        carom_cover_create(context, &(carom_cover_def){.mesh = &view, .count = 8}, &cover) ||
        carom_cover_list_spheres(context, cover, &spheres))
        return fprintf(stderr, "%s\n", carom_context_message(context)), 1;
    printf("the largest sphere has the radius %.6f\n", spheres.data[0].radius);
    carom_cover_spheres_free(&spheres);
    carom_cover_destroy(cover);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}
