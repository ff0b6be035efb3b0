/* SPDX-License-Identifier: MIT */
/* impacts_cpu.h: which vertices and faces, and which edges, of pairs of moving triangles may
 * meet; one version per instruction set. */
#ifndef CAROM_SRC_IMPACTS_IMPACTS_CPU_H
#define CAROM_SRC_IMPACTS_IMPACTS_CPU_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/isa.h"
#include "impacts/impacts_item.h"

#define CAROM_IMPACT_ROW   16u /* floats: one vector of AVX-512 */
#define CAROM_IMPACT_SHORT 8u  /* the first of them, for boxes of triangles */

/* A vertex at time 0 and at time 1: x, y, z, then the other directions. */
typedef struct carom_impact_point {
    float at[2][CAROM_IMPACT_ROW];
} carom_impact_point;

/* Fills a row from x, y and z. Sums are a quarter of the coordinates', so that they are finite. */
static inline void carom_impact_fill_row(const float *p, float *row) {
    float x = 0.25f * p[0], y = 0.25f * p[1], z = 0.25f * p[2], sum = x + y, difference = x - y;
    float all[CAROM_IMPACT_ROW] = {p[0],           p[1],           p[2], sum + z,    sum - z,
                                   difference + z, difference - z, sum,  difference, x + z,
                                   x - z,          y + z,          y - z};
    memcpy(row, all, sizeof(all));
}

/* A triangle that moves. */
typedef struct carom_impact_triangle {
    uint32_t corner[3]; /* vertices */
    uint32_t owned;
} carom_impact_triangle;

/* Its extent along the first directions, at time 0 and at time 1. */
typedef struct carom_impact_box {
    float low[2][CAROM_IMPACT_SHORT], high[2][CAROM_IMPACT_SHORT];
} carom_impact_box;

typedef struct carom_impact_pairs {
    const carom_impact_triangle *of_a, *of_b;
    const carom_impact_box *boxes_a, *boxes_b;
    const carom_impact_point *points_a, *points_b;
    bool self;    /* what has a common vertex is left out */
    bool near;    /* all within the gaps is wanted, whether it meets or not */
    double error; /* of each coordinate; 0 where they are exact */
    float until;  /* contact after this time does not matter: 1, or less with gaps for it */
    /* What has a larger gap along a direction is apart. */
    float gap[CAROM_IMPACT_ROW];
} carom_impact_pairs;

/* Fills the gaps from that along an axis, the reach and the largest coordinate. */
static inline void carom_impact_gaps(carom_impact_pairs *pairs, float gap, float reach,
                                     float largest) {
    float sums = carom_impacts_sum_gap(gap, reach, largest);
    for (uint32_t i = 0; i < CAROM_IMPACT_ROW; ++i)
        pairs->gap[i] = i < 3 ? gap + reach : i < CAROM_IMPACT_DIRECTIONS ? sums : INFINITY;
}

typedef struct carom_impact_candidate {
    uint32_t a, b; /* indices of triangles */
    uint32_t which;
} carom_impact_candidate;

#define CAROM_IMPACT_AT_ONCE 128u /* pairs of triangles per call */

/* Writes what may meet of the pairs of triangles (a, b) to `open`, which has room for
 * CAROM_IMPACT_WHICH per pair. Returns their number, and adds the number of those whose boxes
 * overlap to *candidates. */
CAROM_CPU_DECLARE(uint32_t, carom_impacts_find_candidates, const carom_impact_pairs *pairs,
                  const uint32_t *a, const uint32_t *b, uint32_t count,
                  carom_impact_candidate *open, uint64_t *candidates);

#endif
