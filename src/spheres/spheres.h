/* SPDX-License-Identifier: MIT */
/* spheres.h: a packing, as the engines that make, measure or compare spheres of solids see it.
 *
 * What they share besides:
 *   spheres_mesh.h      the surface of a solid: its frame, distances, inside and outside
 *   spheres_shares.h    the division of a solid among balls
 *   spheres_item.h      the terms of two balls of two packings
 *   spheres_overlap.h   which balls of two posed packings count for what */
#ifndef CAROM_SRC_SPHERES_SPHERES_H
#define CAROM_SRC_SPHERES_SPHERES_H

#include "base/array.h"
#include "base/context.h"
#include "carom/pack.h"

CAROM_RESULT_FILL(carom_packing_cells);

struct carom_packing {
    carom_allocator allocator;
    carom_packing_info info;
    carom_packing_sphere *spheres; /* info.spheres of them, radii descending */
    carom_packing_cell *cells;     /* NULL: not kept */
    uint64_t cell_count;
};

/* What the checks of packings and covers (`_validate`) allow for rounding, relative to the largest
 * number: some ten operations of 2^-53 each, times nine. */
#define CAROM_SPHERES_CHECK_ROUNDING 1e-14

/* Whether a cell is in a ball, for these checks. */
bool carom_spheres_hold_cell(carom_vec3 centre, double radius, const carom_packing_cell *cell);

#endif
