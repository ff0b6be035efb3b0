/* SPDX-License-Identifier: MIT */
/* bvh_obb_cpu.h: traversals of two trees of oriented boxes, one version per instruction set. */
#ifndef CAROM_SRC_BVH_BVH_OBB_CPU_H
#define CAROM_SRC_BVH_BVH_OBB_CPU_H

#include "base/isa.h"
#include "bvh/bvh_obb.h"
#include "geom/principal.h"

/* Continues an overlap query until the stack is empty, `visits` nodes were opened, or `receive`
 * stopped it (returns false). All pairs found are passed to `receive` before it returns, unless
 * `more` is set. */
CAROM_CPU_DECLARE(bool, carom_obb_find, carom_obb_traversal *traversal, uint64_t visits);

/* Continues a distance query in the same way; skips what is farther apart than `limit`. */
CAROM_CPU_DECLARE(void, carom_obb_nearest, carom_obb_traversal *traversal, float limit,
                  uint64_t visits);

/* The range of x a0 + (y a1 + z a2) over points (rows x, y, z) for each of three axes, row by row.
 * The result is bit-identical on every instruction set. count > 0. */
CAROM_CPU_DECLARE(void, carom_obb_slabs, const float *const points[3], uint64_t count,
                  const float axes[9], float low[3], float high[3]);

/* Sums over points (rows x, y, z), point i into partial sum i mod 8, these then in pairs. Adds to
 * `sum`. The result is bit-identical on every instruction set. */
CAROM_CPU_DECLARE(void, carom_obb_spread, const float *const points[3], uint32_t count,
                  carom_spread *sum);

/* The principal axes of up to CAROM_BVH_WIDTH spreads (carom_spread_axes). */
CAROM_CPU_DECLARE(void, carom_obb_axes, const carom_spread *spreads, uint32_t count,
                  double axes[][3][3]);

/* Of all sizes: the margin of the extents of a box between two planes across each axis. If the
 * stored axes were orthonormal, its centre would be the sum of the axes times the midpoints. They
 * are orthonormal to 2^-22; corners and centre are rounded to 2^-24, projections by three times
 * that. */
#define CAROM_OBB_SLAB_MARGIN 0x1p-19f

/* Fills the boxes of the triangles in slots [first, first + count) of `points` (rows x, y, z, three
 * corners per slot) into the first lanes of a node. The result is bit-identical on every
 * instruction set. 0 < count <= CAROM_BVH_WIDTH. */
CAROM_CPU_DECLARE(void, carom_obb_triangles, const float *const points[3], uint64_t first,
                  uint32_t count, carom_obb_node *node);

#endif
