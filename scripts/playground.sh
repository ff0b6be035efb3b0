#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: playground.sh OUTPUT-FOLDER PACKAGE. Makes the playground, a static folder: index.html with the viewer's modules,
# carom.js with the module inside, which open from disk on one thread, and the package for servers that allow threads.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1 package=$2
rm -rf "$out"
mkdir -p "$out/package"
cmake -DENTRY="$PWD/js/playground/playground.js" -DSTYLE="$PWD/viewer/viewer.css" -DMORE_STYLE="$PWD/js/playground/playground.css" \
    -DTEMPLATE="$PWD/js/playground/template.html" -DPAGE="$PWD/$out/index.html" -P viewer/join.cmake
python=$(scripts/python.sh re)
"$python" scripts/js_bundle.py js "$package/carom.wasm" "$out/carom.js" --classic
cp "$package"/*.js "$package"/*.wasm "$package/LICENSE" "$package/NOTICES" "$out/package"
rm "$out/package/carom.inline.js"
echo "file://$PWD/$out/index.html"
