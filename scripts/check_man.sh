#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The man page has a section for every command that the tool's help names, docs/man/X.1, and the
# section names every option of that command; the page made of them renders cleanly.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
page=$build/carom.1
plain() { sed 's/\\-/-/g; s/\\f[BIRP]//g' "$@"; }
bad=0
commands=$("$build/carom" --help | awk '/^options/ {exit} /^  [a-z]/ {print $1}')
[ -n "$commands" ] || { echo "carom --help names no command"; exit 1; }
common=$(plain docs/man/carom.1.in) # has the options of every command
for command in $commands; do
    section=docs/man/$command.1
    [ -e "$section" ] || { echo "$section is missing"; bad=1; continue; }
    text=$(plain "$section")
    grep -qE "^\.SS $command\b" <<<"$text" || { echo "$section does not begin with .SS $command"; bad=1; }
    grep -qxE "\.SS $command\b.*" "$page" || { echo "$page: no section for carom $command"; bad=1; }
    for option in $("$build/carom" "$command" --help | grep -oE '(^|[ ,])--[a-z][a-z0-9-]*' | tr -d ' ,' | sort -u); do
        grep -qwF -- "$option" <<<"$text$common" || { echo "$section: $option is missing"; bad=1; }
    done
done
for section in docs/man/*.1; do
    grep -qx "$(basename "$section" .1)" <<<"$commands" || { echo "$section: there is no such command"; bad=1; }
done
if command -v groff >/dev/null; then
    warnings=$(groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null)
    [ -z "$warnings" ] || { echo "$warnings"; bad=1; }
fi
exit $bad
