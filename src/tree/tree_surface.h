/* SPDX-License-Identifier: MIT */
/* tree_surface.h: the surface of the solid of a tree, for distances.
 *
 *   level 1     [ node ][ node ] ... [ node ]         16 cylinders per node, one per child
 *   level 0     [node][node][node][node] ...          16 cylinders per node, one per triangle
 *
 * Child c of node i on level l has index 16 i + c on level l - 1, as in bvh.h: the shape follows
 * from the number of triangles. A cylinder has the mean normal of its triangles as its axis. Where
 * two surfaces face each other, along the axes, cylinders of radius w are told apart once the
 * distance is about w^2 instead of w, as with oriented boxes; but sixteen take a few instructions.
 *
 * Cylinders are float32 in the frame of the tree, a filter; triangles are doubles. */
#ifndef CAROM_SRC_TREE_TREE_SURFACE_H
#define CAROM_SRC_TREE_TREE_SURFACE_H

#include "carom/mesh.h"
#include "spheres/spheres_overlap_item.h"

#define CAROM_TREE_CYLINDERS      16u /* cylinders of a node */
#define CAROM_TREE_SURFACE_LEVELS 8u  /* 16^8 = 2^32 triangles */
#define CAROM_TREE_EXTREMES       6u  /* corners kept of each shell: the ends along three axes */

/* Their corners are counted by 32 bits. */
#define CAROM_TREE_TRIANGLES_MAX (UINT32_C(1) << 30)

/* Sixteen cylinders. Lanes past the end have NaN centres, which are near nothing. */
typedef struct carom_tree_cylinders {
    float x[CAROM_TREE_CYLINDERS], y[CAROM_TREE_CYLINDERS], z[CAROM_TREE_CYLINDERS];
    float axis_x[CAROM_TREE_CYLINDERS], axis_y[CAROM_TREE_CYLINDERS], axis_z[CAROM_TREE_CYLINDERS];
    float radius[CAROM_TREE_CYLINDERS],
        height[CAROM_TREE_CYLINDERS]; /* half the height; rounded up */
} carom_tree_cylinders;

typedef struct carom_tree_surface {
    uint32_t triangle_count; /* 0: there is no surface */
    uint32_t vertex_count;
    uint32_t shell_count; /* sets of triangles that are connected by corners */
    uint32_t level_count;
    uint32_t level_start[CAROM_TREE_SURFACE_LEVELS]; /* the first node of each level */
    uint32_t node_count;                             /* of all levels */
    carom_tree_cylinders *nodes;
    carom_vec3 *vertices; /* in the packing's coordinates */
    uint32_t *corners;    /* of triangles, in the order of level 0; outward */
    uint32_t *faces;      /* of the mesh, of each triangle */
    uint32_t *ring_start; /* of each vertex, and the end: in `ring` */
    uint32_t *ring;       /* the triangles around each vertex */
    carom_vec3 *extremes; /* of each shell: its corners farthest along the axes */
    carom_vec3 centre;    /* of a ball around all, in the frame */
    double radius;
} carom_tree_surface;

/* Builds the surface of a closed mesh in the frame y = (x - origin) 2^shift. CAROM_BAD_INPUT: the
 * mesh fails carom_mesh_check, is not closed, or is much larger than the frame. On failure free it,
 * too. */
carom_status carom_tree_surface_make(carom_context *context, const carom_mesh_view *mesh,
                                     carom_vec3 origin, int shift, carom_tree_surface *surface);
void carom_tree_surface_free(carom_tree_surface *surface, const carom_allocator *allocator);

/* Sets levels, starts and the number of nodes from the number of triangles. */
void carom_tree_surface_shape(carom_tree_surface *surface);

uint64_t carom_tree_surface_bytes(const carom_tree_surface *surface);

/* Computes the direction from each sphere's centre to its nearest face, for trees with a surface.
 */
struct carom_tree;
carom_status carom_tree_outward_make(carom_context *context, struct carom_tree *tree);

/* Whether a point of the world is in the solid of a posed surface: 1 or 0, decided exactly
 * for the posed corners; -1: on the surface, or not decided. */
int carom_tree_surface_inside(const carom_tree_surface *surface,
                              const carom_spheres_transform *transform, carom_vec3 origin,
                              int shift, carom_vec3 point);

/* NULL, or the first invariant that does not hold. O(triangles levels). */
const char *carom_tree_surface_validate(const carom_tree_surface *surface, carom_vec3 origin,
                                        int shift);

#endif
