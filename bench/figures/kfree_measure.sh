#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: kfree_measure.sh BUILD-FOLDER MODELS > kfree.csv. Runs carom kfree over every mesh that
# MODELS/index.csv names, those in stats.tar.gz too: one line each. Malformed files and what is no
# mesh are left out; a mesh that takes longer than ten minutes is named on the standard error.
set -euo pipefail
build=$1 models=$2
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
tar -C "$work" -xzf "$models/stats.tar.gz"
keys="faces k mean deviation median worst_neighbours neighbours height degenerate candidates undecided query_s"
echo "file,${keys// /,}"
awk -F, 'NR > 1 && $5 != "" && $1 !~ /^(malformed|ccd-queries)\// { print $1 }' "$models/index.csv" |
    while read -r file; do
        case $file in
        stats.tar.gz:*) path=$work/${file#stats.tar.gz:} ;;
        *) path=$models/$file ;;
        esac
        if ! json=$(timeout 600 "$build/carom" kfree "$path" --json --quiet); then
            echo "no answer: $file" >&2
            continue
        fi
        tr -d '{}"' <<<"$json" | sed 's/, /\n/g' | awk -F': ' -v file="$file" -v keys="$keys" '
            { value[$1] = $2 }
            END {
                n = split(keys, key, " ")
                printf "%s", file
                for (i = 1; i <= n; ++i) printf ",%s", value[key[i]]
                print ""
            }'
    done
