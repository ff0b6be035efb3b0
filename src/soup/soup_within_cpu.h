/* SPDX-License-Identifier: MIT */
/* soup_within_cpu.h: the SIMD filter of the margin test, one version per instruction set. */
#ifndef CAROM_SRC_SOUP_SOUP_WITHIN_CPU_H
#define CAROM_SRC_SOUP_SOUP_WITHIN_CPU_H

#include "base/isa.h"
#include "bvh/bvh.h"

/* Pairs of triangles that are decided together. 64 of them with the verdicts fit the first-level
 * cache and fill 8 vectors of the widest instruction set. */
#define CAROM_WITHIN_BATCH 64u

typedef struct carom_soup_within_batch {
    /* x, y, z of the three corners of a, then of b. */
    double corner[18][CAROM_WITHIN_BATCH];
    uint32_t a[CAROM_WITHIN_BATCH], b[CAROM_WITHIN_BATCH]; /* the triangles */
    uint32_t count;
    uint64_t yes;  /* a bit per pair: certainly within the margin */
    uint64_t open; /* undecided; all other pairs are certainly farther apart */
} carom_soup_within_batch;

/* Decides pairs by the certificates of geom/within.h: two corners that are near enough, or a slab
 * across the line between the centres or across a normal; then those of edges and of corners on
 * faces. */
CAROM_CPU_DECLARE(void, carom_soup_within_filter, carom_soup_within_batch *batch, double margin);

/* The posed triangles of a block of a tree: x, y, z of the three corners. */
typedef struct carom_soup_within_block {
    double corner[9][CAROM_BVH_WIDTH];
} carom_soup_within_block;

/* Verdicts on the triangles of two blocks: a row per triangle of one, with a bit per triangle of
 * the other. */
typedef struct carom_soup_within_rows {
    bool of_a; /* rows are triangles of a */
    uint16_t yes[CAROM_BVH_WIDTH];
} carom_soup_within_rows;

/* Pairs that the first certificates left open, in float32. */
#define CAROM_WITHIN_REST (64u + CAROM_BVH_WIDTH * CAROM_BVH_WIDTH)
typedef struct carom_soup_within_rest {
    float corner[18][CAROM_WITHIN_REST];    /* x, y, z of the corners of a, then of b */
    float sure[CAROM_WITHIN_REST];          /* squared distances at most this are within */
    float squared_reach[CAROM_WITHIN_REST]; /* of slabs that are wide enough */
    uint32_t a[CAROM_WITHIN_REST], b[CAROM_WITHIN_REST]; /* slots of the triangles in their trees */
    uint8_t verdict[CAROM_WITHIN_REST];                  /* CAROM_YES ... */
    uint32_t count;
} carom_soup_within_rest;

/* Pairs from which on a rest is decided: enough that few lanes are idle. Below, there is space for
 * all pairs of two blocks. */
static inline bool carom_soup_within_rest_full(const carom_soup_within_rest *rest) {
    return rest->count >= CAROM_WITHIN_REST - CAROM_BVH_WIDTH * CAROM_BVH_WIDTH;
}

/* Two blocks, with the slots of their first triangles. `in_a` and `in_b` are the triangles that
 * take part, at least one of each; the corners of all others are finite. */
typedef struct carom_soup_within_two {
    const carom_soup_within_block *a, *b;
    uint32_t first_a, first_b, in_a, in_b;
} carom_soup_within_two;

/* Decides pairs of two blocks in float32, by the first certificates of carom_soup_within_filter,
 * and adds the open ones to a rest that is not full. Rows of triangles that take no part are not
 * set. `scale`, a power of two, makes lengths of the order of 1; where they are not, all pairs stay
 * open. */
CAROM_CPU_DECLARE(void, carom_soup_within_blocks, const carom_soup_within_two *two, double margin,
                  double scale, carom_soup_within_rows *rows, carom_soup_within_rest *rest);

/* Sets the verdicts of a rest by its other certificates. */
CAROM_CPU_DECLARE(void, carom_soup_within_decide_rest, carom_soup_within_rest *rest);

#endif
