#!/bin/sh
# Holds the wire formats against the vendors' own libraries: their clients talk to our scripted model,
# and their types take the bodies we write. Needs node 20 or newer and npm; see tools/setup.sh.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
here="$root/tools/sdk"
work="$root/target/sdk"
"${CARGO:-cargo}" build --quiet --locked --manifest-path "$root/Cargo.toml" --package cairn-testkit --bin cairn-model
mkdir -p "$work"
cp "$here"/*.mjs "$here"/package.json "$here"/package-lock.json "$work"
cd "$work"
if ! cmp -s package-lock.json installed; then
    npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
    cp package-lock.json installed
fi
# An older node than the libraries take: the same package client has a newer one.
node=node
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
    case $(uname -m) in aarch64) arch=arm64 ;; *) arch=x64 ;; esac
    node="$work/newer/node_modules/node-linux-$arch/bin/node"
    [ -x "$node" ] || npm install --prefix newer --no-audit --no-fund --loglevel=error "node-linux-$arch@24.21.0"
fi
model="$root/target/debug/cairn-model"
"$node" talk.mjs "$model" "$here/script.json"
"$node" types.mjs "$root/crates/cairn-provider/tests/wires/bodies" "$model" "$here/script.json"
