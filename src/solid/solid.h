/* SPDX-License-Identifier: MIT */
/* solid.h: what a solid is made of. */
#ifndef CAROM_SRC_SOLID_SOLID_H
#define CAROM_SRC_SOLID_SOLID_H

#include "carom/solid.h"
#include "solid/solid_prefix_sums.h"
#include "soup/soup_place.h"

/* Beside a surface there is space with a winding number of 0, with another one. */
#define CAROM_SOLID_EMPTY 1u
#define CAROM_SOLID_FULL  2u

/* Two triangles of a solid. */
typedef struct carom_solid_own {
    uint32_t a, b;
} carom_solid_own;

/* Vertices are numbered along a spanning tree of the mesh's edges, each before those that hang on
 * it, one connected part after the other; triangles by their middle corner. So what hangs on a
 * vertex is a range of vertices, and the triangles whose middle corners those are, a range of
 * triangles. */
struct carom_solid {
    carom_allocator allocator;
    carom_soup *soup;
    uint32_t *ends;      /* of each vertex: one past the last that hangs on it */
    uint32_t *firsts;    /* the first triangle of each vertex, and one past the last */
    uint8_t *represents; /* bit j of a triangle: its side j is a link of the tree, and it is the
                      one that speaks for it */
    uint32_t *roots;     /* the first vertex of each connected part */
    uint32_t root_count;
    carom_solid_prefix_sums sums;
    /* What is needed to say how it lies to another (solid_relation.c). */
    uint32_t *regions; /* a triangle of each set of faces connected by edges of two faces */
    uint32_t region_count;
    uint8_t *sides;           /* each connected part: CAROM_SOLID_EMPTY, CAROM_SOLID_FULL */
    carom_solid_own *touches; /* all its triangles that share more than what neighbours do */
    uint64_t touch_count;
    bool plain;     /* the winding number is 0 on one side of each face and 1 on the other */
    bool distinct;  /* no two faces have the same corners */
    double longest; /* at least the extent of any triangle along an axis */
    double volume, side_lengths; /* info.volume; at least the lengths of all triangles' sides: in
                             the unit of `sums`, where neither overflows */
    int base;                    /* the winding number far away: 1 for complements */
    carom_solid_info info;
};

/* What the shuffle of a mesh gives (solid_spanning_tree.c): all from `allocator`, to be kept by the
 * solid. */
typedef struct carom_solid_spanning_tree {
    double *positions;
    uint32_t *corners;
    uint32_t *ends, *firsts, *roots;
    uint8_t *represents;
    uint32_t vertex_count, triangle_count, root_count;
} carom_solid_spanning_tree;

/* Numbers vertices and triangles of a welded mesh of triangles; `turn` reverses all triangles. */
carom_status carom_solid_spanning_tree_make(carom_context *context, const carom_mesh_view *mesh,
                                            bool turn, carom_solid_spanning_tree *order);
void carom_solid_spanning_tree_free(carom_solid_spanning_tree *order,
                                    const carom_allocator *allocator);

#endif
