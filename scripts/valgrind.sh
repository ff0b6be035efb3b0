#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: valgrind.sh BUILD-FOLDER. Runs the cmocka programs under valgrind (which knows AVX2 but not
# AVX-512). A program that runs the tool itself is left to the others.
set -uo pipefail
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "valgrind: not on this machine"; exit 0; }
passed=0 failed=0
for program in "$1"/tests/test_*; do
    case $program in *test_cli*) continue ;; esac
    log=$(mktemp)
    if valgrind -q --error-exitcode=99 --leak-check=full --fair-sched=yes "$program" >"$log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "valgrind: ${program##*/}"
        tail -n 40 "$log"
    fi
    rm -f "$log"
done
echo "valgrind: $passed passed, $failed failed"
[ "$failed" = 0 ]
