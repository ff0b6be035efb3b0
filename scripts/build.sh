#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: build.sh PRESET JOBS [TARGET...]. Configures (each time: what was missing may have been
# installed since), then builds the targets, or everything with the tests; quiet unless something
# fails. Where no GPU would run them, tests only see that kernels compile, unless these were compiled
# before or all tests are to run (preset X-full): that takes a tenth of the time.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1 jobs=$2
shift 2
dir=build
[ "$preset" = release ] || dir=build-$preset
kernels=() # as they were
if [ $# -gt 0 ] || [[ $preset = *-full ]]; then
    kernels=(-DCAROM_CUDA_PTX=OFF)
elif [ ! -e /dev/nvidia0 ] && [ ! -e "$dir/lib/libcarom_cuda.so" ]; then
    kernels=(-DCAROM_CUDA_PTX=ON)
fi
log=$(cmake --preset "$preset" -G "Unix Makefiles" "${kernels[@]}" 2>&1) || { echo "$log"; exit 1; }
cmake --build "$dir" -j "$jobs" ${1:+--target "$@"} -- --no-print-directory | { grep -v -e '\] Built target' -e '^Consolidate' || true; }
