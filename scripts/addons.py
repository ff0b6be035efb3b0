#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""addons.py BUILD-FOLDER: BUILD-FOLDER/addons/carom-freecad-VERSION.zip and carom-blender-VERSION.zip.

Each holds the files of addons/NAME, the package of the wheel (BUILD-FOLDER/wheel, with the library inside) as `carom`, and
the tool as `carom/bin/carom`. So they need no pip. The same files give the same bytes."""
import glob
import os
import platform
import subprocess
import sys
import tempfile
import time
import zipfile

FOLDERS = {"freecad": "Carom", "blender": "carom_blender"}  # as the applications want the one folder of the archive
MACHINES = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}  # Blender's names
OTHERS = (".pyc", "~")


def content(build):
    """{path below the folder: (bytes, whether it is a program)} of the package, and its version."""
    wheels = glob.glob(os.path.join(build, "wheel", "*.whl"))
    if len(wheels) != 1:
        sys.exit(f"addons.py: there are {len(wheels)} wheels in {build}/wheel; make wheel makes one")
    found = {}
    with zipfile.ZipFile(wheels[0]) as wheel:
        for name in wheel.namelist():
            if name.startswith("carom/"):
                found[name] = wheel.read(name), False
            elif name.endswith(("/LICENSE", "/NOTICES")):
                found[os.path.basename(name)] = wheel.read(name), False
    with tempfile.TemporaryDirectory() as folder:
        tool = os.path.join(folder, "carom")
        subprocess.run(["strip", "--strip-all", "-o", tool, os.path.join(build, "carom")], check=True)
        with open(tool, "rb") as file:
            found["carom/bin/carom"] = file.read(), True
    return found, os.path.basename(wheels[0]).split("-")[1]


def main():
    build = os.path.abspath(sys.argv[1])
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    package, version = content(build)
    when = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)) or time.time(), 315532800))  # zip begins in 1980
    words = {"@VERSION@": version, "@PLATFORM@": MACHINES.get(platform.machine(), "linux-" + platform.machine()),
             "@DATE@": time.strftime("%Y-%m-%d", when)}
    os.makedirs(os.path.join(build, "addons"), exist_ok=True)
    for name, folder in FOLDERS.items():
        files = dict(package)
        for path in sorted(glob.glob(f"addons/{name}/*")):
            if os.path.isfile(path) and not path.endswith(OTHERS):
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                for word, value in words.items():
                    text = text.replace(word, value)
                files[os.path.basename(path)] = text.encode(), False
        target = os.path.join(build, "addons", f"carom-{name}-{version}.zip")
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, (data, program) in sorted(files.items()):
                entry = zipfile.ZipInfo(f"{folder}/{path}", when[:6])
                entry.external_attr = (0o100755 if program else 0o100644) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, data)
        print(f"{target}: {os.path.getsize(target) / 1e6:.2f} MB")


main()
