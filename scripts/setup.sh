#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: setup.sh PURPOSE... (of packages.txt: build, test, bench, docs, api ...)
# Installs the packages of packages.txt that are missing for these purposes when it may (root, on a
# Debian system); otherwise prints the one line to run, and fails only when a needed one is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v dpkg-query >/dev/null || exit 0 # not Debian: trust the user, CMake will tell what lacks

packages_for() { # need|want PURPOSE...
    local kind=$1
    shift
    awk -v kind="$kind" -v purposes=" $* " \
        '/^[^#]/ && $3 == kind && index(purposes, " " $2 " ") {print $1}' packages.txt
}
# What is installed, by its name or by one that it provides: nodejs from its makers has npm inside, and
# refuses Debian's.
installed() {
    dpkg-query -W -f '${db:Status-Status} ${Package} ${Provides}\n' | awk '$1 == "installed"' |
        sed 's/([^)]*)//g' | tr ' ,' '\n\n' | sort -u
}
missing_of() {
    [ $# = 0 ] || printf '%s\n' "$@" | sort -u | comm -23 - <(installed)
}

needed=$(missing_of $(packages_for need "$@"))
wanted=$(missing_of $(packages_for want "$@"))
[ -n "$needed$wanted" ] || exit 0
all=$(echo $needed $wanted)

# Wanted packages that this system does not have are tried once, not at every make.
tried=build/setup.tried
if [ "$(id -u)" = 0 ] && { [ -n "$needed" ] || [ "$(cat "$tried" 2>/dev/null)" != "$all" ]; }; then
    echo "setup: installing $all"
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    install() { apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@" >>"$log" 2>&1; }
    apt-get update >"$log" 2>&1 || true # what was fetched before may do
    if install $all; then exit 0; fi
    # One that does not exist here must not keep the others away.
    for package in $all; do install $package || echo "setup: cannot install $package" >&2; done
    needed=$(missing_of $needed)
    all=$(echo $needed $(missing_of $wanted))
    if [ -n "$needed" ]; then
        tail -n 5 "$log" >&2
    else
        mkdir -p build
        echo "$all" >"$tried"
    fi
    [ -n "$all" ] || exit 0
fi
echo "setup: missing packages; run: sudo apt-get install -y --no-install-recommends $all" >&2
[ -z "$needed" ]
