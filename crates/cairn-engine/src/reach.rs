//! How far an op reaches besides what was asked for, as far as that was found out: the paths it would
//! change, and how much it would remove. Gates look at it; decisions and questions keep it.

use crate::admit::Prepared;
use cairn_types::{Decision, Proposal, Removed};

/// How far an op reaches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// The paths it would change, but for directories made on the way.
    pub(crate) changed: Vec<String>,
    /// How much it would remove.
    pub(crate) removed: Removed,
}

impl From<&Prepared> for Reach {
    fn from(prepared: &Prepared) -> Reach {
        let kept = prepared.changes.iter().filter(|change| !change.makes_directory());
        Reach {
            changed: kept.map(|change| change.path.clone()).collect(),
            removed: prepared.removed,
        }
    }
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
