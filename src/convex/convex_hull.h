/* SPDX-License-Identifier: MIT */
/* convex_hull.h: a prepared hull. */
#ifndef CAROM_SRC_CONVEX_HULL_H
#define CAROM_SRC_CONVEX_HULL_H

#include "convex/convex_device.h"

struct carom_hull {
    carom_allocator allocator;
    carom_hull_view view;
    carom_hull_faces faces;
    carom_vec3 *vertices; /* owned; the views point to them */
    carom_hull_block *all, *neighbours;
    uint32_t *first, *seeds;
    uint64_t *offsets;
    uint32_t *corners, *edges;
    carom_vec3 *normals;
    carom_hull_block *normal_blocks;
    carom_hull_info info;
    carom_device_hull *device; /* its copy, of a context of backend cuda; else NULL */
};

/* The unit normal of a face, from its corners. */
static inline carom_vec3 carom_hull_face_normal(const carom_hull_faces *h, uint64_t face) {
    const uint32_t *c = h->corners + h->offsets[face];
    uint64_t corners = h->offsets[face + 1] - h->offsets[face];
    carom_vec3 n = carom_vec(0.0, 0.0, 0.0), first = h->vertices[c[0]];
    for (uint64_t k = 2; k < corners; ++k)
        n = carom_vec_add(n, carom_vec_cross(carom_vec_sub(h->vertices[c[k - 1]], first),
                                             carom_vec_sub(h->vertices[c[k]], first)));
    double length = carom_vec_length(n);
    return length > 0.0 ? carom_vec_scale(n, 1.0 / length) : n;
}

/* The largest |x|, |y| and |z| of the vertices, added up. */
static inline double carom_hull_extent(const carom_vec3 *vertices, uint32_t count) {
    carom_vec3 most = carom_vec(0.0, 0.0, 0.0);
    for (uint32_t v = 0; v < count; ++v) {
        most.x = CAROM_MAX(most.x, fabs(vertices[v].x));
        most.y = CAROM_MAX(most.y, fabs(vertices[v].y));
        most.z = CAROM_MAX(most.z, fabs(vertices[v].z));
    }
    return most.x + most.y + most.z;
}

/* For tests and fuzzers: NULL, or the first invariant of the hull that does not hold.
 * O(vertices x faces). */
const char *carom_hull_validate(const carom_hull *hull);

#endif
