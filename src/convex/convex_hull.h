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

/* What queries see of a shape's hull; NULL for other shapes. */
static inline const carom_hull_view *carom_convex_view_of(const carom_convex *s) {
    return s->kind == CAROM_CONVEX_KIND_HULL ? &s->borrowed_hull->view : NULL;
}

/* Whether the caller filled in what the kind needs. */
bool carom_convex_is_complete(const carom_convex *s);

/* CAROM_OK, or CAROM_BAD_INPUT with a message that names the shape `which`. */
carom_status carom_convex_check(carom_context *context, const carom_convex *s, const char *which);

/* For tests and fuzzers: NULL, or the first invariant of the hull that does not hold.
 * O(vertices x faces). */
const char *carom_hull_validate(const carom_hull *hull);

#endif
