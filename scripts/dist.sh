#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: dist.sh OUTPUT-FOLDER. Writes carom-VERSION.tar.gz there: the files of the project in a folder carom-VERSION, with
# the commit in the file COMMIT, so that it builds without git. The same sources give the same bytes: names are sorted,
# owners are left out, and all times are SOURCE_DATE_EPOCH, or that of the commit.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
out=$(cd "$1" && pwd)
version=$(scripts/version.sh)
name=carom-$version
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(scripts/epoch.sh)}
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir "$stage/$name"
scripts/sources.sh '' | grep -vx COMMIT | tar -cf - --files-from=- | tar -xf - -C "$stage/$name"
scripts/commit.sh >"$stage/$name/COMMIT"
echo "$SOURCE_DATE_EPOCH" >>"$stage/$name/COMMIT"
tar -C "$stage" -cf - --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --mode=u=rwX,go=rX --format=gnu "$name" | gzip -9n >"$out/$name.tar.gz"
echo "$out/$name.tar.gz"
