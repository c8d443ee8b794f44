//! Carries the steps out: builds the new root, goes there, and leaves the machine's behind. Runs after a
//! bare `clone`, so it makes system calls only.
#![expect(unsafe_code, reason = "system calls between clone and exec")]

use super::steps::{Bind, Root, Step};
use super::within::{Last, NUMBERED, Text, close, reach};
use libc::{c_char, c_long, c_ulong, c_void};
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

/// The place is named by its handle alone.
const TO_EMPTY_PATH: u32 = 0x40;

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

/// Builds a root and stands in it. What is mounted from here on stays in this namespace; what the machine
/// mounts is seen while `follows` says so.
///
/// # Safety
/// Runs after a `clone` into a mount namespace of its own; every text of `root` is NUL-terminated.
pub(crate) unsafe fn build(root: &Root, follows: bool) -> Result<(), Stage> {
    let none: *const c_void = ptr::null();
    let flags = libc::MS_NOSUID | libc::MS_NODEV;
    // SAFETY: literal and NUL-terminated texts, and null where mount(2) allows it.
    unsafe {
        let own = libc::MS_REC | if follows { libc::MS_SLAVE } else { libc::MS_PRIVATE };
        if libc::mount(ptr::null(), c"/".as_ptr(), ptr::null(), own, none) != 0 {
            return Err(PRIVATE);
        }
        let base = root.base.as_ptr();
        let tmpfs = c"tmpfs".as_ptr();
        let options = c"mode=755,size=4m".as_ptr();
        if libc::mount(tmpfs, base, tmpfs, flags, options.cast()) != 0 || libc::chdir(base) != 0 {
            return Err(BASE);
        }
        let umask = libc::umask(0);
        for (stage, step) in (STEPS..).zip(&root.steps) {
            if !carry_out(step) {
                return Err(stage);
            }
        }
        libc::umask(umask);
    }
    Ok(())
}

/// Makes the root that was built the only one, and goes to a directory in it.
///
/// # Safety
/// Runs after `build`, in the same process.
pub(crate) unsafe fn enter(cwd: &CStr) -> Result<(), Stage> {
    let here = c".".as_ptr();
    // SAFETY: NUL-terminated texts.
    unsafe {
        if libc::syscall(libc::SYS_pivot_root, here, here) != 0
            || libc::umount2(here, libc::MNT_DETACH) != 0
            || !seal(c"/")
        {
            return Err(ENTER);
        }
        if libc::chdir(cwd.as_ptr()) != 0 {
            return Err(DIRECTORY);
        }
    }
    Ok(())
}

unsafe fn carry_out(step: &Step) -> bool {
    let quiet = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    // SAFETY: the texts are NUL-terminated; the handles are ours.
    unsafe {
        match step {
            Step::Directory(at) => is_there(at, Last::Directory),
            Step::File(at) => is_there(at, Last::File),
            // Links are made in the root itself, before anything is shown in it.
            Step::Link { to, at } => {
                libc::symlink(to.as_ptr(), at.as_ptr()) == 0
                    || *libc::__errno_location() == libc::EEXIST
            }
            Step::Bind(bind) => upon(&bind.at, |at| show(bind, at)),
            Step::Cover(bind) => upon(&bind.at, |at| show(bind, at)) || is_gone(&bind.at),
            Step::Empty { at, options } => {
                let flags = libc::MS_NOSUID | libc::MS_NODEV;
                upon(at, |at| mount(c"tmpfs", at, flags, options.as_ptr()))
            }
            Step::Overlay { lower, layer, at } => upon(at, |at| overlay(lower, layer, at)),
            Step::Refresh(at) => refresh(at),
            Step::Proc(at) => upon(at, |at| mount(c"proc", at, quiet, ptr::null())),
            Step::Terminals(at) => {
                let options = c"newinstance,ptmxmode=0666,mode=620".as_ptr();
                let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
                upon(at, |at| mount(c"devpts", at, flags, options))
            }
        }
    }
}

unsafe fn is_there(at: &CStr, last: Last) -> bool {
    // SAFETY: the handle is ours.
    unsafe {
        let handle = reach(at, last);
        close(handle);
        handle >= 0
    }
}

/// Does something with a handle of a place in the new root.
unsafe fn upon(at: &CStr, work: impl FnOnce(RawFd) -> bool) -> bool {
    // SAFETY: the handle is ours.
    unsafe {
        let handle = reach(at, Last::There);
        let done = handle >= 0 && work(handle);
        close(handle);
        done
    }
}

/// Whether nothing is at a place in the new root.
unsafe fn is_gone(at: &CStr) -> bool {
    // SAFETY: the handle is ours.
    unsafe {
        let error = *libc::__errno_location();
        let handle = reach(at, Last::There);
        let is_gone = handle < 0 && *libc::__errno_location() == libc::ENOENT;
        close(handle);
        *libc::__errno_location() = error;
        is_gone
    }
}

/// Mounts a file system of this kind upon a place.
unsafe fn mount(kind: &CStr, at: RawFd, flags: c_ulong, options: *const c_char) -> bool {
    let at = Text::<NUMBERED>::new().handle(at);
    // SAFETY: the texts have their ends.
    unsafe { libc::mount(kind.as_ptr(), at.as_ptr(), kind.as_ptr(), flags, options.cast()) == 0 }
}

/// Lets nothing be written to the mount at this place.
///
/// # Safety
/// Runs after a `clone` into a mount namespace of its own.
pub(crate) unsafe fn seal(at: &CStr) -> bool {
    // SAFETY: NUL-terminated.
    unsafe { attributes(libc::AT_FDCWD, at.as_ptr(), READ_ONLY, 0) }
}

/// Shows something of the machine here, if it is what it must be.
unsafe fn show(bind: &Bind, at: RawFd) -> bool {
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
                let (here, both) = (c"".as_ptr(), FROM_EMPTY_PATH | TO_EMPTY_PATH);
                libc::syscall(MOVE_MOUNT, tree, here, at, here, both) == 0
            };
            close(tree);
            moved
        };
        close(from);
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
/// and none has to be quoted. Nothing of its layer is synced: its end would otherwise sync the whole file
/// system beneath it.
unsafe fn overlay(lower: &Bind, layer: &CStr, at: RawFd) -> bool {
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: NUL-terminated texts; the handles are ours.
    unsafe {
        let below = libc::open(lower.from.as_ptr(), flags);
        let above = libc::open(layer.as_ptr(), flags);
        let options = Text::<192>::new().add(b"lowerdir=").handle(below);
        let options = options.add(b",upperdir=").handle(above).add(b"/upper,workdir=");
        let options = options.handle(above).add(b"/work,userxattr,volatile");
        let mode = libc::MS_NOSUID | libc::MS_NODEV;
        let made = below >= 0
            && above >= 0
            && is(below, lower.is)
            && mount(c"overlay", at, mode, options.as_ptr());
        close(below);
        close(above);
        made
    }
}

/// An overlay remembers names that it looked up, and those that were not there; what was changed beneath it is seen
/// once they are forgotten, as they are when it is mounted again.
unsafe fn refresh(at: &CStr) -> bool {
    let (none, flags) = (ptr::null(), libc::MS_REMOUNT | libc::MS_NOSUID | libc::MS_NODEV);
    // SAFETY: NUL-terminated, and null where mount(2) allows it.
    unsafe { libc::mount(none, at.as_ptr(), none, flags, none.cast()) == 0 }
}

unsafe fn attributes(at: RawFd, path: *const c_char, set: u64, flags: u32) -> bool {
    let wanted = Attributes { set, clear: 0, propagation: 0, user_ns: 0 };
    let size = size_of::<Attributes>();
    // SAFETY: the structure lives here and is as long as said.
    unsafe { libc::syscall(SET_ATTRIBUTES, at, path, flags, &raw const wanted, size) == 0 }
}
