//! Commands that run over an overlay before anything is decided about what they changed.

use crate::background::sent::Foreground;
use crate::run_record::rows;
use crate::{Driver, Event, RunError, Sink};
use cairn_engine::{OpState, Recording};
use cairn_types::{Action, Body, Coord, Reach};
use cairn_world::{OnOutput, Prepared};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_util::sync::CancellationToken;

impl Driver {
    /// What an op would do. A command that may run over an overlay first has run when this returns, once.
    pub(crate) async fn would_at(
        &mut self,
        at: Coord,
        action: &Action,
    ) -> Result<Prepared, RunError> {
        let input = self.engine().op(at).map(OpState::input);
        if let Some(row) = self.engine().op(at).and_then(|op| op.intent.of) {
            return Ok(self.run.open_ops.sent.get_or_lost(row));
        }
        let hosts = self.engine().op_in_run(at)?.host_access();
        if let Some(prepared) = self.run.open_ops.prepared.take_or_forget(at, input)
            && (prepared.ran.is_none() || prepared.reached_by == hosts || self.run.has_reached(at))
        {
            return Ok(prepared);
        }
        if rows::looks_at_rows(action) {
            self.run.flush().await?;
        }
        match self.world.rehearses(action) && self.engine().op_in_run(at)?.runs_before_question() {
            true => self.rehearse(at, action).await,
            false => self.preview().would_as_op(at, action).await,
        }
    }

    /// Runs a command over an overlay, taking commands meanwhile; an abort reaches it. What is told of it
    /// has no secrets in it.
    pub(crate) async fn rehearse(
        &mut self,
        at: Coord,
        action: &Action,
    ) -> Result<Prepared, RunError> {
        let hosts = self.engine().op_in_run(at)?.host_access();
        if !hosts.is_empty() {
            let reach = Reach { at, hosts: hosts.clone() };
            self.run.record(Recording::of(Body::Reach(reach)))?;
        }
        self.run.flush().await?;
        self.run.sink.event(&Event::Running(at));
        self.waited_command.wait_for(Some(Foreground::Overlay(at)));
        let cancel = CancellationToken::new();
        let name = format!("{}-{}-{}-{}", self.run_id(), at.lap, at.turn, at.seq);
        let (world, is_waited_for) = (self.world.clone(), Arc::new(AtomicBool::new(true)));
        let on_output = output_teller(at, self.run.sink.clone(), is_waited_for.clone());
        let mut starting = Box::pin(world.rehearse(action, (&name, &hosts), on_output));
        let started = self.meanwhile(&mut starting, &cancel).await?;
        drop(starting);
        let waited = match started {
            Ok(rehearsing) => self.wait_for(at, rehearsing).await?,
            Err(prepared) => Ok(*prepared),
        };
        self.waited_command.wait_for(None);
        let mut prepared = match waited {
            Ok(prepared) => prepared,
            Err(rehearsing) => {
                is_waited_for.store(false, Ordering::Relaxed);
                let settled =
                    Some(self.streams.take_sent(&self.run, at, action.target(), rehearsing));
                return Ok(Prepared { settled, ..Prepared::default() });
            }
        };
        prepared.reached_by = hosts;
        self.run.scrub_shown(&mut prepared);
        Ok(prepared)
    }

    /// The op whose command runs over an overlay, or has run and is not decided on. No fact says so: after a
    /// crash it runs again.
    pub(crate) fn begun(&self) -> Option<Coord> {
        self.waited_command.over_overlay().or_else(|| self.run.open_ops.prepared.op_that_ran())
    }
}

/// Returns what reports a command's output as it comes, as long as the command is waited for.
fn output_teller(at: Coord, sink: Arc<dyn Sink>, is_waited_for: Arc<AtomicBool>) -> OnOutput {
    Box::new(move |piece: &[u8]| {
        if is_waited_for.load(Ordering::Relaxed) {
            let text = String::from_utf8_lossy(piece).into_owned();
            sink.event(&Event::Output { at, text });
        }
    })
}
