//! Ops: preparing them, looking, settling them, and finding out what became of one after a crash. Effects are
//! `perform`'s.

use crate::background::sent::Foreground;
use crate::journal::{AfterCrash, Recovery};
use crate::ops::progress::Progress;
use crate::run_record::rows;
use crate::{Driver, RunError};
use cairn_engine::{Folding, Found, OpInRun, Part};
use cairn_types::{Action, Coord, Proposal, ProposalKind, Settled};
use cairn_world::{Performed, Prepared};
use futures_util::future::join_all;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(crate) fn to_be_shown(prepared: &Prepared) -> cairn_engine::Prepared {
    cairn_engine::Prepared {
        changes: prepared.changes.clone(),
        shown: prepared.shown.clone(),
        label: prepared.label.clone(),
        fresh: prepared.fresh.clone(),
        removed: prepared.removed,
        wanted: prepared.wanted.clone(),
        parts: prepared
            .parts
            .iter()
            .map(|part| Part {
                label: part.label.clone(),
                path: part.path.clone(),
                from: part.from.clone(),
            })
            .collect(),
    }
}

impl Driver {
    pub(crate) async fn prepare(&mut self, at: Coord) -> Result<(), RunError> {
        tracing::trace!(target: "cairn::turn", "Driver::prepare");
        let action = self.preview().action(at)?;
        if let Action::Consult(consult) = &*action {
            return self.run.record(self.engine().op_in_run(at)?.put_to_person(consult));
        }
        let prepared = self.would_at(at, &action).await?;
        if let Some(settled) = prepared.settled {
            return self.run.settle_without_acting(at, settled, Settled::NotPerformed);
        }
        let shown = to_be_shown(&prepared);
        self.run.keep_prepared(at, prepared);
        match self.engine().op_in_run(at)?.hook_before_question(&shown) {
            Some(ask) => self.ask_hook(ask).await,
            None => {
                let recording = self.engine().op_in_run(at)?.judge_prepared(&shown);
                self.record_step(recording).await
            }
        }
    }

    /// An earlier driver put this question. If what would happen is no longer what it shows, it is
    /// put afresh, or settled when there is nothing left to ask. Whether it stands as it was.
    pub(crate) async fn question_stands(&mut self, at: Coord) -> Result<bool, RunError> {
        // What a command wanted to reach is asked about, not what it would do.
        let is_network = |question: &Proposal| question.kind == ProposalKind::Network;
        let settled = |op: &cairn_engine::OpState| {
            op.begin().is_some()
                || op.intent.effect.is_read_only()
                || op.question().is_some_and(is_network)
        };
        if self.engine().op(at).is_none_or(settled) {
            return Ok(true);
        }
        let action = self.preview().action(at)?;
        let prepared = self.would_at(at, &action).await?;
        if let Some(settled) = prepared.settled {
            self.run.settle_without_acting(at, settled, Settled::NotPerformed)?;
            return Ok(false);
        }
        let shown = to_be_shown(&prepared);
        self.run.keep_prepared(at, prepared);
        match self.engine().op_in_run(at)?.new_question_if_changed(&shown) {
            None => Ok(true),
            Some(recording) => self.run.record(recording).map(|()| false),
        }
    }

    /// Performs ops that change nothing side by side; their rows keep the model's order.
    pub(crate) async fn read(&mut self, ats: &[Coord]) -> Result<(), RunError> {
        self.run.flush().await?;
        let parsed: Vec<Arc<Action>> =
            ats.iter().map(|at| self.preview().action(*at)).collect::<Result<_, _>>()?;
        let actions: Vec<&Action> = parsed.iter().map(|action| &**action).collect();
        let _shown = self.own_rows.show_durable(&self.run, &self.streams, &actions)?;
        let running: Vec<_> = actions
            .iter()
            .map(|action| self.own_rows.running_lines(&self.streams, action))
            .collect();
        let world = self.world.clone();
        let cancel = CancellationToken::new();
        let outside = &self.settings.outside_tools.clone();
        let looks = actions.iter().zip(ats).zip(running).map(|((action, at), running)| {
            let (world, cancel) = (&world, &cancel);
            async move {
                match (action, running) {
                    (Action::Open { .. } | Action::Fold { .. }, _) => None,
                    (_, Some(lines)) => Some(lines),
                    (Action::Call(call), None) => {
                        let answer = outside.call(call.clone(), cancel).await;
                        Some(Performed::told(answer.status, answer.text))
                    }
                    (action, None) => Some(world.look(action, &rows::address(*at), cancel).await),
                }
            }
        });
        let mut performing = Box::pin(join_all(looks));
        let command = actions.iter().zip(ats).find(|(one, _)| matches!(one, Action::Exec(_)));
        self.waited_command.wait_for(command.map(|(_, at)| Foreground::Look(*at)));
        let performed = self.meanwhile(&mut performing, &cancel).await;
        drop(performing);
        self.waited_command.wait_for(None);
        let performed = performed?;
        for (at, looked) in ats.iter().zip(performed) {
            // What is folded is what there is once all before it are settled.
            let performed = match (looked, self.run.refusal_to_open(*at)?) {
                (Some(looked), _) => looked,
                (None, Some(refused)) => refused,
                (None, None) => folded(self.engine().op_in_run(*at)?),
            };
            self.run.settle_op(*at, performed, Settled::Performed)?;
        }
        Ok(())
    }

    /// It began before this process did: brings it to its end.
    pub(crate) async fn settle(&mut self, at: Coord) -> Result<(), RunError> {
        match self.after_crash(at).await? {
            AfterCrash::Record(recording) => self.run.record(recording),
            AfterCrash::Repeat => self.act(at, true).await,
        }
    }

    /// What is to become of an op that began and was not seen to end, by what the disk shows.
    pub(crate) async fn after_crash(&self, at: Coord) -> Result<AfterCrash, RunError> {
        let action = self.preview().action(at)?;
        let without_changes = match &*action {
            // What was to be ended has ended with its driver.
            Action::Kill { path } if rows::is_row(path) => Found::NotDone,
            _ => Found::Unknown,
        };
        let shown = match self.run.journal.begun_changes(at).is_empty() {
            true => self.preview().would_as_op(at, &action).await?.shown,
            false => String::new(),
        };
        let mut progress = Progress::new(at, self.run.sink.clone());
        let mut on_progress = |done: usize, total: usize| progress.tell(done, total);
        let (shown, progress) = (shown.as_str(), &mut on_progress);
        let recovery = Recovery::Continue { without_changes, shown, progress };
        Ok(self.run.journal.settle_after_crash(at, &self.world, recovery)?)
    }
}

/// What folding or opening rows comes to.
pub(crate) fn folded(op: OpInRun<'_>) -> Performed {
    let Folding { status, text } = op.folding();
    Performed::told(status, text)
}
