#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A second compiler has no warnings either. The folder is kept, so that the next time only what
# changed is compiled.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
command -v clang >/dev/null || { echo "no clang on this machine"; exit 77; }
dir=$build/clang
[ -f "$dir/Makefile" ] || cmake -S . -B "$dir" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
    -DCMAKE_BUILD_TYPE=Release --log-level=WARNING
cmake --build "$dir" -j 2
