#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The static library has no global name without carom_; base alone stays under 200 KB. What the shared one
# exports: check_api.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
command -v nm >/dev/null || { echo "no nm on this machine"; exit 77; }
lib=$build/lib

foreign=$(nm -g --defined-only "$lib/libcarom.a" 2>/dev/null | awk 'NF == 3 && $3 !~ /^carom_/ {print $3}')
[ -z "$foreign" ] || { echo "global names without carom_:"; echo "$foreign"; exit 1; }

size=$(find "$build/CMakeFiles" -path '*carom_objects_*/src/base/*.o' -exec cat {} + | wc -c)
echo "base: $size bytes of objects"
[ "$size" -gt 0 ] && [ "$size" -lt 200000 ]
