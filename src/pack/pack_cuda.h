/* SPDX-License-Identifier: MIT */
/* pack_cuda.h: what the two halves of packing on the GPU share: the state of a round as kernels see
 * it. pack_examine_cuda.cu examines the cells of groups; pack_cuda.cu does the rest. */
#ifndef CAROM_SRC_PACK_PACK_CUDA_H
#define CAROM_SRC_PACK_PACK_CUDA_H

#include <cstring>

#include "base/device_cuda.h"
#include "bvh/bvh_winding_cpu.h"
#include "pack/pack_device.h"

#define CHUNK_CELLS        32u /* of what a group leaves, in one piece */
#define PACK_CUDA_NO_INDEX UINT32_MAX

struct pack_cuda_group {
    uint32_t begin, end; /* cells */
};

/* What a group left: `stored` cells in chunks, and those from `rest` on as they were. */
struct outcome {
    uint32_t first, stored, rest;
};

/* How many of them: to be examined in this round, in later ones; and 1 if there are of the first.
 */
struct pack_cuda_counts {
    uint32_t active, waiting, some;
};

/* A ball that a group found. */
struct pack_cuda_candidate {
    double x, y, z, radius;
};

/* A cell of the grid and its list of balls: `count` of them, after which `fresh` are being added.
 * There is space for the next power of two, eight at least. */
struct pack_cuda_slot {
    unsigned long long key;
    uint32_t start, count, fresh, unused;
};

/* A ball that is being added to a list, and how many were before it. */
struct pack_cuda_entry {
    uint32_t slot, ball, rank;
};

#define NO_KEY      (~0ull)
#define MOST_PROBES 512u

/* Counters, on the device. */
struct counters {
    /* Of a pass. */
    unsigned next_group, chunks, candidates;
    unsigned unresolved; /* a float that is not negative, as an integer of the same order */
    unsigned long long visits;

    unsigned largest; /* likewise */
    unsigned selected;

    /* Of the grid. */
    unsigned slots, entries, grid_full, unused;
    unsigned long long used; /* of the pool */
};

/* What there was no space for: bits of grid_full. */
enum { SLOTS_FULL = 1, ENTRIES_FULL = 2, POOL_FULL = 4 };

/* What kernels read. */
struct pack_cuda_view {
    const carom_bvh_node *nodes;
    const carom_bvh_corners *corners;
    uint64_t level_start[CAROM_BVH_LEVELS];
    uint32_t level_count;
    bool fast;
    double centre_unit, unit, last_rho, rho, enough;
    carom_vec3 low;

    carom_spheres_ball *balls;
    pack_cuda_slot *slots;
    uint32_t *pool; /* of lists */
    uint64_t slot_mask;
    uint32_t pool_size, entry_capacity;
    pack_cuda_entry *entries;
    double cell[CAROM_PACK_LEVELS], reach;

    const carom_pack_node *active;
    const pack_cuda_group *groups;
    uint32_t group_count;

    outcome *outcomes;
    pack_cuda_counts *cell_counts;
    carom_pack_node *chunks;
    uint32_t *chunk_next;
    uint32_t chunk_capacity;
    pack_cuda_candidate *candidates;
    uint64_t *keys;   /* of candidates: larger radii first, then the order of the groups */
    uint32_t *starts; /* of prototypes: the guess that each begins at */
    counters *n;
};

static __device__ inline unsigned lane_of() {
    return threadIdx.x % CAROM_WARP;
}

/* Cells of different levels have different keys: those above the lowest have indices below 2^16. */
static __device__ inline uint64_t level_key(uint32_t level, int64_t x, int64_t y, int64_t z) {
    if (level == 0) return carom_pack_key(x, y, z);
    return UINT64_C(1) << 63 | carom_pack_key(x + ((int64_t)level << 17), y, z);
}

/* Queues the examination of all groups. */
carom_status carom_pack_cuda_examine(carom_device *device, const pack_cuda_view &v);

/* Queues the guesses and moves of a batch of prototypes: candidates, and the largest radius in
 * n->largest. */
void carom_pack_cuda_climb(carom_device *device, const pack_cuda_view &v,
                           const carom_device_prototypes &prototypes);

#endif
