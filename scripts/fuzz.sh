#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: fuzz.sh BUILD-FOLDER SECONDS. Runs every fuzz target that long, from its corpus. New inputs
# stay in the build folder; a finding is printed and kept there as crash-*.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$PWD/$1 seconds=$2
for target in "$build"/fuzz/fuzz_*; do
    [ -x "$target" ] || continue
    name=${target##*/fuzz_}
    mkdir -p "$build/fuzz/found/$name"
    echo "fuzz: $name for $seconds s"
    (cd "$build/fuzz" && "$target" -max_total_time="$seconds" -rss_limit_mb=4096 -timeout=10 -verbosity=0 \
        -print_final_stats=1 "found/$name" "$OLDPWD/fuzz/corpus/$name" 2>&1 | grep -E 'number_of_executed|ERROR|SUMMARY|Test unit' ) || true
    if compgen -G "$build/fuzz/crash-*" >/dev/null || compgen -G "$build/fuzz/timeout-*" >/dev/null ||
       compgen -G "$build/fuzz/oom-*" >/dev/null || compgen -G "$build/fuzz/leak-*" >/dev/null; then
        echo "fuzz: $name has a finding in $build/fuzz"
        exit 1
    fi
done
