#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The add-ons are thin: at most 400 lines each, of at most 125 columns. Their Python compiles, their manifests can be read, and
# operators and commands are those that docs/freecad.md and docs/blender.md name. `make test-addons` runs them.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v python3 >/dev/null || { echo "skipped: python3 is missing"; exit 77; }
python3 -B - <<'END'
import glob, re, sys
import xml.dom.minidom
bad = []
for name in ("freecad", "blender"):
    lines = [line for path in glob.glob(f"addons/{name}/*.py") for line in open(path, encoding="utf-8")]
    print(f"addons/{name}: {len(lines)} lines")
    if len(lines) > 400:
        bad.append(f"addons/{name} has {len(lines)} lines, more than 400: what is no glue belongs to python/carom")
for path in glob.glob("addons/*/*.py") + ["scripts/addons.py"]:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    compile(text, path, "exec")
    bad += [f"{path}:{number}: longer than 125 columns" for number, line in enumerate(text.split("\n"), 1) if len(line) > 125]
xml.dom.minidom.parse("addons/freecad/package.xml")
xml.dom.minidom.parse("addons/freecad/carom.svg")
try:
    import tomllib
    with open("addons/blender/blender_manifest.toml", "rb") as file:
        assert tomllib.load(file)["schema_version"] == "1.0.0"
except ImportError:  # before Python 3.11
    pass
for page, source, pattern in (("docs/blender.md", "addons/blender/__init__.py", r"\bcarom\.[a-z]+(?:_[a-z]+)*\b"),
                              ("docs/freecad.md", "addons/freecad/carom_freecad.py", r"\bCarom_[A-Z][a-z]+\b")):
    with open(source, encoding="utf-8") as file:
        text = file.read()
    has = set(re.findall(r'"(carom\.[a-z_]+)", "' if "blender" in page else r'^    "(Carom_[A-Z][a-z]+)":', text, re.M))
    with open(page, encoding="utf-8") as file:
        told = set(re.findall("`(" + pattern + ")`", file.read()))
    if has != told or len(has) < 2:
        bad.append(f"{page} names {sorted(told - has)}, which are not there, and not {sorted(has - told)}, which are")
print("\n".join(bad))
sys.exit(1 if bad else 0)
END
