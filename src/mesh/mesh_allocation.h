/* SPDX-License-Identifier: MIT */
/* mesh_allocation.h: allocates all arrays of a mesh at once; the caller fills them. */
#ifndef CAROM_SRC_MESH_MESH_ALLOCATION_H
#define CAROM_SRC_MESH_MESH_ALLOCATION_H

#include "mesh/mesh.h"

/* The sizes of the arrays; `polygons` says whether there are offsets, `parts` whether faces have
 * parts. */
typedef struct carom_mesh_allocation {
    carom_scalar scalar;
    uint64_t vertices, faces, corners;
    bool polygons, parts;
} carom_mesh_allocation;

/* Allocates a mesh whose arrays are not yet filled. CAROM_NO_MEMORY, or CAROM_TOO_LARGE when the
 * indices of vertices or faces do not fit into 32 bits. */
carom_status carom_mesh_reserve(carom_context *context, const carom_mesh_allocation *allocation,
                                carom_mesh **mesh);

/* Writes a position in the mesh's scalar type. */
void carom_mesh_put(carom_mesh *mesh, uint64_t vertex, carom_vec3 p);

#endif
