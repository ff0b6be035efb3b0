#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The workflows and issue forms of .github are sound, as far as that can be seen here (tests/workflows.py).
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(scripts/python.sh yaml) || exit $?
"$python" tests/workflows.py
