#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The lists that an engine must enter agree: every folder of src/ that is an engine has its header,
# manual page, check of its structure, tests, fuzzer, example, section of the demo and benchmark, and
# its entries in README.md and docs/architecture.md. docs/new-engine.md explains them.
#
# No engines are what engines share (base, geom, mesh, bvh, grid, spheres) and questions about meshes and soups that
# prepare nothing (kfree, impacts, repair, parts, which grid.md, toi.md, repair.md and large.md explain). soup is both shared and an engine.
# cover is an engine whose page and fuzzer are those of pack: covers and packings are one command of the tool.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
needs() { # ENGINE FILE: a file that must be there
    [ -e "$2" ] && return
    echo "src/$1 is an engine, but there is no $2"
    status=1
}
names() { # ENGINE FILE PATTERN: a file that must have a line that matches
    grep -qE -e "$3" "$2" && return
    echo "src/$1 is an engine, but $2 has no line with $3"
    status=1
}
engines=$(ls src | grep -vxE 'base|geom|mesh|bvh|grid|spheres|kfree|impacts|repair|parts')
[ -n "$engines" ] || { echo "no engines found"; exit 1; }
for engine in $engines; do
    with=$engine # whose page and fuzzer it has
    case $engine in cover) with=pack ;; esac
    needs "$engine" "include/carom/$engine.h"
    names "$engine" include/carom/carom.h "^#include \"carom/$engine\\.h\"$"
    needs "$engine" "src/$engine/$engine.c"
    needs "$engine" "tests/test_$engine.c"
    needs "$engine" "fuzz/fuzz_$with.c"
    needs "$engine" "src/$engine/${engine}_validate.c"
    checks=$(sed -n 's/^const char \*\(carom_[a-z]*_validate\)(.*/\1/p' "src/$engine/${engine}_validate.c")
    names "$engine" "src/$engine/${engine}_validate.c" "^const char \\*carom_[a-z]+_validate\\("
    for check in $checks; do # convex has hulls
        names "$engine" tests/test_validate.c "$check\\("
        names "$engine" "fuzz/fuzz_$with.c" "$check\\("
    done
    needs "$engine" "fuzz/corpus/$with"
    needs "$engine" "examples/$engine.c"
    needs "$engine" "cli/demo_$engine.c"
    needs "$engine" "bench/bench_$engine.c"
    needs "$engine" "docs/$with.md"
    names "$engine" README.md "^- \\[$with\\]\\(docs/$with\\.md\\):"
    names "$engine" docs/architecture.md "/src/$engine/"
    names "$engine" docs/architecture.md "\\($with\\.md\\)"
done
exit $status
