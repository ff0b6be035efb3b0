#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: valgrind.sh BUILD-FOLDER JOBS. Runs the cmocka programs under valgrind (which knows AVX2 but not
# AVX-512), JOBS at a time. A program that runs the tool itself is left to the others; one that needs more
# precision than valgrind's long double has exits with 77. PART=3/16: the third of every sixteen programs (test.sh).
set -uo pipefail
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "valgrind: not on this machine"; exit 0; }
logs=$1/valgrind
mkdir -p "$logs"
run_one() { # LOGS PROGRAM
    local name=${2##*/}
    valgrind -q --error-exitcode=99 --leak-check=full --fair-sched=yes --suppressions=tests/valgrind.supp \
        "$2" >"$1/$name.log" 2>&1
    case $? in
    0) echo "passed $name" ;;
    77) echo "skipped $name" ;;
    *)
        echo "FAILED $name"
        tail -n 40 "$1/$name.log"
        ;;
    esac
}
export -f run_one
find "$1/tests" -name 'test_*' -type f -perm -u+x ! -name 'test_cli*' | sort |
    awk -v part="${PART:-1/1}" 'split(part, of, "/") && NR % of[2] == of[1] % of[2]' |
    xargs -P "${2:-1}" -I {} bash -c 'run_one "$@"' _ "$logs" {} | tee "$logs/said"
passed=$(grep -c '^passed' "$logs/said") failed=$(grep -c '^FAILED' "$logs/said")
echo "valgrind: $passed passed, $failed failed, $(grep -c '^skipped' "$logs/said") skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
