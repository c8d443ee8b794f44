//! How far an op reaches besides what was asked for, as far as that was found out: the paths it would
//! change, and how much it would remove. Gates look at it; decisions and questions keep it.

use crate::admit::Prepared;
use crate::policy::is_precious;
use crate::state::OpState;
use cairn_types::{Change, Decision, Proposal, Removed};

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
        let paths = |is_meant: fn(&Change) -> bool| {
            let meant =
                changes.iter().filter(|change| !change.makes_directory() && is_meant(change));
            meant.map(|change| change.path.clone()).collect()
        };
        Reach {
            changed: paths(counts),
            ignored: paths(|change| !counts(change)),
            gone: paths(|change| change.after.is_none()),
            removed,
        }
    }

    /// What an op was about to change when it began.
    pub(crate) fn begun(op: &OpState) -> Option<Reach> {
        let removed = op.decision.as_ref().map(|decision| decision.removed).unwrap_or_default();
        Some(Reach::of(&op.begin.as_ref()?.changes, removed))
    }
}

/// Whether a change decides anything: not that a directory is made on the way, nor what is built again.
pub(crate) fn counts(change: &Change) -> bool {
    !change.makes_directory() && (!change.ignored || is_precious(&change.path))
}

impl From<&Prepared> for Reach {
    fn from(prepared: &Prepared) -> Reach {
        Reach::of(&prepared.changes, prepared.removed)
    }
}

impl From<&Proposal> for Reach {
    fn from(proposal: &Proposal) -> Reach {
        let items = proposal.items.iter().flat_map(|item| [&item.change, &item.with]).flatten();
        let gone = items.filter(|change| change.after.is_none());
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
        let (changed, removed) = (decision.also.clone(), decision.removed);
        Reach { changed, removed, ..Reach::default() }
    }
}
