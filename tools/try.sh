#!/bin/sh
# Gives an agent the sample task, in a fresh copy of the sample, with the binary given as $1 and the
# model given as $2 (empty: a local model server if one answers, else the bundled walkthrough).
set -eu
cairn=$1
model=${2:-local-or-walkthrough}
work=${TRY_DIR:-target/try}

rm -rf "$work"
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

yolo=
[ -t 0 ] || yolo=--yolo
cd "$work/project"
echo '$ cairn run "The test fails. Find out why and fix it."'
status=0
if [ -n "$yolo" ]; then
    "$cairn" run --yolo --model "$model" "The test fails. Find out why and fix it." </dev/null || status=$?
else
    "$cairn" run --model "$model" "The test fails. Find out why and fix it." || status=$?
fi

run=$("$cairn" sessions | sed -n 's/^  \(r[0-9a-z]*\) .*/\1/p' | head -n 1)
cat <<END

It worked in a copy of the sample. To look at what it did:
  cd $(pwd)
  export CAIRN_HOME=$CAIRN_HOME PATH=$(dirname "$cairn"):\$PATH
and try next:
  cairn log                                        every row of the run
  cairn show log://$run/1/2/1         the edit: asked, decided, done, its diff and receipt
  cairn show log://$run/1/2#request   exactly what the model was sent

With a model of your own: make try MODEL=openai/gpt-5-mini (uses OPENAI_API_KEY and its money),
or make try MODEL=ollama/NAME with a local server.
END
exit "$status"
