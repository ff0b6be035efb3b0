#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints the commit of the sources: "1a2b3c4", "1a2b3c4+" with local changes, that of the file COMMIT in an archive
# (make dist), or "unknown". cmake/commit.cmake does the same for the build.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -e .git ] && head=$(git rev-parse --short=12 HEAD 2>/dev/null); then
    git diff --quiet HEAD -- 2>/dev/null || head+=+
    echo "$head"
elif [ -e COMMIT ]; then
    head -n 1 COMMIT
else
    echo unknown
fi
