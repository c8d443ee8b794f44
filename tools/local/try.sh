#!/bin/sh
# Runs the binary given as $1 with a model of 135M parameters on this machine, through the envelope. What such a model
# makes of a task is its own; what is to be seen is that every step it takes is one that was admitted.
set -eu
cairn=$1
here=$(cd "$(dirname "$0")" && pwd)
place=$(pwd)/target/local
work=$(pwd)/target/try-local
case $cairn in /*) ;; *) cairn=$(pwd)/$cairn ;; esac

"$here/setup.sh" "$place"
mkdir -p "$work"
rm -rf "$work/project" "$work/pipe" "$work/config"
mkdir -p "$work/project" "$work/config/cairn"
mkfifo "$work/pipe"

# The server ends when its input does, so it ends with this script.
"$place/bin/python" "$here/serve.py" <"$work/pipe" >"$work/address" 2>"$work/server.log" &
exec 3>"$work/pipe"
echo "starting the model" >&2
tries=0
until [ -s "$work/address" ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 300 ]; then
        echo "the model did not start; $work/server.log says why" >&2
        exit 1
    fi
    sleep 0.2
done
address=$(cat "$work/address")

cat >"$work/config/cairn/cairn.toml" <<END
[providers.local]
base_url = "$address/v1"
constrain = "json_schema"

[models."local/smollm2"]
surface = "envelope"
small = "yes"
END
printf 'The meeting is on Tuesday.\n' >"$work/project/notes.txt"
CAIRN_HOME=$work/home
XDG_CONFIG_HOME=$work/config
export CAIRN_HOME XDG_CONFIG_HOME
cd "$work/project"
task="Read notes.txt and say on which day the meeting is."
echo "\$ cairn run --yolo --model local/smollm2 \"$task\""
status=0
"$cairn" run --yolo --model local/smollm2 --max-turns 12 "$task" </dev/null || status=$?
echo
echo "Every row, with what was asked for and what became of it:"
"$cairn" log
exec 3>&-
wait
# A tiny model may well fail at the task; that it ran at all is what this shows.
case $status in 0 | 1 | 4 | 5) exit 0 ;; *) exit "$status" ;; esac
