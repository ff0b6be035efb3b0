#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: sources.sh EXTENSION... Lists the project's files with these endings, outside a git checkout
# (an unpacked archive) as well.
set -euo pipefail
cd "$(dirname "$0")/.."
{ git ls-files --cached --others --exclude-standard 2>/dev/null ||
    find . -type f -not -path './build*' -not -path './.git/*' | sed 's|^\./||'; } |
    grep -E "(^|/)[^/]*($(IFS='|'; echo "$*"))\$" | sort -u | while read -r file; do
    if [ -f "$file" ]; then echo "$file"; fi
done
