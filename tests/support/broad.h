/* SPDX-License-Identifier: MIT */
/* broad.h: sets of boxes, degenerate above all, and the slow broad phase they are compared with. */
#ifndef CAROM_TESTS_BROAD_H
#define CAROM_TESTS_BROAD_H

#include "carom/broad.h"

typedef enum broad_kind {
    BROAD_UNIFORM,   /* doubles that are not floats */
    BROAD_LATTICE,   /* small integers: boxes touch */
    BROAD_FLAT,      /* some have no extent along some axes; points */
    BROAD_EMPTY,     /* half of them are empty */
    BROAD_HUGE,      /* around 1e30, and some of size 1e-3 */
    BROAD_ONE_POINT, /* all contain one point */
    BROAD_COVER,     /* one box contains all others */
    BROAD_SIZES,     /* sizes from 2^-30 to 1 */
    BROAD_FAR,       /* small boxes far from 0: differences below float32 */
    BROAD_LARGEST,   /* up to 1e308, and down to 5e-324 */
    BROAD_LINE,      /* along a line */
    BROAD_NEARLY,    /* gaps and overlaps of one unit in the last place */
    BROAD_KINDS
} broad_kind;

carom_bounds broad_box(broad_kind kind, carom_random *random);
void broad_boxes(broad_kind kind, carom_random *random, carom_bounds *boxes, uint64_t count);

/* Whether two boxes overlap, by the definition in the header. */
bool broad_overlap(const carom_bounds *a, const carom_bounds *b);

/* All pairs of boxes that overlap and that filters (NULL: none) allow, sorted; `pairs` has space
 * for all. Returns their number. Boxes whose `live` is false take no part; NULL: all do. */
uint64_t broad_brute_force(const carom_bounds *boxes, const carom_broad_filter *filters,
                           const bool *live, uint64_t count, carom_pair *pairs);

#endif
