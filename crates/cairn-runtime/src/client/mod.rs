//! Ops of a person or program at a client: rows of the session's own client run, with receipts like
//! any other. No model is asked.

mod exec;
pub(crate) mod op;
mod say;

use crate::driver::fork::{find_fork_point, lost_facts};
use crate::driver::start::{SessionOver, session_over};
use crate::journal::{AfterCrash, Journal, Recovery};
use crate::ops::settled_op::SettledOp;
use crate::schemes::{Leads, Web};
use crate::{RunError, clock, holder, now_ms, schemes};
use cairn_engine::policy::Rulebook;
use cairn_engine::{Engine, Recording, Step};
use cairn_store::{HomeLock, NewRun, NewSession, Store, StoreError};
use cairn_types::{
    Approval, Begin, Body, Budgets, By, Caps, Change, Coord, Decision, Drive, Effect, Fact, Flags,
    ForkPoint, Hash, Intent, Mode, OpName, Policy, RunId, RunStarted, SessionId, Settled, Status,
    Surface, Verdict, View, Writer,
};
use cairn_world::{Refusal, World};
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The name of a session's client run. People cannot name a run so.
pub const CLIENT_RUN: &str = "@client";

/// One session's client, while its run is held.
pub struct Client {
    pub(crate) journal: Journal,
    pub(crate) world: Arc<World>,
    /// Keeps others from changing entries until the changes of an op are durable.
    pub(crate) entries_lock: Option<HomeLock>,
    policy: Policy,
}

/// How often another client is waited for, 10 milliseconds each time.
const WAITS: u32 = 500;

/// An op that changes files.
#[derive(Debug, Clone)]
pub struct ClientOp {
    /// The tool, for rows.
    pub tool: &'static str,
    /// What was asked, as JSON.
    pub input: String,
    /// What it works on, in one line.
    pub target: String,
    /// What it changes.
    pub changes: Vec<Change>,
    /// Whose word it is.
    pub by: By,
}

/// What became of a client's op.
#[derive(Debug, Clone)]
pub struct ClientDone {
    /// Its run.
    pub run: RunId,
    /// Its row.
    pub at: Coord,
    /// Its receipt.
    pub receipt: Option<String>,
    /// What changed, as it now is; or why nothing did.
    pub changes: Result<Vec<Change>, Refusal>,
}

/// The client run of a session, if it has one.
pub fn client_run(store: &Store, session: &SessionId) -> Result<Option<RunId>, RunError> {
    run_named(store, session, CLIENT_RUN)
}

fn run_named(store: &Store, session: &SessionId, name: &str) -> Result<Option<RunId>, RunError> {
    let mut runs = store.runs(session)?.into_iter().filter(|run| !run.imported);
    Ok(runs.find(|run| run.name.as_deref() == Some(name)).map(|run| run.id))
}

impl Client {
    /// Takes the session's client run, making it if there is none, and settles what an earlier
    /// client was cut off from.
    pub async fn take(
        store: Store,
        world: Arc<World>,
        session: &SessionId,
    ) -> Result<Client, RunError> {
        Client::take_under(store, world, session, Policy::default()).await
    }

    /// The client of the session over this root, which is made where there is none. Another client of it is
    /// waited for, since its op does not take long.
    pub async fn here(
        store: Store,
        world: Arc<World>,
        root: &Path,
        policy: Policy,
    ) -> Result<Client, RunError> {
        let root = root.to_string_lossy().into_owned();
        let (session, making) = match session_over(&store, &root).await? {
            SessionOver::Existing(session) => (session, None),
            SessionOver::Missing(lock) => {
                let id = clock::new_session_id();
                (id.clone(), Some((NewSession { id, root, at: now_ms() }, lock)))
            }
        };
        let mut left = WAITS;
        let mut client = loop {
            let (store, world, policy) = (store.clone(), world.clone(), policy.clone());
            match Client::take_under(store, world, &session, policy).await {
                Err(RunError::Store(StoreError::Held { .. })) if left > 0 => {
                    left -= 1;
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                taken => break taken?,
            }
        };
        if let Some((session, lock)) = making {
            client.journal.begin_session(session, lock);
        }
        Ok(client)
    }

    /// The same, whose ops are judged by these rules.
    pub async fn take_under(
        store: Store,
        world: Arc<World>,
        session: &SessionId,
        policy: Policy,
    ) -> Result<Client, RunError> {
        Client::take_named(store, world, session, (CLIENT_RUN, policy)).await
    }

    pub(crate) async fn take_named(
        store: Store,
        world: Arc<World>,
        session: &SessionId,
        (name, policy): (&str, Policy),
    ) -> Result<Client, RunError> {
        let existing = run_named(&store, session, name)?;
        let mut facts = existing.as_ref().map_or(Ok(Vec::new()), |run| store.facts(run, 0))?;
        // What the database lost of it is not written over: its record goes on in a fork.
        let missing = existing.as_ref().map_or(Ok(None), |run| store.missing_record(run))?;
        let lost = missing.map(lost_facts);
        let parent = match &lost {
            Some(lost) => {
                let n = find_fork_point(&facts, None).unwrap_or(0);
                facts.retain(|fact| fact.n <= n);
                (n > 0).then(|| ForkPoint { run: lost.run.clone(), n })
            }
            None => None,
        };
        let existing = existing.filter(|_| lost.is_none());
        let id = existing.clone().unwrap_or_else(clock::new_run_id);
        let lease = store.lease(&id, &holder())?;
        let engine = Engine::fold(&facts);
        let world = Arc::new(world.with_schemes(schemes::from_outside(&store, session, &world)));
        let scrubber = world.scrubber().clone();
        let journal = Journal::new(store, lease, session.clone(), engine, scrubber);
        let mut client = Client { journal, world, entries_lock: None, policy };
        if existing.is_none() {
            client.begin_run(name, parent);
        }
        let drive = Drive { lost, ..client.drive() };
        client.journal.record(Recording::of(Body::Drive(drive)));
        client.settle().await?;
        Ok(client)
    }

    /// The same, who may read pages.
    #[must_use]
    pub fn reaching(mut self, web: &Web) -> Client {
        let leads = Leads {
            rules: Rulebook::recorded(&self.policy),
            mode: Mode::Act,
            writer: Writer::Client,
            is_hooked: false,
        };
        let mut schemes =
            schemes::from_outside(self.journal.store(), self.journal.session(), &self.world);
        schemes::add_web(&mut schemes, web, &leads);
        self.world = Arc::new(self.world.with_schemes(schemes));
        self
    }

    fn begin_run(&mut self, name: &str, parent: Option<ForkPoint>) {
        let (name, session) = (Some(name.to_owned()), self.journal.session().clone());
        let is_fork = parent.is_some();
        self.journal.begin_run(NewRun {
            id: self.journal.run_id().clone(),
            session: session.clone(),
            name: name.clone(),
            parent,
            at: now_ms(),
        });
        if is_fork {
            return;
        }
        let mut recording = Recording::default();
        let started = RunStarted {
            session,
            name,
            system: recording.keep(""),
            tools: recording.keep("[]"),
            surface: Surface::Client,
            view: View::Transcript,
            given: Vec::new(),
            tool_use: cairn_types::ToolUse::Free,
            small: false,
            toolbox: None,
        };
        recording.facts.push(Body::Run(started));
        self.journal.record(recording);
    }

    fn drive(&self) -> Drive {
        Drive {
            epoch: self.journal.lease().epoch(),
            holder: holder(),
            model: String::new(),
            mode: Mode::Act,
            after_plan: None,
            approval: Approval::Nobody,
            flags: Flags::default(),
            policy: self.policy.clone(),
            caps: Caps { turns: 1, ops: 1, cost: None },
            budgets: Budgets::default(),
            folders: Vec::new(),
            form: None,
            effort: None,
            schema: None,
            hooks: Vec::new(),
            schemes: self.world.added(),
            since: None,
            lost: None,
        }
    }

    /// The facts with which an op begins, in a loop of its own, and its row.
    pub(crate) fn begin_op(
        &self,
        op: &ClientOp,
        name: OpName,
        writer: Writer,
    ) -> (Recording, Coord) {
        let engine = self.journal.engine();
        let at = Coord { lap: engine.next_lap(), turn: 1, seq: 1 };
        let mut recording = engine.prompted(&format!("{} {}", op.tool, op.target), writer);
        let intent = Intent {
            at,
            call: String::new(),
            writer,
            surface: Surface::Client,
            tool: op.tool.to_owned(),
            input: recording.keep(op.input.as_str()),
            op: Some(name),
            target: op.target.clone(),
            subject: None,
            effect: Effect::World,
            repeatable: false,
            of: None,
            repairs: Vec::new(),
            problem: None,
            unclosed: false,
            says: None,
        };
        let decision = Decision::new(at, Verdict::Allow, op.by.clone(), Vec::new());
        let changes = op.changes.clone();
        let begin = Begin { at, changes, again: false, told: None, ran: None };
        let facts = [Body::Intent(intent), Body::Decision(decision), Body::Begin(begin)];
        recording.facts.extend(facts);
        (recording, at)
    }

    /// Does an op: what it is and that it begins is durable before it acts.
    pub async fn perform(&mut self, op: ClientOp) -> Result<ClientDone, RunError> {
        let entries_lock = self.journal.lock_entries_of(&op.changes).await?;
        self.keep_present(&op.changes)?;
        let (recording, at) = self.begin_op(&op, OpName::Undo, Writer::Client);
        self.journal.record(recording);
        self.commit().await?;
        let begun = Instant::now();
        let made = match self.world.stale(&op.changes) {
            Some(address) => {
                let text = format!("{address} was changed meanwhile");
                Err(Refusal { status: Status::CONFLICT, text })
            }
            None => self.apply(&op.changes),
        };
        let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let outcome = outcome(at, &made, ms);
        self.journal.record(outcome);
        self.journal.record_what_follows();
        let receipt = self.commit().await?;
        drop(entries_lock);
        Ok(ClientDone { run: self.journal.run_id().clone(), at, receipt, changes: made })
    }

    /// Makes these changes, all or none. A refusal says in what state a content is that cannot be read.
    fn apply(&self, changes: &[Change]) -> Result<Vec<Change>, Refusal> {
        let unreadable = RefCell::new(None);
        let made = self.world.apply(changes, &|hash| match self.journal.store().content(hash) {
            Ok(bytes) => Some(bytes),
            Err(why) => {
                *unreadable.borrow_mut() = Some(why.to_string());
                None
            }
        });
        made.map_err(|refusal| match unreadable.take() {
            Some(why) => Refusal { text: format!("{}: {why}", refusal.text), ..refusal },
            None => refusal,
        })
    }

    /// The bytes that are about to be overwritten or removed become contents like any, so that the op
    /// can be taken back even if the run that wrote them is old. What changes meanwhile is found out
    /// when the op is carried out.
    fn keep_present(&mut self, changes: &[Change]) -> Result<(), RunError> {
        let hash = |change: &Change| change.before.as_ref().and_then(|state| state.hash);
        let missing = self.journal.store().missing(changes.iter().filter_map(hash))?;
        for change in changes.iter().filter(|c| hash(c).is_some_and(|h| missing.contains(&h))) {
            let bytes = self.world.locations().bytes(&change.path);
            let bytes = bytes.ok().filter(|bytes| Some(Hash::of(bytes)) == hash(change));
            bytes.into_iter().for_each(|bytes| self.journal.keep(bytes));
        }
        Ok(())
    }

    /// Settles what an earlier client began and was not seen to end.
    async fn settle(&mut self) -> Result<(), RunError> {
        if let Step::Settle(at) = self.journal.engine().step() {
            self.entries_lock =
                self.journal.lock_entries_of(self.journal.begun_changes(at)).await?;
            self.settle_after_crash(at);
        }
        self.journal.record_what_follows();
        let is_outcome = |fact: &Fact| matches!(fact.body, Body::Outcome(_));
        if self.journal.pending_facts().iter().any(is_outcome) {
            self.commit().await?;
        }
        Ok(())
    }

    /// Records what became of an op that began and was not seen to end.
    pub(crate) fn settle_after_crash(&mut self, at: Coord) {
        let after_crash = self.journal.settle_after_crash(at, &self.world, Recovery::Complete);
        let Ok(after_crash) = after_crash else { return };
        self.journal.record(match after_crash {
            AfterCrash::Record(recording) => recording,
            // Whoever asked for a look and was cut off from it asks again.
            AfterCrash::Repeat => {
                let text = "it was interrupted before it ended".to_owned();
                outcome(at, &Err(Refusal { status: Status::CANCELLED, text }), 0)
            }
        });
    }

    /// Makes what was recorded durable; gives the last receipt.
    pub(crate) async fn commit(&mut self) -> Result<Option<String>, RunError> {
        let committed = self.journal.flush().await?;
        self.entries_lock = None;
        Ok(committed.into_iter().rev().find_map(|committed| committed.receipt))
    }
}

/// The outcome of an op that made these changes, or was refused.
fn outcome(at: Coord, made: &Result<Vec<Change>, Refusal>, ms: u64) -> Recording {
    let settled = match made {
        Ok(changes) => {
            let text: Vec<String> =
                changes.iter().map(|change| format!("{:?} {}", change.kind, change.path)).collect();
            SettledOp::told(at, Status::OK, text.join("\n"), Settled::Performed)
                .with_changes(changes.clone())
        }
        Err(refusal) => {
            SettledOp::told(at, refusal.status, refusal.text.as_str(), Settled::NotPerformed)
        }
    };
    settled.with_ms(ms).into_recording()
}
