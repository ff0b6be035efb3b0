#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: fuzz.sh BUILD-FOLDER SECONDS. Runs every fuzz target that long, from its corpus. New inputs
# stay in the build folder; a finding is printed and kept there as crash-*.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$PWD/$1 seconds=$2 count=0
for target in "$build"/fuzz/fuzz_*; do
    [ -x "$target" ] || continue
    name=${target##*/fuzz_}
    mkdir -p "$build/fuzz/found/$name"
    echo "fuzz: $name for $seconds s"
    log=$build/fuzz/$name.log code=0
    (cd "$build/fuzz" && "$target" -max_total_time="$seconds" -rss_limit_mb=4096 -timeout=10 -verbosity=0 \
        -print_final_stats=1 "found/$name" "$OLDPWD/fuzz/corpus/$name") >"$log" 2>&1 || code=$?
    grep -E 'number_of_executed|ERROR|SUMMARY|Test unit' "$log" || true
    if [ "$code" != 0 ]; then
        tail -n 20 "$log"
        echo "fuzz: $name failed; the input is in $build/fuzz, all it said in $log"
        exit 1
    fi
    count=$((count + 1))
done
echo "fuzz: $count targets without a finding"
[ "$count" -gt 0 ]
