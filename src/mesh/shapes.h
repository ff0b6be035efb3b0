/* SPDX-License-Identifier: MIT */
/* shapes.h: the makers of shapes, each given a def without zeros left, and the builder they use. */
#ifndef CAROM_SRC_MESH_SHAPES_H
#define CAROM_SRC_MESH_SHAPES_H

#include "carom/shapes.h"
#include "geom/vec.h"
#include "mesh/build.h"

#define CAROM_TURN 6.283185307179586476925 /* 2 pi */

/* A mesh being filled, vertex after vertex, face after face. */
typedef struct carom_builder {
    carom_context *context;
    const carom_shape_def *def;
    carom_mesh *mesh;
    uint64_t vertices, faces, corners; /* so far */
} carom_builder;

/* Makes room; counts are doubles, so that no product of sizes can wrap around. `quads` become two
 * triangles each unless the def asks for polygons; `others` are faces with `other_corners` in all.
 */
carom_status carom_builder_begin(carom_builder *builder, double vertices, double quads,
                                 double others, double other_corners);
/* Returns the vertex's number. */
uint32_t carom_builder_vertex(carom_builder *builder, carom_vec3 p);
void carom_builder_face(carom_builder *builder, const uint32_t *corners, uint64_t count);
void carom_builder_triangle(carom_builder *builder, uint64_t a, uint64_t b, uint64_t c);
/* As two triangles: a b c, a c d. */
void carom_builder_quad(carom_builder *builder, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

carom_status carom_shape_sphere(carom_builder *builder);
carom_status carom_shape_globe(carom_builder *builder);
carom_status carom_shape_torus(carom_builder *builder);
carom_status carom_shape_box(carom_builder *builder);
carom_status carom_shape_cylinder(carom_builder *builder);
carom_status carom_shape_cone(carom_builder *builder);
carom_status carom_shape_knot(carom_builder *builder);
carom_status carom_shape_chazelle(carom_builder *builder);
carom_status carom_shape_cloth(carom_builder *builder);
carom_status carom_shape_chain(carom_builder *builder);
carom_status carom_shape_shards(carom_builder *builder);
carom_status carom_shape_grid(carom_builder *builder);

#endif
