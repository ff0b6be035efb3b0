/* SPDX-License-Identifier: MIT */
/* Search for the boxes nearest to a point: sixteen at a time, nearest first.
 *
 * Branch and bound (Roussopoulos, Kelley, Vincent, "Nearest neighbor queries", 1995). The lower
 * bound of the distance to a box is computed in doubles: along each axis it is the gap less the
 * margin, which exceeds the rounding error of the gap. For the rounding of squares and sums, 2^-48
 * of the sum of squares is allowed. Squares are compared, not distances. */
#include "bvh/bvh_nearest_cpu.h"

#include <math.h>

#include "base/simd.h"

typedef struct open_node {
    double bound; /* squared lower bound of the distance of all descendants */
    uint32_t level, index;
} open_node;

/* The value that squared bounds are compared with; negative for a negative limit. 2^-1060 exceeds
 * the error of squares and sums that underflow. */
static double square_of(double limit) {
    return limit < 0.0 ? -1.0 : limit * limit * (1.0 + 0x1p-46) + 0x1p-1060;
}

/* Computes the squared bounds of 16 boxes; returns a bit mask of those within the limit. Empty
 * boxes are infinitely far and never within it. */
static inline uint32_t bound_node(const carom_bvh_node *node, const carom_bvh_point *point,
                                  double limit, double bounds[CAROM_BVH_WIDTH]) {
    uint32_t lanes = 0;
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES64) {
        carom_f64v squares = carom_f64v_splat(0.0);
        for (int k = 0; k < 3; ++k) {
            carom_f64v below = carom_f64v_floats(node->low[k] + at) - point->at[k];
            carom_f64v above = point->at[k] - carom_f64v_floats(node->high[k] + at);
            carom_f64v apart = carom_f64v_max(below, above) - point->margin;
            apart = carom_f64v_max(apart, carom_f64v_splat(0.0));
            squares += apart * apart;
        }
        memcpy(bounds + at, &squares, sizeof(squares));
        carom_i64v within = (squares <= limit) & (squares < HUGE_VAL);
        lanes |= carom_lanes_of64(within) << at;
    }
    return lanes;
}

uint64_t CAROM_CPU(carom_bvh_nearest)(const carom_bvh *bvh, const carom_bvh_point *point,
                                      double limit, carom_bvh_near_fn *visit, void *user) {
    open_node stack[CAROM_BVH_LEVELS * CAROM_BVH_WIDTH];
    double bounds[CAROM_BVH_WIDTH], most = square_of(limit);
    uint32_t count = 0;
    uint64_t visits = 0;
    if (bvh->level_count == 0) return 0;
    stack[count++] = (open_node){0.0, bvh->level_count - 1, 0};
    while (count > 0) {
        open_node node = stack[--count];
        if (node.bound > most) continue;
        uint32_t lanes =
            bound_node(&carom_bvh_level(bvh, node.level)[node.index], point, most, bounds);
        uint32_t first = count;
        ++visits;
        if (node.level == 0) {
            if (lanes != 0) most = square_of(visit(user, node.index, lanes));
            continue;
        }
        for (; lanes != 0; lanes &= lanes - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(lanes);
            uint32_t child = node.index * CAROM_BVH_WIDTH + i, at = count;
            /* The nearest is pushed last. */
            for (++count; at > first && stack[at - 1].bound < bounds[i]; --at)
                stack[at] = stack[at - 1];
            stack[at] = (open_node){bounds[i], node.level - 1, child};
        }
    }
    return visits;
}
