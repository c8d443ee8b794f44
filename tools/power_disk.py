# A disk whose power can be cut under a process that writes to it. Knows nothing of Cairn.
#
# The disk is an ext4 image behind a loop device. A cut: stop the writer, copy the image while it is
# mounted, kill the writer, mount the copy in its place. What ext4 has only in memory is not in the
# copy, and ext4 replays its journal when it mounts it: as after a power cut. A stopped writer has
# come back from its last system call, so a cut falls before or after a sync, never inside one.
# Mounts are private to this process and vanish with it.
"""Disk, an ext4 image that loses its power; Writer, the process that works on it."""

import ctypes
import os
import shutil
import signal
import subprocess
import threading
import time

IMAGE_MIB = 128
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
        self.work, self.root = work, os.path.join(work, "disk")
        self.image, self.copy = os.path.join(work, "disk.img"), os.path.join(work, "cut.img")

    def prepare(self):
        """Makes its folder afresh."""
        shutil.rmtree(self.work, ignore_errors=True)
        os.makedirs(self.root)

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

    def sync(self):
        """Makes what is there durable."""
        handle = os.open(self.root, os.O_RDONLY)
        LIBC.syncfs(handle)
        os.close(handle)

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
        with open(os.path.join(self.root, "stranger"), "ab", buffering=0) as file:
            file.write(b"x" * 100)
            os.fsync(file)

    def written_back(self, dice):
        """The kernel has already written some pages of some files, in no order."""
        for folder, _, names in sorted(os.walk(self.root)):
            for name in sorted(names):
                write_back_some(os.path.join(folder, name), dice)

def write_back_some(path, dice):
    page = 4096
    try:
        # The end of a mount may still take its own files away; what hides a file in a layer is none.
        file = open(path, "rb") if os.path.isfile(path) else None
    except FileNotFoundError:
        file = None
    if file is None:
        return
    with file:
        start = ctypes.c_int64(dice.randrange(os.fstat(file.fileno()).st_size // page + 1) * page)
        length = ctypes.c_int64(dice.randrange(1, 17) * page)
        LIBC.sync_file_range(file.fileno(), start, length, ctypes.c_uint(7))  # wait, write, wait

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
        self.readers = [threading.Thread(target=read) for read in (self.read, self.read_errors)]
        for reader in self.readers:
            reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

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

    def stop(self):
        """Returns when no thread of it, or of what it started, can run any more."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if self.stopped_within(0.5):
                return
            # Who starts a process waits, deaf to signals, until that one, which may be stopped, has
            # begun: let them go on for a moment.
            for pid in descendants(self.child.pid):
                send(pid, signal.SIGCONT)
            time.sleep(0.005)
        raise Broken("the writer could not be stopped")

    def stopped_within(self, seconds):
        deadline = time.monotonic() + seconds
        known = set()
        while time.monotonic() < deadline:
            tree = descendants(self.child.pid)
            for pid in tree:
                send(pid, signal.SIGSTOP)
            if tree == known and all(state in "TtZX" for pid in tree for state in states(pid)):
                return True
            known = tree
        return False

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
