#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: test_js.sh [SCALAR-MODULE]. The tests of the npm package in Node: golden hashes of each module, every class, and
# calls with arguments of all kinds. Without node, or before `make npm`, they are skipped, which it says.
set -euo pipefail
cd "$(dirname "$0")/.."
package=build/npm/package
command -v node >/dev/null || { echo "skipped: node is not installed"; exit 77; }
[ -e $package/carom.wasm ] || { echo "skipped: there is no $package; make npm builds it"; exit 77; }
say() { sed "s/^golden/Node, $1: golden/"; }
node js/tests/golden_node.mjs $package | say SIMD128
node js/tests/golden_node.mjs $package 2 | say "SIMD128 with 2 threads"
[ ! -e "${1:-}" ] || node js/tests/golden_node.mjs $package 1 "$1" | say scalar
pairs=$(node --input-type=module -e 'const { init, selfPairs, Mesh } = await import(process.argv[1]); await init();
    console.log(selfPairs(Mesh.shape("cloth", { detail: 60 })).length / 2)' "$PWD/$package/carom.inline.js")
[ "$pairs" = 3063 ] || { echo "the module inside a file of JavaScript finds $pairs pairs, not 3063"; exit 1; }
node --expose-gc js/tests/test_api.mjs $package
node js/tests/fuzz.mjs $package "${CAROM_JS_CALLS:-3000}"
