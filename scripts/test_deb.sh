#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: test_deb.sh FOLDER. Installs the packages that deb.sh has made there and runs their tests by autopkgtest, in a
# copy-on-write view of this system, so that nothing of it is changed. For root; packages that lack are fetched by apt.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(cd "$1" && pwd)
version=$(scripts/version.sh)
[ "$(id -u)" = 0 ] || { echo "only root can make a view of the system"; exit 77; }
if [ "${2:-}" != inside ]; then # in a namespace of its own: mounts end with it
    exec unshare --mount --propagation private bash "$0" "$out" inside
fi
view=$(mktemp -d)
mount -t tmpfs tmpfs "$view"
mkdir "$view"/{changes,work,system}
mount -t overlay overlay -o "lowerdir=/,upperdir=$view/changes,workdir=$view/work" "$view/system"
mount --bind /proc "$view/system/proc"
mount --bind /dev "$view/system/dev"
mkdir "$view/system/packages"
cp "$out"/*.deb "$view/system/packages"
tar -xzf "$out/carom-$version.tar.gz" -C "$view/system/packages"
cp -r "$out/first/carom-$version/debian" "$view/system/packages/carom-$version/debian"
chroot "$view/system" bash -ec '
    export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
    unset CAROM_LIBRARY PYTHONPATH
    cd /packages
    dpkg -i ./*.deb >log 2>&1 || apt-get install -y --no-install-recommends -f >>log 2>&1 || { cat log; exit 1; }
    autopkgtest --no-built-binaries ./*.deb carom-*/ -- null'
