/* SPDX-License-Identifier: MIT */
/* kfree_part.h: the counts of a soup that is a part of a larger one (parts/). Which faces and pairs
 * are its own is the caller's: where several parts have a face, each counts a share of what is near
 * it, and the shares add up. */
#ifndef CAROM_SRC_KFREE_KFREE_PART_H
#define CAROM_SRC_KFREE_KFREE_PART_H

#include "carom/kfree.h"

/* Called from all threads at once. */
typedef struct carom_kfree_filter {
    bool (*owns_pair)(const void *user, uint32_t face, uint32_t other);
    bool (*owns_face)(const void *user, uint32_t face);
    const void *user;
} carom_kfree_filter;

/* What a count gives, for each face of the soup: the caller's arrays. */
typedef struct carom_kfree_part {
    uint32_t *counts, *neighbours; /* of the soup's own pairs */
    double *diameters;             /* below 0: the face takes no part */
    uint64_t discs;                /* of the soup's own faces */
} carom_kfree_part;

carom_status carom_kfree_count_part(carom_context *context, const carom_soup *soup,
                                    const carom_kfree_filter *filter, carom_kfree_part *part);

/* What is known of all faces that take part. Begin with {.worst_face = CAROM_NONE}. */
typedef struct carom_kfree_sum {
    uint64_t faces, total, neighbours, discs;
    uint32_t worst_face, most, worst_neighbours;
    double least, largest; /* diameters of faces that are not points; begin with HUGE_VAL and 0 */
} carom_kfree_sum;

/* Adds a face; in the order of faces, the first of those that count the most is the worst. */
static inline void carom_kfree_add(carom_kfree_sum *sum, uint32_t face, uint32_t count,
                                   uint32_t neighbours) {
    ++sum->faces;
    sum->total += count;
    sum->neighbours += neighbours;
    if (sum->worst_face != CAROM_NONE && count <= sum->most) return;
    sum->most = count;
    sum->worst_face = face;
    sum->worst_neighbours = neighbours;
}

/* All of a result; histogram[c] faces, c <= most, have count c. Sets every byte of it. */
void carom_kfree_describe(const carom_kfree_sum *sum, const uint32_t *histogram, carom_kfree *k);

#endif
