#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: docs.sh FOLDER BUILD-FOLDER. Renders README, docs/*.md, the man page that the build made and
# the public headers to HTML, with the pictures, and every file or folder that a page links to: no link leads out of the folder but
# those to the web. Fails when a link leads nowhere.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1 page=$2/carom.1
mkdir -p "$out"
style='<meta charset="utf-8"><style>body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}pre,code{background:#f3f5f8}pre{padding:.6rem;overflow:auto}table{border-collapse:collapse}td,th{padding:.2rem .8rem .2rem 0;border-bottom:1px solid #dde3ea;text-align:left;vertical-align:top}</style>'

# cmark knows no tables: turn each block of | rows into an HTML table first.
tables='
function cells(row, tag,   n, i, part, text, link, cut) {
    gsub(/\\\|/, "\001", row)
    sub(/^ *\|/, "", row); sub(/\| *$/, "", row)
    n = split(row, part, "|"); text = "<tr>"
    for (i = 1; i <= n; ++i) {
        gsub(/\001/, "|", part[i]); gsub(/&/, "\\&amp;", part[i]); gsub(/</, "\\&lt;", part[i])
        while (match(part[i], /`[^`]*`/))
            part[i] = substr(part[i], 1, RSTART - 1) "<code>" substr(part[i], RSTART + 1, RLENGTH - 2) "</code>" substr(part[i], RSTART + RLENGTH)
        while (match(part[i], /\[[^]]*\]\([^) ]*\)/)) { # a link: Markdown stops at the table
            link = substr(part[i], RSTART, RLENGTH); cut = index(link, "](")
            part[i] = substr(part[i], 1, RSTART - 1) "<a href=\"" substr(link, cut + 2, length(link) - cut - 2) "\">" substr(link, 2, cut - 2) "</a>" substr(part[i], RSTART + RLENGTH)
        }
        while (match(part[i], /\*\*[^*]*\*\*/))
            part[i] = substr(part[i], 1, RSTART - 1) "<b>" substr(part[i], RSTART + 2, RLENGTH - 4) "</b>" substr(part[i], RSTART + RLENGTH)
        text = text "<" tag ">" part[i] "</" tag ">"
    }
    return text "</tr>"
}
/^```/ { code = !code }
!code && /^\|/ {
    if (!table) { print "<table>"; print cells($0, "th"); table = 1 }
    else if ($0 !~ /^\|[-| :]*$/) print cells($0, "td")
    next
}
table { print "</table>\n"; table = 0 }
{ print }
END { if (table) print "</table>" }'

# Headings get the names that GitHub gives them: small letters, words joined by -.
names='
/^<h[1-6]>/ {
    level = substr($0, 3, 1); text = $0
    gsub(/<[^>]*>/, "", text); gsub(/&[a-z]*;/, "", text)
    name = tolower(text); gsub(/[^a-z0-9 _-]/, "", name); gsub(/ /, "-", name)
    if (name in seen) name = name "-" seen[name]++; else seen[name] = 1
    sub(/^<h[1-6]>/, "<h" level " id=\"" name "\">")
}
{ print }'

begin_page() { # TITLE
    echo "<!doctype html><title>$1</title>$style"
}

# Where the page of a file of the project is, below $out.
target_of() {
    case $1 in
    README.md) echo index.html ;;
    *.md) echo "${1%.md}.html" ;;
    *.svg | *.png) echo "$1" ;;
    *) if [ -d "$1" ]; then echo "$1/index.html"; else echo "$1.html"; fi ;;
    esac
}

# Rewrites the links of a page to the pages of what they name, and renders that when it is new.
bad=0
follow_links() { # SOURCE TARGET
    local source=$1 target=$2 link path file new
    for link in $(grep -oE '(href|src)="[^"]*"' "$target" | sed -E 's/^[a-z]*="//; s/"$//' | sort -u); do
        case $link in *://* | mailto:* | \#*) continue ;; esac
        path=${link%%#*}
        file=$(realpath -m --relative-to=. "$(dirname "$source")/$path")
        if [ ! -e "$file" ]; then
            echo "$source: $link leads nowhere" >&2
            bad=1
            continue
        fi
        new=$(realpath -m --relative-to="$(dirname "$target")" "$out/$(target_of "$file")")
        [ "$link" = "$path" ] || new=$new#${link#*#}
        sed -i "s|=\"${link//./\\.}\"|=\"$new\"|g" "$target"
        render "$file"
    done
}

render() { # FILE
    local file=$1 target entry
    target=$out/$(target_of "$file")
    [ ! -e "$target" ] || return 0
    mkdir -p "$(dirname "$target")"
    case $file in
    *.md)
        { begin_page "${file##*/}"; awk "$tables" "$file" | cmark --unsafe | awk "$names"; } >"$target"
        follow_links "$file" "$target" ;;
    *.svg | *.png) cp "$file" "$target" ;;
    *)
        if [ -d "$file" ]; then
            { begin_page "$file"; echo "<h1>$file</h1><ul>"
              for entry in "$file"/*; do
                  [ ! -f "$entry" ] || echo "<li><a href=\"${entry##*/}.html\">${entry##*/}</a>"
              done; echo "</ul>"; } >"$target"
            for entry in "$file"/*; do [ ! -f "$entry" ] || render "$entry"; done
        else
            { begin_page "${file##*/}"; echo "<pre>"; sed 's/&/\&amp;/g; s/</\&lt;/g' "$file"; echo "</pre>"; } >"$target"
        fi ;;
    esac
}

# Made anew, as what exists is taken for rendered.
[ ! -e "$out/index.html" ] || find "$out" -type f \( -name '*.html' -o -name '*.svg' \) -delete
for file in README.md CHANGELOG.md CONTRIBUTING.md docs/*.md docs/*.svg include/carom; do render "$file"; done
man=$out/docs/carom.1.html
if ! groff -man -Thtml "$page" >"$man" 2>/dev/null; then
    { begin_page carom.1; echo "<pre>"
      if command -v groff >/dev/null; then groff -man -Tutf8 -P-cbou "$page"; else cat "$page"; fi |
          sed 's/&/\&amp;/g; s/</\&lt;/g'
      echo "</pre>"; } >"$man"
fi
[ $bad = 0 ] || exit 1
echo "docs: $out/index.html"
