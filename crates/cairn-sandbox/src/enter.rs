//! Starts a guardian from the ground that confined commands share: a short-lived copy of this process enters the
//! ground's namespaces, and the guardian it starts there is this process's own child.
#![expect(unsafe_code, reason = "system calls between clone and exec")]

use crate::group::Group;
use crate::guard::{self, Plan};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// Namespaces that each command has for itself.
const OWN: libc::c_int =
    libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWNET | libc::CLONE_NEWIPC;

/// A plan that another thread may use while its owner waits.
struct Lent<'a>(&'a Plan);

// SAFETY: a plan is only read, and in a copy of the process.
unsafe impl Sync for Lent<'_> {}

/// Starts a guardian in these user and mount namespaces, and in this group.
pub(crate) fn start(plan: &Plan, ground: [RawFd; 2], group: Option<&Group>) -> io::Result<OwnedFd> {
    let (told, tell) = pipe_with(PipeFlags::CLOEXEC)?;
    let (lent, to) = (Lent(plan), tell.as_raw_fd());
    // SAFETY: with every signal blocked no handler runs in the copy. It only runs `usher`, which makes
    // system calls and never returns; the plan's pointers live in the caller's frame, of which it has a
    // copy.
    let make = |into: Option<&OwnedFd>| {
        let lent = &lent;
        guard::unsignalled(|| unsafe {
            let made = match into {
                Some(group) => guard::clone_into(group.as_raw_fd()),
                None => guard::clone(0, std::ptr::null_mut()),
            };
            if made == 0 {
                usher(lent.0, ground, to);
            }
            made
        })
    };
    let usher = match group {
        Some(group) => group.start(&make)?,
        None => make(None)?,
    };
    drop(tell);
    let mut number = [0; 4];
    let length = rustix::io::retry_on_intr(|| rustix::io::read(&told, &mut number));
    guard::reap(usher);
    match (length?, i32::from_le_bytes(number)) {
        // The guardian is our child: its number is its own until we have waited for it.
        (4, pid) if pid > 0 => match Pid::from_raw(pid) {
            Some(pid) => Ok(pidfd_open(pid, PidfdFlags::empty())?),
            None => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        },
        (4, errno) => Err(io::Error::from_raw_os_error(-errno)),
        _ => Err(io::Error::from_raw_os_error(libc::ESRCH)),
    }
}

/// Enters the namespaces, starts the guardian as a child of our parent, tells its number and ends.
unsafe fn usher(plan: &Plan, [user, mount]: [RawFd; 2], tell: RawFd) -> ! {
    // SAFETY: plain system calls on handles that outlive this; the guardian gets a plan that is valid.
    unsafe {
        let entered = libc::setns(user, libc::CLONE_NEWUSER) == 0
            && libc::setns(mount, libc::CLONE_NEWNS) == 0
            // To enter another user namespace closes a process to itself.
            && libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
        let made = match entered {
            true => guard::clone(OWN | libc::CLONE_PARENT, std::ptr::null_mut()),
            false => -1,
        };
        if made == 0 {
            guard::guard(plan);
        }
        let number = if made < 0 { -*libc::__errno_location() } else { made as i32 };
        let number = number.to_le_bytes();
        libc::write(tell, number.as_ptr().cast(), number.len());
        libc::_exit(0)
    }
}
