//! Clears up what a process that is gone left beside the files it was changing. What is known, as it
//! was before or as it was to be, is removed; anything else is somebody else's and goes back.

use crate::changes::aside;
use crate::changes::durability::{Durability, sync_file_systems};
use crate::changes::state::{self, Seen, same};
use crate::changes::swap::{Problem, exchange, put_back, remove_if};
use crate::changes::temporary::{self, Leftover};
use crate::folders::roots::Roots;
use crate::folders::{path, walk};
use cairn_types::Change;
use rustix::fs::AtFlags;
use std::collections::{BTreeMap, HashMap};
use std::os::fd::{AsFd, BorrowedFd};

/// Clears up after these changes, and makes durable what is there: whoever was cut off may not have
/// come to it. Err where it cannot be made durable.
pub(crate) fn clear(roots: &Roots, changes: &[Change]) -> Result<(), Problem> {
    let mut by_directory: BTreeMap<&str, Vec<&Change>> = BTreeMap::new();
    for change in changes {
        by_directory.entry(path::split(&change.path).0).or_default().push(change);
    }
    let durability = Durability::of_list(changes.len());
    let mut synced = Ok(());
    for changes in by_directory.values() {
        synced = synced.and(clear_in_one(roots, changes, durability));
    }
    for change in changes {
        aside::clear(roots.root_of(&change.path), change, durability);
    }
    match durability {
        Durability::OneByOne => synced,
        Durability::Together => {
            sync_file_systems(roots, changes.iter().map(|change| change.path.as_str()))
        }
    }
}

/// Clears up after changes in one directory.
fn clear_in_one(roots: &Roots, changes: &[&Change], durability: Durability) -> Result<(), Problem> {
    let Some(first) = changes.first() else { return Ok(()) };
    let directory = path::split(&first.path).0;
    let Ok(dir) = roots.root_of(&first.path).open_directory(directory) else { return Ok(()) };
    let found = walk::names(&dir).unwrap_or_default();
    let ours = found.iter().map(walk::Name::bare).filter(|name| temporary::is_ours(name));
    let ours: Vec<&str> = ours.filter_map(|name| std::str::from_utf8(name).ok()).collect();
    if !ours.is_empty() {
        let by_lead: HashMap<String, &Change> =
            changes.iter().map(|change| (temporary::lead(change), *change)).collect();
        for name in ours {
            let change = temporary::lead_of(name).and_then(|lead| by_lead.get(lead));
            let Some(change) = change else { continue };
            match temporary::leftover(change, name) {
                Some(Leftover::Making) => remove(dir.as_fd(), name),
                Some(Leftover::Aside) => settle(dir.as_fd(), name, change),
                None => {}
            }
        }
    }
    durability.sync_directory(&dir)
}

/// Removes something of ours, whatever it is.
pub(crate) fn remove(dir: BorrowedFd<'_>, name: &str) {
    if rustix::fs::unlinkat(dir, name, AtFlags::empty()).is_err() {
        let _ = rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR);
    }
}

/// Removes what stands aside if the row of the change keeps it, and brings it back if not.
fn settle(dir: BorrowedFd<'_>, aside: &str, change: &Change) {
    let name = path::split(&change.path).1;
    let Ok(Some(found)) = state::named(dir, aside, &change.path) else { return };
    let is = |seen: &Seen, state: &Option<_>| same(Some(&seen.0), state.as_ref());
    if is(&found, &change.before) || is(&found, &change.after) {
        return remove(dir, aside);
    }
    match state::named(dir, name, &change.path) {
        Ok(None) => drop(put_back(dir, aside, name)),
        Ok(Some(now)) if is(&now, &change.after) => {
            // Now ours comes out; if something else does, it is not ours to remove either.
            if exchange(dir, aside, name).is_ok() {
                remove_if(dir, aside, &now);
            }
        }
        // Two of somebody else's: neither is ours to remove.
        Ok(Some(_)) | Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::temporary::Names;
    use crate::folders::workspace::Workspace;
    use cairn_types::FileState;
    use std::fs;

    const BEFORE: Option<&str> = Some("before");
    const AFTER: Option<&str> = Some("after");
    const THEIRS: Option<&str> = Some("theirs");
    const OTHERS: Option<&str> = Some("others");

    /// What a dead process left of a change from one content to another, with this in its place and
    /// this beside it: what stands in the place and beside it once that is cleared up.
    fn check(
        change: (Option<&str>, Option<&str>),
        (place, aside): (Option<&str>, Option<&str>),
        expected: (Option<&str>, Option<&str>),
    ) {
        let holder = tempfile::tempdir().unwrap();
        let roots = Roots::new(Workspace::open(holder.path()).unwrap());
        let state = |content: &str| -> FileState {
            fs::write(holder.path().join("f"), content).unwrap();
            let seen = state::at(&roots.main().root, "f").unwrap().unwrap();
            fs::remove_file(holder.path().join("f")).unwrap();
            seen.0
        };
        let change = Change::between("f".into(), change.0.map(state), change.1.map(state));
        let names = Names::of_the_dead(&change);
        let put = |name: &str, content: Option<&str>| {
            content.inspect(|content| fs::write(holder.path().join(name), content).unwrap());
        };
        put("f", place);
        put(&names.aside, aside);
        put(&names.making, Some("af"));
        let in_use = Names::new(&change);
        put(&in_use.making, Some("of one that lives"));
        assert!(clear(&roots, std::slice::from_ref(&change)).is_ok());
        let read = |name: &str| fs::read_to_string(holder.path().join(name)).ok();
        let found = (read("f"), read(&names.aside));
        let left = fs::read_dir(holder.path()).unwrap().count();
        assert_eq!((found.0.as_deref(), found.1.as_deref()), expected, "{place:?} {aside:?}");
        let expected = usize::from(expected.0.is_some()) + usize::from(expected.1.is_some()) + 1;
        assert_eq!(left, expected, "{place:?} {aside:?}");
    }

    #[test]
    fn what_a_dead_process_left_is_removed_if_it_is_known_and_put_back_if_not() {
        let (edit, made, gone) = ((BEFORE, AFTER), (None, AFTER), (BEFORE, None));
        check(edit, (BEFORE, None), (BEFORE, None));
        check(edit, (BEFORE, AFTER), (BEFORE, None));
        check(edit, (AFTER, BEFORE), (AFTER, None));
        check(edit, (AFTER, THEIRS), (THEIRS, None));
        check(edit, (THEIRS, AFTER), (THEIRS, None));
        check(edit, (THEIRS, BEFORE), (THEIRS, None));
        check(edit, (OTHERS, THEIRS), (OTHERS, THEIRS));
        check(edit, (None, THEIRS), (THEIRS, None));
        check(made, (None, None), (None, None));
        check(made, (THEIRS, None), (THEIRS, None));
        check(gone, (None, BEFORE), (None, None));
        check(gone, (None, THEIRS), (THEIRS, None));
        check(gone, (OTHERS, THEIRS), (OTHERS, THEIRS));
    }
}
