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
flags=(-std=c11 -ffp-contract=off -Iinclude -Isrc -I. "-I$build/generated" -DCAROM_ISA_SUFFIX=baseline
       '-DCAROM_CUDA_LIBRARY="none"' -Wno-psabi)

# What is compared is made by the scenes and hashed by the program: these are worth compiling well. Piles are left
# out: they need hulls.
shopt -s extglob
cc "${flags[@]}" -O1 tests/musl/same.c scenes/!(pile).c src/base/math.c -o "$out/here" \
    "-L$build/lib" -lcarom "-Wl,-rpath,$build/lib" -lm
# Names in src/ are unique (check_names.sh): it may be compiled as one file, with one macro for the C library.
{ echo '#define _GNU_SOURCE'; printf '#include "%s"\n' src/{base,geom,mesh,gas}/*.c; } >"$out/all.c"
musl-gcc "${flags[@]}" -O0 -c "$out/all.c" -o "$out/all.o"
musl-gcc "${flags[@]}" -O1 -static tests/musl/same.c scenes/!(pile).c "$out/all.o" -o "$out/musl"
"$out/here" >"$out/here.txt"
"$out/musl" >"$out/musl.txt"
[ "$(wc -l <"$out/here.txt")" -gt 12 ]
diff "$out/here.txt" "$out/musl.txt" || { echo "musl gives something else"; exit 1; }
grep collisions "$out/musl.txt"
