/* SPDX-License-Identifier: MIT */
/* bvh_winding.h: winding numbers of the triangles in a box tree: exact for balanced meshes,
 * generalised, with a bound of the error, for any. */
#ifndef CAROM_SRC_BVH_BVH_WINDING_H
#define CAROM_SRC_BVH_BVH_WINDING_H

#include "base/context.h"
#include "bvh/bvh_winding_cpu.h"

/* Writes the triangle at a slot that is not past the end. False: it has no area or is left out of
 * the tree. Called from any worker. */
typedef bool carom_bvh_triangle_fn(const void *user, uint32_t slot, carom_triangle *triangle);

/* A box tree with its triangles. */
typedef struct carom_bvh_faces {
    const carom_bvh *bvh;
    double scale; /* boxes are in the frame x * scale - origin */
    carom_vec3 origin;
    carom_bvh_triangle_fn *triangle;
    const void *user;
} carom_bvh_faces;

/* A point in the frame of the boxes; infinite if it overflows. */
static inline carom_vec3 carom_bvh_to_frame(const carom_bvh_faces *faces, carom_vec3 p) {
    return carom_vec_sub(carom_vec_scale(p, faces->scale), faces->origin);
}

/* Computes the winding number of a balanced mesh around a point, exactly. False: the point lies on
 * a face. `found` is a buffer for the search. */
bool carom_bvh_winding(carom_context *context, const carom_bvh_faces *faces, carom_vec3 point,
                       carom_bvh_found *found, int32_t *winding);

/* What generalised winding numbers are computed from: 85 bytes per triangle. */
typedef struct carom_bvh_field {
    carom_bvh_corners *corners; /* of each block, in the frame */
    carom_bvh_moments *moments; /* of the children of each node above the blocks, level by level;
                                   last of a node above the root, with the root as only child */
} carom_bvh_field;

/* Computes the field. The arrays come from `arena`. O(n) on all threads; the same bits for any
 * number of threads. */
carom_status carom_bvh_field_make(carom_context *context, carom_arena *arena,
                                  const carom_bvh_faces *faces, carom_bvh_field *field);

/* How many nodes have moments, and which is the first of a level from 1 on; the last level is that
 * above the root. */
uint64_t carom_bvh_field_nodes(const carom_bvh *bvh);
uint64_t carom_bvh_field_first(const carom_bvh *bvh, uint32_t level);

/* The generalised winding number around a finite point: the same bits for any instruction set. */
double carom_bvh_winding_fraction(carom_context *context, const carom_bvh_faces *faces,
                                  const carom_bvh_field *field, carom_vec3 point);

#endif
