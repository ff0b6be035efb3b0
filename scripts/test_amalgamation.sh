#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: test_amalgamation.sh BUILD-FOLDER [COMPILER...]. Compiles the library in one file as its users do, with -O2
# alone, by each compiler (gcc and clang where they are there); links the test programs that have golden hashes and
# the tool with it, runs them, and compares what the tool says for each instruction set with the library's tool.
# Needs a build with its tests. Some minutes; `make test` only sees that the file is without warnings. CAROM_RUN in the
# environment is the emulator of a build for another processor (scripts/platforms/amalgamation.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- gcc clang
root=$build/amalgamation
run=(${CAROM_RUN:-})
scripts/amalgamation.sh "$root" >/dev/null

ask() { # TOOL ISA: what it says about every engine
    local tool=("${run[@]}" "$1") isa=$2 dir
    dir=$(mktemp -d)
    (
        cd "$dir"
        "${tool[@]}" make knot -o knot.stl >/dev/null
        "${tool[@]}" make torus -o torus.stl >/dev/null
        "${tool[@]}" make cloth -o cloth.obj >/dev/null
        printf '%s\n' 0,0,0 1,0.1,0.2 -3,4,5 >points.txt
        while read -r question; do
            [ -n "$question" ] || continue
            echo "== $question"
            "${tool[@]}" $question --json --isa "$isa" | sed -E 's/"([a-z_]*_(s|per_second)|seconds|date)": [^,}]*//g' # times, dates
        done <<'QUESTIONS'
info knot.stl
pairs cloth.obj
distance knot.stl points.txt -o distances.csv
kfree knot.stl
query knot.stl torus.stl --pose 1,0,0,1,0,0,0
hulls knot.stl torus.stl --pose 4,0,0,1,0,0,0
toi torus.stl knot.stl --pose 9,0,0,1,0,0,0 --to -9,0,0,1,1,0,0
boxes -n 20k --frames 3
scene knot.stl torus.stl
pack torus.stl -n 200 -o spheres.ply
query spheres.ply spheres.ply --engine tree --pose 1,0,0,1,0,0,0
query spheres.ply spheres.ply --engine balls --pose 1,0,0,1,0,0,0
gas -n 2k --periodic --fraction 0.3 --time 1
QUESTIONS
        sha256sum ./*.stl ./*.obj ./*.ply ./*.csv
    )
    rm -rf "$dir"
}

programs=$(grep -l 'test_golden(' tests/test_*.c | xargs -n 1 basename -s .c)
for compiler in "$@"; do
    command -v "$compiler" >/dev/null || { echo "no $compiler on this machine: not tried"; continue; }
    out=$root/$compiler
    rm -rf "$out"
    mkdir -p "$out"
    begin=$SECONDS
    (cd "$root" && TIMEFORMAT=%U && time "$compiler" -O2 -Wall -Wextra -c carom.c -o "$out/carom.o") 2>"$out/said"
    if grep -q 'warning:\|error:' "$out/said"; then cat "$out/said"; exit 1; fi
    echo "$compiler -O2: $(tail -n 1 "$out/said") s of processor time, $((SECONDS - begin)) s in all, no warning"
    ar rcs "$out/libcarom.a" "$out/carom.o"
    for program in $programs carom_tool; do
        link=$build/CMakeFiles/$program.dir/link.txt
        made=$build/$(sed -E 's/.* -o ([^ ]+).*/\1/' "$link" 2>/dev/null || true)
        [ -f "$made" ] ||
            { echo "$program was not built: not tried"; continue; }
        (cd "$build" && bash -c "$(sed -E -e "s| lib/libcarom\.a| $out/libcarom.a|g" \
            -e "s| -o [^ ]+| -o $out/$program|" "$link")")
        [ "$program" = carom_tool ] && continue
        "${run[@]}" "$out/$program" >"$out/$program.log" 2>&1 || { cat "$out/$program.log"; echo "$compiler: $program failed"; exit 1; }
        echo "$compiler: $program passed"
    done
    for isa in baseline avx2 avx512; do
        "${run[@]}" "$build/carom" boxes -n 10 --isa $isa >/dev/null 2>&1 || { echo "no $isa here: not run"; continue; }
        ask "$build/carom" $isa >"$out/library.$isa"
        ask "$out/carom_tool" $isa >"$out/one_file.$isa"
        diff "$out/library.$isa" "$out/one_file.$isa" >"$out/diff" ||
            { head -c 4000 "$out/diff"; echo "$compiler, $isa: other answers than the library"; exit 1; }
        echo "$compiler, $isa: $(grep -c == "$out/one_file.$isa") answers of the tool are those of the library"
    done
done
