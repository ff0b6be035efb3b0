/* SPDX-License-Identifier: MIT */
/* Loops over boxes: their common bounds, and rounding them to float32.
 *
 * Boxes of a prepared structure are read in the order of the tree, which is not the order of ids,
 * so rows are prefetched some boxes ahead. Where the processor converts with directed rounding, six
 * coordinates are rounded outwards by two instructions; the result is that of carom_broad_round. */
#include "broad/broad_cpu.h"

#include "base/simd.h"

#define BROAD_PREFETCH_BOXES 16u /* boxes: enough to hide the latency of memory */

carom_broad_range CAROM_CPU(carom_broad_measure)(const carom_bounds *boxes, uint64_t count) {
    carom_bounds all = carom_bounds_empty();
    double zero = 0.0; /* becomes NaN when a bound is infinite or NaN */
    for (uint64_t i = 0; i < count; ++i) {
        const carom_bounds *b = &boxes[i];
        zero += ((b->low.x - b->low.x) + (b->low.y - b->low.y)) + (b->low.z - b->low.z);
        zero += ((b->high.x - b->high.x) + (b->high.y - b->high.y)) + (b->high.z - b->high.z);
        if (carom_bounds_is_empty(b)) continue;
        all.low.x = CAROM_MIN(b->low.x, all.low.x);
        all.low.y = CAROM_MIN(b->low.y, all.low.y);
        all.low.z = CAROM_MIN(b->low.z, all.low.z);
        all.high.x = CAROM_MAX(b->high.x, all.high.x);
        all.high.y = CAROM_MAX(b->high.y, all.high.y);
        all.high.z = CAROM_MAX(b->high.z, all.high.z);
    }
    carom_broad_range range;
    range.bounds = all;
    range.finite = zero == 0.0;
    return range;
}

/* In a plain frame; returns whether the box is exact. */
static inline bool round_plain(const carom_bounds *b, carom_box *box) {
#ifdef CAROM_DIRECTED_ROUNDING
    _Static_assert(sizeof(*b) == 6 * sizeof(double) && sizeof(*box) == 6 * sizeof(float),
                   "low, then high");
    if (!carom_f64x6_ordered((const double *)b)) {
        *box = carom_box_empty();
        return true;
    }
    return carom_f64x6_outwards((const double *)b, (float *)box);
#else
    if (carom_bounds_is_empty(b)) {
        *box = carom_box_empty();
        return true;
    }
    *box = (carom_box){{(float)b->low.x, (float)b->low.y, (float)b->low.z},
                       {(float)b->high.x, (float)b->high.y, (float)b->high.z}};
    if (carom_broad_is_exact(box, b)) return true;
    *box = carom_box_of_bounds(b->low, b->high, carom_vec(0.0, 0.0, 0.0));
    return false;
#endif
}

/* In checked builds: the box is that of the item, and contains the one that it is made from. */
static inline void broad_check_rounded(const carom_broad_space *space, const carom_bounds *b,
                                       const carom_box *box, bool exact) {
#ifdef CAROM_CHECKS
    carom_box item = carom_broad_round(space, b);
    for (int k = 0; k < 3; ++k)
        CAROM_ASSERT(box->low[k] == item.low[k] && box->high[k] == item.high[k]);
    if (!space->plain || carom_bounds_is_empty(b)) return;
    CAROM_ASSERT((double)box->low[0] <= b->low.x && (double)box->high[0] >= b->high.x);
    CAROM_ASSERT((double)box->low[1] <= b->low.y && (double)box->high[1] >= b->high.y);
    CAROM_ASSERT((double)box->low[2] <= b->low.z && (double)box->high[2] >= b->high.z);
    CAROM_ASSERT(!exact || carom_broad_is_exact(box, b));
#else
    (void)space, (void)b, (void)box, (void)exact;
#endif
}

bool CAROM_CPU(carom_broad_round_all)(const carom_broad_space *space, const carom_bounds *boxes,
                                      const uint32_t *ids, uint32_t first, uint32_t count,
                                      carom_box *rounded) {
    bool exact = space->plain;
    for (uint32_t i = 0; i < count; ++i) {
        if (ids != NULL && i + BROAD_PREFETCH_BOXES < count) {
            const carom_bounds *next = &boxes[ids[i + BROAD_PREFETCH_BOXES]];
            __builtin_prefetch(&next->low);
            __builtin_prefetch(&next->high.z);
        }
        const carom_bounds *b = &boxes[ids != NULL ? ids[i] : first + i];
        if (space->plain)
            exact &= round_plain(b, &rounded[i]);
        else
            rounded[i] = carom_broad_round(space, b);
        broad_check_rounded(space, b, &rounded[i], exact);
    }
    return exact;
}
