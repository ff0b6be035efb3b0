#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: measure_cuda.sh BUILD-FOLDER motion|distances|tests [SECONDS]. What a GPU is asked for in one call of
# at most so many seconds (540), the most important first; what there is no time for is named at the end.
#   motion     benchmarks of impacts, near pairs, points, rays, pairs: medians by the device's clock, the CPU's
#              threads beside them
#   distances  of distances, sphere trees, scenes, solids, robots
#   tests      each test program of the GPU alone, with a limit of its own, and the files that the tool writes
# Writes OUT/NAME.csv and OUT/NAME.txt for each, OUT being the environment's, or a new folder; exits with 1 where
# one failed. CAROM_MODELS is the folder of models (bench/soup.h).
set -uo pipefail
cd "$(dirname "$0")/.."
if [ $# -lt 2 ]; then sed -n '3,11s/^# \{0,1\}//p' "$0"; exit 2; fi
dir=$(cd "$1" && pwd) what=$2 limit=${3:-540}
out=${OUT:-$(mktemp -d)}
mkdir -p "$out"
seconds_each=120 # of a test program: clearance and motions of robots took longest
left_out=() failed=()

left() {
    echo $((limit - SECONDS))
}

run() { # NAME MOST-SECONDS COMMAND...: its output goes to a file
    local name=$1 most=$2 code start=$SECONDS
    shift 2
    if [ "$(left)" -lt 5 ]; then
        left_out+=("$name")
        return
    fi
    if [ "$(left)" -lt "$most" ]; then most=$(left); fi
    timeout "$most" "$@" >"$out/$name.txt" 2>&1
    code=$?
    echo "$name: $((SECONDS - start)) s, exit $code$([ $code != 124 ] || echo ", not ended in $most s")"
    if [ $code != 0 ] && [ $code != 77 ]; then failed+=("$name"); fi
}

measure() { # GROUP...
    local group
    for group in "$@"; do
        run "$group" "$limit" "$dir/carom-bench" "$group" --rounds 5 --csv "$out/$group.csv"
        cat "$out/$group.txt" 2>/dev/null
    done
}

case $what in
motion) measure cuda_impacts cuda_points cuda ;;
distances) measure cuda_distance cuda_tree cuda_scene cuda_robot cuda_solid ;;
tests)
    # The longest last: all others have ended by then.
    for program in "$dir"/tests/test_*_cuda; do
        case $program in */test_robot_cuda | */test_points_cuda | */test_impacts_cuda) continue ;; esac
        run "$(basename "$program")" $seconds_each "$program"
    done
    run files $seconds_each scripts/check_cuda_files.sh "$dir"
    for name in test_points_cuda test_robot_cuda test_impacts_cuda; do
        if [ -x "$dir/tests/$name" ]; then run $name $seconds_each "$dir/tests/$name"; fi
    done
    ;;
*)
    echo "measure_cuda: '$what' is none of motion, distances, tests" >&2
    exit 2
    ;;
esac
echo "results are in $out"
if [ ${#left_out[@]} != 0 ]; then echo "no time for: ${left_out[*]}"; fi
if [ ${#failed[@]} != 0 ]; then
    echo "failed: ${failed[*]}"
    exit 1
fi
