//! Places in the new root, reached name by name from a handle of it and never through a link: an earlier
//! command may have put links into what it is shown of its own home. System calls only.
#![expect(unsafe_code, reason = "system calls between clone and exec")]

use libc::c_char;
use std::ffi::CStr;
use std::os::fd::RawFd;

/// The longest name, with its end.
const NAME: usize = 256;
/// Room for `/proc/self/fd/` and a number, with its end.
pub(super) const NUMBERED: usize = 32;

/// What stands at the end of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    /// It is there.
    There,
    /// A directory, which is made if it is missing. What is no directory gives way.
    Directory,
    /// A file, which is made if it is missing. What is no file gives way.
    File,
}

/// A handle of a place beneath the current directory; negative where there is none.
///
/// # Safety
/// Runs after a `clone`.
pub(super) unsafe fn reach(at: &CStr, last: Last) -> RawFd {
    // SAFETY: as for this function.
    unsafe {
        match at_once(at, last) {
            found if found >= 0 => found,
            _ => by_names(at, last),
        }
    }
}

/// The same in one call, for what is there already.
unsafe fn at_once(at: &CStr, last: Last) -> RawFd {
    let more = if last == Last::Directory { libc::O_DIRECTORY } else { 0 };
    // SAFETY: a structure as the kernel wants it, living here; the path has its end.
    unsafe {
        let mut how: libc::open_how = std::mem::zeroed();
        how.flags = (libc::O_PATH | libc::O_CLOEXEC | more) as u64;
        how.resolve = libc::RESOLVE_BENEATH | libc::RESOLVE_NO_SYMLINKS;
        let size = size_of::<libc::open_how>();
        libc::syscall(libc::SYS_openat2, libc::AT_FDCWD, at.as_ptr(), &raw const how, size) as RawFd
    }
}

unsafe fn by_names(at: &CStr, last: Last) -> RawFd {
    let path = at.to_bytes();
    // SAFETY: names are copied with their end; handles are ours.
    unsafe {
        let mut dir = libc::open(c".".as_ptr(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC);
        let mut from = 0;
        while dir >= 0 && from < path.len() {
            let to = path[from..].iter().position(|b| *b == b'/').map_or(path.len(), |n| from + n);
            let name = &path[from..to];
            let is_last = to == path.len();
            from = to + 1;
            if name.is_empty() {
                continue;
            }
            let mut text = [0u8; NAME];
            if name.len() >= NAME {
                *libc::__errno_location() = libc::ENAMETOOLONG;
                close(dir);
                return -1;
            }
            text[..name.len()].copy_from_slice(name);
            let kind = if is_last || last == Last::There { last } else { Last::Directory };
            let next = step(dir, text.as_ptr().cast(), kind);
            close(dir);
            dir = next;
        }
        dir
    }
}

unsafe fn step(dir: RawFd, name: *const c_char, last: Last) -> RawFd {
    let flags = libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: the name has its end; the handle is ours.
    unsafe {
        let open = |more| libc::openat(dir, name, flags | more);
        let make = || match last {
            Last::There => false,
            Last::Directory => libc::mkdirat(dir, name, 0o755) == 0,
            Last::File => {
                let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_CLOEXEC;
                let made = libc::openat(dir, name, flags, 0o644);
                close(made);
                made >= 0
            }
        };
        let more = if last == Last::Directory { libc::O_DIRECTORY } else { 0 };
        let found = open(more);
        if found >= 0 {
            let is_wanted = last != Last::File || !is_link(found);
            if is_wanted {
                return found;
            }
            close(found);
        } else if *libc::__errno_location() == libc::ENOENT {
            // Another command may have made it just now, in a home that they share.
            let is_there = make() || *libc::__errno_location() == libc::EEXIST;
            return if is_there { open(more) } else { -1 };
        }
        if last == Last::There {
            return -1;
        }
        // A link, or something of another kind: it is in a place that only commands write to.
        let gone = libc::unlinkat(dir, name, 0) == 0;
        if gone && make() { open(more) } else { -1 }
    }
}

unsafe fn is_link(handle: RawFd) -> bool {
    // SAFETY: the structure lives here.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        libc::fstat(handle, &raw mut stat) == 0 && stat.st_mode & libc::S_IFMT == libc::S_IFLNK
    }
}

/// Closes a handle without touching the error number.
pub(super) unsafe fn close(handle: RawFd) {
    // SAFETY: the handle is ours; the place is this thread's error number.
    unsafe {
        let errno = *libc::__errno_location();
        libc::close(handle);
        *libc::__errno_location() = errno;
    }
}

/// A text put together without allocating.
pub(super) struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Text<N> {
    pub(super) fn new() -> Text<N> {
        Text { bytes: [0; N], length: 0 }
    }

    /// Adds a text; what does not fit, with its end, is left out.
    pub(super) fn add(mut self, text: &[u8]) -> Text<N> {
        let room = N.saturating_sub(self.length + 1);
        let fits = text.len().min(room);
        self.bytes[self.length..self.length + fits].copy_from_slice(&text[..fits]);
        self.length += fits;
        self
    }

    /// Adds the path under which the system knows a handle.
    pub(super) fn handle(self, handle: RawFd) -> Text<N> {
        let mut digits = [0u8; 10];
        let (mut at, mut left) = (digits.len(), handle.unsigned_abs());
        loop {
            at -= 1;
            digits[at] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 || at == 0 {
                break;
            }
        }
        self.add(b"/proc/self/fd/").add(&digits[at..])
    }

    pub(super) fn as_ptr(&self) -> *const c_char {
        self.bytes.as_ptr().cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_named_by_its_number() {
        let named = |handle| {
            let text = Text::<NUMBERED>::new().handle(handle);
            // SAFETY: the text has its end.
            unsafe { CStr::from_ptr(text.as_ptr()) }.to_str().unwrap().to_owned()
        };
        assert_eq!(named(0), "/proc/self/fd/0");
        assert_eq!(named(1_048_576), "/proc/self/fd/1048576");
    }
}
