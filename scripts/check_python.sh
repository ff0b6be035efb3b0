#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The Python package fits the headers: _abi.py is what scripts/api_python.py makes of them, its layouts are those of the C
# compiler, and every function is reached by a public name, or python/unreached.txt says why not. Lines have at most 125
# columns.
set -euo pipefail
cd "$(dirname "$0")/.."
for tool in python3 clang; do
    command -v $tool >/dev/null || { echo "skipped: $tool is missing"; exit 77; }
done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
bad=0
scripts/api.py json "$out/api.json" >/dev/null
scripts/api_python.py "$out/api.json" "$out/_abi.py"
cmp "$out/_abi.py" python/carom/_abi.py ||
    { echo "python/carom/_abi.py is not what the headers give: run make api"; bad=1; }
scripts/api_coverage.py "$out/api.json" || bad=1
python3 -B - "$out/api.json" <<'END' || bad=1
# The layouts that ctypes makes are those of the description, on machines of that kind.
import ctypes, importlib.util, json, platform, sys, types
package = types.ModuleType("carom")
package.__path__ = ["python/carom"]
sys.modules["carom"] = package
abi = importlib.import_module("carom._abi")
with open(sys.argv[1], encoding="utf-8") as file:
    structs = json.load(file)["structs"]
if platform.machine() not in ("x86_64", "aarch64"):
    print("layouts are compared on 64-bit machines only")
    sys.exit(0)
bad = 0
for struct in structs:
    kind, layout = getattr(abi, struct["name"][len("carom_"):]), struct["layout"]["lp64"]
    found = {name: getattr(kind, name).offset for name, _ in kind._fields_}
    if (ctypes.sizeof(kind), found) != (layout["size"], layout["offsets"]):
        print(f"{struct['name']}: ctypes has another layout")
        bad = 1
print(f"{len(structs)} layouts")
sys.exit(bad)
END
long=$(awk '{ gsub(/[\200-\277]/, "") } length > 125 { print FILENAME ":" FNR }' python/carom/[a-z]*.py python/carom/__init__.py \
    python/carom/_[b-z]*.py python/carom/_arrays.py python/tests/*.py python/examples/*.py python/*.py 2>/dev/null || true)
[ -z "$long" ] || { echo "longer than 125 columns:"; echo "$long"; bad=1; }
exit $bad
