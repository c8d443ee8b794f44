//! The ground that commands' own roots are built on: a user and a mount namespace, made once, in which the
//! caches of a home have their private layers. A command enters it and makes namespaces of its own from
//! there. It is held by handles alone: with them it is gone, and nothing runs in it.
#![expect(unsafe_code, reason = "a clone into namespaces of its own")]

use super::build::build;
use super::restrict::wait_for_ids;
use super::steps::{Bind, Root, Step};
use super::{Stage, failed, layout, stage};
use crate::{SandboxError, guard, ids};
use libc::c_long;
use rustix::pipe::{PipeFlags, pipe_with};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

/// Where in the ground a command's root is built.
const ROOT: &str = "root";

/// Namespaces that commands enter.
#[derive(Debug)]
pub(crate) struct Ground {
    /// Where its own file system is.
    base: PathBuf,
    /// Caches, in the order of their layers.
    caches: Vec<PathBuf>,
    user: OwnedFd,
    mount: OwnedFd,
    /// Tells when something was mounted on the machine, or is no longer.
    mounts: File,
}

impl Ground {
    /// Makes one whose own file system is on an empty place, with layers for caches in a directory.
    pub(crate) fn make(
        base: &Path,
        caches: &[PathBuf],
        layers: &Path,
    ) -> Result<Ground, SandboxError> {
        let start = |source| SandboxError::Start { step: "a layer for caches", source };
        let mounts = mounts().map_err(start)?;
        let mut steps = vec![Step::Directory(layout::inner(Path::new(ROOT))?)];
        for (n, cache) in caches.iter().enumerate() {
            let (layer, at) =
                (layers.join(n.to_string()), layout::inner(Path::new(&n.to_string()))?);
            for name in ["upper", "work"] {
                std::fs::create_dir_all(layer.join(name)).map_err(start)?;
            }
            steps.push(Step::Directory(at.clone()));
            let (lower, layer) = (Bind::of(cache, cache)?, layout::text(&layer)?);
            steps.push(Step::Overlay { lower, layer, at });
        }
        let root = Root { base: layout::text(base)?, steps };
        let (user, mount) = made(&root)?;
        Ok(Ground { base: base.to_owned(), caches: caches.to_vec(), user, mount, mounts })
    }

    /// Whether it still shows the machine as it is, on this place.
    pub(crate) fn stands(&self, base: &Path) -> bool {
        let fd = self.mounts.as_raw_fd();
        let mut change = libc::pollfd { fd, events: libc::POLLPRI, revents: 0 };
        // SAFETY: one structure, which lives here; the handle is ours.
        self.base == base && unsafe { libc::poll(&raw mut change, 1, 0) } == 0
    }

    /// Where a command's root is built.
    pub(crate) fn root(&self) -> PathBuf {
        self.base.join(ROOT)
    }

    /// Caches, each with where it can be written to.
    pub(crate) fn caches(&self) -> impl Iterator<Item = (&Path, PathBuf)> {
        let at = |n: usize| self.base.join(n.to_string());
        self.caches.iter().enumerate().map(move |(n, cache)| (cache.as_path(), at(n)))
    }

    /// Handles of its user and its mount namespace.
    pub(crate) fn handles(&self) -> [RawFd; 2] {
        [self.user.as_raw_fd(), self.mount.as_raw_fd()]
    }
}

/// The machine's mounts, read to their end: the next change is an event.
fn mounts() -> io::Result<File> {
    let mut mounts = File::open("/proc/self/mounts")?;
    io::copy(&mut mounts, &mut io::sink())?;
    Ok(mounts)
}

/// Has a process make the namespaces, and takes handles of them before it ends.
fn made(root: &Root) -> Result<(OwnedFd, OwnedFd), SandboxError> {
    let refused = |source| layer("namespaces of its own", source);
    let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(|e| refused(e.into()));
    let ((go_end, go), (told, tell_end)) = (pipe()?, pipe()?);
    let pid = started(root, [go_end.as_raw_fd(), tell_end.as_raw_fd()]).map_err(refused)?;
    let maker = Maker { pid, go: Some(go) };
    drop((go_end, tell_end));
    ids::map(maker.pid).map_err(|source| layer("a user namespace of its own", source))?;
    maker.say_go().map_err(refused)?;
    let mut record = [0; 8];
    File::from(told).read_exact(&mut record).map_err(refused)?;
    let [stage, errno] = [&record[..4], &record[4..]]
        .map(|part| i32::from_le_bytes(part.try_into().unwrap_or_default()));
    if stage != 0 {
        return Err(failed(root, stage, io::Error::from_raw_os_error(errno)));
    }
    let open = |name| {
        let path = format!("/proc/{}/ns/{name}", maker.pid);
        File::open(path).map(OwnedFd::from).map_err(refused)
    };
    Ok((open("user")?, open("mnt")?))
}

fn layer(what: &str, source: io::Error) -> SandboxError {
    SandboxError::Layer { what: what.to_owned(), source }
}

/// The process that makes the namespaces. It ends when this is dropped.
struct Maker {
    pid: c_long,
    go: Option<OwnedFd>,
}

impl Maker {
    fn say_go(&self) -> io::Result<()> {
        self.go.as_ref().map_or(Ok(()), |go| Ok(rustix::io::write(go, &[1]).map(drop)?))
    }
}

impl Drop for Maker {
    fn drop(&mut self) {
        self.go = None;
        guard::reap(self.pid);
    }
}

/// Starts the process; it waits for its ids to be mapped, tells what came of it, and stays until nobody waits.
fn started(root: &Root, [go_end, tell]: [RawFd; 2]) -> io::Result<c_long> {
    let none = std::ptr::null_mut();
    let flags = libc::CLONE_NEWUSER | libc::CLONE_NEWNS;
    // SAFETY: with every signal blocked the copy runs no handler. It makes system calls only, on handles of
    // its own copies and on a root that lives in its copy of our memory, and never returns.
    guard::unsignalled(|| unsafe {
        let made = guard::clone(flags, none);
        if made == 0 {
            // Handles that other makers wait to be closed are among them.
            guard::keep_only([go_end, tell, tell, tell, tell, tell, tell]);
            let stage = match wait_for_ids(go_end) {
                true => build(root, true).err().unwrap_or(0),
                false => stage::IDS,
            };
            tell_of(tell, stage);
            wait_for_ids(go_end);
            libc::_exit(0);
        }
        made
    })
}

unsafe fn tell_of(tell: RawFd, stage: Stage) {
    // SAFETY: the place of this thread's error number; a record that lives here.
    unsafe {
        let record = [stage, *libc::__errno_location()].map(i32::to_le_bytes);
        libc::write(tell, record.as_ptr().cast(), 8);
    }
}
