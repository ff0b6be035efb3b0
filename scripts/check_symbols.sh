#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The shared library exports exactly what the public headers declare; the static one has no global
# name without carom_; base alone stays under 200 KB.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
command -v nm >/dev/null || { echo "no nm on this machine"; exit 77; }
lib=$build/lib

exported=$(nm -D --defined-only "$lib/libcarom.so" | awk '{print $3}' | sed 's/@.*//' | sort)
declared=$(cat include/carom/*.h | tr '\n' ' ' | sed 's/CAROM_RESULT_ARRAY(\(carom_[a-z0-9_]*\),/ CAROM_API void \1_free(/g' |
    grep -oE 'CAROM_API [^;{]*' | grep -oE 'carom_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u | grep -v '^carom_task_fn$' || true)
[ -n "$declared" ] || { echo "no declarations found in include/carom"; exit 1; }
missing=$(comm -13 <(echo "$exported") <(echo "$declared"))
surplus=$(comm -23 <(echo "$exported") <(echo "$declared"))
[ -z "$missing" ] || { echo "declared in a header but not exported:"; echo "$missing"; exit 1; }
[ -z "$surplus" ] || { echo "exported but in no header:"; echo "$surplus"; exit 1; }

foreign=$(nm -g --defined-only "$lib/libcarom.a" 2>/dev/null | awk 'NF == 3 && $3 !~ /^carom_/ {print $3}')
[ -z "$foreign" ] || { echo "global names without carom_:"; echo "$foreign"; exit 1; }

size=$(find "$build/CMakeFiles" -path '*carom_objects_*/src/base/*.o' -exec cat {} + | wc -c)
echo "base: $size bytes of objects"
[ "$size" -gt 0 ] && [ "$size" -lt 200000 ]
