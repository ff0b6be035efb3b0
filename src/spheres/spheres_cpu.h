/* SPDX-License-Identifier: MIT */
/* spheres_cpu.h: the vector loops of a solid's surface and of its division, one version per
 * instruction set. All give the same bits. */
#ifndef CAROM_SRC_SPHERES_SPHERES_CPU_H
#define CAROM_SRC_SPHERES_SPHERES_CPU_H

#include "base/isa.h"
#include "bvh/bvh_winding_cpu.h"
#include "spheres/spheres_frame_item.h"

/* What carom_spheres_feet found last, of one mesh: a point is often measured against one block by a
 * look, as the seed of a search and by the search. */
typedef struct carom_spheres_block {
    double at[3]; /* the point */
    double squares[CAROM_BVH_WIDTH], feet[3][CAROM_BVH_WIDTH];
    uint32_t index, lanes; /* of the block; the triangles measured: at first none */
} carom_spheres_block;

/* The obstacles near a point: balls that are inserted, and points of the surface, with radius 0.
 * Any subset of all obstacles gives an upper bound of the empty balls near the point. */
typedef struct carom_spheres_near {
    double x[CAROM_SPHERES_NEAR], y[CAROM_SPHERES_NEAR], z[CAROM_SPHERES_NEAR],
        radius[CAROM_SPHERES_NEAR];
    double apart[CAROM_SPHERES_NEAR]; /* distance of the point from each */
    uint32_t count;
    double least; /* of all distances, also of obstacles for which there was no space */
    carom_spheres_block block;
} carom_spheres_near;

/* The points of sixteen triangles nearest to a point, and their squared distances, of those in a
 * set of lanes at least. The points lie on the triangles up to rounding. */
CAROM_CPU_DECLARE(void, carom_spheres_feet, const carom_bvh_corners *corners, const double point[3],
                  uint32_t lanes, double squares[CAROM_BVH_WIDTH], double feet[3][CAROM_BVH_WIDTH]);

/* A ball with the weight of its distance in the division of space. */
typedef struct carom_spheres_site {
    double x, y, z, radius, weight;
} carom_spheres_site;

/* The centres of the eight children of a cell, half the edge of one, and its half diagonal. */
typedef struct carom_spheres_octants {
    double x[8], y[8], z[8];
    double half, h;
} carom_spheres_octants;

/* Which children a point of which may be nearest to each site: a bit per child. `owners` are the
 * sites nearest to the centres, the first of equals. `apart` has space for 8 numbers per site. */
CAROM_CPU_DECLARE(void, carom_spheres_octant_sites, const carom_spheres_site *sites,
                  const uint32_t *ids, uint64_t count, const carom_spheres_octants *octants,
                  double *apart, uint8_t *masks, uint32_t owners[8]);

/* Which children each triangle may meet: their bounds overlap, and the child is not on one side of
 * its plane. */
CAROM_CPU_DECLARE(void, carom_spheres_octant_triangles, const carom_triangle *triangles,
                  const uint32_t *ids, uint64_t count, const carom_spheres_octants *octants,
                  uint8_t *masks);

#endif
