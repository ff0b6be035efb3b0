/* SPDX-License-Identifier: MIT */
/* emulator.h: between the files of the emulator. */
#ifndef CAROM_TESTS_CUDA_EMULATOR_EMULATOR_H
#define CAROM_TESTS_CUDA_EMULATOR_EMULATOR_H

#include <cuda_runtime.h>

/* 0: threads and blocks in the order of their numbers; else an order that it chooses. From the
 * environment variable CAROM_EMULATED_SEED. */
extern const uint64_t carom_emulated_seed;

/* Runs a kernel; false where it used an address that is no memory. */
bool carom_emulated_run(const void *kernel, const cudaLaunchConfig_t &config,
                        const std::function<void()> &body);

/* The name of a function of this library, from its symbols. */
const char *carom_emulated_name(const void *function);

#endif
