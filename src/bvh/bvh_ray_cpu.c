/* SPDX-License-Identifier: MIT */
/* A ray through the box tree: sixteen boxes at a time, nearest first.
 *
 * A box is met where the ray's parameter lies between the largest of three entries and the least of
 * three exits (Kay, Kajiya, "Ray tracing complex scenes", 1986). Which end of a box the ray enters
 * follows from the sign of its way and is the same for all boxes. Everything is in doubles, and
 * errs on the safe side: boxes are widened by the margin, more than the difference `end - from` can
 * be off, and an exit is multiplied by 1 + 2^-48, more than the roundings of 1 / way, of its
 * product, and of the entry it is compared with.
 *
 * An axis along which the way is below 2^-60 would need an infinite reciprocal. Within the tree the
 * ray moves along it by less than the margin, so that 2^60 does as well: an end that the ray is not
 * past counts as infinitely far, one that it is past by half the margin as farther than the tree is
 * wide. */
#include "bvh/bvh_ray_cpu.h"

#include <math.h>

#include "base/simd.h"

#define LEAST_WAY 0x1p-60

typedef struct slabs {
    double enter[3], leave[3]; /* where the ray starts, for ends where it enters and leaves */
    double inverse[3];
    bool backward[3];
} slabs;

typedef struct open_node {
    double enters;
    uint32_t level, number;
} open_node;

static slabs slabs_make(const carom_bvh_ray *ray) {
    slabs s;
    for (int k = 0; k < 3; ++k) {
        bool along = fabs(ray->way[k]) < LEAST_WAY;
        s.backward[k] = !along && ray->way[k] < 0.0;
        s.inverse[k] = along ? 1.0 / LEAST_WAY : 1.0 / ray->way[k];
        s.enter[k] = s.backward[k] ? ray->from[k] - ray->margin : ray->from[k] + ray->margin;
        s.leave[k] = s.backward[k] ? ray->from[k] + ray->margin : ray->from[k] - ray->margin;
    }
    return s;
}

/* The boxes that are met, as bits, and where each is entered. Empty boxes are entered nowhere. */
static inline uint32_t enter_node(const carom_bvh_node *node, const slabs *s, double limit,
                                  double enters[CAROM_BVH_WIDTH]) {
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
            last = carom_f64v_min(out * (1.0 + 0x1p-48), last);
        }
        memcpy(enters + at, &first, sizeof(first));
        lanes |= carom_lanes_of64(first <= last) << at;
    }
    return lanes;
}

uint64_t CAROM_CPU(carom_bvh_cast)(const carom_bvh *bvh, const carom_bvh_ray *ray, double limit,
                                   carom_bvh_place_fn *visit, void *user) {
    open_node stack[CAROM_BVH_LEVELS * CAROM_BVH_WIDTH];
    double enters[CAROM_BVH_WIDTH];
    uint32_t count = 0;
    uint64_t visits = 0;
    if (bvh->level_count == 0) return 0;
    slabs s = slabs_make(ray);
    stack[count++] = (open_node){0.0, bvh->level_count - 1, 0};
    while (count > 0) {
        open_node node = stack[--count];
        if (node.enters > limit) continue;
        uint32_t lanes =
            enter_node(&carom_bvh_level(bvh, node.level)[node.number], &s, limit, enters);
        uint32_t first = count;
        ++visits;
        for (; lanes != 0; lanes &= lanes - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(lanes);
            uint32_t child = node.number * CAROM_BVH_WIDTH + i, at = count;
            if (node.level == 0) {
                if (enters[i] <= limit) limit = visit(user, child);
                continue;
            }
            /* The nearest is pushed last. */
            for (++count; at > first && stack[at - 1].enters < enters[i]; --at)
                stack[at] = stack[at - 1];
            stack[at] = (open_node){enters[i], node.level - 1, child};
        }
    }
    return visits;
}
