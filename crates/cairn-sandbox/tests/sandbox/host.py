# The machine around an escape probe: listeners, a process, shared memory and a key, all with a canary.
# Tells NAME=value facts, and on every line of its input what reached it since, then `synced`. Ends, and
# takes everything away, when its input ends. Decides nothing.
import ctypes
import os
import socket
import subprocess
import sys

CANARY, FOLDER, RUNTIME = sys.argv[1].encode(), sys.argv[2], int(sys.argv[3])
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.shmat.restype = ctypes.c_void_p
ADD_KEY, KEYCTL = {"x86_64": (248, 250), "aarch64": (217, 219)}[os.uname().machine]


def tell(line):
    print(line, flush=True)


def address(pid):
    """Where the canary is in a process's memory: among its environment, at the end of its stack."""
    with open(f"/proc/{pid}/maps") as maps:
        line = next(line for line in maps if line.rstrip().endswith("[stack]"))
    start, end = (int(part, 16) for part in line.split()[0].split("-"))
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(start)
        return start + memory.read(end - start).rfind(CANARY)


def victim():
    """A process like any other of this user, with the canary in its environment and an open file."""
    folder = os.path.join(FOLDER, "outside")
    held = os.open(os.path.join(folder, "held"), os.O_RDWR)
    started = subprocess.Popen(["sleep", "100000"], env={"CANARY": CANARY.decode(), "PATH": os.environ["PATH"]},
                               cwd=folder, pass_fds=[held], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    os.close(held)
    while b"sleep" not in open(f"/proc/{started.pid}/cmdline", "rb").read().split(b"\0")[0]:
        pass
    tell(f"VICTIM={started.pid}")
    tell(f"VICTIM_AT={address(started.pid)}")
    tell(f"VICTIM_FD={held}")
    return started


def listeners():
    """What a command could reach over a socket, by name."""
    found = {}
    for name, family, kind, at in [
            ("TCP", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            ("UDP", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            ("TCP6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)),
            ("UDP6", socket.AF_INET6, socket.SOCK_DGRAM, ("::1", 0)),
            ("SOCKET", socket.AF_UNIX, socket.SOCK_STREAM, os.path.join(FOLDER, "socket")),
            ("ABSTRACT", socket.AF_UNIX, socket.SOCK_STREAM, f"\0cairn-probe-{os.getpid()}")]:
        try:
            listener = socket.socket(family, kind)
            listener.bind(at)
        except OSError:
            tell(f"{name}=0")
            continue
        if kind == socket.SOCK_STREAM:
            listener.listen()
        listener.setblocking(False)
        bound = listener.getsockname()
        if isinstance(bound, bytes):
            bound = bound[1:].decode()
        tell(f"{name}={bound[1] if isinstance(bound, tuple) else bound}")
        found[name] = listener
    return found


def reached(listener):
    """Whether somebody came since the last look."""
    try:
        if listener.type == socket.SOCK_STREAM:
            listener.accept()[0].close()
        else:
            listener.recv(100)
        return True
    except BlockingIOError:
        return False


def shared_memory():
    """A segment of System V and a file in /dev/shm."""
    segment = LIBC.shmget(os.getpid(), 4096, 0o1600)
    at = LIBC.shmat(segment, None, 0)
    ctypes.memmove(at, CANARY, len(CANARY))
    tell(f"SEGMENT={os.getpid()}")
    shm = f"/dev/shm/cairn-probe-{os.getpid()}"
    with open(shm, "wb") as file:
        file.write(CANARY)
    tell(f"SHM={shm}")
    return segment, shm


def main():
    watched = listeners()
    segment, shm = shared_memory()
    key = LIBC.syscall(ADD_KEY, b"user", f"cairn-probe-{os.getpid()}".encode(), CANARY, len(CANARY), -4)
    LIBC.syscall(KEYCTL, 5, key, 0x3f3f0000)
    tell(f"KEY={key}")
    tell(f"RUNTIME={RUNTIME}")
    tell(f"RUNTIME_AT={address(RUNTIME)}")
    disk = os.stat("/").st_dev
    tell(f"DISK={os.major(disk)} {os.minor(disk)}")
    tell(f"PIDS={os.readlink('/proc/self/ns/pid')}")
    sleeping = victim()
    tell("synced")
    for _ in sys.stdin:
        for name, listener in watched.items():
            if reached(listener):
                tell(f"hit {name}")
        if sleeping.poll() is not None:
            tell("hit the process")
            sleeping = victim()
        tell("synced")
    sleeping.kill()
    LIBC.shmctl(segment, 0, None)
    os.unlink(shm)
    LIBC.syscall(KEYCTL, 9, key, -4)


main()
