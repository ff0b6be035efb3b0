#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: test_python.sh BUILD-FOLDER [PYTEST-ARGUMENT...]. Runs tests of the Python package with the library of a build;
# without arguments all of them. Without numpy and pytest they are skipped, which it says.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
shift
python=$(scripts/python.sh numpy pytest 2>&1) || { echo "$python"; exit 77; }
export CAROM_LIBRARY=$build/lib/libcarom.so PYTHONDONTWRITEBYTECODE=1
[ -e "$CAROM_LIBRARY" ] || { echo "$CAROM_LIBRARY is not there: make builds it"; exit 1; }
cd python
[ $# -gt 0 ] || set -- --doctest-modules carom tests
exec "$python" -m pytest -q -rs -p no:cacheprovider "$@"
