//! What the kernel lets a confined command call: everything but ways to other address families than IP and
//! Unix, to namespaces and mounts, to keys, to the kernel itself, and any call of another architecture.

use libc::{c_long, sock_filter};

/// Calls that are refused as if they were not permitted.
const REFUSED: &[c_long] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_chroot,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_acct,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_lookup_dcookie,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Calls that are refused as if the kernel did not know them, so that programs do without.
const UNKNOWN: &[c_long] =
    &[libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// Calls that look at other processes; refused where nothing needs a debugger.
const WATCHING: &[c_long] =
    &[libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev];

/// Families of addresses that sockets may have.
const FAMILIES: [i32; 3] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6];

/// The old kind of raw socket.
const SOCK_PACKET: i32 = 10;

/// Flags of `clone` that ask for namespaces.
const NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u32
    | 0x80;

/// Terminal calls that put words into somebody else's mouth.
const TYPING: [u32; 2] = [0x5412, 0x541c];

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

/// Where `struct seccomp_data` keeps the number, the architecture, and the low half of an argument.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const fn argument(n: u32) -> u32 {
    16 + 8 * n
}

const LOAD: u16 = 0x20;
const EQUAL: u16 = 0x15;
const AT_LEAST: u16 = 0x35;
const ANY_OF: u16 = 0x45;
const MASK: u16 = 0x54;
const GIVE: u16 = 0x06;

const ALLOW: u32 = 0x7fff_0000;
const KILL: u32 = 0x8000_0000;
const fn errno(number: i32) -> u32 {
    0x0005_0000 | number as u32
}

/// A program under construction. Every check stands by itself: it loads what it needs and either gives a
/// verdict or goes on with the next.
struct Program(Vec<sock_filter>);

impl Program {
    fn add(&mut self, code: u16, k: u32, (yes, no): (u8, u8)) {
        self.0.push(sock_filter { code, jt: yes, jf: no, k });
    }

    fn give(&mut self, verdict: u32) {
        self.add(GIVE, verdict, (0, 0));
    }

    /// These calls get this verdict. The number is loaded.
    fn calls(&mut self, numbers: &[c_long], verdict: u32) {
        for number in numbers {
            self.add(EQUAL, *number as u32, (0, 1));
            self.give(verdict);
        }
    }

    /// The checks that `inner` makes are for this call alone; the number is loaded before and after.
    fn within(&mut self, number: c_long, inner: impl FnOnce(&mut Program)) {
        let mut body = Program(Vec::new());
        inner(&mut body);
        body.add(LOAD, NUMBER, (0, 0));
        // A body is at most a few dozen instructions long.
        let length = u8::try_from(body.0.len()).unwrap_or(u8::MAX);
        self.add(EQUAL, number as u32, (0, length));
        self.0.append(&mut body.0);
    }
}

/// The program for a command; `watching` lets it debug its own.
pub(crate) fn filter(watching: bool) -> Vec<sock_filter> {
    let mut program = Program(Vec::new());
    program.add(LOAD, ARCH, (0, 0));
    program.add(EQUAL, ARCHITECTURE, (1, 0));
    program.give(KILL);
    program.add(LOAD, NUMBER, (0, 0));
    #[cfg(target_arch = "x86_64")]
    {
        // The calls of x32 have this bit.
        program.add(AT_LEAST, 0x4000_0000, (0, 1));
        program.give(KILL);
    }
    program.calls(REFUSED, errno(libc::EPERM));
    program.calls(UNKNOWN, errno(libc::ENOSYS));
    if !watching {
        program.calls(WATCHING, errno(libc::EPERM));
    }
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        program.within(call, sockets);
    }
    program.within(libc::SYS_clone, |program| {
        program.add(LOAD, argument(0), (0, 0));
        program.add(ANY_OF, NAMESPACES, (0, 1));
        program.give(errno(libc::EPERM));
    });
    // Its flags are in memory, where they cannot be checked: libraries fall back to `clone`.
    program.calls(&[libc::SYS_clone3], errno(libc::ENOSYS));
    program.within(libc::SYS_ioctl, |program| {
        program.add(LOAD, argument(1), (0, 0));
        for typing in TYPING {
            program.add(EQUAL, typing, (0, 1));
            program.give(errno(libc::EPERM));
        }
    });
    program.give(ALLOW);
    program.0
}

/// Only these families, and nothing raw.
fn sockets(program: &mut Program) {
    program.add(LOAD, argument(0), (0, 0));
    for (n, family) in (1u8..).zip(FAMILIES) {
        let left = FAMILIES.len() as u8 - n;
        program.add(EQUAL, family as u32, (left + 1, 0));
    }
    program.give(errno(libc::EAFNOSUPPORT));
    program.add(LOAD, argument(1), (0, 0));
    program.add(MASK, 0xf, (0, 0));
    for raw in [libc::SOCK_RAW, SOCK_PACKET] {
        program.add(EQUAL, raw as u32, (0, 1));
        program.give(errno(libc::EPERM));
    }
}
