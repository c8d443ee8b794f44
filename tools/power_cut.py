#!/usr/bin/env python3
# keeps: survives-power-cut
# Cuts the power under a working cairn and checks what is left. Needs root, loop devices and
# mkfs.ext4, nothing else but the standard library. Mounts are private to it and vanish with it.
#
# The disk is an ext4 image behind a loop device, holding the home and the workspace. A cut: stop the
# writer, copy the image while it is mounted, kill the writer, mount the copy in its place. What ext4
# has only in memory is not in the copy, and ext4 replays its journal: as after a power cut. That
# this can lose anything at all is shown first, with a SQLite database that does not sync.
"""Count what power cuts take: `power_cut.py [--cuts N] [--seed N] [--bin PATH] [--work DIR]`."""

import argparse
import contextlib
import ctypes
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time

NOT_PERMITTED = 77
IMAGE_MIB = 128
TURNS = 30
CUTS_PER_LIFE = 6
EVENTS = {
    "run": "run/started", "drive": "run/driven", "prompt": "prompt/taken", "ask": "turn/asked",
    "reply": "turn/replied", "intent": "op/requested", "decision": "proposal/decided",
    "begin": "op/began", "outcome": "op/settled", "end": "loop/ended",
}
LIBC = ctypes.CDLL(None, use_errno=True)

class NotPermitted(Exception):
    """This machine does not allow the proof."""

class Broken(Exception):
    """A promise is broken."""

def demand(holds, what):
    if not holds:
        raise Broken(what)

# ---- The disk ----

class Disk:
    """An image file, mounted at one place for all its lives."""

    def __init__(self, work):
        self.image, self.copy = os.path.join(work, "disk.img"), os.path.join(work, "cut.img")
        self.root = os.path.join(work, "disk")
        os.makedirs(self.root, exist_ok=True)

    def fresh(self):
        """A new, empty file system."""
        self.unmount()
        with open(self.image, "wb") as image:
            image.truncate(IMAGE_MIB << 20)
        tool(["mkfs.ext4", "-q", "-F", self.image])
        self.mount()

    def mount(self):
        # The journal's timer would save by luck what nobody synced, and write during the copy.
        tool(["mount", "-o", "loop,commit=300", self.image, self.root])

    def unmount(self):
        deadline = time.monotonic() + 10
        while os.path.ismount(self.root):
            done = subprocess.run(["umount", self.root], capture_output=True, text=True)
            if done.returncode and time.monotonic() > deadline:
                raise Broken(f"cannot unmount {self.root}: {done.stderr.strip()}")
            if done.returncode:
                time.sleep(0.01)

    def cut(self, writer, dice):
        """The power goes: gives the disk as it then is, with the writer gone."""
        writer.stop()
        dice.choice([self.calm, self.stranger_syncs, self.written_back])(dice)
        self.copy_of_one_moment()
        writer.kill()
        self.unmount()
        os.replace(self.copy, self.image)
        self.mount()

    def copy_of_one_moment(self):
        for _ in range(20):
            before = self.writes()
            tool(["cp", "--sparse=always", "--reflink=auto", self.image, self.copy])
            if before[1] == 0 and self.writes() == before:
                return
        raise Broken("the kernel never stopped writing to the image; make the machine less busy")

    def writes(self):
        """How many writes the loop device has done, and how many requests it is doing."""
        device = os.stat(self.root).st_dev
        with open(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat") as stat:
            numbers = stat.read().split()
        return int(numbers[4]), int(numbers[8])

    def calm(self, dice):
        """Nobody but the writer synced anything."""

    def stranger_syncs(self, dice):
        """Another program syncs its own file: names and sizes of all files go to disk, data not."""
        handle = os.open(os.path.join(self.root, "stranger"), os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.write(handle, b"x" * 100)
        os.fsync(handle)
        os.close(handle)

    def written_back(self, dice):
        """The kernel has already written some pages of some files, in no order."""
        for folder, _, names in sorted(os.walk(self.root)):
            for name in sorted(names):
                write_back_some(os.path.join(folder, name), dice)

def write_back_some(path, dice):
    handle = os.open(path, os.O_RDONLY)
    size, page = os.fstat(handle).st_size, 4096
    start = ctypes.c_int64(dice.randrange(size // page + 1) * page)
    length = ctypes.c_int64(dice.randrange(1, 17) * page)
    LIBC.sync_file_range(handle, start, length, ctypes.c_uint(7))  # wait, write, wait
    os.close(handle)

def tool(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{command[0]}: {(done.stderr or done.stdout).strip()}")

def private_mounts(disk):
    """Leaves the machine's mounts alone; says so if loop mounts are not to be had."""
    if LIBC.unshare(0x20000):
        why = os.strerror(ctypes.get_errno())
        raise NotPermitted(f"no mounts of our own ({why}); run it as root, with loop devices")
    try:
        tool(["mount", "--make-rprivate", "/"])
        disk.fresh()
        with open(os.path.join(disk.root, "probe"), "w"):
            disk.writes()
    except OSError as error:
        raise NotPermitted(f"no ext4 loop mount here ({error}); run it as root, with loop devices")

# ---- The writer ----

class Writer:
    """A process that tells what is durable, one line each, to us, who are outside the disk."""

    def __init__(self, command, cwd, env):
        self.child = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines, self.errors = [], ""
        self.more = threading.Condition()
        self.readers = [threading.Thread(target=self.read), threading.Thread(target=self.read_errors)]
        for reader in self.readers:
            reader.start()

    def read(self):
        for line in self.child.stdout:
            with self.more:
                if line.endswith("\n"):
                    self.lines.append((time.time(), line))
                self.more.notify_all()

    def read_errors(self):
        self.errors = self.child.stderr.read()

    def wait_for(self, moment):
        """Lets it work until a moment; whether it is still alive then."""
        seconds, lines = moment
        with self.more:
            self.more.wait_for(lambda: len(self.lines) >= lines, timeout=seconds)
        return self.child.poll() is None

    def finish(self, seconds=120):
        try:
            self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Broken(f"{self.child.args[0]} did not end within {seconds} s")
        finally:
            self.kill()
        return self.child.returncode

    def stop(self):
        """Returns when no thread of it, or of what it started, can run any more."""
        deadline = time.monotonic() + 10
        stopped = set()
        while time.monotonic() < deadline:
            tree = descendants(self.child.pid)
            for pid in tree:
                send(pid, signal.SIGSTOP)
            if tree == stopped and all(state in "TtZX" for pid in tree for state in states(pid)):
                return
            stopped = tree
        raise Broken("the writer could not be stopped")

    def kill(self):
        if self.child.returncode is None:
            for pid in descendants(self.child.pid):
                send(pid, signal.SIGKILL)
            self.child.wait()
        for reader in self.readers:
            reader.join()
        self.child.stdout.close()
        self.child.stderr.close()

def descendants(root):
    """A process and all that came of it."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as stat:
                parents[int(name)] = int(stat.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, size = {root}, 0
    while size != len(found):
        size = len(found)
        found.update(pid for pid, parent in parents.items() if parent in found)
    return found

def states(pid):
    """The state of each thread of a process."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/stat") as stat:
                yield stat.read().rpartition(")")[2].split()[0]
        except OSError:
            continue

def send(pid, what):
    try:
        os.kill(pid, what)
    except ProcessLookupError:
        pass

def moment(dice, seconds, lines):
    """Half of the cuts come at any time, half right after something was told."""
    if dice.random() < 0.5:
        return dice.uniform(0, seconds), sys.maxsize
    return 30, dice.randrange(1, lines)

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
    """Cuts under a plain SQLite writer: how many took acknowledged rows, how many rows, of how many."""
    hurt, lost, told = 0, 0, 0
    for _ in range(cuts):
        disk.fresh()
        database = os.path.join(disk.root, "told.db")
        writer = Writer([sys.executable, "-c", CONTROL, database], disk.root, None)
        demand(writer.wait_for((30, dice.randrange(1, 60))), f"the control ended: {writer.errors}")
        disk.cut(writer, dice)
        acknowledged = len(writer.lines)
        missing = max(0, acknowledged - rows(database))
        hurt, lost, told = hurt + (missing > 0), lost + missing, told + acknowledged
    return hurt, lost, told

def rows(database):
    with contextlib.closing(sqlite3.connect(database)) as db:
        return db.execute("SELECT count(*) FROM told").fetchone()[0]

# ---- The scripted work ----

def script(dice):
    """Replies with effects that show when they happen twice or get lost, some of them bulky, so that
    contents go to files of their own and the write-ahead log is folded into the database."""
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
            calls += [{"tool": "bash", "args": {"command": f"seq {k} 60000"}}, write(f"big{k}", bulk(300_000))]
        replies.append({"say": f"turn {k}", "calls": calls})
    return {"cairn_script": 1, "name": "power", "replies": replies + [{"say": "all done"}]}

# ---- Cairn on that disk ----

class Life:
    """One file system with one run on it, cut several times, and what was acknowledged meanwhile."""

    def __init__(self, disk, binary, work, replies):
        self.disk, self.binary, self.work, self.replies = disk, binary, work, replies
        self.workspace = os.path.join(disk.root, "project")
        self.told, self.facts = {}, []
        disk.fresh()
        os.mkdir(self.workspace)
        os.sync()
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
        writer = self.start()
        alive = writer.wait_for(moment(dice, 1.2, 80))
        if alive:
            self.disk.cut(writer, dice)
        writer.finish()
        self.take(writer)
        self.check()
        return alive

    def end(self):
        """Lets it go on to the end."""
        writer = self.start()
        code = writer.finish()
        self.take(writer)
        demand(code == 0 or "nothing left to do" in writer.errors,
               f"the run does not go on: exit code {code}, {writer.errors.strip()}")
        self.check()
        outcomes, intents = self.of("outcome"), self.of("intent")
        demand([body["at"] for body in outcomes] == [body["at"] for body in intents],
               "not every op has exactly one outcome")
        demand(self.of("end") and self.of("end")[-1]["status"] == 200, "the loop has not ended well")
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

    def check(self):
        """Everything that must hold whenever the power comes back."""
        log = self.cairn("log", "--facts", "--json")
        demand(log.returncode == 0 or not self.told, f"the log is gone: {log.stderr.strip()}")
        self.facts = [json.loads(line) for line in log.stdout.splitlines()]
        numbers = [fact["n"] for fact in self.facts]
        demand(numbers == list(range(1, len(numbers) + 1)), f"facts are missing in {numbers}")
        lost = [n for n, (_, event) in self.told.items() if not self.is_there(n, event)]
        demand(not lost, f"{len(lost)} acknowledged facts lost: {lost}; {len(numbers)} are there")
        if self.facts:
            self.verify()
            self.check_database()
        self.check_files()

    def is_there(self, n, event):
        if n > len(self.facts):
            return False
        fact, body = self.facts[n - 1], self.facts[n - 1]["body"]
        return (EVENTS[fact["kind"]], fact["at"]) == (event["type"], event["at"]) and all(
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
        for body in self.of("begin"):
            at, call = body["at"], calls[body["at"]]
            if call["tool"] == "bash":
                continue
            outcome, args = settled.get(at), call["args"]
            before = expected.get(args["path"], [None])
            after = [args.get("content") or text.replace(args["old"], args["new"], 1)
                     for text in before]
            if outcome is None:  # nobody has said how it ended
                expected[args["path"]] = before + after
            elif outcome["settled"] in ("performed", "found-done"):
                demand(outcome["status"] < 400, f"{at} was performed with {outcome['status']}")
                expected[args["path"]] = after
        for path, texts in expected.items():
            found = self.content(path)
            demand(found in texts, f"{path} has {describe(found)}, not {[describe(text) for text in texts]}")

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

def describe(text):
    return "nothing" if text is None else f"{len(text)} characters from {text[:20]!r}"

# ---- The proof ----

def prove(args, disk, dice):
    cuts = args.control if args.control is not None else (15 if args.cuts >= 15 else 3)
    hurt, lost, told = control(disk, cuts, dice)
    print(f"control: {hurt} of {cuts} cuts took acknowledged rows from SQLite with "
          f"synchronous=NORMAL, {lost} of {told} rows", flush=True)
    demand(hurt or not cuts, "the control lost nothing, so these cuts prove nothing")
    replies = script(dice)
    with open(os.path.join(args.work, "script.json"), "w") as file:
        json.dump(replies, file)
    done, facts, lives = 0, 0, 0
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
        facts, lives = facts + len(life.told), lives + 1
    print(f"{lives} runs, each continued to its end; {facts} facts acknowledged", flush=True)
    print(f"{done} cuts, 0 acknowledged facts lost", flush=True)

def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuts", type=int, default=100, help="how many cuts (100)")
    parser.add_argument("--control", type=int, help="how many cuts of the control (15, or 3 of few)")
    parser.add_argument("--seed", type=int, default=7, help="for the moments; time adds its own")
    parser.add_argument("--bin", default=os.environ.get("CAIRN_BIN", f"{root}/target/debug/cairn"))
    parser.add_argument("--work", default=f"{root}/target/prove", help="a folder on a real disk")
    args = parser.parse_args()
    args.bin, args.work = os.path.abspath(args.bin), os.path.join(os.path.realpath(args.work), "power")
    if not os.access(args.bin, os.X_OK):
        parser.error(f"{args.bin} is no program; build it with `make build` or name one with --bin")
    shutil.rmtree(args.work, ignore_errors=True)
    disk = Disk(args.work)
    code = 0
    try:
        private_mounts(disk)
        prove(args, disk, random.Random(args.seed))
    except NotPermitted as reason:
        print(f"power cuts cannot be tried: {reason}", file=sys.stderr)
        code = NOT_PERMITTED
    except Broken as broken:
        print(f"{broken}\nseed {args.seed}; the disk is kept in {disk.image}", file=sys.stderr)
        code = 1
    disk.unmount()
    if code != 1:
        shutil.rmtree(args.work, ignore_errors=True)
    return code

if __name__ == "__main__":
    sys.exit(main())
