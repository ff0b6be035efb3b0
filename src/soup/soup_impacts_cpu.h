/* SPDX-License-Identifier: MIT */
/* soup_impacts_cpu.h: which vertices and faces, and which edges, of pairs of moving triangles may
 * meet; one version per instruction set. */
#ifndef CAROM_SRC_SOUP_SOUP_IMPACTS_CPU_H
#define CAROM_SRC_SOUP_SOUP_IMPACTS_CPU_H

#include "base/isa.h"

/* What a triangle owns: of several triangles with a vertex or an edge, one does. */
#define CAROM_IMPACT_OWN_VERTEX(i) (1u << (i))
#define CAROM_IMPACT_OWN_EDGE(i)   (8u << (i)) /* from corner i to the next */

/* A triangle that moves: 96 bytes. */
typedef struct carom_impact_triangle {
    float at[18];     /* x, y, z of corner 0 at time 0 and at time 1, then of corners 1 and 2 */
    float padding[2]; /* four numbers are loaded at a time */
    uint32_t corner[3];
    uint32_t owned;
} carom_impact_triangle;

typedef struct carom_impact_pairs {
    const carom_impact_triangle *of_a, *of_b;
    bool self;    /* what has a common vertex is left out */
    double error; /* of each coordinate in `at`; 0 where they are exact */
    float gap;    /* boxes with a larger gap are apart: at least twice the error */
    float until;  /* contact after this time does not matter: 1, or less with a gap for it */
} carom_impact_pairs;

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
CAROM_CPU_DECLARE(uint32_t, carom_soup_find_candidates, const carom_impact_pairs *pairs,
                  const uint32_t *a, const uint32_t *b, uint32_t count,
                  carom_impact_candidate *open, uint64_t *candidates);

#endif
