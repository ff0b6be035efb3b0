#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Names at file scope in src/ are unique, so that a backtrace names one function and all of the library can be
# compiled as one file (check_names.py has the rule).
set -euo pipefail
cd "$(dirname "$0")/.."
command -v python3 >/dev/null || { echo "no python3 on this machine"; exit 77; }
python3 scripts/check_names.py
