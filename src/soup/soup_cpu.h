/* SPDX-License-Identifier: MIT */
/* soup_cpu.h: the SIMD filter of the pair test, one version per instruction set. */
#ifndef CAROM_SRC_SOUP_SOUP_CPU_H
#define CAROM_SRC_SOUP_SOUP_CPU_H

#include "base/isa.h"
#include "geom/pose.h"

#define CAROM_SOUP_BATCH 512u

/* The part of a soup that the loops read. */
typedef struct carom_soup_points {
    const void *positions;
    const uint32_t *corners; /* three per slot, then one padding entry */
    bool is_double;
} carom_soup_points;

/* The same of two soups in their poses. Here corners are three per triangle. */
typedef struct carom_soup_posed_points {
    carom_soup_points side[2];
    carom_frame frame[2];
} carom_soup_posed_points;

/* The result of a batch: the indices of its pairs that count (`yes`) and of those left undecided
 * (`open`). All other pairs certainly do not count. */
typedef struct carom_soup_verdicts {
    uint32_t yes_count, open_count;
    uint16_t yes[CAROM_SOUP_BATCH], open[CAROM_SOUP_BATCH];
} carom_soup_verdicts;

/* Decides pairs (a[i], b[i]) of slots, at most CAROM_SOUP_BATCH, by the rules of soup.h, as far as
 * doubles suffice (floats where positions are floats). It makes the same decisions as
 * carom_face_filter, or leaves the pair open. */
CAROM_CPU_DECLARE(void, carom_soup_filter, const carom_soup_points *points, const uint32_t *a,
                  const uint32_t *b, uint32_t count, carom_soup_verdicts *verdicts);

/* The same for pairs of a triangle a[i] of the first soup and b[i] of the second, by closed
 * triangles, as carom_triangle_filter. */
CAROM_CPU_DECLARE(void, carom_soup_cross_filter, const carom_soup_posed_points *points,
                  const uint32_t *a, const uint32_t *b, uint32_t count,
                  carom_soup_verdicts *verdicts);

#endif
