/* SPDX-License-Identifier: MIT */
/* soup_view.h: a soup as other engines read it. They see this view and placings (soup_place.h), not
 * the members of a soup. */
#ifndef CAROM_SRC_SOUP_SOUP_VIEW_H
#define CAROM_SRC_SOUP_SOUP_VIEW_H

#include "bvh/bvh.h"
#include "carom/soup.h"
#include "geom/vec.h"

/* Valid until the soup changes. */
typedef struct carom_soup_view {
    const void *positions; /* packed vertices */
    carom_scalar scalar;
    uint32_t triangle_count;
    uint64_t vertex_count;
    const uint32_t *corners; /* three per triangle */

    /* Boxes are x * scale - origin in float32, rounded outwards. */
    double scale;
    carom_vec3 origin;
    carom_box bounds;     /* of all vertices */
    const carom_bvh *bvh; /* empty if the soup has no tree */
} carom_soup_view;

void carom_soup_get_view(const carom_soup *soup, carom_soup_view *view);

/* carom_soup_create and carom_soup_self_pairs on the CPU, whatever the backend of the context: for
 * engines whose structures are prepared there. Placings (soup_place.h) are of such soups. */
carom_status carom_soup_create_on_cpu(carom_context *context, const carom_soup_def *def,
                                      carom_soup **soup);
carom_status carom_soup_self_pairs_on_cpu(carom_context *context, const carom_soup *soup,
                                          carom_pairs *pairs);

/* For tests and fuzzers: NULL, or the first invariant of the soup, its tree or its grid that does
 * not hold. O(n log n). */
const char *carom_soup_validate(const carom_soup *soup);

/* A vertex in packed positions of either type. */
static inline carom_vec3 carom_soup_read_position(const void *positions, carom_scalar scalar,
                                                  uint32_t vertex) {
    if (scalar == CAROM_SCALAR_FLOAT32) {
        const float *xyz = (const float *)positions + 3 * (uint64_t)vertex;
        return carom_vec((double)xyz[0], (double)xyz[1], (double)xyz[2]);
    }
    const double *xyz = (const double *)positions + 3 * (uint64_t)vertex;
    return carom_vec(xyz[0], xyz[1], xyz[2]);
}

static inline carom_vec3 carom_soup_view_position(const carom_soup_view *view, uint32_t vertex) {
    return carom_soup_read_position(view->positions, view->scalar, vertex);
}

static inline const uint32_t *carom_soup_view_corners(const carom_soup_view *view,
                                                      uint64_t triangle) {
    return view->corners + 3 * triangle;
}

static inline carom_triangle carom_soup_view_triangle(const carom_soup_view *view,
                                                      uint64_t triangle) {
    const uint32_t *corners = carom_soup_view_corners(view, triangle);
    carom_triangle t;
    for (int i = 0; i < 3; ++i) t.corner[i] = carom_soup_view_position(view, corners[i]);
    return t;
}

#endif
