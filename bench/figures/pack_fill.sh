#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pack_fill.sh OUT.csv MESH...: all methods of packing side by side, without shares: the fill, the
# time in seconds and the certified gap (the largest empty ball against the last sphere) with 1,000 to
# 60,000 spheres. Draws OUT.svg beside it: fill against count, a line per method, the mean of all
# meshes. Prototypes and voxels stop where they take minutes or are used up. Needs build/carom.
set -euo pipefail
out=$(realpath -m "${1:?usage: bench/figures/pack_fill.sh OUT.csv MESH...}")
shift
carom=$(dirname "$(realpath "$0")")/../../build/carom
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

value() { sed -n "s/.*\"$1\": \([^,}]*\).*/\1/p" "$work/json"; }

echo "mesh,method,asked,spheres,fill,seconds,gap" >"$out"
for count in 1000 4000 16000 60000; do
    for mesh in "$@"; do
        for method in octree fast greedy prototype; do
            [ $method = prototype ] && [ $count -gt 1000 ] && continue
            [ $method = greedy ] && [ $count -gt 16000 ] && continue
            choice="--method $method"
            [ $method = fast ] && choice=--fast
            # shellcheck disable=SC2086
            "$carom" pack "$mesh" -n $count $choice --no-shares -q --json -o "$work/s.txt" >"$work/json"
            gap=$(awk -v e="$(value empty_radius)" -v r="$(value least_radius)" \
                'BEGIN { if (e != "null" && r > 0) printf "%.3f", e / r }')
            name=$(basename "$mesh")
            printf '%s,%s,%d,%d,%.4f,%.2f,%s\n' "${name%%.*}" $method $count "$(value spheres)" \
                "$(value fill)" "$(value seconds)" "$gap" >>"$out"
        done
    done
done

awk -F, -v meshes=$# '
function x_of(n) { return 70 + 180 * log(n / 1000) / log(4) }
function y_of(f) { return 320 - 700 * (f - 0.55) }
NR > 1 && $3 == $4 { sum[$2, $3] += $5; ++seen[$2, $3] }
END {
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"370\" viewBox=\"0 0 760 370\" font-family=\"sans-serif\" font-size=\"13\">"
    for (f = 0.6; f < 0.96; f += 0.1)
        printf "<line x1=\"60\" x2=\"640\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/><text x=\"50\" y=\"%.1f\" text-anchor=\"end\">%.1f</text>\n", y_of(f), y_of(f), y_of(f) + 4, f
    split("1000 4000 16000 60000", counts, " ")
    split("octree fast greedy prototype", methods, " ")
    split("#1f5f99 #4aa3df #c96b1f #6a994e", colours, " ")
    for (i = 1; i <= 4; ++i)
        printf "<text x=\"%.1f\" y=\"345\" text-anchor=\"middle\">%d</text>\n", x_of(counts[i]), counts[i]
    print "<text x=\"340\" y=\"365\" text-anchor=\"middle\">spheres; fill, mean of all models where all have so many</text>"
    for (m = 1; m <= 4; ++m) {
        line = ""
        for (i = 1; i <= 4; ++i) {
            if (seen[methods[m], counts[i]] != meshes) continue
            x = x_of(counts[i]); y = y_of(sum[methods[m], counts[i]] / meshes)
            line = line sprintf("%.1f,%.1f ", x, y)
            printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x, y, colours[m]
        }
        printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", line, colours[m]
        if (line != "") printf "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">%s</text>\n", x + 8, y + (m == 1 ? -2 : m == 2 ? 14 : 4), colours[m], methods[m]
    }
    print "</svg>"
}' "$out" >"${out%.csv}.svg"
