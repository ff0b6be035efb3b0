/* SPDX-License-Identifier: MIT */
#include "tests/support/shapes.h"

carom_mesh *shape_mesh(carom_context *context, const carom_shape_def *shape,
                       carom_mesh_view *view) {
    carom_mesh *mesh;
    assert_ok(context, carom_shape_make(context, shape, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, view));
    return mesh;
}

carom_mesh *shape_detailed(carom_context *context, carom_shape shape, uint64_t detail) {
    carom_mesh_view view;
    return shape_mesh(context, &(carom_shape_def){.shape = shape, .detail = detail}, &view);
}

carom_soup *shape_soup(carom_context *context, const carom_shape_def *shape,
                       const carom_soup_def *def) {
    carom_mesh_view view;
    carom_mesh *mesh = shape_mesh(context, shape, &view);
    carom_soup_def of_mesh = {0};
    carom_soup *soup;
    if (def != NULL) of_mesh = *def;
    of_mesh.mesh = &view;
    assert_ok(context, carom_soup_create(context, &of_mesh, &soup));
    carom_mesh_destroy(mesh);
    return soup;
}

carom_solid *shape_solid(carom_context *context, const carom_shape_def *shape, bool complement) {
    carom_mesh_view view;
    carom_mesh *mesh = shape_mesh(context, shape, &view);
    const carom_solid_def def = {.mesh = &view, .complement = complement};
    carom_solid *solid;
    assert_ok(context, carom_solid_create(context, &def, &solid));
    carom_mesh_destroy(mesh);
    return solid;
}

carom_packing *shape_packing(carom_context *context, const carom_shape_def *shape,
                             const carom_packing_def *def) {
    carom_mesh_view view;
    carom_mesh *mesh = shape_mesh(context, shape, &view);
    carom_packing_def of_mesh = *def;
    carom_packing *packing;
    of_mesh.mesh = &view;
    assert_ok(context, carom_packing_create(context, &of_mesh, &packing));
    carom_mesh_destroy(mesh);
    return packing;
}

carom_packing *packing_of_shape(carom_context *context, carom_shape shape, uint32_t detail,
                                uint64_t count, carom_mesh **keep) {
    carom_packing *packing = NULL;
    carom_shape_def shape_def = {.shape = shape, .detail = detail};
    carom_mesh_view view = {0};
    carom_packing_def def = {.mesh = &view, .count = count, .fast = shape != CAROM_SHAPE_BOX};
    carom_mesh *mesh = shape_mesh(context, &shape_def, &view);
    assert_ok(context, carom_packing_create(context, &def, &packing));
    if (keep != NULL)
        *keep = mesh;
    else
        carom_mesh_destroy(mesh);
    return packing;
}
