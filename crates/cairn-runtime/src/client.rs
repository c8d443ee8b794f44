//! Ops of a person or program at a client: rows of the session's own client run, with receipts like
//! any other. No model is asked.

use crate::act::entries_alone;
use crate::fork::{find_fork_point, lost_facts};
use crate::schemes::{Leads, Web};
use crate::scrubbed::scrubbed;
use crate::{RunError, clock, holder, now_ms, schemes};
use cairn_engine::policy::Rulebook;
use cairn_engine::{Engine, Found, Recording, Settlement, Step, VERSION};
use cairn_store::{Batch, HomeLock, Kept, Lease, NewRun, NewSession, Store, StoreError};
use cairn_types::{
    Approval, Begin, Body, Budgets, By, Caps, Change, Coord, Decision, Drive, Effect, Fact, Flags,
    ForkPoint, Hash, Intent, Mode, OpName, Outcome, Policy, RunId, RunStarted, SessionId, Settled,
    Status, Surface, Verdict, View, Writer,
};
use cairn_world::{Probe, Refusal, World, inverse};
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The name of a session's client run. People cannot name a run so.
pub const CLIENT_RUN: &str = "@client";

/// One session's client, while its run is held.
pub struct Client {
    pub(crate) store: Store,
    pub(crate) world: Arc<World>,
    pub(crate) lease: Lease,
    pub(crate) engine: Engine,
    /// Nobody else changes entries until what is recorded is durable.
    pub(crate) alone: Option<HomeLock>,
    policy: Policy,
    pending: Vec<Fact>,
    pub(crate) contents: Vec<Kept>,
    new_run: Option<NewRun>,
    /// The session to be made with it, and that nobody else makes one meanwhile.
    new_session: Option<(NewSession, HomeLock)>,
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
        let (session, made) = loop {
            if let Some(session) = store.latest_session(&root)? {
                break (session, None);
            }
            let Some(lock) = store.try_lock_sessions()? else {
                tokio::time::sleep(Duration::from_millis(2)).await;
                continue;
            };
            if store.latest_session(&root)?.is_none() {
                let id = clock::new_session_id();
                break (id.clone(), Some((NewSession { id, root, at: now_ms() }, lock)));
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
        client.new_session = made;
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

    /// A client that records in the run of this lease.
    pub(crate) fn over(store: Store, world: Arc<World>, lease: Lease, engine: Engine) -> Client {
        Client {
            store,
            world,
            lease,
            engine,
            alone: None,
            policy: Policy::default(),
            pending: Vec::new(),
            contents: Vec::new(),
            new_run: None,
            new_session: None,
        }
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
        let mut client = Client { policy, ..Client::over(store, world, lease, engine) };
        if existing.is_none() {
            client.begin_run(session, name, parent);
        }
        let drive = Drive { lost, ..client.drive() };
        client.record(Recording::of(Body::Drive(drive)));
        client.settle().await?;
        Ok(client)
    }

    /// The same, who may read pages.
    #[must_use]
    pub fn reaching(mut self, web: &Web) -> Client {
        let Some(session) = self.engine.run().map(|run| run.session.clone()) else { return self };
        let leads = Leads {
            rules: Rulebook::recorded(&self.policy),
            mode: Mode::Act,
            writer: Writer::Client,
            is_hooked: false,
        };
        let mut schemes = schemes::from_outside(&self.store, &session, &self.world);
        schemes::add_web(&mut schemes, web, &leads);
        self.world = Arc::new(self.world.with_schemes(schemes));
        self
    }

    fn begin_run(&mut self, session: &SessionId, name: &str, parent: Option<ForkPoint>) {
        let name = Some(name.to_owned());
        let is_fork = parent.is_some();
        self.new_run = Some(NewRun {
            id: self.lease.run().clone(),
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
            session: session.clone(),
            name,
            system: recording.keep(""),
            tools: recording.keep("[]"),
            surface: Surface::Client,
            view: View::Transcript,
            given: Vec::new(),
            tool_use: cairn_types::ToolUse::Free,
            small: false,
        };
        recording.facts.push(Body::Run(started));
        self.record(recording);
    }

    fn drive(&self) -> Drive {
        Drive {
            epoch: self.lease.epoch(),
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

    /// Does an op: what it is and that it begins is durable before it acts.
    pub async fn perform(&mut self, op: ClientOp) -> Result<ClientDone, RunError> {
        let mut recording =
            self.engine.prompted(&format!("{} {}", op.tool, op.target), Writer::Client);
        let lap = recording.facts.iter().find_map(|body| match body {
            Body::Prompt(prompt) => Some(prompt.lap),
            _ => None,
        });
        let at = Coord { lap: lap.unwrap_or(1), turn: 1, seq: 1 };
        let input = recording.keep(op.input);
        recording.facts.push(Body::Intent(Intent {
            at,
            call: String::new(),
            writer: Writer::Client,
            surface: Surface::Client,
            tool: op.tool.to_owned(),
            input,
            op: Some(OpName::Undo),
            target: op.target,
            subject: None,
            effect: Effect::World,
            repeatable: false,
            of: None,
            repairs: Vec::new(),
            problem: None,
            unclosed: false,
            says: None,
        }));
        recording.facts.push(Body::Decision(Decision::new(at, Verdict::Allow, op.by, Vec::new())));
        let is_stored = op.changes.iter().any(Change::is_stored);
        let alone = if is_stored { Some(entries_alone(&self.store).await?) } else { None };
        self.keep_present(&op.changes)?;
        let changes = op.changes.clone();
        recording.facts.push(Body::Begin(Begin {
            at,
            changes,
            again: false,
            told: None,
            ran: None,
        }));
        self.record(recording);
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
        self.record(outcome);
        self.end();
        let receipt = self.commit().await?;
        drop(alone);
        Ok(ClientDone { run: self.lease.run().clone(), at, receipt, changes: made })
    }

    /// Makes these changes, all or none. A refusal says in what state a content is that cannot be read.
    fn apply(&self, changes: &[Change]) -> Result<Vec<Change>, Refusal> {
        let unreadable = RefCell::new(None);
        let made = self.world.apply(changes, &|hash| match self.store.content(hash) {
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
        let missing = self.store.missing(changes.iter().filter_map(hash))?;
        for change in changes.iter().filter(|c| hash(c).is_some_and(|h| missing.contains(&h))) {
            let bytes = self.world.bytes(&change.path);
            let bytes = bytes.ok().filter(|bytes| Some(Hash::of(bytes)) == hash(change));
            self.contents.extend(bytes.map(Kept::Bytes));
        }
        Ok(())
    }

    /// What an earlier client began and was not seen to end.
    async fn settle(&mut self) -> Result<(), RunError> {
        if let Step::Settle(at) = self.engine.step() {
            let begin = self.engine.op(at).and_then(|op| op.begin.clone());
            let changes = begin.map(|begin| begin.changes).unwrap_or_default();
            if changes.iter().any(Change::is_stored) {
                self.alone = Some(entries_alone(&self.store).await?);
            }
            let settled = self.settled(at, &changes);
            self.record(settled);
        }
        self.end();
        if self.pending.iter().any(|fact| matches!(fact.body, Body::Outcome(_))) {
            self.commit().await?;
        }
        Ok(())
    }

    /// What such an op comes to. It is finished, unless somebody changed an entry of it since: then what was
    /// made of it is taken back.
    pub(crate) fn settled(&self, at: Coord, changes: &[Change]) -> Recording {
        let contents = |hash: &Hash| self.store.content(hash).ok();
        let stored: Vec<Change> =
            changes.iter().filter(|change| change.is_stored()).cloned().collect();
        if let Some(address) = self.world.stale(&stored) {
            let back: Vec<Change> = self.world.made(changes).iter().rev().map(inverse).collect();
            if back.is_empty() || self.world.apply(&back, &contents).is_ok() {
                let text = format!("{address} was changed by another run meanwhile");
                return outcome(at, &Err(Refusal { status: Status::CONFLICT, text }), 0);
            }
        }
        let found = match self.world.probe(changes) {
            Probe::Done => Found::Done,
            Probe::NotDone | Probe::Partly => match self.world.apply(changes, &contents) {
                Ok(_) => Found::Done,
                Err(_) => Found::Unknown,
            },
            Probe::Neither => Found::Unknown,
        };
        match self.engine.found(at, found, "") {
            Settlement::Record(recording) => recording,
            // Whoever asked for a look and was cut off from it asks again.
            Settlement::Repeat | Settlement::Finish => {
                let text = "it was interrupted before it ended".to_owned();
                outcome(at, &Err(Refusal { status: Status::CANCELLED, text }), 0)
            }
        }
    }

    /// Ends the loop, when nothing of it is open.
    pub(crate) fn end(&mut self) {
        while let Step::Record(recording) = self.engine.step() {
            self.record(recording);
        }
    }

    pub(crate) fn record(&mut self, recording: Recording) {
        let recording = scrubbed(self.world.scrubber(), recording);
        self.contents.extend(recording.contents.into_iter().map(Kept::Bytes));
        for body in recording.facts {
            let (run, n) = (self.lease.run().clone(), self.engine.last_n() + 1);
            let fact = Fact { run, n, at: now_ms(), engine: VERSION.to_owned(), body };
            self.engine.apply(&fact);
            self.pending.push(fact);
        }
    }

    /// Makes what was recorded durable; gives the last receipt.
    pub(crate) async fn commit(&mut self) -> Result<Option<String>, RunError> {
        let (session, making) = self.new_session.take().unzip();
        let batch = Batch {
            lease: self.lease.key(),
            session,
            run: self.new_run.take(),
            facts: std::mem::take(&mut self.pending),
            contents: std::mem::take(&mut self.contents),
        };
        let committed = self.store.commit(batch).await?;
        drop(making);
        self.alone = None;
        Ok(committed.receipts.into_iter().next_back().map(|(_, id)| id))
    }
}

fn outcome(at: Coord, made: &Result<Vec<Change>, Refusal>, ms: u64) -> Recording {
    let mut recording = Recording::default();
    let (status, text, changes) = match made {
        Ok(changes) => {
            let text: Vec<String> =
                changes.iter().map(|change| format!("{:?} {}", change.kind, change.path)).collect();
            (Status::OK, text.join("\n"), changes.clone())
        }
        Err(refusal) => (refusal.status, refusal.text.clone(), Vec::new()),
    };
    let result = recording.keep(text);
    let settled = if made.is_ok() { Settled::Performed } else { Settled::NotPerformed };
    let told = Outcome::told(at, (status, result), settled);
    recording.facts.push(Body::Outcome(Outcome { changes, ms, ..told }));
    recording
}
