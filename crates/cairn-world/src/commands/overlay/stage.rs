//! Brings what a command made and nobody reads from the upper directory to where it waits to be moved
//! into its place. What it leaves behind is removed again when it cannot be finished.

use super::layer::{self, special};
use super::{OWN_DIRECTORY, Scratch, TRASH, Terms, again};
use crate::changes::attributes;
use crate::changes::durability::Durability;
use crate::folders::path;
use crate::folders::root_directory::{RootDirectory, entry};
use crate::folders::walk::names;
use crate::folders::workspace::{Workspace, refusal};
use crate::settled::Refusal;
use cairn_sandbox::clear;
use cairn_types::{Aside, Change, FileKind};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps};
use rustix::io::Errno;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// Moves what is to be moved into place to where its changes say it is kept, and makes room for what
/// comes out of its place. Where it had to be copied, the changes name the copies. Refused with 409 when
/// somebody changed meanwhile what would come out; ignored paths are left out then, and returned as they
/// are told.
pub fn stage(
    workspace: &Workspace,
    scratch: &Scratch,
    terms: &Terms<'_>,
    changes: &mut Vec<Change>,
) -> Result<Vec<String>, Refusal> {
    let mut still = changes.clone();
    let left_out =
        again::leave_out_touched(&terms.vouch(workspace, scratch), workspace, &mut still)?;
    let is_moved = |change: &Change| {
        [&change.before, &change.after].into_iter().flatten().any(|state| state.aside.is_some())
    };
    if still.iter().any(is_moved) {
        bring_all(&workspace.root, scratch, &format!("{TRASH}/{}", terms.name), &mut still)?;
    }
    *changes = still;
    Ok(left_out)
}

/// Brings everything, or nothing.
fn bring_all(
    root: &RootDirectory,
    scratch: &Scratch,
    name: &str,
    changes: &mut [Change],
) -> Result<(), Refusal> {
    let staged = room(root, name).map_err(|e| refusal(name, e)).and_then(|()| {
        let upper = rustix::fs::open(scratch.upper(), DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|e| refusal(name, e))?;
        let is_moved =
            |change: &&mut Change| change.after.as_ref().is_some_and(|after| after.aside.is_some());
        let durability = Durability::of_list(changes.iter_mut().filter(is_moved).count());
        changes.iter_mut().try_for_each(|change| bring(root, upper.as_fd(), change, durability))?;
        if durability == Durability::Together {
            let trash = root.open_directory(&root.op_path(TRASH)).map_err(|e| refusal(name, e))?;
            rustix::fs::syncfs(trash).map_err(|e| refusal(name, e))?;
        }
        Ok(())
    });
    staged.inspect_err(|_| {
        if let Ok(trash) = root.open_directory(&root.op_path(TRASH)) {
            let _ = clear(trash.as_fd(), path::split(name).1.as_bytes());
        }
    })
}

/// Cairn's own directory in a workspace, which is made if there is none.
pub(super) fn own_directory(root: &RootDirectory) -> Result<OwnedFd, Errno> {
    match rustix::fs::mkdirat(root.handle(), OWN_DIRECTORY, Mode::RWXU) {
        Ok(()) => {
            let made = entry(root.handle(), OWN_DIRECTORY.as_bytes(), DIRECTORY)?;
            ignore(made.as_fd())?;
            Ok(made)
        }
        Err(Errno::EXIST) => entry(root.handle(), OWN_DIRECTORY.as_bytes(), DIRECTORY),
        Err(e) => Err(e),
    }
}

/// Makes the directories for things that are kept aside. A directory that is made for them is ignored
/// as a whole; where a project keeps files of its own beside them, only they are.
fn room(root: &RootDirectory, name: &str) -> Result<(), Errno> {
    let own = own_directory(root)?;
    match rustix::fs::mkdirat(&own, "trash", Mode::RWXU) {
        Ok(()) => ignore(entry(own.as_fd(), b"trash", DIRECTORY)?.as_fd())?,
        Err(Errno::EXIST) => {}
        Err(e) => return Err(e),
    }
    let trash = entry(own.as_fd(), b"trash", DIRECTORY)?;
    let (_, name) = path::split(name);
    for path in [name.to_owned(), format!("{name}/before"), format!("{name}/after")] {
        match rustix::fs::mkdirat(&trash, &path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Keeps a directory out of what git sees.
fn ignore(dir: BorrowedFd<'_>) -> Result<(), Errno> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    match rustix::fs::openat(dir, ".gitignore", flags, Mode::RUSR | Mode::WUSR) {
        Err(Errno::EXIST) => Ok(()),
        Err(e) => Err(e),
        Ok(file) => File::from(file).write_all(b"*\n").map_err(|e| of_io(&e)),
    }
}

fn of_io(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// Brings one thing, if it is to be moved.
fn bring(
    root: &RootDirectory,
    upper: BorrowedFd<'_>,
    change: &mut Change,
    durability: Durability,
) -> Result<(), Refusal> {
    let Some(after) = &mut change.after else { return Ok(()) };
    let Some(Aside { path: to, inode }) = &mut after.aside else { return Ok(()) };
    let bring = || -> Result<u64, Errno> {
        let (directory, name) = path::split(root.inner_path(&change.path));
        let from = entry(upper, directory.as_bytes(), DIRECTORY)?;
        if after.kind == FileKind::Directory {
            tidy(from.as_fd(), name)?;
        }
        let stat = rustix::fs::statat(&from, name, AtFlags::SYMLINK_NOFOLLOW)?;
        tame(from.as_fd(), name.as_bytes(), &stat)?;
        layer::unmark(from.as_fd(), name.as_bytes());
        let (room, number) = path::split(to);
        let room = root.open_directory(room)?;
        let ends = ((from.as_fd(), name), (room.as_fd(), number));
        match rustix::fs::renameat_with(&from, name, &room, number, RenameFlags::NOREPLACE) {
            Err(Errno::XDEV) => copy(ends.0, ends.1)?,
            moved => moved?,
        }
        if durability == Durability::OneByOne {
            if after.kind == FileKind::File {
                sync(room.as_fd(), number);
            }
            rustix::fs::fsync(&room)?;
        }
        Ok(rustix::fs::statat(&room, number, AtFlags::SYMLINK_NOFOLLOW)?.st_ino)
    };
    *inode = bring().map_err(|e| refusal(&change.path, e))?;
    Ok(())
}

/// Makes a file's bytes durable, where it may be opened for that.
fn sync(dir: BorrowedFd<'_>, name: &str) {
    if let Ok(file) = entry(dir, name.as_bytes(), OFlags::RDONLY) {
        let _ = rustix::fs::fsync(file);
    }
}

/// Takes the kernel's marks from everything in a directory, and what lets it act as somebody, and
/// removes what is neither file, directory nor link.
fn tidy(dir: BorrowedFd<'_>, top: &str) -> Result<(), Errno> {
    let mut todo = vec![top.as_bytes().to_owned()];
    let mut closed = Vec::new();
    while let Some(path) = todo.pop() {
        let stat = rustix::fs::statat(dir, path.as_slice(), AtFlags::SYMLINK_NOFOLLOW)?;
        if stat.st_mode & 0o700 != 0o700 {
            layer::set_mode(dir, &path, |mode| mode | 0o700)?;
            closed.push((path.clone(), stat));
        }
        let here = entry(dir, &path, DIRECTORY)?;
        let before = rustix::fs::fstat(&here)?;
        let mut removed = false;
        for name in names(&here)? {
            let bare = name.bare();
            layer::unmark(here.as_fd(), bare);
            let stat = rustix::fs::statat(&here, bare, AtFlags::SYMLINK_NOFOLLOW)?;
            if special(&stat).is_some() {
                rustix::fs::unlinkat(&here, bare, AtFlags::empty())?;
                removed = true;
            } else {
                tame(here.as_fd(), bare, &stat)?;
            }
            if name.directory().is_some() {
                todo.push([&path, b"/".as_slice(), bare].concat());
            }
        }
        if removed {
            rustix::fs::futimens(&here, &times(&before))?;
        }
    }
    // The inner before the outer: what lies in a closed directory cannot be reached any more.
    for (path, stat) in closed.iter().rev() {
        layer::set_mode(dir, path, |_| stat.st_mode & 0o7777)?;
    }
    Ok(())
}

/// Takes from something what lets it act as its owner or its group.
fn tame(dir: BorrowedFd<'_>, name: &[u8], stat: &Stat) -> Result<(), Errno> {
    match layer::acting_bits(stat) {
        0 => Ok(()),
        bits => layer::set_mode(dir, name, |mode| mode & !bits),
    }
}

fn times(stat: &Stat) -> Timestamps {
    let time = |tv_sec: i64, ns: u64| Timespec { tv_sec, tv_nsec: i64::try_from(ns).unwrap_or(0) };
    Timestamps {
        last_access: time(stat.st_atime, stat.st_atime_nsec),
        last_modification: time(stat.st_mtime, stat.st_mtime_nsec),
    }
}

/// One end of a copy: a directory and a name in it.
type End<'a> = (BorrowedFd<'a>, &'a str);

/// Copies something with all that is in it to another file system, with its modes and times.
fn copy(from: End<'_>, to: End<'_>) -> Result<(), Errno> {
    let mut todo = vec![(from.1.as_bytes().to_owned(), to.1.as_bytes().to_owned())];
    let mut directories = Vec::new();
    while let Some((source, target)) = todo.pop() {
        let stat = rustix::fs::statat(from.0, source.as_slice(), AtFlags::SYMLINK_NOFOLLOW)?;
        match super::sides::kind(&stat) {
            None => {}
            Some(FileKind::Symlink) => {
                let link = rustix::fs::readlinkat(from.0, source.as_slice(), Vec::new())?;
                rustix::fs::symlinkat(link, to.0, target.as_slice())?;
                let flags = AtFlags::SYMLINK_NOFOLLOW;
                rustix::fs::utimensat(to.0, target.as_slice(), &times(&stat), flags)?;
            }
            Some(FileKind::File) => {
                let mut source = File::from(layer::open(from.0, &source)?);
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
                let mode = Mode::from_raw_mode(0o600);
                let file = rustix::fs::openat(to.0, target.as_slice(), flags, mode)?;
                let mut file = File::from(file);
                std::io::copy(&mut source, &mut file).map_err(|e| of_io(&e))?;
                let had = attributes::of(&source)?.unwrap_or_default();
                attributes::set(&file, &had).map_err(|(_, e)| e)?;
                rustix::fs::fchmod(&file, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
                rustix::fs::futimens(&file, &times(&stat))?;
            }
            Some(FileKind::Directory) => {
                rustix::fs::mkdirat(to.0, target.as_slice(), Mode::from_raw_mode(0o700))?;
                let opened = layer::open(from.0, &source)?;
                let had = attributes::of(&opened)?.unwrap_or_default();
                let made = entry(to.0, &target, DIRECTORY)?;
                attributes::set(&made, &had).map_err(|(_, e)| e)?;
                for name in names(&opened)? {
                    let inside = |path: &[u8]| [path, b"/", name.bare()].concat();
                    todo.push((inside(&source), inside(&target)));
                }
                directories.push((target, stat));
            }
        }
    }
    for (target, stat) in directories.iter().rev() {
        let made = entry(to.0, target, DIRECTORY)?;
        rustix::fs::fchmod(&made, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
        rustix::fs::futimens(&made, &times(stat))?;
    }
    Ok(())
}
