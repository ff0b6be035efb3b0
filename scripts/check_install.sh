#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs into an empty folder and builds a tiny outside project against it: with find_package and
# with pkg-config, static and shared, from C and C++.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
prefix=$root/usr
cmake --install "$build" --prefix "$prefix" >/dev/null
for file in bin/carom include/carom/carom.h share/man/man1/carom.1; do
    [ -e "$prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done
"$prefix/bin/carom" --version >/dev/null

for kind in static shared; do
    cmake -S tests/outside -B "$root/$kind" -DCMAKE_PREFIX_PATH="$prefix" -DKIND=$kind --log-level=WARNING >/dev/null
    cmake --build "$root/$kind" >/dev/null
    "$root/$kind/outside"
done
# The same source as a sub-directory of a larger project, without what is optional. The code was
# compiled well before; here it only has to build: for one instruction set and without optimisation.
cmake -S tests/outside -B "$root/sub" -DKIND=subdirectory -DCAROM_SOURCE="$PWD" -DCMAKE_C_FLAGS_RELEASE=-O0 \
    -DCAROM_ZLIB=OFF -DCAROM_ASSIMP=OFF -DCAROM_X86_ISAS=OFF --log-level=WARNING >/dev/null
cmake --build "$root/sub" -j 2 >/dev/null
"$root/sub/outside"

if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name carom.pc)")
    libdir=$(pkg-config --variable=libdir carom)
    cc tests/outside/outside.c $(pkg-config --cflags --libs carom) -Wl,-rpath,"$libdir" -o "$root/dynamic"
    "$root/dynamic"
    linked=$(ldd "$root/dynamic") # whole, as a pipe that grep -q leaves early is a failure too
    grep -q libcarom.so <<<"$linked"
    flags=$(pkg-config --cflags --libs --static carom)
    cc tests/outside/outside.c ${flags/-lcarom/$libdir/libcarom.a} -o "$root/fixed"
    "$root/fixed"
    linked=$(ldd "$root/fixed")
    if grep -q libcarom <<<"$linked"; then echo "not static"; exit 1; fi
else
    echo "no pkg-config: not checked"
fi
