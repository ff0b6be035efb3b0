/* SPDX-License-Identifier: MIT */
/* solid_sum_item.h: what is added up in fixed point, by CPU and GPU alike: prefix sums over
 * triangles (solid_prefix_sums.c) and error bounds. */
#ifndef CAROM_SRC_SOLID_SOLID_SUM_ITEM_H
#define CAROM_SRC_SOLID_SOLID_SUM_ITEM_H

#include "base/sum_item.h"

/* Integrals over triangles with unit normals n, y = 2^exponent (x - centre): */
#define CAROM_SOLID_NORMAL 0u  /* of n: 3 */
#define CAROM_SOLID_FIRST  3u  /* 3 times that of y_i n_j: 9, row by row */
#define CAROM_SOLID_SECOND 12u /* 3 times that of y_i (y . n): 3 */
#define CAROM_SOLID_AREA   15u /* of 1 */
#define CAROM_SOLID_SUMS   16u

/* Sums are in fixed point. So the sum over a range is the exact difference of two prefix sums, and
 * a small part of a large mesh loses no precision. */
#define CAROM_SOLID_BLOCK 8u /* triangles from one stored prefix sum to the next */

typedef struct carom_solid_sum {
    uint64_t low, high;
} carom_solid_sum;

/* Triangles whose sums of doubles (areas, lengths) are added first to last: then the sums of these
 * parts are. So CPU and GPU, with any number of threads, have the same bits. */
#define CAROM_SOLID_PART 256u

/* Adds to a sum, modulo 2^128. */
CAROM_ITEM void carom_solid_add_sum(carom_solid_sum *to, carom_solid_sum add) {
    to->low += add.low;
    to->high += add.high + (to->low < add.low ? 1u : 0u);
}

/* `weight` times a sum. */
CAROM_ITEM carom_sum carom_solid_weigh(carom_solid_sum sum, int weight) {
    carom_sum term = {sum.low, sum.high, 0}, all = {0, 0, 0};
    if (weight < 0) term = carom_sum_negate(term);
    for (int k = weight < 0 ? -weight : weight; k > 0; --k) all = carom_sum_add(all, term);
    return all;
}

/* The block boundary nearest to triangle `end`. */
CAROM_ITEM uint64_t carom_solid_nearest_block(uint64_t end) {
    return (end + CAROM_SOLID_BLOCK / 2) / CAROM_SOLID_BLOCK;
}

/* Bits of the fixed point of areas that are dropped, so that sums of products with winding numbers
 * fit. */
#define CAROM_SOLID_AREA_SHIFT 40

/* An upper bound of `times` the area of triangles [first, last): up to a block more at either end.
 * In fixed point, CAROM_SOLID_AREA_SHIFT bits above the scale of the sums. */
CAROM_ITEM carom_sum carom_solid_area_between(const carom_solid_sum *blocks, uint64_t first,
                                              uint64_t last, int times) {
    uint64_t from = first / CAROM_SOLID_BLOCK, to = last / CAROM_SOLID_BLOCK + 1;
    carom_sum area = carom_solid_weigh(blocks[CAROM_SOLID_SUMS * to + CAROM_SOLID_AREA], 1);
    area = carom_sum_add(area,
                         carom_solid_weigh(blocks[CAROM_SOLID_SUMS * from + CAROM_SOLID_AREA], -1));
    /* in units of 2^40, rounded up, so that very many can be added */
    carom_solid_sum one;
    one.low =
        (area.low >> CAROM_SOLID_AREA_SHIFT | area.high << (64 - CAROM_SOLID_AREA_SHIFT)) + 1u;
    one.high = area.high >> CAROM_SOLID_AREA_SHIFT;
    return carom_solid_weigh(one, times);
}

/* Units that one term may add to a sum of errors: so that they fit a word of 64 bits. */
#define CAROM_SOLID_MOST_ERROR 0x1p62

/* Errors are sums in fixed point, too, but all positive and rounded up. The units that an error of
 * `error` of them adds; false when it exceeds its bound. */
CAROM_ITEM int carom_solid_error_units(double error, uint64_t *units) {
    *units = 0;
    if (error == 0.0) return 1;
    if (!(error < CAROM_SOLID_MOST_ERROR)) return 0;
    *units = (uint64_t)error + 1u;
    return 1;
}

#endif
