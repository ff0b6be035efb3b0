/* SPDX-License-Identifier: MIT */
/* pairs_cuda.h: pairs that kernels found, brought into canonical order on the GPU.
 *
 * Pairs are counted by their first member, the counts are added up, and each pair finds its place
 * among the pairs of its first member by comparing their second ones. Members with very many
 * partners, and lists with duplicates, are sorted by CUB once the number of pairs is known. */
#ifndef CAROM_SRC_BASE_PAIRS_CUDA_H
#define CAROM_SRC_BASE_PAIRS_CUDA_H

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "base/device_cuda.h"

#define CAROM_PAIRS_THREADS 256u
#define CAROM_PAIRS_LONGEST                                                                        \
    1024u /* pairs of one member that are sorted by comparing all with all */

/* A pair as one number that lies in memory as a carom_pair does; device and host are little
 * endian. */
static __device__ inline unsigned long long carom_pair_pack(uint32_t a, uint32_t b) {
    return (unsigned long long)b << 32 | a;
}

static __device__ inline carom_pair carom_pair_of(unsigned long long key) {
    return carom_pair{(uint32_t)key, (uint32_t)(key >> 32)};
}

/* Where pairs that count go. */
struct carom_found_pairs {
    carom_device_list<unsigned long long> list; /* data NULL: they are counted only */
    uint32_t *tally;                            /* pairs by first member, or NULL */

    __device__ void count(unsigned long long key) const {
        if (tally != nullptr) atomicAdd(&tally[(uint32_t)key], 1u);
    }

    __device__ void add(unsigned long long key) const {
        count(key);
        carom_device_count at = atomicAdd(list.count, 1ull);
        if (at < list.capacity) list.data[at] = key;
    }
};

/* ---- By first member ------------------------------------------------------------------------- */

/* `starts` are the tallies added up; each tally counts down the slots that are taken. *too_long
 * becomes 1 where a member has too many pairs. */
static __global__ void carom_pairs_scatter(carom_device_list<unsigned long long> found,
                                           uint32_t *tally, const uint32_t *starts,
                                           uint32_t *scattered, carom_device_count *too_long) {
    carom_device_begin();
    uint64_t count = found.stored();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        carom_pair pair = carom_pair_of(found.data[i]);
        uint32_t begin = starts[pair.a];
        uint64_t slot = (uint64_t)begin + atomicSub(&tally[pair.a], 1u) - 1u;
        if (slot < count) scattered[slot] = pair.b;
        if (starts[pair.a + 1] - begin > CAROM_PAIRS_LONGEST) *too_long = 1;
    }
}

/* Each pair finds its place among the pairs of its first member by counting smaller ones. Where a
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
        }
        if (rank < capacity) pairs[rank] = pair;
    }
}

static inline size_t carom_pairs_scan_bytes(uint32_t members) {
    size_t bytes = 0;
    uint32_t *none = nullptr;
    (void)cub::DeviceScan::ExclusiveSum(nullptr, bytes, none, none, (int64_t)members + 1,
                                        (cudaStream_t) nullptr);
    return bytes;
}

static inline uint64_t carom_pairs_row(uint32_t members) {
    return (((uint64_t)members + 1) * sizeof(uint32_t) + CAROM_DEVICE_ALLOCATION) /
           CAROM_DEVICE_ALLOCATION * CAROM_DEVICE_ALLOCATION;
}

/* Reserves memory to sort up to `found` pairs of `members` first members. */
static inline carom_status carom_pairs_sort_reserve(carom_device *device, uint32_t members,
                                                    uint64_t found, carom_device_block *scattered,
                                                    carom_device_block *tally) {
    CAROM_DEVICE_TRY(
        carom_device_reserve(device, scattered, found * sizeof(uint32_t), "sorting pairs"));
    return carom_device_reserve(device, tally,
                                2 * carom_pairs_row(members) + carom_pairs_scan_bytes(members),
                                "sorting pairs");
}

/* Queues the clearing of the tally, which is returned. */
static inline uint32_t *carom_pairs_tally(carom_device *device, uint32_t members,
                                          const carom_device_block *tally) {
    (void)cudaMemsetAsync(tally->data, 0, carom_pairs_row(members), device->stream);
    return (uint32_t *)tally->data;
}

/* Queues the sorting of pairs that were found and counted. *too_long becomes 1 where a member has
 * too many pairs: then carom_pairs_sort_now is needed. */
static inline void carom_pairs_sort(carom_device *device, const carom_found_pairs &found,
                                    uint32_t members, const carom_device_block *scattered,
                                    const carom_device_block *tally, const carom_cuda_pairs *pairs,
                                    carom_device_count *too_long) {
    unsigned grid = 4u * (unsigned)device->processors;
    uint32_t *starts = found.tally + carom_pairs_row(members) / sizeof(uint32_t);
    void *temporary = (char *)tally->data + 2 * carom_pairs_row(members);
    size_t bytes = carom_pairs_scan_bytes(members);
    carom_device_step(device, "canonical order");
    (void)cub::DeviceScan::ExclusiveSum(temporary, bytes, found.tally, starts, (int64_t)members + 1,
                                        device->stream);
    carom_device_launch(device, carom_pairs_scatter, grid, CAROM_PAIRS_THREADS, found.list,
                        found.tally, starts, (uint32_t *)scattered->data, too_long);
    carom_device_launch(device, carom_pairs_rank, grid, CAROM_PAIRS_THREADS, found.list, starts,
                        (uint32_t *)scattered->data, pairs->data, pairs->capacity, too_long);
}

/* ---- By CUB ---------------------------------------------------------------------------------- */

/* Exchanges the halves of pairs: as numbers in the order of pairs, and back. */
static __global__ void carom_pairs_exchange(unsigned long long *pairs, const uint64_t *count) {
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < *count;
         i += (uint64_t)gridDim.x * blockDim.x)
        pairs[i] = pairs[i] << 32 | pairs[i] >> 32;
}

/* Sorts the pairs of a result where they are, and removes duplicates, now that their number is
 * known; *count becomes that of the distinct ones. */
static inline carom_status carom_pairs_sort_now(carom_device *device, carom_device_block *scattered,
                                                carom_device_block *tally, carom_cuda_pairs *pairs,
                                                uint64_t *count) {
    unsigned long long *sorted, *found = (unsigned long long *)pairs->data;
    size_t sort_bytes = 0, unique_bytes = 0;
    uint64_t row = CAROM_DEVICE_ALLOCATION;
    if (*count == 0) return CAROM_OK;
    CAROM_DEVICE_TRY(
        carom_device_reserve(device, scattered, *count * sizeof(uint64_t), "sorting pairs"));
    sorted = (unsigned long long *)scattered->data;
    (void)cub::DeviceRadixSort::SortKeys(nullptr, sort_bytes, found, sorted, (int64_t)*count, 0, 64,
                                         device->stream);
    (void)cub::DeviceSelect::Unique(nullptr, unique_bytes, sorted, found, (uint64_t *)nullptr,
                                    (int64_t)*count, device->stream);
    CAROM_DEVICE_TRY(carom_device_reserve(
        device, tally, row + (sort_bytes > unique_bytes ? sort_bytes : unique_bytes),
        "sorting pairs"));
    uint64_t *unique = (uint64_t *)tally->data;
    void *temporary = (char *)tally->data + row;
    unsigned grid = 8u * (unsigned)device->processors;
    carom_pairs_exchange<<<grid, CAROM_PAIRS_THREADS, 0, device->stream>>>(found,
                                                                           pairs->device_count);
    (void)cub::DeviceRadixSort::SortKeys(temporary, sort_bytes, found, sorted, (int64_t)*count, 0,
                                         64, device->stream);
    (void)cub::DeviceSelect::Unique(temporary, unique_bytes, sorted, found, unique, (int64_t)*count,
                                    device->stream);
    carom_pairs_exchange<<<grid, CAROM_PAIRS_THREADS, 0, device->stream>>>(found, unique);
    (void)cudaMemcpyAsync(pairs->device_count, unique, sizeof(uint64_t), cudaMemcpyDeviceToDevice,
                          device->stream);
    CAROM_DEVICE_TRY(carom_device_check(
        device,
        cudaMemcpyAsync(count, unique, sizeof(*count), cudaMemcpyDeviceToHost, device->stream),
        "sorting pairs"));
    return carom_device_check(device, cudaStreamSynchronize(device->stream), "sorting pairs");
}

#endif
