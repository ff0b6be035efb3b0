/* SPDX-License-Identifier: MIT */
/* convex_hull.h: a prepared hull. */
#ifndef CAROM_SRC_CONVEX_HULL_H
#define CAROM_SRC_CONVEX_HULL_H

#include "convex/convex_item.h"

struct carom_hull {
    carom_allocator allocator;
    carom_hull_view view;
    carom_vec3 *vertices; /* owned; the view points to them */
    carom_hull_block *all, *neighbours;
    uint32_t *first, *seeds;
    uint64_t *offsets; /* polygons: face f has the corners [offsets[f], offsets[f + 1]) */
    uint32_t *corners;
    carom_hull_info info;
};

/* For tests and fuzzers: NULL, or the first invariant of the hull that does not hold.
 * O(vertices x faces). */
const char *carom_hull_validate(const carom_hull *hull);

#endif
