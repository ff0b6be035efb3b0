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
 * only items that overlap the other leaf's box are compared. The candidates are slots, indices
 * in the sorted order. Which slot an item has depends on how sorting resolves equal keys, and
 * that is by their index: all steps but the order of lists are deterministic. */
#ifndef CAROM_SRC_BVH_BVH_CUDA_H
#define CAROM_SRC_BVH_BVH_CUDA_H

#include <cub/device/device_radix_sort.cuh>

#include "base/scan_cuda.h"
#include "bvh/bvh_layout_cuda.h"

#define CAROM_TREE_BLOCK     1024u /* threads that fill 32 leaves: one node above them */
#define CAROM_TREE_PAIRS     96u   /* pairs of leaves that a warp collects: three additions */
#define CAROM_TREE_FOUND     224u  /* candidates that a warp collects */
#define CAROM_TREE_SHARE     4u    /* consecutive pairs of leaves that a warp takes */
#define CAROM_TREE_WARPS     4u    /* of a block that searches */
#define CAROM_TREE_SORTERS   256u  /* threads of a block that handles one key each */
#define CAROM_TREE_JOINERS   128u  /* threads of a block that joins the boxes of nodes */
#define CAROM_TREE_KEY_BITS  32u
#define CAROM_TREE_WARP_BITS 5u /* of a lane: 32 children per node */

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

template <typename BOXES>
static __global__ void carom_tree_survey(BOXES boxes, uint32_t count, carom_bvh_space *space) {
    carom_device_begin();
    carom_tree_survey_block(boxes, count, space);
}

/* ---- Order ----------------------------------------------------------------------------------- */

/* Small sets are sorted by counting: keys are counted by their highest bits, the counts are added
 * up, and each item finds its position among the few items of its bin by comparing their keys.
 * Large sets, whose bins would be too many or too full, are sorted by CUB: 21 bits are too coarse
 * for the surface of 16 million triangles, and CUB needs 70 us for any small set. */
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

static __host__ __device__ inline uint32_t carom_tree_bins(unsigned bits) {
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
    CAROM_ASSERT(!there || bin < carom_tree_bins(bits));
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
    uint32_t bin = carom_tree_bin(keys[i], bits);
    CAROM_ASSERT(ranks[i] < starts[bin + 1] - starts[bin]);
    scattered[starts[bin] + ranks[i]] = make_uint2(keys[i], i);
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
    CAROM_ASSERT(mine.y < count && begin <= i && i < end && end <= count);
    bins[bin] = 0;
    if (end - begin <= CAROM_TREE_BIN_ITEMS) {
        rank = begin;
        for (uint32_t k = begin; k < end; ++k) {
            uint2 other = scattered[k];
            rank += other.x < mine.x || (other.x == mine.x && other.y < mine.y) ? 1u : 0u;
        }
    }
    CAROM_ASSERT(begin <= rank && rank < end);
    items[rank] = mine.y;
}

#ifdef CAROM_CHECKS
/* Bins, or keys where `bits` is CAROM_TREE_KEY_BITS, do not descend. */
static __global__ void carom_tree_expect_order(const uint32_t *keys, const uint32_t *items,
                                               uint32_t count, unsigned bits) {
    carom_device_begin();
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    CAROM_ASSERT(items[i] < count);
    if (i + 1 == count) return;
    uint32_t key = keys[items[i]], next = keys[items[i + 1]];
    CAROM_ASSERT(bits == CAROM_TREE_KEY_BITS
                     ? key <= next
                     : carom_tree_bin(key, bits) <= carom_tree_bin(next, bits));
}
#endif

/* ---- Levels ---------------------------------------------------------------------------------- */

/* A block fills 32 leaves, the node of level 1 above them, and its entry of level 2. */
template <typename BOXES>
static __global__ void __launch_bounds__(CAROM_TREE_BLOCK)
    carom_tree_fill(BOXES boxes, carom_bvh_cuda_tree tree) {
    carom_device_begin();
    __shared__ carom_box leaves[CAROM_WARP];
    uint32_t slot = blockIdx.x * CAROM_TREE_BLOCK + threadIdx.x, leaf = slot / CAROM_WARP;
    unsigned lane = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
    carom_box box = carom_box_empty();
    uint32_t item = 0;
    if (slot < tree.entries[0]) {
        item = tree.items[slot];
        CAROM_ASSERT(item < tree.entries[0]);
        box = boxes.box_at(slot, item);
    }
    if (tree.sides != nullptr) {
        unsigned sides = __ballot_sync(~0u, slot < tree.entries[0] && boxes.second(item));
        if (lane == 0) tree.sides[leaf] = sides;
    }
    carom_tree_set(tree.boxes[0], slot, box);
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
static __global__ void carom_tree_fill_level(carom_bvh_cuda_tree tree, uint32_t level) {
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

/* The bytes that the memory for sorting takes; with memory != NULL the addresses in it. */
static inline uint64_t carom_tree_sort_lay_out(uint32_t count, char *memory, uint32_t *bins,
                                               carom_tree_sort *sort) {
    uint64_t row = carom_device_row((uint64_t)count * sizeof(uint32_t)),
             at = CAROM_DEVICE_ALLOCATION;
    bool counted = count <= CAROM_TREE_COUNTED;
    uint32_t *none = nullptr;
    sort->bits = carom_tree_bin_bits(count);
    int64_t starts = (int64_t)carom_tree_bins(sort->bits) + 1;
    sort->temporary_bytes = 0;
    if (counted)
        sort->temporary_bytes = carom_device_scan_bytes((uint64_t)starts);
    else
        (void)cub::DeviceRadixSort::SortPairs(nullptr, sort->temporary_bytes, none, none, none,
                                              none, (int64_t)count, 0, CAROM_TREE_KEY_BITS,
                                              (cudaStream_t) nullptr);
    sort->space = (carom_bvh_space *)memory;
    sort->keys = (uint32_t *)(memory + at);
    sort->ranks = (uint32_t *)(memory + (at += row));
    sort->scattered = (uint2 *)(memory + (at += row));
    sort->starts = (uint32_t *)(memory + (at += 2 * row));
    if (counted) at += carom_device_row((uint64_t)starts * sizeof(uint32_t));
    sort->bins = counted ? bins : nullptr;
    sort->temporary = memory + at;
    return at + sort->temporary_bytes;
}

/* The bytes of the most bins that there may be, and one more. */
static inline uint64_t carom_tree_bins_bytes() {
    return ((uint64_t)carom_tree_bins(carom_tree_bin_bits(UINT32_MAX)) + 1u) * sizeof(uint32_t);
}

/* Reserves the memory for sorting `count` items. */
static inline carom_status carom_tree_sort_reserve(carom_device *device, uint32_t count) {
    carom_tree_sort sort = {};
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(
        device, CAROM_SCRATCH_TREE_SORT, carom_tree_sort_lay_out(count, nullptr, nullptr, &sort),
        "sorting"));
    return carom_device_reserve_scratch_zeros(device, CAROM_SCRATCH_TREE_BINS,
                                              carom_tree_bins_bytes(), "sorting");
}

/* Takes it. */
static inline carom_tree_sort carom_tree_sort_take(carom_device *device, uint32_t count) {
    carom_tree_sort sort = {};
    uint64_t bytes = carom_tree_sort_lay_out(count, nullptr, nullptr, &sort);
    char *memory = carom_device_take<char>(device, CAROM_SCRATCH_TREE_SORT, bytes);
    uint32_t *bins =
        carom_device_take<uint32_t>(device, CAROM_SCRATCH_TREE_BINS, carom_tree_bins_bytes());
    (void)carom_tree_sort_lay_out(count, memory, bins, &sort);
    return sort;
}

/* Queues the sorting of items by their keys. */
static inline void carom_tree_order(carom_device *device, uint32_t count, carom_tree_sort sort,
                                    uint32_t *items) {
    const unsigned threads = CAROM_TREE_SORTERS;
    unsigned blocks = carom_device_blocks(count, threads);
    if (sort.bins == nullptr) {
        (void)cub::DeviceRadixSort::SortPairs(
            sort.temporary, sort.temporary_bytes, sort.keys, (uint32_t *)sort.scattered, sort.ranks,
            items, (int64_t)count, 0, CAROM_TREE_KEY_BITS, device->stream);
    } else {
        carom_device_scan(device, sort.temporary, sort.temporary_bytes, sort.bins, sort.starts,
                          (uint64_t)carom_tree_bins(sort.bits) + 1);
        carom_device_launch(device, carom_tree_scatter, blocks, threads, sort.keys, sort.ranks,
                            sort.starts, sort.bits, count, sort.scattered);
        carom_device_launch(device, carom_tree_rank, blocks, threads, sort.scattered, sort.starts,
                            sort.bits, count, items, sort.bins);
    }
#ifdef CAROM_CHECKS
    carom_device_launch(device, carom_tree_expect_order, blocks, threads, sort.keys, items, count,
                        sort.bins != nullptr ? sort.bits : CAROM_TREE_KEY_BITS);
#endif
}

/* Queues the filling of a tree whose items are in their order. */
template <typename BOXES>
static void carom_tree_fill_all(carom_device *device, BOXES boxes,
                                const carom_bvh_cuda_tree &tree) {
    carom_device_launch(device, carom_tree_fill<BOXES>,
                        carom_device_blocks(tree.entries[0], CAROM_TREE_BLOCK), CAROM_TREE_BLOCK,
                        boxes, tree);
    for (uint32_t level = 2; level + 1 < tree.levels; ++level)
        carom_device_launch(
            device, carom_tree_fill_level,
            carom_device_blocks((uint64_t)tree.entries[level + 1] * CAROM_WARP, CAROM_TREE_JOINERS),
            CAROM_TREE_JOINERS, tree, level);
}

/* Queues the build. BOXES has these device functions:
 *   box(item)           the box; empty: the item is not in the tree
 *   first_box(item)     the same, called exactly once per item: where other work on it is done
 *   box_at(slot, item)  the same, called once per slot: may store the item in sorted order
 *   second(item)        whether it belongs to the second of two sets
 * `surveyed`: carom_tree_survey_block has run before. */
template <typename BOXES>
static void carom_bvh_cuda_build(carom_device *device, BOXES boxes, const carom_bvh_cuda_tree &tree,
                                 carom_tree_sort sort, bool surveyed) {
    uint32_t count = tree.entries[0];
    carom_device_step(device, "keys");
    if (!surveyed)
        carom_device_launch(device, carom_tree_survey<BOXES>, 1, CAROM_TREE_SAMPLE, boxes, count,
                            sort.space);
    carom_device_launch(device, carom_tree_keys<BOXES>,
                        carom_device_blocks(count, CAROM_TREE_SORTERS), CAROM_TREE_SORTERS, boxes,
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
    carom_tree_pairs(carom_bvh_cuda_tree tree, carom_device_list<uint2> pairs) {
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
            CAROM_ASSERT(level >= 1 && level <= top);
            uint64_t end = (uint64_t)(child + 1) << CAROM_TREE_WARP_BITS * (level - 1);
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

/* Appends the pairs that `hits` marks: bit s of a lane stands for its slot `other` and the slot
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
    CAROM_ASSERT(total == __reduce_add_sync(~0u, count)); /* no lane is left out */
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
    CAROM_ASSERT(before + count <= CAROM_TREE_FOUND);
    for (; hits != 0; hits &= hits - 1)
        buffer.entries[before++] = make_uint2(other, one((unsigned)__ffs(hits) - 1u));
    buffer.used += total;
}

/* The first of two leaves; consecutive pairs mostly have the same. */
struct carom_bvh_cuda_tree_leaf {
    uint32_t number;     /* UINT32_MAX: none yet */
    carom_box item, all; /* of this lane; of the leaf */
    uint32_t sides;      /* as in carom_bvh_cuda_tree, or 0 */

    __device__ void load(const carom_bvh_cuda_tree &tree, uint32_t leaf) {
        unsigned lane = threadIdx.x % CAROM_WARP;
        number = leaf;
        item = carom_tree_entry(tree.boxes[0], leaf * CAROM_WARP + lane);
        all = carom_tree_entry(tree.boxes[1], leaf);
        if (tree.sides != nullptr) sides = tree.sides[leaf];
    }
};

typedef carom_warp_buffer<uint2, CAROM_TREE_FOUND> carom_tree_buffer;

/* The candidates among the items of one leaf: each lane with the sixteen after it, in a circle. */
static __device__ inline void carom_tree_search_leaf(const carom_bvh_cuda_tree &tree,
                                                     const carom_bvh_cuda_tree_leaf &a,
                                                     carom_tree_buffer &buffer,
                                                     const carom_device_list<uint2> &found) {
    unsigned lane = threadIdx.x % CAROM_WARP, hits = 0;
    uint32_t leaf = a.number;
    for (unsigned s = 0; s < CAROM_WARP / 2; ++s) {
        unsigned other = (lane + s + 1u) % CAROM_WARP;
        carom_box box;
        for (int k = 0; k < 3; ++k) {
            box.low[k] = __shfl_sync(~0u, a.item.low[k], other);
            box.high[k] = __shfl_sync(~0u, a.item.high[k], other);
        }
        bool meets =
            carom_box_overlap(&a.item, &box) && (s + 1u < CAROM_WARP / 2 || lane < CAROM_WARP / 2);
        if (tree.sides != nullptr)
            meets = meets && ((a.sides >> lane ^ a.sides >> other) & 1u) != 0;
        hits |= meets ? 1u << s : 0u;
    }
    carom_tree_report(buffer, found, hits, leaf * CAROM_WARP + lane,
                      [=](unsigned s) { return leaf * CAROM_WARP + (lane + s + 1u) % CAROM_WARP; });
}

/* Those of two leaves. Items that do not overlap the other leaf's box take no part. Of the others,
 * those of one leaf are spread over the lanes, several times if they are few, and each is compared
 * with its share of the other leaf's. */
static __device__ inline void
carom_tree_search_leaves(const carom_bvh_cuda_tree &tree, const carom_bvh_cuda_tree_leaf &a,
                         uint32_t leaf_b, uint32_t sides_b, carom_tree_part *parts,
                         carom_tree_buffer &buffer, const carom_device_list<uint2> &found) {
    unsigned lane = threadIdx.x % CAROM_WARP, lower = (1u << lane) - 1u;
    carom_tree_part &part_a = parts[0], &part_b = parts[1];
    carom_box b = carom_tree_entry(tree.boxes[0], leaf_b * CAROM_WARP + lane);
    carom_box all_b = carom_tree_entry(tree.boxes[1], leaf_b);
    bool take_a = carom_box_overlap(&a.item, &all_b), take_b = carom_box_overlap(&b, &a.all);
    unsigned in_a = __ballot_sync(~0u, take_a), in_b = __ballot_sync(~0u, take_b);
    unsigned count_a = __popc(in_a), count_b = __popc(in_b);
    if (count_a == 0 || count_b == 0) return;
    __syncwarp();
    if (take_a)
        part_a.put(__popc(in_a & lower), a.item,
                   lane | (a.sides >> lane & 1u) << CAROM_TREE_WARP_BITS);
    if (take_b)
        part_b.put(__popc(in_b & lower), b, lane | (sides_b >> lane & 1u) << CAROM_TREE_WARP_BITS);
    __syncwarp();
    /* lanes for the power of two at or above the count */
    unsigned bits_a = count_a > 1 ? 32u - (unsigned)__clz((int)(count_a - 1u)) : 0u;
    unsigned bits_b = count_b > 1 ? 32u - (unsigned)__clz((int)(count_b - 1u)) : 0u;
    bool swap = (count_a << bits_b) < (count_b << bits_a); /* fewer comparisons */
    const carom_tree_part &others = swap ? part_b : part_a, &ones = swap ? part_a : part_b;
    unsigned bits = swap ? bits_b : bits_a, other_count = swap ? count_b : count_a;
    unsigned one_count = swap ? count_a : count_b, step = CAROM_WARP >> bits;
    unsigned other = lane & ((1u << bits) - 1u), first = lane >> bits, hits = 0;
    CAROM_ASSERT(one_count <= step * CAROM_WARP); /* a bit of `hits` for each comparison */
    float4 low = others.low[other], high = others.high[other];
    uint32_t mark = __float_as_uint(low.w);
    if (other < other_count)
        for (unsigned one = first, s = 0; one < one_count; one += step, ++s) {
            float4 one_low = ones.low[one], one_high = ones.high[one];
            bool meets = (low.x <= one_high.x) & (one_low.x <= high.x) & (low.y <= one_high.y) &
                         (one_low.y <= high.y) & (low.z <= one_high.z) & (one_low.z <= high.z);
            if (tree.sides != nullptr)
                meets = meets && ((mark ^ __float_as_uint(one_low.w)) & CAROM_WARP) != 0;
            hits |= meets ? 1u << s : 0u;
        }
    uint32_t other_leaf = swap ? leaf_b : a.number, one_leaf = swap ? a.number : leaf_b;
    carom_tree_report(
        buffer, found, hits, other_leaf * CAROM_WARP + mark % CAROM_WARP, [=, &ones](unsigned s) {
            uint32_t lane_of_one = __float_as_uint(ones.low[first + s * step].w) % CAROM_WARP;
            return one_leaf * CAROM_WARP + lane_of_one;
        });
}

/* One warp per pair of leaves. */
static __global__ void __launch_bounds__(CAROM_TREE_WARPS *CAROM_WARP)
    carom_tree_candidates(carom_bvh_cuda_tree tree, carom_device_list<uint2> pairs,
                          carom_device_list<uint2> found) {
    carom_device_begin();
    __shared__ uint2 buffers[CAROM_TREE_WARPS][CAROM_TREE_FOUND];
    __shared__ carom_tree_part parts[CAROM_TREE_WARPS][2];
    unsigned warp = threadIdx.x / CAROM_WARP;
    carom_tree_buffer buffer = {buffers[warp], 0};
    uint64_t warps = (uint64_t)gridDim.x * CAROM_TREE_WARPS, count = pairs.stored();
    uint64_t share = CAROM_TREE_SHARE; /* of consecutive pairs, most of which have the same a */
    carom_bvh_cuda_tree_leaf a;
    uint32_t sides_b = 0;
    a.number = UINT32_MAX;
    a.sides = 0;
    for (uint64_t begin = (blockIdx.x * CAROM_TREE_WARPS + warp) * share; begin < count;
         begin += warps * share) {
        uint64_t end = begin + share < count ? begin + share : count;
        for (uint64_t at = begin; at < end; ++at) {
            uint2 pair = pairs.data[at];
            CAROM_ASSERT(pair.x <= pair.y && pair.y < tree.entries[1]);
            if (pair.x != a.number) a.load(tree, pair.x);
            if (tree.sides != nullptr) {
                sides_b = tree.sides[pair.y];
                if ((a.sides == 0 && sides_b == 0) || (a.sides == ~0u && sides_b == ~0u)) continue;
            }
            if (pair.x == pair.y)
                carom_tree_search_leaf(tree, a, buffer, found);
            else
                carom_tree_search_leaves(tree, a, pair.y, sides_b, parts[warp], buffer, found);
        }
    }
    buffer.flush(found);
}

/* ---- Search: queueing ------------------------------------------------------------------------ */

/* Reserves room for so many pairs of leaves, and some more. */
static inline carom_status carom_tree_find_reserve(carom_device *device, uint64_t leaf_pairs) {
    return carom_device_reserve_list(device, CAROM_SCRATCH_TREE_LEAF_PAIRS,
                                     leaf_pairs + CAROM_DEVICE_LIST_ENTRIES, sizeof(uint2),
                                     "a search");
}

/* Queues the search for candidates; a counter of the operation counts the pairs of leaves. */
static inline void carom_tree_find(carom_device *device, carom_device_op *op,
                                   const carom_bvh_cuda_tree &tree, int counter,
                                   const carom_device_list<uint2> &candidates) {
    const unsigned threads = CAROM_TREE_WARPS * CAROM_WARP;
    carom_device_list<uint2> leaves =
        carom_device_list_of<uint2>(device, CAROM_SCRATCH_TREE_LEAF_PAIRS, op, counter);
    carom_device_step(device, "pairs of leaves");
    carom_device_launch(device, carom_tree_pairs,
                        carom_device_resident(device, carom_tree_pairs, threads), threads, tree,
                        leaves);
    carom_device_step(device, "candidates");
    carom_device_launch(device, carom_tree_candidates,
                        carom_device_resident(device, carom_tree_candidates, threads), threads,
                        tree, leaves, candidates);
}

/* Whether there were more pairs of leaves than room. */
static inline bool carom_tree_find_grows(carom_device *device, uint64_t leaf_pairs) {
    return carom_device_list_grows(device, CAROM_SCRATCH_TREE_LEAF_PAIRS, leaf_pairs,
                                   sizeof(uint2));
}

#endif
