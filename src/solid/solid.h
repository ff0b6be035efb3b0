/* SPDX-License-Identifier: MIT */
/* solid.h: what a solid is made of. */
#ifndef CAROM_SRC_SOLID_SOLID_H
#define CAROM_SRC_SOLID_SOLID_H

#include "carom/solid.h"
#include "solid/sums.h"
#include "soup/soup_place.h"

/* Vertices are numbered along a spanning tree of the mesh's edges, each before those that hang on
 * it, one connected part after the other; triangles by their middle corner. So what hangs on a
 * vertex is a range of vertices, and the triangles whose middle corners those are, a range of
 * triangles. */
struct carom_solid {
    carom_allocator allocator;
    carom_soup *soup;
    uint32_t *ends;   /* of each vertex: one past the last that hangs on it */
    uint32_t *firsts; /* the first triangle of each vertex, and one past the last */
    uint8_t *owns;    /* bit j of a triangle: its side j is a link of the tree, and it is the
                         one that speaks for it */
    uint32_t *roots;  /* the first vertex of each connected part */
    uint32_t root_count;
    carom_solid_sums sums;
    double longest;       /* at least the extent of any triangle along an axis */
    double volume, sides; /* info.volume; at least the lengths of all triangles' sides: in the unit
                             of `sums`, where neither overflows */
    int base;             /* the winding number far away: 1 for complements */
    carom_solid_info info;
};

/* What the shuffle of a mesh gives (order.c): all from `allocator`, to be kept by the solid. */
typedef struct carom_solid_order {
    double *positions;
    uint32_t *corners;
    uint32_t *ends, *firsts, *roots;
    uint8_t *owns;
    uint32_t vertex_count, triangle_count, root_count;
} carom_solid_order;

/* Numbers vertices and triangles of a welded mesh of triangles; `turn` reverses all triangles. */
carom_status carom_solid_order_make(carom_context *context, const carom_mesh_view *mesh, bool turn,
                                    carom_solid_order *order);
void carom_solid_order_free(carom_solid_order *order, const carom_allocator *allocator);

#endif
