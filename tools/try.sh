#!/bin/sh
# Gives an agent the sample task, in a fresh copy of the sample, with the binary given as $1 and the
# model given as $2 (empty: a local model server if one answers, else the bundled walkthrough).
set -eu
cairn=$1
model=${2:-local-or-walkthrough}
work=${TRY_DIR:-target/try}

# A fresh copy each time; earlier tries stay in the same home, so their runs can still be looked at.
rm -rf "$work/project"
mkdir -p "$work"
cp -R sample "$work/project"
(
    cd "$work/project"
    git init -q
    git add -A
    git -c user.name=sample -c user.email=sample@localhost commit -q -m "The sample as it ships"
)
CAIRN_HOME=$(cd "$work" && pwd)/home
export CAIRN_HOME
case $cairn in /*) ;; *) cairn=$(pwd)/$cairn ;; esac

task="The test fails. Find out why and fix it."
cd "$work/project"
status=0
if [ -t 0 ]; then
    echo "\$ cairn run --model $model \"$task\""
    "$cairn" run --model "$model" "$task" || status=$?
else
    echo "\$ cairn run --yolo --model $model \"$task\"    (nobody is at a terminal to be asked)"
    "$cairn" run --yolo --model "$model" "$task" </dev/null || status=$?
fi

# Nothing was begun: the error above says why.
[ "$status" -le 1 ] || [ "$status" -ge 3 ] || exit "$status"
run=$("$cairn" sessions | sed -n 's/^  \(r[0-9a-z]*\) .*/\1/p' | head -n 1)
cat <<END

That was in a copy of the sample. To look at what happened:
  cd $(pwd)
  export CAIRN_HOME=$CAIRN_HOME PATH=$(dirname "$cairn"):\$PATH
and try next:
  cairn log                                        every row of the run
  cairn show log://$run/1/1/3         one row: asked, decided, done, and its receipt
  cairn show log://$run/1/2#request   exactly what the model was sent

With a model of your own: make try MODEL=openai/gpt-5-mini (uses OPENAI_API_KEY and its money),
or make try MODEL=ollama/NAME with a local server.
END
exit "$status"
