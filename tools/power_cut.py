#!/usr/bin/env python3
# keeps: survives-power-cut
# Cuts the power under a working cairn, as tools/power_disk.py does it, and checks what is left.
# Needs root, loop devices and mkfs.ext4, and nothing else but the standard library. That such cuts
# can lose anything at all is shown first, with a SQLite database that does not sync.
"""Count what power cuts take: `power_cut.py [--cuts N] [--seed N] [--bin PATH] [--work DIR]`."""

import argparse
import contextlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys

from power_disk import Broken, Disk, NotPermitted, Writer, demand, private_mounts

NOT_PERMITTED = 77
TURNS = 30
CUTS_PER_LIFE = 6
EVENTS = {
    "run": "run/started", "drive": "run/driven", "prompt": "prompt/taken", "ask": "turn/asked",
    "reply": "turn/replied", "intent": "op/requested", "decision": "proposal/decided",
    "begin": "op/began", "outcome": "op/settled", "end": "loop/ended",
}

# ---- The control: a database that does not sync ----

CONTROL = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA journal_mode=WAL")
db.execute("PRAGMA synchronous=FULL")
db.execute("CREATE TABLE told (n INTEGER PRIMARY KEY)")
db.execute("PRAGMA synchronous=NORMAL")
while True:
    db.execute("INSERT INTO told DEFAULT VALUES")
    print("told", flush=True)
"""

def control(disk, cuts, dice):
    """Cuts under a plain SQLite writer: how many took told rows, how many rows, of how many."""
    hurt, lost, told = 0, 0, 0
    for _ in range(cuts):
        disk.fresh()
        database = os.path.join(disk.root, "told.db")
        with Writer([sys.executable, "-c", CONTROL, database], disk.root, None) as writer:
            demand(writer.wait_for((30, dice.randrange(1, 60))), "the control ended by itself")
            disk.cut(writer, dice)
        acknowledged = len(writer.lines)
        missing = max(0, acknowledged - rows(database))
        hurt, lost, told = hurt + (missing > 0), lost + missing, told + acknowledged
    return hurt, lost, told

def rows(database):
    with contextlib.closing(sqlite3.connect(database)) as db:
        return db.execute("SELECT count(*) FROM told").fetchone()[0]

def moment(dice, seconds, lines):
    """Half of the cuts come at any time, half right after something was told."""
    if dice.random() < 0.5:
        return dice.uniform(0, seconds), sys.maxsize
    return 30, dice.randrange(1, lines)

# ---- The scripted work ----

def script(dice):
    """Replies with effects that show when they happen twice or get lost, some of them bulky, so
    that contents go to files of their own and the write-ahead log is folded into the database."""
    letters = "".join(map(chr, range(48, 123))).replace("\\", "/")
    bulk = lambda size: "\n".join("".join(dice.choices(letters, k=99)) for _ in range(size // 100))
    append = lambda mark: {"tool": "bash", "args": {"command": f"echo {mark} >> done.txt"}}
    write = lambda k, text: {"tool": "write", "args": {"path": f"made/{k}.txt", "content": text}}
    replies = []
    for k in range(1, TURNS + 1):
        calls = [append(f"{k}a")]
        if k % 3 == 1:
            calls += [write(k, f"first of {k}\n{bulk(200_000)}\n")]
        elif k % 3 == 2:
            old, new = f"first of {k - 1}", f"second of {k - 1}"
            args = {"path": f"made/{k - 1}.txt", "old": old, "new": new}
            calls += [{"tool": "edit", "args": args}, append(f"{k}b")]
        else:
            calls += [write(k, f"small {k}\n"), write(k - 2, f"whole {k}\n{bulk(100_000)}\n")]
        if k % 10 == 5:
            calls += [{"tool": "bash", "args": {"command": f"seq {k} 60000"}}]
            calls += [write(f"big{k}", bulk(300_000))]
        replies.append({"say": f"turn {k}", "calls": calls})
    return {"cairn_script": 1, "name": "power", "replies": replies + [{"say": "all done"}]}

# ---- Cairn on that disk ----

class Life:
    """One file system with one run on it, cut several times, and what was told meanwhile."""

    def __init__(self, disk, binary, work, replies):
        self.disk, self.binary, self.work, self.replies = disk, binary, work, replies
        self.workspace = os.path.join(disk.root, "project")
        self.told, self.facts, self.unseen = {}, [], 0
        disk.fresh()
        os.mkdir(self.workspace)
        disk.sync()
        self.env = {"PATH": os.environ["PATH"], "HOME": work, "NO_COLOR": "1",
                    "CAIRN_HOME": os.path.join(disk.root, "home")}

    def start(self):
        task = ["-c"] if self.facts else ["work"]
        model = "scripted/" + os.path.join(self.work, "script.json")
        command = [self.binary, "run", "--yolo", "--json", "--model", model, *task]
        return Writer(command, self.workspace, self.env)

    def cairn(self, *args):
        return subprocess.run([self.binary, *args], cwd=self.workspace, env=self.env, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)

    def cut(self, dice):
        """Lets it work for a while and cuts; whether it was still at work then."""
        with self.start() as writer:
            alive = writer.wait_for(moment(dice, 0.7, 60))
            if alive:
                self.disk.cut(writer, dice)
        self.take(writer)
        demand(alive or went_well(writer), f"the run does not go on: {writer.errors.strip()}")
        self.check()
        settled = {body["at"] for body in self.of("outcome")}
        self.unseen += alive and not settled.issuperset(self.begun())
        return alive

    def end(self):
        """Lets it go on to the end."""
        with self.start() as writer:
            writer.finish()
        self.take(writer)
        demand(went_well(writer), f"the run does not go on: {writer.errors.strip()}")
        self.check()
        outcomes, intents = self.of("outcome"), self.of("intent")
        demand([body["at"] for body in outcomes] == [body["at"] for body in intents],
               "not every op has exactly one outcome")
        ends = [body["status"] for body in self.of("end")]
        demand(ends == [200], f"the loop has not ended once and well: {ends}")
        bundle = os.path.join(self.work, "session.cairn")
        written = self.cairn("bundle", "-o", bundle)
        demand(written.returncode == 0, f"no bundle can be written: {written.stderr.strip()}")
        self.verify(bundle)
        os.remove(bundle)

    def take(self, writer):
        for at, line in writer.lines:
            event = json.loads(line)
            if "cursor" in event:
                self.told[event["cursor"]] = (at, event)

    def of(self, kind):
        return [fact["body"] for fact in self.facts if fact["kind"] == kind]

    def begun(self):
        """The ops that began, each once, though one that did not happen may have begun again."""
        return list(dict.fromkeys(body["at"] for body in self.of("begin")))

    def check(self):
        """Everything that must hold whenever the power comes back."""
        log = self.cairn("log", "--facts", "--json")
        demand(log.returncode == 0 or not self.told, f"the log is gone: {log.stderr.strip()}")
        self.facts = [json.loads(line) for line in log.stdout.splitlines()]
        numbers = [fact["n"] for fact in self.facts]
        demand(numbers == list(range(1, len(numbers) + 1)), f"facts are missing in {numbers}")
        lost = [n for n, (_, event) in self.told.items() if not self.is_there(n, event)]
        demand(not lost, f"{len(lost)} acknowledged facts lost, from {lost[:1]} on")
        if self.facts:
            self.verify()
            self.check_database()
        self.check_files()

    def is_there(self, n, event):
        if n > len(self.facts):
            return False
        fact, body = self.facts[n - 1], self.facts[n - 1]["body"]
        ours, theirs = (EVENTS[fact["kind"]], fact["run"], fact["at"]), ("type", "run", "at")
        return ours == tuple(event[name] for name in theirs) and all(
            body.get(ours) == event[theirs]
            for ours, theirs in [("at", "op_at"), ("status", "status"), ("settled", "settled")]
            if theirs in event)

    def verify(self, *what):
        judged = self.cairn("verify", "--json", *what)
        verdict = json.loads(judged.stdout or "{}").get("verdict", judged.stderr.strip())
        demand(verdict in ("VERIFIED", "UNANCHORED"), f"verify says {verdict}: {judged.stdout}")

    def check_database(self):
        """Looks at a copy, so that looking repairs nothing."""
        copy = os.path.join(self.work, "copy.db")
        for part in ("", "-wal"):
            if os.path.exists(f"{self.env['CAIRN_HOME']}/cairn.db{part}"):
                shutil.copyfile(f"{self.env['CAIRN_HOME']}/cairn.db{part}", copy + part)
        db = sqlite3.connect(copy)
        whole = db.execute("PRAGMA integrity_check").fetchone()[0]
        receipts = [n for n, in db.execute("SELECT fact_n FROM receipts ORDER BY fact_n")]
        db.close()
        for part in ("", "-wal", "-shm"):
            if os.path.exists(copy + part):
                os.remove(copy + part)
        demand(whole == "ok", f"integrity_check: {whole}")
        outcomes = [fact["n"] for fact in self.facts if fact["kind"] == "outcome"]
        demand(receipts == outcomes, f"outcomes {outcomes} have the receipts {receipts}")

    def check_files(self):
        """What outcomes say was written is there; what was appended is there once at most."""
        lines = (self.content("done.txt") or "").split("\n")
        twice = sorted({line for line in lines if line and lines.count(line) > 1})
        demand(not twice, f"done twice: {twice}")
        calls = {body["at"]: self.call(body["call"]) for body in self.of("intent")}
        settled = {body["at"]: body for body in self.of("outcome")}
        expected = {}
        for at in self.begun():
            outcome, args = settled.get(at), calls[at]["args"]
            if "path" not in args:
                continue
            before = expected.get(args["path"], [None])
            after = [args.get("content") or (text or "").replace(args["old"], args["new"], 1)
                     for text in before]
            if outcome is None:  # nobody has said how it ended
                expected[args["path"]] = before + after
            elif outcome["settled"] in ("performed", "found-done"):
                demand(outcome["status"] < 400, f"{at} was performed with {outcome['status']}")
                expected[args["path"]] = after
        for path, texts in expected.items():
            found = self.content(path)
            wanted = " or ".join(map(describe, texts))
            demand(found in texts, f"{path} has {describe(found)}, not {wanted}")

    def call(self, name):
        """The script's own words for a call: call_REPLY_N, both from 1."""
        _, reply, n = name.split("_")
        return self.replies[int(reply) - 1]["calls"][int(n) - 1]

    def content(self, path):
        try:
            with open(os.path.join(self.workspace, path), errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return None

# ---- Many files at once ----

MANY = 500

def many_files():
    """One command that changes so many files and makes as many."""
    command = f"for n in $(seq {MANY}); do echo new $n > kept/$n; echo made $n > made-$n; done"
    calls = [{"tool": "bash", "args": {"command": command}}]
    return {"cairn_script": 1, "name": "power",
            "replies": [{"say": "many", "calls": calls}, {"say": "all done"}]}

class ManyFiles(Life):
    """One file system on which one command changes a thousand files, cut once while they land."""

    def __init__(self, disk, binary, work, replies):
        super().__init__(disk, binary, work, replies)
        os.mkdir(os.path.join(self.workspace, "kept"))
        for n in range(1, MANY + 1):
            with open(os.path.join(self.workspace, f"kept/{n}"), "w") as file:
                file.write(f"old {n}\n")
        disk.sync()

    def landing(self, writer):
        """Waits until they begin to land."""
        begun = lambda: any('"op/began"' in line for _, line in writer.lines)
        while not begun() and writer.child.poll() is None:
            with writer.more:
                writer.more.wait_for(begun, timeout=0.05)

    def undisturbed(self):
        """How long they take to land."""
        with self.start() as writer:
            writer.finish()
        moments = [next(at for at, line in writer.lines if kind in line)
                   for kind in ('"op/began"', '"op/settled"')]
        self.take(writer)
        self.end_of_many()
        return moments[1] - moments[0]

    def cut_within(self, seconds, dice):
        """Cuts at some moment while they land; whether some had landed and others had not."""
        with self.start() as writer:
            self.landing(writer)
            writer.wait_for((dice.uniform(0, seconds), sys.maxsize))
            alive = writer.child.poll() is None
            if alive:
                self.disk.cut(writer, dice)
        self.take(writer)
        old, new = self.standing()
        settled = any(event["type"] == "op/settled" for _, event in self.told.values())
        demand(not settled or old == 0, f"{old} of {old + new} files lost after they were told")
        self.check()
        if alive:
            self.end()
        self.end_of_many()
        return old > 0 and new > 0

    def standing(self):
        """How many paths are as before and how many as meant; nothing else may stand there."""
        old = new = 0
        for n in range(1, MANY + 1):
            for path, before, after in [(f"kept/{n}", f"old {n}\n", f"new {n}\n"),
                                        (f"made-{n}", None, f"made {n}\n")]:
                found = self.content(path)
                demand(found in (before, after), f"{path} has {describe(found)}")
                old, new = old + (found == before), new + (found == after)
        return old, new

    def end_of_many(self):
        old, _ = self.standing()
        demand(old == 0, f"{old} files are not as the row says")
        left = [name for folder in (".", "kept")
                for name in os.listdir(os.path.join(self.workspace, folder))
                if name.startswith(".cairn-")]
        demand(not left, f"left beside the files: {left[:3]}")

def prove_many(args, disk, dice, cuts):
    replies = many_files()
    with open(os.path.join(args.work, "script.json"), "w") as file:
        json.dump(replies, file)
    life = lambda: ManyFiles(disk, args.bin, args.work, replies["replies"])
    seconds, halves = life().undisturbed(), 0
    for n in range(1, cuts + 1):
        try:
            halves += life().cut_within(seconds, dice)
        except Broken as broken:
            raise Broken(f"cut {n} while {2 * MANY} files landed: {broken}")
    print(f"{cuts} cuts while {2 * MANY} files landed, {halves} of them halfway: each was as before or as "
          "meant, and all were as meant in the end", flush=True)

def went_well(writer):
    return writer.child.returncode == 0 or "nothing left to do" in writer.errors

def describe(text):
    return "nothing" if text is None else f"{len(text)} characters from {text[:20]!r}"

# ---- The proof ----

def prove(args, disk, dice):
    cuts = args.control if args.control is not None else (15 if args.cuts >= 15 else 3)
    hurt, lost, told = control(disk, cuts, dice)
    print(f"control: {hurt} of {cuts} cuts took acknowledged rows from SQLite with "
          f"synchronous=NORMAL, {lost} of {told} rows", flush=True)
    demand(hurt, "the control lost nothing, so these cuts prove nothing")
    replies = script(dice)
    with open(os.path.join(args.work, "script.json"), "w") as file:
        json.dump(replies, file)
    done, facts, lives, unseen = 0, 0, 0, 0
    while done < args.cuts:
        life = Life(disk, args.bin, args.work, replies["replies"])
        for _ in range(min(CUTS_PER_LIFE, args.cuts - done)):
            try:
                alive = life.cut(dice)
            except Broken as broken:
                raise Broken(f"cut {done + 1}: {broken}")
            if not alive:
                break
            done += 1
        life.end()
        facts, lives, unseen = facts + len(life.told), lives + 1, unseen + life.unseen
    print(f"{facts} facts acknowledged; runs continued to their end: {lives}; "
          f"cuts in the middle of an op: {unseen}", flush=True)
    prove_many(args, disk, dice, args.many if args.many is not None else max(2, args.cuts // 5))
    print(f"{done} cuts, 0 acknowledged facts lost", flush=True)

def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuts", type=int, default=100, help="how many cuts (100)")
    parser.add_argument("--control", type=int, help="cuts of the control (15, or 3 for few cuts)")
    parser.add_argument("--many", type=int, help="cuts while 1,000 files land (a fifth of the others)")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("CAIRN_SEED", 7)),
                        help="for the moments; the machine's pace adds its own")
    parser.add_argument("--bin", default=os.environ.get("CAIRN_BIN", f"{root}/target/debug/cairn"))
    parser.add_argument("--work", default=f"{root}/target/prove", help="a folder on a real disk")
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    args.work = os.path.join(os.path.realpath(args.work), "power")
    if not os.access(args.bin, os.X_OK):
        parser.error(f"{args.bin} is no program; build it with `make build` or name one with --bin")
    disk, code = Disk(args.work), 0
    try:
        disk.prepare()
        private_mounts(disk)
        prove(args, disk, random.Random(args.seed))
    except NotPermitted as reason:
        print(f"power cuts cannot be tried: {reason}", file=sys.stderr)
        code = NOT_PERMITTED
    except (Broken, OSError) as broken:
        print(f"{broken}\nseed {args.seed}; what is left is in {args.work}", file=sys.stderr)
        code = 1
    disk.unmount()
    if code != 1:
        shutil.rmtree(args.work, ignore_errors=True)
    return code

if __name__ == "__main__":
    sys.exit(main())
