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
    uint16_t yes[CAROM_BVH_WIDTH], open[CAROM_BVH_WIDTH];
} carom_soup_within_rows;

/* Decides pairs of two blocks in float32, by the first certificates of carom_soup_within_filter.
 * `in_a` and `in_b` are the triangles that take part, at least one of each; the rows of others are
 * not set. The corners of others are finite. `scale`, a power of two, makes lengths of the order of
 * 1; where they are not, all pairs stay open. */
CAROM_CPU_DECLARE(void, carom_soup_within_blocks, const carom_soup_within_block *a,
                  const carom_soup_within_block *b, uint32_t in_a, uint32_t in_b, double margin,
                  double scale, carom_soup_within_rows *rows);

#endif
