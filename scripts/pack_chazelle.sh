#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pack_chazelle.sh: a table of cost against detail for two Chazelle polyhedra that cross (Figure 1 of
# Weller, Frese, Zachmann 2013): pairs of polygons, which are quadratic, beside packings of 1,000 spheres,
# and the time to compare these on the grid of carom query --engine balls. Needs build/carom.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pose=0.01,0.02,0.03,0.5,0.5,0.5,0.5
value() { sed 's/.*"'"$1"'": \([-0-9.e+]*\).*/\1/'; }
echo "| detail | triangles | pairs of polygons | their time (ms) | packing (s of processor time) | query (us) |"
echo "|---|---|---|---|---|---|"
for detail in 4 8 16 32 64; do
    build/carom make chazelle --detail $detail -o "$work/c.ply" >/dev/null
    pairs=$(build/carom pairs "$work/c.ply" "$work/c.ply" --pose $pose --repeat 9 --json -q)
    packing=$({ TIMEFORMAT=%U; time build/carom pack "$work/c.ply" -n 1000 --fast -o "$work/p.ply" -q >/dev/null; } 2>&1)
    query=$(build/carom query "$work/p.ply" "$work/p.ply" --engine balls --pose $pose --repeat 9 --json -q)
    printf '| %d | %d | %d | %.2f | %.2f | %.0f |\n' $detail \
        "$(build/carom info "$work/c.ply" --json | value triangles)" "$(value pairs <<<"$pairs")" \
        "$(value query_s <<<"$pairs" | awk '{print 1e3 * $1}')" "$packing" \
        "$(value query_s <<<"$query" | awk '{print 1e6 * $1}')"
done
