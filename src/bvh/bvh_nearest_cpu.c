/* SPDX-License-Identifier: MIT */
/* Search for the boxes nearest to a point: sixteen at a time, nearest first.
 *
 * Branch and bound (Roussopoulos, Kelley, Vincent, "Nearest neighbor queries", 1995). The lower
 * bound of the distance to a box is computed in doubles: along each axis it is the gap less the
 * margin, which exceeds the rounding error of the gap. For the rounding of squares and sums, 2^-48
 * of the sum of squares is allowed. Squares are compared, not distances.
 *
 * Where squares fit floats, floats are used instead of doubles: twice as many at a time. The margin
 * then includes the rounding of the point, and 2^-20 of the sum of squares is allowed. */
#include "bvh/bvh_nearest_cpu.h"

#include <float.h>
#include <math.h>

#include "base/simd.h"
#include "bvh/bvh_nearest_item.h"

typedef struct bvh_nearest_cpu_open_node {
    double bound; /* squared lower bound of the distance of all descendants */
    uint32_t level, index;
} bvh_nearest_cpu_open_node;

/* Coordinates of the tree and the point are at most 2^48 of the margin: so below 2^60, where
 * squares of sums do not overflow. */
#define MOST_FLOAT_MARGIN 0x1p12

/* Lower bounds of the squared distances of sixteen boxes. */
typedef struct node_bounds {
    bool is_float;
    float floats[CAROM_BVH_WIDTH];
    double doubles[CAROM_BVH_WIDTH];
} node_bounds;

static inline double bound_at(const node_bounds *bounds, uint32_t lane) {
    return bounds->is_float ? carom_nearest_lower(bounds->floats[lane]) : bounds->doubles[lane];
}

/* Defines bounds in a scalar type; they return a bit mask of those within the limit. Empty boxes
 * are infinitely far and never within it. `load` makes `width` lanes of floats. */
#define DEFINE_NODE_BOUND(name, scalar, point_type, vector, width, load, lanes_of)                 \
    static inline uint32_t name(const carom_bvh_node *node, const point_type *point, scalar limit, \
                                scalar bounds[CAROM_BVH_WIDTH]) {                                  \
        uint32_t lanes = 0;                                                                        \
        for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += width) {                                 \
            vector squares = vector##_splat(0);                                                    \
            for (int k = 0; k < 3; ++k) {                                                          \
                vector below = load(node->low[k] + at) - point->at[k];                             \
                vector above = point->at[k] - load(node->high[k] + at);                            \
                vector apart = vector##_max(below, above) - point->margin;                         \
                apart = vector##_max(apart, vector##_splat(0));                                    \
                squares += apart * apart;                                                          \
            }                                                                                      \
            vector##_store(bounds + at, squares);                                                  \
            lanes |= lanes_of((squares <= limit) & (squares < (scalar)HUGE_VAL)) << at;            \
        }                                                                                          \
        return lanes;                                                                              \
    }
DEFINE_NODE_BOUND(bound_in_floats, float, carom_nearest_point, carom_f32v, CAROM_LANES,
                  carom_f32v_load, carom_lanes_of)
DEFINE_NODE_BOUND(bound_in_doubles, double, carom_bvh_point, carom_f64v, CAROM_LANES64,
                  carom_f64v_floats, carom_lanes_of64)

uint64_t CAROM_CPU(carom_bvh_nearest)(const carom_bvh *bvh, const carom_bvh_point *point,
                                      double limit, carom_bvh_near_fn *visit, void *user) {
    bvh_nearest_cpu_open_node stack[CAROM_BVH_LEVELS * CAROM_BVH_WIDTH];
    double most = carom_nearest_square(limit);
    carom_nearest_point floats = carom_nearest_point_make(point->at, point->margin);
    node_bounds bounds = {.is_float = point->margin < MOST_FLOAT_MARGIN};
    uint32_t count = 0;
    uint64_t visits = 0;
    if (bvh->level_count == 0) return 0;
    stack[count++] = (bvh_nearest_cpu_open_node){0.0, bvh->level_count - 1, 0};
    while (count > 0) {
        bvh_nearest_cpu_open_node node = stack[--count];
        if (node.bound > most) continue;
        const carom_bvh_node *boxes = &carom_bvh_level(bvh, node.level)[node.index];
        uint32_t lanes =
            bounds.is_float
                ? bound_in_floats(boxes, &floats, carom_nearest_float_limit(most), bounds.floats)
                : bound_in_doubles(boxes, point, most, bounds.doubles);
        uint32_t first = count;
        ++visits;
        if (node.level == 0) {
            if (lanes != 0) most = carom_nearest_square(visit(user, node.index, lanes));
            continue;
        }
        for (; lanes != 0; lanes &= lanes - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(lanes);
            uint32_t child = node.index * CAROM_BVH_WIDTH + i, at = count;
            double bound = bound_at(&bounds, i);
            /* The nearest is pushed last. */
            for (++count; at > first && stack[at - 1].bound < bound; --at)
                stack[at] = stack[at - 1];
            stack[at] = (bvh_nearest_cpu_open_node){bound, node.level - 1, child};
        }
    }
    return visits;
}
