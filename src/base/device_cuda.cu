/* SPDX-License-Identifier: MIT */
/* The GPU library's answer to "which device?". */
#include <cstdio>

#include "base/device.h"

extern "C" __attribute__((visibility("default"))) bool carom_cuda_describe_device_1(char *line,
                                                                                    size_t size) {
    int count = 0, device = 0, driver = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        snprintf(line, size, "none: %s",
                 error != cudaSuccess ? cudaGetErrorString(error) : "no CUDA device");
        return false;
    }
    cudaDeviceProp properties;
    if (cudaGetDevice(&device) != cudaSuccess || cudaDriverGetVersion(&driver) != cudaSuccess ||
        cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
        snprintf(line, size, "none: the device does not answer");
        return false;
    }
    snprintf(line, size, "%s, compute %d.%d, %.0f GiB, CUDA %d.%d", properties.name,
             properties.major, properties.minor,
             (double)properties.totalGlobalMem / (1024.0 * 1024.0 * 1024.0), driver / 1000,
             driver % 1000 / 10);
    return true;
}
