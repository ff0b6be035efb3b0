# SPDX-License-Identifier: MIT
# The library in one file, compiled with -O2 alone as its users do: by gcc and clang here and, where the entry aarch64
# has made test programs, for 64-bit ARM, which run in qemu (of them the tests that compare golden hashes, save or load).
# Golden hashes, and the answers of every engine.
programs=$(grep -l 'test_golden(' tests/test_*.c | sed 's,.*/\(.*\)\.c,\1,')
one_file() { # TARGET BUILD-FOLDER COMPILER
    have "$3" || { why="$3 is not installed"; result "$1"; return; }
    scripts/test_amalgamation.sh "$2" "$3" | tee "$out/$1"
    built=true ran=true golden=true passed=$(grep -cE 'passed$|answers of' "$out/$1") why=$(head -n 1 "$out/$1")
    result "$1"
}
cmake --build "$here" -j "$jobs" --target $programs carom_tool
one_file amalgamation-gcc "$here" gcc
one_file amalgamation-clang "$here" clang
other=build/platforms/aarch64
if [ -e "$other/carom" ] && have qemu-aarch64; then
    CAROM_RUN="qemu-aarch64 -L /usr/aarch64-linux-gnu" CAROM_TESTS_ONLY=$(portable_tests) one_file amalgamation-aarch64 "$other" aarch64-linux-gnu-gcc
else
    why="gcc-aarch64-linux-gnu or qemu-user is not installed, or the entry aarch64 was not run" result amalgamation-aarch64
fi
