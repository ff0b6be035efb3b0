#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: docs.sh FOLDER. Renders README, docs/*.md, the man page and the public headers to HTML.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1
mkdir -p "$out/docs" "$out/include/carom"
style='<meta charset="utf-8"><style>body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}pre,code{background:#f3f5f8}pre{padding:.6rem;overflow:auto}table{border-collapse:collapse}td,th{padding:.2rem .8rem .2rem 0;border-bottom:1px solid #dde3ea;text-align:left;vertical-align:top}</style>'

# cmark knows no tables: turn each block of | rows into an HTML table first, cells still Markdown.
tables='
function cells(row, tag,   n, i, part, text) {
    gsub(/\\\|/, "\001", row)
    sub(/^ *\|/, "", row); sub(/\| *$/, "", row)
    n = split(row, part, "|"); text = "<tr>"
    for (i = 1; i <= n; ++i) {
        gsub(/\001/, "|", part[i]); gsub(/&/, "\\&amp;", part[i]); gsub(/</, "\\&lt;", part[i])
        while (match(part[i], /`[^`]*`/))
            part[i] = substr(part[i], 1, RSTART - 1) "<code>" substr(part[i], RSTART + 1, RLENGTH - 2) "</code>" substr(part[i], RSTART + RLENGTH)
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

page() { # SOURCE TARGET
    { echo "<!doctype html><title>${1##*/}</title>$style"
      awk "$tables" "$1" | cmark --unsafe | sed -E 's/href="([^":]*)\.md"/href="\1.html"/g; s/href="(\.\.\/)?(include\/carom\/[a-z]*\.h)"/href="\1\2.html"/g'; } >"$2"
}
page README.md "$out/index.html"
for file in CHANGELOG CONTRIBUTING; do page $file.md "$out/$file.html"; done
for file in docs/*.md; do page "$file" "$out/${file%.md}.html"; done
for file in include/carom/*.h; do
    { echo "<!doctype html><title>${file##*/}</title>$style<pre>"
      sed 's/&/\&amp;/g; s/</\&lt;/g' "$file"
      echo "</pre>"; } >"$out/$file.html"
done
if command -v groff >/dev/null && groff -man -Thtml docs/carom.1 >"$out/docs/carom.1.html" 2>/dev/null; then :; else
    { echo "<!doctype html>$style<pre>"; groff -man -Tutf8 -P-cbou docs/carom.1 2>/dev/null | sed 's/&/\&amp;/g; s/</\&lt;/g'; echo "</pre>"; } >"$out/docs/carom.1.html"
fi
echo "docs: $out/index.html"
