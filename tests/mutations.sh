#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: mutations.sh [NAME...]. Proves that invariants stop mistakes. Each tests/mutations/NAME.patch
# puts one mistake into the library, such as a swapped bound or a count that is off by one; a build
# with asserts then runs a test program, which must end with
#
#   assert    a broken invariant (src/base/assert.c, or assert of a kernel)
#   validate  what a _validate function says (assert_valid of tests/support/test.h)
#   test      a check of the test itself, a crash, or no end within the limit
#
# as the patch says. The patch begins with comment lines:
#
#   # what: the mistake in a few words; without this line the name says it
#   # stopped by: assert
#   # program: test_scene_steps
#
# Everything happens in build-mutations/, in a copy of the sources: the checkout is only read. A
# mutation of the GPU library is skipped where there is no GPU. Exit 1: a mutation survived, was
# stopped by something else than it says, does not apply or does not compile. JOBS=n sets how many
# compilers run at once.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)} root=build-mutations
copy=$root/source build=$root/build log=$root/log
seconds_limit=300 # the slowest of these programs takes 20 s
mkdir -p "$copy" "$log"

names=("$@")
[ $# -gt 0 ] || mapfile -t names < <(cd tests/mutations && ls ./*.patch | sed 's|^\./||; s|\.patch$||')
header() { sed -n "s/^# $2: //p" "tests/mutations/$1.patch" | head -n 1; } # NAME FIELD
files_of() { sed -n 's|^+++ b/\([^[:space:]]*\).*|\1|p' "tests/mutations/$1.patch"; } # NAME
is_device() { files_of "$1" | grep -qE '\.cu$|_cuda\.h$'; } # NAME

# ---- The copy and its build ------------------------------------------------------------------------

restore() { # FILE...: what differs from the checkout becomes as it is there
    local file
    for file in "$@"; do
        cmp -s "$file" "$copy/$file" || { mkdir -p "$copy/$(dirname "$file")" && cp "$file" "$copy/$file"; }
    done
}
mapfile -t sources < <(scripts/sources.sh '' | grep -vE '^build')
restore "${sources[@]}"
(cd "$copy" && find . -type f | sed 's|^\./||') | sort >"$root/there"
printf '%s\n' "${sources[@]}" | sort | comm -13 - "$root/there" | (cd "$copy" && xargs -r rm -f)

have_gpu=OFF
[ -e /dev/nvidia0 ] && command -v nvcc >/dev/null && have_gpu=ON
# One instruction set and few optimisations: most of the time goes to compilers.
cmake -S "$copy" -B "$build" -G "Unix Makefiles" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCAROM_CHECKS=ON \
    -DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -DCAROM_X86_ISAS=OFF -DCAROM_TEST_SHARE=4 -DCAROM_EXAMPLES=OFF \
    -DCAROM_WERROR=OFF -DCAROM_CUDA=$have_gpu >"$log/configure" 2>&1 || { cat "$log/configure"; exit 1; }

compile() { # LOG TARGET...
    local to=$1
    shift
    cmake --build "$build" -j "$jobs" --target "$@" >"$to" 2>&1
}
run_program() { # PROGRAM LOG: prints what stopped it, or nothing
    local code=0
    (cd "$copy" && timeout "$seconds_limit" "../build/tests/$1") >"$2" 2>&1 || code=$?
    # The first counts: a program goes on after a test that fails.
    case "$(grep -m 1 -oE 'broken invariant: |Assertion .* failed|_validate: |: error: Failure' "$2")" in
    broken* | Assertion*) echo assert ;;
    _validate*) echo validate ;;
    *) [ "$code" -eq 0 ] || echo test ;;
    esac
}
reason() { # LOG: the first line that says why
    grep -m 1 -oE '[^/ ]*:[0-9]+: broken invariant: .*|Assertion .* failed.*|_validate: .*|[^/ ]*:[0-9]+: error: .*|Segmentation fault.*' \
        "$1" | sed 's/broken invariant: //; s/_validate: //' | cut -c 1-90 || true
}

# ---- Without a mutation every program passes -------------------------------------------------------

programs=()
for name in "${names[@]}"; do
    [ -f "tests/mutations/$name.patch" ] || { echo "there is no tests/mutations/$name.patch"; exit 1; }
    if ! is_device "$name" || [ $have_gpu = ON ]; then programs+=("$(header "$name" program)"); fi
done
mapfile -t programs < <(printf '%s\n' "${programs[@]}" | sort -u | sed '/^$/d')
device_targets=()
[ $have_gpu = OFF ] || device_targets=(carom_cuda)
if [ ${#programs[@]} -gt 0 ]; then
    echo "building ${#programs[@]} programs with asserts"
    compile "$log/build" "${programs[@]}" "${device_targets[@]}" || { tail -n 30 "$log/build"; exit 1; }
    for program in "${programs[@]}"; do
        [ -z "$(run_program "$program" "$log/$program")" ] ||
            { echo "$program fails without any mutation:"; tail -n 20 "$log/$program"; exit 1; }
    done
fi

# ---- The mutations ---------------------------------------------------------------------------------

failures=0 skipped=0
declare -A by=([assert]=0 [validate]=0 [test]=0)
say() { printf '%-26s %-9s %s\n' "$1" "$2" "$3"; } # NAME RESULT WHY
say mutation "stopped by" why
for name in "${names[@]}"; do
    patch=tests/mutations/$name.patch program=$(header "$name" program) wanted=$(header "$name" 'stopped by')
    wanted=${wanted%% *} # a file may follow
    if is_device "$name" && [ $have_gpu = OFF ]; then
        say "$name" skipped "needs a GPU"
        skipped=$((skipped + 1))
        continue
    fi
    mapfile -t files < <(files_of "$name")
    targets=("$program")
    if is_device "$name"; then targets+=(carom_cuda); fi
    if ! patch -d "$copy" -p1 -f -s --dry-run <"$patch" >"$log/$name" 2>&1; then
        say "$name" FAILED "does not apply any more: make it anew ($patch)"
        failures=$((failures + 1))
        continue
    fi
    patch -d "$copy" -p1 -f -s --no-backup-if-mismatch <"$patch"
    result=
    if compile "$log/$name.build" "${targets[@]}"; then
        result=$(run_program "$program" "$log/$name")
        why=$(reason "$log/$name")
        case "$result" in
        '') say "$name" SURVIVED "$(header "$name" what)"; failures=$((failures + 1)) ;;
        "$wanted") say "$name" "$result" "$why"; by[$result]=$((by[$result] + 1)) ;;
        *) say "$name" "$result" "expected: $wanted; $why"; failures=$((failures + 1)) ;;
        esac
    else
        say "$name" FAILED "does not compile: $log/$name.build"
        failures=$((failures + 1))
    fi
    restore "${files[@]}"
done
echo "mutations: ${by[assert]} stopped by an assert, ${by[validate]} by _validate, ${by[test]} by a test;" \
    "$failures failed, $skipped skipped"
[ "$failures" -eq 0 ]
