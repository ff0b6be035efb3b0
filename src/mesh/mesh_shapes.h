/* SPDX-License-Identifier: MIT */
/* mesh_shapes.h: the generators of shapes, and the sketch that they fill. Each generator gets a def
 * in which zeros have been replaced by defaults. */
#ifndef CAROM_SRC_MESH_MESH_SHAPES_H
#define CAROM_SRC_MESH_MESH_SHAPES_H

#include "base/math.h"
#include "carom/shapes.h"
#include "geom/vec.h"
#include "mesh/mesh_allocation.h"

#define CAROM_TURN (2.0 * CAROM_PI) /* radians */

/* A mesh under construction: vertices and faces are appended. */
typedef struct carom_sketch {
    carom_context *context;
    const carom_shape_def *def;
    carom_mesh *mesh;
    uint64_t vertices, faces, corners; /* so far */
} carom_sketch;

/* Allocates. Counts are doubles, so that no product of sizes can wrap around. `quads` become two
 * triangles each unless the def says polygons; `others` are faces with `other_corners` corners
 * in total. */
carom_status carom_sketch_begin(carom_sketch *sketch, double vertices, double quads, double others,
                                double other_corners);
/* Appends a vertex and returns its index. */
uint32_t carom_sketch_vertex(carom_sketch *sketch, carom_vec3 p);
void carom_sketch_face(carom_sketch *sketch, const uint32_t *corners, uint64_t count);
void carom_sketch_triangle(carom_sketch *sketch, uint64_t a, uint64_t b, uint64_t c);
/* Generators call this once per row of a shape: true when cancelled. The sketch is then
 * discarded. */
bool carom_sketch_stop(carom_sketch *sketch);
/* Two triangles: a b c, a c d. */
void carom_sketch_quad(carom_sketch *sketch, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/* The shapes, one function each. */
typedef carom_status carom_shape_fn(carom_sketch *sketch);
carom_shape_fn carom_shape_sphere, carom_shape_globe, carom_shape_torus, carom_shape_box,
    carom_shape_cylinder, carom_shape_cone, carom_shape_knot, carom_shape_chazelle,
    carom_shape_cloth, carom_shape_chain, carom_shape_shards, carom_shape_grid;

/* Vertices of some rows of a cloth, one row after another. */
carom_status carom_shape_cloth_rows(carom_context *context, const carom_shape_def *def,
                                    uint64_t first, uint64_t count, carom_vec3 *to);

/* CAROM_TOO_LARGE where 32 bits do not number the vertices or the faces. */
carom_status carom_shape_check_counts(carom_context *context, const carom_shape_def *def,
                                      double vertices, double faces);

/* Replaces zeros of a def, which may be NULL, by defaults, and checks it. */
carom_status carom_shape_complete(carom_context *context, const carom_shape_def *def,
                                  carom_shape_def *full);

#endif
