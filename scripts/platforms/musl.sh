# SPDX-License-Identifier: MIT
# musl, on this processor: everything, statically, a sixty-fourth of the seeded cases. For one instruction set, as
# loops ask nothing of a C library.
have musl-gcc || cannot musl "musl-tools is not installed"
cross_options=-DCAROM_X86_ISAS=OFF cross_build musl.cmake 64
built=true
run_tests
skipped="$skipped $(tr ';' ' ' <"$out/left_out.txt")"
why="the skipped programs open shared libraries, which static programs cannot"
result musl
