/* SPDX-License-Identifier: MIT */
/* temporary.cuh: the memory that CUB's algorithms ask for and use as they like. */
#ifndef CAROM_TESTS_CUDA_EMULATOR_CUB_TEMPORARY_CUH
#define CAROM_TESTS_CUDA_EMULATOR_CUB_TEMPORARY_CUH

#include <cuda_runtime.h>

#define CAROM_EMULATED_TEMPORARY 256u /* bytes at least */
#define CAROM_EMULATED_RUBBISH   0x5A

/* Queues `work`, which takes so many bytes of memory, or says how many it takes. */
template <typename WORK>
static inline cudaError_t carom_emulated_cub(void *memory, size_t &bytes, size_t needed,
                                             cudaStream_t stream, WORK work) {
    needed += CAROM_EMULATED_TEMPORARY;
    if (memory == nullptr) {
        bytes = needed;
        return cudaSuccess;
    }
    if (bytes < needed) return cudaErrorInvalidValue;
    return carom_emulated_queue(stream, [memory, needed, work]() {
        work();
        memset(memory, CAROM_EMULATED_RUBBISH, needed);
    });
}

/* Input and output of an algorithm that may not overlap. */
static inline void carom_emulated_apart(const void *from, const void *to, size_t bytes) {
    uintptr_t a = (uintptr_t)from, b = (uintptr_t)to;
    if (bytes != 0 && a < b + bytes && b < a + bytes) carom_emulated_stop("input and output of CUB overlap");
}

#endif
