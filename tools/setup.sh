#!/bin/sh
# Installs what `make test` needs beyond Rust, git, make and a C compiler: strace (cuts runs off at
# system calls and counts syncs), python3 (the second verifier), setsid (a terminal of its own), node
# and npm (the vendors' own libraries, which tools/sdk holds the wire formats against).
set -eu
missing=
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need strace strace
need python3 python3
need setsid util-linux
need git git
need node nodejs
need npm npm
[ -n "$missing" ] || exit 0
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
else
    echo "the tests need$missing; install them with your package manager" >&2
    exit 1
fi
