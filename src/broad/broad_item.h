/* SPDX-License-Identifier: MIT */
/* broad_item.h: the decisions of the broad phase: rounding a box to float32, whether boxes overlap,
 * whether filters allow a pair. As functions for CPU and GPU. */
#ifndef CAROM_SRC_BROAD_BROAD_ITEM_H
#define CAROM_SRC_BROAD_BROAD_ITEM_H

#include <stdbool.h>

#include "carom/broad.h"
#include "geom/box.h"
#include "geom/scale.h"

/* The frame of the float32 boxes: x scale - origin, scale a power of two. */
typedef struct carom_broad_space {
    double scale, origin[3];
    bool plain; /* scale is 1 and the origin 0 */
} carom_broad_space;

/* Products smaller than this may have lost bits to underflow. */
#define CAROM_BROAD_LEAST_PRODUCT 0x1p-1000

CAROM_ITEM bool carom_bounds_is_empty(const carom_bounds *b) {
    return !(b->low.x <= b->high.x && b->low.y <= b->high.y && b->low.z <= b->high.z);
}

/* Whether two boxes that are not empty overlap, touching included. */
CAROM_ITEM bool carom_bounds_overlap(const carom_bounds *a, const carom_bounds *b) {
    return (a->low.x <= b->high.x) & (b->low.x <= a->high.x) & (a->low.y <= b->high.y) &
           (b->low.y <= a->high.y) & (a->low.z <= b->high.z) & (b->low.z <= a->high.z);
}

/* Coordinates so many extents from 0 lose four bits and more of the 24 of a float32: they are then
 * taken relative to their middle. */
#define CAROM_BROAD_ORIGIN_EXTENTS 16.0

/* Exponent of the largest scale, which is finite and brings denormal doubles to 2^-74 or more. */
#define CAROM_BROAD_SCALE_EXPONENT 1000

CAROM_ITEM double carom_broad_origin(double low, double high) {
    double middle = 0.5 * low + 0.5 * high, extent = high - low;
    double size = CAROM_MAX(fabs(low), fabs(high));
    if (!(size > CAROM_BROAD_ORIGIN_EXTENTS * extent) || !(extent >= 0.0)) return 0.0;
    return middle;
}

/* A frame for boxes within these bounds, which are finite. */
CAROM_ITEM carom_broad_space carom_broad_choose_space(const carom_bounds *bounds) {
    carom_broad_space space = {1.0, {0.0, 0.0, 0.0}, true};
    if (carom_bounds_is_empty(bounds)) return space;
    const double x[6] = {bounds->low.x,  bounds->low.y,  bounds->low.z,
                         bounds->high.x, bounds->high.y, bounds->high.z};
    double size = 0.0;
    for (int i = 0; i < 6; ++i) size = CAROM_MAX(fabs(x[i]), size);
    int exponent = carom_scale_range_add(carom_scale_range_empty(), size).high; /* < 2^exponent */
    if (size != 0.0 && (exponent <= CAROM_SCALE_LOW || exponent > CAROM_SCALE_HIGH))
        space.scale = carom_power_of_two(CAROM_MIN(-exponent, CAROM_BROAD_SCALE_EXPONENT));
    for (int k = 0; k < 3; ++k)
        space.origin[k] = carom_broad_origin(x[k] * space.scale, x[3 + k] * space.scale);
    space.plain = space.scale == 1.0 && space.origin[0] == 0.0 && space.origin[1] == 0.0 &&
                  space.origin[2] == 0.0;
    return space;
}

/* A float at most x in the frame. */
CAROM_ITEM float carom_broad_down(const carom_broad_space *space, int axis, double x) {
    double y = x * space->scale;
    if (x < 0.0 && y > -CAROM_BROAD_LEAST_PRODUCT)
        y = -CAROM_BROAD_LEAST_PRODUCT; /* bits may be lost */
    return carom_float_down(y, space->origin[axis]);
}

CAROM_ITEM float carom_broad_up(const carom_broad_space *space, int axis, double x) {
    double y = x * space->scale;
    if (x > 0.0 && y < CAROM_BROAD_LEAST_PRODUCT) y = CAROM_BROAD_LEAST_PRODUCT;
    return carom_float_up(y, space->origin[axis]);
}

/* The float32 box in the frame that contains a box. */
CAROM_ITEM carom_box carom_broad_round(const carom_broad_space *space, const carom_bounds *b) {
    carom_box box;
    if (carom_bounds_is_empty(b)) return carom_box_empty();
    box.low[0] = carom_broad_down(space, 0, b->low.x);
    box.low[1] = carom_broad_down(space, 1, b->low.y);
    box.low[2] = carom_broad_down(space, 2, b->low.z);
    box.high[0] = carom_broad_up(space, 0, b->high.x);
    box.high[1] = carom_broad_up(space, 1, b->high.y);
    box.high[2] = carom_broad_up(space, 2, b->high.z);
    return box;
}

/* Whether the float32 box is the box itself, in a plain frame. */
CAROM_ITEM bool carom_broad_is_exact(const carom_box *box, const carom_bounds *b) {
    return (double)box->low[0] == b->low.x && (double)box->low[1] == b->low.y &&
           (double)box->low[2] == b->low.z && (double)box->high[0] == b->high.x &&
           (double)box->high[1] == b->high.y && (double)box->high[2] == b->high.z;
}

CAROM_ITEM bool carom_broad_allows(carom_broad_filter a, carom_broad_filter b) {
    uint32_t group_a = a.group != 0 ? a.group : ~0u, mask_a = a.mask != 0 ? a.mask : ~0u;
    uint32_t group_b = b.group != 0 ? b.group : ~0u, mask_b = b.mask != 0 ? b.mask : ~0u;
    return (group_a & mask_b) != 0 && (group_b & mask_a) != 0;
}

#endif
