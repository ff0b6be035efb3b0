/* SPDX-License-Identifier: MIT */
/* solid_cuda.h: a solid in device memory, and sums in fixed point there. */
#ifndef CAROM_SRC_SOLID_SOLID_CUDA_H
#define CAROM_SRC_SOLID_SOLID_CUDA_H

#include "base/device_cuda.h"
#include "bvh/bvh.h"
#include "solid/solid_update_device.h"

/* What updates on the device need beside the arrays of a solid (solid_update_cuda.cu): in one block
 * of memory, from the first of them on. */
typedef struct carom_device_solid_updates {
    carom_device_block memory; /* empty: not prepared */
    carom_device_solid_faces faces;
    double *given; /* positions from the host */
    struct solid_cuda_measures *measures;
    double *sizes;                    /* of each triangle */
    double *areas, *side_lengths;     /* of each part of CAROM_SOLID_PART triangles */
    unsigned long long *largest_size; /* of each region */
    uint32_t *largest, *open;         /* of each region; triangles left to the host */
    carom_solid_sum *totals;          /* of each part of prefix sums */
    /* of meshes that intersect themselves, in a block of its own: the triangles across sides, which
     * are copied once; per triangle the first one of its region, and its number of triangles; and
     * lists of touched triangles and of regions, then how many there are of these */
    carom_device_block joined;
    uint32_t *across, *firsts, *counts, *list;
    bool positions_pinned, nodes_pinned, blocks_pinned; /* arrays of the host */
} carom_device_solid_updates;

struct carom_device_solid {
    carom_device_solid_arrays arrays; /* with pointers to device memory */
    carom_device_block memory;
    carom_device_solid_updates updates;
};

/* Frees what updates have taken (solid_update_cuda.cu). */
void carom_solid_cuda_release_updates(carom_device_solid *solid);

/* Adds to a sum modulo 2^128, in any order of threads. */
static __device__ inline void carom_solid_cuda_add(carom_solid_sum *to, uint64_t low,
                                                   uint64_t high) {
    if (low != 0) {
        carom_device_count before = atomicAdd((carom_device_count *)&to->low, low);
        if (before + low < low) ++high;
    }
    if (high != 0) (void)atomicAdd((carom_device_count *)&to->high, high);
}

/* The sum over a warp, in all lanes. */
static __device__ inline carom_solid_sum carom_solid_cuda_sum_of_warp(carom_solid_sum x) {
    for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2) {
        carom_solid_sum other;
        other.low = __shfl_xor_sync(~0u, x.low, step);
        other.high = __shfl_xor_sync(~0u, x.high, step);
        carom_solid_add_sum(&x, other);
    }
    return x;
}

#endif
