#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every public header compiles alone, as C11, as C++17 and, where nvcc exists, as CUDA. Item headers
# (those that use CAROM_ITEM) compile as CUDA too: CPU and GPU share them.
# carom.h includes every header, and callers' bugs are tried for each.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
strict="-Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only"

for header in include/carom/*.h; do
    name=${header#include/}
    printf '#include "%s"\nextern int carom_not_empty;\n' "$name" >"$out/alone.c"
    for compiler in gcc clang; do
        if command -v $compiler >/dev/null; then $compiler -std=c11 $strict "$out/alone.c"; fi
    done
    cp "$out/alone.c" "$out/alone.cpp"
    for compiler in g++ clang++; do
        if command -v $compiler >/dev/null; then $compiler -std=c++17 $strict "$out/alone.cpp"; fi
    done
done
grep -q '"carom/' include/carom/carom.h
for header in include/carom/*.h; do
    name=${header#include/}
    [ "$name" = carom/carom.h ] || [ "$name" = carom/cuda.h ] ||
        grep -q "\"$name\"" include/carom/carom.h || { echo "carom.h does not include $name"; exit 1; }
    [ "$name" = carom/carom.h ] || [ "$name" = carom/cuda.h ] ||
        grep -q "\"${name#carom/}\"" tests/test_*bugs.c || { echo "no tests/test_*bugs.c tries the callers' bugs of $name"; exit 1; }
done

if command -v nvcc >/dev/null; then # one file with everything: starting nvcc takes seconds
    { for header in include/carom/*.h; do echo "#include \"${header#include/}\""; done
      for header in $(grep -l CAROM_ITEM src/*/*.h); do echo "#include \"${header#src/}\""; done
      echo '__global__ void carom_not_empty() {}'; } >"$out/all.cu"
    nvcc -std=c++17 --fmad=false -Werror all-warnings -diag-suppress 177 -Iinclude -Isrc -c "$out/all.cu" -o "$out/all.o"
else
    echo "no nvcc: not checked as CUDA"
fi
