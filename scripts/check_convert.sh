#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/from-0.1.sed converts programs that were written for Carom 0.1 (tests/outside/from-0.1, as
# they were) so that they compile against today's headers without a change by hand.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cp tests/outside/from-0.1/*.c "$out"
sed -E -z -i -f scripts/from-0.1.sed "$out"/*.c
for program in "$out"/*.c; do
    cc -std=c11 -Wall -Wextra -Werror -Iinclude -fsyntax-only "$program"
done
