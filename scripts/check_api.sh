#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `make api` describes all that the headers declare, and nothing else: its functions are those that the
# shared library exports and as many as the headers mark; its structs and enums are those of the text; its
# layouts are those that the C compiler makes. Everything has a comment, and the same headers give the same
# bytes. tests/api has a header with a case of each rule, and what must come of it.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
for tool in python3 clang nm; do
    command -v $tool >/dev/null || { echo "skipped: $tool is missing"; exit 77; }
done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
bad=0
same() { # WHAT FILE FILE
    diff "$2" "$3" >"$out/difference" && return
    echo "$1:"; head -n 20 "$out/difference"; bad=1
}
names() { # KIND: those of api.json that are not inline
    python3 - "$out/api.json" "$@" <<'END'
import json, sys
items = json.load(open(sys.argv[1], encoding="utf-8"))[sys.argv[2]]
print("\n".join(sorted(item["name"] for item in items if not item.get("inline"))))
END
}

scripts/api.py json "$out/api.json"
scripts/api.py json "$out/again.json" >/dev/null
same "the second api.json differs" "$out/api.json" "$out/again.json"
scripts/api.py undocumented || bad=1

names functions >"$out/functions"
nm -D --defined-only "$build/lib/libcarom.so" | awk '{print $3}' | sed 's/@.*//' | sort >"$out/exported"
same "declared (<) and exported (>) functions" "$out/functions" "$out/exported"
marked=$("${CC:-cc}" -E -Iinclude include/carom/carom.h | grep -o 'visibility("default")' | wc -l)
[ "$marked" = "$(wc -l <"$out/functions")" ] || {
    echo "the headers mark $marked functions with CAROM_API, api.json has $(wc -l <"$out/functions")"; bad=1; }

text() { cat include/carom/*.h | sed -nE "$1" | sort; }
names structs >"$out/structs"
text 's/^typedef struct (carom_\w+) \{$/\1/p; s/^CAROM_RESULT_ARRAY\((\w+),.*/\1/p' >"$out/structs.text"
same "structs of api.json (<) and of the headers (>)" "$out/structs" "$out/structs.text"
names enums >"$out/enums"
text 's/^typedef enum (carom_\w+) \{$/\1/p' >"$out/enums.text"
same "enums of api.json (<) and of the headers (>)" "$out/enums" "$out/enums.text"

scripts/api.py probe >"$out/probe.c"
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror -Iinclude "$out/probe.c" -o "$out/probe"
"$out/probe" >"$out/layouts"
python3 tests/api/show.py "$out/api.json" layouts >"$out/layouts.json"
if [ "$(uname -m)" = x86_64 ]; then
    same "layouts of api.json (<) and of the C compiler (>)" "$out/layouts.json" "$out/layouts"
else
    echo "layouts are compared on x86_64 only"
fi

scripts/api.py --include tests/api json "$out/rules.json" >/dev/null
python3 tests/api/show.py "$out/rules.json" >"$out/rules"
same "what must come of tests/api/carom/carom.h (<) and what does (>)" tests/api/rules.txt "$out/rules"
exit $bad
