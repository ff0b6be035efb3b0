#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: npm.sh OUTPUT-FOLDER. Makes OUTPUT-FOLDER/package from js/ and the module of build-wasm, and
# from that the archive OUTPUT-FOLDER/carom-VERSION.tgz where npm is installed. Nothing is fetched.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1
stage=$out/package
rm -rf "$out"
mkdir -p "$stage"
cp js/*.js js/carom.d.ts js/package.json js/README.md LICENSE "$stage"
cp build-wasm/carom.wasm "$stage/carom.wasm"
python=$(scripts/python.sh re)
"$python" scripts/js_bundle.py js build-wasm/carom.wasm "$stage/carom.inline.js"
{
    echo "The WebAssembly module of this package is Carom, whose licence is in LICENSE, linked with wasi-libc and with the"
    echo "compiler-rt of LLVM:"
    for package in wasi-libc libclang-rt-14-dev-wasm32; do
        for file in /usr/share/doc/"$package"/copyright; do
            [ ! -r "$file" ] || { printf '\n==== %s ====\n\n' "$package"; cat "$file"; }
        done
    done
} >"$stage/NOTICES"
command -v npm >/dev/null || { echo "$stage; npm is not installed: no archive"; exit 0; }
(cd "$out" && npm pack --silent ./package >/dev/null)
ls -l "$out"/carom-*.tgz | awk '{print $NF ": " $5 " bytes"}'
