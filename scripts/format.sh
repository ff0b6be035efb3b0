#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Formats all sources in place.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/sources.sh '\.c' '\.h' '\.cu' '\.cpp' |
    xargs -r clang-format -i
