#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: check_cuda_files.sh BUILD-FOLDER. What the tool writes with --device cuda has the bytes of what it writes
# with --device cpu: pairs, where faces meet, faces within a margin, distances of points from meshes that are
# balanced and that are not, first and all faces along rays, impacts, near pairs, k-freeness, overlaps. Compared by hash, of small meshes; with
# CAROM_LONG=1 of large ones. Skipped where there is no device.
set -euo pipefail
cd "$(dirname "$0")/.."
carom=$(cd "$1" && pwd)/carom
if [ ! -x "$carom" ]; then echo "no $carom: build the tool first"; exit 77; fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out"
if ! "$carom" boxes -n 10 --device cuda --quiet >none.txt 2>&1; then
    echo "skipped: $(head -n 1 none.txt)"
    exit 77
fi

times=1 # as many steps along each side
if [ "${CAROM_LONG:-0}" = 1 ]; then times=25; fi
make_mesh() { # NAME SHAPE DETAIL OPTIONS...
    "$carom" make "$2" -o "$1" --detail $(($3 * times)) --quiet "${@:4}" >/dev/null
}
make_mesh cloth.ply cloth 24
make_mesh moved.ply cloth 24 --phase 0.05
make_mesh floats.ply cloth 20 --float32
make_mesh quads.ply cloth 16 --polygons
make_mesh torus.ply torus 24
make_mesh knot.ply knot 60
# Points on a lattice, of which many lie on the torus's planes of symmetry.
for x in -4 -2 -1 0 1 2 4; do for y in -4 -2 0 1 3; do for z in -1 0 1; do
    awk -v x="$x" -v y="$y" -v z="$z" 'BEGIN { print x / 4 "," y / 4 "," z / 8 }'
done; done; done >points.csv

# Rays from these points along axes, diagonals and edges, and from afar.
awk -F, '{ print $0 ",1,0,0"; print $0 ",0,1,-1"; print -3 "," $2 "," $3 ",1,0.25,0.125" }' points.csv >rays.csv

count=0 bad=0
compare() { # EXTENSION COMMAND...: the file that it writes
    local name=$1 cpu cuda
    shift
    "$carom" "$@" -o "cpu.$name" --quiet >/dev/null
    if ! "$carom" "$@" -o "cuda.$name" --device cuda --quiet >/dev/null 2>said.txt; then
        echo "carom $* --device cuda failed: $(head -n 1 said.txt)"
        bad=$((bad + 1))
        return
    fi
    cpu=$(sha256sum <"cpu.$name") cuda=$(sha256sum <"cuda.$name")
    printf '%s  %7d lines  carom %s\n' "${cpu:0:12}" "$(wc -l <"cpu.$name")" "$*"
    if [ "$cpu" != "$cuda" ]; then
        echo "carom $*: --device cuda writes ${cuda:0:12}, --device cpu ${cpu:0:12}"
        bad=$((bad + 1))
    else
        count=$((count + 1))
    fi
    rm -f "cpu.$name" "cuda.$name"
}

margin=0.02
if [ $times != 1 ]; then margin=0.0005; fi
pose=0.2,0.1,0.05,1,0.1,0.2,0.3
compare csv pairs cloth.ply
compare csv pairs floats.ply
compare csv pairs quads.ply
compare csv pairs cloth.ply --method grid
compare csv pairs torus.ply knot.ply --pose $pose
compare csv pairs cloth.ply --points
compare csv pairs quads.ply --points
compare csv pairs torus.ply knot.ply --pose $pose --points
compare csv pairs cloth.ply --within $margin
compare csv pairs quads.ply --within $margin
compare csv pairs torus.ply knot.ply --pose $pose --within $margin
compare csv distance torus.ply points.csv --nearest
compare csv distance cloth.ply points.csv --nearest
compare csv distance knot.ply points.csv
compare csv distance torus.ply points.csv --winding
compare csv distance cloth.ply points.csv --winding
for mesh in torus.ply cloth.ply floats.ply quads.ply knot.ply; do
    compare csv rays $mesh rays.csv
    compare csv rays $mesh rays.csv --all
done
compare csv rays torus.ply rays.csv --all --length 0.5
compare csv toi cloth.ply --end moved.ply
compare csv toi cloth.ply --near $margin
compare csv kfree cloth.ply
compare csv kfree torus.ply
if [ "$bad" != 0 ]; then
    echo "$bad of $((count + bad)) commands differ"
    exit 1
fi
echo "$count files are the same on cpu and cuda"
