#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: test_mpi.sh BUILD-FOLDER. carom-mpi on several ranks of this machine: the bytes of carom pairs and of carom scene
# for every number of ranks, on shapes, models and seeded soups (CAROM_LONG=1: on more of them, each with all numbers of
# ranks); the bytes exchanged are those of the law of docs/large.md; what fails ends all ranks, with a message and without a
# result.
set -euo pipefail
carom=$1/carom mpi=$1/carom-mpi
[ -x "$mpi" ] || { echo "skipped: there is no $mpi; make test-mpi builds it where MPI is installed"; exit 77; }
command -v mpirun >/dev/null || { echo "skipped: mpirun is not installed"; exit 77; }
carom=$(realpath "$carom") mpi=$(realpath "$mpi") models=$(realpath "$(dirname "$0")/..")/../shared/models
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 # more ranks than cores
fail() { echo "$*"; cat said 2>/dev/null; exit 1; }
run() { timeout 600 mpirun -n "$1" "$mpi" "${@:2}" >said 2>&1; }

same() { # RANKS... -- ARGUMENTS OF pairs
    local ranks=() n
    while [ "$1" != -- ]; do ranks+=("$1"); shift; done
    shift
    "$carom" pairs "$@" -o whole.csv -q >/dev/null || fail "carom pairs $* failed"
    for n in "${ranks[@]}"; do
        run "$n" "$@" -o mpi.csv || fail "$n ranks of $*: exit code $?"
        cmp -s whole.csv mpi.csv || fail "$n ranks of $*: other bytes than carom pairs"
        rm mpi.csv
    done
}

"$carom" make cloth --detail 200 --float32 -o cloth.ply -q >/dev/null
"$carom" make cloth --detail 40 --seed 7 -o doubles.ply -q >/dev/null
"$carom" make knot --detail 100 -o knot.stl -q >/dev/null
"$carom" make box -o box.stl -q >/dev/null
same 1 2 3 4 7 -- cloth.ply
same 2 7 -- doubles.ply --within 0.02
same 1 3 -- cloth.ply knot.stl --pose 0.2,0.1,0,1,0,0.1,0
same 4 -- cloth.ply doubles.ply --within 0.01 --pose 0,0.1,0,1,0.3,0.1,0
same 2 4 -- cloth.ply --boxes
same 3 -- knot.stl doubles.ply --boxes
same 4 7 -- box.stl # fewer faces than nodes, and no pair
echo "shapes: the bytes of carom pairs"

# Bytes exchanged: at most 1.2 of the law.
"$carom" make cloth --detail 700 --float32 -o large.ply -q >/dev/null
for n in 1 2 4; do
    run "$n" large.ply -o mpi.csv || fail "$n ranks failed"
    grep 'bytes exchanged, by' said
    awk -v n="$n" '/by the law/ {found = 1; if ($NF > 1.2) exit 1} END {exit !found}' said || fail "$n ranks: beyond 1.2 of the law"
    [ "$(grep -c '^rank ' said)" = "$n" ] || fail "$n ranks: not all told what they exchanged"
done

# Scenes: the bytes of carom scene, the groups of clashes and names with commas included.
same_scene() { # RANKS... -- ARGUMENTS OF scene
    local ranks=() n
    while [ "$1" != -- ]; do ranks+=("$1"); shift; done
    shift
    "$carom" scene "$@" -o whole.csv -q >/dev/null || fail "carom scene $* failed"
    for n in "${ranks[@]}"; do
        run "$n" scene "$@" -o mpi.csv || fail "$n ranks of scene $*: exit code $?"
        cmp -s whole.csv mpi.csv || fail "$n ranks of scene $*: other bytes than carom scene"
        rm mpi.csv
    done
}
for i in 0 1 2 3 4 5; do
    "$carom" make torus --detail $((20 + i)) --size 1.$i -o "ring, $i.ply" -q >/dev/null
done
"$carom" make shards --parts 20 -o shards.obj -q >/dev/null
same_scene 1 2 3 4 7 -- ring*.ply knot.stl shards.obj --clearance 0.02
same_scene 2 -- ring*.ply --depth --no-touching
same_scene 3 -- box.stl # no pair
got=0
run 2 scene ring*.ply --check -o mpi.csv || got=$?
[ "$got" = 1 ] && [ -e mpi.csv ] || fail "scene --check: exit code $got, not 1"
scenes=0
if [ "${CAROM_LONG:-0}" = 1 ]; then largest=30000000 ranks=(1 2 4); else largest=600000 ranks=(3); fi
for model in "$models"/scenes/*.gz; do
    [ -f "$model" ] && [ "$(stat -c %s "$model")" -lt $largest ] || continue
    same_scene "${ranks[@]}" -- "$model"
    scenes=$((scenes + 1))
done
echo "scenes, $scenes models: the bytes of carom scene"

count=0 files=0
for model in "$models"/soups/* "$models"/watertight/*; do
    [ -f "$model" ] || continue
    [ "${CAROM_LONG:-0}" = 1 ] || [ $((++files % 6)) = 0 ] || continue
    [ "$(stat -c %s "$model")" -lt 3000000 ] || continue
    "$carom" convert "$model" model.ply --triangulate >/dev/null 2>&1 || continue
    same 1 2 4 -- model.ply
    count=$((count + 1))
done
echo "$count models: the bytes of carom pairs"

# Soups of small and large triangles, some in one place or on one line.
cat >soup.py <<'PY'
import random, struct, sys
seed = int(sys.argv[1])
r = random.Random(seed)
count = 60 + 37 * (seed % 11)
with open("soup.stl", "wb") as out:
    out.write(bytes(80) + struct.pack("<I", count))
    for f in range(count):
        size = 2.0 if seed % 4 and f % (20 * (seed % 4)) == 0 else 0.1
        centre = [r.random() for _ in range(3)]
        if seed % 5 == 1: centre[1:] = [0.0, 0.0]
        if seed % 5 == 2: centre, size = [0.3] * 3, 1e-4
        if seed % 5 == 3 and f % 2: centre[0] += 1e7
        numbers = [c + size * (r.random() - 0.5) for _ in range(3) for c in centre]
        out.write(struct.pack("<12fH", 0, 0, 0, *numbers, 0))
PY
if command -v python3 >/dev/null; then
    soups=$([ "${CAROM_LONG:-0}" = 1 ] && echo 200 || echo 12)
    for ((seed = 0; seed < soups; ++seed)); do
        python3 soup.py "$seed"
        options=()
        if [ $((seed % 7)) = 3 ]; then options=(--boxes); fi
        if [ $((seed % 7)) = 5 ]; then options=(--within 0.01); fi
        if [ "${CAROM_LONG:-0}" = 1 ]; then ranks=(1 2 4); else ranks=($((1 << seed % 3))); fi
        same "${ranks[@]}" -- soup.stl "${options[@]}"
    done
    echo "$soups seeded soups: the bytes of carom pairs"
fi

# ---- Faults ------------------------------------------------------------------------------------
refused() { # CODE WORDS ARGUMENTS
    local code=$1 words=$2 got=0
    shift 2
    run 3 "$@" -o refused.csv || got=$?
    [ "$got" = "$code" ] || fail "$*: exit code $got, not $code"
    grep -q "$words" said || fail "$*: does not say '$words'"
    [ ! -e refused.csv ] || fail "$*: left a result"
}
head -c -5 cloth.ply >cut.ply
refused 3 'cut.ply: not a binary file of triangles alone' cut.ply
refused 3 'none.ply: cannot be opened' none.ply
refused 2 'B is missing\|an option is unknown' cloth.ply --fan
refused 3 'none.ply: cannot be opened' scene none.ply
refused 2 'unknown option' scene box.stl --fan
refused 2 'without --baseline' scene box.stl --ignore box.stl
"$carom" make torus --polygons -o quads.ply -q >/dev/null
refused 3 'triangles' quads.ply
head -c $(($(stat -c %s cloth.ply) - 4)) cloth.ply >bad.ply
printf '\377\377\377\177' >>bad.ply # the last corner of the last face
refused 3 'rank 2: bad.ply: face 79999 names vertex 2147483647' bad.ply
got=0
(trap '' XFSZ; ulimit -f 8; run 2 cloth.ply -o full.csv) || got=$?
[ "$got" != 0 ] && [ ! -e full.csv ] || fail "a file that cannot grow left a result"
# One rank killed: all end, nothing is left that looks like a result.
got=0
cat >kill_one.sh <<'SH'
if [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 1 ]; then "$@" & sleep 0.3; kill -9 $!; wait $!; else exec "$@"; fi
SH
timeout 600 mpirun -n 3 bash kill_one.sh "$mpi" large.ply -o killed.csv >said 2>&1 || got=$?
[ "$got" != 0 ] && [ "$got" != 124 ] && [ ! -e killed.csv ] || fail "a killed rank: exit code $got"
echo "faults: a message, and no result"
