/* SPDX-License-Identifier: MIT */
/* mesh.h: polygon meshes, in and out. */
#ifndef CAROM_MESH_H
#define CAROM_MESH_H

#include "carom/geom.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- input: a view of positions and faces, yours or a mesh's --------------------------------- */

typedef enum carom_scalar { CAROM_FLOAT64 = 0, CAROM_FLOAT32 = 1, CAROM_SCALAR_COUNT } carom_scalar;

/* Faces are polygons; face f has the corners [offsets[f], offsets[f + 1]). Nothing is copied or
 * owned. */
typedef struct carom_mesh_view {
    const void *positions; /* x, y, z of each vertex */
    carom_scalar scalar;   /* 0: doubles */
    uint64_t stride;       /* bytes from one vertex to the next; 0: packed */
    uint64_t vertex_count;
    const uint32_t *corners; /* vertex numbers, face after face */
    const uint64_t *offsets; /* face_count + 1 of them; NULL: all faces are triangles */
    uint64_t face_count;
} carom_mesh_view;

/* Owns positions and faces. Immutable after loading; any number of threads may read it. */
typedef struct carom_mesh carom_mesh;

#ifdef __cplusplus
}
#endif

#endif
