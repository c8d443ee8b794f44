//! Starts a guardian from the ground that confined commands share: a short-lived copy of this process enters the
//! ground's namespaces, and the guardian it starts there is this process's own child.
#![expect(unsafe_code, reason = "system calls between clone and exec")]

use crate::group::{Door, Group};
use crate::guard::{self, Plan};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// Namespaces that each command has for itself.
const OWN: libc::c_int =
    libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWNET | libc::CLONE_NEWIPC;

/// Starts a guardian in these user and mount namespaces, and in this group.
pub(crate) fn start(plan: &Plan, ground: [RawFd; 2], group: Option<&Group>) -> io::Result<OwnedFd> {
    let (told, tell) = pipe_with(PipeFlags::CLOEXEC)?;
    let door = group.map(Group::door);
    // SAFETY: with every signal blocked no handler runs in the copy. It only runs `usher`, which makes
    // system calls and never returns; the plan's pointers live in the caller's frame, of which it has a
    // copy.
    let usher = guard::unsignalled(|| unsafe {
        let made = match door {
            Some(Door::Begin(group)) => guard::clone_into(group.as_raw_fd()),
            Some(Door::Join(_)) | None => guard::clone(0, std::ptr::null_mut()),
        };
        if made == 0 {
            usher(plan, ground, door, tell.as_raw_fd());
        }
        made
    })?;
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

/// Enters the group and the namespaces, starts the guardian as a child of our parent, tells its number and ends.
unsafe fn usher(plan: &Plan, [user, mount]: [RawFd; 2], door: Option<&Door>, tell: RawFd) -> ! {
    // SAFETY: plain system calls on handles that outlive this; the guardian gets a plan that is valid.
    unsafe {
        let lists = match door {
            Some(Door::Join(lists)) => &lists[..],
            Some(Door::Begin(_)) | None => &[],
        };
        // Whoever writes this is meant.
        let joins = |list: &OwnedFd| libc::write(list.as_raw_fd(), c"0".as_ptr().cast(), 1) == 1;
        let entered = lists.iter().all(joins)
            && libc::setns(user, libc::CLONE_NEWUSER) == 0
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
