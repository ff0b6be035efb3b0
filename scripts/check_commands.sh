#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every command in README.md, in docs/*.md and on the page of `carom demo` runs: check_commands.sh BUILD.
#
# The lines of the `sh` blocks of a page run one after another in a scratch folder of that page, with inputs that are made here.
# What the tool answers with "yes" (status 1) is fine. `make X` is run as `make -n X`: tests cannot start themselves. A line
# that says "# not run by tests: WHY" is left out and listed. Commands inside of text (`carom X --option`) must
# name a command and options that there are.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD build=$(cd "$1" && pwd) bad=0 count=0 left=0
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS
say() { echo "$*"; bad=1; }

# ---- programs that commands name, and files
mkdir "$out/bin" "$out/inputs"
cat >"$out/bin/make" <<END
#!/bin/sh
exec $(command -v make) -n -C '$root' "\$@" >/dev/null
END
printf '#!/bin/sh\ntest -s "${1#file://}"\n' >"$out/bin/xdg-open"
printf '#!/bin/sh\nexec "$@"\n' >"$out/bin/sudo" # so that the programs of this folder are found
chmod +x "$out"/bin/*
ln -s "$build/carom" "$build/carom-bench" "$out/bin"
export PATH="$out/bin:$PATH"
cd "$out/inputs"
ln -s "$build" build
ln -s "$root/scripts" scripts
make_shape() { carom make "$@" -q >/dev/null; }
for name in knot crate table bone part ring; do make_shape torus --detail 24 -o "$name.stl"; done
for name in rock gripper tool lid torus; do make_shape sphere --detail 2 -o "$name.stl"; done
make_shape cloth --detail 30 -o cloth.obj
awk '/^v / { $4 += 0.02 * sin(40 * $2) } { print }' cloth.obj >next.obj
make_shape sphere --detail 2 -o piston.obj
make_shape cylinder --detail 16 -o cylinder.obj
awk 'FNR == 1 { print "o", substr(FILENAME, 1, length(FILENAME) - 4); shift = n }
    /^v / { ++n; print } /^f / { printf "f"; for (i = 2; i <= NF; ++i) printf " %d", $i + shift; print "" }' \
    piston.obj cylinder.obj >assembly.obj
awk '/^f / && ++n % 40 == 7 { next } { print }' piston.obj >scan.obj # with holes
carom convert scan.obj scan.ply -q >/dev/null
make_shape grid --detail 8 -o roof.whole.obj
awk '/^f / && ++n >= 60 && n < 64 { next } { print }' roof.whole.obj >roof.obj
mkdir -p .zsh/functions .config/fish/completions
for name in assembly engine building; do carom convert assembly.obj "$name.glb" -q >/dev/null; done
cat >robot.urdf <<'END'
<robot name="arm">
  <link name="base"><collision><geometry><box size="1 1 1"/></geometry></collision></link>
  <link name="upper"><collision><geometry><box size="0.2 0.2 2"/></geometry></collision></link>
  <link name="lower"><collision><geometry><box size="0.2 0.2 2"/></geometry></collision></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 1.6"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="0 0 1.1"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
</robot>
END
awk '/^```c$/ { ++n; next } /^```/ { if (n) exit } n' "$root/README.md" >app.c
touch app.h
cd "$root"

# ---- the library as if it were installed, for lines that link it (check_install.sh installs it)
mkdir -p "$out/prefix/lib/pkgconfig"
ln -s "$root/include" "$out/prefix/include"
ln -s "$build"/lib/libcarom.* "$out/prefix/lib"
cp "$build/carom.pc" "$out/prefix/lib/pkgconfig" # it finds the folders above its own
export PKG_CONFIG_PATH="$out/prefix/lib/pkgconfig"

# run_lines WHERE: the lines of the standard input, in a folder of its own.
run_lines() {
    local where=$1 folder=$out/$(tr -c 'a-z0-9\n' _ <<<"$1") line code
    cp -r "$out/inputs" "$folder"
    while IFS= read -r line; do
        case $line in '' | '#'*) continue ;; esac
        case $line in *'# not run by tests: '*)
            echo "$where: not run: ${line%%  #*} (${line##*# not run by tests: })"
            left=$((left + 1))
            continue
            ;;
        esac
        if [[ $line = *pkg-config* ]] && ! command -v pkg-config >/dev/null; then
            echo "$where: not run: $line (pkg-config is missing)"
            continue
        fi
        code=0
        (cd "$folder" && HOME=$folder bash -c "$line" </dev/null >"$out/log" 2>&1) || code=$?
        case $line in carom* | build/carom*) [ $code != 1 ] || code=0 ;; esac
        [ $code = 0 ] || { say "$where: status $code: $line"; sed 's/^/    /' "$out/log" | tail -5; }
        count=$((count + 1))
    done
}
for page in README.md docs/*.md; do
    awk '/^```sh$/ { on = 1; next } /^```/ { on = 0 } on' "$page" >"$out/lines"
    [ ! -s "$out/lines" ] || run_lines "$page" <"$out/lines"
done
for section in cli/demo_*.c; do # the strings from "carom on, to the end of the section's definition
    awk '/^    "carom / { on = 1 } /^    [a-z]*};/ { on = 0 }
        on { sub(/^ *"/, ""); sub(/",?$/, ""); gsub(/\\n/, "\n"); printf "%s", $0 } END { print "" }' "$section" >"$out/lines"
    [ "$(wc -c <"$out/lines")" -lt 3 ] || run_lines "$section" <"$out/lines"
done
[ "$count" -ge 60 ] || say "only $count commands found: is the search broken?"

# ---- commands inside of text
commands=$(carom --help | awk '/^  [a-z]/ { print $1 }')
benches=$(carom bench --list | awk '{ print $1 }')
words=0
while IFS= read -r line; do
    read -ra tokens <<<"$line"
    name=${tokens[1]:-}
    case $name in '' | -* | [A-Z]*) continue ;; esac
    words=$((words + 1))
    grep -qx -- "$name" <<<"$commands" || { say "\`$line\`: there is no command $name"; continue; }
    [ -s "$out/help-$name" ] || carom "$name" --help >"$out/help-$name" 2>&1 || true
    if [ "$name" = bench ] && [[ ${tokens[2]:-} = [a-z]* ]]; then
        grep -qx -- "${tokens[2]}" <<<"$benches" || say "\`$line\`: there is no benchmark ${tokens[2]}"
    fi
    for token in "${tokens[@]:2}"; do
        case $token in --*) grep -q -- "${token%%=*}\b" "$out/help-$name" || say "\`$line\`: $name has no option $token" ;; esac
    done
done < <(cat README.md docs/*.md | { grep -oE '`(build/)?carom [^`]*`' || true; } | tr -d '`' | sort -u)
[ "$words" -ge 40 ] || say "only $words commands found in text: is the search broken?"

echo "$count commands run, $left left out by their mark, $words in text checked"
exit $bad
