#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: amalgamation.sh OUTPUT-FOLDER. Writes carom.c, carom.h and the licence there (scripts/amalgamate.py).
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(scripts/python.sh re)
"$python" scripts/amalgamate.py "$1" "$(scripts/commit.sh)"
cp LICENSE "$1"
echo "$1/carom.c: $(wc -l <"$1/carom.c") lines"
