/* SPDX-License-Identifier: MIT */
/* pack_cpu.h: the vector loop of packing, one version per instruction set. All give the same bits.
 */
#ifndef CAROM_SRC_PACK_PACK_CPU_H
#define CAROM_SRC_PACK_PACK_CPU_H

#include "base/isa.h"
#include "pack/pack_octree_item.h"
#include "spheres/spheres_cpu.h"

/* An upper bound of the radius of every empty ball with its centre within `reach` of the point. It
 * stops when it is at most `goal`. `direction` becomes a unit vector along which the distances
 * grow, or 0. Obstacles farther than least + 2 reach do not matter. */
CAROM_CPU_DECLARE(double, carom_pack_bound, const carom_spheres_near *near, const double point[3],
                  double reach, double goal, double direction[3]);

#endif
