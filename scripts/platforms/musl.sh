# SPDX-License-Identifier: MIT
# musl, on this processor: everything, statically, a sixty-fourth of the seeded cases.
have musl-gcc || cannot musl "musl-tools is not installed"
cross_build musl.cmake 64
built=true
run_tests
skipped="$skipped $(tr ';' ' ' <"$out/left_out.txt")"
why="the skipped programs open shared libraries, which static programs cannot"
result musl
