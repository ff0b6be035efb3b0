/* SPDX-License-Identifier: MIT */
/* hello_kfree.c: how dense are the faces of a torus? */
#include <carom/carom.h>
#include <stdio.h>

int main(void) {
    carom_context *context;
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_soup *soup;
    carom_kfree kfree;
    if (carom_context_create(NULL, &context) ||
        carom_shape_make(context, &(carom_shape_def){.shape = CAROM_SHAPE_TORUS}, &mesh) ||
        carom_mesh_get_view(mesh, &view) ||
        carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup) ||
        carom_kfree_measure(context, soup, &kfree, NULL))
        return fprintf(stderr, "%s\n", carom_context_message(context)), 1;
    printf("%llu faces, %llu-free\n", (unsigned long long)kfree.faces, (unsigned long long)kfree.k);
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}
