/* SPDX-License-Identifier: MIT */
/* scan_cuda.h: counts added up on the GPU: where the entries of each counter begin.
 *
 * Structures on the GPU are made in two passes, which count entries and then write them. The starts
 * between the passes are the sums of all counts before. */
#ifndef CAROM_SRC_BASE_SCAN_CUDA_H
#define CAROM_SRC_BASE_SCAN_CUDA_H

#include <cub/device/device_scan.cuh>

#include "base/device_cuda.h"

/* Bytes of memory that adding up `count` numbers takes. */
static inline size_t carom_device_scan_bytes(uint64_t count) {
    size_t bytes = 0;
    uint32_t *none = nullptr;
    (void)cub::DeviceScan::ExclusiveSum(nullptr, bytes, none, none, (int64_t)count,
                                        (cudaStream_t) nullptr);
    return bytes;
}

#ifdef CAROM_CHECKS
#define CAROM_DEVICE_SCAN_THREADS 256u

static __global__ void carom_device_expect_starts(const uint32_t *counts, const uint32_t *starts,
                                                  uint64_t count) {
    carom_device_begin();
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 >= count) return;
    CAROM_ASSERT(starts[i] <= starts[i + 1]);
    CAROM_ASSERT(starts[i + 1] - starts[i] == counts[i]);
}
#endif

/* Queues the sums; `bytes` of memory as carom_device_scan_bytes says. */
static inline void carom_device_scan(carom_device *device, void *memory, size_t bytes,
                                     const uint32_t *counts, uint32_t *starts, uint64_t count) {
    (void)cub::DeviceScan::ExclusiveSum(memory, bytes, counts, starts, (int64_t)count,
                                        device->stream);
#ifdef CAROM_CHECKS
    carom_device_launch(device, carom_device_expect_starts,
                        carom_device_blocks(count, CAROM_DEVICE_SCAN_THREADS),
                        CAROM_DEVICE_SCAN_THREADS, counts, starts, count);
#endif
}

#endif
