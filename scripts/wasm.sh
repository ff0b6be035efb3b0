#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: wasm.sh JOBS. Builds the modules of the npm package: build-wasm and build-wasm-threads.
set -euo pipefail
cd "$(dirname "$0")/.."
for preset in wasm wasm-threads; do
    scripts/build.sh $preset "$1" carom_wasm
done
