#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every source names its licence and keeps to the format of .clang-format. A test that says "One
# thread.", so that the thread sanitizer leaves it out, makes no context with more. Public functions
# enter their context with CAROM_ENTER, which checks more than that it is not NULL. What depends on an
# instruction set is in src/base/simd.h alone, and items have no vectors. No pointer is made from an
# integer, which drops const. Lists in comments have one item per line: below an item stand the next
# item, more of it, indented, or an empty line. Functions and files are short.
set -euo pipefail
cd "$(dirname "$0")/.."
sources=$(scripts/sources.sh '\.c' '\.h' '\.cu' '\.cpp' '\.sh' '\.py' '\.cmake' CMakeLists.txt Makefile '\.ci/run')
bad=$(echo "$sources" | xargs awk '
    FNR <= 2 && /SPDX-License-Identifier: MIT/ { named[FILENAME] }
    FNR == 2 { nextfile }
    END { for (i = 1; i < ARGC; ++i) if (!(ARGV[i] in named)) print ARGV[i] }')
[ -z "$bad" ] || { echo "no SPDX line in:"; echo "$bad"; exit 1; }
bad=$(grep -lF 'One thread.' tests/test_*.c | xargs grep -nE 'test_context(_isa)?\(([02-9]|1[0-9]|[a-z])|threads = ([02-9]|1[0-9])|pthread_' || true)
[ -z "$bad" ] || { echo "more than one thread, where the first comment says one:"; echo "$bad"; exit 1; }
bad=$(grep -nE 'CAROM_REQUIRE(_OR)?\(\(?context\)? != NULL' -r src || true)
[ -z "$bad" ] || { echo "write CAROM_ENTER(context):"; echo "$bad"; exit 1; }
bad=$(grep -nE '\b_mm[0-9]*_|_MM_|\b__m(128|256|512|mask)|vector_size|ext_vector_type|__builtin_(shuffle|convertvector)|__builtin_ia32_[^p]|__(AVX|SSE|FMA|BMI|ARM_NEON|wasm_simd)|(immintrin|arm_neon|wasm_simd128)\.h' -r src | grep -v '^src/base/simd\.h:' || true)
[ -z "$bad" ] || { echo "intrinsics, instruction sets and vector types are for src/base/simd.h alone; write a function there, with plain C beside it:"; echo "$bad"; exit 1; }
# Assimp gives its scenes as const only, and one of its readers has to be mended in them. Numbers written as such are
# addresses that nothing has, for tests.
bad=$(grep -nE '\*( *const)? *\) *\( *u?intptr_t *\) *[^0-9 ]|(const_cast|reinterpret_cast) *<[^>]*\*> *\( *u?intptr_t' -r src cli tests examples mpi bench/*.[ch] scenes fuzz | grep -v '^src/mesh/mesh_assimp\.c:' || true)
[ -z "$bad" ] || { echo "a pointer made from an integer drops const unseen by the compiler; own what is written, or take const pointers:"; echo "$bad"; exit 1; }
bad=$(grep -nE 'base/simd\.h|\bcarom_[fiu](32|64)(v|x[0-9])|CAROM_(SIMD|LANES)' -r src --include='*_item.h' || true)
[ -z "$bad" ] || { echo "an item is compiled for the GPU too; move its vectors to an X_cpu.c:"; echo "$bad"; exit 1; }
bad=$(echo "$sources" | grep -E '\.(c|h|cu|cpp)$' | xargs awk '
    FNR == 1 { item = 0 }
    /^ *(\*|\/\*).*[.;:] (- |[2-9]\. )[A-Z`][a-z_`]/ { print FILENAME ":" FNR ": an item in the middle of a line" }
    { stars = match($0, /^ *\*  */) ? RLENGTH : 0 }
    item && stars && stars <= item && !/^ *\*  *(- |[0-9]\. |\/)/ { print FILENAME ":" FNR ": indent it, or an empty line before it" }
    /^ *\*  *(- |[0-9]\. )/ { item = stars; next }
    !stars || stars <= item { item = 0 }')
[ -z "$bad" ] || { echo "lists in comments:"; echo "$bad"; exit 1; }
bad=$(echo "$sources" | grep -E '^(src|cli|bench)/.*\.(c|h|cu|cpp)$' | xargs awk '
    FNR == 1 { begin = 0 }
    FNR == 1201 && FILENAME != "src/gas/gas_run_cpu.c" { print FILENAME ": more than 1,200 lines" }
    /^[A-Za-z_].*\) *{$/ || /^[( ].*\) {$/ { if (!begin) begin = FNR }
    /^}/ { if (begin && !/;/ && FNR - begin >= 80) print FILENAME ":" begin ": a function of " FNR - begin + 1 " lines"; begin = 0 }')
[ -z "$bad" ] || { echo "no function above 80 lines, no file above 1,200 but the loop of the gas:"; echo "$bad"; exit 1; }
bad=$(echo "$sources" | grep -E '\.(c|h|cu|cpp)$' | LC_ALL=C xargs awk '{ gsub(/[\200-\277]/, "") } length > 100 { print FILENAME ":" FNR }')
[ -z "$bad" ] || { echo "longer than 100 columns (the formatter leaves comments alone):"; echo "$bad"; exit 1; }
formatter=$(command -v clang-format-14 || command -v clang-format || true)
case "$("${formatter:-true}" --version)" in
*"version 14."*) echo "$sources" | grep -E '\.(c|h|cu|cpp)$' | xargs "$formatter" --dry-run -Werror ;;
*) echo "no clang-format 14: format not checked"; exit 77 ;;
esac
