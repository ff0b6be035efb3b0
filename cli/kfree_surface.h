/* SPDX-License-Identifier: MIT */
/* kfree_surface.h: triangles that kfree_split.c and kfree_remesh.c change, and their edges. */
#ifndef CAROM_CLI_KFREE_SURFACE_H
#define CAROM_CLI_KFREE_SURFACE_H

#include "carom/carom.h"

typedef struct surface {
    double (*positions)[3];
    uint32_t (*corners)[3];
    uint64_t vertex_count, face_count;
} surface;

/* Edge i of a triangle is opposite to its corner i. */
typedef struct edge {
    uint32_t low, high; /* its vertices */
    uint64_t slot;      /* 3 x triangle + i */
} edge;

/* Copies triangles. False: no memory; surface_free what there is. */
bool surface_copy(const carom_mesh_view *mesh, surface *s);
carom_mesh_view surface_view(const surface *s);
void surface_free(surface *s);

/* The square of the length between two vertices. */
double surface_square(const surface *s, uint32_t a, uint32_t b);

/* All edges of all triangles, sorted: those of the same vertices are in a row. NULL: no memory. */
edge *surface_edges(const surface *s);

#endif
