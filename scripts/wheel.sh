#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: wheel.sh BUILD-FOLDER. Makes BUILD-FOLDER/wheel/carom-VERSION-py3-none-PLATFORM.whl from a staged copy of python/
# with the library carom_wheel, which is stripped and has zlib inside. Nothing is fetched. The platform is that of the
# newest glibc symbol that the library needs, so that pip refuses the wheel exactly where it would not load.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
python=$(scripts/python.sh build setuptools wheel)
library=$build/lib/wheel/libcarom.so
stage=$build/wheel/stage
rm -rf "$build/wheel"
mkdir -p "$stage"
cp -r python/carom python/pyproject.toml python/setup.py python/README.md LICENSE "$stage"
find "$stage" -name __pycache__ -prune -exec rm -rf {} +
cp "$library" "$stage/carom/libcarom.so"
strip --strip-all "$stage/carom/libcarom.so"
if [ -e "$build/viewer/viewer.html" ]; then cp "$build/viewer/viewer.html" "$stage/carom/"; fi

needs=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
extra=$(grep -vE '^(libc|libm|libpthread|libdl|librt|ld-linux-.*)\.so' <<<"$needs" || true)
{
    echo "The library in this package is Carom; its licence is in LICENSE. It opens assimp at run time where that is"
    echo "installed, and contains nothing of it."
    if grep -qx 'libz\.so\.1' <<<"$needs"; then
        echo "It uses the zlib of the system."
    elif [ -r /usr/share/doc/zlib1g-dev/copyright ]; then
        printf '\nIt contains zlib:\n\n'
        cat /usr/share/doc/zlib1g-dev/copyright
    fi
} >"$stage/NOTICES"

newest=$(objdump -T "$library" | grep -oE 'GLIBC_[0-9]+\.[0-9]+' | sort -uV | tail -n 1 | sed 's/GLIBC_//; s/\./_/')
machine=$(uname -m)
platform=manylinux_${newest}_$machine
[ -z "$extra" ] || { platform=linux_$machine; echo "wheel.sh: the library needs $extra of the system: tag $platform" >&2; }
log=$build/wheel/log
(cd "$stage" && CAROM_WHEEL_PLATFORM=$platform "$python" -m build --no-isolation --wheel --outdir "$build/wheel" . >"$log" 2>&1) ||
    { cat "$log"; exit 1; }
rm -rf "$stage" "$log"
wheel=$(ls "$build"/wheel/*.whl)

# It installs without a network, and answers from where it was installed.
size=$(stat -c %s "$wheel")
[ "$size" -le 3000000 ] || { echo "$wheel has $size bytes, more than 3 MB"; exit 1; }
if "$python" -c 'import numpy, pip' 2>/dev/null; then
    place=$(mktemp -d)
    trap 'rm -rf "$place"' EXIT
    PIP_ROOT_USER_ACTION=ignore "$python" -m pip install --quiet --no-index --target "$place" "$wheel"
    (cd / && env -u CAROM_LIBRARY PYTHONPATH="$place" "$python" -B -c '
import os, carom
mesh = carom.Mesh.from_bytes(carom.Mesh.shape("cloth").to_bytes("ply"))
mesh.save(os.environ["PYTHONPATH"] + "/cloth.ply.gz")
assert carom.__file__.startswith(os.environ["PYTHONPATH"])
assert len(carom.self_pairs(os.environ["PYTHONPATH"] + "/cloth.ply.gz")) == len(carom.self_pairs(mesh)) > 0')
    echo "installed with --no-index --target, and answered"
else
    echo "not tried: pip or numpy is not installed"
fi
awk -v size="$size" -v name="$wheel" 'BEGIN {printf "%s: %.2f MB\n", name, size / 1e6}'
