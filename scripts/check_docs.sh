#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every link of README, CONTRIBUTING, CHANGELOG and docs/*.md leads to a file of the project, and to a
# heading where it names one; every function that a step of a reading order names is in a file that the
# step links; `make docs` renders them with their pictures, and no link of the rendered pages is dead. The
# second half needs cmark: without it the test counts as skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 bad=0
say() { echo "$*"; bad=1; }

# ---- the sources
anchors() { # the names of a file's headings, as GitHub gives them
    awk '/^```/ { code = !code } !code && /^#+ / {
        sub(/^#+ +/, ""); name = tolower($0); gsub(/[^a-z0-9 _-]/, "", name); gsub(/ /, "-", name)
        print name }' "$1"
}
links() { # outside of code
    awk '/^```/ { code = !code } !code { gsub(/`[^`]*`/, ""); print }' "$1" |
        { grep -oE '\]\([^) ]*\)' || true; } | sed 's/^](//; s/)$//'
}
count=0
for page in README.md CONTRIBUTING.md CHANGELOG.md docs/*.md; do
    for link in $(links "$page"); do
        count=$((count + 1))
        case $link in *://* | mailto:*) continue ;; esac
        file=$(dirname "$page")/${link%%#*}
        [ -n "${link%%#*}" ] || file=$page
        [ -e "$file" ] || { say "$page: $link leads nowhere"; continue; }
        case $link in
        *#*) grep -qxF -- "${link#*#}" <<<"$(anchors "$file")" || say "$page: $link: no such heading" ;;
        esac
    done
done
[ "$count" -gt 20 ] || say "only $count links found: is the search broken?"
steps() { # PAGE HEADING: the numbered steps below a heading, one per line
    awk -v heading="$2" '/^## / { on = $0 == heading } on { if (/^[0-9]+\. /) printf "\n"; if (/^$/) print ""
        else printf "%s ", $0 } END { print "" }' "$1" | grep -E '^[0-9]+\. '
}
names=0
while read -r step; do
    mapfile -t files < <(grep -oE '\]\(\.\./[^) ]*\)' <<<"$step" | sed 's/^](...//; s/)$//')
    for name in $(grep -oE '`[a-z_]+`' <<<"$step" | tr -d '`'); do
        names=$((names + 1))
        grep -qw -- "$name" "${files[@]}" || say "reading order: $name is not in ${files[*]}"
    done
done < <(steps docs/architecture.md '## From a command to its result'; steps docs/gas.md '## Reading order')
[ "$names" -gt 20 ] || say "only $names names found in reading orders: is the search broken?"
[ $bad = 0 ] || exit 1

# ---- the pages
command -v cmark >/dev/null || { echo "skipped: cmark is missing, so the pages cannot be rendered"; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
scripts/docs.sh "$out/pages" "$build" >/dev/null || exit 1
cd "$out/pages"
links=0 pictures=0
while read -r page; do
    [ -s "$page" ] || say "$page is empty"
    case $page in
    *.c.html | *.h.html | *.txt.html | *.1.html) ;; # no Markdown
    *) ! sed '/<pre/,/<\/pre>/d; s/<code>[^<]*<\/code>//g' "$page" | grep -nE '\]\(|^\|' ||
        say "$page: Markdown is left" ;;
    esac
    for link in $(grep -oE '<(a|img)[^>]* (href|src)="[^"]*"' "$page" | sed -E 's/.*="//; s/"$//' | sort -u); do
        case $link in *://* | mailto:*) continue ;; esac
        links=$((links + 1))
        file=$(dirname "$page")/${link%%#*}
        [ -n "${link%%#*}" ] || file=$page
        [ -f "$file" ] || { say "$page: $link leads nowhere"; continue; }
        [ -s "$file" ] || say "$page: $link is empty"
        case $link in
        *#*) grep -qE "(id|name)=\"${link#*#}\"" "$file" || say "$page: $link: no such heading" ;;
        *.svg) pictures=$((pictures + 1)) ;;
        esac
    done
done < <(find . -name '*.html')
wanted=$(find "$OLDPWD/docs" -name '*.svg' | wc -l)
[ "$pictures" -ge "$wanted" ] || say "$pictures pictures are shown, docs has $wanted"
echo "$count links in the sources, $links in the pages, $pictures pictures"
exit $bad
