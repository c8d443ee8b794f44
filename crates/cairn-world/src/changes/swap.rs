//! Brings something to its place, or takes it from there, so that nothing of anybody else's is lost:
//! what comes out is looked at after it came out, and goes back if it is not what was expected. What
//! somebody else wrote is never removed.

use crate::changes::state::{self, Seen};
use cairn_types::FileKind;
use rustix::fs::{AtFlags, RenameFlags, Stat};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;

/// Why something is not in its place, or not safely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Problem {
    /// Something else is there by now.
    Stale,
    /// Something else is there by now, and what was there shortly before is kept under this name
    /// beside it.
    Kept(String),
    /// Something else is there by now, and what was there shortly before lies at this path, in the
    /// trash.
    Aside(String),
    /// What should be moved into its place lies nowhere any more.
    Gone,
    /// It cannot be moved: its place and the trash are on two file systems.
    OtherSystem,
    /// It is in its place, but may not be after a power cut.
    NotDurable(Errno),
    /// The file system does not take this extended attribute or access control list.
    Attribute(String, Errno),
    /// The system's reason.
    System(Errno),
}

impl Problem {
    /// Of an attribute that could not be set.
    pub(crate) fn attribute((name, error): (String, Errno)) -> Problem {
        Problem::Attribute(name, error)
    }
}

impl From<Errno> for Problem {
    fn from(error: Errno) -> Self {
        match error {
            Errno::STALE | Errno::EXIST | Errno::NOTEMPTY => Problem::Stale,
            error => Problem::System(error),
        }
    }
}

/// A name in an open directory.
pub(crate) type Spot<'a> = (BorrowedFd<'a>, &'a str);

/// Puts what stands under `ready` where nothing is.
pub(crate) fn place(dir: BorrowedFd<'_>, ready: &str, name: &str) -> Result<(), Problem> {
    Ok(carry((dir, ready), (dir, name))?)
}

/// Moves something to where nothing is; nothing is ever overwritten.
pub(crate) fn carry(from: Spot<'_>, to: Spot<'_>) -> Result<(), Errno> {
    match rename_to_nothing(from, to) {
        Err(e) if is_unknown(e) => carry_plainly(from, to),
        carried => carried,
    }
}

/// The same where the file system knows no such rename: a second name is never given over another.
fn carry_plainly(from: Spot<'_>, to: Spot<'_>) -> Result<(), Errno> {
    match rustix::fs::linkat(from.0, from.1, to.0, to.1, AtFlags::empty()) {
        Ok(()) => rustix::fs::unlinkat(from.0, from.1, AtFlags::empty()),
        Err(Errno::EXIST) => Err(Errno::EXIST),
        // A directory, or a file system without second names.
        Err(_) => match rustix::fs::statat(to.0, to.1, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => rustix::fs::renameat(from.0, from.1, to.0, to.1),
            Err(e) => Err(e),
            Ok(_) => Err(Errno::EXIST),
        },
    }
}

/// Puts what stands under `ready`, which is `ours`, in the place of what was seen under `name`, and
/// removes that.
pub(crate) fn replace(
    dir: BorrowedFd<'_>,
    (ready, ours): (&str, &Seen),
    name: &str,
    was: &Seen,
) -> Result<(), Problem> {
    let exchanged = still_there(dir, name, was).and_then(|()| match exchange(dir, ready, name) {
        Err(Errno::NOENT) => Err(Problem::Stale),
        Err(e) if is_unknown(e) => Ok(Exchanged::CannotBe),
        exchanged => Ok(exchanged.map(|()| Exchanged::Are)?),
    });
    let replaced = match exchanged {
        Ok(Exchanged::Are) => return check_out(dir, (ready, ours), name, was),
        Ok(Exchanged::CannotBe) => replace_plainly(dir, ready, name, was),
        Err(problem) => Err(problem),
    };
    if replaced.is_err() {
        let _ = remove(dir, ready, ours);
    }
    replaced
}

/// Whether two things changed places.
enum Exchanged {
    Are,
    /// The file system cannot do that.
    CannotBe,
}

/// The same where the file system cannot exchange: what is written between the last look and the
/// rename is lost.
fn replace_plainly(
    dir: BorrowedFd<'_>,
    ready: &str,
    name: &str,
    was: &Seen,
) -> Result<(), Problem> {
    if !is(dir, name, was) {
        return Err(Problem::Stale);
    }
    let (old, _) = was;
    if matches!(old.kind, FileKind::Directory) {
        rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?;
    }
    match rustix::fs::renameat(dir, ready, dir, name) {
        // A directory takes no file's place by itself.
        Err(Errno::NOTDIR) => {
            rustix::fs::unlinkat(dir, name, AtFlags::empty())?;
            Ok(rustix::fs::renameat(dir, ready, dir, name)?)
        }
        renamed => Ok(renamed?),
    }
}

/// After an exchange: removes what came out if it is what was seen, and gives it back if not.
fn check_out(
    dir: BorrowedFd<'_>,
    (ready, ours): (&str, &Seen),
    name: &str,
    was: &Seen,
) -> Result<(), Problem> {
    if is(dir, ready, was) && remove(dir, ready, was).is_ok() {
        return Ok(());
    }
    Err(give_back(dir, (ready, ours), name))
}

fn give_back(dir: BorrowedFd<'_>, (ready, ours): (&str, &Seen), name: &str) -> Problem {
    let kept = || Problem::Kept(ready.to_owned());
    match exchange(dir, ready, name) {
        Ok(()) if is(dir, ready, ours) => match remove(dir, ready, ours) {
            Ok(()) => Problem::Stale,
            Err(_) => kept(),
        },
        // Somebody wrote over ours meanwhile: the newer stays in the place, and the older is kept.
        Ok(()) => {
            let _ = exchange(dir, ready, name);
            kept()
        }
        // Somebody removed ours meanwhile.
        Err(Errno::NOENT) => put_back(dir, ready, name),
        Err(_) => kept(),
    }
}

/// Takes away what was seen under `name`, by way of `aside`. A directory goes only if it is empty,
/// which the system itself looks after.
pub(crate) fn take_away(
    dir: BorrowedFd<'_>,
    name: &str,
    aside: &str,
    was: &Seen,
) -> Result<(), Problem> {
    if was.0.kind == FileKind::Directory {
        return Ok(remove(dir, name, was)?);
    }
    still_there(dir, name, was)?;
    match rename_to_nothing((dir, name), (dir, aside)) {
        Ok(()) if is(dir, aside, was) => Ok(remove(dir, aside, was)?),
        Ok(()) => Err(put_back(dir, aside, name)),
        Err(Errno::NOENT) => Err(Problem::Stale),
        Err(e) if is_unknown(e) && is(dir, name, was) => Ok(remove(dir, name, was)?),
        Err(e) if is_unknown(e) => Err(Problem::Stale),
        Err(e) => Err(e.into()),
    }
}

/// Brings somebody else's back from `aside`, unless there is something in its place by now.
pub(crate) fn put_back(dir: BorrowedFd<'_>, aside: &str, name: &str) -> Problem {
    match place(dir, aside, name) {
        Ok(()) => Problem::Stale,
        Err(_) => Problem::Kept(aside.to_owned()),
    }
}

pub(crate) fn exchange(dir: BorrowedFd<'_>, one: &str, other: &str) -> Result<(), Errno> {
    exchange_between((dir, one), (dir, other))
}

/// Lets two things in two directories change places.
pub(crate) fn exchange_between(one: Spot<'_>, other: Spot<'_>) -> Result<(), Errno> {
    rustix::fs::renameat_with(one.0, one.1, other.0, other.1, RenameFlags::EXCHANGE)
}

fn rename_to_nothing(from: Spot<'_>, to: Spot<'_>) -> Result<(), Errno> {
    rustix::fs::renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE)
}

/// Whether a file system, or a kernel, says that it knows no such rename.
pub(crate) fn is_unknown(error: Errno) -> bool {
    matches!(error, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

pub(crate) fn remove(dir: BorrowedFd<'_>, name: &str, what: &Seen) -> Result<(), Errno> {
    let flags = match what.0.kind {
        FileKind::Directory => AtFlags::REMOVEDIR,
        FileKind::File | FileKind::Symlink => AtFlags::empty(),
    };
    rustix::fs::unlinkat(dir, name, flags)
}

/// Removes what stands under a name if it is just this.
pub(crate) fn remove_if(dir: BorrowedFd<'_>, name: &str, what: &Seen) {
    if is(dir, name, what) {
        let _ = remove(dir, name, what);
    }
}

/// A first look, so that a place is not disturbed without need.
pub(crate) fn still_there(dir: BorrowedFd<'_>, name: &str, was: &Seen) -> Result<(), Problem> {
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(now) if key(&now, was.0.kind) == key(&was.1, was.0.kind) => Ok(()),
        Ok(_) | Err(Errno::NOENT) => Err(Problem::Stale),
        Err(e) => Err(e.into()),
    }
}

/// Whether under a name stands just what was seen, by its content too: a clock can be too coarse to
/// show a change.
pub(crate) fn is(dir: BorrowedFd<'_>, name: &str, was: &Seen) -> bool {
    let kind = was.0.kind;
    match state::named(dir, name, name) {
        Ok(Some((state, stat))) => {
            key(&stat, kind) == key(&was.1, kind)
                && (state.hash, &state.link) == (was.0.hash, &was.0.link)
        }
        Ok(None) | Err(_) => false,
    }
}

/// What makes a file the same one, unchanged. Of a directory only that it is the same one.
fn key(stat: &Stat, kind: FileKind) -> impl PartialEq + use<> {
    let same_one = (stat.st_dev, stat.st_ino, stat.st_mode, stat.st_uid, stat.st_gid);
    let unchanged = (stat.st_size, stat.st_mtime, stat.st_mtime_nsec);
    (same_one, (kind != FileKind::Directory).then_some(unchanged))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folders::workspace::Workspace;
    use std::fs;
    use std::path::Path;

    /// A directory with `f`, seen, and with `ours`, which is to take its place.
    fn place_with(work: impl FnOnce(&Path, BorrowedFd<'_>, &Seen, &Seen)) {
        let holder = tempfile::tempdir().unwrap();
        fs::write(holder.path().join("f"), "seen\n").unwrap();
        fs::write(holder.path().join("ours"), "ours\n").unwrap();
        let workspace = Workspace::open(holder.path()).unwrap();
        let seen = |name: &str| state::named(workspace.root.handle(), name, name).unwrap().unwrap();
        work(holder.path(), workspace.root.handle(), &seen("f"), &seen("ours"));
    }

    fn told(root: &Path) -> String {
        let mut found: Vec<String> = fs::read_dir(root)
            .unwrap()
            .flatten()
            .map(|item| {
                let text = fs::read_to_string(item.path()).unwrap();
                format!("{}={}", item.file_name().to_string_lossy(), text.trim_end())
            })
            .collect();
        found.sort();
        found.join(" ")
    }

    /// What somebody does in the last moment, after our last look and before the exchange.
    type Doing = fn(&Path);
    const SAVES: Doing = |root| {
        fs::write(root.join("theirs"), "THEIRS\n").unwrap();
        fs::rename(root.join("theirs"), root.join("f")).unwrap();
    };
    const WRITES: Doing = |root| fs::write(root.join("f"), "SEEN\n").unwrap();
    /// As a clock that is too coarse would show it.
    const WRITES_UNSEEN: Doing = |root| {
        let file = fs::File::options().write(true).open(root.join("f")).unwrap();
        let time = file.metadata().unwrap().modified().unwrap();
        fs::write(root.join("f"), "SEEN\n").unwrap();
        file.set_modified(time).unwrap();
    };
    const NOTHING: Doing = |_| {};

    #[test]
    fn what_is_written_after_the_last_look_is_given_back() {
        let check = |before: Doing, between: Doing, expected: &str| {
            place_with(|root, dir, seen, ours| {
                before(root);
                exchange(dir, "ours", "f").unwrap();
                between(root);
                let done = check_out(dir, ("ours", ours), "f", seen);
                assert_eq!(format!("{done:?} {}", told(root)), expected);
            });
        };
        check(NOTHING, NOTHING, "Ok(()) f=ours");
        check(SAVES, NOTHING, "Err(Stale) f=THEIRS");
        check(WRITES, NOTHING, "Err(Stale) f=SEEN");
        check(WRITES_UNSEEN, NOTHING, "Err(Stale) f=SEEN");
        // What is written again, over ours, while theirs is given back.
        check(WRITES, SAVES, "Err(Kept(\"ours\")) f=THEIRS ours=SEEN");
        check(SAVES, WRITES_UNSEEN, "Err(Kept(\"ours\")) f=SEEN ours=THEIRS");
        check(SAVES, |root| fs::remove_file(root.join("f")).unwrap(), "Err(Stale) f=THEIRS");
    }

    #[test]
    fn what_is_written_over_a_file_that_goes_stays() {
        let check = |before: Doing, expected: &str| {
            place_with(|root, dir, seen, _| {
                fs::remove_file(root.join("ours")).unwrap();
                before(root);
                let done = take_away(dir, "f", "aside", seen);
                assert_eq!(format!("{done:?} {}", told(root)), expected);
            });
        };
        check(NOTHING, "Ok(()) ");
        check(SAVES, "Err(Stale) f=THEIRS");
        check(WRITES_UNSEEN, "Err(Stale) f=SEEN");
        place_with(|root, dir, _, _| {
            fs::rename(root.join("f"), root.join("aside")).unwrap();
            SAVES(root);
            assert_eq!(put_back(dir, "aside", "f"), Problem::Kept("aside".to_owned()));
            assert_eq!(told(root), "aside=seen f=THEIRS ours=ours");
        });
    }

    #[test]
    fn a_file_system_that_cannot_exchange_is_written_to_all_the_same() {
        place_with(|root, dir, seen, _| {
            replace_plainly(dir, "ours", "f", seen).unwrap();
            assert_eq!(told(root), "f=ours");
            carry_plainly((dir, "f"), (dir, "g")).unwrap();
            assert_eq!(told(root), "g=ours");
            SAVES(root);
            assert_eq!(carry_plainly((dir, "g"), (dir, "f")), Err(Errno::EXIST));
            assert_eq!(replace_plainly(dir, "g", "f", seen), Err(Problem::Stale));
            assert_eq!(told(root), "f=THEIRS g=ours");
        });
    }
}
