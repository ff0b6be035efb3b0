#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: test.sh BUILD-FOLDER JOBS. Runs ctest and closes with one line that counts every single
# test: the functions in cmocka programs, and each example, replay and check as one.
set -uo pipefail
cd "$(dirname "$0")/.."
dir=$1 jobs=$2
ctest --test-dir "$dir" -j "$jobs" --output-on-failure --no-tests=error
code=$?
awk -v code=$code '
    /^[0-9]+\/[0-9]+ Testing: / { name = $3; inner = 0 }
    /^\[  PASSED  \] [0-9]+ test/ { passed += $4; inner = 1 }
    /^\[  FAILED  \] [0-9]+ test/ { failed += $4; inner = 1 }
    /^\[  SKIPPED \] [0-9]+ test/ { skipped += $4; inner = 1 }
    /^Test Passed\.$/ { if (!inner) ++passed }
    /^Test Failed\.$/ { if (!inner) ++failed; seen_failure = 1 }
    /^Test Skipped/ || /^Test Not Run/ { ++skipped }
    END {
        if (code != 0 && failed == 0) failed = 1
        printf "carom: %d passed, %d failed, %d skipped\n", passed, failed, skipped
    }' "$dir/Testing/Temporary/LastTest.log"
exit $code
