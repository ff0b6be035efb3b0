#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: build.sh PRESET JOBS. Configures once, then builds; quiet unless something fails.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1 jobs=$2
dir=build
[ "$preset" = release ] || dir=build-$preset
[ -f "$dir/CMakeCache.txt" ] && [ -f "$dir/Makefile" ] || cmake --preset "$preset" --log-level=WARNING
cmake --build "$dir" -j "$jobs" -- --no-print-directory | grep -v -e '^\[.*\] Built target' -e '^Consolidate' || [ "${PIPESTATUS[0]}" = 0 ]
