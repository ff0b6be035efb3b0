#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The patches of tests/mutations.sh, which takes minutes, still apply: each changes one or two lines
# of src/, says what stops it and names a test program that exists.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v patch >/dev/null || { echo "patch is not installed"; exit 77; }
status=0 count=0
bad() { # FILE WHAT
    echo "$1: $2"
    status=1
}
for file in tests/mutations/*.patch; do
    count=$((count + 1))
    field() { sed -n "s/^# $1: //p" "$file" | head -n 1; }
    case "$(field 'stopped by')" in
    assert | validate | test | "assert "* | "validate "* | "test "*) ;;
    *) bad "$file" "has no line '# stopped by: assert', validate or test" ;;
    esac
    program=$(field program)
    [ -n "$program" ] && [ -f "tests/$program.c" ] || bad "$file" "names no program of tests/: '$program'"
    touched=$(sed -n 's|^+++ b/\([^[:space:]]*\).*|\1|p' "$file")
    [ -n "$touched" ] || bad "$file" "changes nothing"
    for path in $touched; do
        case "$path" in src/*) ;; *) bad "$file" "changes $path, which is not in src/" ;; esac
    done
    for sign in - +; do
        lines=$(grep -cE "^\\$sign([^$sign]|\$)" "$file" || true)
        [ "$lines" -le 2 ] || bad "$file" "has $lines lines with $sign; a mutation changes one or two"
    done
    patch -p1 -f -s --dry-run <"$file" >/dev/null 2>&1 ||
        bad "$file" "does not apply any more: make the same mistake in the code as it is now (git diff)"
done
echo "mutations: $count patches"
exit $status
