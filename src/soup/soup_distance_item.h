/* SPDX-License-Identifier: MIT */
/* soup_distance_item.h: when two triangles need not be measured, and what is kept of two that are,
 * as items for CPU and GPU.
 *
 * The gap of two triangles along the direction of the nearest points so far is a lower bound of
 * their distance. */
#ifndef CAROM_SRC_SOUP_SOUP_DISTANCE_ITEM_H
#define CAROM_SRC_SOUP_SOUP_DISTANCE_ITEM_H

#include "carom/soup.h"
#include "geom/distance_item.h"

/* Distances whose squares, and products with the size of a mesh, stay in the range of a double. */
#define CAROM_SOUP_DISTANCE_LEAST   0x1p-300
#define CAROM_SOUP_DISTANCE_LARGEST 0x1p300
/* Error of the gap along a direction d, relative to |d| times the largest coordinate: positions
 * along it have 4 roundings each of at most 2^-53 sqrt(3) of that, two of them are subtracted, and
 * the points that d joins were rounded by 2^-53 of theirs. 32 roundings exceed all this. */
#define CAROM_SOUP_DISTANCE_GAP_ERROR 0x1p-48
/* Part of d.d that decides nothing: the square of the distance is within 2^-50 of d.d, and what is
 * as near as the nearest so far is measured. */
#define CAROM_SOUP_DISTANCE_TIE 0x1p-40

/* Whether the direction between two points can be used. */
CAROM_ITEM bool carom_soup_distance_usable(const carom_closest *c) {
    return c->distance > CAROM_SOUP_DISTANCE_LEAST && c->distance < CAROM_SOUP_DISTANCE_LARGEST;
}

/* Where a triangle lies along the direction from c->a to c->b, times its length. */
typedef struct carom_soup_along {
    double first, last, size; /* size: the largest coordinate relative to c->a */
} carom_soup_along;

CAROM_ITEM carom_soup_along carom_soup_along_of(const carom_closest *c, const carom_triangle *t) {
    carom_vec3 d = carom_vec_sub(c->b, c->a);
    carom_soup_along along = {HUGE_VAL, -HUGE_VAL, 0.0};
    for (int i = 0; i < 3; ++i) {
        carom_vec3 p = carom_vec_sub(t->corner[i], c->a);
        double at = carom_vec_dot(d, p), size = carom_vec_largest(p);
        along.first = CAROM_MIN(at, along.first);
        along.last = CAROM_MAX(at, along.last);
        along.size = CAROM_MAX(size, along.size);
    }
    return along;
}

/* Whether the gap from a to b is larger than `most`, a distance times that of c. */
CAROM_ITEM bool carom_soup_distance_exceeds(const carom_closest *c, const carom_soup_along *a,
                                            const carom_soup_along *b, double most) {
    double size = CAROM_MAX(a->size, b->size);
    double error = CAROM_SOUP_DISTANCE_GAP_ERROR * (size + carom_vec_largest(c->a)) * c->distance;
    return b->first - a->last - error > most * (1.0 + CAROM_SOUP_DISTANCE_TIE);
}

/* Keeps the distance of two triangles of a pair of faces where it is the least so far: 0 if they
 * meet. */
CAROM_ITEM void carom_soup_gap_offer(carom_soup_gap *gap, const carom_closest *closest, bool meet) {
    double distance = meet ? 0.0 : closest->distance;
    if (!(distance < gap->distance)) return;
    gap->distance = distance;
    gap->point_a = closest->a;
    gap->point_b = closest->b;
}

#endif
