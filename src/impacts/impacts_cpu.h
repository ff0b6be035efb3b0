/* SPDX-License-Identifier: MIT */
/* impacts_cpu.h: which vertices and faces, and which edges, of pairs of moving triangles may
 * meet; one version per instruction set. */
#ifndef CAROM_SRC_IMPACTS_IMPACTS_CPU_H
#define CAROM_SRC_IMPACTS_IMPACTS_CPU_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/isa.h"

/* What a triangle owns: of several triangles with a vertex or an edge, one does. */
#define CAROM_IMPACT_OWN_VERTEX(i) (1u << (i))
#define CAROM_IMPACT_OWN_EDGE(i)   (8u << (i)) /* from corner i to the next */

/* Directions along which features are compared: the three axes, the four diagonals of a cube and
 * the six of its faces. Places past them never separate. */
#define CAROM_IMPACT_DIRECTIONS 13u
#define CAROM_IMPACT_ROW        16u /* floats: one vector of AVX-512 */
#define CAROM_IMPACT_SHORT      8u  /* the first of them, for boxes of triangles */

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

/* The longest direction but for the axes: a quarter of the diagonal of a cube, with room for
 * rounding. */
#define CAROM_IMPACT_LONGEST 0.43302f
/* Of the largest coordinate: twice the rounding of two quarters of sums, 2^-23 each. */
#define CAROM_IMPACT_SUM_ROUNDING 0x1p-21f

/* Fills the gaps from that along an axis, which is at least twice the error of a coordinate, the
 * reach and the largest coordinate. A quarter of a sum of three is off by 3/4 of an error, and as
 * it is rounded twice by less than 2^-23 of the largest coordinate and the least number. */
static inline void carom_impact_gaps(carom_impact_pairs *pairs, float gap, float reach,
                                     float largest) {
    float sums = gap + CAROM_IMPACT_LONGEST * reach + largest * CAROM_IMPACT_SUM_ROUNDING + FLT_MIN;
    for (uint32_t i = 0; i < CAROM_IMPACT_ROW; ++i)
        pairs->gap[i] = i < 3 ? gap + reach : i < CAROM_IMPACT_DIRECTIONS ? sums : INFINITY;
}

/* Which vertex of a and the triangle b; the triangle a and which vertex of b; or which edges: 6 + 3
 * times that of a + that of b. */
#define CAROM_IMPACT_OF_A  0u
#define CAROM_IMPACT_OF_B  3u
#define CAROM_IMPACT_EDGES 6u
#define CAROM_IMPACT_WHICH 15u

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
