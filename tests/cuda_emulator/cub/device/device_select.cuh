/* SPDX-License-Identifier: MIT */
/* device_select.cuh: entries that a condition selects, and those that differ from the one before. */
#ifndef CAROM_TESTS_CUDA_EMULATOR_CUB_DEVICE_SELECT_CUH
#define CAROM_TESTS_CUDA_EMULATOR_CUB_DEVICE_SELECT_CUH

#include "temporary.cuh"

namespace cub {
struct DeviceSelect {
    template <typename T, typename COUNT, typename CONDITION>
    static cudaError_t If(void *memory, size_t &bytes, const T *from, T *to, COUNT *selected,
                          int64_t count, CONDITION condition, cudaStream_t stream = nullptr) {
        auto work = [=]() {
            COUNT kept = 0;
            carom_emulated_apart(from, to, (size_t)count * sizeof(T));
            for (int64_t i = 0; i < count; ++i)
                if (condition(from[i])) to[kept++] = from[i];
            *selected = kept;
        };
        return carom_emulated_cub(memory, bytes, (size_t)count / 32 * sizeof(T), stream, work);
    }

    template <typename T, typename COUNT>
    static cudaError_t Unique(void *memory, size_t &bytes, const T *from, T *to, COUNT *selected,
                              int64_t count, cudaStream_t stream = nullptr) {
        auto work = [=]() {
            COUNT kept = 0;
            carom_emulated_apart(from, to, (size_t)count * sizeof(T));
            for (int64_t i = 0; i < count; ++i)
                if (i == 0 || !(from[i] == from[i - 1])) to[kept++] = from[i];
            *selected = kept;
        };
        return carom_emulated_cub(memory, bytes, (size_t)count / 32 * sizeof(T), stream, work);
    }
};
} // namespace cub

#endif
