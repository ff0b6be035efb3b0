#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/setup.sh in a system of its own: what is installed under its name or as what another package provides is not asked
# for again, what lacks is named in one line, and only a package that is needed makes it fail.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/scripts" "$folder/bin"
cp scripts/setup.sh "$folder/scripts"
cat >"$folder/packages.txt" <<'TXT'
# name purpose kind why
one    part  need  it is there
two    part  want  another package provides it
three  part  want  it was removed
four   more  need  it was never there
TXT
cat >"$folder/bin/dpkg-query" <<'SH'
#!/bin/sh
printf 'installed one \ninstalled other-two half, two (= 5), two-doc\nconfig-files three \n'
SH
printf '#!/bin/sh\necho 1000\n' >"$folder/bin/id" # nobody who may install
chmod +x "$folder/bin/"*
said() { # CODE WORDS PURPOSE...
    local code=$1 words=$2 got=0 text
    shift 2
    text=$(PATH="$folder/bin:$PATH" bash "$folder/scripts/setup.sh" "$@" 2>&1) || got=$?
    [ "$got" = "$code" ] || { echo "setup.sh $*: exit code $got, not $code: $text"; exit 1; }
    [ "${text##*recommends }" = "$words" ] || { echo "setup.sh $*: says '$text', not '$words'"; exit 1; }
}
said 0 "three" part
said 1 "four" more
said 1 "four three" part more
said 0 "" nothing
