#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: wasm.sh JOBS. Builds the module of the npm package: build-wasm.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh wasm "$1" carom_wasm
