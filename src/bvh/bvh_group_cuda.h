/* SPDX-License-Identifier: MIT */
/* bvh_group_cuda.h: the nearest triangles of 32 points that lie near each other, by one warp.
 *
 * A thread per point (bvh_wide_cuda.h) leaves its neighbours waiting wherever they take different
 * ways. Points that were sorted are near each other, and so are their triangles: here a warp goes
 * one way for all of them. Each lane compares one child of a node, or one triangle of a leaf, with
 * the box of all points; then each triangle that is left is compared with all points, one per lane.
 * On a cloth a warp opens 45 nodes of eight and measures 36 triangles for points within an edge,
 * where 32 threads wait for 62 nodes and 53 triangles of the slowest of them.
 *
 * Nodes are those of bvh_cuda.h, 32 children each, records those of bvh_wide_cuda.h. */
#ifndef CAROM_SRC_BVH_BVH_GROUP_CUDA_H
#define CAROM_SRC_BVH_BVH_GROUP_CUDA_H

#include "bvh/bvh_wide_cuda.h"

/* The largest extent of a box of points that are searched for together, in those of leaves: where
 * it is larger, more triangles matter to the group than threads visit. */
#define CAROM_GROUP_LEAVES 2.0f

/* Squared gaps between the children on the way down and the points, in shared memory: bits of
 * floats >= 0, UINT32_MAX: done. */
struct carom_group_way {
    uint32_t gap[CAROM_TREE_LEVELS][CAROM_WARP];
};

/* The least of the bits of floats >= 0, or the largest, for all lanes. */
static __device__ inline float carom_group_largest(float x) {
    return __uint_as_float(__reduce_max_sync(~0u, __float_as_uint(x)));
}

struct carom_group_search {
    carom_bvh_cuda_tree from; /* of 32 children per node */
    carom_wide_tree tree;
    carom_wide_point q; /* of this lane */
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

    /* Compares the triangles of a leaf, one per lane, with the points. */
    __device__ void visit(uint32_t leaf, carom_wide_found &found) {
        uint32_t first = leaf * CAROM_WARP;
        uint32_t slot = first + threadIdx.x % CAROM_WARP;
        carom_box mine = slot < from.entries[0] ? box(0, slot) : carom_box_empty();
        unsigned left = __ballot_sync(~0u, gap(mine) != UINT32_MAX);
        for (; left != 0; left &= left - 1u) {
            unsigned lane = (unsigned)__ffs((int)left) - 1u;
            carom_box b;
            for (int k = 0; k < 3; ++k) {
                b.low[k] = __shfl_sync(~0u, mine.low[k], lane);
                b.high[k] = __shfl_sync(~0u, mine.high[k], lane);
            }
            bool need = needs(b);
            if (!__any_sync(~0u, need)) continue;
            const float4 *record = tree.records + CAROM_WIDE_RECORD * (uint64_t)(first + lane);
            if (carom_wide_left_out(record)) continue; /* all lanes read the same */
            float lower, upper;
            carom_wide_distance(q, record, &lower, &upper);
            if (need && !found.offer(first + lane, lower, upper)) {
                full = true;
                limit = -1.0f;
            }
            if (limit >= 0.0f)
                limit = __fmaf_rn(found.best * found.best, 1.0f + CAROM_WIDE_SQUARE_MARGIN,
                                  CAROM_WIDE_UNDERFLOW);
        }
        most = carom_group_largest(fmaxf(limit, 0.0f));
    }

    /* Finds the triangles that may be nearest to the point of each lane; full: they are too
     * many. */
    __device__ void run(carom_group_way &way, carom_wide_found &found) {
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
                visit(child, found);
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
