#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The npm package fits the headers: abi.js and carom.d.ts are what scripts/api_js.py makes of them, and its version is theirs.
set -euo pipefail
cd "$(dirname "$0")/.."
for tool in python3 clang; do
    command -v $tool >/dev/null || { echo "skipped: $tool is missing"; exit 77; }
done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
bad=0
scripts/api.py json "$out/api.json" >/dev/null
scripts/api_js.py abi "$out/api.json" "$out/abi.js"
scripts/api_js.py types "$out/api.json" js/classes.d.ts "$out/carom.d.ts"
for file in abi.js carom.d.ts; do
    cmp "$out/$file" js/$file || { echo "js/$file is not what the headers give: run make api"; bad=1; }
done
grep -q "\"version\": \"$(scripts/version.sh)\"" js/package.json || { echo "js/package.json has another version than the headers"; bad=1; }
exit $bad
