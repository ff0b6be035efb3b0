#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The C programs shown in README.md and docs/ compile without warnings and run. A block counts as a
# program when it has a main.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
awk -v out="$out" '
    /^```c$/ { inside = 1; ++n; file = sprintf("%s/block_%02d.c", out, n); next }
    /^```/ { inside = 0 }
    inside { print > file }' README.md docs/*.md
count=0
for block in "$out"/block_*.c; do
    grep -q 'int main' "$block" || continue
    cc -std=c11 -Wall -Wextra -Werror -Iinclude "$block" -L"$build/lib" -Wl,-rpath,"$build/lib" -lcarom -o "$out/program"
    (cd "$out" && ./program >/dev/null)
    count=$((count + 1))
done
echo "$count programs compiled and run"
[ "$count" -gt 0 ]
