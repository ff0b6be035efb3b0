#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints the version, which is in include/carom/base.h alone: 0.2.0.
set -euo pipefail
cd "$(dirname "$0")/.."
sed -nE 's/^#define CAROM_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)$/\2/p' include/carom/base.h | paste -sd .
