/* SPDX-License-Identifier: MIT */
/* device_scan.cuh: what comes before each entry, added up. Input and output may be the same. */
#ifndef CAROM_TESTS_CUDA_EMULATOR_CUB_DEVICE_SCAN_CUH
#define CAROM_TESTS_CUDA_EMULATOR_CUB_DEVICE_SCAN_CUH

#include "temporary.cuh"

namespace cub {
struct DeviceScan {
    template <typename FROM, typename T, typename OPERATION>
    static cudaError_t ExclusiveScan(void *memory, size_t &bytes, const FROM *from, T *to,
                                     OPERATION add, T first, int64_t count,
                                     cudaStream_t stream = nullptr) {
        auto work = [=]() {
            T sum = first;
            for (int64_t i = 0; i < count; ++i) {
                T next = add(sum, (T)from[i]);
                to[i] = sum;
                sum = next;
            }
        };
        return carom_emulated_cub(memory, bytes, (size_t)count / 32 * sizeof(T), stream, work);
    }

    template <typename FROM, typename T>
    static cudaError_t ExclusiveSum(void *memory, size_t &bytes, const FROM *from, T *to,
                                    int64_t count, cudaStream_t stream = nullptr) {
        return ExclusiveScan(
            memory, bytes, from, to, [](T a, T b) { return (T)(a + b); }, T{}, count, stream);
    }
};
} // namespace cub

#endif
