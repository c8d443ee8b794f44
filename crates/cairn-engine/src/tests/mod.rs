//! A run without a world, to try the engine on.

mod anything;
mod budgets;
mod ceilings;
mod choices;
mod consult;
mod crashes;
mod gate_counts;
mod hook_events;
mod hook_hosts;
mod hooks;
mod named;
mod overlaid;
mod pages;
mod policy;
mod rails;
mod rows;
mod sent;
mod sight;
mod steered;
mod surfaces;
mod turns;
mod words;

use crate::*;
use cairn_surface::Toolbox;
use cairn_types::*;
use expect_test::Expect;

/// A run without a world: facts, the engine that folded them, and the steps it asked for.
struct Sim {
    engine: Engine,
    facts: Vec<Fact>,
    said: Vec<String>,
}

impl Sim {
    fn new(mode: Mode, approval: Approval) -> Sim {
        Sim::on(Surface::Native, mode, approval)
    }

    /// A run whose model writes like this.
    fn on(surface: Surface, mode: Mode, approval: Approval) -> Sim {
        Sim::begun(mode, approval, |run| (run.surface, run.view) = (surface, surface.view()))
    }

    fn begun(mode: Mode, approval: Approval, with: impl FnOnce(&mut RunStarted)) -> Sim {
        let mut sim = Sim { engine: Engine::default(), facts: Vec::new(), said: Vec::new() };
        let content = ContentRef::of(b"");
        let mut run = RunStarted {
            session: SessionId::new(1, 1),
            name: None,
            system: content,
            tools: content,
            surface: Surface::Native,
            view: View::Transcript,
            given: Vec::new(),
            tool_use: cairn_types::ToolUse::Free,
            small: false,
            toolbox: None,
        };
        with(&mut run);
        sim.record(Recording::of(Body::Run(run)));
        sim.drive(mode, approval);
        sim
    }

    /// A run that was asked to go, and whose model replied like this.
    fn replied(mode: Mode, approval: Approval, calls: &[(&str, &str)], finish: Finish) -> Sim {
        let mut sim = Sim::new(mode, approval);
        sim.prompt("go");
        sim.go();
        sim.reply(calls, finish);
        sim
    }

    fn drive(&mut self, mode: Mode, approval: Approval) {
        self.drive_with(mode, approval, None);
    }

    fn drive_with(&mut self, mode: Mode, approval: Approval, cost: Option<PicoUsd>) {
        let drive = Drive { caps: Caps { turns: 5, ops: 3, cost }, ..drive(mode, approval) };
        self.record(Recording::of(Body::Drive(drive)));
    }

    /// A driver with rules of its own.
    fn drive_by(&mut self, mode: Mode, approval: Approval, rules: &[&str]) {
        let drive = Drive { policy: policy::of(rules), ..drive(mode, approval) };
        self.record(Recording::of(Body::Drive(drive)));
    }

    fn record(&mut self, recording: Recording) {
        for body in recording.facts {
            if let Body::Outcome(outcome) = &body {
                self.said
                    .push(format!("{} → {} {:?}", outcome.at, outcome.status, outcome.settled));
            }
            if let Body::End(end) = &body {
                self.said
                    .push(format!("end {} {} {}", end.lap, end.status, end.why).trim_end().into());
            }
            let n = self.engine.last_n() + 1;
            let fact = Fact { run: RunId::new(1, 1), n, at: n, engine: VERSION.into(), body };
            self.engine.apply(&fact);
            self.facts.push(fact);
        }
    }

    fn prompt(&mut self, text: &str) {
        let recording = self.engine.prompted(text, Writer::Client);
        self.record(recording);
    }

    fn reply(&mut self, calls: &[(&str, &str)], finish: Finish) {
        self.reply_for(calls, finish, None);
    }

    /// A reply that cost so much.
    fn reply_for(&mut self, calls: &[(&str, &str)], finish: Finish, cost: Option<PicoUsd>) {
        let turn = self.facts.len();
        let args: Vec<&str> = calls.iter().map(|(_, args)| *args).collect();
        let calls = calls.iter().enumerate().map(|(i, (name, args))| Call {
            id: format!("call-{turn}-{i}"),
            name: (*name).into(),
            args: ContentRef::of(args.as_bytes()),
        });
        let reply = Reply {
            lap: 0,
            turn: 0,
            model: "scripted/test".into(),
            text: None,
            reasoning: None,
            thoughts: None,
            calls: calls.collect(),
            finish,
            usage: None,
            cost,
            attempts: 1,
            ms: 0,
            ..Reply::default()
        };
        let recording = replied_by_calls(&self.engine, reply, &args);
        self.record(recording);
    }

    /// Records what the engine wants recorded, until it wants something done.
    fn go(&mut self) -> Step {
        loop {
            match self.engine.step() {
                Step::Record(recording) => self.record(recording),
                step => {
                    self.said.push(format!("{step:?}"));
                    return step;
                }
            }
        }
    }

    fn settle(&mut self, at: Coord, status: Status) {
        self.settle_with(at, status, ContentRef::of(b"result"), Vec::new());
    }

    fn settle_with(&mut self, at: Coord, status: Status, result: ContentRef, seen: Vec<Seen>) {
        self.settle_as(at, |outcome| {
            (outcome.status, outcome.result, outcome.seen) = (status, result, seen);
        });
    }

    /// Performed, and what else is to be said of it.
    fn settle_as(&mut self, at: Coord, with: impl FnOnce(&mut Outcome)) {
        let mut outcome = outcome(at);
        with(&mut outcome);
        self.record(Recording::of(Body::Outcome(outcome)));
    }

    fn begin(&mut self, at: Coord) {
        self.record(Recording::of(Body::Begin(Begin {
            at,
            changes: Vec::new(),
            again: false,
            told: None,
            ran: None,
        })));
    }

    fn prepared(&mut self, at: Coord) {
        let prepared =
            Prepared { shown: "what".into(), label: "what".into(), ..Prepared::default() };
        let recording = self.engine.op_in_run(at).unwrap().judge_prepared(&prepared);
        self.record(recording);
    }

    fn decide(&mut self, at: Coord, verdict: Verdict, words: Option<&str>) {
        let op = self.engine.op(at).unwrap();
        let open = op.newest_question().unwrap();
        let word = word(&open.id.0, verdict, words);
        let recording = self.engine.decided(&word, 0).unwrap();
        self.record(recording);
    }
}

fn drive(mode: Mode, approval: Approval) -> Drive {
    Drive {
        epoch: 1,
        holder: "test".into(),
        model: "scripted/test".into(),
        mode,
        after_plan: Some(Mode::AcceptEdits),
        approval,
        flags: Flags::default(),
        policy: Policy::default(),
        caps: Caps { turns: 5, ops: 3, cost: None },
        budgets: Budgets::default(),
        folders: Vec::new(),
        form: None,
        effort: None,
        schema: None,
        hooks: Vec::new(),
        schemes: Vec::new(),
        since: None,
        lost: None,
    }
}

/// What is recorded of a reply that is made of calls with these arguments.
fn replied_by_calls(engine: &Engine, reply: Reply, args: &[&str]) -> Recording {
    let calls: Vec<_> = args.iter().map(|args| (*args, Marks::default())).collect();
    engine.lap_in_run().unwrap().replied_in(reply, &calls, &Toolbox::default())
}

/// What is recorded of a result now.
fn performed_fact(engine: &Engine, outcome: Outcome) -> Body {
    engine.op_in_run(outcome.at).unwrap().result_fact(outcome)
}

/// An op that was performed.
fn outcome(at: Coord) -> Outcome {
    let told = (Status::OK, ContentRef::of(b"result"));
    Outcome { ms: 1, ..Outcome::told(at, told, Settled::Performed) }
}

fn word(proposal: &str, verdict: Verdict, words: Option<&str>) -> Word {
    let by = By::Person("someone".into());
    let words = words.map(str::to_owned);
    Word { words, ..Word::new(ProposalId(proposal.into()), verdict, by) }
}

fn at(lap: u32, turn: u32, seq: u32) -> Coord {
    Coord { lap, turn, seq }
}

fn check(sim: &Sim, expect: Expect) {
    expect.assert_eq(&sim.said.join("\n"));
}

const READ: (&str, &str) = ("read", r#"{"path":"a"}"#);
const BASH: (&str, &str) = ("bash", r#"{"command":"x"}"#);
const MOVE: (&str, &str) = ("move", r#"{"from":"a","to":"b"}"#);
const WRITE: (&str, &str) = ("write", r#"{"path":"a","content":"b"}"#);
