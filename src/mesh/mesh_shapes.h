/* SPDX-License-Identifier: MIT */
/* mesh_shapes.h: the makers of shapes, each given a def without zeros left, and the sketch they
 * draw. */
#ifndef CAROM_SRC_MESH_MESH_SHAPES_H
#define CAROM_SRC_MESH_MESH_SHAPES_H

#include "carom/shapes.h"
#include "geom/vec.h"
#include "mesh/mesh_allocation.h"

#define CAROM_TURN 6.283185307179586476925 /* 2 pi */

/* A mesh being filled, vertex after vertex, face after face. */
typedef struct carom_sketch {
    carom_context *context;
    const carom_shape_def *def;
    carom_mesh *mesh;
    uint64_t vertices, faces, corners; /* so far */
} carom_sketch;

/* Makes room; counts are doubles, so that no product of sizes can wrap around. `quads` become two
 * triangles each unless the def asks for polygons; `others` are faces with `other_corners` in all.
 */
carom_status carom_sketch_begin(carom_sketch *sketch, double vertices, double quads, double others,
                                double other_corners);
/* Returns the vertex's number. */
uint32_t carom_sketch_vertex(carom_sketch *sketch, carom_vec3 p);
void carom_sketch_face(carom_sketch *sketch, const uint32_t *corners, uint64_t count);
void carom_sketch_triangle(carom_sketch *sketch, uint64_t a, uint64_t b, uint64_t c);
/* Asked once for each row of a shape: whether the whole is cancelled. What was made is then
 * dropped. */
bool carom_sketch_stop(carom_sketch *sketch);
/* As two triangles: a b c, a c d. */
void carom_sketch_quad(carom_sketch *sketch, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

carom_status carom_shape_sphere(carom_sketch *sketch);
carom_status carom_shape_globe(carom_sketch *sketch);
carom_status carom_shape_torus(carom_sketch *sketch);
carom_status carom_shape_box(carom_sketch *sketch);
carom_status carom_shape_cylinder(carom_sketch *sketch);
carom_status carom_shape_cone(carom_sketch *sketch);
carom_status carom_shape_knot(carom_sketch *sketch);
carom_status carom_shape_chazelle(carom_sketch *sketch);
carom_status carom_shape_cloth(carom_sketch *sketch);
carom_status carom_shape_chain(carom_sketch *sketch);
carom_status carom_shape_shards(carom_sketch *sketch);
carom_status carom_shape_grid(carom_sketch *sketch);

#endif
