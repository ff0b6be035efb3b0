/* SPDX-License-Identifier: MIT */
/* bvh_cuda.h: the box tree on the GPU: built from scratch in every frame, then searched for all
 * pairs of items whose boxes overlap.
 *
 * Items are sorted along the same curve as on the CPU and cut into leaves of 32, one per lane of a
 * warp; every level above is 32 boxes of the level below. An entry is one box: of an item on level
 * 0, of a leaf on level 1. Entry e lies in node e / 32 of its level, and node m is entry m of the
 * level above. A node is six rows of 32 floats.
 *
 * The search has two steps, so that no warp is left with the work of an item that overlaps all
 * others. First each leaf looks for the leaves, itself and later ones, whose boxes overlap its own,
 * from the root down: a list of pairs of leaves. Then each of these pairs is searched by one warp:
 * only items that overlap the other leaf's box are compared. The candidates are places, positions
 * in the sorted order. Which place an item has depends on how sorting resolves equal keys, and
 * that is by their index: all steps but the order of lists are deterministic. */
#ifndef CAROM_SRC_BVH_BVH_CUDA_H
#define CAROM_SRC_BVH_BVH_CUDA_H

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "base/device_cuda.h"
#include "bvh/bvh_item.h"

#define CAROM_TREE_LEVELS 8u                /* 32^7 > 2^32 items, and the items themselves */
#define CAROM_TREE_NODE   (6u * CAROM_WARP) /* floats */
#define CAROM_TREE_BLOCK  1024u             /* threads that fill 32 leaves: one node above them */
#define CAROM_TREE_SAMPLE 1024u             /* items that are surveyed: one per thread of a block */
#define CAROM_TREE_PAIRS  96u  /* pairs of leaves that a warp collects: three additions */
#define CAROM_TREE_FOUND  224u /* candidates that a warp collects */
#define CAROM_TREE_SHARE  4u   /* consecutive pairs of leaves that a warp takes */
#define CAROM_TREE_WARPS  4u   /* of a block that searches */

struct carom_tree {
    uint32_t levels; /* of entries: items, leaves, ... */
    uint32_t entries[CAROM_TREE_LEVELS];
    float *boxes[CAROM_TREE_LEVELS];
    uint32_t *items; /* of each place */
    uint32_t *sides; /* of each leaf: which of its items belong to the second of two sets; NULL:
                        one set */
};

/* ---- Layout ---------------------------------------------------------------------------------- */

/* The shape of a tree; returns the number of floats of all levels. */
static inline uint64_t carom_tree_shape(uint32_t count, carom_tree *tree) {
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
static inline void carom_tree_place(carom_tree *tree, float *memory) {
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

/* ---- Keys ------------------------------------------------------------------------------------ */

/* Spreads ten bits, with two zeros after each. */
static __device__ inline uint32_t carom_tree_spread(uint32_t x) {
    x = (x | x << 16) & 0x030000FFu;
    x = (x | x << 8) & 0x0300F00Fu;
    x = (x | x << 4) & 0x030C30C3u;
    return (x | x << 2) & 0x09249249u;
}

/* The index along the Hilbert curve, as in bvh_cpu.c, for one cell. */
static __device__ inline uint32_t carom_tree_hilbert(uint32_t x, uint32_t y, uint32_t z) {
#pragma unroll
    for (uint32_t bit = CAROM_BVH_CELLS / 2; bit > 1; bit >>= 1) {
        uint32_t below = bit - 1, swap;
        if (x & bit) x ^= below;
        swap = (y & bit) ? 0u : (x ^ y) & below;
        x ^= (y & bit) ? below : swap;
        y ^= swap;
        swap = (z & bit) ? 0u : (x ^ z) & below;
        x ^= (z & bit) ? below : swap;
        z ^= swap;
    }
    y ^= x;
    z ^= y;
    uint32_t parity = z >> 1; /* of all higher bits of z */
    parity ^= parity >> 1;
    parity ^= parity >> 2;
    parity ^= parity >> 4;
    parity ^= parity >> 8;
    return carom_tree_spread(x ^ parity) << 2 | carom_tree_spread(y ^ parity) << 1 |
           carom_tree_spread(z ^ parity);
}

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
 * few most extreme centres, so that some items far away do not crowd all others into one cell. */
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
    if (warp < 6) { /* of each end of each axis, the extreme that four of the 32 warps exceed */
        float end = carom_warp_select(bounds[warp][lane], sampled == CAROM_TREE_SAMPLE ? 4 : 0);
        if (lane == 0) chosen[warp] = end;
    }
    __syncthreads();
    if (threadIdx.x < 3) {
        float low = chosen[threadIdx.x], high = -chosen[3 + threadIdx.x];
        float margin = (high - low) * 0.0625f; /* for what was left out */
        if (!(low <= high)) low = high = margin = 0.0f;
        space->low[threadIdx.x] = low - margin;
        space->scale[threadIdx.x] = carom_bvh_scale(low - margin, high + margin);
        space->size_class[threadIdx.x] = median + (int)(threadIdx.x + 1) * CAROM_BVH_CLASS_STEP;
    }
}

template <typename BOXES>
static __global__ void carom_tree_survey(BOXES boxes, uint32_t count, carom_bvh_space *space) {
    carom_device_begin();
    carom_tree_survey_block(boxes, count, space);
}

/* ---- Order ----------------------------------------------------------------------------------- */

/* Small sets are sorted by counting: keys are counted by their highest bits, the counts are added
 * up, and each item finds its place among the few items of its bin by comparing their keys. Large
 * sets, whose bins would be too many or too full, are sorted by CUB: 21 bits are too coarse for the
 * surface of 16 million triangles, and CUB needs 70 us for any small set. */
#define CAROM_TREE_COUNTED 2000000u /* items that are sorted by counting at most */
#define CAROM_TREE_BIN_ITEMS                                                                       \
    256u /* items of a bin that are compared; larger bins stay as they                             \
            come, and only the search is slower */

/* Bits of the curve that bins have: about one bin of a surface for 16 items. */
static inline unsigned carom_tree_bin_bits(uint32_t count) {
    return count <= 20000u ? 15u : count <= 60000u ? 18u : 21u;
}

/* Large items have bins of their own, fewer per class. */
#define CAROM_TREE_CLASS_BITS 6u /* by which a class of large items has fewer bits */

static inline uint32_t carom_tree_bins(unsigned bits) {
    return (1u << bits) + (3u << (bits - CAROM_TREE_CLASS_BITS));
}

static __device__ inline uint32_t carom_tree_bin(uint32_t key, unsigned bits) {
    uint32_t size_class = key >> CAROM_BVH_CURVE_BITS;
    uint32_t index = key & ((1u << CAROM_BVH_CURVE_BITS) - 1u);
    if (size_class == 0) return index >> (CAROM_BVH_CURVE_BITS - bits);
    unsigned few = bits - CAROM_TREE_CLASS_BITS;
    return (1u << bits) + ((size_class - 1u) << few) + (index >> (CAROM_BVH_CURVE_BITS - few));
}

/* Stores the key of item i and, where there are bins, its rank among those of its bin that came so
 * far. Lanes of one bin count as one; all lanes call it. */
static __device__ inline void carom_tree_count_key(bool there, uint32_t i, uint32_t key,
                                                   uint32_t *keys, uint32_t *ranks, uint32_t *bins,
                                                   unsigned bits) {
    if (there) keys[i] = key;
    if (bins == nullptr) {
        if (there) ranks[i] = i;
        return;
    }
    unsigned lane = threadIdx.x % CAROM_WARP;
    uint32_t bin = there ? carom_tree_bin(key, bits) : UINT32_MAX;
    unsigned same = __match_any_sync(~0u, bin), leader = (unsigned)__ffs(same) - 1u;
    uint32_t first = 0;
    if (there && lane == leader) first = atomicAdd(&bins[bin], (uint32_t)__popc(same));
    first = __shfl_sync(~0u, first, leader);
    if (there) ranks[i] = first + __popc(same & ((1u << lane) - 1u));
}

template <typename BOXES>
static __global__ void carom_tree_keys(BOXES boxes, uint32_t count, const carom_bvh_space *space,
                                       uint32_t *keys, uint32_t *ranks, uint32_t *bins,
                                       unsigned bits) {
    carom_device_begin();
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    bool there = i < count;
    uint32_t key = UINT32_MAX;
    if (there) {
        carom_box box = boxes.first_box(i);
        uint32_t index =
            carom_tree_hilbert(carom_bvh_cell(space, &box, 0), carom_bvh_cell(space, &box, 1),
                               carom_bvh_cell(space, &box, 2));
        key = carom_bvh_key(space, &box, index);
    }
    carom_tree_count_key(there, i, key, keys, ranks, bins, bits);
}

static __global__ void carom_tree_scatter(const uint32_t *keys, const uint32_t *ranks,
                                          const uint32_t *starts, unsigned bits, uint32_t count,
                                          uint2 *scattered) {
    carom_device_begin();
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    scattered[starts[carom_tree_bin(keys[i], bits)] + ranks[i]] = make_uint2(keys[i], i);
}

/* Leaves all bins empty for the next build. */
static __global__ void carom_tree_rank(const uint2 *scattered, const uint32_t *starts,
                                       unsigned bits, uint32_t count, uint32_t *items,
                                       uint32_t *bins) {
    carom_device_begin();
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint2 mine = scattered[i];
    uint32_t bin = carom_tree_bin(mine.x, bits), begin = starts[bin], end = starts[bin + 1];
    uint32_t rank = i;
    bins[bin] = 0;
    if (end - begin <= CAROM_TREE_BIN_ITEMS) {
        rank = begin;
        for (uint32_t k = begin; k < end; ++k) {
            uint2 other = scattered[k];
            rank += other.x < mine.x || (other.x == mine.x && other.y < mine.y) ? 1u : 0u;
        }
    }
    items[rank] = mine.y;
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* A block fills 32 leaves, the node of level 1 above them, and its entry of level 2. */
template <typename BOXES>
static __global__ void __launch_bounds__(CAROM_TREE_BLOCK)
    carom_tree_fill(BOXES boxes, carom_tree tree) {
    carom_device_begin();
    __shared__ carom_box leaves[CAROM_WARP];
    uint32_t place = blockIdx.x * CAROM_TREE_BLOCK + threadIdx.x, leaf = place / CAROM_WARP;
    unsigned lane = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
    carom_box box = carom_box_empty();
    uint32_t item = 0;
    if (place < tree.entries[0]) {
        item = tree.items[place];
        box = boxes.place(place, item);
    }
    if (tree.sides != nullptr) {
        unsigned sides = __ballot_sync(~0u, place < tree.entries[0] && boxes.second(item));
        if (lane == 0) tree.sides[leaf] = sides;
    }
    carom_tree_set(tree.boxes[0], place, box);
    box = carom_warp_join(box);
    if (lane == 0) leaves[warp] = box;
    __syncthreads();
    if (warp != 0) return;
    box = leaves[lane];
    carom_tree_set(tree.boxes[1], blockIdx.x * CAROM_WARP + lane, box);
    box = carom_warp_join(box);
    if (lane == 0 && tree.levels > 2) carom_tree_set(tree.boxes[2], blockIdx.x, box);
}

/* A warp joins one node of `level` into its entry of the level above. */
static __global__ void carom_tree_fill_level(carom_tree tree, uint32_t level) {
    carom_device_begin();
    uint32_t node = (blockIdx.x * blockDim.x + threadIdx.x) / CAROM_WARP;
    uint32_t entry = node * CAROM_WARP + threadIdx.x % CAROM_WARP;
    if (node >= tree.entries[level + 1]) return;
    carom_box box = carom_box_empty();
    if (entry < tree.entries[level]) box = carom_tree_entry(tree.boxes[level], entry);
    box = carom_warp_join(box);
    if (threadIdx.x % CAROM_WARP == 0) carom_tree_set(tree.boxes[level + 1], node, box);
}

/* ---- Build ----------------------------------------------------------------------------------- */

/* Memory for sorting. */
struct carom_tree_sort {
    carom_bvh_space *space;
    uint32_t *keys, *ranks; /* ranks: items where CUB sorts */
    uint2 *scattered;       /* sorted keys where CUB sorts */
    uint32_t *bins;         /* NULL where CUB sorts; else in memory of their own, all 0 */
    uint32_t *starts;
    unsigned bits;
    void *temporary;
    size_t temporary_bytes;
};

static inline uint64_t carom_tree_row(uint64_t bytes) {
    return (bytes + CAROM_DEVICE_ALLOCATION) / CAROM_DEVICE_ALLOCATION * CAROM_DEVICE_ALLOCATION;
}

/* The bytes that the memory for sorting takes; with memory != NULL the addresses in it. */
static inline uint64_t carom_tree_sort_place(uint32_t count, char *memory, uint32_t *bins,
                                             carom_tree_sort *sort) {
    uint64_t row = carom_tree_row((uint64_t)count * sizeof(uint32_t)), at = CAROM_DEVICE_ALLOCATION;
    bool counted = count <= CAROM_TREE_COUNTED;
    uint32_t *none = nullptr;
    sort->bits = carom_tree_bin_bits(count);
    int64_t starts = (int64_t)carom_tree_bins(sort->bits) + 1;
    sort->temporary_bytes = 0;
    if (counted)
        (void)cub::DeviceScan::ExclusiveSum(nullptr, sort->temporary_bytes, none, none, starts,
                                            (cudaStream_t) nullptr);
    else
        (void)cub::DeviceRadixSort::SortPairs(nullptr, sort->temporary_bytes, none, none, none,
                                              none, (int64_t)count, 0, 32, (cudaStream_t) nullptr);
    sort->space = (carom_bvh_space *)memory;
    sort->keys = (uint32_t *)(memory + at);
    sort->ranks = (uint32_t *)(memory + (at += row));
    sort->scattered = (uint2 *)(memory + (at += row));
    sort->starts = (uint32_t *)(memory + (at += 2 * row));
    if (counted) at += carom_tree_row((uint64_t)starts * sizeof(uint32_t));
    sort->bins = counted ? bins : nullptr;
    sort->temporary = memory + at;
    return at + sort->temporary_bytes;
}

/* Reserves the memory for sorting `count` items in two blocks, the second for bins alone. */
static inline carom_status carom_tree_sort_reserve(carom_device *device, uint32_t count,
                                                   carom_device_block *memory,
                                                   carom_device_block *bins) {
    carom_tree_sort sort = {};
    uint64_t bytes =
        ((uint64_t)carom_tree_bins(carom_tree_bin_bits(UINT32_MAX)) + 1u) * sizeof(uint32_t);
    CAROM_DEVICE_TRY(carom_device_reserve(
        device, memory, carom_tree_sort_place(count, nullptr, nullptr, &sort), "sorting"));
    if (bins->data != nullptr) return CAROM_OK;
    CAROM_DEVICE_TRY(carom_device_reserve(device, bins, bytes, "sorting"));
    return carom_device_check(device, cudaMemsetAsync(bins->data, 0, bytes, device->stream),
                              "sorting");
}

/* Queues the sorting of items by their keys. */
static inline void carom_tree_order(carom_device *device, uint32_t count, carom_tree_sort sort,
                                    uint32_t *items) {
    unsigned blocks = carom_device_blocks(count, 256);
    cudaStream_t stream = device->stream;
    if (sort.bins == nullptr) {
        (void)cub::DeviceRadixSort::SortPairs(sort.temporary, sort.temporary_bytes, sort.keys,
                                              (uint32_t *)sort.scattered, sort.ranks, items,
                                              (int64_t)count, 0, 32, stream);
        return;
    }
    (void)cub::DeviceScan::ExclusiveSum(sort.temporary, sort.temporary_bytes, sort.bins,
                                        sort.starts, (int64_t)carom_tree_bins(sort.bits) + 1,
                                        stream);
    carom_device_launch(device, carom_tree_scatter, blocks, 256, sort.keys, sort.ranks, sort.starts,
                        sort.bits, count, sort.scattered);
    carom_device_launch(device, carom_tree_rank, blocks, 256, sort.scattered, sort.starts,
                        sort.bits, count, items, sort.bins);
}

/* Queues the filling of a tree whose items are in their order. */
template <typename BOXES>
static void carom_tree_fill_all(carom_device *device, BOXES boxes, const carom_tree &tree) {
    carom_device_launch(device, carom_tree_fill<BOXES>,
                        carom_device_blocks(tree.entries[0], CAROM_TREE_BLOCK), CAROM_TREE_BLOCK,
                        boxes, tree);
    for (uint32_t level = 2; level + 1 < tree.levels; ++level)
        carom_device_launch(
            device, carom_tree_fill_level,
            carom_device_blocks((uint64_t)tree.entries[level + 1] * CAROM_WARP, 128), 128, tree,
            level);
}

/* Queues the build. BOXES has these device functions:
 *   box(item)           the box; empty: the item is not in the tree
 *   first_box(item)     the same, called exactly once per item: the place for other work on it
 *   place(place, item)  the same, called once per place: may store the item in sorted order
 *   second(item)        whether it belongs to the second of two sets
 * `surveyed`: carom_tree_survey_block has run before. */
template <typename BOXES>
static void carom_tree_build(carom_device *device, BOXES boxes, const carom_tree &tree,
                             carom_tree_sort sort, bool surveyed) {
    uint32_t count = tree.entries[0];
    carom_device_step(device, "keys");
    if (!surveyed)
        carom_device_launch(device, carom_tree_survey<BOXES>, 1, CAROM_TREE_SAMPLE, boxes, count,
                            sort.space);
    carom_device_launch(device, carom_tree_keys<BOXES>, carom_device_blocks(count, 256), 256, boxes,
                        count, sort.space, sort.keys, sort.ranks, sort.bins, sort.bits);
    carom_device_step(device, "order");
    carom_tree_order(device, count, sort, tree.items);
    carom_device_step(device, "build");
    carom_tree_fill_all(device, boxes, tree);
}

/* ---- Search: pairs of leaves ----------------------------------------------------------------- */

/* Each warp takes leaves in turn. On the way down it keeps, per level, the node and the children
 * still to visit. */
static __global__ void __launch_bounds__(CAROM_TREE_WARPS *CAROM_WARP)
    carom_tree_pairs(carom_tree tree, carom_device_list<uint2> pairs) {
    carom_device_begin();
    __shared__ uint2 buffers[CAROM_TREE_WARPS][CAROM_TREE_PAIRS];
    __shared__ uint32_t nodes[CAROM_TREE_WARPS][CAROM_TREE_LEVELS];
    __shared__ unsigned to_visit[CAROM_TREE_WARPS][CAROM_TREE_LEVELS];
    unsigned lane = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
    carom_warp_buffer<uint2, CAROM_TREE_PAIRS> buffer = {buffers[warp], 0};
    uint32_t top = tree.levels - 1, stride = gridDim.x * CAROM_TREE_WARPS;
    for (uint32_t leaf = blockIdx.x * CAROM_TREE_WARPS + warp; leaf < tree.entries[1];
         leaf += stride) {
        carom_box mine = carom_tree_entry(tree.boxes[1], leaf);
        uint32_t level = top, node = 0;
        for (;;) {
            uint32_t child = node * CAROM_WARP + lane;
            /* the first leaf after those below the child */
            uint64_t end = (uint64_t)(child + 1) << 5 * (level - 1);
            bool meets = child < tree.entries[level] && end > leaf;
            if (meets) {
                carom_box box = carom_tree_entry(tree.boxes[level], child);
                meets = carom_box_overlap(&mine, &box);
            }
            if (level == 1) {
                buffer.push(pairs, meets, make_uint2(leaf, child));
            } else {
                unsigned mask = __ballot_sync(~0u, meets);
                if (lane == 0) {
                    nodes[warp][level] = node;
                    to_visit[warp][level] = mask;
                }
                __syncwarp();
                --level;
            }
            while (level < top && to_visit[warp][level + 1] == 0) ++level;
            if (level == top) break;
            unsigned rest = to_visit[warp][level + 1];
            node = nodes[warp][level + 1] * CAROM_WARP + (unsigned)__ffs(rest) - 1u;
            __syncwarp();
            if (lane == 0) to_visit[warp][level + 1] = rest & (rest - 1);
            __syncwarp();
        }
    }
    buffer.flush(pairs);
}

/* ---- Search: candidates ---------------------------------------------------------------------- */

/* The items of a leaf that overlap the box of the other, without gaps, in shared memory: two loads
 * of 16 bytes each. */
struct carom_tree_part {
    float4 low[CAROM_WARP]; /* w: the lane in the leaf; above CAROM_WARP: of the second set */
    float4 high[CAROM_WARP];

    __device__ void put(unsigned at, const carom_box &box, uint32_t lane) {
        low[at] = make_float4(box.low[0], box.low[1], box.low[2], __uint_as_float(lane));
        high[at] = make_float4(box.high[0], box.high[1], box.high[2], 0.0f);
    }
};

/* Appends the pairs that `hits` marks: bit s of a lane stands for its place `other` and the place
 * one(s). */
template <typename ONE>
static __device__ inline void carom_tree_report(carom_warp_buffer<uint2, CAROM_TREE_FOUND> &buffer,
                                                const carom_device_list<uint2> &found,
                                                unsigned hits, uint32_t other, ONE one) {
    unsigned lane = threadIdx.x % CAROM_WARP, count = __popc(hits), before = count;
    for (unsigned k = 1; k < CAROM_WARP; k *= 2) {
        unsigned left = __shfl_up_sync(~0u, before, k);
        if (lane >= k) before += left;
    }
    unsigned total = __shfl_sync(~0u, before, CAROM_WARP - 1);
    before -= count;
    if (total == 0) return;
    if (buffer.used + total > CAROM_TREE_FOUND) buffer.flush(found);
    if (total > CAROM_TREE_FOUND) { /* straight to the list */
        carom_device_count at = 0;
        if (lane == 0) at = atomicAdd(found.count, (carom_device_count)total);
        at = __shfl_sync(~0u, at, 0) + before;
        for (; hits != 0; hits &= hits - 1, ++at) {
            if (at < found.capacity)
                found.data[at] = make_uint2(other, one((unsigned)__ffs(hits) - 1u));
        }
        return;
    }
    before += buffer.used;
    for (; hits != 0; hits &= hits - 1)
        buffer.entries[before++] = make_uint2(other, one((unsigned)__ffs(hits) - 1u));
    buffer.used += total;
}

/* One warp per pair of leaves. Items that do not overlap the other leaf's box take no part. Of the
 * others, those of one leaf are spread over the lanes, several times if they are few, and each is
 * compared with its share of the other leaf's. */
static __global__ void __launch_bounds__(CAROM_TREE_WARPS *CAROM_WARP)
    carom_tree_candidates(carom_tree tree, carom_device_list<uint2> pairs,
                          carom_device_list<uint2> found) {
    carom_device_begin();
    __shared__ uint2 buffers[CAROM_TREE_WARPS][CAROM_TREE_FOUND];
    __shared__ carom_tree_part parts[CAROM_TREE_WARPS][2];
    unsigned lane = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
    unsigned lower = (1u << lane) - 1u;
    carom_warp_buffer<uint2, CAROM_TREE_FOUND> buffer = {buffers[warp], 0};
    carom_tree_part &part_a = parts[warp][0], &part_b = parts[warp][1];
    uint64_t warps = (uint64_t)gridDim.x * CAROM_TREE_WARPS, count = pairs.stored();
    uint64_t share = CAROM_TREE_SHARE; /* of consecutive pairs, most of which have the same a */
    uint32_t leaf = UINT32_MAX;        /* that a is */
    carom_box a, leaf_a;
    uint32_t sides_a = 0, sides_b = 0;
    for (uint64_t begin = (blockIdx.x * CAROM_TREE_WARPS + warp) * share; begin < count;
         begin += warps * share) {
        uint64_t end = begin + share < count ? begin + share : count;
        for (uint64_t at = begin; at < end; ++at) {
            uint2 pair = pairs.data[at];
            if (pair.x != leaf) {
                leaf = pair.x;
                a = carom_tree_entry(tree.boxes[0], leaf * CAROM_WARP + lane);
                leaf_a = carom_tree_entry(tree.boxes[1], leaf);
                if (tree.sides != nullptr) sides_a = tree.sides[leaf];
            }
            if (tree.sides != nullptr) {
                sides_b = tree.sides[pair.y];
                if ((sides_a == 0 && sides_b == 0) || (sides_a == ~0u && sides_b == ~0u)) continue;
            }
            uint32_t mark_a = lane | (sides_a >> lane & 1u) << 5;
            if (pair.x == pair.y) { /* each lane with the sixteen after it, in a circle */
                unsigned hits = 0;
                for (unsigned s = 0; s < CAROM_WARP / 2; ++s) {
                    unsigned other = (lane + s + 1u) % CAROM_WARP;
                    carom_box box;
                    for (int k = 0; k < 3; ++k) {
                        box.low[k] = __shfl_sync(~0u, a.low[k], other);
                        box.high[k] = __shfl_sync(~0u, a.high[k], other);
                    }
                    bool meets = carom_box_overlap(&a, &box) &&
                                 (s + 1u < CAROM_WARP / 2 || lane < CAROM_WARP / 2);
                    if (tree.sides != nullptr)
                        meets = meets && ((sides_a >> lane ^ sides_a >> other) & 1u) != 0;
                    hits |= meets ? 1u << s : 0u;
                }
                carom_tree_report(buffer, found, hits, leaf * CAROM_WARP + lane, [=](unsigned s) {
                    return leaf * CAROM_WARP + (lane + s + 1u) % CAROM_WARP;
                });
                continue;
            }
            carom_box b = carom_tree_entry(tree.boxes[0], pair.y * CAROM_WARP + lane);
            carom_box leaf_b = carom_tree_entry(tree.boxes[1], pair.y);
            bool take_a = carom_box_overlap(&a, &leaf_b), take_b = carom_box_overlap(&b, &leaf_a);
            unsigned in_a = __ballot_sync(~0u, take_a), in_b = __ballot_sync(~0u, take_b);
            unsigned count_a = __popc(in_a), count_b = __popc(in_b);
            if (count_a == 0 || count_b == 0) continue;
            __syncwarp();
            if (take_a) part_a.put(__popc(in_a & lower), a, mark_a);
            if (take_b) part_b.put(__popc(in_b & lower), b, lane | (sides_b >> lane & 1u) << 5);
            __syncwarp();
            /* lanes for the power of two at or above the count */
            unsigned bits_a = count_a > 1 ? 32u - (unsigned)__clz((int)(count_a - 1u)) : 0u;
            unsigned bits_b = count_b > 1 ? 32u - (unsigned)__clz((int)(count_b - 1u)) : 0u;
            bool swap = (count_a << bits_b) < (count_b << bits_a); /* fewer comparisons */
            const carom_tree_part &others = swap ? part_b : part_a, &ones = swap ? part_a : part_b;
            unsigned bits = swap ? bits_b : bits_a, other_count = swap ? count_b : count_a;
            unsigned one_count = swap ? count_a : count_b, step = CAROM_WARP >> bits;
            unsigned other = lane & ((1u << bits) - 1u), first = lane >> bits, hits = 0;
            float4 low = others.low[other], high = others.high[other];
            uint32_t mark = __float_as_uint(low.w);
            if (other < other_count)
                for (unsigned one = first, s = 0; one < one_count; one += step, ++s) {
                    float4 one_low = ones.low[one], one_high = ones.high[one];
                    bool meets = (low.x <= one_high.x) & (one_low.x <= high.x) &
                                 (low.y <= one_high.y) & (one_low.y <= high.y) &
                                 (low.z <= one_high.z) & (one_low.z <= high.z);
                    if (tree.sides != nullptr)
                        meets = meets && ((mark ^ __float_as_uint(one_low.w)) & CAROM_WARP) != 0;
                    hits |= meets ? 1u << s : 0u;
                }
            uint32_t other_leaf = swap ? pair.y : pair.x, one_leaf = swap ? pair.x : pair.y;
            carom_tree_report(buffer, found, hits, other_leaf * CAROM_WARP + mark % CAROM_WARP,
                              [=, &ones](unsigned s) {
                                  uint32_t lane_of_one =
                                      __float_as_uint(ones.low[first + s * step].w) % CAROM_WARP;
                                  return one_leaf * CAROM_WARP + lane_of_one;
                              });
        }
    }
    buffer.flush(found);
}

#endif
