/* SPDX-License-Identifier: MIT */
/* tree_moments.h: what the spheres below a node are like, taken together: one ball.
 *
 * Shares fill the solid: their secondary balls have its volume, and inside of it a density of about
 * 1 at every place. The ball of a node has the centroid and the mean square distance from it of the
 * balls below, and a density that makes up for their volume. The lens of the balls of two nodes,
 * times both densities, is about the sum of the lenses of all pairs of spheres below: of leaves of
 * 16 spheres that was off by 0.4 to 5 % in sums over all pairs of leaves of an overlap. */
#ifndef CAROM_SRC_TREE_TREE_MOMENTS_H
#define CAROM_SRC_TREE_TREE_MOMENTS_H

#include "tree/tree.h"

/* Computes the moments of a tree whose leaves and nodes are there. */
void carom_tree_moments_make(carom_tree *tree);

/* The least distance of two centres, as a part of both radii, in lenses of moments: with equal
 * radii and centres the formula has 0 / 0, and is continuous there. */
#define CAROM_TREE_LEAST_APART 0x1p-10f

/* The volume of the lens of two balls with the distance d of their centres, as
 *     pi (r + s - d)^2 (d^2 + 2 d (r + s) - 3 (r - s)^2) / (12 d).
 * Where one ball is in the other, the distance at which it would just be is taken. */
#define CAROM_TREE_LENS_FACTOR ((float)(CAROM_PI / 12.0))
static inline float carom_tree_moment_lens(float r, float s, float d) {
    float sum = r + s, difference = r < s ? s - r : r - s, least = CAROM_TREE_LEAST_APART * sum;
    d = d > difference ? d : difference;
    d = d > least ? d : least;
    float depth = sum - d;
    depth = depth > 0.0f ? depth : 0.0f;
    float square = d * (d + 2.0f * sum) - 3.0f * (difference * difference);
    return d > 0.0f ? CAROM_TREE_LENS_FACTOR * (depth * depth) * square / d : 0.0f;
}

#endif
