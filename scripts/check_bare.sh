#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Meshes are read and written without zlib and assimp too, and what needs them says so. The folder is
# kept, so that the next time only what changed is compiled.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
dir=$build/bare
[ -f "$dir/Makefile" ] || cmake -S . -B "$dir" -DCAROM_ZLIB=OFF -DCAROM_ASSIMP=OFF -DCAROM_EXAMPLES=OFF \
    -DCMAKE_BUILD_TYPE=Release --log-level=WARNING
for test in test_mesh_read test_mesh_write test_mesh_models; do
    cmake --build "$dir" -j 2 --target $test
    "$dir/tests/$test"
done
