#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Public structs and enums are laid out as tests/golden/abi.txt says: who changes one increments CAROM_ABI
# and runs `make abi`. That no change passes unnoticed, and that `make abi` refuses while the number is the
# old one, is tried on copies of the headers.
set -euo pipefail
cd "$(dirname "$0")/.."
for tool in python3 clang; do
    command -v $tool >/dev/null || { echo "skipped: $tool is missing"; exit 77; }
done
scripts/api.py abi --check tests/golden/abi.txt

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
bad=0
copy() { rm -rf "$out/include"; cp -r include "$out/include"; cp tests/golden/abi.txt "$out/abi.txt"; }
abi() { scripts/api.py --include "$out/include" abi "$@" "$out/abi.txt" >"$out/said" 2>&1; }
noticed() { # WHAT: the copy differs; the check says so, and the file stays until the number changes
    ! diff -rq include "$out/include" >/dev/null || { echo "$1: nothing was changed"; bad=1; }
    ! abi --check || { echo "$1: the check passes"; bad=1; }
    ! abi || { echo "$1: make abi does not refuse"; bad=1; }
    grep -q 'increment CAROM_ABI' "$out/said" || { echo "$1: the message is:"; tail -n 3 "$out/said"; bad=1; }
    cmp -s tests/golden/abi.txt "$out/abi.txt" || { echo "$1: make abi wrote the file"; bad=1; }
}

copy
sed -i '0,/^typedef struct .* {$/s//&\n    int inserted;/' "$(grep -lE '^typedef struct .* \{$' "$out"/include/carom/*.h | head -n 1)"
noticed "a field in a struct"
sed -i -E 's/^(#define CAROM_ABI) .*/\1 1000001u/' "$out/include/carom/base.h"
abi && abi --check && grep -q '^    0 inserted: int$' "$out/abi.txt" || { echo "another CAROM_ABI is refused"; bad=1; }

copy # in the macro that declares result arrays
sed -i -E 's/^( *type \*data;)/\1 int inserted;/' "$out/include/carom/result.h"
noticed "a field in result arrays"

copy # the last name of the first enum is its number of values
sed -i -E '0,/^ +CAROM_[A-Z_]+_COUNT$/s//    CAROM_INSERTED,\n&/' "$(grep -lE '^ +CAROM_[A-Z_]+_COUNT$' "$out"/include/carom/*.h | head -n 1)"
noticed "an enumerator"
exit $bad
