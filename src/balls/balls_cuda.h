/* SPDX-License-Identifier: MIT */
/* balls_cuda.h: the grid of a packing in device memory, as its two halves share it:
 * balls_build_cuda.cu enters spheres, balls_cuda.cu asks. */
#ifndef CAROM_SRC_BALLS_BALLS_CUDA_H
#define CAROM_SRC_BALLS_BALLS_CUDA_H

#include "balls/balls_device.h"
#include "base/device_cuda.h"

#define REPLICAS 8u /* of what very many blocks of a query read at once or add to */

/* Blocks of scratch; those of soups come before them. */
enum { SORT = 20, BINS, SPHERES, COUNTS, STATES, FLAGS, MEETINGS, OVERLAPS, FOUND, SORTED, LARGES };

/* A grid in device memory, with positions and radii in its units. Of `v`, only `spheres` and
 * `starts` point to arrays; starts are those of entries. */
struct grid_view {
    carom_balls_view v;
    const float4 *askers;    /* spheres as they ask: position, reach */
    const float *near_radii; /* the larger of inner and secondary radius */
    const float4 *groups;    /* balls around the positions of 32 consecutive spheres */
    const float4 *entries;   /* position, near */
    const uint4 *links;      /* rank; tag; reach */
};

struct grid_arrays {
    carom_device_block spheres, askers, near_radii, groups, starts, entries, links;
};

struct carom_device_balls {
    grid_arrays arrays[2]; /* the current ones, and those that the next change fills */
    int current;
    carom_device_block view; /* REPLICAS of grid_view; where they lie never changes */
    carom_balls_view host;   /* its numbers, for launches */
    uint64_t entries, wanted;
};

static inline uint64_t row(uint64_t bytes) {
    return (bytes / CAROM_DEVICE_ALLOCATION + 1) * CAROM_DEVICE_ALLOCATION;
}

static __host__ __device__ inline uint64_t words_for(uint32_t count) {
    return ((uint64_t)count + 31u) / 32u;
}

/* The level, and the lowest nine bits of a cell along each axis: cells of one sphere are fewer than
 * 512 along each (CAROM_BALLS_FINE_SIDE). */
static __device__ inline uint32_t tag_of(uint32_t x, uint32_t y, uint32_t z, uint32_t level) {
    return (x & 511u) | (y & 511u) << 9 | (z & 511u) << 18 | level << 27;
}

/* Makes a block large enough and sets what is new to 0. */
static inline carom_status reserve_zeros(carom_device *device, int block, uint64_t bytes) {
    if (bytes <= device->scratch[block].bytes) return CAROM_OK;
    CAROM_DEVICE_TRY(carom_device_reserve(device, &device->scratch[block], bytes, "balls"));
    return carom_device_check(
        device, cudaMemsetAsync(device->scratch[block].data, 0, bytes, device->stream), "balls");
}

carom_status carom_balls_cuda_create(carom_device *device, carom_device_balls **out);
void carom_balls_cuda_destroy(carom_device_balls *balls);
uint64_t carom_balls_cuda_bytes(const carom_device_balls *balls);
uint64_t carom_balls_cuda_entries(const carom_device_balls *balls);
carom_status carom_balls_cuda_set(carom_device *device, carom_device_balls *balls,
                                  const carom_balls_view *view,
                                  const carom_packing_sphere *spheres);

#endif
