//! Ops on what is beyond this machine: what is known of one before it was let, which reaches nothing, and what
//! it comes to afterwards. How something is fetched is its scheme's.

use crate::caught::caught;
use crate::settled::Prepared;
use crate::{World, entries, unfinished, unprepared};
use cairn_text::shown::clean;
use cairn_types::Action;
use tokio_util::sync::CancellationToken;

impl World {
    /// A look at what is beyond this machine, before it is let. What cannot be done is not asked about.
    pub(crate) fn look_beyond(&self, action: &Action, path: &str) -> Prepared {
        let label = format!("{} {path}", action.op());
        let listed = || self.listed(path).map(drop);
        match (self.locations.schemes.remote(path), action) {
            (Some(uri), Action::Read(_)) => {
                entries::beyond(&self.locations.schemes, &uri, (&label, &format!("{label}\n")))
            }
            _ => match listed() {
                Err(refusal) => entries::refused(&label, refusal),
                Ok(()) => Prepared { label: clean(&label), ..Prepared::default() },
            },
        }
    }

    /// Whether what an action changes is known only once something beyond this machine was fetched.
    #[must_use]
    pub fn fetches(&self, action: &Action) -> bool {
        matches!(action, Action::Copy(carry) if self.locations.schemes.remote(&carry.from).is_some())
    }

    /// What such an action would change, for one that was let: fetches it.
    pub async fn fetch(&self, action: &Action, cancel: &CancellationToken) -> Prepared {
        let Action::Copy(carry) = action else { return self.prepare_beside(action).await };
        let (world, carry, cancel) = (self.clone(), carry.clone(), cancel.clone());
        let fetch = move || {
            let (roots, schemes) = (&world.locations.roots, world.locations.schemes.as_ref());
            let prepared =
                entries::carry::Ends { roots, schemes, cancel: &cancel }.copy_here(&carry);
            match world.locations.refuse_read_only(&prepared.changes) {
                Err(refusal) => entries::refused(&prepared.label, refusal),
                Ok(()) => prepared,
            }
        };
        let fetched = tokio::task::spawn_blocking(move || caught(fetch)).await;
        fetched.unwrap_or_else(|e| Err(unfinished(&e))).unwrap_or_else(unprepared)
    }
}
