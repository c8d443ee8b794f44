#!/bin/sh
# Packs a folder into out/NAME.tar.gz and says how large it became.
set -eu
. "$(dirname "$0")/lib/say.sh"

folder=${1:?usage: backup.sh FOLDER}
[ -d "$folder" ] || fail "$folder is no folder"
mkdir -p out
name=$(basename "$folder")
tar -czf "out/$name.tar.gz" "$folder"
say "packed $folder: $(wc -c < "out/$name.tar.gz") bytes"
