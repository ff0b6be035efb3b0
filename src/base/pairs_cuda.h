/* SPDX-License-Identifier: MIT */
/* pairs_cuda.h: pairs that kernels found, brought into canonical order on the GPU.
 *
 * Pairs are counted by their first member, the counts are added up, and each pair finds its index
 * among the pairs of its first member by comparing their second ones. Members with very many
 * partners, and lists with duplicates, are sorted by CUB once the number of pairs is known. */
#ifndef CAROM_SRC_BASE_PAIRS_CUDA_H
#define CAROM_SRC_BASE_PAIRS_CUDA_H

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

#include "base/scan_cuda.h"

#define CAROM_PAIRS_THREADS 256u
/* Pairs of one member that are sorted by comparing all with all. */
#define CAROM_PAIRS_LONGEST 1024u
/* Blocks per processor of kernels that exchange halves, which wait for memory alone. */
#define CAROM_PAIRS_EXCHANGE_BLOCKS 8u
#define CAROM_PAIRS_KEY_BITS        64

static __device__ inline carom_pair carom_pair_of(unsigned long long key) {
    return carom_pair{(uint32_t)key, (uint32_t)(key >> 32)};
}

/* Where pairs that count go. */
struct carom_found_pairs {
    carom_device_list<unsigned long long> list; /* data NULL: they are counted only */
    uint32_t *pair_counts;                      /* pairs by first member, or NULL */

    __device__ void count(unsigned long long key) const {
        if (pair_counts != nullptr) atomicAdd(&pair_counts[(uint32_t)key], 1u);
    }

    __device__ void add(unsigned long long key) const {
        count(key);
        list.append(key);
    }
};

/* ---- By first member ------------------------------------------------------------------------- */

/* `starts` are the counts added up; each count goes down with the slots that are taken. *too_long
 * becomes 1 where a member has too many pairs. */
static __global__ void carom_pairs_scatter(carom_device_list<unsigned long long> found,
                                           uint32_t *pair_counts, const uint32_t *starts,
                                           uint32_t *scattered, uint32_t members,
                                           carom_device_count *too_long) {
    carom_device_begin();
    uint64_t count = found.stored();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        carom_pair pair = carom_pair_of(found.data[i]);
        CAROM_ASSERT(pair.a < members);
        uint32_t begin = starts[pair.a], left = atomicSub(&pair_counts[pair.a], 1u);
        uint64_t slot = (uint64_t)begin + left - 1u;
        CAROM_ASSERT(left - 1u < starts[pair.a + 1] - begin); /* not written more than counted */
        if (slot < count) scattered[slot] = pair.b;
        if (starts[pair.a + 1] - begin > CAROM_PAIRS_LONGEST) *too_long = 1;
    }
}

/* Each pair finds its index among the pairs of its first member by counting smaller ones. Where a
 * member has too many, all pairs are left as they came. */
static __global__ void carom_pairs_rank(carom_device_list<unsigned long long> found,
                                        const uint32_t *starts, const uint32_t *scattered,
                                        carom_pair *pairs, uint64_t capacity,
                                        const carom_device_count *too_long) {
    carom_device_begin();
    uint64_t count = found.stored();
    bool ranked = *too_long == 0;
    if (*found.count > count) return; /* it will be repeated */
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        carom_pair pair = carom_pair_of(found.data[i]);
        uint64_t rank = i;
        if (ranked) {
            uint32_t begin = starts[pair.a], end = starts[pair.a + 1];
            rank = begin;
            for (uint32_t k = begin; k < end; ++k) rank += scattered[k] < pair.b ? 1u : 0u;
            CAROM_ASSERT(rank < end);
        }
        if (rank < capacity) pairs[rank] = pair;
    }
}

#ifdef CAROM_CHECKS
/* Pairs, when they are all there, are in strictly ascending order. They are not where more were
 * found than the list they came from has room for: then they will be found again. */
static __global__ void carom_pairs_expect_order(const carom_pair *pairs, uint64_t capacity,
                                                const carom_device_count *count,
                                                const carom_device_count *too_long) {
    carom_device_begin();
    if ((too_long != nullptr && *too_long != 0) || *count > capacity) return;
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i + 1 < *count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        carom_pair a = pairs[i], b = pairs[i + 1];
        CAROM_ASSERT(a.a < b.a || (a.a == b.a && a.b < b.b));
    }
}
#endif

/* Blocks per processor of kernels that go through all pairs. */
#define CAROM_PAIRS_BLOCKS 4u

static inline void carom_pairs_check_order(carom_device *device, const carom_pair *pairs,
                                           uint64_t capacity, const carom_device_count *count,
                                           const carom_device_count *too_long) {
#ifdef CAROM_CHECKS
    carom_device_launch(device, carom_pairs_expect_order,
                        CAROM_PAIRS_BLOCKS * (unsigned)device->processors, CAROM_PAIRS_THREADS,
                        pairs, capacity, count, too_long);
#else
    (void)device, (void)pairs, (void)capacity, (void)count, (void)too_long;
#endif
}

static inline uint64_t carom_pairs_row(uint32_t members) {
    return carom_device_row(((uint64_t)members + 1) * sizeof(uint32_t));
}

/* The bytes of counts, starts and the memory of adding up. */
static inline uint64_t carom_pairs_counts_bytes(uint32_t members) {
    return 2 * carom_pairs_row(members) + carom_device_scan_bytes((uint64_t)members + 1);
}

/* Reserves memory to sort up to `found` pairs of `members` first members. */
static inline carom_status carom_pairs_sort_reserve(carom_device *device, uint32_t members,
                                                    uint64_t found) {
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_PAIRS_SCATTERED,
                                                  found * sizeof(uint32_t), "sorting pairs"));
    return carom_device_reserve_scratch(device, CAROM_SCRATCH_PAIRS_COUNTS,
                                        carom_pairs_counts_bytes(members), "sorting pairs");
}

/* Takes the counts and queues their clearing. */
static inline uint32_t *carom_pairs_counts(carom_device *device, uint32_t members) {
    uint32_t *pair_counts = carom_device_take<uint32_t>(device, CAROM_SCRATCH_PAIRS_COUNTS,
                                                        carom_pairs_counts_bytes(members));
    (void)cudaMemsetAsync(pair_counts, 0, carom_pairs_row(members), device->stream);
    return pair_counts;
}

/* Reserves memory for so many pairs, and some more, in the result and, where they are to be
 * `sorted` by carom_pairs_sort, in scratch. The counter of pairs becomes that of the result. */
static inline carom_status carom_pairs_reserve(carom_device *device, carom_cuda_pairs *pairs,
                                               uint64_t entries, bool sorted, uint32_t members,
                                               carom_device_count *counter) {
    CAROM_DEVICE_TRY(carom_device_reserve_list(device, CAROM_SCRATCH_PAIRS_FOUND,
                                               entries + CAROM_DEVICE_LIST_ENTRIES,
                                               sizeof(uint64_t), "a search"));
    uint64_t found =
        carom_device_scratch_bytes(device, CAROM_SCRATCH_PAIRS_FOUND) / sizeof(uint64_t);
    CAROM_DEVICE_TRY(carom_device_reserve_pairs(device, pairs, found));
    pairs->device_count = (uint64_t *)counter;
    return sorted ? carom_pairs_sort_reserve(device, members, found) : CAROM_OK;
}

/* Where kernels append pairs: to scratch with counts if they are `sorted`, else to the result. */
static inline carom_found_pairs carom_found_pairs_of(carom_device *device, carom_device_op *op,
                                                     const carom_cuda_pairs *pairs, bool sorted,
                                                     uint32_t members, int counter) {
    if (!sorted)
        return carom_found_pairs{
            {(unsigned long long *)pairs->data, pairs->capacity, &op->counters->n[counter]},
            nullptr};
    carom_device_list<unsigned long long> list =
        carom_device_list_of<unsigned long long>(device, CAROM_SCRATCH_PAIRS_FOUND, op, counter);
    return carom_found_pairs{list, carom_pairs_counts(device, members)};
}

/* Whether there were more pairs than room. */
static inline bool carom_pairs_grow(carom_device *device, uint64_t found) {
    return carom_device_list_grows(device, CAROM_SCRATCH_PAIRS_FOUND, found, sizeof(uint64_t));
}

/* Queues the sorting of pairs that were found and counted. *too_long becomes 1 where a member has
 * too many pairs: then carom_pairs_sort_now is needed. */
static inline void carom_pairs_sort(carom_device *device, const carom_found_pairs &found,
                                    uint32_t members, const carom_cuda_pairs *pairs,
                                    carom_device_count *too_long) {
    unsigned grid = CAROM_PAIRS_BLOCKS * (unsigned)device->processors;
    uint32_t *starts = found.pair_counts + carom_pairs_row(members) / sizeof(uint32_t);
    void *temporary = (char *)found.pair_counts + 2 * carom_pairs_row(members);
    uint32_t *scattered = carom_device_take<uint32_t>(device, CAROM_SCRATCH_PAIRS_SCATTERED,
                                                      found.list.capacity * sizeof(uint32_t));
    carom_device_step(device, "canonical order");
    carom_device_scan(device, temporary, carom_device_scan_bytes((uint64_t)members + 1),
                      found.pair_counts, starts, (uint64_t)members + 1);
    carom_device_launch(device, carom_pairs_scatter, grid, CAROM_PAIRS_THREADS, found.list,
                        found.pair_counts, starts, scattered, members, too_long);
    carom_device_launch(device, carom_pairs_rank, grid, CAROM_PAIRS_THREADS, found.list, starts,
                        scattered, pairs->data, pairs->capacity, too_long);
    carom_pairs_check_order(device, pairs->data,
                            found.list.capacity < pairs->capacity ? found.list.capacity
                                                                  : pairs->capacity,
                            found.list.count, too_long);
}

/* ---- By CUB ---------------------------------------------------------------------------------- */

/* Exchanges the halves of pairs: as numbers in the order of pairs, and back. */
static __global__ void carom_pairs_exchange(unsigned long long *pairs, const uint64_t *count) {
    carom_device_begin();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < *count;
         i += (uint64_t)gridDim.x * blockDim.x)
        pairs[i] = pairs[i] << 32 | pairs[i] >> 32;
}

/* Sorts the pairs of a result where they are, and removes duplicates, now that their number is
 * known; *count becomes that of the distinct ones. Operations that were queued after this one and
 * read them are repeated. */
static inline carom_status carom_pairs_sort_now(carom_device *device, carom_cuda_pairs *pairs,
                                                uint64_t *count) {
    unsigned long long *sorted, *found = (unsigned long long *)pairs->data;
    size_t sort_bytes = 0, unique_bytes = 0;
    uint64_t row = CAROM_DEVICE_ALLOCATION, bytes = *count * sizeof(uint64_t);
    if (*count == 0) return CAROM_OK;
    CAROM_ASSERT(*count <= pairs->capacity);
    device->sorted = pairs;
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_PAIRS_SCATTERED, bytes,
                                                  "sorting pairs"));
    sorted = carom_device_take<unsigned long long>(device, CAROM_SCRATCH_PAIRS_SCATTERED, bytes);
    (void)cub::DeviceRadixSort::SortKeys(nullptr, sort_bytes, found, sorted, (int64_t)*count, 0,
                                         CAROM_PAIRS_KEY_BITS, device->stream);
    (void)cub::DeviceSelect::Unique(nullptr, unique_bytes, sorted, found, (uint64_t *)nullptr,
                                    (int64_t)*count, device->stream);
    bytes = row + (sort_bytes > unique_bytes ? sort_bytes : unique_bytes);
    CAROM_DEVICE_TRY(
        carom_device_reserve_scratch(device, CAROM_SCRATCH_PAIRS_COUNTS, bytes, "sorting pairs"));
    uint64_t *unique = carom_device_take<uint64_t>(device, CAROM_SCRATCH_PAIRS_COUNTS, bytes);
    void *temporary = (char *)unique + row;
    unsigned grid = CAROM_PAIRS_EXCHANGE_BLOCKS * (unsigned)device->processors;
    carom_device_launch(device, carom_pairs_exchange, grid, CAROM_PAIRS_THREADS, found,
                        pairs->device_count);
    (void)cub::DeviceRadixSort::SortKeys(temporary, sort_bytes, found, sorted, (int64_t)*count, 0,
                                         CAROM_PAIRS_KEY_BITS, device->stream);
    (void)cub::DeviceSelect::Unique(temporary, unique_bytes, sorted, found, unique, (int64_t)*count,
                                    device->stream);
    carom_device_launch(device, carom_pairs_exchange, grid, CAROM_PAIRS_THREADS, found, unique);
    (void)cudaMemcpyAsync(pairs->device_count, unique, sizeof(uint64_t), cudaMemcpyDeviceToDevice,
                          device->stream);
    carom_pairs_check_order(device, pairs->data, pairs->capacity,
                            (const carom_device_count *)unique, nullptr);
    CAROM_DEVICE_TRY(carom_device_check(
        device,
        cudaMemcpyAsync(count, unique, sizeof(*count), cudaMemcpyDeviceToHost, device->stream),
        "sorting pairs"));
    return carom_device_check(device, cudaStreamSynchronize(device->stream), "sorting pairs");
}

#endif
