/* SPDX-License-Identifier: MIT */
/* bvh_nearest_item.h: bounds of the search for the boxes nearest to a point, as items for CPU and
 * GPU (bvh_nearest_cpu.c explains them). */
#ifndef CAROM_SRC_BVH_BVH_NEAREST_ITEM_H
#define CAROM_SRC_BVH_BVH_NEAREST_ITEM_H

#include "geom/box.h"

/* Margins of comparisons: of squares and sums in doubles, a few times 2^-53; of those that
 * underflow, a few times 2^-1074; and of both in floats, a few times 2^-24. */
#define CAROM_NEAREST_SQUARE_MARGIN 0x1p-46
#define CAROM_NEAREST_LEAST_SQUARE  0x1p-1060
#define CAROM_NEAREST_FLOAT_MARGIN  0x1p-20
#define CAROM_NEAREST_FLOAT_ERROR   0x1p-23 /* of a coordinate that is rounded to a float */

/* The value that squared bounds are compared with; negative for a negative limit. */
CAROM_ITEM double carom_nearest_square(double limit) {
    return limit < 0.0
               ? -1.0
               : limit * limit * (1.0 + CAROM_NEAREST_SQUARE_MARGIN) + CAROM_NEAREST_LEAST_SQUARE;
}

/* The same in floats. */
CAROM_ITEM float carom_nearest_float_limit(double most) {
    return most < (double)FLT_MAX / 2.0
               ? (float)(most * (1.0 + CAROM_NEAREST_FLOAT_MARGIN)) + FLT_MIN
               : HUGE_VALF;
}

/* A lower bound in doubles of what was computed in floats. */
CAROM_ITEM double carom_nearest_lower(float squares) {
    return (double)squares * (1.0 - CAROM_NEAREST_FLOAT_MARGIN);
}

/* A point in floats, with a margin that allows for its rounding. */
typedef struct carom_nearest_point {
    float at[3], margin;
} carom_nearest_point;

CAROM_ITEM carom_nearest_point carom_nearest_point_make(const double at[3], double margin) {
    double largest = 0.0;
    carom_nearest_point p;
    for (int k = 0; k < 3; ++k) {
        p.at[k] = (float)at[k];
        largest = CAROM_MAX(fabs(at[k]), largest);
    }
    p.margin = (float)((margin + CAROM_NEAREST_FLOAT_ERROR * largest) *
                       (1.0 + CAROM_NEAREST_FLOAT_MARGIN)) +
               FLT_MIN;
    return p;
}

#endif
