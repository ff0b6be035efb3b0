#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: python.sh MODULE... Prints the first interpreter that has these modules: Debian's, then that of PATH. Without
# one it says what is missing and ends with 77.
set -euo pipefail
imports=$(IFS=,; echo "$*")
for python in /usr/bin/python3 python3; do
    if command -v "$python" >/dev/null && "$python" -c "import $imports" 2>/dev/null; then
        command -v "$python"
        exit 0
    fi
done
echo "skipped: no python3 with $*; run: sudo apt-get install -y python3 $(printf 'python3-%s ' "$@")" >&2
exit 77
