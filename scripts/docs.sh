#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: docs.sh FOLDER BUILD-FOLDER. The manual as a site: contents, search, every page of docs, a page per public
# function. docs.py makes it, from the sources, the man page that the build made, and api.py's description of the
# headers. Fails when a link leads nowhere.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1 build=$2
if [ -e "$out" ] && [ -n "$(ls -A "$out")" ] && [ ! -e "$out/index.html" ]; then
    echo "docs: $out is no manual: name another folder" >&2
    exit 1
fi
rm -rf "$out.new"
mkdir -p "$out.new"
scripts/api.py json "$out.new/api.json" >/dev/null
scripts/docs.py "$out.new" "$build" "$out.new/api.json"
rm -rf "$out"
mv "$out.new" "$out"
echo "docs: $out/index.html"
