/* SPDX-License-Identifier: MIT */
/* hello_soup.c: which faces of a crumpled cloth meet? */
#include <carom/carom.h>
#include <stdio.h>

int main(void) {
    carom_context *context;
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_soup *soup;
    carom_pairs pairs = {0};
    if (carom_context_create(NULL, &context) ||
        carom_shape_make(context, &(carom_shape_def){.shape = CAROM_SHAPE_CLOTH}, &mesh) ||
        carom_mesh_get_view(mesh, &view) ||
        carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup) ||
        carom_soup_self_pairs(context, soup, &pairs))
        return fprintf(stderr, "%s\n", carom_context_message(context)), 1;
    printf("%llu pairs of faces meet\n", (unsigned long long)pairs.count);
    carom_pairs_free(&pairs);
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}
