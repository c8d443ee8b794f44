//! The guardian: the process between us and a command, and the last steps before the command.
//! Everything here runs after a bare `clone` of a threaded process, so it makes system calls only:
//! no allocation, no locks, no unwinding.
#![expect(unsafe_code, reason = "system calls between clone and exec")]

use crate::confine::{self, Confining, stage};
use crate::report::{self, LAYERS, Tag, record};
use libc::{c_char, c_int, c_long, c_uint, c_ulong, c_void};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, WaitOptions, waitpid};
use std::io;
use std::os::fd::RawFd;
use std::ptr;

/// How a guardian holds its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// As the first process of a PID namespace.
    Namespace,
    /// The same, inside a user namespace of its own.
    UserNamespace,
    /// As a subreaper.
    Subreaper,
    /// As the first process of namespaces of its own, with a root of its own.
    Confined,
}

/// Everything a guardian needs, made before the `clone`. The pointers and handles outlive it.
pub(crate) struct Plan {
    pub(crate) hold: Hold,
    pub(crate) shell: *const c_char,
    pub(crate) argv: *const *const c_char,
    pub(crate) envp: *const *const c_char,
    pub(crate) uid_map: *const [u8],
    pub(crate) gid_map: *const [u8],
    pub(crate) cwd: RawFd,
    pub(crate) input: RawFd,
    pub(crate) output: RawFd,
    pub(crate) errors: RawFd,
    pub(crate) status: RawFd,
    pub(crate) life: RawFd,
    /// The end of a stack for the process that becomes the command.
    pub(crate) stack_end: *mut u8,
    /// What confines it, when it is held so.
    pub(crate) confining: *const Confining,
    /// What a confined command's guardian hands the socket for its proxy over by; negative where it has none.
    pub(crate) pass: RawFd,
}

/// `clone3`: the process begins in the group that is named.
const INTO_GROUP: u64 = 0x2_0000_0000;
/// How often a subreaper tries, about a millisecond apart, to end what is left.
const ROUNDS: u32 = 2000;

/// A plain copy of this process, as `fork` makes it but without any handler being run.
///
/// # Safety
/// The caller, once in the copy (result 0), makes only system calls and never returns.
/// `pidfd` is null, or points to room for a handle and `flags` has `CLONE_PIDFD`.
pub(crate) unsafe fn clone(flags: c_int, pidfd: *mut c_int) -> c_long {
    let flags = (flags | libc::SIGCHLD) as c_ulong;
    let none: c_ulong = 0;
    // SAFETY: without a stack of its own the copy goes on on a copy of ours; see above.
    unsafe { libc::syscall(libc::SYS_clone, flags, none, pidfd, none, none) }
}

/// The same into a group of the kernel's, which the handle is of.
///
/// # Safety
/// As for `clone`.
pub(crate) unsafe fn clone_into(group: RawFd) -> c_long {
    // SAFETY: a structure as the kernel wants it, living here.
    unsafe {
        let mut args: libc::clone_args = std::mem::zeroed();
        args.flags = INTO_GROUP;
        args.exit_signal = libc::SIGCHLD as u64;
        args.cgroup = group as u64;
        libc::syscall(libc::SYS_clone3, &raw const args, size_of::<libc::clone_args>())
    }
}

/// Waits for a process that ends by itself and that nobody else waits for.
pub(crate) fn reap(process: c_long) {
    if let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        let _ = retry_on_intr(|| waitpid(Some(process), WaitOptions::empty()));
    }
}

/// Makes a copy of this process while no signal is handled in either.
pub(crate) fn unsignalled(make: impl FnOnce() -> c_long) -> io::Result<c_long> {
    // SAFETY: the sets live here; the mask is this thread's own and becomes what it was.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let made = make();
        let problem = io::Error::last_os_error();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
        if made < 0 { Err(problem) } else { Ok(made) }
    }
}

/// Holds a command until it ends or until nobody is left to tell, then ends all that is left.
///
/// # Safety
/// Runs in a fresh copy of the process with all signals blocked; every pointer of `plan` is valid.
pub(crate) unsafe fn guard(plan: &Plan) -> ! {
    // SAFETY: system calls on handles and pointers that the plan vouches for.
    unsafe {
        let handles = [
            plan.output,
            plan.errors,
            plan.input,
            plan.cwd,
            plan.status,
            plan.life,
            if plan.pass < 0 { plan.life } else { plan.pass },
        ];
        keep_only(handles);
        libc::setsid();
        let held = if plan.hold == Hold::Confined { confine(plan) } else { take_hold(plan) };
        let mut only_child: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut only_child);
        libc::sigaddset(&raw mut only_child, libc::SIGCHLD);
        let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
        let signals = libc::signalfd(-1, &raw const only_child, flags);
        let child = if signals < 0 { -1 } else { start_the_command(plan, held) };
        if child < 0 {
            give_up(plan, Tag::NoProcess);
        }
        keep_only([plan.status, plan.life, signals, held, held, held, held]);
        match watch(child, plan.life, signals) {
            Some(s) if libc::WIFSIGNALED(s) => tell(plan, Tag::Signalled, libc::WTERMSIG(s)),
            Some(s) => tell(plan, Tag::Exited, libc::WEXITSTATUS(s)),
            None => {}
        }
        if plan.hold == Hold::Subreaper && !end_descendants(held) {
            tell(plan, Tag::Left, 0);
        }
        // The end of a namespace's first process ends all others in it.
        libc::_exit(0)
    }
}

/// Builds what confines the command and enters it; returns the handle of Landlock's rules for it.
unsafe fn confine(plan: &Plan) -> RawFd {
    // SAFETY: the plan of a confined command has what confines it; system calls only.
    unsafe {
        let confining = &*plan.confining;
        let built = confine::build(&confining.root, false);
        if let Err(stage) = built.and_then(|()| confine::enter(&confining.cwd)) {
            no_layer(plan, stage);
        }
        if !confine::loopback_up() {
            no_layer(plan, stage::LOOPBACK);
        }
        if plan.pass >= 0 && !confine::pass_listener(plan.pass) {
            no_layer(plan, stage::LISTENER);
        }
        let capped = confine::cap_processes(confining.processes);
        let rules = confine::make_rules(&confining.writable);
        if rules < 0 {
            no_layer(plan, stage::RULES);
        }
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        let mut layers = (1 << LAYERS.len()) - 1;
        if !capped && !confining.group.counts {
            confine::limit_processes(confining.processes);
            layers &= !report::PROCESS_CAP;
        }
        if !confining.group.bounds {
            layers &= !report::MEMORY_CAP;
        }
        tell(plan, Tag::Confined, layers);
        rules
    }
}

/// Tells which stage of confining failed, and why, and ends this process.
unsafe fn no_layer(plan: &Plan, stage: confine::Stage) -> ! {
    // SAFETY: plain system calls.
    unsafe {
        tell(plan, Tag::NoLayer, (stage << 16) | (*libc::__errno_location() & 0xffff));
        libc::_exit(127)
    }
}

/// Sets up what holds the command; for a subreaper returns the handle its children are read from.
unsafe fn take_hold(plan: &Plan) -> RawFd {
    // SAFETY: system calls with literal paths and with the plan's pointers.
    unsafe {
        if plan.hold == Hold::UserNamespace
            && !(write_file(c"/proc/self/setgroups".as_ptr(), b"deny")
                && write_file(c"/proc/self/uid_map".as_ptr(), &*plan.uid_map)
                && write_file(c"/proc/self/gid_map".as_ptr(), &*plan.gid_map))
        {
            give_up(plan, Tag::NoSuchWay);
        }
        // Before the mounts are copied, so that the directory is one of the copies.
        if libc::fchdir(plan.cwd) != 0 {
            give_up(plan, Tag::NoDirectory);
        }
        let mut children = plan.life;
        if plan.hold == Hold::Subreaper {
            children = adopt_orphans(plan);
        } else {
            tell(plan, Tag::PidNamespace, 0);
            if mount_own_proc() {
                tell(plan, Tag::OwnProc, 0);
            }
        }
        // Our memory holds more than the command may see.
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        children
    }
}

unsafe fn adopt_orphans(plan: &Plan) -> RawFd {
    // SAFETY: plain system calls with a literal path.
    unsafe {
        if libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 {
            give_up(plan, Tag::NoSuchWay);
        }
        let path = c"/proc/thread-self/children".as_ptr();
        let children = libc::open(path, libc::O_RDONLY | libc::O_CLOEXEC);
        if children < 0 {
            give_up(plan, Tag::NoSuchWay);
        }
        tell(plan, Tag::Subreaper, 0);
        children
    }
}

unsafe fn mount_own_proc() -> bool {
    let private = libc::MS_REC | libc::MS_PRIVATE;
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    let proc = c"proc".as_ptr();
    let none: *const c_void = ptr::null();
    // SAFETY: literal paths and null where mount(2) allows it.
    unsafe {
        libc::unshare(libc::CLONE_NEWNS) == 0
            && libc::mount(ptr::null(), c"/".as_ptr(), ptr::null(), private, none) == 0
            && libc::mount(proc, c"/proc".as_ptr(), proc, flags, none) == 0
    }
}

/// Starts the process that becomes the command. It borrows our memory until its `exec`, and we wait
/// for that: nothing needs to be copied.
unsafe fn start_the_command(plan: &Plan, held: RawFd) -> c_int {
    extern "C" fn run(started: *mut c_void) -> c_int {
        // SAFETY: the pointer is what stands below, and its owner waits for us.
        unsafe {
            let (plan, held) = &*started.cast::<(&Plan, RawFd)>();
            become_the_command(plan, *held)
        }
    }
    let started: (&Plan, RawFd) = (plan, held);
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack is the plan's, large enough for the calls made there, and used by nobody
    // else; until the new process execs or ends, this one stands still.
    unsafe {
        libc::clone(run, plan.stack_end.cast(), flags, ptr::from_ref(&started).cast_mut().cast())
    }
}

/// The last steps of the process that becomes the command.
unsafe fn become_the_command(plan: &Plan, held: RawFd) -> ! {
    // SAFETY: system calls on the plan's handles and pointers.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
        libc::dup2(plan.input, 0);
        libc::dup2(plan.output, 1);
        libc::dup2(plan.errors, 2);
        close_range(3, c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
        if plan.hold == Hold::Confined
            && let Err(stage) = confine::give_up(&*plan.confining, held)
        {
            no_layer(plan, stage);
        }
        libc::execve(plan.shell, plan.argv, plan.envp);
        give_up(plan, Tag::NoShell)
    }
}

/// Waits until the child ends (its wait status) or the life pipe closes.
unsafe fn watch(child: c_int, life: RawFd, signals: RawFd) -> Option<c_int> {
    let pollfd = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut waited = [pollfd(life), pollfd(signals)];
    // SAFETY: both arrays live on this stack; the handles are ours.
    unsafe {
        loop {
            libc::poll(waited.as_mut_ptr(), 2, -1);
            if waited[0].revents != 0 {
                return None;
            }
            let mut queued = [0u8; 512];
            while libc::read(signals, queued.as_mut_ptr().cast(), queued.len()) > 0 {}
            let mut status = 0;
            loop {
                match libc::waitpid(-1, &raw mut status, libc::WNOHANG | libc::__WALL) {
                    pid if pid == child => return Some(status),
                    pid if pid > 0 => {}
                    _ => break,
                }
            }
        }
    }
}

/// Ends our children, and theirs as they come to us, until there are none. False if some stay.
unsafe fn end_descendants(children: RawFd) -> bool {
    let mut list = [0u8; 4096];
    for _ in 0..ROUNDS {
        // SAFETY: the buffer is as long as said; the handle is the one opened for this.
        unsafe {
            libc::lseek(children, 0, libc::SEEK_SET);
            let length = libc::read(children, list.as_mut_ptr().cast(), list.len());
            let mut pid: c_int = 0;
            for &byte in list.iter().take(usize::try_from(length).unwrap_or(0)) {
                if byte.is_ascii_digit() {
                    pid = pid.wrapping_mul(10).wrapping_add(c_int::from(byte - b'0'));
                } else if pid > 0 {
                    libc::kill(pid, libc::SIGKILL);
                    pid = 0;
                }
            }
            loop {
                match libc::waitpid(-1, ptr::null_mut(), libc::WNOHANG | libc::__WALL) {
                    0 => break,
                    reaped if reaped < 0 => return true,
                    _ => {}
                }
            }
            libc::poll(ptr::null_mut(), 0, 1);
        }
    }
    false
}

unsafe fn write_file(path: *const c_char, text: &[u8]) -> bool {
    // SAFETY: the path is NUL-terminated and the text as long as it says.
    unsafe {
        let file = libc::open(path, libc::O_WRONLY | libc::O_CLOEXEC);
        let written = file >= 0 && libc::write(file, text.as_ptr().cast(), text.len()) > 0;
        let errno = *libc::__errno_location();
        libc::close(file);
        *libc::__errno_location() = errno;
        written
    }
}

unsafe fn tell(plan: &Plan, tag: Tag, number: c_int) {
    let record = record(tag, number);
    // SAFETY: the record lives on this stack.
    unsafe { libc::write(plan.status, record.as_ptr().cast(), record.len()) };
}

/// Tells why the last system call failed, and ends this process.
unsafe fn give_up(plan: &Plan, tag: Tag) -> ! {
    // SAFETY: plain system calls.
    unsafe {
        tell(plan, tag, *libc::__errno_location());
        libc::_exit(127)
    }
}

/// Closes every handle but these.
///
/// # Safety
/// Runs in a fresh copy of the process, which uses no other handle.
pub(crate) unsafe fn keep_only(mut keep: [RawFd; 7]) {
    keep.sort_unstable();
    let mut from: c_uint = 0;
    for fd in keep {
        let fd = fd as c_uint;
        if fd > from {
            // SAFETY: nothing else in this process uses the handles closed here.
            unsafe { close_range(from, fd.wrapping_sub(1), 0) };
        }
        from = from.max(fd.wrapping_add(1));
    }
    // SAFETY: as above.
    unsafe { close_range(from, c_uint::MAX, 0) };
}

/// `close_range(2)`, and a plain loop on kernels that lack it.
unsafe fn close_range(first: c_uint, last: c_uint, flags: c_uint) {
    // SAFETY: the caller no longer needs the handles it names.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, last, flags) == 0 {
            return;
        }
        for fd in first..=last.min(65_535) {
            if flags == 0 {
                libc::close(fd as c_int);
            } else {
                libc::fcntl(fd as c_int, libc::F_SETFD, libc::FD_CLOEXEC);
            }
        }
    }
}
