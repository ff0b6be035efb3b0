#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: build.sh PRESET JOBS [TARGET...]. Configures (each time: what was missing may have been
# installed since), then builds the targets, or everything with the tests; quiet unless something
# fails.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1 jobs=$2
shift 2
dir=build
[ "$preset" = release ] || dir=build-$preset
log=$(cmake --preset "$preset" -G "Unix Makefiles" 2>&1) || { echo "$log"; exit 1; }
cmake --build "$dir" -j "$jobs" ${1:+--target "$@"} -- --no-print-directory | { grep -v -e '\] Built target' -e '^Consolidate' || true; }
