/* SPDX-License-Identifier: MIT */
/* box.h: float32 boxes relative to a double origin, rounded outwards, as items.
 *
 * Invariant: a box contains its input in exact arithmetic: origin[k] + low[k] <= x[k], whatever was
 * rounded. So two objects that meet have boxes that overlap, if both are relative to one origin. */
#ifndef CAROM_SRC_GEOM_BOX_H
#define CAROM_SRC_GEOM_BOX_H

#include <float.h>
#include <stdint.h>
#include <string.h>

#include "geom/expansion.h"
#include "geom/vec.h"

typedef struct carom_box {
    float low[3], high[3];
} carom_box;

/* The next float below; -infinity stays. */
CAROM_ITEM float carom_float_below(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    if (bits == UINT32_C(0xff800000)) return x;
    bits = (bits << 1) == 0 ? UINT32_C(0x80000001) : bits >> 31 != 0 ? bits + 1 : bits - 1;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* A float at most x - origin: the largest such float or the one before it. Finite x and origin. */
CAROM_ITEM float carom_float_down(double x, double origin) {
    double d, rest;
    carom_two_diff(x, origin, &d, &rest);
    if (d > (double)FLT_MAX) return FLT_MAX;
    if (d < -(double)FLT_MAX) return -HUGE_VALF;
    float f = (float)d;
    return (double)f > d || ((double)f == d && rest < 0.0) ? carom_float_below(f) : f;
}

/* A float at least x - origin. */
CAROM_ITEM float carom_float_up(double x, double origin) {
    return -carom_float_down(-x, -origin);
}

CAROM_ITEM carom_box carom_box_empty(void) {
    carom_box box;
    for (int k = 0; k < 3; ++k) {
        box.low[k] = HUGE_VALF;
        box.high[k] = -HUGE_VALF;
    }
    return box;
}

CAROM_ITEM carom_box carom_box_join(carom_box a, carom_box b) {
    for (int k = 0; k < 3; ++k) {
        a.low[k] = CAROM_MIN(a.low[k], b.low[k]);
        a.high[k] = CAROM_MAX(a.high[k], b.high[k]);
    }
    return a;
}

/* The box enlarged on all sides by a reach, which allows for the rounding and may be infinite. What
 * overflows stays finite, because the bounds of an empty box, which it must not overlap, are
 * infinite. An empty box stays empty or gets NaNs: it overlaps nothing either way. */
CAROM_ITEM carom_box carom_box_enlarge(carom_box box, float reach) {
    for (int k = 0; k < 3; ++k) {
        float low = box.low[k] - reach, high = box.high[k] + reach;
        box.low[k] = CAROM_MAX(-FLT_MAX, low);
        box.high[k] = CAROM_MIN(FLT_MAX, high);
    }
    return box;
}

/* The box of everything between two corners, low <= high. */
CAROM_ITEM carom_box carom_box_of_bounds(carom_vec3 low, carom_vec3 high, carom_vec3 origin) {
    carom_box box;
    box.low[0] = carom_float_down(low.x, origin.x);
    box.low[1] = carom_float_down(low.y, origin.y);
    box.low[2] = carom_float_down(low.z, origin.z);
    box.high[0] = carom_float_up(high.x, origin.x);
    box.high[1] = carom_float_up(high.y, origin.y);
    box.high[2] = carom_float_up(high.z, origin.z);
    return box;
}

CAROM_ITEM carom_box carom_box_of_triangle(const carom_triangle *t, carom_vec3 origin) {
    carom_vec3 low = t->corner[0], high = t->corner[0];
    for (int i = 1; i < 3; ++i) {
        carom_vec3 p = t->corner[i];
        low = carom_vec(CAROM_MIN(low.x, p.x), CAROM_MIN(low.y, p.y), CAROM_MIN(low.z, p.z));
        high = carom_vec(CAROM_MAX(high.x, p.x), CAROM_MAX(high.y, p.y), CAROM_MAX(high.z, p.z));
    }
    return carom_box_of_bounds(low, high, origin);
}

/* Whether closed boxes overlap, touching included. Empty boxes overlap nothing. */
CAROM_ITEM int carom_box_overlap(const carom_box *a, const carom_box *b) {
    return (a->low[0] <= b->high[0]) & (b->low[0] <= a->high[0]) & (a->low[1] <= b->high[1]) &
           (b->low[1] <= a->high[1]) & (a->low[2] <= b->high[2]) & (b->low[2] <= a->high[2]);
}

#endif
