#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: kfree_split.sh BUILD-FOLDER MODELS [SHARE] > split.csv. Runs carom kfree --split over a hundred
# meshes, every fifth of those in MODELS/stats.tar.gz, with a tolerance of SHARE of the diagonal of their
# boxes if given: a line each with faces, k, mean, height and bound of its triangles, then the same of
# the split mesh. The table of docs/figures.md, by the first word of the
# names, goes to the standard error.
set -euo pipefail
build=$1 models=$2 share=${3:-}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
tar -C "$work" -xzf "$models/stats.tar.gz"
find "$work" -name '*.ply' | sort | awk 'NR % 5 == 3 && ++count <= 100' |
    while read -r path; do
        tolerance=()
        [ -z "$share" ] || tolerance=(--tolerance "$("$build/carom" info "$path" --json --quiet | python3 -c "
import json, math, sys
mesh = json.load(sys.stdin)['meshes'][0]
print($share * math.dist(mesh['low'], mesh['high']))")")
        "$build/carom" kfree "$path" --split 16 ${tolerance[@]+"${tolerance[@]}"} --json --quiet | sed 's/.*"triangles": {/x: x, /' |
            sed 's/"split": {//' | tr -d '{}"' | sed 's/, /\n/g' |
            awk -F': ' -v file="$(basename "$path" .ply)" '
                NR > 1 && NR < 12 { line = line "," $2 }
                END { print file line }'
    done | tee "$work/lines"
sort "$work/lines" | awk -F, '
    function median(list, count, sorted, i, j, x) {
        for (i = 1; i <= count; ++i) {
            x = list[i]
            for (j = i - 1; j > 0 && sorted[j] > x; --j) sorted[j + 1] = sorted[j]
            sorted[j + 1] = x
        }
        return (sorted[int((count + 1) / 2)] + sorted[int(count / 2) + 1]) / 2
    }
    function add(set) {
        n[set]++
        k[set] += $3; height[set] += $5; k2[set] += $8; height2[set] += $10
        lower[set] += $8 < $3; less[set] += $11 < $6
        growth[set, n[set]] = $7 / $2; bound[set, n[set]] = $11 / $6
    }
    function put(set, i, a, b) {
        for (i = 1; i <= n[set]; ++i) { a[i] = growth[set, i]; b[i] = bound[set, i] }
        printf "| %s | %d | %.1f | %.1f | %d | %.1f | %.1f | %.2f | %.2f | %d |\n", set, n[set], k[set] / n[set],
            k2[set] / n[set], lower[set], height[set] / n[set], height2[set] / n[set], median(a, n[set]),
            median(b, n[set]), less[set]
    }
    { split($1, word, "_"); if (!n[word[1]]) order[++sets] = word[1]; add(word[1]) }
    { add($2 < 1000 ? "under 1,000 faces" : "1,000 faces or more"); add("all") }
    END { for (i = 1; i <= sets; ++i) put(order[i]); put("under 1,000 faces"); put("1,000 faces or more"); put("all") }' >&2
