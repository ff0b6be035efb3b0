/* SPDX-License-Identifier: MIT */
/* bvh_group_cuda.h: the nearest triangles of 32 points that lie near each other, by one warp.
 *
 * A thread per point (bvh8_cuda.h) leaves its neighbours waiting wherever they take different
 * ways. Points that were sorted are near each other, and so are their triangles: here a warp goes
 * one way for all of them. Each lane compares one child of a node, or one triangle of a leaf, with
 * the box of all points; then each triangle that is left is compared with all points, one per lane.
 * On a cloth a warp opens 45 nodes of eight and measures 36 triangles for points within an edge,
 * where 32 threads wait for 62 nodes and 53 triangles of the slowest of them.
 *
 * Nodes are those of bvh_cuda.h, 32 children each, records those of bvh8_cuda.h. */
#ifndef CAROM_SRC_BVH_BVH_GROUP_CUDA_H
#define CAROM_SRC_BVH_BVH_GROUP_CUDA_H

#include "bvh/bvh8_cuda.h"

/* The largest extent of a box of points that are searched for together, in those of leaves: where
 * it is larger, more triangles matter to the group than threads visit. */
#define CAROM_GROUP_LEAVES 1.0f

/* Squared gaps between the children on the way down and the points, in shared memory: bits of
 * floats >= 0, UINT32_MAX: done. */
struct carom_group_way {
    uint32_t gap[CAROM_TREE_LEVELS][CAROM_WARP];
    float4 low[CAROM_WARP], high[CAROM_WARP]; /* of the triangles of a leaf */
};

/* The least of the bits of floats >= 0, or the largest, for all lanes. */
static __device__ inline float carom_group_largest(float x) {
    return __uint_as_float(__reduce_max_sync(~0u, __float_as_uint(x)));
}

struct carom_group_search {
    carom_bvh_cuda_tree from; /* of 32 children per node */
    carom_bvh8_tree tree;
    carom_bvh8_point q; /* of this lane */
    bool there;         /* this lane has one, and room for what it finds */
    bool full;          /* there was no room */
    float unit;
    float low[3], high[3]; /* of all points, enlarged by their margins */
    float limit, most;     /* of squared gaps of this lane's point; the largest of all lanes */

    /* The box of all points; returns its largest extent. */
    __device__ float begin() {
        float extent = 0.0f;
        for (int k = 0; k < 3; ++k) {
            low[k] = there ? q.at[k] - q.margin : HUGE_VALF;
            high[k] = there ? q.at[k] + q.margin : -HUGE_VALF;
            for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2) {
                low[k] = fminf(low[k], __shfl_xor_sync(~0u, low[k], step));
                high[k] = fmaxf(high[k], __shfl_xor_sync(~0u, high[k], step));
            }
            extent = fmaxf(extent, high[k] - low[k]);
        }
        full = false;
        most = HUGE_VALF;
        limit = there ? HUGE_VALF : -1.0f;
        return extent;
    }

    __device__ carom_box box(uint32_t level, uint32_t entry) const {
        carom_box found = carom_tree_entry(from.boxes[level], entry);
        for (int k = 0; k < 3; ++k) {
            found.low[k] *= unit;
            found.high[k] *= unit;
        }
        return found;
    }

    /* The squared gap between a box and all points, a lower bound; UINT32_MAX where no point needs
     * it. */
    __device__ uint32_t gap(const carom_box &b) const {
        float square = 0.0f;
        for (int k = 0; k < 3; ++k) {
            float apart = fmaxf(fmaxf(b.low[k] - high[k], low[k] - b.high[k]), 0.0f);
            square = __fmaf_rn(apart, apart, square);
        }
        /* An empty box is infinitely far. */
        return square <= most && square < HUGE_VALF ? __float_as_uint(square) : UINT32_MAX;
    }

    /* Whether this lane's point needs the box. */
    __device__ bool needs(const carom_box &b) const {
        float square = 0.0f;
        for (int k = 0; k < 3; ++k) {
            float apart = fmaxf(b.low[k] - q.at[k], q.at[k] - b.high[k]) - q.margin;
            apart = fmaxf(apart, 0.0f);
            square = __fmaf_rn(apart, apart, square);
        }
        return square <= limit;
    }

    /* Limits from the boxes of the first leaf: the triangle is not farther away than the farthest
     * corner of its box. */
    __device__ void seed(const carom_group_way &way, unsigned left) {
        for (; left != 0; left &= left - 1u) {
            unsigned lane = (unsigned)__ffs((int)left) - 1u;
            float4 lowest = way.low[lane], highest = way.high[lane];
            const float ends[3][2] = {
                {lowest.x, highest.x}, {lowest.y, highest.y}, {lowest.z, highest.z}};
            float square = 0.0f;
            for (int k = 0; k < 3; ++k) {
                float apart = fmaxf(q.at[k] - ends[k][0], ends[k][1] - q.at[k]) + q.margin;
                square = __fmaf_rn(apart, apart, square);
            }
            square =
                __fmaf_rn(square, 1.0f + 2.0f * CAROM_BVH8_SQUARE_MARGIN, CAROM_BVH8_UNDERFLOW);
            limit = fminf(limit, square);
        }
    }

    /* Compares the triangles of a leaf, one per lane, with the points. */
    __device__ void visit(carom_group_way &way, uint32_t leaf, carom_bvh8_found &found) {
        unsigned own = threadIdx.x % CAROM_WARP;
        uint32_t first = leaf * CAROM_WARP, slot = first + own;
        bool in_tree = slot < from.entries[0] &&
                       !carom_bvh8_left_out(tree.records + CAROM_BVH8_RECORD * (uint64_t)slot);
        carom_box mine = in_tree ? box(0, slot) : carom_box_empty();
        unsigned left = __ballot_sync(~0u, gap(mine) != UINT32_MAX);
        way.low[own] = make_float4(mine.low[0], mine.low[1], mine.low[2], 0.0f);
        way.high[own] = make_float4(mine.high[0], mine.high[1], mine.high[2], 0.0f);
        __syncwarp();
        if (most == HUGE_VALF) seed(way, left);
        for (; left != 0; left &= left - 1u) {
            unsigned lane = (unsigned)__ffs((int)left) - 1u;
            float4 lowest = way.low[lane], highest = way.high[lane];
            carom_box b = {{lowest.x, lowest.y, lowest.z}, {highest.x, highest.y, highest.z}};
            bool need = needs(b);
            if (!__any_sync(~0u, need)) continue;
            const float4 *record = tree.records + CAROM_BVH8_RECORD * (uint64_t)(first + lane);
            float lower, upper;
            carom_bvh8_distance(q, record, &lower, &upper);
            if (need && !found.offer(first + lane, lower, upper)) {
                full = true;
                limit = -1.0f;
            }
            limit = fminf(limit, __fmaf_rn(found.best * found.best, 1.0f + CAROM_BVH8_SQUARE_MARGIN,
                                           CAROM_BVH8_UNDERFLOW));
        }
        most = carom_group_largest(fmaxf(limit, 0.0f));
        __syncwarp(); /* before the next leaf is written */
    }

    /* Finds the triangles that may be nearest to the point of each lane; full: they are too
     * many. */
    __device__ void run(carom_group_way &way, carom_bvh8_found &found) {
        unsigned lane = threadIdx.x % CAROM_WARP;
        uint32_t top = from.levels - 1, level = top, node[CAROM_TREE_LEVELS];
        found.count = 0;
        found.best = HUGE_VALF;
#pragma unroll
        for (uint32_t i = 0; i < CAROM_TREE_LEVELS; ++i) node[i] = 0;
        way.gap[top][lane] = lane < from.entries[top] ? gap(box(top, lane)) : UINT32_MAX;
        for (;;) {
            uint32_t mine = way.gap[level][lane], least = __reduce_min_sync(~0u, mine);
            if (least == UINT32_MAX || __uint_as_float(least) > most) {
                if (level == top) break;
                ++level;
                continue;
            }
            unsigned next = (unsigned)__ffs((int)__ballot_sync(~0u, mine == least)) - 1u;
            uint32_t child = node[level] * CAROM_WARP + next;
            CAROM_ASSERT(child < from.entries[level]);
            if (lane == next) way.gap[level][lane] = UINT32_MAX;
            if (level == 1) {
                visit(way, child, found);
                continue;
            }
            --level;
            uint64_t entry = (uint64_t)child * CAROM_WARP + lane;
            way.gap[level][lane] =
                entry < from.entries[level] ? gap(box(level, (uint32_t)entry)) : UINT32_MAX;
            node[level] = child;
        }
        found.keep_near();
    }
};

#endif
