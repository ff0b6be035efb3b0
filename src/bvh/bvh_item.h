/* SPDX-License-Identifier: MIT */
/* bvh_item.h: the keys that a box tree sorts its items by, as items for CPU and GPU: the cell of a
 * box's centre along a Hilbert curve, below a class of its size (see bvh.c). */
#ifndef CAROM_SRC_BVH_BVH_ITEM_H
#define CAROM_SRC_BVH_BVH_ITEM_H

#include "geom/box.h"

#define CAROM_BVH_CELLS      1024 /* along each axis of the curve */
#define CAROM_BVH_CURVE_BITS 30   /* of a key; two bits of class are above them */
#define CAROM_BVH_CLASS_STEP 4    /* powers of two between size classes */
#define CAROM_BVH_EXPONENTS  256  /* of float32 */

/* Margin of a ray or a point in the tree's frame, relative to the largest coordinate in the tree
 * and in the query: the gap to a box has some roundings of 2^-53 of numbers up to twice as large,
 * and so has a ray whose direction is rounded; searches require 2^-48, and this is four times that.
 */
#define CAROM_BVH_QUERY_MARGIN 0x1p-46

typedef struct carom_bvh_space {
    float low[3], scale[3]; /* (centre - low) * scale is in [0, CAROM_BVH_CELLS] */
    int size_class[3];      /* least exponents of the extents of the three classes of large items */
} carom_bvh_space;

/* The exponent of the largest extent, biased as in float32: 0 to 255. */
CAROM_ITEM int carom_bvh_size(const carom_box *box) {
    float extent = 0.0f;
    for (int k = 0; k < 3; ++k) extent = CAROM_MAX(box->high[k] - box->low[k], extent);
    uint32_t bits;
    memcpy(&bits, &extent, sizeof(bits));
    return (int)(bits >> 23 & 0xFF);
}

CAROM_ITEM float carom_bvh_centre(const carom_box *box, int k) {
    return 0.5f * box->low[k] + 0.5f * box->high[k];
}

CAROM_ITEM uint32_t carom_bvh_cell(const carom_bvh_space *space, const carom_box *box, int k) {
    float cell = (carom_bvh_centre(box, k) - space->low[k]) * space->scale[k];
    cell = cell > 0.0f ? cell : 0.0f; /* NaN, of an empty box, becomes 0 */
    cell = cell < CAROM_BVH_CELLS - 1 ? cell : CAROM_BVH_CELLS - 1;
    return (uint32_t)cell;
}

CAROM_ITEM uint32_t carom_bvh_class(const carom_bvh_space *space, const carom_box *box) {
    int exponent = carom_bvh_size(box);
    return (exponent >= space->size_class[0] ? 1u : 0u) +
           (exponent >= space->size_class[1] ? 1u : 0u) +
           (exponent >= space->size_class[2] ? 1u : 0u);
}

/* The scale of one axis of a space whose centres lie in [low, high]. */
CAROM_ITEM float carom_bvh_scale(float low, float high) {
    float size = high - low;
    return size > CAROM_BVH_CELLS / FLT_MAX && size <= FLT_MAX ? CAROM_BVH_CELLS / size : 0.0f;
}

/* A key from the cell's index along the curve; items with empty boxes come after all others. */
CAROM_ITEM uint32_t carom_bvh_key(const carom_bvh_space *space, const carom_box *box,
                                  uint32_t index) {
    CAROM_ASSERT(index >> CAROM_BVH_CURVE_BITS == 0);
    if (!(box->low[0] <= box->high[0])) return UINT32_MAX;
    return carom_bvh_class(space, box) << CAROM_BVH_CURVE_BITS | index;
}

#endif
