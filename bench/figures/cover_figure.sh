#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# cover_figure.sh OUT.svg: covers from outside: a knot seen from above with the outlines of 8, 32 and
# 128 spheres around it. Needs build/carom.
set -euo pipefail
out=$(realpath -m "${1:?usage: bench/figures/cover_figure.sh OUT.svg}")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build/carom make knot --detail 48 -o "$work/knot.obj" >/dev/null
# The silhouette: every face, seen along z.
awk '$1 == "v" { x[++n] = $2; y[n] = -$3 }
     $1 == "f" { d = ""; for (i = 2; i <= NF; ++i) d = d (i == 2 ? "M" : "L") sprintf("%.3f %.3f", x[$i], y[$i]); printf "%sz", d }' \
    "$work/knot.obj" >"$work/path"
{
    echo '<svg xmlns="http://www.w3.org/2000/svg" width="840" height="300" viewBox="0 0 840 300" font-family="sans-serif" font-size="13">'
    x=140
    for n in 8 32 128; do
        worst=$(build/carom pack "$work/knot.obj" --outer -n $n -o "$work/s.txt" --json |
            sed 's/.*"worst": \([0-9.]*\).*/\1/;q')
        printf '<g transform="translate(%d 135) scale(68)"><g fill="#4a7fb5" fill-opacity="0.18" stroke="#4a7fb5" stroke-width="0.03">\n' $x
        awk '{ printf "<circle cx=\"%.4f\" cy=\"%.4f\" r=\"%.4f\"/>\n", $1, -$2, $4 }' "$work/s.txt"
        printf '</g><path fill="#333" stroke="#333" stroke-width="0.02" fill-opacity="0.75" d="'
        cat "$work/path"
        printf '"/></g><text x="%d" y="290" text-anchor="middle">%s spheres, worst %.3f</text>\n' $x $n "$worst"
        x=$((x + 280))
    done
    echo '</svg>'
} >"$out"
