#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: deb.sh OUTPUT-FOLDER [once]. Makes Debian packages from the archive of make dist and packaging/debian, in two
# folders of different names and lengths; the packages must be the same bytes, and lintian must have neither errors nor
# warnings. With `once` the second build is left out. autopkgtest runs packaging/debian/tests (docs/install.md).
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1 builds=(first the-second-one)
[ "${2:-}" != once ] || builds=(first)
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
version=$(scripts/version.sh)
SOURCE_DATE_EPOCH=$(scripts/epoch.sh)
export SOURCE_DATE_EPOCH
export DEB_BUILD_OPTIONS="parallel=${JOBS:-$(nproc)} noautodbgsym ${DEB_BUILD_OPTIONS:-}"
# What the user has set for other builds is not for this one.
unset CFLAGS CXXFLAGS LDFLAGS CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
archive=$(scripts/dist.sh "$out")
make_packages() { # FOLDER
    local source=$1/carom-$version
    mkdir -p "$1"
    cp "$archive" "$1/carom_$version.orig.tar.gz"
    tar -xzf "$archive" -C "$1"
    cp -r packaging/debian "$source/debian"
    sed -e "s/@VERSION@/$version/" -e "s/@DATE@/$(date -u -R -d "@$SOURCE_DATE_EPOCH")/" \
        "$source/debian/changelog.in" >"$source/debian/changelog"
    rm "$source/debian/changelog.in"
    (cd "$source" && dpkg-buildpackage -us -uc -F >"$1/log" 2>&1) ||
        { tail -n 40 "$1/log"; echo "dpkg-buildpackage failed: $1/log"; return 1; }
}
builders=()
for build in "${builds[@]}"; do
    make_packages "$out/$build" &
    builders+=($!)
done
for builder in "${builders[@]}"; do wait "$builder"; done
first=$out/${builds[0]}
if [ ${#builds[@]} = 2 ]; then
    for package in "$first"/*.deb; do
        cmp "$package" "$out/${builds[1]}/$(basename "$package")" ||
            { echo "two builds, two packages: $(basename "$package")"; exit 1; }
    done
    echo "two builds in two folders gave the same bytes"
fi
lintian --tag-display-limit 0 --fail-on error,warning --allow-root "$first"/*.changes
cp "$first"/*.deb "$out"
(cd "$out" && sha256sum ./*.deb)
