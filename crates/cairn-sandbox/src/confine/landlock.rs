//! Landlock: the command may read what its root shows, and write only where it may. Made after the
//! `clone`, so it makes system calls only.
#![expect(unsafe_code, reason = "system calls between clone and exec")]

use libc::{c_int, c_long};
use std::ffi::CString;
use std::os::fd::RawFd;

const CREATE: c_long = 444;
const ADD_RULE: c_long = 445;
const RESTRICT: c_long = 446;

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
/// Everything that the first version knows.
const FIRST: u64 = (1 << 13) - 1;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;

/// What the kernel can refuse: the rights over files, and what else it keeps a command from reaching.
#[repr(C)]
#[derive(Clone, Copy)]
struct Rules {
    files: u64,
    net: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct Beneath {
    allowed: u64,
    parent: c_int,
}

/// The version that the kernel knows; 0 when it knows none.
pub(crate) fn version() -> c_int {
    // SAFETY: this form of the call reads nothing.
    let version = unsafe { libc::syscall(CREATE, std::ptr::null::<u8>(), 0usize, 1u32) };
    c_int::try_from(version).unwrap_or(0).max(0)
}

fn rules(version: c_int) -> Rules {
    let mut files = FIRST;
    for (since, right) in [(2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)] {
        if version >= since {
            files |= right;
        }
    }
    // Abstract sockets and signals end at the command's own processes.
    Rules { files, net: 0, scoped: if version >= 6 { 3 } else { 0 } }
}

/// Makes the rules: read everything, write beneath these directories. The result is a handle, or negative.
///
/// # Safety
/// Runs after a `clone`; the paths are NUL-terminated.
pub(crate) unsafe fn make(writable: &[CString]) -> RawFd {
    let version = version();
    if version < 1 {
        // SAFETY: the place of this thread's error number.
        unsafe { *libc::__errno_location() = libc::ENOSYS };
        return -1;
    }
    let rules = rules(version);
    let size = if version >= 6 {
        24usize
    } else if version >= 4 {
        16
    } else {
        8
    };
    // SAFETY: the structure is at least as long as said.
    unsafe {
        let made = libc::syscall(CREATE, &raw const rules, size, 0u32) as RawFd;
        if made < 0 {
            return -1;
        }
        let read = EXECUTE | READ_FILE | READ_DIR;
        let device = rules.files & (WRITE_FILE | READ_FILE | READ_DIR | TRUNCATE | IOCTL_DEV);
        let ok = allow(made, c"/".as_ptr(), read)
            && allow(made, c"/dev".as_ptr(), device)
            && writable.iter().all(|path| allow(made, path.as_ptr(), rules.files));
        if !ok {
            return -1;
        }
        // Out of the way of the three that the command is given.
        libc::fcntl(made, libc::F_DUPFD_CLOEXEC, 10)
    }
}

unsafe fn allow(rules: RawFd, path: *const libc::c_char, allowed: u64) -> bool {
    // SAFETY: the path is NUL-terminated, the structure lives here.
    unsafe {
        let parent = libc::open(path, libc::O_PATH | libc::O_CLOEXEC);
        if parent < 0 {
            return false;
        }
        let beneath = Beneath { allowed, parent };
        let added = libc::syscall(ADD_RULE, rules, 1u32, &raw const beneath, 0u32);
        libc::close(parent);
        added == 0
    }
}

/// Puts this process and all it starts under the rules.
///
/// # Safety
/// Runs after a `clone`, with `no_new_privs` set.
pub(crate) unsafe fn restrict(rules: RawFd) -> bool {
    // SAFETY: a plain system call on our handle.
    unsafe { libc::syscall(RESTRICT, rules, 0u32) == 0 }
}
