/* SPDX-License-Identifier: MIT */
/* bvh_ray_item.h: a ray in the frame of a box tree, as items for CPU and GPU (bvh_ray_cpu.c
 * explains the test of its boxes). */
#ifndef CAROM_SRC_BVH_BVH_RAY_ITEM_H
#define CAROM_SRC_BVH_BVH_RAY_ITEM_H

#include <math.h>
#include <stdbool.h>

#include "base/item.h"

/* The ray from + s direction, s >= 0, in the tree's frame. Coordinates are up to 2^200, and the
 * largest component of the direction is 1 or -1. `margin` is an upper bound of the distance of the
 * true ray from this one anywhere in the tree, plus at least 2^-48 of the largest coordinate in the
 * tree and in `from`. */
typedef struct carom_bvh_ray {
    double from[3], direction[3], margin;
} carom_bvh_ray;

/* The margin of a ray whose position is unknown: it passes through every slot. `from` is then 0.
 * Boxes are floats, below 2^128. */
#define CAROM_BVH_EVERYWHERE 0x1p200

/* Part of an advance by which rounding may make it, or the entry into a box, wrong: the bound of a
 * hit has some dozens of roundings of 2^-53. */
#define CAROM_BVH_ADVANCE_ERROR 0x1p-45

/* The s up to which to search for what is met at `advance` at the latest. */
CAROM_ITEM double carom_bvh_ray_limit(double advance, double margin) {
    return advance + (CAROM_BVH_ADVANCE_ERROR * fabs(advance) + margin);
}

#define CAROM_RAY_LEAST_COMPONENT 0x1p-60 /* of the largest component, which is 1 */
#define CAROM_RAY_LEAVE_MARGIN    0x1p-48 /* relative: a few roundings of entries and exits */

typedef struct carom_bvh_slabs {
    double enter[3], leave[3]; /* the ray's origin, shifted by the margin, for entries and exits */
    double inverse[3];
    bool backward[3];
} carom_bvh_slabs;

CAROM_ITEM carom_bvh_slabs carom_bvh_slabs_make(const carom_bvh_ray *ray) {
    carom_bvh_slabs s;
    for (int k = 0; k < 3; ++k) {
        bool along = fabs(ray->direction[k]) < CAROM_RAY_LEAST_COMPONENT;
        s.backward[k] = !along && ray->direction[k] < 0.0;
        s.inverse[k] = along ? 1.0 / CAROM_RAY_LEAST_COMPONENT : 1.0 / ray->direction[k];
        s.enter[k] = s.backward[k] ? ray->from[k] - ray->margin : ray->from[k] + ray->margin;
        s.leave[k] = s.backward[k] ? ray->from[k] + ray->margin : ray->from[k] - ray->margin;
    }
    return s;
}

#endif
