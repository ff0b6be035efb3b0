/* SPDX-License-Identifier: MIT */
/* spheres_mesh.h: the surface of the solid that is packed, in a frame of its own.
 *
 * The frame is y = (x - origin) 2^shift. The solid's longest side becomes 1/2 to 1 there, and no
 * coordinate exceeds CAROM_SPHERES_FRAME_SIZE. The origin is 0 along each axis where the mesh is
 * near 0, else a round number near it, so that x - origin and the scaling are exact. Centres of
 * spheres are multiples of `unit`: their frame coordinates are float32, and x = y 2^-shift + origin
 * is exact.
 */
#ifndef CAROM_SRC_SPHERES_SPHERES_MESH_H
#define CAROM_SRC_SPHERES_SPHERES_MESH_H

#include "bvh/bvh_winding.h"
#include "carom/mesh.h"
#include "spheres/spheres_cpu.h"

typedef struct carom_spheres_mesh {
    carom_context *context;
    carom_bvh bvh;
    carom_bvh_corners *corners; /* of each block; slots past the end repeat a corner */
    uint32_t *faces;            /* the caller's face of each slot */
    uint32_t triangle_count;
    bool balanced, inside_out;
    bool plain;               /* winding numbers are 0 and 1: one shell, and no faces cross */
    _Atomic uint8_t *crosses; /* those that do, by slot; only where the mesh is balanced */
    carom_bvh_faces view;
    carom_bvh_field field; /* where it is not balanced */
    carom_vec3 low, high;  /* bounds, in the frame */
    double report_volume;  /* the integral of the winding number, in the caller's units */

    carom_vec3 origin;
    int shift;
    double unit;
} carom_spheres_mesh;

/* Prepares the surface; the arrays but the tree's are scratch of worker 0. carom_spheres_mesh_free
 * also after a failure. */
carom_status carom_spheres_mesh_make(carom_context *context, const carom_mesh_view *view,
                                     bool allow_open, carom_spheres_mesh *mesh);
void carom_spheres_mesh_free(carom_spheres_mesh *mesh);

/* The nearest point of the surface found by a search. */
typedef struct carom_spheres_hit {
    double distance; /* infinite: none within the limit */
    uint32_t slot;   /* of the triangle; CAROM_BVH_NONE: none */
} carom_spheres_hit;

/* Finds the distance up to `limit`, and adds to `near` the nearest points of triangles that are
 * within `spread` of it. The search starts at the slot `seed`, if there is one. Rounded: the
 * points lie on the surface, but a nearer one may be missed by CAROM_SPHERES_ERROR or, for
 * triangles like needles, by more. */
carom_spheres_hit carom_spheres_mesh_search(const carom_spheres_mesh *mesh, carom_vec3 point,
                                            uint32_t seed, double limit, double spread,
                                            carom_spheres_near *near);

/* Adds to `near` points of the sixteen triangles in the block of a slot, without a search. */
void carom_spheres_mesh_look(const carom_spheres_mesh *mesh, carom_vec3 point, uint32_t slot,
                             double limit, double spread, carom_spheres_near *near);

/* The distance up to CAROM_SPHERES_ERROR, whatever the triangles. */
carom_spheres_hit carom_spheres_mesh_distance(const carom_spheres_mesh *mesh, carom_vec3 point,
                                              uint32_t seed);

/* Whether a point is inside: winding number 1 or more, or where the mesh is open, a generalised one
 * of 0.5 or more. False on the surface. `found` is a buffer of the worker. */
bool carom_spheres_mesh_inside(const carom_spheres_mesh *mesh, carom_vec3 point,
                               carom_bvh_found *found);

/* The same, but for open meshes farther away from holes: a generalised winding number of 0.75. */
bool carom_spheres_mesh_surely_inside(const carom_spheres_mesh *mesh, carom_vec3 point,
                                      carom_bvh_found *found);

/* Whether a point is within the bounds of the mesh; others are outside of the solid. */
static inline bool carom_spheres_mesh_bounds(const carom_spheres_mesh *mesh, carom_vec3 point) {
    return point.x >= mesh->low.x && point.x <= mesh->high.x && point.y >= mesh->low.y &&
           point.y <= mesh->high.y && point.z >= mesh->low.z && point.z <= mesh->high.z;
}

carom_triangle carom_spheres_mesh_triangle(const carom_spheres_mesh *mesh, uint32_t slot);

/* Whether two triangles that are not coplanar meet other than in corners that they share; exact. */
bool carom_spheres_mesh_cross(const carom_spheres_mesh *mesh, uint32_t slot_a, uint32_t slot_b);

/* Rounds a point of the frame to multiples of the unit. */
carom_vec3 carom_spheres_mesh_round(const carom_spheres_mesh *mesh, carom_vec3 point);

/* From the frame to the caller's coordinates, exactly. */
carom_vec3 carom_spheres_mesh_restore(const carom_spheres_mesh *mesh, carom_vec3 centre);

#endif
