#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The C code shown in README.md and docs/ compiles without warnings. A block with a main is a program, and runs. Others are
# fragments: each compiles as the body of a function, with the variables that fragments.h declares for its page, or, on
# coming-from.md, those that the page's first block declares.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
awk -v out="$out" '
    FNR == 1 { page = FILENAME; gsub(/.*\/|\.md$/, "", page); gsub(/[^A-Za-z0-9]/, "_", page) }
    /^```c$/ { inside = 1; ++n; file = sprintf("%s/%02d-%s.c", out, n, page); next }
    /^```/ { inside = 0 }
    inside { print > file }' README.md docs/*.md
flags=(-std=c11 -Wall -Wextra -Werror -Iinclude)
programs=0 fragments=0 declared= last= number=0
for block in "$out"/*.c; do
    page=${block##*-} page=${page%.c}
    if grep -q 'int main' "$block"; then
        cc "${flags[@]}" "$block" -L"$build/lib" -Wl,-rpath,"$build/lib" -lcarom -o "$out/program"
        (cd "$out" && ./program >/dev/null)
        programs=$((programs + 1))
        continue
    fi
    if [ "$page" = coming_from ] && [ -z "$declared" ]; then
        declared=$block
        continue
    fi
    [ "$page" = "$last" ] || number=0
    last=$page number=$((number + 1))
    {
        printf '#define PAGE_%s\n#define FRAGMENT %d\n' "$page" "$number"
        echo '#include "scripts/fragments.h"'
        [ "$page" != coming_from ] || cat "$declared"
        printf 'void fragment(void);\nvoid fragment(void) {\n#line 1 "%s, a fragment"\n' "$page.md"
        cat "$block"
        echo '}'
    } >"$out/fragment.txt"
    cc "${flags[@]}" -I. -fsyntax-only -x c "$out/fragment.txt"
    fragments=$((fragments + 1))
done
echo "$programs programs compiled and run, $fragments fragments compiled"
[ "$programs" -gt 0 ] && [ "$fragments" -ge 15 ]
