//! Moves whole things between their places and the trash beneath the same root, by rename alone: no
//! byte of them is read, written or synced. What belongs together is `apply`'s; how long the trash is
//! kept is `trash`'s.

use crate::changes::durability::{Durability, sync_directory};
use crate::changes::state::{self, Seen, is_moved_one, same};
use crate::changes::swap::{self, Problem, Spot};
use crate::changes::temporary::Names;
use crate::changes::write::set_mode;
use crate::folders::path;
use crate::folders::root_directory::{RootDirectory, entry};
use cairn_types::{Aside, Change, FileKind, FileState};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};

/// What git is told of everything beside the trash.
const IGNORE_ALL: &[u8] = b"*\n";
/// What lets its owner move a directory to another one.
const OPEN: u32 = 0o700;

/// A directory that is open, and a name in it.
struct Place<'a> {
    dir: OwnedFd,
    name: &'a str,
}

impl<'a> Place<'a> {
    /// The place of a real path.
    fn of(root: &RootDirectory, path: &'a str) -> Result<Place<'a>, Errno> {
        let (directory, name) = path::split(path);
        Ok(Place { dir: root.open_directory(directory)?, name })
    }

    /// Where a state lies while it does not stand in its place. Only ever in the trash, whatever a
    /// row says.
    fn aside(root: &RootDirectory, state: &'a FileState) -> Result<Place<'a>, Errno> {
        Place::of(root, trash_path(root, state)?)
    }

    fn spot(&self) -> Spot<'_> {
        (self.dir.as_fd(), self.name)
    }

    fn stat(&self) -> Option<Stat> {
        rustix::fs::statat(&self.dir, self.name, AtFlags::SYMLINK_NOFOLLOW).ok()
    }

    fn holds(&self, state: &FileState) -> bool {
        self.stat().is_some_and(|stat| is_moved_one(state, &stat))
    }

    /// Opens a directory that does not let itself be moved; gives the mode it had.
    fn open_up(&self) -> Option<u32> {
        let stat = self.stat().filter(|s| FileType::from_raw_mode(s.st_mode).is_dir())?;
        let mode = stat.st_mode & 0o7777;
        let is_closed = mode & OPEN != OPEN;
        (is_closed && set_mode(self.dir.as_fd(), self.name, mode | OPEN).is_ok()).then_some(mode)
    }

    fn close(&self, mode: Option<u32>) {
        if let Some(mode) = mode {
            let _ = set_mode(self.dir.as_fd(), self.name, mode);
        }
    }
}

/// The path beneath the root where a state is kept aside.
fn trash_path<'a>(root: &RootDirectory, state: &'a FileState) -> Result<&'a str, Errno> {
    let path = state.aside.as_ref().map(|aside| root.inner_path(&aside.path));
    path.filter(|path| Aside::in_trash(path).is_some()).ok_or(Errno::INVAL)
}

/// Whether what a state tells of lies aside.
pub(crate) fn lies(root: &RootDirectory, state: &FileState) -> bool {
    Place::aside(root, state).is_ok_and(|aside| aside.holds(state))
}

/// Moves what stands at a path, which is `state` and was just seen so, aside. Whatever fails, it is in
/// its place again, or somebody else's is and the problem says where it lies.
pub(crate) fn away(
    root: &RootDirectory,
    path: &str,
    (state, was): (&FileState, &Seen),
    durability: Durability,
) -> Result<(), Problem> {
    let place = Place::of(root, path)?;
    let is_it = |at: &Place<'_>| at.stat().is_some_and(|now| is_still(state, (&was.1, &now)));
    if !is_it(&place) {
        return Err(Problem::Stale);
    }
    let aside = made(root, trash_path(root, state)?)?;
    match shift(&place, &aside) {
        Err(Errno::NOENT) => return Err(Problem::Stale),
        Err(Errno::XDEV) => return Err(Problem::OtherSystem),
        moved => moved?,
    }
    let durable =
        if is_it(&aside) { settle(&aside, &place, durability) } else { Err(Problem::Stale) };
    durable.map_err(|problem| match shift(&aside, &place) {
        Ok(()) => problem,
        Err(_) => kept(state),
    })
}

/// Whether something is what it was at the last look, and nobody wrote to it since. Of a directory only
/// that it is the same one. When it was changed last is not looked at: moving it changes that.
fn is_still(state: &FileState, (was, now): (&Stat, &Stat)) -> bool {
    let written = |stat: &Stat| (stat.st_size, stat.st_mtime, stat.st_mtime_nsec);
    is_moved_one(state, now) && (state.kind == FileKind::Directory || written(was) == written(now))
}

/// Moves what lies aside to its place, where nothing is.
pub(crate) fn back(
    root: &RootDirectory,
    path: &str,
    state: &FileState,
    durability: Durability,
) -> Result<(), Problem> {
    let aside = lying(root, state)?;
    let place = Place::of(root, path)?;
    match shift(&aside, &place) {
        Err(Errno::NOENT) => return Err(Problem::Gone),
        Err(Errno::XDEV) => return Err(Problem::OtherSystem),
        moved => moved?,
    }
    if !place.holds(state) {
        let _ = shift(&place, &aside);
        return Err(Problem::Gone);
    }
    settle(&place, &aside, durability)
}

/// Moves what lies aside to the place of something that is written and not moved, and removes that:
/// its row keeps it.
pub(crate) fn instead(
    root: &RootDirectory,
    change: &Change,
    state: &FileState,
    was: &Seen,
    durability: Durability,
) -> Result<(), Problem> {
    let aside = lying(root, state)?;
    let place = Place::of(root, &change.path)?;
    swap::still_there(place.dir.as_fd(), place.name, was)?;
    match exchange(&aside, &place) {
        Err(Errno::NOENT) => return Err(Problem::Stale),
        Err(Errno::XDEV) => return Err(Problem::OtherSystem),
        Err(e) if swap::is_unknown(e) => {
            return instead_plainly(&aside, &place, (&Names::new(change).aside, was), durability);
        }
        exchanged => exchanged?,
    }
    let (dir, name) = aside.spot();
    if swap::is(dir, name, was) && swap::remove(dir, name, was).is_ok() {
        return settle(&place, &aside, durability);
    }
    Err(give_back(&aside, &place, state))
}

/// The same where the file system cannot exchange: a crash between the two leaves the place empty.
fn instead_plainly(
    aside: &Place<'_>,
    place: &Place<'_>,
    (beside, was): (&str, &Seen),
    durability: Durability,
) -> Result<(), Problem> {
    let (dir, name) = place.spot();
    match swap::carry((dir, name), (dir, beside)) {
        Err(Errno::NOENT) => return Err(Problem::Stale),
        carried => carried?,
    }
    let moved = if swap::is(dir, beside, was) { shift(aside, place) } else { Err(Errno::STALE) };
    let removed = moved.and_then(|()| {
        swap::remove(dir, beside, was).inspect_err(|_| {
            let _ = shift(place, aside);
        })
    });
    match removed {
        Ok(()) => settle(place, aside, durability),
        Err(e) => match swap::put_back(dir, beside, name) {
            Problem::Stale => Err(e.into()),
            kept => Err(kept),
        },
    }
}

/// What came out is somebody else's: it goes back into its place.
fn give_back(aside: &Place<'_>, place: &Place<'_>, state: &FileState) -> Problem {
    match exchange(aside, place) {
        Ok(()) if aside.holds(state) => Problem::Stale,
        // Somebody put another thing in the place of ours meanwhile: the newer stays there.
        Ok(()) => {
            let _ = exchange(aside, place);
            kept(state)
        }
        Err(Errno::NOENT) if shift(aside, place).is_ok() => Problem::Stale,
        Err(_) => kept(state),
    }
}

fn kept(state: &FileState) -> Problem {
    Problem::Aside(state.aside.as_ref().map(|aside| aside.path.clone()).unwrap_or_default())
}

/// The place where a state lies aside, if it does.
fn lying<'a>(root: &RootDirectory, state: &'a FileState) -> Result<Place<'a>, Problem> {
    match Place::aside(root, state) {
        Ok(aside) if aside.holds(state) => Ok(aside),
        Ok(_) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Err(Problem::Gone),
        Err(e) => Err(e.into()),
    }
}

/// Moves something to where nothing is. A directory that its owner may not write to cannot be moved
/// to another one: it is opened for as long as that takes.
fn shift(from: &Place<'_>, to: &Place<'_>) -> Result<(), Errno> {
    match swap::carry(from.spot(), to.spot()) {
        Err(Errno::ACCESS) => {
            let mode = from.open_up().ok_or(Errno::ACCESS)?;
            let carried = swap::carry(from.spot(), to.spot());
            if carried.is_ok() { to } else { from }.close(Some(mode));
            carried
        }
        carried => carried,
    }
}

fn exchange(one: &Place<'_>, other: &Place<'_>) -> Result<(), Errno> {
    match swap::exchange_between(one.spot(), other.spot()) {
        Err(Errno::ACCESS) => {
            let modes = (one.open_up(), other.open_up());
            let exchanged = swap::exchange_between(one.spot(), other.spot());
            let (one, other) = if exchanged.is_ok() { (other, one) } else { (one, other) };
            one.close(modes.0);
            other.close(modes.1);
            exchanged
        }
        exchanged => exchanged,
    }
}

/// Makes a move durable: first where it went, then where it came from.
fn settle(to: &Place<'_>, from: &Place<'_>, durability: Durability) -> Result<(), Problem> {
    durability.sync_directory(&to.dir)?;
    durability.sync_directory(&from.dir)
}

/// The place of a path in the trash, with the directories on the way to it.
fn made<'a>(root: &RootDirectory, path: &'a str) -> Result<Place<'a>, Problem> {
    let (directory, name) = path::split(path);
    match root.open_directory(directory) {
        Ok(dir) => return Ok(Place { dir, name }),
        Err(Errno::NOENT) => {}
        Err(e) => return Err(e.into()),
    }
    let mut dir = root.open_directory(".")?;
    for (nth, part) in directory.split('/').enumerate() {
        match rustix::fs::mkdirat(&dir, part, Mode::from_raw_mode(OPEN)) {
            Ok(()) => sync_directory(&dir)?,
            Err(Errno::EXIST) => {}
            Err(e) => return Err(Problem::System(e)),
        }
        dir = entry(dir.as_fd(), part.as_bytes(), OFlags::RDONLY | OFlags::DIRECTORY)?;
        if nth == 0 {
            ignore_all(&dir)?;
        }
    }
    Ok(Place { dir, name })
}

/// Keeps git from what is in a directory, unless somebody said otherwise there.
fn ignore_all(dir: &OwnedFd) -> Result<(), Problem> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o600);
    let Ok(file) = rustix::fs::openat(dir, ".gitignore", flags, mode) else { return Ok(()) };
    // One that is empty was begun by somebody who did not come to write it.
    if rustix::fs::fstat(&file)?.st_size > 0 {
        return Ok(());
    }
    rustix::io::write(&file, IGNORE_ALL)?;
    rustix::fs::fsync(&file)?;
    sync_directory(dir)
}

/// Clears up what a process that is gone left of a change that moves something.
pub(crate) fn clear(root: &RootDirectory, change: &Change, durability: Durability) {
    let Ok(place) = Place::of(root, &change.path) else { return };
    let states = [&change.before, &change.after].into_iter().flatten();
    for state in states.filter(|state| state.aside.is_some()) {
        let Ok(aside) = Place::aside(root, state) else { continue };
        // Where it was moved by giving it a second name, it has both.
        if state.kind == FileKind::File && place.holds(state) && aside.holds(state) {
            let _ = rustix::fs::unlinkat(&aside.dir, aside.name, AtFlags::empty());
        }
        for at in [&place, &aside].into_iter().filter(|at| at.holds(state)) {
            close_again(at, state);
        }
        put_right(&place, &aside, (state, change));
        let _ = durability.sync_directory(&aside.dir);
    }
}

/// Gives a directory its mode that was opened so that it could be moved.
fn close_again(at: &Place<'_>, state: &FileState) {
    let mode = at.stat().map(|stat| stat.st_mode & 0o7777);
    let is_closed = state.kind == FileKind::Directory && state.mode & OPEN != OPEN;
    if is_closed && mode == Some(state.mode | OPEN) {
        at.close(Some(state.mode));
    }
}

/// Where something else lies aside than what should: what came out of the place is removed if the
/// row of the change keeps it, and goes back if not.
fn put_right(place: &Place<'_>, aside: &Place<'_>, (state, change): (&FileState, &Change)) {
    let (dir, name) = aside.spot();
    if aside.stat().is_none_or(|stat| is_moved_one(state, &stat)) {
        return;
    }
    let is_after = change.after.as_ref() == Some(state);
    if is_after && place.holds(state) {
        let found = state::named(dir, name, &change.path).ok().flatten();
        match found {
            Some(was) if same(Some(&was.0), change.before.as_ref()) => {
                swap::remove_if(dir, name, &was);
            }
            _ => drop(give_back(aside, place, state)),
        }
    } else if place.stat().is_none() && !is_after {
        let _ = shift(aside, place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    const SLOT: &str = ".cairn/trash/op/after/0";

    /// A directory with a place, and a slot in the trash for what is moved there.
    fn bed() -> (tempfile::TempDir, RootDirectory) {
        let holder = tempfile::tempdir().unwrap();
        fs::create_dir_all(holder.path().join(SLOT).parent().unwrap()).unwrap();
        let directory = RootDirectory::open(holder.path()).unwrap();
        (holder, directory)
    }

    /// Writes a file and gives its state, as one that is moved.
    fn ours(root: &Path, directory: &RootDirectory) -> FileState {
        fs::write(root.join("ours"), "ours").unwrap();
        let (state, stat) = state::at(directory, "ours").unwrap().unwrap();
        let aside = Some(Aside { path: SLOT.to_owned(), inode: stat.st_ino });
        FileState { hash: None, aside, ..state }
    }

    /// Brings what is ours, or something else of this content, to a path.
    fn put(root: &Path, path: &str, what: Option<&str>) {
        match what {
            None => {}
            Some("ours") => fs::rename(root.join("ours"), root.join(path)).unwrap(),
            Some(other) => fs::write(root.join(path), other).unwrap(),
        }
    }

    fn found(root: &Path) -> (Option<String>, Option<String>) {
        let read = |path: &str| fs::read_to_string(root.join(path)).ok();
        (read("place"), read(SLOT))
    }

    fn told<'a>(
        (place, slot): (Option<&'a str>, Option<&'a str>),
    ) -> (Option<String>, Option<String>) {
        (place.map(str::to_owned), slot.map(str::to_owned))
    }

    #[test]
    fn what_a_dead_process_left_in_the_trash_is_removed_if_it_is_known_and_goes_back_if_not() {
        type Two = (Option<&'static str>, Option<&'static str>);
        let check = |is_after: bool, left: Two, expected: Two| {
            let (holder, directory) = bed();
            let root = holder.path();
            let moved = ours(root, &directory);
            fs::write(root.join("was"), "was").unwrap();
            let was = state::at(&directory, "was").unwrap().map(|(state, _)| state);
            put(root, "place", left.0);
            put(root, SLOT, left.1);
            let (before, after) = if is_after { (was, Some(moved)) } else { (Some(moved), was) };
            clear(
                &directory,
                &Change::between("place".to_owned(), before, after),
                Durability::OneByOne,
            );
            assert_eq!(found(root), told(expected), "{is_after} {left:?}");
        };
        let (was, ours, theirs) = (Some("was"), Some("ours"), Some("theirs"));
        check(true, (ours, was), (ours, None));
        check(true, (ours, theirs), (theirs, ours));
        check(true, (was, ours), (was, ours));
        check(true, (theirs, ours), (theirs, ours));
        check(true, (theirs, was), (theirs, was));
        check(false, (None, ours), (None, ours));
        check(false, (None, theirs), (theirs, None));
        check(false, (was, ours), (was, ours));
        check(false, (theirs, theirs), (theirs, theirs));
    }

    #[test]
    fn a_second_name_that_a_dead_process_gave_is_removed() {
        let (holder, directory) = bed();
        let root = holder.path();
        let moved = ours(root, &directory);
        put(root, "place", Some("ours"));
        fs::hard_link(root.join("place"), root.join(SLOT)).unwrap();
        clear(
            &directory,
            &Change::between("place".to_owned(), None, Some(moved)),
            Durability::OneByOne,
        );
        assert_eq!(found(root), told((Some("ours"), None)));
        assert_eq!(root.join("place").metadata().unwrap().nlink(), 1);
    }

    #[test]
    fn what_came_out_of_a_place_at_the_last_moment_goes_back_and_the_newer_stays() {
        let check = |place: Option<&str>, expected: (Option<&str>, Option<&str>), kept: bool| {
            let (holder, directory) = bed();
            let root = holder.path();
            let moved = ours(root, &directory);
            put(root, "place", place);
            put(root, SLOT, Some("theirs"));
            let at = (Place::aside(&directory, &moved), Place::of(&directory, "place"));
            let problem = give_back(&at.0.unwrap(), &at.1.unwrap(), &moved);
            let is = if kept { Problem::Aside(SLOT.to_owned()) } else { Problem::Stale };
            assert_eq!((problem, found(root)), (is, told(expected)), "{place:?}");
        };
        check(Some("ours"), (Some("theirs"), Some("ours")), false);
        check(Some("newer"), (Some("newer"), Some("theirs")), true);
        check(None, (Some("theirs"), None), false);
    }

    #[test]
    fn a_file_system_that_cannot_exchange_is_moved_into_all_the_same() {
        let (holder, directory) = bed();
        let root = holder.path();
        let moved = ours(root, &directory);
        put(root, SLOT, Some("ours"));
        put(root, "place", Some("was"));
        let was = state::at(&directory, "place").unwrap().unwrap();
        let at = (Place::aside(&directory, &moved), Place::of(&directory, "place"));
        let (aside, place) = (at.0.unwrap(), at.1.unwrap());
        instead_plainly(&aside, &place, ("beside", &was), Durability::OneByOne).unwrap();
        assert_eq!(found(root), told((Some("ours"), None)));
        shift(&place, &aside).unwrap();
        put(root, "place", Some("theirs"));
        assert_eq!(
            instead_plainly(&aside, &place, ("beside", &was), Durability::OneByOne),
            Err(Problem::Stale)
        );
        assert_eq!(found(root), told((Some("theirs"), Some("ours"))));
        // A directory that is not empty stays, and what should take its place does too.
        fs::remove_file(root.join("place")).unwrap();
        fs::create_dir(root.join("place")).unwrap();
        let was = state::at(&directory, "place").unwrap().unwrap();
        fs::write(root.join("place/f"), "theirs").unwrap();
        assert_eq!(
            instead_plainly(&aside, &place, ("beside", &was), Durability::OneByOne),
            Err(Problem::Stale)
        );
        assert_eq!(fs::read_to_string(root.join("place/f")).unwrap(), "theirs");
        assert!(aside.holds(&moved) && !root.join("beside").exists());
    }
}
