//! Drives one run: asks the engine for the next step, performs it, records what happened. Facts are
//! committed together whenever something is about to become visible.

use crate::background::Streams;
use crate::change_watch::ChangeWatch;
use crate::journal::{CommittedFact, Journal};
use crate::model_calls::ModelCalls;
use crate::open_ops::OpenOps;
use crate::prepared_ask::PreparedAsk;
use crate::questions::PutQuestions;
use crate::schemes::{Leads, Web};
use crate::sent::{Sending, WaitedCommand};
use crate::transcript::text_of;
use crate::{Event, Longest, RunError, Sink, Written, now_ms};
use cairn_engine::{DecideError, Engine, NewText, Recording, Step, Word};
use cairn_provider::Effort;
use cairn_store::{Store, StoreError};
use cairn_text::scrub::Scrubber;
use cairn_tools::hooks::Hooks;
use cairn_types::{
    Body, By, ContentRef, Coord, Hash, Outcome, Proposal, ProposalId, RunId, SessionId, Surface,
    ToolUse, Verdict, Writer,
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
    Decide(Word, Option<Heard>),
    /// Whoever is asked wants the texts that an open question would write, to change them.
    Texts(ProposalId, oneshot::Sender<Vec<NewText>>),
    /// The command that is waited for shall go on in the background, and whoever waits to hear whether
    /// it does. Where nobody does, it is said why not.
    Background(Option<Sending>),
    /// There is nobody left to answer questions.
    Gone,
}

/// Where is told whether a word was taken: after it is durable, or why it was not.
pub type Heard = oneshot::Sender<Result<(), DecideError>>;

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
    pub(crate) journal: Journal,
    pub(crate) world: Arc<World>,
    pub(crate) model_calls: ModelCalls,
    pub(crate) open_ops: OpenOps,
    pub(crate) sink: Arc<dyn Sink>,
    pub(crate) inbox: mpsc::UnboundedReceiver<Command>,
    pub(crate) settings: Settings,
    pub(crate) questions: PutQuestions,
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
        self.journal.run_id()
    }

    /// Its session.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        self.journal.session()
    }

    /// Where it is kept.
    #[must_use]
    pub fn store(&self) -> &Store {
        self.journal.store()
    }

    /// The JSON Schema that answers must follow.
    #[must_use]
    pub fn schema(&self) -> Option<&str> {
        self.settings.schema.as_deref()
    }

    /// What it has made durable so far.
    #[must_use]
    pub fn written(&self) -> Written {
        self.journal.written()
    }

    /// How many commands run in its background.
    #[must_use]
    pub fn running(&self) -> usize {
        self.streams.running()
    }

    /// Its state.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        self.journal.engine()
    }

    /// Drives until there is nothing left to do, or for so many steps; the run can be continued
    /// from there, by this driver or another.
    pub async fn drive(&mut self, steps: Option<u64>) -> Result<Pause, RunError> {
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
                    self.flush().await?;
                    if std::mem::take(&mut self.shows_end_again) {
                        self.tell_end_again().await?;
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
                Step::Conclude(at) => self.conclude(at)?,
                Step::Linger => self.linger().await?,
            }
            if let Some(left) = &mut left {
                *left = left.saturating_sub(1);
                if *left == 0 && self.engine().step() != Step::Idle {
                    self.flush().await?;
                    return Ok(Pause::Steps);
                }
            }
        }
    }

    /// Takes what the engine decided into the run. With the last loop commands in the background end,
    /// before it does. No loop ends while one runs that a person sent there, unless it is stopped; one that
    /// is over and cannot be told any more, since the model is being asked, is not waited for.
    pub(crate) async fn record_step(&mut self, recording: Recording) -> Result<(), RunError> {
        if let Some(turn) = recording.asks() {
            if self.take_letters().await? {
                return Ok(());
            }
            let (journal, world) = (&self.journal, &self.world);
            if let Some(noticed) = self.change_watch.look_around(journal, world, turn).await? {
                return self.record(noticed);
            }
        }
        let recording = match PreparedAsk::from_recording(recording) {
            Ok(ask) => {
                let ask = self.with_shown(ask).await;
                self.model_calls.afforded(&self.journal, ask)?
            }
            Err(recording) => recording,
        };
        let recording = self.with_refused(recording);
        let is_waited_for = self.engine().lingers() && self.streams.sent().next().is_some();
        if recording.ends() && is_waited_for {
            return self.linger().await;
        }
        if recording.ends() {
            self.stop_streams(self.engine().queued_laps() == 0).await?;
        }
        self.record(recording)
    }

    /// Takes facts into the run. They are durable after the next `flush`.
    pub(crate) fn record(&mut self, recording: Recording) -> Result<(), RunError> {
        let recording = self.with_instructions(recording);
        self.forget_settled_streams(&recording.facts);
        self.journal.record(recording);
        let engine = self.journal.engine();
        self.open_ops.actions.keep_only(|at| engine.op(at).is_some());
        self.model_calls.extend_messages(&self.journal)?;
        Ok(())
    }

    /// Forgets what commands in the background would change, where these facts settle it.
    fn forget_settled_streams(&mut self, facts: &[Body]) {
        for (n, fact) in facts.iter().enumerate() {
            let Body::Outcome(Outcome { at, .. }) = fact else { continue };
            let asked = facts[..n].iter().rev().find_map(|fact| match fact {
                Body::Intent(intent) if intent.at == *at => Some(intent),
                _ => None,
            });
            let asked = asked.or_else(|| self.journal.engine().op(*at).map(|op| &op.intent));
            if let Some(row) = asked.and_then(|intent| intent.of) {
                self.streams.forget(row);
            }
        }
    }

    /// Makes everything recorded durable, then tells it.
    pub(crate) async fn flush(&mut self) -> Result<(), RunError> {
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

    /// A content by its hash, durable or about to be.
    pub(crate) fn content(&self, hash: &Hash) -> Result<Vec<u8>, StoreError> {
        self.journal.content(hash)
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
                    if is_abort || self.is_aborted() {
                        cancel.cancel();
                    }
                }
            }
        }
    }

    pub(crate) fn is_aborted(&self) -> bool {
        self.engine().lap().is_some_and(cairn_engine::Lap::is_aborted)
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
                match self.engine().steer(&text, Writer::Client, self.begun()) {
                    Some(recording) => recording,
                    None => self.engine().prompted(&text, Writer::Client),
                }
            }
            Command::Prompt(text) => self.engine().prompted(&text, Writer::Client),
            Command::Abort(why) => {
                self.streams.let_sleep();
                match self.engine().abort(&why, Writer::Client) {
                    Some(recording) => recording,
                    None => return Ok(()),
                }
            }
            Command::Decide(word, heard) => match self.engine().decided(&word, now_ms()) {
                Ok(recording) => {
                    self.record(recording)?;
                    self.flush().await?;
                    if let Some(heard) = heard {
                        // Whoever asked may be gone.
                        let _ = heard.send(Ok(()));
                    }
                    return Ok(());
                }
                Err(refused) => {
                    if let Some(heard) = heard {
                        let _ = heard.send(Err(refused));
                        return Ok(());
                    }
                    let when = refused.decided_at().map(|at| format!(" at {at}"));
                    let said = format!("{refused}{}", when.unwrap_or_default());
                    let said = self.journal.scrubber().text(&said).into_owned();
                    self.sink.event(&Event::Notice(said));
                    return Ok(());
                }
            },
            Command::Texts(proposal, told) => {
                // Whoever asked may be gone.
                let _ = told.send(self.proposed_texts(&proposal).await?);
                return Ok(());
            }
            Command::Background(heard) => {
                self.send_to_background(heard);
                return Ok(());
            }
            Command::Gone => {
                self.questions.leave_unattended();
                return Ok(());
            }
        };
        self.record(recording)?;
        self.flush().await
    }

    /// Puts the op's open question, and says until when it waits; nothing when it is not open any longer.
    pub(crate) async fn put_question(&mut self, at: Coord) -> Result<Option<Put>, RunError> {
        self.flush().await?;
        let Some(proposal) = self.open_proposal(at) else { return Ok(None) };
        if self.questions.is_unattended() {
            // To have asked in vain is no want of approval.
            let verdict =
                if proposal.kind.is_consult() { Verdict::Cancel } else { Verdict::Refuse };
            self.answer(proposal.id, verdict, By::Nobody)?;
            return Ok(None);
        }
        if !self.questions.was_put(&proposal.id) && !self.question_stands(at).await? {
            return Ok(None);
        }
        let until = self.question_put(&proposal)?;
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
                self.questions.leave_unattended();
                Ok(())
            }
            Err(_) => self.answer(proposal.id, Verdict::Cancel, By::Timeout),
        }
    }

    pub(crate) fn open_proposal(&self, at: Coord) -> Option<Proposal> {
        let op = self.engine().op(at)?;
        op.newest_question().cloned()
    }

    /// Until when this question waits. One that an earlier driver put is told again first.
    fn question_put(&mut self, proposal: &Proposal) -> Result<Option<Instant>, RunError> {
        if !self.questions.was_put(&proposal.id) {
            let shown = text_of(&self.content(&proposal.shown.hash)?).to_string();
            self.sink.event(&Event::StillOpen { proposal: proposal.clone(), shown });
            self.questions.note_put(&proposal.id);
        }
        Ok(self.questions.deadline(&proposal.id, self.settings.decide_within))
    }

    pub(crate) fn answer(
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
}
