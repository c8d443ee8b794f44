//! Drives one run: asks the engine for the next step, performs it, records what happened. Facts are
//! committed together whenever something is about to become visible.

mod end_again;
pub(crate) mod fork;
mod hooks;
mod made;
pub(crate) mod start;
mod telling;

use crate::background::Streams;
use crate::background::sent::{Sending, WaitedCommand};
use crate::changes::change_watch::ChangeWatch;
use crate::model::model_calls::ModelCalls;
use crate::model::prepared_ask::PreparedAsk;
use crate::ops::preview::OpPreview;
use crate::run_record::RunRecord;
use crate::schemes::{Leads, Web};
use crate::{Longest, OutsideTools, RunError, Written};
use cairn_engine::{DecideError, Engine, NewText, Recording, Step, Word};
use cairn_hooks::Hooks;
use cairn_provider::Effort;
use cairn_store::Store;
use cairn_text::scrub::Scrubber;
use cairn_types::{
    By, Coord, Proposal, ProposalId, RunId, SessionId, Surface, ToolUse, Verdict, Writer,
};
use cairn_world::World;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// What a client may say to a running run.
#[derive(Debug)]
pub enum Command {
    /// Words for the running loop.
    Steer(String),
    /// One more loop.
    Prompt(String),
    /// Stop the running loop.
    Abort(String),
    /// A word on a proposal, and whoever waits to hear what became of it.
    Decide(Word, Option<DecisionReply>),
    /// Whoever is asked wants the texts that an open question would write, to change them.
    Texts(ProposalId, oneshot::Sender<Vec<NewText>>),
    /// The command that is waited for shall go on in the background, and whoever waits to hear whether
    /// it does. Where nobody does, it is said why not.
    Background(Option<Sending>),
    /// There is nobody left to answer questions.
    Gone,
}

/// Where is told whether a word was taken: after it is durable, or why it was not.
pub type DecisionReply = oneshot::Sender<Result<(), DecideError>>;

/// A question that was put, and until when it waits.
pub(crate) type Put = (Proposal, Option<Instant>);

/// How a driver behaves; nothing here is part of the run.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The model's name, `provider/name`, recorded with its replies.
    pub model: String,
    /// How long a question waits for an answer; for ever when absent.
    pub decide_within: Option<Duration>,
    /// Folders besides the project's that the world is over, for the model and the log.
    pub folders: Vec<String>,
    /// How hard the model thinks before it answers.
    pub effort: Effort,
    /// The JSON Schema that its answers must follow.
    pub schema: Option<Arc<str>>,
    /// Finds the secrets in what is recorded and told.
    pub scrubber: Scrubber,
    /// How long the model's answers may be.
    pub longest: Longest,
    /// Who is asked when something happens.
    pub hooks: Hooks,
    /// What pages may be read.
    pub web: Web,
    /// The tools that the program which drives it adds.
    pub outside_tools: OutsideTools,
    /// Tools that a new run is given besides, of `cairn_surface::native::ON_REQUEST`.
    pub more_tools: Vec<String>,
    /// How the model of a new run writes.
    pub manner: Manner,
}

/// How the model of a new run writes, and what it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manner {
    /// In what grammar.
    pub surface: Surface,
    /// It is a small one: it is told less, and reminded more.
    pub small: bool,
    /// The only tools it may call; all of them when empty.
    pub tools: Vec<String>,
    /// Whether it calls them.
    pub tool_use: ToolUse,
}

impl Default for Manner {
    fn default() -> Manner {
        Manner {
            surface: Surface::Native,
            small: false,
            tools: Vec::new(),
            tool_use: ToolUse::Free,
        }
    }
}

/// Why a driver stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// There is nothing left to do.
    Idle,
    /// It made as many steps as it was told to.
    Steps,
}

/// One run, driven by this process.
pub struct Driver {
    /// The log, and what follows it.
    pub(crate) run: RunRecord,
    pub(crate) world: Arc<World>,
    pub(crate) model_calls: ModelCalls,
    pub(crate) inbox: mpsc::UnboundedReceiver<Command>,
    pub(crate) settings: Settings,
    /// Commands in the background. They end when this is dropped.
    pub(crate) streams: Streams,
    /// The command that is waited for.
    pub(crate) waited_command: WaitedCommand,
    pub(crate) change_watch: ChangeWatch,
    /// Where what it reads beyond this machine may lead.
    pub(crate) leads: Leads,
    /// Its rows, as ops see them.
    pub(crate) own_rows: crate::schemes::OwnRows,
    /// The run had ended, and its end is told once more.
    pub(crate) shows_end_again: bool,
}

impl Driver {
    /// The run.
    #[must_use]
    pub fn run_id(&self) -> &RunId {
        self.run.journal.run_id()
    }

    /// Its session.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        self.run.journal.session()
    }

    /// Where it is kept.
    #[must_use]
    pub fn store(&self) -> &Store {
        self.run.journal.store()
    }

    /// The JSON Schema that answers must follow.
    #[must_use]
    pub fn schema(&self) -> Option<&str> {
        self.settings.schema.as_deref()
    }

    /// What it has made durable so far.
    #[must_use]
    pub fn written(&self) -> Written {
        self.run.journal.written()
    }

    /// How many commands run in its background.
    #[must_use]
    pub fn running(&self) -> usize {
        self.streams.running()
    }

    /// Its state.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        self.run.journal.engine()
    }

    /// Drives until there is nothing left to do, or for so many steps; the run can be continued
    /// from there, by this driver or another.
    pub async fn drive(&mut self, steps: Option<u64>) -> Result<Pause, RunError> {
        tracing::trace!(target: "cairn::turn", "Driver::drive");
        let mut left = steps;
        loop {
            self.take_waiting().await?;
            self.note_ended().await?;
            let step = self.engine().step();
            if step != Step::Linger {
                self.streams.end_lingering();
            }
            match step {
                Step::Idle => {
                    self.run.flush().await?;
                    if std::mem::take(&mut self.shows_end_again) {
                        self.run.tell_end_again().await?;
                    }
                    if self.is_done().await? {
                        return Ok(Pause::Idle);
                    }
                    // To wait is no step.
                    continue;
                }
                Step::Record(recording) => self.record_step(recording).await?,
                Step::AskModel { messages, .. } => self.ask_model(messages).await?,
                Step::Prepare(at) => self.prepare(at).await?,
                Step::Read(ats) => self.read(&ats).await?,
                Step::Await(at) => self.await_word(at).await?,
                Step::Act { at, again } => self.act(at, again).await?,
                Step::Settle(at) => self.settle(at).await?,
                Step::Hook(ask) => self.ask_hook(ask).await?,
                Step::Conclude(at) => self.run.conclude_op(at)?,
                Step::Linger => self.linger().await?,
            }
            if let Some(left) = &mut left {
                *left = left.saturating_sub(1);
                if *left == 0 && self.engine().step() != Step::Idle {
                    self.run.flush().await?;
                    return Ok(Pause::Steps);
                }
            }
        }
    }

    /// Takes what the engine decided into the run. With the last loop commands in the background end,
    /// before it does. No loop ends while one runs that a person sent there, unless it is stopped; one that
    /// is over and cannot be told any more, since the model is being asked, is not waited for.
    pub(crate) async fn record_step(&mut self, recording: Recording) -> Result<(), RunError> {
        tracing::trace!(target: "cairn::turn", "Driver::record_step");
        if let Some(turn) = recording.asks() {
            if self.take_letters().await? {
                return Ok(());
            }
            let (journal, world) = (&self.run.journal, &self.world);
            if let Some(noticed) = self.change_watch.look_around(journal, world, turn).await? {
                return self.run.record(noticed);
            }
        }
        let recording = match PreparedAsk::from_recording(recording) {
            Ok(ask) => {
                let ask = ask.with_shown(&self.run, &self.world).await;
                self.model_calls.afforded(&self.run, ask)?
            }
            Err(recording) => recording,
        };
        let recording = self.run.with_refused(recording);
        let is_waited_for = self.engine().lap_in_run().is_some_and(|lap| lap.lingers())
            && self.streams.sent().next().is_some();
        if recording.ends() && is_waited_for {
            return self.linger().await;
        }
        if recording.ends() {
            let is_last = self.engine().queued_laps() == 0;
            self.streams.stop(&mut self.run, is_last).await?;
        }
        self.run.record(recording)
    }

    /// The run as it is now, to find out what an op would do.
    pub(crate) fn preview(&self) -> OpPreview<'_> {
        let Driver { run, world, streams, own_rows, .. } = self;
        OpPreview { run, world, streams, own_rows }
    }

    /// Waits for some work, taking commands meanwhile; an abort cancels the work.
    pub(crate) async fn meanwhile<T>(
        &mut self,
        work: &mut (impl Future<Output = T> + Unpin),
        cancel: &CancellationToken,
    ) -> Result<T, RunError> {
        loop {
            tokio::select! {
                done = &mut *work => return Ok(done),
                Some(command) = self.inbox.recv() => {
                    // Between loops there is none to stop, and the work is cancelled all the same.
                    let is_abort = matches!(command, Command::Abort(_));
                    self.take(command).await?;
                    if is_abort || self.run.is_aborted() {
                        cancel.cancel();
                    }
                }
            }
        }
    }

    async fn take_waiting(&mut self) -> Result<(), RunError> {
        while let Ok(command) = self.inbox.try_recv() {
            self.take(command).await?;
        }
        Ok(())
    }

    /// Takes one command. What it leads to is durable when this returns.
    pub(crate) async fn take(&mut self, command: Command) -> Result<(), RunError> {
        let recording = match command {
            Command::Steer(text) => {
                match self
                    .engine()
                    .lap()
                    .and_then(|lap| lap.steer(&text, Writer::Client, self.begun()))
                {
                    Some(recording) => recording,
                    None => self.engine().prompted(&text, Writer::Client),
                }
            }
            Command::Prompt(text) => self.engine().prompted(&text, Writer::Client),
            Command::Abort(why) => {
                self.streams.let_sleep();
                match self.engine().lap().and_then(|lap| lap.abort(&why, Writer::Client)) {
                    Some(recording) => recording,
                    None => return Ok(()),
                }
            }
            Command::Decide(word, heard) => return self.run.decide(&word, heard).await,
            Command::Texts(proposal, told) => {
                // Whoever asked may be gone.
                let _ = told.send(self.preview().proposed_texts(&proposal).await?);
                return Ok(());
            }
            Command::Background(heard) => {
                self.waited_command.send_to_background(&self.run, &self.streams, heard);
                return Ok(());
            }
            Command::Gone => {
                self.run.questions.leave_unattended();
                return Ok(());
            }
        };
        self.run.record(recording)?;
        self.run.flush().await
    }

    /// Puts the op's open question, and says until when it waits; nothing when it is not open any longer.
    pub(crate) async fn put_question(&mut self, at: Coord) -> Result<Option<Put>, RunError> {
        self.run.flush().await?;
        let Some(proposal) = self.run.newest_question(at) else { return Ok(None) };
        if self.run.questions.is_unattended() {
            // To have asked in vain is no want of approval.
            let verdict =
                if proposal.kind.is_consult() { Verdict::Cancel } else { Verdict::Refuse };
            self.run.decide_without_person(proposal.id, verdict, By::Nobody)?;
            return Ok(None);
        }
        if !self.run.questions.was_put(&proposal.id) && !self.question_stands(at).await? {
            return Ok(None);
        }
        let until = self.run.show_question(&proposal, self.settings.decide_within)?;
        Ok(Some((proposal, until)))
    }

    /// Waits for someone's word on the op's open proposal.
    async fn await_word(&mut self, at: Coord) -> Result<(), RunError> {
        let Some((proposal, until)) = self.put_question(at).await? else { return Ok(()) };
        let received = match until {
            None => Ok(self.inbox.recv().await),
            Some(until) => tokio::time::timeout_at(until, self.inbox.recv()).await,
        };
        match received {
            Ok(Some(command)) => self.take(command).await,
            Ok(None) => {
                self.run.questions.leave_unattended();
                Ok(())
            }
            Err(_) => self.run.decide_without_person(proposal.id, Verdict::Cancel, By::Timeout),
        }
    }
}
