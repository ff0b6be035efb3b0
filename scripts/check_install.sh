#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs into an empty folder and builds tiny outside projects against it: with find_package, with a bare Makefile and
# pkg-config, static and shared, and from the archive of make dist by FetchContent; with all cases (make test-all), by
# Meson and by add_subdirectory, too. Then it uninstalls.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
all=no
if grep -q '^CAROM_TEST_SHARE:STRING=1$' "$build/CMakeCache.txt" || [ -n "${CAROM_LONG:-}" ]; then all=yes; fi
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
prefix=$root/usr
cmake --install "$build" --prefix "$prefix" >/dev/null
for file in bin/carom bin/carom-bench include/carom/carom.h share/man/man1/carom.1 \
    share/bash-completion/completions/carom share/zsh/site-functions/_carom share/fish/vendor_completions.d/carom.fish; do
    [ -e "$prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done
"$prefix/bin/carom" --version >/dev/null

for kind in static shared; do
    cmake -S tests/outside -B "$root/$kind" -DCMAKE_PREFIX_PATH="$prefix" -DKIND=$kind --log-level=WARNING >/dev/null
    cmake --build "$root/$kind" >/dev/null
    "$root/$kind/outside"
done

# The archive as a part of a larger project, without git and without what is optional. The code was
# compiled well before; here it only has to build: for one instruction set, without optimisation and many files
# at once.
archive=$(scripts/dist.sh "$root/dist")
plain=(-DCMAKE_C_FLAGS_RELEASE=-O0 -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=100
       -DCAROM_ZLIB=OFF -DCAROM_ASSIMP=OFF -DCAROM_X86_ISAS=OFF --log-level=WARNING)
cmake -S tests/outside -B "$root/fetch" -DKIND=fetch -DCAROM_SOURCE="$archive" "${plain[@]}" >/dev/null
cmake --build "$root/fetch" -j 2 >/dev/null
"$root/fetch/outside"
grep -q "\"$(scripts/commit.sh)\"" "$root"/fetch/_deps/carom-build/generated/carom_commit.h ||
    { echo "the archive does not know its commit"; exit 1; }

if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name carom.pc)")
    for link in '' --static; do
        mkdir "$root/make$link"
        make -s -C "$root/make$link" -f "$PWD/tests/outside/Makefile" LINK=$link
        "$root/make$link/outside"
        linked=$(ldd "$root/make$link/outside") # whole, as a pipe that grep -q leaves early is a failure too
        if [ -z "$link" ]; then
            grep -q libcarom.so <<<"$linked"
        elif grep -q libcarom <<<"$linked"; then
            echo "not static"
            exit 1
        fi
    done
else
    echo "no pkg-config: the Makefile was not tried"
fi

if [ $all = yes ]; then
    cmake -S tests/outside -B "$root/sub" -DKIND=subdirectory -DCAROM_SOURCE="$PWD" -DBUILD_SHARED_LIBS=ON "${plain[@]}" >/dev/null
    cmake --build "$root/sub" -j 2 >/dev/null
    "$root/sub/outside"
    grep -q libcarom.so <<<"$(ldd "$root/sub/outside")" || { echo "BUILD_SHARED_LIBS=ON, but not shared"; exit 1; }
    if command -v meson >/dev/null && command -v pkg-config >/dev/null; then
        meson setup --cmake-prefix-path "$prefix" "$root/meson" tests/outside >"$root/meson.log" 2>&1 ||
            { cat "$root/meson.log"; exit 1; }
        meson compile -C "$root/meson" >>"$root/meson.log" 2>&1 || { cat "$root/meson.log"; exit 1; }
        LD_LIBRARY_PATH=$(pkg-config --variable=libdir carom) "$root/meson/outside"
        "$root/meson/outside_cmake"
    else
        echo "no meson: not tried"
    fi
fi

cmake -DMANIFEST="$build/install_manifest.txt" -P cmake/uninstall.cmake >/dev/null 2>&1
left=$(find "$prefix" -type f -o -type l)
[ -z "$left" ] || { echo "left after make uninstall:"; echo "$left"; exit 1; }
