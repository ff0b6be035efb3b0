/* SPDX-License-Identifier: MIT */
/* device_radix_sort.cuh: stable sorting by some bits of keys. */
#ifndef CAROM_TESTS_CUDA_EMULATOR_CUB_DEVICE_RADIX_SORT_CUH
#define CAROM_TESTS_CUDA_EMULATOR_CUB_DEVICE_RADIX_SORT_CUH

#include "temporary.cuh"

namespace cub {
struct DeviceRadixSort {
    template <typename KEY, typename VALUE>
    static cudaError_t SortPairs(void *memory, size_t &bytes, const KEY *keys, KEY *sorted,
                                 const VALUE *values, VALUE *ordered, int64_t count, int first,
                                 int end, cudaStream_t stream = nullptr) {
        auto work = [=]() {
            const size_t n = (size_t)count;
            std::vector<std::pair<KEY, VALUE>> all(n);
            carom_emulated_apart(keys, sorted, n * sizeof(KEY));
            carom_emulated_apart(values, ordered, n * sizeof(VALUE));
            for (size_t i = 0; i < n; ++i) all[i] = std::pair<KEY, VALUE>(keys[i], values[i]);
            sort<KEY>(all, first, end, [](const std::pair<KEY, VALUE> &x) { return x.first; });
            for (size_t i = 0; i < n; ++i) {
                sorted[i] = all[i].first;
                ordered[i] = all[i].second;
            }
        };
        return carom_emulated_cub(memory, bytes, (size_t)count * (sizeof(KEY) + sizeof(VALUE)),
                                  stream, work);
    }

    template <typename KEY>
    static cudaError_t SortKeys(void *memory, size_t &bytes, const KEY *keys, KEY *sorted,
                                int64_t count, int first, int end, cudaStream_t stream = nullptr) {
        auto work = [=]() {
            std::vector<KEY> all(keys, keys + count);
            carom_emulated_apart(keys, sorted, (size_t)count * sizeof(KEY));
            sort<KEY>(all, first, end, [](KEY x) { return x; });
            std::copy(all.begin(), all.end(), sorted);
        };
        return carom_emulated_cub(memory, bytes, (size_t)count * sizeof(KEY), stream, work);
    }

  private:
    /* By eight bits after the other, but for those that are the same in all. */
    template <typename KEY, typename T, typename KEY_OF>
    static void sort(std::vector<T> &all, int first, int end, KEY_OF key_of) {
        static_assert(std::is_unsigned<KEY>::value, "keys");
        std::vector<T> other(all.size());
        for (int bit = first; bit < end; bit += 8) {
            const KEY mask = (KEY)((1u << std::min(8, end - bit)) - 1u);
            size_t starts[257] = {0}, most = 0;
            for (const T &x : all) ++starts[(key_of(x) >> bit & mask) + 1];
            for (size_t count : starts) most = std::max(most, count);
            if (most == all.size()) continue;
            for (int i = 0; i < 256; ++i) starts[i + 1] += starts[i];
            for (const T &x : all) other[starts[key_of(x) >> bit & mask]++] = x;
            all.swap(other);
        }
    }
};
} // namespace cub

#endif
