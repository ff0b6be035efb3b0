/* SPDX-License-Identifier: MIT */
/* bvh_layout_cuda.h: where the box tree of bvh_cuda.h lies in device memory, and the survey of a
 * sample of its items that chooses the space of their keys. */
#ifndef CAROM_SRC_BVH_BVH_LAYOUT_CUDA_H
#define CAROM_SRC_BVH_BVH_LAYOUT_CUDA_H

#include "base/device_cuda.h"
#include "bvh/bvh_item.h"

#define CAROM_TREE_LEVELS   8u                /* 32^7 > 2^32 items, and the items themselves */
#define CAROM_TREE_NODE     (6u * CAROM_WARP) /* floats */
#define CAROM_TREE_SAMPLE   1024u   /* items that are surveyed: one per thread of a block */
#define CAROM_TREE_OUTLIERS 4u      /* of the 32 warps of a survey, whose extremes are left out */
#define CAROM_TREE_MARGIN   0.0625f /* of the extent that is left, for what was left out */

struct carom_bvh_cuda_tree {
    uint32_t levels; /* of entries: items, leaves, ... */
    uint32_t entries[CAROM_TREE_LEVELS];
    float *boxes[CAROM_TREE_LEVELS];
    uint32_t *items; /* of each slot */
    uint32_t *sides; /* of each leaf: which of its items belong to the second of two sets; NULL:
                        one set */
};

/* ---- Layout ---------------------------------------------------------------------------------- */

/* The shape of a tree; returns the number of floats of all levels. */
static inline uint64_t carom_tree_shape(uint32_t count, carom_bvh_cuda_tree *tree) {
    uint64_t floats = 0, entries = count;
    tree->levels = 0;
    do {
        uint64_t nodes = (entries + CAROM_WARP - 1) / CAROM_WARP;
        /* the block that fills 32 leaves writes all of them */
        if (tree->levels == 0) nodes = (nodes + CAROM_WARP - 1) / CAROM_WARP * CAROM_WARP;
        tree->entries[tree->levels++] = (uint32_t)entries;
        floats += nodes * CAROM_TREE_NODE;
        entries = (entries + CAROM_WARP - 1) / CAROM_WARP;
    } while (tree->levels < 2 || tree->entries[tree->levels - 1] > CAROM_WARP);
    return floats;
}

/* Sets the addresses of the levels in memory of that size. */
static inline void carom_bvh_cuda_tree_lay_out(carom_bvh_cuda_tree *tree, float *memory) {
    for (uint32_t level = 0; level < tree->levels; ++level) {
        uint64_t nodes = ((uint64_t)tree->entries[level] + CAROM_WARP - 1) / CAROM_WARP;
        if (level == 0) nodes = (nodes + CAROM_WARP - 1) / CAROM_WARP * CAROM_WARP;
        tree->boxes[level] = memory;
        memory += nodes * CAROM_TREE_NODE;
    }
}

static __device__ inline carom_box carom_tree_entry(const float *boxes, uint32_t entry) {
    const float *node = boxes + (uint64_t)(entry / CAROM_WARP) * CAROM_TREE_NODE;
    carom_box box;
    for (int k = 0; k < 3; ++k) {
        box.low[k] = node[k * CAROM_WARP + entry % CAROM_WARP];
        box.high[k] = node[(3 + k) * CAROM_WARP + entry % CAROM_WARP];
    }
    return box;
}

static __device__ inline void carom_tree_set(float *boxes, uint32_t entry, const carom_box &box) {
    float *node = boxes + (uint64_t)(entry / CAROM_WARP) * CAROM_TREE_NODE;
    for (int k = 0; k < 3; ++k) {
        node[k * CAROM_WARP + entry % CAROM_WARP] = box.low[k];
        node[(3 + k) * CAROM_WARP + entry % CAROM_WARP] = box.high[k];
    }
}

/* The box of the boxes of all lanes, for all lanes. */
static __device__ inline carom_box carom_warp_join(carom_box box) {
    for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2)
        for (int k = 0; k < 3; ++k) {
            box.low[k] = fminf(box.low[k], __shfl_xor_sync(~0u, box.low[k], step));
            box.high[k] = fmaxf(box.high[k], __shfl_xor_sync(~0u, box.high[k], step));
        }
    return box;
}

/* ---- Survey ---------------------------------------------------------------------------------- */

/* The value of rank `rank` among the 32 lanes' values. */
static __device__ inline float carom_warp_select(float value, unsigned rank) {
    unsigned lane = threadIdx.x % CAROM_WARP, below = 0;
    for (unsigned i = 0; i < CAROM_WARP; ++i) {
        float other = __shfl_sync(~0u, value, i);
        below += other < value || (other == value && i < lane) ? 1u : 0u;
    }
    return __shfl_sync(~0u, value, __ffs(__ballot_sync(~0u, below == rank)) - 1);
}

/* Chooses the space of the keys from a sample that is evenly spaced, in one block: the median
 * extent, and bounds of the centres of items that are not much larger. The bounds leave out the
 * few most extreme centres, so that some items far away do not force all others into one cell. */
template <typename BOXES>
static __device__ void carom_tree_survey_block(const BOXES &boxes, uint32_t count,
                                               carom_bvh_space *space) {
    __shared__ unsigned histogram[CAROM_BVH_EXPONENTS];
    __shared__ float bounds[6][CAROM_WARP];
    __shared__ int median;
    unsigned lane = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
    uint32_t sampled = count < CAROM_TREE_SAMPLE ? count : CAROM_TREE_SAMPLE;
    carom_box box = carom_box_empty();
    for (unsigned i = threadIdx.x; i < CAROM_BVH_EXPONENTS; i += blockDim.x) histogram[i] = 0;
    unsigned rank = lane * CAROM_WARP + warp; /* so that every warp samples all of the set */
    if (rank < sampled) box = boxes.box((uint32_t)((uint64_t)rank * count / sampled));
    bool used = box.low[0] <= box.high[0];
    __syncthreads();
    int size = used ? (int)carom_bvh_size(&box) : -1;
    unsigned same = __match_any_sync(~0u, size); /* most boxes may have one size */
    if (used && lane == (unsigned)__ffs((int)same) - 1u)
        atomicAdd(&histogram[size], (unsigned)__popc(same));
    __syncthreads();
    if (warp == 0) { /* each lane adds up eight exponents */
        unsigned mine = 0, before, total;
        for (unsigned i = 0; i < 8; ++i) mine += histogram[8 * lane + i];
        before = mine;
        for (unsigned step = 1; step < CAROM_WARP; step *= 2) {
            unsigned left = __shfl_up_sync(~0u, before, step);
            if (lane >= step) before += left;
        }
        total = __shfl_sync(~0u, before, CAROM_WARP - 1);
        before -= mine;
        if (lane == 0) median = 0;
        __syncwarp();
        if (before <= total / 2 && total / 2 < before + mine)
            for (unsigned i = 0; i < 8; before += histogram[8 * lane + i++])
                if (before <= total / 2) median = (int)(8 * lane + i);
    }
    __syncthreads();
    used = used && size < median + CAROM_BVH_CLASS_STEP;
    carom_box centre = carom_box_empty();
    for (int k = 0; k < 3 && used; ++k) centre.low[k] = centre.high[k] = carom_bvh_centre(&box, k);
    centre = carom_warp_join(centre);
    if (lane == 0)
        for (int k = 0; k < 3; ++k) {
            bounds[k][warp] = centre.low[k];
            bounds[3 + k][warp] = -centre.high[k];
        }
    __syncthreads();
    __shared__ float chosen[6];
    if (warp < 6) { /* of each end of each axis, the extreme that few of the 32 warps exceed */
        float end = carom_warp_select(bounds[warp][lane],
                                      sampled == CAROM_TREE_SAMPLE ? CAROM_TREE_OUTLIERS : 0);
        if (lane == 0) chosen[warp] = end;
    }
    __syncthreads();
    if (threadIdx.x < 3) {
        float low = chosen[threadIdx.x], high = -chosen[3 + threadIdx.x];
        float margin = (high - low) * CAROM_TREE_MARGIN;
        if (!(low <= high)) low = high = margin = 0.0f;
        space->low[threadIdx.x] = low - margin;
        space->scale[threadIdx.x] = carom_bvh_scale(low - margin, high + margin);
        space->size_class[threadIdx.x] = median + (int)(threadIdx.x + 1) * CAROM_BVH_CLASS_STEP;
    }
}

#endif
