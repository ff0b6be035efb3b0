# SPDX-License-Identifier: MIT
# Windows on x86-64, by MinGW, in wine: every program that is not made of POSIX, a sixteenth of the seeded cases, and
# the tool's answers, files and messages against those of the tool here.
have x86_64-w64-mingw32-gcc || cannot x86_64-windows-mingw "gcc-mingw-w64-x86-64 is not installed"
export WINEPREFIX=$out/wine WINEDEBUG=-all # also while building: the tool prints its completion
mkdir -p "$WINEPREFIX"
cross_build mingw.cmake 16
built=true
wine=$(command -v wine64 || ls /usr/lib/wine/wine64 2>/dev/null) ||
    { why="wine64 is not installed"; result x86_64-windows-mingw; exit 0; }
wine_begin "$wine" "$out/carom.exe"
run_tests
skipped="$skipped $(tr ';' ' ' <"$out/left_out.txt")"
same_answers "$wine" "$out/carom.exe"
# A backslash separates folders there, and stays one in what is no path: a pattern that takes a bracket as it is.
backslashes() (
    cd "$out/answers-there" && mkdir -p inner &&
        "$wine" "$out/carom.exe" make box -o 'inner\here.off' && [ -s inner/here.off ] &&
        "$wine" "$out/carom.exe" info 'inner\here.off' --json | grep -qF 'inner\\here.off' &&
        cp inner/here.off 'inner/[a].off' && echo '\[a* here*' >rules.txt &&
        "$wine" "$out/carom.exe" scene 'inner\here.off' 'inner/[a].off' --ignore rules.txt --json | grep -qF '"ignored": 1'
)
if backslashes; then passed=$((passed + 1)); else failed="$failed tool:backslashes"; fi
why="$why; the skipped programs are made of shells, signals, forks and POSIX threads"
result x86_64-windows-mingw
# The library in one file, compiled as its users do, under the same tool.
scripts/amalgamation.sh "$out/one-file"
(cd "$out/one-file" && x86_64-w64-mingw32-gcc -O2 -Wall -Wextra -Werror -c carom.c)
x86_64-w64-mingw32-gcc -static "$out/CMakeFiles/carom_tool.dir/cli/main.c.obj" "$out/lib/libcarom_cli_parts.a" \
    "$out/one-file/carom.o" -o "$out/one-file/carom.exe"
built=true
same_answers "$wine" "$out/one-file/carom.exe"
wine_end
result amalgamation-mingw
