/* SPDX-License-Identifier: MIT */
/* shapes.h: shapes as meshes and as what is prepared from them; all asserted to be made. */
#ifndef CAROM_TESTS_SHAPES_H
#define CAROM_TESTS_SHAPES_H

#include "tests/support/test.h"

/* The mesh and its view. */
carom_mesh *shape_mesh(carom_context *context, const carom_shape_def *shape, carom_mesh_view *view);
/* The mesh alone. */
carom_mesh *shape_detailed(carom_context *context, carom_shape shape, uint64_t detail);

/* Prepared from the mesh, which is then gone. `def` lacks only its mesh; NULL: the default. */
carom_soup *shape_soup(carom_context *context, const carom_shape_def *shape,
                       const carom_soup_def *def);
carom_solid *shape_solid(carom_context *context, const carom_shape_def *shape, bool complement);
carom_packing *shape_packing(carom_context *context, const carom_shape_def *shape,
                             const carom_packing_def *def);

/* A packing of a shape; the mesh goes to *mesh unless that is NULL. */
carom_packing *packing_of_shape(carom_context *context, carom_shape shape, uint32_t detail,
                                uint64_t count, carom_mesh **mesh);

#endif
