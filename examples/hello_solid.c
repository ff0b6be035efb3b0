/* SPDX-License-Identifier: MIT */
/* hello_solid.c: how much do a torus and its moved copy overlap? */
#include <carom/carom.h>
#include <stdio.h>

int main(void) {
    carom_context *context;
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_solid *solid;
    carom_solid_result overlap;
    if (carom_context_create(NULL, &context) ||
        carom_shape_make(context, &(carom_shape_def){.shape = CAROM_SHAPE_TORUS}, &mesh) ||
        carom_mesh_get_view(mesh, &view) ||
        carom_solid_create(context, &(carom_solid_def){.mesh = &view}, &solid) ||
        carom_solid_overlap(context, solid, NULL, solid, &(carom_pose){.t = {1, 0, 0}}, NULL,
                            &overlap))
        return fprintf(stderr, "%s\n", carom_context_message(context)), 1;
    printf("they share a volume of %.6f\n", overlap.volume);
    carom_solid_destroy(solid);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}
