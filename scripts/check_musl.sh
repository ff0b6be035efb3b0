#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One answer with every C library: shapes, starts and gases are the same bytes with musl as with the
# library that was built. Only what these need is compiled again, without optional libraries.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
command -v musl-gcc >/dev/null || { echo "no musl-gcc on this machine"; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
flags=(-std=c11 -O0 -ffp-contract=off -Iinclude -Isrc -I. "-I$build/generated"
       -DCAROM_ISA_SUFFIX=baseline '-DCAROM_CUDA_LIBRARY="none"')

cc "${flags[@]}" tests/musl/same.c scenes/*.c src/base/math.c -o "$out/here" \
    "-L$build/lib" -lcarom "-Wl,-rpath,$build/lib" -lm
for source in src/{base,geom,mesh,gas}/*.c scenes/*.c tests/musl/same.c; do echo "$source"; done |
    xargs -P 2 -I{} sh -c 'source=$1 && shift && musl-gcc "$@" -c "$source" -o "$0/$(echo "$source" | tr / _).o"' \
        "$out" {} "${flags[@]}"
musl-gcc -static "$out"/*.o -o "$out/musl"
"$out/here" >"$out/here.txt"
"$out/musl" >"$out/musl.txt"
[ "$(wc -l <"$out/here.txt")" -gt 12 ]
diff "$out/here.txt" "$out/musl.txt" || { echo "musl gives something else"; exit 1; }
grep collisions "$out/musl.txt"
