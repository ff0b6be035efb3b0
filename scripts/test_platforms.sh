#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: test_platforms.sh JOBS [NAME...]. Builds for other systems and processors, runs there what can be run here,
# and writes build/platforms.json: one object per target (docs/platforms.md explains the fields).
#
# Each scripts/platforms/NAME.sh is one entry, found by its name. It is sourced in a shell of its own, in the root of
# the project, where
#   $here                 is the folder of the native build, made by `make`
#   $out                  is an empty folder of its own, build/platforms/NAME, kept between runs (build there)
#   $jobs                 is how many processes may run
#   result TARGET         writes the object of one target from the variables built, ran, golden (true, false or null),
#                         passed (a count), skipped and failed (lists of words) and why (text), and resets them; with
#                         the commit and the processor time since the last one
# A command that fails ends the entry: what it has not reported is reported as not built, with the end of its log.
# Entries that are not named keep the results of their last run. One at a time: amalgamation builds the tool here anew.
set -uo pipefail
cd "$(dirname "$0")/.."
export jobs=$1 here=build
shift
mkdir -p build/platforms
source scripts/platforms.inc
commit=$(scripts/commit.sh)

run_entry() (
    exec >"$log" 2>&1 </dev/null
    set -e
    reset_result
    reported_seconds=0 # times begin anew in a subshell
    source "scripts/platforms/$name.sh"
)

names=("$@")
[ ${#names[@]} -gt 0 ] || names=($(cd scripts/platforms && ls -- *.sh | sed 's/\.sh$//'))
for name in "${names[@]}"; do
    out=$PWD/build/platforms/$name
    log=$out.log
    results=$out.jsonl
    mkdir -p "$out"
    : >"$results"
    begun=$SECONDS
    echo "platforms: $name ..."
    processor_seconds
    reported_seconds=$seconds
    run_entry
    code=$?
    if [ $code != 0 ]; then
        built=false ran=false golden=null passed=0 skipped='' failed='' why="ended with $code: $(tail -n 3 "$log" | tr '\n' ' ')"
        result "$name" >>"$log"
    fi
    python3 scripts/platforms.py show "$results"
    echo "  $((SECONDS - begun)) s"
done
python3 scripts/platforms.py join build/platforms build/platforms.json
