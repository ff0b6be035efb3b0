#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every source names its licence and keeps to the format of .clang-format.
set -euo pipefail
cd "$(dirname "$0")/.."
sources=$(scripts/sources.sh '\.c' '\.h' '\.cu' '\.cpp' '\.sh' '\.cmake' CMakeLists.txt Makefile '\.ci/run')
bad=$(for file in $sources; do grep -q 'SPDX-License-Identifier: MIT' <<<"$(head -n 2 "$file")" || echo "$file"; done)
[ -z "$bad" ] || { echo "no SPDX line in:"; echo "$bad"; exit 1; }
formatter=$(command -v clang-format-14 || command -v clang-format || true)
case "$("${formatter:-true}" --version)" in
*"version 14."*) echo "$sources" | grep -E '\.(c|h|cu|cpp)$' | xargs "$formatter" --dry-run -Werror ;;
*) echo "no clang-format 14: format not checked"; exit 77 ;;
esac
