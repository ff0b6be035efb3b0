/* SPDX-License-Identifier: MIT */
/* hello_balls.c: how much does a torus overlap its moved copy, by their spheres? */
#include <carom/carom.h>
#include <stdio.h>

int main(void) {
    carom_context *context;
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_packing *packing;
    carom_balls *balls;
    carom_packing_overlap o;
    if (carom_context_create(NULL, &context) ||
        carom_shape_make(context, &(carom_shape_def){.shape = CAROM_SHAPE_TORUS}, &mesh) ||
        carom_mesh_get_view(mesh, &view) ||
        carom_packing_create(context, &(carom_packing_def){.mesh = &view, .count = 64}, &packing) ||
        carom_balls_create(context, &(carom_balls_def){.packing = packing}, &balls) ||
        carom_balls_overlap(context, balls, NULL, balls, &(carom_pose){.t = {1, 0, 0}}, NULL, &o))
        return fprintf(stderr, "%s\n", carom_context_message(context)), 1;
    printf("a volume of %.3f to %.3f\n", o.volume.lower, o.volume.upper);
    carom_balls_destroy(balls);
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}
