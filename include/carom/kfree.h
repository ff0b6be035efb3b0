/* SPDX-License-Identifier: MIT */
/* kfree.h: how dense the faces of a soup are, and how many pairs two soups can ever have.
 *
 *   carom_kfree_measure(context, soup, &kfree, NULL);
 */
#ifndef CAROM_KFREE_H
#define CAROM_KFREE_H

#include "carom/soup.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Query: k-freeness --------------------------------------------------------------------------
 *
 * The diameter d of a face is that of the smallest ball around its corners. Each face counts the
 * other faces that are at least as large and at most d/4 away. A soup in which every face counts
 * fewer than k is k-free (Weller, Debowski, Zachmann 2017). Two k-free soups meet, in any pose, in
 * at most as many pairs of faces as carom_kfree_bound says: linear in the number of faces.
 *
 * Diameters are doubles, rounded upwards: at least the true one, at most 2^-45 of it larger, the
 * same for any order of a face's corners and of the faces, and for a copy that is moved without
 * rounding. With respect to these doubles all counts are exact. Faces of equal diameter count each
 * other. Whether a face is within d/4 is decided exactly, and a distance of exactly d/4 counts.
 * Faces with a common vertex are at distance 0. Faces without area take no part (but see
 * `degenerate`: as points, of diameter 0, they count what touches them). */

/* How dense the faces of a soup are: how many large ones are near each. */
typedef struct carom_kfree {
    uint64_t faces;            /* that take part */
    uint64_t k;                /* the least k for which the soup is k-free; 0: no faces */
    uint32_t worst_face;       /* the lowest index of a face that counts k - 1 others;
                                  CAROM_NONE: no faces */
    uint32_t worst_neighbours; /* of these k - 1, those that share a vertex with it */

    /* Statistics of the counts of all faces. A quantile is the least number such that at least that
     * share of the faces has a count no larger. */
    uint64_t total;
    double mean, deviation;
    uint32_t least, quartile_1, median, quartile_3, percentile_90, percentile_99, most;
    double neighbours; /* the share of all counted faces that have a common vertex; 0 when none */

    double least_diameter, largest_diameter; /* of faces that are not points */
    double height;                           /* log2 of largest / least */

    /* Upper bound, summed over the faces, on the points of a face that are more than a quarter of
     * its diameter apart: 10 per triangle, which ten discs of that diameter cover; for a face of
     * more triangles 10 for each, or 21 when it is flat and that is fewer. */
    uint64_t discs;
} carom_kfree;

/* Computes k and the count of every face. `counts` gets the count of each face, 0 for faces that
 * take no part (may be NULL).
 * CAROM_BAD_INPUT: coordinates beyond 2^1020. CAROM_UNSUPPORTED: on the CPU a soup of method GRID,
 * which has no tree to search; on cuda a soup of polygons.
 * Cost: O(n k) on all threads; allocates nothing once warm. */
CAROM_API carom_status carom_kfree_measure(carom_context *context, const carom_soup *soup,
                                           carom_kfree *kfree, carom_numbers *counts);

/* How many pairs two soups can have at most. */
typedef struct carom_kfree_most {
    /* Upper bound on the pairs that meet in any rigid motion: discs_a k_b + discs_b k_a, which is
     * at most 10 k (n_a + n_b) for triangles and 21 k (n_a + n_b) for flat polygons; or n_a n_b
     * when that is less. For soups of one scale; posed coordinates are assumed not to be rounded.
     */
    uint64_t pairs;
    /* 3 k (n_a + n_b) for triangles, 7 k (n_a + n_b) for polygons: as published. Not a bound: see
     * docs/grid.md. */
    uint64_t published;
} carom_kfree_most;

/* Computes the bounds from k and the counts of two soups. Numbers too large are UINT64_MAX. */
CAROM_API carom_status carom_kfree_bound(carom_context *context, const carom_kfree *a,
                                         const carom_kfree *b, carom_kfree_most *most);

#ifdef __cplusplus
}
#endif

#endif
