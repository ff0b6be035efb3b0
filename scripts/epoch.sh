#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints the time of the sources in seconds since 1970: that of the commit, also in an archive (COMMIT, see dist.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -e .git ] && git log -1 --format=%ct 2>/dev/null; then exit 0; fi
if [ -e COMMIT ]; then sed -n 2p COMMIT; else stat -c %Y CHANGELOG.md; fi
