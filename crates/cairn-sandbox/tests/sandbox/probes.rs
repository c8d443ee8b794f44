//! The escape probes, as rows: small programs, each of which tries one way out of a sandbox. Runs none.
//! What each can leave behind is a change, a hit, a canary or the word `through`; see `world`.
//!
//! Not here, because they are no boundary: filling the disk through `/tmp` or the workspace, and using up
//! memory or the processor's time. A timeout ends those.

/// One way out.
pub(crate) struct Probe {
    /// What it tries.
    pub(crate) name: &'static str,
    /// When it gets through without a sandbox.
    pub(crate) needs: Needs,
    /// How it tries.
    pub(crate) program: Program,
}

/// What a probe needs to get through without a sandbox. Where that is not there it shows nothing, and is
/// listed so.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing: anybody can.
    Nothing,
    /// To be root.
    Root,
    /// Something that not every kernel, file system or machine has.
    Feature,
}

/// A program.
pub(crate) enum Program {
    /// For `sh`.
    Sh(&'static str),
    /// For Python, after `PRELUDE`.
    Python(&'static str),
    /// The program in C, with this argument.
    C(&'static str),
}

use Needs::{Feature, Nothing, Root};
use Program::{C, Python, Sh};

const fn probe(name: &'static str, needs: Needs, program: Program) -> Probe {
    Probe { name, needs, program }
}

/// What every program in Python begins with.
pub(crate) const PRELUDE: &str = r#"
import ctypes, fcntl, glob, os, socket, struct, sys, termios
E = os.environ
CONFINED = bool(E["CONFINED"])
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = LIBC.shmat.restype = ctypes.c_long
X86 = os.uname().machine == "x86_64"
def number(x86, other):
    return x86 if X86 else other
def call(n, *arguments):
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = LIBC.syscall(ctypes.c_long(n), *wide)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"call {n}: {os.strerror(ctypes.get_errno())}")
    return result
MOUNT, UMOUNT, UNSHARE = number(165, 40), number(166, 39), number(272, 97)
NEWUSER, NEWNS = 0x10000000, 0x20000
def alone():
    "Without a sandbox, mounts are tried in a namespace that ends with this process."
    if not CONFINED:
        call(UNSHARE, NEWNS)
        call(MOUNT, b"none", b"/", None, 0x44000, None)
def through():
    print("through", flush=True)
def send(family, kind, to):
    s = socket.socket(family, kind)
    s.settimeout(2)
    s.connect(to)
    s.send(b"x")
def memory(pid, at):
    print(os.pread(os.open(f"/proc/{pid}/mem", os.O_RDONLY), 64, int(at)))
def vm(pid, at):
    room = ctypes.create_string_buffer(64)
    ours = (ctypes.c_void_p * 2)(ctypes.addressof(room), 64)
    theirs = (ctypes.c_void_p * 2)(int(at), 64)
    call(number(310, 270), int(pid), ours, 1, theirs, 1, 0)
    print(room.raw)
def same(path):
    "Writes to a file what it holds."
    text = open(path).read()
    with open(path, "w") as file:
        file.write(text)
    through()
print("tried", flush=True)
"#;

/// The program in C: calls that only machine code can make.
pub(crate) const SOURCE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__x86_64__)
static long low(long n, long a, long b, long c) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(n), "b"(a), "c"(b), "d"(c)
                     : "memory", "r8", "r9", "r10", "r11");
    return (int)result;
}
int main(int count, char **words) {
    (void)!write(1, "tried\n", 6);
    char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    long got = -1;
    if (!strcmp(words[1], "open")) {
        snprintf(page, 4096, "%s/file", getenv("OUT"));
        long file = low(5, (long)page, 0, 0);
        if (file >= 0) (void)!write(1, page, low(3, file, (long)page, 100));
    } else if (!strcmp(words[1], "socket")) {
        int call[3] = {16, 3, 0};
        memcpy(page, call, sizeof call);
        got = low(102, 1, (long)page, 0);
    } else if (!strcmp(words[1], "unshare")) {
        got = low(310, 0x10000000, 0, 0);
    } else if (!strcmp(words[1], "x32")) {
        got = syscall(0x40000000 | 39);
    }
    if (got >= 0) (void)!write(1, "through\n", 8);
    return 0;
}
#else
int main(void) { return !write(1, "tried\n", 6); }
#endif
"#;

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static Probe> {
    [WRITES, READS, SOCKETS, NAMESPACES, PROCESSES, KERNEL].into_iter().flatten()
}

const WRITES: &[Probe] = &[
    probe("write by absolute path", Nothing, Sh(r#"echo x > "$OUT/new""#)),
    probe("write by ..", Nothing, Sh("echo x > ../outside/new")),
    probe("write through a link of its own", Nothing, Sh(r#"ln -s "$OUT" l; echo x > l/new"#)),
    probe("write through a planted link", Nothing, Sh("echo x > planted/new")),
    probe("write to a hard link", Nothing, Sh(r#"ln "$OUT/file" l && echo x >> l"#)),
    probe("rename out", Nothing, Python("os.rename('a', E['OUT'] + '/a')")),
    probe("rename a directory in", Nothing, Python("os.rename(E['OUT'] + '/dir', 'taken')")),
    probe(
        "exchange with a file outside",
        Nothing,
        Python("call(number(316, 276), -100, b'a', -100, (E['OUT'] + '/file').encode(), 2)"),
    ),
    probe(
        "give a file without a name one outside",
        Feature,
        Python(
            "f = os.open('.', os.O_TMPFILE | os.O_RDWR)\n\
             LIBC.linkat(-100, f'/proc/self/fd/{f}'.encode(), -100, (E['OUT'] + '/new').encode(), 0x400)",
        ),
    ),
    probe("write by /proc/self/root", Nothing, Sh(r#"echo x > "/proc/self/root$OUT/new""#)),
    probe(
        "write by the first process's root",
        Nothing,
        Sh(r#"echo x > "/proc/$FIRST/root$OUT/new""#),
    ),
    probe("write by /proc/self/cwd", Nothing, Sh("echo x > /proc/self/cwd/../outside/new")),
    probe(
        "write by another process's directory",
        Nothing,
        Sh(r#"echo x > "/proc/$VICTIM/cwd/new"; rm -f "/proc/$VICTIM/cwd/new""#),
    ),
    probe(
        "write to files that others hold",
        Nothing,
        Sh(r#"for f in $PROCS/fd/*; do
               case "$(readlink "$f")" in */outside/*) echo x >> "$f";; esac; done"#),
    ),
    probe("truncate", Nothing, Sh(r#"truncate -s 0 "$OUT/file""#)),
    probe("append", Nothing, Sh(r#"echo x >> "$OUT/file""#)),
    probe("change a mode", Nothing, Sh(r#"chmod 777 "$OUT/file""#)),
    probe("change an owner", Nothing, Sh(r#"chown "$(id -u):$(id -g)" "$OUT/file""#)),
    probe("change a time", Nothing, Sh(r#"touch -d @1 "$OUT/file""#)),
    probe(
        "set an attribute",
        Feature,
        Python("os.setxattr(E['OUT'] + '/file', 'user.probe', b'x')"),
    ),
    probe("remove a file", Nothing, Sh(r#"rm -f "$OUT/file""#)),
    probe("remove a directory", Nothing, Sh(r#"rm -rf "$OUT/dir""#)),
    probe("make a directory", Nothing, Sh(r#"mkdir "$OUT/made""#)),
    probe("make a directory with all above it", Nothing, Sh(r#"mkdir -p "$OUT/made/below""#)),
    probe("write to the home", Nothing, Sh("echo x > ~/.profile")),
    probe("write to a toolchain", Nothing, Sh("echo x > ~/.cargo/bin/tool")),
    probe("write to /usr", Root, Sh(r#"echo x > "$MARK""#)),
    probe("write to /etc", Root, Sh(r#"echo x > "$ETC""#)),
    probe("remove what is hidden", Nothing, Sh(r#"rm -rf "$HIDDEN""#)),
    probe("write to what is hidden", Nothing, Sh(r#"echo x > "$HIDDEN/key""#)),
    probe("move what is hidden", Nothing, Sh(r#"mv "$HIDDEN" moved"#)),
    probe(
        "read the disk by a device of its own",
        Feature,
        Sh(r#"mknod disk b $DISK && head -c 512 disk > /dev/null && echo through"#),
    ),
    probe("make a device", Root, Sh("mknod device c 1 11 && echo through")),
    probe(
        "write through an open directory handle",
        Nothing,
        Python(
            "d = os.open('.', os.O_RDONLY)\n\
             os.close(os.open('../outside/new', os.O_CREAT | os.O_WRONLY, dir_fd=d))",
        ),
    ),
];

const READS: &[Probe] = &[
    probe("read ~/.ssh", Nothing, Sh("cat ~/.ssh/id")),
    probe("read credentials in a toolchain", Nothing, Sh("cat ~/.cargo/credentials.toml")),
    probe("read /etc/shadow", Root, Python("open('/etc/shadow').read(1) and through()")),
    probe("read what is hidden", Nothing, Sh(r#"cat "$HIDDEN/key""#)),
    probe(
        "read what is hidden by moving what is above it",
        Nothing,
        Sh("mv state moved; cat moved/home/key"),
    ),
    probe("read what is hidden by another name", Nothing, Sh(r#"cat "$OTHER/key""#)),
    probe("read what is hidden by a hard link", Nothing, Sh(r#"ln "$HIDDEN/key" l; cat l"#)),
    probe("read another project", Nothing, Sh(r#"cat "$BESIDE/secret""#)),
    probe("read through a planted link", Nothing, Sh("cat planted/file")),
    probe("search everywhere", Nothing, Sh("grep -rsh 'canar[y]-' $EVERYWHERE")),
    probe("read the runtime's environment", Nothing, Sh(r#"cat "/proc/$RUNTIME/environ""#)),
    probe("read the runtime's memory", Nothing, Python("memory(E['RUNTIME'], E['RUNTIME_AT'])")),
    probe("read the first process's environment", Nothing, Sh(r#"cat "/proc/$FIRST/environ""#)),
    probe("read the first process's memory", Nothing, Python("memory(E['FIRST'], E['FIRST_AT'])")),
    probe("read every environment", Nothing, Sh("cat $PROCS/environ")),
    probe("read files that others hold", Nothing, Sh("cat $PROCS/fd/$VICTIM_FD")),
    probe(
        "read another process's memory by process_vm_readv",
        Nothing,
        Python("vm(E['VICTIM'], E['VICTIM_AT'])"),
    ),
    probe(
        "read the first process's memory by process_vm_readv",
        Nothing,
        Python("vm(E['FIRST'], E['FIRST_AT'])"),
    ),
    probe("read the machine's shared memory", Nothing, Sh(r#"cat "$SHM""#)),
    probe(
        "attach the machine's System V memory",
        Nothing,
        Python(
            "print(ctypes.string_at(LIBC.shmat(LIBC.shmget(int(E['SEGMENT']), 0, 0), None, 0), 64))",
        ),
    ),
    probe(
        "open a file by its handle",
        Feature,
        Python(
            "handle = struct.pack('IiII', 8, 1, 2, 0)\n\
             call(number(304, 265), os.open('.', os.O_RDONLY), handle, 0); through()",
        ),
    ),
    probe(
        "read the kernel's memory",
        Feature,
        Python("os.open('/proc/kcore', os.O_RDONLY); through()"),
    ),
    probe("read the kernel's log", Root, Python("os.open('/dev/kmsg', os.O_RDONLY); through()")),
];

const SOCKETS: &[Probe] = &[
    probe(
        "TCP",
        Nothing,
        Python("send(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', int(E['TCP'])))"),
    ),
    probe(
        "UDP",
        Nothing,
        Python("send(socket.AF_INET, socket.SOCK_DGRAM, ('127.0.0.1', int(E['UDP'])))"),
    ),
    probe(
        "TCP over IPv6",
        Feature,
        Python("send(socket.AF_INET6, socket.SOCK_STREAM, ('::1', int(E['TCP6'])))"),
    ),
    probe(
        "UDP over IPv6",
        Feature,
        Python("send(socket.AF_INET6, socket.SOCK_DGRAM, ('::1', int(E['UDP6'])))"),
    ),
    probe(
        "a Unix socket by path",
        Nothing,
        Python("send(socket.AF_UNIX, socket.SOCK_STREAM, E['SOCKET'])"),
    ),
    probe(
        "an abstract Unix socket",
        Nothing,
        Python("send(socket.AF_UNIX, socket.SOCK_STREAM, '\\0' + E['ABSTRACT'])"),
    ),
    probe(
        "a raw socket",
        Root,
        Python("socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); through()"),
    ),
    probe("a packet socket", Root, Python("socket.socket(17, socket.SOCK_RAW, 0); through()")),
    probe("the old packet socket", Root, Python("socket.socket(socket.AF_INET, 10, 0); through()")),
    probe("a netlink socket", Nothing, Python("socket.socket(16, socket.SOCK_RAW, 0); through()")),
    probe("a vsock socket", Feature, Python("socket.socket(40, 1, 0); through()")),
    probe(
        "a socket of the kernel's ciphers",
        Feature,
        Python("socket.socket(38, 5, 0); through()"),
    ),
    probe("a key socket", Feature, Python("socket.socket(15, socket.SOCK_RAW, 2); through()")),
    probe(
        "a ring of system calls",
        Feature,
        Python("call(425, 1, ctypes.create_string_buffer(120)); through()"),
    ),
];

const NAMESPACES: &[Probe] = &[
    probe(
        "mount",
        Root,
        Python("alone(); os.mkdir('m'); call(MOUNT, b'tmpfs', b'm', b'tmpfs', 0, None); through()"),
    ),
    probe("unmount", Root, Python("alone(); call(UMOUNT, b'/proc', 2); through()")),
    probe(
        "make the root writable again",
        Root,
        Python("alone(); call(442, -100, b'/', 0, struct.pack('QQQQ', 0, 1, 0, 0), 32); through()"),
    ),
    probe(
        "pivot_root",
        Root,
        Python(
            "alone()\n\
             if not CONFINED:\n    \
                 os.mkdir('m'); call(MOUNT, b'tmpfs', b'm', b'tmpfs', 0, None); os.chdir('m')\n\
             call(number(155, 41), b'.', b'.'); through()",
        ),
    ),
    probe("chroot", Root, Python("os.chroot('.'); through()")),
    probe("unshare users", Feature, Python("call(UNSHARE, NEWUSER); through()")),
    probe("unshare mounts", Root, Python("call(UNSHARE, NEWNS); through()")),
    probe(
        "clone with a user namespace",
        Feature,
        Python(
            "child = call(number(56, 220), NEWUSER | 17, 0, 0, 0, 0)\n\
             if child == 0: os._exit(0)\n\
             os.waitpid(child, 0); through()",
        ),
    ),
    probe(
        "clone3 with a user namespace",
        Feature,
        Python(
            "child = call(435, struct.pack('8Q', NEWUSER, 0, 0, 0, 17, 0, 0, 0), 64)\n\
             if child == 0: os._exit(0)\n\
             os.waitpid(child, 0); through()",
        ),
    ),
    probe(
        "enter another process's mounts",
        Root,
        Python(
            "call(number(308, 268), os.open(f\"/proc/{E['VICTIM']}/ns/mnt\", os.O_RDONLY), NEWNS)\n\
             through()",
        ),
    ),
    probe(
        "enter another process's network by its handle",
        Root,
        Python("call(number(308, 268), call(434, int(E['VICTIM']), 0), 0x40000000); through()"),
    ),
    probe("copy a mount", Root, Python("call(428, -100, b'/', 1); through()")),
    probe("open a file system", Root, Python("call(430, b'tmpfs', 0); through()")),
    probe("pick a file system up", Root, Python("call(433, -100, b'/', 0); through()")),
];

const PROCESSES: &[Probe] = &[
    probe("signal a process", Nothing, Sh(r#"kill -9 "$VICTIM""#)),
    probe("signal the first process", Nothing, Sh(r#"kill -9 "$FIRST""#)),
    probe(
        "signal everybody",
        Nothing,
        // Never without a PID namespace of its own.
        Python(
            "who = int(E['EVERYBODY'])\n\
             assert who > 1 or os.readlink('/proc/self/ns/pid') != E['PIDS']\n\
             os.kill(who, 9)",
        ),
    ),
    probe(
        "trace a process",
        Nothing,
        Python("call(number(101, 117), 0x4206, int(E['VICTIM']), 0, 0); through()"),
    ),
    probe(
        "trace the first process",
        Nothing,
        Python("call(number(101, 117), 0x4206, int(E['FIRST']), 0, 0); through()"),
    ),
    probe(
        "take a handle from a process",
        Nothing,
        Python(
            "print(os.pread(call(438, call(434, int(E['VICTIM']), 0), int(E['VICTIM_FD']), 0), 64, 0))",
        ),
    ),
    probe(
        "take a handle from the first process",
        Nothing,
        Python(
            "first = call(434, int(E['FIRST']), 0)\n\
             for n in range(3, 40):\n    \
                 try: call(438, first, n, 0); through()\n    \
                 except OSError: pass",
        ),
    ),
    probe(
        "slow a process down",
        Nothing,
        Python("os.setpriority(os.PRIO_PROCESS, int(E['VICTIM']), 19); through()"),
    ),
    probe(
        "say that a process be ended first",
        Nothing,
        Python("open(f\"/proc/{E['VICTIM']}/oom_score_adj\", 'w').write('1000'); through()"),
    ),
    probe(
        "more processes than allowed",
        Nothing,
        Python(
            "import signal\nchildren = []\n\
             try:\n    \
                 for n in range(2 * int(E['PROCESSES']) + 40):\n        \
                     child = os.fork()\n        \
                     if child == 0: signal.pause()\n        \
                     children.append(child)\n    \
                 through()\n\
             finally:\n    \
                 for child in children: os.kill(child, 9)",
        ),
    ),
    probe(
        "type into a terminal",
        Feature,
        Python(
            "master, slave = os.openpty()\n\
             child = os.fork()\n\
             if child == 0:\n    \
                 try:\n        \
                     os.setsid(); fcntl.ioctl(slave, termios.TIOCSCTTY, 0)\n        \
                     fcntl.ioctl(slave, termios.TIOCSTI, b'x'); through()\n    \
                 finally: os._exit(0)\n\
             os.waitpid(child, 0)",
        ),
    ),
    probe(
        "run a setuid program",
        Feature,
        Sh(r#"[ "$(id -u)" != 0 ] && passwd -S | grep -q '[0-9][0-9][-/]' && echo through"#),
    ),
];

const KERNEL: &[Probe] = &[
    probe(
        "add a key",
        Feature,
        Python("call(number(248, 217), b'user', b'cairn-probe', b'x', 1, -2); through()"),
    ),
    probe(
        "read another's key",
        Feature,
        Python(
            "room = ctypes.create_string_buffer(64)\n\
             call(number(250, 219), 11, int(E['KEY']), room, 64); print(room.raw)",
        ),
    ),
    probe(
        "bpf",
        Feature,
        Python("call(number(321, 280), 0, struct.pack('IIII112x', 2, 4, 4, 1), 128); through()"),
    ),
    probe(
        "perf_event_open",
        Feature,
        Python(
            "attributes = struct.pack('IIQQQQQ64x', 1, 112, 0, 0, 0, 0, 0x61)\n\
             call(number(298, 241), attributes, 0, -1, -1, 0); through()",
        ),
    ),
    probe("userfaultfd", Feature, Python("call(number(323, 282), 1); through()")),
    probe(
        "the kernel's log by a call",
        Feature,
        Python("call(number(103, 116), 9, None, 0) >= 0 and through()"),
    ),
    probe("write core_pattern", Root, Python("same('/proc/sys/kernel/core_pattern')")),
    probe("write the host's name", Root, Python("same('/proc/sys/kernel/hostname')")),
    probe(
        "set the host's name",
        Root,
        Python(
            "name = socket.gethostname().encode()\n\
             call(number(170, 161), name, len(name)); through()",
        ),
    ),
    probe(
        "open sysrq-trigger",
        Feature,
        Python("os.open('/proc/sysrq-trigger', os.O_WRONLY); through()"),
    ),
    probe(
        "open a control group's files",
        Feature,
        Python(
            "for name in ['release_agent', 'cgroup.procs', 'notify_on_release']:\n    \
                 for path in glob.glob(f'/sys/fs/cgroup/{name}') + glob.glob(f'/sys/fs/cgroup/*/{name}'):\n        \
                     os.close(os.open(path, os.O_WRONLY)); through()",
        ),
    ),
    probe("32-bit open", Feature, C("open")),
    probe("32-bit socket", Feature, C("socket")),
    probe("32-bit unshare", Feature, C("unshare")),
    probe("an x32 call", Feature, C("x32")),
];
