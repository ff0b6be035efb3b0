#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: test_cuda_emulated.sh BUILD-FOLDER JOBS. The tests of the GPU with kernels that run on the CPU
# (tests/cuda_emulator), first with threads in the order of their numbers, then in an order by a seed, which
# CAROM_EMULATED_SEED may give.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1 jobs=$2
for seed in 0 "${CAROM_EMULATED_SEED:-1}"; do
    CAROM_EMULATED_SEED=$seed ctest --test-dir "$dir" -j "$jobs" -R cuda --output-on-failure --no-tests=error
done
