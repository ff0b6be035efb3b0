/* SPDX-License-Identifier: MIT */
/* soup_nearest.h: a search of two posed soups for the nearest two triangles, or for those that may
 * meet first. The caller measures pairs and says how near others must be to matter. */
#ifndef CAROM_SRC_SOUP_SOUP_NEAREST_H
#define CAROM_SRC_SOUP_SOUP_NEAREST_H

#include "geom/distance_item.h"
#include "soup/soup_posed_pair.h"

/* Two triangles: the earliest, then the nearest, then those with the lowest numbers are best, so
 * that the result does not depend on the order in which pairs are measured. */
typedef struct carom_soup_nearest {
    bool any;
    double time;  /* 0 where only the distance matters */
    double least; /* distance of all pairs measured */
    carom_closest closest;
    uint32_t face_a, face_b, a, b;
} carom_soup_nearest;

typedef struct carom_soup_nearest_search {
    carom_context *context;
    const carom_soup_posed_pair *posed;
    const void *user;
    double limit; /* pairs farther apart do not matter */
    bool turn;    /* search along the direction of the best pair so far */
    /* Sets time and closest points of two posed triangles a and b, which *found already names;
     * false where they cannot be better than `best`. */
    bool (*measure)(const void *user, const carom_soup_nearest *best, const carom_triangle *posed_a,
                    const carom_triangle *posed_b, carom_soup_nearest *found);
    /* How near pairs must be to matter, now that `best` was found. */
    double (*limit_after)(const void *user, const carom_soup_nearest *best);
} carom_soup_nearest_search;

/* Finds the best pair; best->any is false where none is near enough. Takes scratch of worker 0 and
 * gives it back; adds to the context's work. */
carom_status carom_soup_find_nearest_two(const carom_soup_nearest_search *search,
                                         carom_soup_nearest *best);

/* Names two triangles and measures them as points of the search do. */
void carom_soup_nearest_of(const carom_soup_posed_pair *posed, uint32_t a, uint32_t b,
                           carom_soup_nearest *found);

#endif
