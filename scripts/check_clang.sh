#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A second compiler has no warnings either: it reads the library, the tool, the examples and the oracles with
# the flags of the build, but generates no code; test programs and benchmarks are left to `make test-all`. A
# file is read again when it, or a header that the build read with it, has changed since the last time this passed. Names in src/ are unique (check_names.sh), so that the library is
# read as one file per set of flags, in a tenth of the time, and all but the shadows of names is seen; those
# gcc sees, and `make test-all`, which compiles every file by clang.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
command -v clang >/dev/null || { echo "no clang on this machine"; exit 77; }
passed=$build/clang.passed
newer() { [ ! -e "$passed" ] || [ "$1" -nt "$passed" ]; }
all=no
for file in "$build/compile_commands.json" "$0"; do
    if newer "$file"; then all=yes; fi
done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
headers=$out/headers # that changed
touch "$headers"
for file in $(scripts/sources.sh '\.h'); do
    if newer "$file"; then echo "$file" >>"$headers"; fi
done
stale() { # OBJECT SOURCE: the source, or a header that the build read with it, has changed
    [ $all = yes ] || newer "$2" || [ ! -e "$build/$1.d" ] || grep -qF -f "$headers" "$build/$1.d"
}
touch "$passed.now"
# CMake writes one "command" and one "file" line per compilation. gcc's spelling of a warning that
# clang names otherwise is exchanged, as cmake/flags.cmake does.
sed -nE 's/^ *"command": "(.*)",$/\1/p' "$build/compile_commands.json" |
    sed -E -e 's/\\(["\\])/\1/g' | { grep -E '\.c$' || true; } |
    { grep -vE '/(tests/[^ /]*|bench/[^ ]*|fuzz/[^ ]*)$' || true; } |
    while read -r command; do
        [[ $command =~ \ -o\ ([^ ]+\.o)\  ]]
        if stale "${BASH_REMATCH[1]}" "${command##* }"; then echo "$command"; fi
    done |
    sed -E -e 's/ -o [^ ]+\.o / /' -e 's/ -c / /' -e 's/^[^ ]+/clang -fsyntax-only/' \
        -e 's/-Wshadow=local -Wdouble-promotion/-Wshadow/' -e 's/ -fno-loop-unroll-and-jam//' |
    sort -u | awk -v out="$out" -v library="$PWD/src/" '
        { file = $NF; flags = substr($0, 1, length($0) - length(file)) }
        index(file, library) == 1 { one[flags] = one[flags] "#include \"" file "\"\n"; next }
        { more[flags] = more[flags] " " file; if (++waiting[flags] == 16) { print flags more[flags]; forget() } }
        function forget() { delete more[flags]; delete waiting[flags] }
        END {
            for (flags in more) print flags more[flags]
            for (flags in one) {
                file = out "/library" ++count ".c"
                printf "#define _GNU_SOURCE\n%s", one[flags] >file
                close(file)
                print flags "-Wno-shadow " file # other files have names that are no matter of this one
            }
        }' | tr '\n' '\0' | xargs -0 -r -P 2 -n 1 bash -c
mv "$passed.now" "$passed"
