#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The lists that an engine must enter agree: every folder of src/ that is an engine has its header,
# manual page, check of its structure, tests, fuzzer, example, section of the demo and benchmark, and
# its entries in README.md and docs/architecture.md. docs/new-engine.md explains them.
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
engines=$(ls src | grep -vxE 'base|geom|mesh|bvh|grid')
[ -n "$engines" ] || { echo "no engines found"; exit 1; }
for engine in $engines; do
    needs "$engine" "include/carom/$engine.h"
    names "$engine" include/carom/carom.h "^#include \"carom/$engine\\.h\"$"
    needs "$engine" "src/$engine/$engine.c"
    needs "$engine" "tests/test_$engine.c"
    needs "$engine" "fuzz/fuzz_$engine.c"
    needs "$engine" "src/$engine/${engine}_validate.c"
    checks=$(sed -n 's/^const char \*\(carom_[a-z]*_validate\)(.*/\1/p' "src/$engine/${engine}_validate.c")
    names "$engine" "src/$engine/${engine}_validate.c" "^const char \\*carom_[a-z]+_validate\\("
    for check in $checks; do # convex has hulls
        names "$engine" tests/test_validate.c "$check\\("
        names "$engine" "fuzz/fuzz_$engine.c" "$check\\("
    done
    needs "$engine" "fuzz/corpus/$engine"
    needs "$engine" "examples/$engine.c"
    needs "$engine" "cli/demo_$engine.c"
    needs "$engine" "bench/bench_$engine.c"
    needs "$engine" "docs/$engine.md"
    names "$engine" README.md "^- \\[$engine\\]\\(docs/$engine\\.md\\):"
    names "$engine" docs/architecture.md "\\($engine\\.md\\)"
done
exit $status
