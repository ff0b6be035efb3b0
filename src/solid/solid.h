/* SPDX-License-Identifier: MIT */
/* solid.h: the data structure of a solid. */
#ifndef CAROM_SRC_SOLID_SOLID_H
#define CAROM_SRC_SOLID_SOLID_H

#include "base/context.h"
#include "carom/solid.h"
#include "solid/solid_prefix_sums.h"
#include "solid/solid_update_device.h"
#include "soup/soup_posed_pair.h"

/* Bits: next to a surface there is space with winding number 0; with a nonzero one. */
#define CAROM_SOLID_EMPTY 1u
#define CAROM_SOLID_FULL  2u

/* A pair of triangles of one solid. */
typedef struct carom_solid_own {
    uint32_t a, b;
} carom_solid_own;

/* The mesh that a solid was made of, as far as an update needs it. */
typedef struct carom_solid_given {
    uint64_t vertex_count, face_count;
    uint64_t *offsets; /* NULL: triangles */
    uint32_t *corners;
    uint32_t *first;    /* per vertex: the lowest one with the same position */
    uint32_t *sources;  /* per vertex of the solid: the lowest one that it was made of */
    uint64_t different; /* how many positions there are */
} carom_solid_given;

/* Vertices are indexed depth first along a spanning tree of the mesh's edges: each before its
 * descendants, one connected component after the other. Triangles are sorted by their middle
 * corner. So the descendants of a vertex are a range of vertices, and the triangles with these
 * middle corners are a range of triangles. */
struct carom_solid {
    carom_allocator allocator, own; /* of all it holds; of the structure itself */

    /* What follows from the connectivity of the mesh, which updates keep. */
    carom_solid_given given;
    uint32_t *ends;   /* per vertex: one past its last descendant */
    uint32_t *firsts; /* per vertex: its first triangle; then one past the last triangle */
    uint32_t *roots;  /* the first vertex of each connected component */
    uint32_t root_count;
    uint32_t region_count; /* sets of faces connected by edges of two faces */
    uint32_t *region_of;   /* per triangle: the first one of its region; NULL: each component is one
                              region */
    uint32_t *across;      /* per side (3 per triangle): the triangle across the edge, or the
                              triangle itself where an edge has not two sides; NULL until needed */
    carom_soup
        *crossings; /* the triangles on the device, in which updates there look for pairs that
                              intersect; NULL until needed */

    /* What follows from the positions. */
    carom_soup *soup;
    carom_soup_view view; /* of the soup */
    uint8_t *represents;  /* per triangle, bit j: its side j is a tree edge, and it is the triangle
                             that represents this edge; and CAROM_SOLID_PLAIN_FACE */
    carom_solid_prefix_sums sums;
    /* Data for the relation to another solid (solid_relation.c). */
    uint32_t *regions;        /* the largest triangle of each region */
    uint8_t *sides;           /* per connected component: CAROM_SOLID_EMPTY, CAROM_SOLID_FULL */
    carom_solid_own *touches; /* all pairs of triangles that share more than neighbours do */
    uint64_t touch_count, touch_capacity;
    bool plain;     /* the winding number is 0 on one side of each face and 1 on the other */
    bool distinct;  /* no two faces have the same corners */
    double longest; /* upper bound of the extent of any triangle along an axis */
    double volume, side_lengths; /* info.volume; upper bound of the sum of all side lengths: in the
                                    unit of `sums`, where neither overflows */
    int base;                    /* the winding number at infinity: 1 for complements */
    carom_solid_info info;
    carom_device_solid *device; /* NULL on the CPU */
    double looseness;           /* of the tree when `device` was made: carom_solid_looseness */

    carom_solid *spare; /* NULL, or what the last update replaced: memory for the next */
};

/* carom_solid_create of a checked def, on any backend. */
carom_status carom_solid_make(carom_context *context, const carom_solid_def *def,
                              carom_solid **solid);
/* Finds all pairs of faces that intersect other than as neighbours. */
carom_status carom_solid_find_touching(carom_context *context, const carom_solid *solid,
                                       carom_pairs *touching);
/* Marks, where a mesh intersects itself, plain faces. `query` is that of the solid with itself;
 * takes scratch of worker 0 that the caller rewinds. */
struct carom_solid_query;
typedef carom_status carom_solid_plain_faces_fn(carom_context *context, carom_solid *solid,
                                                const struct carom_solid_query *query);

/* Finds the largest triangle of each region, and the lengths that queries need. Of the report, for
 * regions that are not known yet: nonmanifold_edges, degenerate_triangles and shells. */
carom_status carom_solid_find_regions(carom_context *context, carom_solid *solid,
                                      const carom_mesh_report *report);
carom_status carom_solid_reserve_regions(carom_context *context, carom_solid *solid);
/* Computes what get_info reports and what relations need, of a solid whose soup, sums and regions
 * are there. Of the report: volume, area, degenerate_triangles and shells. `touching` is what
 * carom_solid_find_touching found. */
carom_status carom_solid_describe(carom_context *context, carom_solid *solid,
                                  const carom_mesh_report *report, const carom_pairs *touching,
                                  carom_solid_plain_faces_fn *find_plain_faces);
/* Finds the triangle across each side, unless these are known. */
carom_status carom_solid_find_across(carom_context *context, carom_solid *solid);
/* Whether two vertices of triangles that intersect coincide. */
bool carom_solid_corners_coincide(const carom_soup_view *soup, const carom_pairs *pairs);
/* Whether a mesh is inside out: the sign of the volume is exact, also where it rounds to -0. */
bool carom_solid_is_inside_out(const carom_mesh_report *report);
/* Destroys all but the structure itself. */
void carom_solid_release_content(carom_solid *solid);

/* ---- The same on the GPU: solid_device.c ----------------------------------------------------- */

/* CAROM_OK if a new solid can be made by this context. */
carom_status carom_solid_device_check_new(carom_context *context);
/* Copies a solid to the context's device. */
carom_status carom_solid_device_make(carom_context *context, carom_solid *solid);
/* Adds the bytes on the device to those of the info. */
void carom_solid_device_count(carom_solid *solid);
void carom_solid_device_release(carom_solid *solid);
/* The extents of the blocks of the tree, in those of the triangles: searches take about as long. */
double carom_solid_looseness(const carom_solid *solid);

/* How an update on the device ended. */
typedef enum carom_solid_followed {
    CAROM_SOLID_FOLLOWED,    /* the next solid has the positions */
    CAROM_SOLID_ANEW,        /* the connectivity is no longer right, or the tree is worn */
    CAROM_SOLID_NOT_FOLLOWED /* the CPU has to update */
} carom_solid_followed;

/* Gives `next`, which an update has left and to which the connectivity is lent, other positions, on
 * the device; host_items: triangles that the host measured (solid_update_device.c). */
carom_status carom_solid_device_follow(carom_context *context, carom_solid *solid,
                                       carom_solid *next, const carom_device_solid_given *given,
                                       carom_solid_followed *followed, uint64_t *host_items);
/* CAROM_OK if the solid was made by a context of this context's backend. */
carom_status carom_solid_check_backend(carom_context *context, const carom_solid *solid);

/* For tests and fuzzers: NULL, or the first invariant of the solid or its soup that does not hold.
 * Scratch of worker 0. O(n log n). */
const char *carom_solid_validate(carom_context *context, const carom_solid *solid);

/* The result of reordering a mesh (solid_spanning_tree.c). All arrays come from `allocator`; the
 * solid takes ownership. */
typedef struct carom_solid_spanning_tree {
    double *positions;
    uint32_t *corners;
    uint32_t *ends, *firsts, *roots;
    uint8_t *represents;
    uint32_t *sources; /* per vertex: its index in the mesh */
    uint32_t vertex_count, triangle_count, root_count;
} carom_solid_spanning_tree;

/* Reorders vertices and triangles of a welded triangle mesh; `turn` reverses all triangles. */
carom_status carom_solid_spanning_tree_make(carom_context *context, const carom_mesh_view *mesh,
                                            bool turn, carom_solid_spanning_tree *order);
void carom_solid_spanning_tree_free(carom_solid_spanning_tree *order,
                                    const carom_allocator *allocator);

#endif
