#!/bin/sh
# Packs a folder of its own and looks into the archive.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/things"
echo one > "$work/things/one"
sh backup.sh "$work/things" > "$work/said"
tar -tzf out/things.tar.gz | grep -q 'things/one$' || { echo "FAIL: not packed"; exit 1; }
grep -q '^backup: packed' "$work/said" || { echo "FAIL: not said"; exit 1; }
echo "ok"
