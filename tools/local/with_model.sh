#!/bin/sh
# Runs a command with the address of a model of 135M parameters on this machine in CAIRN_LOCAL_MODEL. The model's server is set
# up in target/local, started for the command, and ended after it, however that ends.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
place=$(cd "$here/../.." && pwd)/target/local
"$here/setup.sh" "$place"

work=$(mktemp -d)
mkfifo "$work/pipe"
log=$place/server.log
# The server ends when its input does.
"$place/bin/python" "$here/serve.py" <"$work/pipe" >"$work/address" 2>"$log" &
server=$!
exec 3>"$work/pipe"
finish() {
    exec 3>&-
    wait "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

echo "starting the model" >&2
tries=0
until [ -s "$work/address" ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 300 ] || ! kill -0 "$server" 2>/dev/null; then
        echo "the model did not start; $log says why:" >&2
        tail -n 3 "$log" >&2
        exit 1
    fi
    sleep 0.2
done
CAIRN_LOCAL_MODEL=$(cat "$work/address")
export CAIRN_LOCAL_MODEL
# Not with the pipe, or what the command leaves behind would keep the server.
"$@" 3>&-
