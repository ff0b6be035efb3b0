/* SPDX-License-Identifier: MIT */
/* device.h: what every test on the GPU needs. */
#ifndef CAROM_TESTS_CUDA_DEVICE_H
#define CAROM_TESTS_CUDA_DEVICE_H

#include <cstdio>

extern "C" { /* cmocka's header does not say so itself */
#include "tests/support/test.h"
}

#define THREADS 128u

static inline void check(cudaError_t error, const char *what) {
    if (error != cudaSuccess) fail_msg("%s: %s", what, cudaGetErrorString(error));
}
#define CHECK(call) check(call, #call)

/* Blocks of THREADS that hold `count`. */
static inline unsigned blocks(uint64_t count) {
    return (unsigned)((count + THREADS - 1) / THREADS);
}

/* Starts a kernel with blocks of THREADS. */
template <typename... PARAMETERS, typename... ARGUMENTS>
static inline void launch(void (*kernel)(PARAMETERS...), unsigned count, ARGUMENTS... arguments) {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(count);
    config.blockDim = dim3(THREADS);
    CHECK(cudaLaunchKernelEx(&config, kernel, PARAMETERS(arguments)...));
}

/* Memory on the device that frees itself. */
template <typename T> struct device_array {
    T *data = nullptr;
    size_t count;
    explicit device_array(size_t n) : count(n) {
        CHECK(cudaMalloc(&data, n * sizeof(T)));
    }
    device_array(const device_array &) = delete;
    device_array &operator=(const device_array &) = delete;
    ~device_array() {
        cudaFree(data);
    }
    void set(const T *from, size_t n) {
        CHECK(cudaMemcpy(data, from, n * sizeof(T), cudaMemcpyDefault));
    }
    void get(T *to) const {
        CHECK(cudaMemcpy(to, data, count * sizeof(T), cudaMemcpyDefault));
    }
    void clear() {
        CHECK(cudaMemsetAsync(data, 0, count * sizeof(T)));
    }
};

/* Time on the device between start and stop. */
struct stopwatch {
    cudaEvent_t begin, end;
    stopwatch() {
        CHECK(cudaEventCreate(&begin));
        CHECK(cudaEventCreate(&end));
    }
    stopwatch(const stopwatch &) = delete;
    stopwatch &operator=(const stopwatch &) = delete;
    ~stopwatch() {
        cudaEventDestroy(begin);
        cudaEventDestroy(end);
    }
    void start() {
        CHECK(cudaEventRecord(begin));
    }
    double stop_ms() {
        float elapsed;
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&elapsed, begin, end));
        return (double)elapsed;
    }
};

/* Runs the tests where there is a device; else 77, "skipped". */
#define RUN_ON_DEVICE(name, tests)                                                                 \
    (has_device() ? cmocka_run_group_tests_name(name, tests, NULL, NULL) : 77)
static inline bool has_device() {
    int devices = 0;
    bool there = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
    if (!there) printf("no CUDA device\n");
    return there;
}

#endif
