#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pack_figure.sh OUT.svg: packings that grow: the slice of a torus at z = 0 with 10, 100, 1,000 and
# 10,000 spheres. Needs build/carom.
set -euo pipefail
out=$(realpath -m "${1:?usage: bench/figures/pack_figure.sh OUT.svg}")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build/carom make torus --detail 64 -o "$work/torus.ply" >/dev/null
{
    echo '<svg xmlns="http://www.w3.org/2000/svg" width="880" height="250" viewBox="0 0 880 250" font-family="sans-serif" font-size="13">'
    x=0
    for n in 10 100 1000 10000; do
        fill=$(build/carom pack "$work/torus.ply" -n $n --no-shares -o "$work/s.txt" --json |
            sed 's/.*"fill": \([0-9.]*\).*/\1/')
        printf '<g transform="translate(%d 110) scale(70)"><circle r="1.5" fill="#eee"/><circle r="0.5" fill="#fff"/>\n' $((x + 110))
        awk '{ q = $4 * $4 - $3 * $3; if (q > 0) printf "<circle cx=\"%.4f\" cy=\"%.4f\" r=\"%.4f\" fill=\"#4a7fb5\"/>\n", $1, -$2, sqrt(q) }' "$work/s.txt"
        printf '</g><text x="%d" y="240" text-anchor="middle">%s spheres, fill %.3f</text>\n' $((x + 110)) $n "$fill"
        x=$((x + 220))
    done
    echo '</svg>'
} >"$out"
