/* SPDX-License-Identifier: MIT */
/* solid_surface.h: the surface of an overlap: its connected components and its triangles. */
#ifndef CAROM_SRC_SOLID_SOLID_SURFACE_H
#define CAROM_SRC_SOLID_SOLID_SURFACE_H

#include "solid/solid_precise.h"

/* The intersection point of an edge of one solid with a face of the other. */
typedef struct carom_solid_intersection {
    uint32_t of_b, low, high; /* the edge */
    uint32_t face;            /* of the other solid */
    int change;               /* of the winding number, from the lower vertex to the higher one */
    double along;             /* parameter on the edge: 0 to 1 */
    carom_vec3 x;
    uint32_t next; /* the next on the edge, from low to high; CAROM_SOLID_NONE: the last */
} carom_solid_intersection;
#define CAROM_SOLID_NONE UINT32_MAX

typedef struct carom_solid_surface {
    const carom_solid_query *query;
    carom_arena *scratch;
    int32_t *windings[2]; /* of the other solid, per vertex */
    const carom_solid_record **records;
    uint32_t (*ends)[2]; /* the intersections at the ends of each record */
    uint32_t record_count;
    uint32_t *of_triangle[2]; /* the first record of each triangle, or CAROM_SOLID_NONE */
    uint32_t (*next)[2];      /* the next record of the same triangle of a, of b */
    carom_solid_intersection *intersections;
    uint32_t intersection_count;
    uint32_t *intersection_table, *edge_table; /* hash tables; edges by their first intersection */
    uint32_t table_mask;
    uint32_t *parents; /* disjoint sets of nodes: vertices of a, of b, intersections */
} carom_solid_surface;

/* Computes the connected components from a search that has kept changes and records; all memory is
 * scratch. */
carom_status carom_solid_surface_make(const carom_solid_query *query,
                                      const carom_solid_accumulator *acc,
                                      carom_solid_surface *pieces);

/* The connected component of a node, which is a vertex or an intersection. */
uint32_t carom_solid_component_of(carom_solid_surface *pieces, uint32_t node);
uint32_t carom_solid_node_count(const carom_solid_surface *pieces);

/* The point that a node represents. */
carom_solid_spot carom_solid_spot_of(const carom_solid_surface *pieces, uint32_t node);

/* Receives the surface as a sum of triangles, relative to the origin, each with a weight. */
typedef struct carom_solid_surface_triangle {
    uint32_t piece;
    uint32_t triangle; /* the face that it is a part of */
    uint32_t nodes[3]; /* its corners c, u, v */
    int of_b;
    double weight;
    carom_vec3 n, c, u, v;
} carom_solid_surface_triangle;
typedef void carom_solid_surface_triangle_fn(void *user,
                                             const carom_solid_surface_triangle *triangle);
void carom_solid_each_surface_triangle(carom_solid_surface *pieces,
                                       carom_solid_surface_triangle_fn *fn, void *user);

#endif
