//! An op whose effect was compared with what was decided, and that may begin.

use crate::background::sent::Foreground;
use crate::journal::AfterCrash;
use crate::ops::act::to_be_shown;
use crate::ops::progress::Progress;
use crate::run_record::rows;
use crate::{Driver, Event, RunError};
use cairn_engine::Recording;
use cairn_types::{Action, Begin, Body, Coord, Ran, Settled};
use cairn_world::{Acting, Performed, Prepared};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What comes of comparing an op with the decision on it.
pub(super) enum Compared {
    /// It is what was decided on, and is performed.
    AsDecided(Box<AllowedOp>),
    /// It is settled without being performed now.
    Settled(Box<Performed>, Settled),
    /// This is recorded instead: a refusal, or that it is no longer what was shown.
    Otherwise(Recording),
}

/// An op that may have its effect now.
pub(super) struct AllowedOp {
    pub(super) at: Coord,
    /// It began before, and is performed once more.
    pub(super) again: bool,
    pub(super) action: Arc<Action>,
    pub(super) prepared: Prepared,
    /// A person chose which of its parts are done.
    pub(super) is_chosen: bool,
    /// How it is settled if it is not performed after all.
    pub(super) unperformed: Settled,
}

/// That an op begins, and what it is about to change.
pub(crate) struct Beginning<'a> {
    pub(crate) at: Coord,
    pub(crate) again: bool,
    pub(crate) prepared: &'a Prepared,
    pub(crate) is_chosen: bool,
}

impl Beginning<'_> {
    pub(crate) fn recording(&self) -> Recording {
        let Beginning { at, again, prepared, is_chosen } = *self;
        let mut recording =
            Recording { contents: prepared.contents.clone(), ..Recording::default() };
        let is_known = is_chosen || prepared.ran.is_some();
        let told = prepared.told.as_ref().filter(|_| is_known);
        let told = told.map(|(_, told)| recording.keep(told.as_str()));
        let ran = prepared.ran.as_ref().map(|ran| {
            recording.contents.extend(ran.contents.iter().cloned());
            Ran { exit: ran.exit, output: ran.output.clone(), layers: ran.layers.clone() }
        });
        let begin = Begin { at, changes: prepared.changes.clone(), again, told, ran };
        recording.facts.push(Body::Begin(begin));
        recording
    }
}

impl AllowedOp {
    /// Makes it durable that the op begins, and what it is about to change.
    pub(super) async fn begin(&self, driver: &mut Driver) -> Result<(), RunError> {
        let AllowedOp { at, again, prepared, is_chosen, .. } = self;
        driver
            .run
            .begin_op(Beginning { at: *at, again: *again, prepared, is_chosen: *is_chosen })
            .await
    }

    /// Has the world do it, taking commands meanwhile; an abort reaches the process.
    pub(super) async fn act_on_world(
        &self,
        driver: &mut Driver,
        foreground: Option<Foreground>,
    ) -> Result<Performed, RunError> {
        let at = self.at;
        let (world, sink) = (driver.world.clone(), driver.run.sink.clone());
        let cancel = CancellationToken::new();
        let mut on_output = |piece: &[u8]| {
            let text = String::from_utf8_lossy(piece).into_owned();
            sink.event(&Event::Output { at, text });
        };
        let row = rows::address(at);
        let acting = Acting { row: &row, cancel: &cancel, on_output: &mut on_output };
        let mut progress = Progress::new(at, driver.run.sink.clone());
        let mut on_progress = |done: usize, total: usize| progress.tell(done, total);
        let work = world.act_and_count(&self.action, &self.prepared, acting, &mut on_progress);
        let mut performing = Box::pin(work);
        driver.waited_command.wait_for(foreground);
        let performed = driver.meanwhile(&mut performing, &cancel).await;
        driver.waited_command.wait_for(None);
        performed
    }

    /// Settles the op, which acted. One that panicked is settled as after a crash, but not tried again: it
    /// would only panic once more.
    pub(super) async fn settle(
        &self,
        driver: &mut Driver,
        performed: Performed,
    ) -> Result<(), RunError> {
        let at = self.at;
        let is_begun = driver.engine().op(at).is_some_and(|op| op.begin().is_some());
        match (performed.panicked, is_begun) {
            (false, _) => driver.run.settle_op(at, performed, Settled::Performed),
            (true, false) => driver.run.settle_op(at, performed, Settled::NotPerformed),
            (true, true) => match driver.after_crash(at).await? {
                AfterCrash::Record(recording) => driver.run.record(recording),
                AfterCrash::Repeat => driver.run.settle_op(at, performed, Settled::NotPerformed),
            },
        }
    }
}

impl Driver {
    /// Finds out what an op does now, and whether that is what was decided on.
    pub(super) async fn compare_with_decision(
        &mut self,
        at: Coord,
        again: bool,
    ) -> Result<Compared, RunError> {
        tracing::trace!(target: "cairn::turn", "Driver::compare_with_decision");
        let action = self.preview().action(at)?;
        let mut prepared = self.would_at(at, &action).await?;
        let unperformed = match self.engine().op_in_run(at)?.has_not_happened() {
            true => Settled::NotPerformed,
            false => Settled::Indeterminate,
        };
        if let Some(settled) = prepared.settled {
            return Ok(Compared::Settled(Box::new(settled), unperformed));
        }
        let op = self.engine().op_in_run(at)?;
        if !op.is_as_shown(&prepared.shown) || !op.texts_still_fit(&prepared.changes) {
            return Ok(Compared::Otherwise(op.refuse_as_not_shown()));
        }
        if self.world.rehearses(&action) && prepared.ran.is_none() {
            // The command was decided on, not what it changes.
            prepared = self.rehearse(at, &action).await?;
            if prepared.settled.is_none()
                && self.engine().op_in_run(at)?.changes_what_runs_next(&to_be_shown(&prepared))
            {
                let refused = self.engine().op_in_run(at)?.refuse_guarded();
                return Ok(Compared::Otherwise(self.run.with_what_it_printed(refused, &prepared)));
            }
        }
        if self.world.fetches(&action) {
            prepared = self.fetch(&action).await?;
        }
        let (prepared, is_chosen) = self.preview().as_decided(at, prepared)?;
        if let Some(settled) = prepared.settled {
            return Ok(Compared::Settled(Box::new(settled), unperformed));
        }
        if let Some(refused) =
            self.engine().op_in_run(at)?.refusal_before_acting(&to_be_shown(&prepared))
        {
            return Ok(Compared::Otherwise(self.run.with_what_it_printed(refused, &prepared)));
        }
        let op = AllowedOp { at, again, action, prepared, is_chosen, unperformed };
        Ok(Compared::AsDecided(Box::new(op)))
    }

    /// What an op would change that was let fetch something from beyond this machine.
    async fn fetch(&mut self, action: &Action) -> Result<Prepared, RunError> {
        self.run.flush().await?;
        let (world, cancel) = (self.world.clone(), CancellationToken::new());
        let mut fetching = Box::pin(world.fetch(action, &cancel));
        self.meanwhile(&mut fetching, &cancel).await
    }
}
