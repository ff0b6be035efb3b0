#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Formats all sources in place, with the version that scripts/check_sources.sh checks by.
set -euo pipefail
cd "$(dirname "$0")/.."
formatter=$(command -v clang-format-14 || command -v clang-format || true)
case "$("${formatter:-true}" --version)" in
*"version 14."*) scripts/sources.sh '\.c' '\.h' '\.cu' '\.cpp' | xargs -r "$formatter" -i ;;
*) echo "format: needs clang-format 14; run: sudo apt-get install -y clang-format-14" >&2; exit 1 ;;
esac
