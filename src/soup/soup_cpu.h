/* SPDX-License-Identifier: MIT */
/* soup_cpu.h: the fast stage of the pair test on vectors, one version per instruction set. */
#ifndef CAROM_SRC_SOUP_SOUP_CPU_H
#define CAROM_SRC_SOUP_SOUP_CPU_H

#include "base/isa.h"

#define CAROM_SOUP_BATCH 512u

/* What the loops see of a soup. */
typedef struct carom_soup_points {
    const void *positions;
    const uint32_t *corners; /* three a place, and one number more behind the last */
    bool is_double;
} carom_soup_points;

/* What became of a batch: numbers of its pairs. All others certainly do not count. */
typedef struct carom_soup_verdicts {
    uint32_t yes_count, open_count;
    uint16_t yes[CAROM_SOUP_BATCH], open[CAROM_SOUP_BATCH];
} carom_soup_verdicts;

/* Decides pairs (a[i], b[i]) of places, at most CAROM_SOUP_BATCH, by the rules of soup.h as far as
 * doubles can, or floats where the positions are: the same decisions as carom_face_filter, or
 * fewer. */
CAROM_CPU_DECLARE(void, carom_soup_filter, const carom_soup_points *points, const uint32_t *a,
                  const uint32_t *b, uint32_t count, carom_soup_verdicts *verdicts);

#endif
