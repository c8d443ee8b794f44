//! How far an op reaches besides what was asked for, as far as that was found out: the paths it would
//! change, and how much it would remove. Gates look at it; decisions and questions keep it.

use crate::admit::Prepared;
use crate::policy::{Rulebook, is_precious};
use crate::state::OpState;
use cairn_types::{Change, Decision, Proposal, Removed};

/// How far an op reaches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// The paths it would change, but for directories made on the way.
    pub(crate) changed: Vec<String>,
    /// How much it would remove.
    pub(crate) removed: Removed,
}

impl Reach {
    fn of(changes: &[Change], removed: Removed, rules: &Rulebook) -> Reach {
        let kept = changes.iter().filter(|change| counts(change, rules));
        Reach { changed: kept.map(|change| change.path.clone()).collect(), removed }
    }

    /// What an op was about to change when it began.
    pub(crate) fn begun(op: &OpState, rules: &Rulebook) -> Option<Reach> {
        let removed = op.decision.as_ref().map(|decision| decision.removed).unwrap_or_default();
        Some(Reach::of(&op.begin.as_ref()?.changes, removed, rules))
    }

    /// What an op would change that was prepared.
    pub(crate) fn prepared(prepared: &Prepared, rules: &Rulebook) -> Reach {
        Reach::of(&prepared.changes, prepared.removed, rules)
    }
}

/// Whether a change decides anything: not that a directory is made on the way, nor what is built again
/// and no rule is about.
pub(crate) fn counts(change: &Change, rules: &Rulebook) -> bool {
    let path = &change.path;
    let is_built_again = change.ignored && !is_precious(path) && !rules.watches(path);
    !is_built_again && !change.makes_directory()
}

impl From<&Proposal> for Reach {
    fn from(proposal: &Proposal) -> Reach {
        Reach { changed: proposal.paths(), removed: proposal.removed }
    }
}

impl From<&Decision> for Reach {
    fn from(decision: &Decision) -> Reach {
        Reach { changed: decision.also.clone(), removed: decision.removed }
    }
}
