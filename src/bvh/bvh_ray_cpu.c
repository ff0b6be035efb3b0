/* SPDX-License-Identifier: MIT */
/* Ray traversal of the box tree: sixteen boxes at a time, nearest first.
 *
 * A box is met where the ray's parameter lies between the largest of three entries and the least of
 * three exits (Kay, Kajiya, "Ray tracing complex scenes", 1986). The side at which the ray enters a
 * box follows from the sign of its direction and is the same for all boxes. The test is in doubles
 * and conservative: boxes are widened by the margin, which exceeds the rounding error of
 * `end - from`, and an exit is multiplied by 1 + 2^-48, which exceeds the roundings of 1 /
 * direction, of its product, and of the entry it is compared with.
 *
 * An axis along which the direction's component is below 2^-60 would need an infinite reciprocal.
 * Within the tree the ray moves along this axis by less than the margin, so the reciprocal is
 * replaced by 2^60: a side that the ray has not passed counts as infinitely far, and one that it
 * has passed by half the margin counts as farther away than the tree is wide. */
#include "bvh/bvh_ray_cpu.h"

#include <math.h>

#include "base/simd.h"

typedef struct bvh_ray_cpu_open_node {
    double enters;
    uint32_t level, index;
} bvh_ray_cpu_open_node;

/* Returns a bit mask of the boxes that the ray meets, and computes where it enters each. Empty
 * boxes are never met. */
static inline uint32_t enter_node(const carom_bvh_node *node, const carom_bvh_slabs *s,
                                  double limit, double enters[CAROM_BVH_WIDTH]) {
    const float *near[3], *far[3];
    uint32_t lanes = 0;
    for (int k = 0; k < 3; ++k) {
        near[k] = s->backward[k] ? node->high[k] : node->low[k];
        far[k] = s->backward[k] ? node->low[k] : node->high[k];
    }
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES64) {
        carom_f64v first = carom_f64v_splat(0.0), last = carom_f64v_splat(limit);
        for (int k = 0; k < 3; ++k) {
            carom_f64v in = (carom_f64v_floats(near[k] + at) - s->enter[k]) * s->inverse[k];
            carom_f64v out = (carom_f64v_floats(far[k] + at) - s->leave[k]) * s->inverse[k];
            first = carom_f64v_max(in, first);
            last = carom_f64v_min(out * (1.0 + CAROM_RAY_LEAVE_MARGIN), last);
        }
        memcpy(enters + at, &first, sizeof(first));
        lanes |= carom_lanes_of64(first <= last) << at;
    }
    return lanes;
}

uint64_t CAROM_CPU(carom_bvh_cast)(const carom_bvh *bvh, const carom_bvh_ray *ray, double limit,
                                   carom_bvh_slot_fn *visit, void *user) {
    bvh_ray_cpu_open_node stack[CAROM_BVH_LEVELS * CAROM_BVH_WIDTH];
    double enters[CAROM_BVH_WIDTH];
    uint32_t count = 0;
    uint64_t visits = 0;
    if (bvh->level_count == 0) return 0;
    carom_bvh_slabs s = carom_bvh_slabs_make(ray);
    stack[count++] = (bvh_ray_cpu_open_node){0.0, bvh->level_count - 1, 0};
    while (count > 0) {
        bvh_ray_cpu_open_node node = stack[--count];
        if (node.enters > limit) continue;
        uint32_t lanes =
            enter_node(&carom_bvh_level(bvh, node.level)[node.index], &s, limit, enters);
        uint32_t first = count;
        ++visits;
        for (; lanes != 0; lanes &= lanes - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(lanes);
            uint32_t child = node.index * CAROM_BVH_WIDTH + i, at = count;
            if (node.level == 0) {
                if (enters[i] <= limit) limit = visit(user, child);
                continue;
            }
            /* The nearest is pushed last. */
            for (++count; at > first && stack[at - 1].enters < enters[i]; --at)
                stack[at] = stack[at - 1];
            stack[at] = (bvh_ray_cpu_open_node){enters[i], node.level - 1, child};
        }
    }
    return visits;
}
