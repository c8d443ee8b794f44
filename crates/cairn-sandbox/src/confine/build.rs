//! Carries the steps out: builds the new root, goes there, and leaves the machine's behind. Runs after a
//! bare `clone`, so it makes system calls only.
#![expect(unsafe_code, reason = "system calls between clone and exec")]

use super::steps::{Bind, Confining, Step};
use libc::{c_char, c_int, c_long, c_ulong, c_void};
use std::ffi::CStr;
use std::os::fd::RawFd;
use std::ptr;

const OPEN_TREE: c_long = libc::SYS_open_tree;
const MOVE_MOUNT: c_long = libc::SYS_move_mount;
const SET_ATTRIBUTES: c_long = libc::SYS_mount_setattr;

const CLONE_TREE: u32 = 1;
const RECURSIVE: u32 = 0x8000;
const FROM_EMPTY_PATH: u32 = 0x4;

const READ_ONLY: u64 = 1;
const NO_SETUID: u64 = 2;
const NO_DEVICES: u64 = 4;

/// Handles under which an overlay's directories are named while it is mounted.
const LOWER: RawFd = 100;
const LAYER: RawFd = 101;
/// Nothing of a layer is synced: its end would otherwise sync the whole file system beneath it.
const OVERLAY: &CStr = c"lowerdir=/proc/self/fd/100,upperdir=/proc/self/fd/101/upper,workdir=/proc/self/fd/101/work,userxattr,volatile";

#[repr(C)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_ns: u64,
}

/// Where it failed, when it did: a stage by number. The error number says why.
pub(crate) type Stage = i32;

/// The root of the machine could not be made private.
pub(crate) const PRIVATE: Stage = 1;
/// The base of the new root could not be mounted.
pub(crate) const BASE: Stage = 2;
/// The new root could not be entered.
pub(crate) const ENTER: Stage = 3;
/// The directory is not there.
pub(crate) const DIRECTORY: Stage = 4;
/// The first of the steps; the others follow.
pub(crate) const STEPS: Stage = 16;

/// Builds the root and enters it.
///
/// # Safety
/// Runs after a `clone` into namespaces of its own; every text of `confining` is NUL-terminated.
pub(crate) unsafe fn build(confining: &Confining) -> Result<(), Stage> {
    let none: *const c_void = ptr::null();
    let flags = libc::MS_NOSUID | libc::MS_NODEV;
    // SAFETY: literal and NUL-terminated texts, and null where mount(2) allows it.
    unsafe {
        let private = libc::MS_REC | libc::MS_PRIVATE;
        if libc::mount(ptr::null(), c"/".as_ptr(), ptr::null(), private, none) != 0 {
            return Err(PRIVATE);
        }
        let base = confining.base.as_ptr();
        if empty(base, c"mode=755,size=4m".as_ptr(), flags) != 0 || libc::chdir(base) != 0 {
            return Err(BASE);
        }
        libc::umask(0);
        for (stage, step) in (STEPS..).zip(&confining.steps) {
            if !carry_out(step) {
                return Err(stage);
            }
        }
        libc::umask(0o022);
        let here = c".".as_ptr();
        if libc::syscall(libc::SYS_pivot_root, here, here) != 0
            || libc::umount2(here, libc::MNT_DETACH) != 0
            || !seal(c"/")
        {
            return Err(ENTER);
        }
        if libc::chdir(confining.cwd.as_ptr()) != 0 {
            return Err(DIRECTORY);
        }
    }
    Ok(())
}

unsafe fn carry_out(step: &Step) -> bool {
    let quiet = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    let none: *const c_void = ptr::null();
    // SAFETY: the texts are NUL-terminated.
    unsafe {
        match step {
            Step::Directory(at) => exists(libc::mkdir(at.as_ptr(), 0o755)),
            Step::File(at) => {
                let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_CLOEXEC;
                let made = libc::open(at.as_ptr(), flags | libc::O_EXCL, 0o644);
                close_keeping_error(made);
                exists(made)
            }
            Step::Link { to, at } => exists(libc::symlink(to.as_ptr(), at.as_ptr())),
            Step::Bind(bind) => show(bind, bind.at.as_ptr()),
            Step::Empty { at, options } => {
                empty(at.as_ptr(), options.as_ptr(), libc::MS_NOSUID | libc::MS_NODEV) == 0
            }
            Step::Overlay { lower, layer, at } => overlay(lower, layer, at.as_ptr()),
            Step::Proc(at) => {
                let proc = c"proc".as_ptr();
                libc::mount(proc, at.as_ptr(), proc, quiet, none) == 0
            }
            Step::Terminals(at) => {
                let (kind, flags) = (c"devpts".as_ptr(), libc::MS_NOSUID | libc::MS_NOEXEC);
                let options = c"newinstance,ptmxmode=0666,mode=620".as_ptr();
                libc::mount(kind, at.as_ptr(), kind, flags, options.cast()) == 0
            }
            Step::Seal(at) => seal(at),
        }
    }
}

/// Lets nothing be written to the mount at this place.
///
/// # Safety
/// Runs after a `clone` into a mount namespace of its own.
pub(crate) unsafe fn seal(at: &CStr) -> bool {
    // SAFETY: NUL-terminated.
    unsafe { attributes(libc::AT_FDCWD, at.as_ptr(), READ_ONLY, 0) }
}

unsafe fn empty(at: *const c_char, options: *const c_char, flags: c_ulong) -> c_int {
    let kind = c"tmpfs".as_ptr();
    // SAFETY: the caller vouches for the texts.
    unsafe { libc::mount(kind, at, kind, flags, options.cast()) }
}

/// Whether something was made, or was there.
unsafe fn exists(made: c_int) -> bool {
    // SAFETY: the place of this thread's error number.
    made >= 0 || unsafe { *libc::__errno_location() } == libc::EEXIST
}

/// Shows something of the machine here, if it is what it must be.
unsafe fn show(bind: &Bind, at: *const c_char) -> bool {
    // SAFETY: the caller vouches for the texts; the handles are ours.
    unsafe {
        let from = libc::open(bind.from.as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        if from < 0 {
            return bind.optional;
        }
        let shown = is(from, bind.is) && {
            let flags =
                CLONE_TREE | RECURSIVE | libc::AT_EMPTY_PATH as u32 | libc::O_CLOEXEC as u32;
            let tree = libc::syscall(OPEN_TREE, from, c"".as_ptr(), flags) as RawFd;
            let set = NO_SETUID
                | if bind.write { 0 } else { READ_ONLY }
                | if bind.devices { 0 } else { NO_DEVICES };
            let recursive = RECURSIVE | libc::AT_EMPTY_PATH as u32;
            let moved = tree >= 0 && attributes(tree, c"".as_ptr(), set, recursive) && {
                let to = libc::AT_FDCWD;
                libc::syscall(MOVE_MOUNT, tree, c"".as_ptr(), to, at, FROM_EMPTY_PATH) == 0
            };
            close_keeping_error(tree);
            moved
        };
        close_keeping_error(from);
        shown
    }
}

/// Whether a handle is of this device and number.
unsafe fn is(handle: RawFd, expected: Option<(u64, u64)>) -> bool {
    let Some((device, number)) = expected else { return true };
    // SAFETY: the structure lives here.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        let same = libc::fstat(handle, &raw mut stat) == 0
            && (stat.st_dev, stat.st_ino) == (device, number);
        if !same {
            *libc::__errno_location() = libc::ESTALE;
        }
        same
    }
}

/// Mounts a copy-on-write view. Its directories are named by handles, so that no path is looked up twice
/// and none has to be quoted.
unsafe fn overlay(lower: &Bind, layer: &CStr, at: *const c_char) -> bool {
    let open = |path: *const c_char, number: RawFd| {
        let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
        // SAFETY: NUL-terminated, and the numbers are used by nobody else here.
        unsafe {
            let handle = libc::open(path, flags);
            let named = handle >= 0 && libc::dup3(handle, number, libc::O_CLOEXEC) >= 0;
            close_keeping_error(handle);
            named
        }
    };
    // SAFETY: literal and NUL-terminated texts.
    unsafe {
        let (kind, flags) = (c"overlay".as_ptr(), libc::MS_NOSUID | libc::MS_NODEV);
        let made = open(lower.from.as_ptr(), LOWER)
            && is(LOWER, lower.is)
            && open(layer.as_ptr(), LAYER)
            && libc::mount(kind, at, kind, flags, OVERLAY.as_ptr().cast()) == 0;
        close_keeping_error(LOWER);
        close_keeping_error(LAYER);
        made
    }
}

unsafe fn attributes(at: RawFd, path: *const c_char, set: u64, flags: u32) -> bool {
    let wanted = Attributes { set, clear: 0, propagation: 0, user_ns: 0 };
    let size = size_of::<Attributes>();
    // SAFETY: the structure lives here and is as long as said.
    unsafe { libc::syscall(SET_ATTRIBUTES, at, path, flags, &raw const wanted, size) == 0 }
}

unsafe fn close_keeping_error(handle: RawFd) {
    // SAFETY: the handle is ours; the place is this thread's error number.
    unsafe {
        let errno = *libc::__errno_location();
        libc::close(handle);
        *libc::__errno_location() = errno;
    }
}
