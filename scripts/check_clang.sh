#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A second compiler has no warnings either: it reads every file of the build with the flags of the
# build, but generates no code. What has not changed since the last time it passed is not read again.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
command -v clang >/dev/null || { echo "no clang on this machine"; exit 77; }
passed=$build/clang.passed
newer() { [ ! -e "$passed" ] || [ "$1" -nt "$passed" ]; }
all=no
for file in $(scripts/sources.sh '\.h') "$build/compile_commands.json" "$0"; do
    if newer "$file"; then all=yes; fi
done
touch "$passed.now"
# CMake writes one "command" and one "file" line per compilation. gcc's spelling of a warning that
# clang names otherwise is exchanged, as cmake/flags.cmake does.
sed -nE 's/^ *"command": "(.*)",$/\1/p' "$build/compile_commands.json" |
    sed -E -e 's/\\(["\\])/\1/g' -e 's/ -o [^ ]+\.o / /' -e 's/ -c / /' \
        -e 's/^[^ ]+/clang -fsyntax-only/' -e 's/-Wshadow=local -Wdouble-promotion/-Wshadow/' |
    { grep -E '\.c$' || true; } | sort -u |
    while read -r command; do
        if [ $all = yes ] || newer "${command##* }"; then printf '%s\0' "$command"; fi
    done | xargs -0 -r -P 2 -n 1 bash -c
mv "$passed.now" "$passed"
