//! A home in a temporary directory and drivers that fill it with ops, for the tests beside it.

use cairn_store::{
    Access, Batch, Committed, Kept, Lease, LeaseKey, NewRun, NewSession, Options, Store,
    StoreError, Verdict,
};
use cairn_types::SandboxLayer;
use cairn_types::*;
use std::path::Path;
use tempfile::TempDir;

/// A home of its own.
pub struct Bench {
    dir: TempDir,
    pub store: Store,
}

impl Bench {
    pub fn new() -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&Options::new(dir.path(), Access::ReadWrite)).unwrap();
        Bench { dir, store }
    }

    /// The same home as another process would open it.
    pub fn open(&self) -> Store {
        Store::open(&Options::new(self.home(), Access::ReadWrite)).unwrap()
    }

    pub fn home(&self) -> &Path {
        self.dir.path()
    }

    pub fn verdict(&self, anchor: Option<&str>) -> Verdict {
        self.store.verify_session(&session(), anchor).unwrap().verdict
    }

    pub async fn bundle(&self) -> Vec<u8> {
        self.store.checkpoint(&session(), 99).await.unwrap();
        let mut bytes = Vec::new();
        self.store.bundle(&session(), &mut bytes).unwrap();
        bytes
    }

    /// One number of the database.
    #[allow(clippy::disallowed_methods)]
    pub fn count(&self, sql: &str) -> u64 {
        let conn = rusqlite::Connection::open(self.home().join("cairn.db")).unwrap();
        conn.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Changes rows behind the store's back.
    #[allow(clippy::disallowed_methods)]
    pub fn tamper(&self, sql: &str) {
        let conn = rusqlite::Connection::open(self.home().join("cairn.db")).unwrap();
        conn.execute_batch(sql).unwrap();
    }
}

pub fn session() -> SessionId {
    SessionId::new(1, 1)
}

/// That a loop is wanted.
pub fn prompt(lap: u32) -> Body {
    let text = ContentRef::of(b"you are here");
    Body::Prompt(Prompt {
        lap,
        text,
        media: Vec::new(),
        writer: Writer::Client,
        from: None,
        of: None,
    })
}

/// Bodies of one loop that ends.
pub fn end() -> Vec<(Body, Vec<u8>)> {
    vec![(
        Body::End(End { lap: 1, status: Status::OK, rail: None, why: String::new() }),
        Vec::new(),
    )]
}

/// The facts of one command, each with the content it names.
pub fn op(seq: u32, text: &str) -> Vec<(Body, Vec<u8>)> {
    let at = Coord { lap: 1, turn: 1, seq };
    let input = format!("{{\"command\":\"{text}\"}}").into_bytes();
    let intent = Intent {
        at,
        call: format!("call_{seq}"),
        writer: Writer::Model,
        surface: Surface::Native,
        tool: "bash".to_owned(),
        input: ContentRef::of(&input),
        op: Some(OpName::Exec),
        target: text.to_owned(),
        subject: None,
        effect: Effect::Host,
        repeatable: false,
        of: None,
        repairs: Vec::new(),
        problem: None,
        unclosed: false,
        says: None,
    };
    let by = By::Person("ada".to_owned());
    let decision = Decision::new(at, cairn_types::Verdict::Allow, by, Vec::new());
    let begin = Begin { at, changes: Vec::new(), again: false, told: None, ran: None };
    let mut facts = vec![
        (Body::Intent(intent), input),
        (Body::Decision(decision), Vec::new()),
        (Body::Begin(begin), Vec::new()),
    ];
    facts.extend(outcome_only(seq, text));
    facts
}

/// The outcome of a command.
pub fn outcome_only(seq: u32, text: &str) -> Vec<(Body, Vec<u8>)> {
    let result = text.as_bytes().to_vec();
    let outcome = Outcome {
        at: Coord { lap: 1, turn: 1, seq },
        status: Status::OK,
        exit: Some(0),
        result: ContentRef::of(&result),
        media: Vec::new(),
        own: None,
        output: None,
        changes: Vec::new(),
        seen: Vec::new(),
        layers: vec![SandboxLayer::Landlock],
        stream: None,
        letter: None,
        settled: Settled::Performed,
        ms: 3,
    };
    vec![(Body::Outcome(outcome), result)]
}

/// Bodies as the facts that follow fact `n` of a run.
pub fn facts(run: &RunId, n: u64, bodies: &[(Body, Vec<u8>)]) -> Vec<Fact> {
    let fact = |(i, (body, _)): (usize, &(Body, Vec<u8>))| Fact {
        run: run.clone(),
        n: n + 1 + i as u64,
        at: 1_000 + n,
        engine: "0.1.0".to_owned(),
        body: body.clone(),
    };
    bodies.iter().enumerate().map(fact).collect()
}

/// The contents that bodies name.
pub fn contents(bodies: &[(Body, Vec<u8>)]) -> Vec<Kept> {
    bodies.iter().map(|(_, content)| Kept::Bytes(content.clone())).collect()
}

/// Makes an empty fork.
pub async fn fork(store: &Store, run: &RunId, parent: ForkPoint) -> Result<Committed, StoreError> {
    let new =
        NewRun { id: run.clone(), session: session(), name: None, parent: Some(parent), at: 7 };
    let lease = LeaseKey { run: run.clone(), epoch: 0 };
    let batch =
        Batch { lease, session: None, run: Some(new), facts: Vec::new(), contents: Vec::new() };
    store.commit(batch).await
}

/// Someone who drives a run.
pub struct Driver {
    store: Store,
    lease: Option<Lease>,
    pub run: RunId,
    pub n: u64,
    ops: u32,
    /// The loop that is open.
    lap: u32,
    /// How many replies it has had.
    turn: u32,
}

impl Driver {
    /// A new run with its first facts.
    pub async fn start(store: &Store, random: u32) -> Driver {
        let mut driver = Driver::take(store, &RunId::new(1, random), 0).await;
        driver.create().await;
        driver
    }

    /// Takes a run's lease.
    pub async fn take(store: &Store, run: &RunId, n: u64) -> Driver {
        let lease = store.lease(run, "pid 1 on here").unwrap();
        let facts = store.facts(run, 0).unwrap();
        let ended = facts.iter().filter(|fact| matches!(fact.body, Body::End(_))).count();
        let ops = facts.iter().filter(|fact| matches!(fact.body, Body::Intent(_))).count();
        let turn = facts.iter().rev().take_while(|fact| !matches!(fact.body, Body::End(_)));
        let turn = turn.filter(|fact| matches!(fact.body, Body::Reply(_))).count();
        let turn = u32::try_from(turn).unwrap();
        let (ops, lap) = (u32::try_from(ops).unwrap(), u32::try_from(ended).unwrap() + 1);
        Driver { store: store.clone(), lease: Some(lease), run: run.clone(), n, ops, lap, turn }
    }

    pub async fn create(&mut self) {
        self.create_in(session()).await;
    }

    /// Makes the run, and its session.
    pub async fn create_in(&mut self, session: SessionId) {
        let text = b"you are here".to_vec();
        let started = Body::Run(RunStarted {
            session: session.clone(),
            name: Some("task".to_owned()),
            system: ContentRef::of(&text),
            tools: ContentRef::of(&text),
            surface: Surface::Client,
            view: View::Transcript,
            given: Vec::new(),
            tool_use: cairn_types::ToolUse::Free,
            small: false,
            toolbox: None,
        });
        let bodies =
            vec![(started, text.clone()), (self.drive_body(), Vec::new()), (prompt(1), text)];
        let root = "/root/project".to_owned();
        let batch = Batch {
            lease: self.key(),
            session: Some(NewSession { id: session.clone(), root, at: 1 }),
            run: Some(NewRun {
                id: self.run.clone(),
                session,
                name: Some("task".to_owned()),
                parent: None,
                at: 1,
            }),
            facts: facts(&self.run, 0, &bodies),
            contents: contents(&bodies),
        };
        self.store.commit(batch).await.unwrap();
        self.n = 3;
    }

    fn drive_body(&self) -> Body {
        Body::Drive(Drive {
            epoch: self.key().epoch,
            holder: "pid 1 on here".to_owned(),
            model: "scripted/one".to_owned(),
            mode: Mode::Act,
            after_plan: None,
            approval: Approval::Ask,
            flags: cairn_types::Flags::default(),
            policy: cairn_types::Policy::default(),
            caps: Caps { turns: 9, ops: 9, cost: None },
            budgets: Default::default(),
            folders: Vec::new(),
            form: None,
            effort: None,
            schema: None,
            hooks: Vec::new(),
            schemes: Vec::new(),
            since: None,
            lost: None,
        })
    }

    pub fn key(&self) -> LeaseKey {
        self.lease.as_ref().unwrap().key()
    }

    pub fn release(&mut self) {
        self.lease = None;
    }

    /// Makes the lease binding.
    pub async fn drive(&mut self) {
        let body = self.drive_body();
        self.commit(vec![(body, Vec::new())]).await;
    }

    /// Facts of the open loop, which come as they can: a model is asked before it replies, and after
    /// the end of a loop there is another one.
    pub async fn commit(&mut self, bodies: Vec<(Body, Vec<u8>)>) -> Committed {
        let bodies: Vec<_> = bodies.into_iter().flat_map(|(b, c)| self.in_course(b, c)).collect();
        let batch = Batch {
            lease: self.key(),
            session: None,
            run: None,
            facts: facts(&self.run, self.n, &bodies),
            contents: contents(&bodies),
        };
        self.n += bodies.len() as u64;
        self.store.commit(batch).await.unwrap()
    }

    fn in_course(&mut self, mut body: Body, content: Vec<u8>) -> Vec<(Body, Vec<u8>)> {
        let (lap, turn) = (self.lap, self.turn + 1);
        let ask = Body::Ask(Ask { lap, turn, messages: 1, max_output: None, ..Ask::default() });
        let none = Vec::new;
        match &mut body {
            Body::Intent(intent) => intent.at.lap = lap,
            Body::Decision(decision) => decision.at.lap = lap,
            Body::Begin(begin) => begin.at.lap = lap,
            Body::Outcome(outcome) => outcome.at.lap = lap,
            Body::End(end) => end.lap = lap,
            Body::Fault(fault) => (fault.lap, fault.turn) = (lap, turn),
            Body::Reply(reply) => {
                (reply.lap, reply.turn) = (lap, turn);
                self.turn = turn;
            }
            _ => {}
        }
        if let Body::Reply(_) = body {
            return vec![(ask, none()), (body, content)];
        }
        let facts = match body {
            Body::Fault(_) => {
                let (status, why) = (Status::FAILED, String::new());
                let end = Body::End(End { lap, status, rail: None, why });
                vec![(ask, none()), (body, content), (end, none())]
            }
            Body::End(_) => vec![(body, content)],
            _ => return vec![(body, content)],
        };
        (self.lap, self.turn) = (lap + 1, 0);
        [facts, vec![(prompt(self.lap), b"you are here".to_vec())]].concat()
    }

    /// One more command.
    pub async fn next_op(&mut self, text: &str) -> Committed {
        self.ops += 1;
        self.commit(op(self.ops, &format!("{text} {:04}", self.ops))).await
    }

    /// Contents alone.
    pub async fn contents(&mut self, contents: Vec<Vec<u8>>) {
        self.keep(contents.into_iter().map(Kept::Bytes).collect()).await.unwrap();
    }

    /// Contents alone, in whatever form.
    pub async fn keep(&mut self, contents: Vec<Kept>) -> Result<Committed, StoreError> {
        let lease = self.key();
        let batch = Batch { lease, session: None, run: None, facts: Vec::new(), contents };
        self.store.commit(batch).await
    }

    pub async fn try_fork(&self, n: u64) -> Result<(Committed, RunId), StoreError> {
        let mut random = [0; 4];
        random.copy_from_slice(&Hash::of(format!("{}{n}", self.run).as_bytes()).0[..4]);
        let run = RunId::new(2, u32::from_le_bytes(random));
        let parent = ForkPoint { run: self.run.clone(), n };
        Ok((fork(&self.store, &run, parent).await?, run))
    }

    /// Forks the run and takes the fork's lease.
    pub async fn fork(&self, n: u64) -> Driver {
        let (_, run) = self.try_fork(n).await.unwrap();
        Driver::take(&self.store, &run, n).await
    }
}
