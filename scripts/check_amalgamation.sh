#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The library can be joined into one file, which is without warnings and needs no header but carom.h. That it gives the
# library's answers: scripts/test_amalgamation.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
command -v python3 >/dev/null || { echo "no python3 on this machine"; exit 77; }
compiler=gcc
if command -v clang >/dev/null; then compiler=clang; fi # which takes a fifth of the time
out=$build/amalgamation/check
scripts/amalgamation.sh "$out"
said=$(cd "$out" && $compiler -std=c11 -fsyntax-only -Wall -Wextra -Werror carom.c 2>&1) || { echo "$said" | head -n 40; exit 1; }
[ -z "$said" ] || { echo "$said"; exit 1; }
echo '#include "carom.h"' >"$out/use.cpp"
if command -v g++ >/dev/null; then g++ -std=c++17 -fsyntax-only -Wall -Wextra -Werror "$out/use.cpp"; fi
