#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The library, the scenes and the tool's gases take nothing from libm that rounds but sqrt: C
# libraries differ in the rest, and base/math.h has our own.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
command -v nm >/dev/null || { echo "no nm on this machine"; exit 77; }

# Rounded in one way by IEEE 754, or not at all.
exact="sqrt fabs floor ceil trunc rint nearbyint round lround llround lrint llrint frexp ldexp scalbn
       scalbln ilogb logb modf copysign fmin fmax fmod remainder nextafter nan"
rounding="sin cos tan sincos asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 exp10 pow10
          expm1 log log2 log10 log1p pow cbrt hypot erf erfc gamma lgamma tgamma j0 j1 jn y0 y1 yn fma"
suffixed() { for name in $1; do printf '%s\n%sf\n%sl\n' "$name" "$name" "$name"; done | sort -u; }

used() { nm -u "$@" 2>/dev/null | awk 'NF == 2 {print $2}' | sed 's/@.*//' | sort -u; }
parts=$build/CMakeFiles/carom_cli_parts.dir
objects=("$build/lib/libcarom.a")
for source in cli/gas*.c; do objects+=("$parts/$source.o"); done
for source in scenes/*.c; do objects+=("$parts/$source.o"); done
for object in "${objects[@]}"; do [ -f "$object" ] || { echo "$object is not there"; exit 1; }; done

# Besides the names above, whatever this machine's libm has: vector variants, other standards.
libm=$(cc -print-file-name=libm.so.6 2>/dev/null || true)
has=$({ suffixed "$rounding"; [ ! -f "$libm" ] || nm -D --defined-only "$libm" | awk '{print $3}' | sed 's/@.*//'; } | sort -u)
bad=$(comm -12 <(used "${objects[@]}") <(comm -23 <(echo "$has") <(suffixed "$exact")))
if [ -n "$bad" ]; then
    echo "taken from libm, where each C library rounds in its own way (see src/base/math.h):"
    for name in $bad; do nm -uA "${objects[@]}" 2>/dev/null | grep -E " U $name(@|\$)"; done
    exit 1
fi
echo "from libm: sqrt and" $(comm -12 <(used "${objects[@]}") <(suffixed "$exact"))
