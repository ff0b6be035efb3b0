#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every command that docs/papers.md names runs in its quick form, every figure of `carom bench papers` is named
# there, and every function, constant and field in its code spans is in the sources. (check_docs.sh follows
# its links.) check_papers.py compares counts, axes and names with what was measured, and the list of the papers'
# elements with the sources. papers_measured.py compares the page of all that was measured with the figures.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1") page=$PWD/docs/papers.md bad=0
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
say() { echo "$*"; bad=1; }
spans=$(grep -oE '`[^`]+`' "$page" | tr -d '`' | sort -u)

commands=0
while read -r command; do
    commands=$((commands + 1))
    read -ra words <<<"$command"
    case $command in
    'carom bench papers') continue ;; # below, all figures at once
    'carom bench papers --only '*)
        only=${words[4]}
        "$build/carom-bench" papers --list | awk '{print $1}' | grep -qx -- "$only" || say "$page: no figure $only"
        continue ;;
    'carom bench '*) words+=(--quick --rounds 1) ;;
    *) # an option of a command
        "$build/carom" "${words[1]}" --help >"$out/said" || say "$page: '$command' fails"
        for word in "${words[@]:2}"; do
            grep -qF -- "$word" "$out/said" || say "$page: carom ${words[1]} has no $word"
        done
        continue ;;
    esac
    (cd "$out" && "$build/carom" "${words[@]:1}" >"$out/said" 2>&1) ||
        { cat "$out/said"; say "$page: '$command' fails"; }
done < <(grep -E '^carom [a-z]' <<<"$spans")
[ "$commands" -gt 15 ] || say "only $commands commands found: is the search broken?"

for figure in $("$build/carom" bench papers --list | awk '{print $1}'); do
    grep -qF -- "--only $figure\`" "$page" || say "$page does not name $figure"
done

figures=$build/Testing/papers # that test_papers has left, which ran before
if [ ! -e "$figures/index.html" ]; then
    figures=$out/papers
    "$build/carom" bench papers --quick -o "$figures" >"$out/said" 2>&1 ||
        { cat "$out/said"; say "carom bench papers --quick fails"; }
fi
scripts/check_papers.py "$build/carom-bench" "$figures" "$page" || bad=1
scripts/papers_measured.py --check "$build/carom-bench" "$figures" docs/papers-measured.md || bad=1

names=0
while read -r name; do
    names=$((names + 1))
    grep -rqw -- "$name" include src bench || say "$page: $name is not in the sources"
done < <(grep -E '^[A-Za-z]+(_[A-Za-z0-9]+)+$' <<<"$spans")
[ "$names" -gt 15 ] || say "only $names names found: is the search broken?"
echo "$commands commands, $names names found"
exit $bad
