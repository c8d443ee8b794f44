//! The record of a run, as its driver keeps it: the log, and everything that follows the log fact by fact. What is
//! recorded next is not decided here.

mod open_ops;
mod ops;
mod questions;
pub(crate) mod rows;

use crate::journal::{CommittedFact, Journal};
use crate::model::nested::DirectoryInstructions;
use crate::model::transcript::text_of;
use crate::ops::preview::own_commands;
use crate::run_record::open_ops::OpenOps;
use crate::run_record::questions::PutQuestions;
use crate::{DecisionReply, Event, Messages, RunError, Sink, now_ms};
use cairn_engine::{Engine, Lap, LapInRun, ParsedCall, Recording, Word};
use cairn_store::StoreError;
use cairn_surface::Toolbox;
use cairn_types::{Body, By, ContentRef, Coord, Hash, Proposal, ProposalId, Verdict, Writer};
use cairn_world::World;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A run's log with what is kept in step with it.
pub(crate) struct RunRecord {
    pub(crate) journal: Journal,
    /// What the model is sent, by the log so far.
    pub(crate) messages: Messages,
    pub(crate) open_ops: OpenOps,
    /// Its tools, as it began with them.
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) questions: PutQuestions,
    /// Where events go.
    pub(crate) sink: Arc<dyn Sink>,
    instructions: DirectoryInstructions,
}

impl RunRecord {
    pub(crate) fn new(
        journal: Journal,
        messages: Messages,
        toolbox: Toolbox,
        sink: Arc<dyn Sink>,
        world: Arc<World>,
    ) -> RunRecord {
        let (open_ops, questions) = Default::default();
        let instructions = DirectoryInstructions::new(world);
        let toolbox = Arc::new(toolbox);
        RunRecord { journal, messages, open_ops, toolbox, questions, sink, instructions }
    }

    /// The run's state, with everything that was recorded.
    pub(crate) fn engine(&self) -> &Engine {
        self.journal.engine()
    }

    /// The loop that is worked on.
    pub(crate) fn open_loop(&self) -> Result<LapInRun<'_>, RunError> {
        let none = || RunError::NoOpenLoop { run: self.journal.run_id().clone() };
        self.engine().lap_in_run().ok_or_else(none)
    }

    /// A content by its hash, durable or about to be.
    pub(crate) fn content(&self, hash: &Hash) -> Result<Vec<u8>, StoreError> {
        self.journal.content(hash)
    }

    /// Whether the running loop is to stop.
    pub(crate) fn is_aborted(&self) -> bool {
        self.engine().lap().is_some_and(Lap::is_aborted)
    }

    /// Takes facts into the run. They are durable after the next `flush`.
    pub(crate) fn record(&mut self, recording: Recording) -> Result<(), RunError> {
        tracing::trace!(target: "cairn::turn", "RunRecord::record");
        let mut recording = self.instructions.added_to(recording, self.journal.engine());
        self.keep_actions(&mut recording);
        self.open_ops.sent.forget_settled(&recording.facts, self.journal.engine());
        self.journal.record(recording);
        let engine = self.journal.engine();
        self.open_ops.actions.keep_only(|at| engine.op(at).is_some());
        self.messages.extend(engine, &|hash| self.journal.content(hash))?;
        Ok(())
    }

    /// Keeps the calls among the facts as they were parsed for them.
    fn keep_actions(&mut self, recording: &mut Recording) {
        for ParsedCall { at, action } in recording.parsed_calls.drain(..) {
            let asked = recording.facts.iter().find_map(|fact| match fact {
                Body::Intent(intent) if intent.at == at => Some(intent),
                _ => None,
            });
            if let Some(intent) = asked {
                let action = own_commands(self.journal.run_id(), action);
                self.open_ops.actions.keep(intent, action);
            }
        }
    }

    /// Makes everything recorded durable, then tells it.
    pub(crate) async fn flush(&mut self) -> Result<(), RunError> {
        tracing::trace!(target: "cairn::turn", "RunRecord::flush");
        for committed in self.journal.flush().await? {
            if let Body::Proposal(proposal) = &committed.fact.body {
                self.questions.note_put(&proposal.id);
            }
            self.tell(committed);
        }
        Ok(())
    }

    /// Tells a durable fact, with what was signed with it.
    pub(crate) fn tell(&self, committed: CommittedFact) {
        let CommittedFact { fact, text, receipt, anchor } = committed;
        let stored = |text: ContentRef| self.content(&text.hash).ok();
        let text = text.or_else(|| fact.body.main_text().and_then(stored));
        let text = text.map(|bytes| text_of(&bytes).to_string());
        self.sink.event(&Event::Fact { text, receipt, anchor, fact: Box::new(fact) });
    }

    /// Says a sentence to the person.
    pub(crate) fn notice(&self, text: String) {
        self.sink.event(&Event::Notice(text));
    }

    /// The newest question about an op.
    pub(crate) fn newest_question(&self, at: Coord) -> Option<Proposal> {
        let op = self.engine().op(at)?;
        op.newest_question().cloned()
    }

    /// Until when this question waits. One that an earlier driver put is told again first.
    pub(crate) fn show_question(
        &mut self,
        proposal: &Proposal,
        limit: Option<Duration>,
    ) -> Result<Option<Instant>, RunError> {
        if !self.questions.was_put(&proposal.id) {
            let shown = text_of(&self.content(&proposal.shown.hash)?).to_string();
            self.sink.event(&Event::StillOpen { proposal: proposal.clone(), shown });
            self.questions.note_put(&proposal.id);
        }
        Ok(self.questions.deadline(&proposal.id, limit))
    }

    /// Takes a word on a question, and tells whoever waits for that what became of it. Without anybody the person is
    /// told why it was not taken.
    pub(crate) async fn decide(
        &mut self,
        word: &Word,
        heard: Option<DecisionReply>,
    ) -> Result<(), RunError> {
        match self.engine().decided(word, now_ms()) {
            Ok(recording) => {
                self.record(recording)?;
                self.flush().await?;
                if let Some(heard) = heard {
                    // Whoever asked may be gone.
                    let _ = heard.send(Ok(()));
                }
            }
            Err(refused) => {
                if let Some(heard) = heard {
                    let _ = heard.send(Err(refused));
                    return Ok(());
                }
                let when = refused.decided_at().map(|at| format!(" at {at}"));
                let said = format!("{refused}{}", when.unwrap_or_default());
                self.notice(self.journal.scrubber().text(&said).into_owned());
            }
        }
        Ok(())
    }

    /// Decides a question in the place of a person. Of one that is not open any longer nothing is recorded.
    pub(crate) fn decide_without_person(
        &mut self,
        proposal: ProposalId,
        verdict: Verdict,
        by: By,
    ) -> Result<(), RunError> {
        let word = Word::new(proposal, verdict, by);
        match self.engine().decided(&word, now_ms()) {
            Ok(recording) => self.record(recording),
            Err(_) => Ok(()),
        }
    }

    /// A fork that gets a prompt of its own does not first work its parent's to the end.
    pub(crate) fn leave_inherited_loop(&mut self) -> Result<(), RunError> {
        if self.engine().lap().is_some_and(Lap::is_inherited) {
            let stop = self
                .engine()
                .lap()
                .and_then(|lap| lap.abort("forked here, with another prompt", Writer::Client));
            self.record(stop.unwrap_or_default())?;
        }
        Ok(())
    }
}
