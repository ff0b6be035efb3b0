/* SPDX-License-Identifier: MIT */
/* soup_within.h: the decision of searches for faces within a margin, which the searches of one soup
 * and of two share. */
#ifndef CAROM_SRC_SOUP_SOUP_WITHIN_H
#define CAROM_SRC_SOUP_SOUP_WITHIN_H

#include "soup/soup.h"
#include "soup/soup_within_cpu.h"

static inline bool carom_soup_within_full(const carom_soup_within_batch *batch) {
    return batch->count == CAROM_WITHIN_BATCH;
}

/* Adds triangles a and b, with these corners, to a batch that is not full. */
static inline void carom_soup_within_add(carom_soup_within_batch *batch, uint32_t a, uint32_t b,
                                         const carom_triangle *corners_a,
                                         const carom_triangle *corners_b) {
    uint32_t at = batch->count++;
    batch->a[at] = a;
    batch->b[at] = b;
    for (int i = 0; i < 3; ++i) {
        carom_vec3 p = corners_a->corner[i], q = corners_b->corner[i];
        batch->corner[3 * i][at] = p.x;
        batch->corner[3 * i + 1][at] = p.y;
        batch->corner[3 * i + 2][at] = p.z;
        batch->corner[9 + 3 * i][at] = q.x;
        batch->corner[9 + 3 * i + 1][at] = q.y;
        batch->corner[9 + 3 * i + 2][at] = q.z;
    }
}

/* Decides all pairs of the batch exactly: batch->yes then has a bit for each that is within the
 * margin. False if the call was cancelled. Counts the pairs that the filters left undecided. */
bool carom_soup_within_decide(carom_context *context, uint32_t worker,
                              carom_soup_within_batch *batch, double margin, uint64_t *undecided);

/* The margin in the frame of the soup's boxes. It allows for the rounding of a box that is enlarged
 * by it. */
float carom_soup_within_reach(const carom_soup *soup, double margin);

/* Removes pairs of faces with a common vertex from a sorted list of pairs of one soup of polygons.
 * Takes scratch of worker 0, which the caller rewinds. */
carom_status carom_soup_within_remove_neighbours(carom_context *context, const carom_soup *soup,
                                                 uint64_t *pairs, uint64_t *count);

#endif
