# SPDX-License-Identifier: MIT
# Linux on s390x: big endian, plain C instead of vectors, in qemu-user: golden hashes, readers, writers, save and load, a
# sixty-fourth of the seeded cases, and the tool's answers and files against those of the tool here.
have s390x-linux-gnu-gcc || cannot s390x-linux "gcc-s390x-linux-gnu is not installed"
programs=$(emulated_programs)
cross_build s390x.cmake 64 carom_tool $(printf 'test_%s ' $programs)
built=true
have qemu-s390x || { why="qemu-user is not installed"; result s390x-linux; exit 0; }
CAROM_TESTS_ONLY=$(portable_tests)
export CAROM_TESTS_ONLY
run_tests $programs
same_answers qemu-s390x -L /usr/s390x-linux-gnu "$out/carom"
result s390x-linux
