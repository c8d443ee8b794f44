//! How far an op reaches besides what was asked for, as far as that was found out: the paths it would
//! change, and how much it would remove. Gates look at it; decisions and questions keep it.

use crate::admit::Prepared;
use crate::op::OpState;
use crate::policy::RemovedPaths;
use cairn_types::{Change, ChangeKind, Decision, Proposal, Removed, is_precious};

/// How far an op reaches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// The paths it would change, but for directories made on the way and what git ignores.
    pub(crate) changed: Vec<String>,
    /// Those that git ignores.
    pub(crate) ignored: Vec<String>,
    /// Those of all of them that would be gone.
    pub(crate) gone: Vec<String>,
    /// How much it would remove.
    pub(crate) removed: Removed,
}

impl Reach {
    fn of(changes: &[Change], removed: Removed) -> Reach {
        let kept = changes.iter().filter(|change| counts(change));
        let paths = |is_meant: fn(&Change) -> bool| {
            let meant = changes.iter().filter(|change| is_meant(change));
            meant.map(|change| change.path.clone()).collect()
        };
        Reach {
            changed: kept.flat_map(Change::judged).cloned().collect(),
            // A directory that is made may be one with all that is in it.
            ignored: paths(|change| change.ignored),
            gone: paths(|change| change.kind == ChangeKind::Deleted),
            removed,
        }
    }

    /// The same as if only these paths were changed. `removed` are those that would be gone.
    pub(crate) fn limited_to(&self, changed: &[String], removed: &RemovedPaths<'_>) -> Reach {
        let gone = changed.iter().filter(|path| removed.cover(path));
        Reach {
            gone: gone.cloned().collect(),
            changed: changed.to_vec(),
            removed: self.removed,
            ..Reach::default()
        }
    }

    /// What an op was about to change when it began.
    pub(crate) fn begun(op: &OpState) -> Option<Reach> {
        let removed = op.decision().map(|decision| decision.removed).unwrap_or_default();
        Some(Reach::of(&op.begin()?.changes, removed))
    }
}

/// Whether a change decides anything: not that a directory is made on the way, nor what is built again,
/// unless something in it is precious or git takes it for something of its own.
pub(crate) fn counts(change: &Change) -> bool {
    let is_own = !change.only_makes_way() && (!change.ignored || is_precious(&change.path));
    is_own || !change.precious.is_empty() || !change.counts_as.is_empty()
}

impl From<&Prepared> for Reach {
    fn from(prepared: &Prepared) -> Reach {
        Reach::of(&prepared.changes, prepared.removed)
    }
}

impl From<&Proposal> for Reach {
    fn from(proposal: &Proposal) -> Reach {
        let items = proposal.items.iter().flat_map(|item| [&item.change, &item.with]).flatten();
        let gone = items.filter(|change| change.kind == ChangeKind::Deleted);
        Reach {
            changed: proposal.paths(),
            gone: gone.map(|change| change.path.clone()).collect(),
            removed: proposal.removed,
            ..Reach::default()
        }
    }
}

impl From<&Decision> for Reach {
    fn from(decision: &Decision) -> Reach {
        Reach {
            changed: decision.also.clone(),
            gone: decision.gone.clone(),
            removed: decision.removed,
            ..Reach::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_types::{FileKind, FileState};

    fn directory() -> Option<FileState> {
        Some(FileState::of(FileKind::Directory, 0o755))
    }

    /// By which paths a directory is judged that goes, comes or is replaced, with these things in it.
    #[track_caller]
    fn check(path: &str, (ignored, precious): (bool, &[&str]), expected: [&[&str]; 3]) {
        let sides = [(directory(), None), (None, directory()), (directory(), directory())];
        for ((before, after), expected) in sides.into_iter().zip(expected) {
            let precious = precious.iter().map(|path| (*path).to_owned()).collect();
            let change = Change::between(path.to_owned(), before, after);
            let change = Change { ignored, precious, ..change };
            let reach = Reach::of(std::slice::from_ref(&change), Removed::default());
            assert_eq!(reach.changed, expected, "{change:?}");
        }
    }

    #[test]
    fn an_ignored_directory_is_judged_by_what_is_precious_in_it() {
        check("target", (true, &[]), [&[]; 3]);
        check("target", (true, &["target/.env"]), [&["target/.env"]; 3]);
        check(".idea", (true, &[".idea"]), [&[".idea"]; 3]);
        check("d", (false, &[]), [&["d"], &[], &["d"]]);
        check("d", (false, &["d/.env"]), [&["d", "d/.env"], &["d/.env"], &["d", "d/.env"]]);
    }
}
