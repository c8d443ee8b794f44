#!/bin/sh
# Runs the binary given as $1 with a model of 135M parameters on this machine, through the envelope. What such a model
# makes of a task is its own; what is to be seen is that every step it takes is one that was admitted.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${CAIRN_LOCAL_MODEL:-}" ] || exec "$here/with_model.sh" "$0" "$@"
cairn=$1
case $cairn in /*) ;; *) cairn=$(pwd)/$cairn ;; esac
work=$(cd "$here/../.." && pwd)/target/try-local

rm -rf "$work"
mkdir -p "$work/project" "$work/config/cairn"
cat >"$work/config/cairn/cairn.toml" <<END
[providers.local]
base_url = "$CAIRN_LOCAL_MODEL/v1"
constrain = "gbnf"

[models."local/smollm2"]
surface = "envelope"
small = true
max_output = 400
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
# A tiny model may well fail at the task; that it ran at all is what this shows.
case $status in 0 | 1 | 4 | 5) ;; *) exit "$status" ;; esac
