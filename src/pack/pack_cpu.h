/* SPDX-License-Identifier: MIT */
/* pack_cpu.h: the vector loops of packing, one version per instruction set. All give the same bits.
 */
#ifndef CAROM_SRC_PACK_PACK_CPU_H
#define CAROM_SRC_PACK_PACK_CPU_H

#include "base/isa.h"
#include "bvh/bvh_winding_cpu.h"
#include "pack/pack_octree_item.h"

/* The obstacles near a point: balls that are inserted, and points of the surface, with radius 0.
 * Any subset of all obstacles gives an upper bound of the empty balls near the point. */
typedef struct carom_pack_near {
    double x[CAROM_PACK_NEAR], y[CAROM_PACK_NEAR], z[CAROM_PACK_NEAR], radius[CAROM_PACK_NEAR];
    double apart[CAROM_PACK_NEAR]; /* distance of the point from each */
    uint32_t count;
    double least; /* of all distances, also of obstacles for which there was no space */
} carom_pack_near;

/* The points of sixteen triangles nearest to a point, and their squared distances. The points lie
 * on the triangles up to rounding. */
CAROM_CPU_DECLARE(void, carom_pack_feet, const carom_bvh_corners *corners, const double point[3],
                  double squares[CAROM_BVH_WIDTH], double feet[3][CAROM_BVH_WIDTH]);

/* An upper bound of the radius of every empty ball with its centre within `reach` of the point. It
 * stops when it is at most `goal`. `direction` becomes a unit vector along which the distances
 * grow, or 0. Obstacles farther than least + 2 reach do not matter. */
CAROM_CPU_DECLARE(double, carom_pack_bound, const carom_pack_near *near, const double point[3],
                  double reach, double goal, double direction[3]);

/* A ball with the weight of its distance in the division of space. */
typedef struct carom_pack_site {
    double x, y, z, radius, weight;
} carom_pack_site;

/* The centres of the eight children of a cell, half the edge of one, and its half diagonal. */
typedef struct carom_pack_octants {
    double x[8], y[8], z[8];
    double half, h;
} carom_pack_octants;

/* Which children a point of which may be nearest to each site: a bit per child. `owners` are the
 * sites nearest to the centres, the first of equals. `apart` has space for 8 numbers per site. */
CAROM_CPU_DECLARE(void, carom_pack_octant_sites, const carom_pack_site *sites, const uint32_t *ids,
                  uint64_t count, const carom_pack_octants *octants, double *apart, uint8_t *masks,
                  uint32_t owners[8]);

/* Which children each triangle may meet: their bounds overlap, and the child is not on one side of
 * its plane. */
CAROM_CPU_DECLARE(void, carom_pack_octant_triangles, const carom_triangle *triangles,
                  const uint32_t *ids, uint64_t count, const carom_pack_octants *octants,
                  uint8_t *masks);

#endif
