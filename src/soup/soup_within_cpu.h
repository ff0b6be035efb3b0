/* SPDX-License-Identifier: MIT */
/* soup_within_cpu.h: the SIMD filter of the margin test, one version per instruction set. */
#ifndef CAROM_SRC_SOUP_SOUP_WITHIN_CPU_H
#define CAROM_SRC_SOUP_SOUP_WITHIN_CPU_H

#include "base/isa.h"

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

/* Decides pairs by the certificates of geom/within.h that need no search: two corners that are near
 * enough, or a slab across the line between the centres or across a normal. */
CAROM_CPU_DECLARE(void, carom_soup_within_filter, carom_soup_within_batch *batch, double margin);

#endif
