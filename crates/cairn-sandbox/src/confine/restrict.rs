//! The last steps around a confined command: ids, loopback, the cap on processes, and what its first
//! process gives up before it becomes the command. System calls only.
#![expect(unsafe_code, reason = "system calls between clone and exec")]

use super::steps::Confining;
use super::{Stage, landlock, seal, stage};
use libc::{c_int, c_long, c_ulong};
use std::ffi::CStr;
use std::os::fd::RawFd;

/// Waits until the ids of this namespace are mapped.
///
/// # Safety
/// Runs after a `clone`; the handle is the reading end of a pipe.
pub(crate) unsafe fn wait_for_ids(go: RawFd) -> bool {
    let mut byte = 0u8;
    // SAFETY: one byte of room.
    unsafe { libc::read(go, (&raw mut byte).cast(), 1) == 1 }
}

/// Brings loopback up, so that what the command serves can be reached by itself.
///
/// # Safety
/// Runs after a `clone` into a network namespace of its own.
pub(crate) unsafe fn loopback_up() -> bool {
    // SAFETY: the structure lives here and names the interface.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return false;
        }
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        let up = libc::ioctl(socket, libc::SIOCSIFFLAGS, &raw const request) == 0;
        libc::close(socket);
        up
    }
}

/// The least cap that every kernel takes on a machine with few processors; one with many takes more.
const LEAST_CAP: u32 = 301;
/// No cap is tried beyond this.
const GREATEST_CAP: u32 = 1 << 15;

/// Makes a socket that listens where the command is told that its proxy is, and hands it over.
///
/// # Safety
/// Runs after a `clone` into a network namespace of its own, with its loopback up; the handle is a socket.
pub(crate) unsafe fn pass_listener(to: RawFd) -> bool {
    // SAFETY: structures as the kernel wants them, living here; the control buffer is as long as said.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        let mut at: libc::sockaddr_in = std::mem::zeroed();
        at.sin_family = libc::AF_INET as libc::sa_family_t;
        at.sin_port = crate::way_out::PORT.to_be();
        at.sin_addr.s_addr = u32::from(std::net::Ipv4Addr::LOCALHOST).to_be();
        let length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        if socket < 0
            || libc::bind(socket, (&raw const at).cast(), length) != 0
            || libc::listen(socket, 128) != 0
        {
            return false;
        }
        let mut byte = 0u8;
        let mut piece = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
        let mut control = [0u64; 8];
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut piece;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        let size = size_of::<RawFd>() as u32;
        message.msg_controllen = libc::CMSG_SPACE(size) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size) as _;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(socket);
        let sent = libc::sendmsg(to, &raw const message, libc::MSG_NOSIGNAL) == 1;
        libc::close(socket);
        libc::close(to);
        sent
    }
}

/// Caps how many processes this namespace holds, where the kernel counts them by namespace. Elsewhere the
/// same file is the whole machine's, and root may write it: nothing is done there.
///
/// # Safety
/// Runs after a `clone` into a PID namespace of its own, with its `/proc` mounted.
pub(crate) unsafe fn cap_processes(most: u32) -> bool {
    // SAFETY: a plain system call, and literal path.
    unsafe {
        if !counts_processes() {
            return false;
        }
        let mut cap = most.max(LEAST_CAP);
        // The least that is taken grows with the number of processors.
        while cap <= GREATEST_CAP {
            if write_number(c"/proc/sys/kernel/pid_max", cap) {
                return true;
            }
            cap = cap.saturating_mul(2);
        }
        false
    }
}

/// Caps processes where nothing else counts them. All commands of a user are counted together then, and root's
/// are not.
///
/// # Safety
/// Runs after a `clone`.
pub(crate) unsafe fn limit_processes(most: u32) {
    // SAFETY: structures that live here.
    unsafe {
        let mut now: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_NPROC, &raw mut now);
        let most = libc::rlim_t::from(most).min(now.rlim_max);
        let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        libc::setrlimit(libc::RLIMIT_NPROC, &raw const limit);
    }
}

/// Whether the kernel counts processes by namespace (its `pid_max`): since Linux 6.14.
pub(crate) fn counts_processes() -> bool {
    // SAFETY: the structure lives here; the kernel ends its texts with a NUL.
    unsafe {
        let mut names: libc::utsname = std::mem::zeroed();
        if libc::uname(&raw mut names) != 0 {
            return false;
        }
        let mut version = [0u32; 2];
        let mut part = 0;
        for byte in names.release.map(|byte| byte as u8) {
            match byte {
                b'0'..=b'9' => {
                    version[part] =
                        version[part].wrapping_mul(10).wrapping_add((byte - b'0').into());
                }
                b'.' if part == 0 => part = 1,
                _ => break,
            }
        }
        version >= [6, 14]
    }
}

/// Writes a number to a file of the kernel's.
unsafe fn write_number(path: &CStr, number: u32) -> bool {
    let mut digits = [b'0'; 10];
    let (mut at, mut left) = (digits.len(), number);
    while left > 0 && at > 0 {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
    }
    let text = &digits[at..];
    // SAFETY: NUL-terminated path, text as long as said.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        let written = file >= 0 && libc::write(file, text.as_ptr().cast(), text.len()) > 0;
        libc::close(file);
        written
    }
}

/// How much sooner than others a command is ended when the machine runs out of memory, of 1000.
const SOONER: u32 = 500;

/// Gives up what the command must not have: privileges, capabilities, writing elsewhere, system calls.
/// What could not be given up is told by its stage.
///
/// # Safety
/// Runs in the process that becomes the command.
pub(crate) unsafe fn give_up(confining: &Confining, rules: RawFd) -> Result<(), Stage> {
    // SAFETY: plain system calls; the program lives in the plan.
    unsafe {
        let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // It is to go before others when memory runs out. What is refused here was higher already.
        let _ = write_number(c"/proc/self/oom_score_adj", SOONER);
        // Root's files in there are the machine's, and a confined root is root to them.
        if !seal(c"/proc") {
            return Err(stage::PROC);
        }
        if libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core) != 0
            || libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || !drop_capabilities(confining.capabilities)
        {
            return Err(stage::GIVE_UP);
        }
        if !landlock::restrict(rules) {
            return Err(stage::RULES);
        }
        let program = libc::sock_fprog {
            len: confining.filter.len() as u16,
            filter: confining.filter.as_ptr().cast_mut(),
        };
        match libc::prctl(libc::PR_SET_SECCOMP, 2 as c_ulong, &raw const program) {
            0 => Ok(()),
            _ => Err(stage::FILTER),
        }
    }
}

#[repr(C)]
struct Header {
    version: u32,
    pid: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Sets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Leaves these capabilities, in every set, for good.
unsafe fn drop_capabilities(keep: u64) -> bool {
    // SAFETY: structures as the kernel wants them, living here.
    unsafe {
        for capability in 0..64 {
            let is_kept = keep & (1 << capability) != 0;
            // The last of them is known by the refusal of the next.
            if !is_kept && libc::prctl(libc::PR_CAPBSET_DROP, capability as c_ulong, 0, 0, 0) != 0 {
                if *libc::__errno_location() == libc::EINVAL {
                    break;
                }
                return false;
            }
        }
        libc::prctl(libc::PR_CAP_AMBIENT, 4 as c_ulong, 0, 0, 0);
        let header = Header { version: 0x2008_0522, pid: 0 };
        let half = |shift: u32| {
            let bits = (keep >> shift) as u32;
            Sets { effective: bits, permitted: bits, inheritable: 0 }
        };
        let sets = [half(0), half(32)];
        let call: c_long = libc::SYS_capset;
        libc::syscall(call, &raw const header, sets.as_ptr()) == 0
    }
}
