//! When a driver looks at what is around its run: before the model is asked, and before a command works on the files
//! themselves. `delta` reports what is found.

use crate::RunError;
use crate::changes::delta::changes_by_others;
use crate::changes::reconcile::{self, Known, Sight};
use crate::journal::Journal;
use cairn_engine::{Lap, Recording};
use cairn_world::World;
use std::sync::Arc;
use tokio::task::JoinHandle;

/// A driver's look at what others change.
#[derive(Default)]
pub(crate) struct ChangeWatch {
    sight: Option<Sight>,
    /// A look that goes on beside the model's first answer.
    beside: Option<JoinHandle<Result<Sight, RunError>>>,
    /// The turn that was looked around for.
    turn: Option<(u32, u32)>,
}

impl ChangeWatch {
    /// Looks around once for a turn, before the model is asked for it. Returns what others changed; the model is asked
    /// anew once that is recorded.
    pub(crate) async fn look_around(
        &mut self,
        journal: &Journal,
        world: &Arc<World>,
        turn: (u32, u32),
    ) -> Result<Option<Recording>, RunError> {
        tracing::trace!(target: "cairn::turn", "ChangeWatch::look_around");
        if self.turn == Some(turn) {
            return Ok(None);
        }
        let is_first = self.turn.is_none();
        self.turn = Some(turn);
        let (store, session) = (journal.store().clone(), journal.session().clone());
        let has_files = !journal.engine().driving().terms().flags.no_repo;
        let is_new = journal.engine().is_new();
        let own = |is_it: bool| is_it.then(|| journal.run_id().clone());
        let known = Known {
            doer: own(journal.engine().lap().is_some_and(Lap::worked_directly)),
            beginner: own(is_new),
        };
        let look = |sight| {
            let here = (store.clone(), Arc::clone(world));
            reconcile::reconcile(here, session.clone(), (sight, known.clone()))
        };
        if is_first && (is_new || !reconcile::has_looked(&store, &session)) {
            // A run's first request waits for nothing.
            if has_files {
                self.beside = Some(tokio::spawn(look(Sight::default())));
            }
            if is_new {
                return Ok(None);
            }
        } else if has_files {
            if let Some(beside) = self.beside.take()
                && let Ok(Ok(sight)) = beside.await
            {
                self.sight = Some(sight);
            }
            let sight = self.sight.take().unwrap_or_default();
            self.sight = Some(look(sight).await?);
        }
        changes_by_others(journal)
    }

    /// Looks before a command works on the files themselves, so that what it changes is known for its own.
    pub(crate) async fn look_before_command(
        &mut self,
        journal: &Journal,
        world: &Arc<World>,
    ) -> Result<(), RunError> {
        let Some(sight) = self.sight.take() else { return Ok(()) };
        // Another of the same reply may have worked on them before.
        let doer = journal
            .engine()
            .lap()
            .is_some_and(Lap::worked_directly)
            .then(|| journal.run_id().clone());
        let here = (journal.store().clone(), Arc::clone(world));
        let known = Known { doer, beginner: None };
        let session = journal.session().clone();
        self.sight = Some(reconcile::reconcile(here, session, (sight, known)).await?);
        Ok(())
    }
}
