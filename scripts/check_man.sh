#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The man page names every command and option that the tool's help names, and renders cleanly.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
page=docs/carom.1
plain=$(sed 's/\\-/-/g; s/\\f[BIRP]//g' "$page")
bad=0
commands=$("$build/carom" --help | awk '/^options/ {exit} /^  [a-z]/ {print $1}')
[ -n "$commands" ] || { echo "carom --help names no command"; exit 1; }
for command in $commands; do
    grep -qE "^\.(SS|B).*\b$command\b" <<<"$plain" || { echo "$page: no section for carom $command"; bad=1; }
    for option in $("$build/carom" "$command" --help | grep -oE '(^|[ ,])--[a-z][a-z0-9-]*' | tr -d ' ,' | sort -u); do
        grep -qF -- "$option" <<<"$plain" || { echo "$page: $option of carom $command is missing"; bad=1; }
    done
done
if command -v groff >/dev/null; then
    warnings=$(groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null)
    [ -z "$warnings" ] || { echo "$warnings"; bad=1; }
fi
exit $bad
