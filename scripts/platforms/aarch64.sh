# SPDX-License-Identifier: MIT
# Linux on 64-bit ARM: NEON, in qemu-user: golden hashes, readers, writers, save and load, a sixty-fourth of the
# seeded cases, and the tool's answers and files against those of the tool here.
have aarch64-linux-gnu-gcc || cannot aarch64-linux "gcc-aarch64-linux-gnu is not installed"
programs=$(emulated_programs)
cross_build aarch64.cmake 64 carom_tool $(printf 'test_%s ' $programs)
built=true
have qemu-aarch64 || { why="qemu-user is not installed"; result aarch64-linux; exit 0; }
CAROM_TESTS_ONLY=$(portable_tests)
export CAROM_TESTS_ONLY
run_tests $programs
same_answers qemu-aarch64 -L /usr/aarch64-linux-gnu "$out/carom"
result aarch64-linux
