//! The engine against scripts of events: what it says to do, and what must hold whatever happens.

use crate::*;
use cairn_types::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

/// A run without a world: facts, the engine that folded them, and the steps it asked for.
struct Sim {
    engine: Engine,
    facts: Vec<Fact>,
    said: Vec<String>,
}

impl Sim {
    fn new(mode: Mode, approval: Approval) -> Sim {
        let mut sim = Sim { engine: Engine::default(), facts: Vec::new(), said: Vec::new() };
        let content = ContentRef::of(b"");
        sim.record(Recording::of(Body::Run(RunStarted {
            session: SessionId::new(1, 1),
            name: None,
            system: content,
            tools: content,
            surface: Surface::Native,
            view: View::Transcript,
        })));
        sim.drive(mode, approval);
        sim
    }

    fn drive(&mut self, mode: Mode, approval: Approval) {
        self.record(Recording::of(Body::Drive(Drive {
            epoch: 1,
            holder: "test".into(),
            model: "scripted/test".into(),
            mode,
            approval,
            caps: Caps { turns: 5, ops: 3 },
        })));
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
            calls: calls.collect(),
            finish,
            usage: None,
            cost: None,
            attempts: 1,
            ms: 0,
        };
        let recording = self.engine.replied(reply, &args);
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
        let result = ContentRef::of(b"result");
        let (exit, output, changes, layers) = (None, None, Vec::new(), Vec::new());
        let settled = Settled::Performed;
        let gates = Vec::new();
        self.record(Recording::of(Body::Outcome(Outcome {
            at,
            status,
            exit,
            result,
            output,
            changes,
            layers,
            gates,
            settled,
            ms: 1,
        })));
    }

    fn begin(&mut self, at: Coord) {
        self.record(Recording::of(Body::Begin(Begin { at, changes: Vec::new(), again: false })));
    }

    fn prepared(&mut self, at: Coord) {
        let prepared =
            Prepared { shown: "what".into(), label: "what".into(), ..Prepared::default() };
        let recording = self.engine.prepared(at, &prepared);
        self.record(recording);
    }

    fn decide(&mut self, at: Coord, verdict: Verdict, words: Option<&str>) {
        let op = self.engine.op(at).unwrap();
        let open = op.settling.as_ref().or(op.proposal.as_ref()).unwrap();
        let word = word(&open.id.0, verdict, words);
        let recording = self.engine.decided(&word).unwrap();
        self.record(recording);
    }
}

fn word(proposal: &str, verdict: Verdict, words: Option<&str>) -> Word {
    Word {
        proposal: ProposalId(proposal.into()),
        verdict,
        by: By::Person("someone".into()),
        shown_hash: None,
        words: words.map(str::to_owned),
        remember: Remember::Once,
    }
}

fn at(lap: u32, turn: u32, seq: u32) -> Coord {
    Coord { lap, turn, seq }
}

fn check(sim: &Sim, expect: Expect) {
    expect.assert_eq(&sim.said.join("\n"));
}

const READ: (&str, &str) = ("read", r#"{"path":"a"}"#);
const BASH: (&str, &str) = ("bash", r#"{"command":"x"}"#);
const WRITE: (&str, &str) = ("write", r#"{"path":"a","content":"b"}"#);

#[test]
fn reads_run_side_by_side_and_effects_one_after_the_other() {
    let mut sim = Sim::new(Mode::Act, Approval::Yolo);
    sim.prompt("go");
    sim.go();
    sim.reply(&[READ, READ, BASH], Finish::Calls);
    sim.go();
    sim.settle(at(1, 1, 1), Status::OK);
    sim.settle(at(1, 1, 2), Status::NOT_FOUND);
    sim.go();
    sim.prepared(at(1, 1, 3));
    sim.go();
    sim.begin(at(1, 1, 3));
    sim.settle(at(1, 1, 3), Status::OK);
    sim.go();
    sim.reply(&[], Finish::Stop);
    sim.go();
    check(
        &sim,
        expect![[r#"
        AskModel { lap: 1, turn: 1, messages: 1 }
        Read([Coord { lap: 1, turn: 1, seq: 1 }, Coord { lap: 1, turn: 1, seq: 2 }])
        1/1/1 → 200 Performed
        1/1/2 → 404 Performed
        Prepare(Coord { lap: 1, turn: 1, seq: 3 })
        Act { at: Coord { lap: 1, turn: 1, seq: 3 }, again: false }
        1/1/3 → 200 Performed
        AskModel { lap: 1, turn: 2, messages: 5 }
        end 1 200
        Idle"#]],
    );
}

#[test]
fn after_an_effect_that_could_not_act_the_rest_of_the_effects_is_not_performed() {
    let mut sim = Sim::new(Mode::Act, Approval::Ask);
    sim.prompt("go");
    sim.go();
    sim.reply(&[WRITE, BASH, READ], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    sim.go();
    sim.decide(at(1, 1, 1), Verdict::Refuse, Some("rather not"));
    sim.go();
    sim.settle(at(1, 1, 3), Status::OK);
    sim.go();
    check(
        &sim,
        expect![[r#"
        AskModel { lap: 1, turn: 1, messages: 1 }
        Prepare(Coord { lap: 1, turn: 1, seq: 1 })
        Await(Coord { lap: 1, turn: 1, seq: 1 })
        1/1/1 → 403 NotPerformed
        1/1/2 → 499 NotPerformed
        Read([Coord { lap: 1, turn: 1, seq: 3 }])
        1/1/3 → 200 Performed
        AskModel { lap: 1, turn: 2, messages: 6 }"#]],
    );
    assert_eq!(sim.engine.items().last(), Some(&Item::User(ContentRef::of(b"rather not"))));
}

#[test]
fn the_first_word_on_a_proposal_wins_and_a_word_on_something_else_is_refused() {
    let mut sim = Sim::new(Mode::Act, Approval::Ask);
    sim.prompt("go");
    sim.go();
    sim.reply(&[BASH], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    let mut stale = word("p1.1.1", Verdict::Allow, None);
    stale.shown_hash = Some(Hash::of(b"something else"));
    assert!(matches!(sim.engine.decided(&stale), Err(DecideError::Stale(_))));
    let unfit = sim.engine.decided(&word("p1.1.1", Verdict::Happened, None));
    assert!(matches!(unfit, Err(DecideError::Unfit { .. })));
    sim.decide(at(1, 1, 1), Verdict::Allow, None);
    let second = sim.engine.decided(&word("p1.1.1", Verdict::Refuse, None));
    assert!(matches!(second, Err(DecideError::Decided { verdict: Verdict::Allow, .. })));
    let none = sim.engine.decided(&word("p1.1.9", Verdict::Allow, None));
    assert!(matches!(none, Err(DecideError::NoSuchProposal(_))));
}

#[test]
fn an_answer_for_the_whole_run_covers_its_kind_only() {
    let mut sim = Sim::new(Mode::Act, Approval::Ask);
    sim.prompt("go");
    sim.go();
    sim.reply(&[BASH, BASH, WRITE], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    let mut all = word("p1.1.1", Verdict::Allow, None);
    all.remember = Remember::Run;
    let recording = sim.engine.decided(&all).unwrap();
    sim.record(recording);
    sim.begin(at(1, 1, 1));
    sim.settle(at(1, 1, 1), Status::OK);
    sim.prepared(at(1, 1, 2));
    assert_eq!(sim.go(), Step::Act { at: at(1, 1, 2), again: false });
    sim.begin(at(1, 1, 2));
    sim.settle(at(1, 1, 2), Status::OK);
    sim.prepared(at(1, 1, 3));
    assert_eq!(sim.go(), Step::Await(at(1, 1, 3)));
}

#[test]
fn words_skip_the_rest_of_the_turn_and_follow_its_results() {
    let mut sim = Sim::new(Mode::Act, Approval::Yolo);
    sim.prompt("go");
    sim.go();
    let steer = sim.engine.steer("stop that", Writer::Client).unwrap();
    sim.record(steer);
    sim.reply(&[BASH], Finish::Calls);
    sim.go();
    sim.reply(&[], Finish::Stop);
    sim.go();
    check(
        &sim,
        expect![[r#"
        AskModel { lap: 1, turn: 1, messages: 1 }
        1/1/1 → 499 NotPerformed
        AskModel { lap: 1, turn: 2, messages: 4 }
        end 1 200
        Idle"#]],
    );
}

#[test]
fn read_only_refuses_effects_and_nobody_refuses_what_needs_asking() {
    for (mode, approval) in [(Mode::ReadOnly, Approval::Yolo), (Mode::Act, Approval::Nobody)] {
        let mut sim = Sim::new(mode, approval);
        sim.prompt("go");
        sim.go();
        sim.reply(&[BASH], Finish::Calls);
        if mode == Mode::Act {
            assert_eq!(sim.go(), Step::Prepare(at(1, 1, 1)));
            sim.prepared(at(1, 1, 1));
        }
        sim.go();
        assert!(sim.said.contains(&"1/1/1 → 403 NotPerformed".to_owned()), "{:?}", sim.said);
        let refusal = sim.facts.iter().find_map(|fact| match &fact.body {
            Body::Decision(decision) => Some(decision.by.clone()),
            _ => None,
        });
        let by = if approval == Approval::Nobody { By::Nobody } else { By::Gate("mode".into()) };
        assert_eq!(refusal, Some(by));
    }
}

#[test]
fn caps_end_the_loop_and_cut_the_reply() {
    let mut sim = Sim::new(Mode::Act, Approval::Yolo);
    sim.prompt("go");
    for turn in 1..=5 {
        sim.go();
        sim.reply(&[READ, READ, READ, READ], Finish::Calls);
        sim.go();
        (1..=3).for_each(|seq| sim.settle(at(1, turn, seq), Status::OK));
    }
    sim.said.clear();
    sim.go();
    check(
        &sim,
        expect![[r#"
        1/5/4 → 429 NotPerformed
        end 1 429 the loop reached its 5 turns
        Idle"#]],
    );
}

#[test]
fn a_reply_cut_at_its_length_performs_nothing() {
    let mut sim = Sim::new(Mode::Act, Approval::Yolo);
    sim.prompt("go");
    sim.go();
    sim.reply(&[BASH, READ], Finish::Length);
    sim.go();
    check(
        &sim,
        expect![[r#"
        AskModel { lap: 1, turn: 1, messages: 1 }
        1/1/1 → 422 NotPerformed
        1/1/2 → 422 NotPerformed
        AskModel { lap: 1, turn: 2, messages: 4 }"#]],
    );
}

#[test]
fn an_op_that_began_and_was_not_seen_to_end_is_never_repeated_by_itself() {
    for (approval, found, expect) in [
        (Approval::Yolo, Found::Unknown, "1/1/1 → 500 Indeterminate"),
        (Approval::Nobody, Found::Unknown, "1/1/1 → 500 Indeterminate"),
        (Approval::Yolo, Found::Done, "1/1/1 → 200 FoundDone"),
        (Approval::Yolo, Found::NotDone, "repeat"),
        (Approval::Ask, Found::Unknown, "Await(Coord { lap: 1, turn: 1, seq: 1 })"),
    ] {
        let mut sim = Sim::new(Mode::Act, Approval::Yolo);
        sim.prompt("go");
        sim.go();
        sim.reply(&[BASH], Finish::Calls);
        sim.go();
        sim.prepared(at(1, 1, 1));
        sim.begin(at(1, 1, 1));
        sim.drive(Mode::Act, approval);
        sim.said.clear();
        assert_eq!(sim.go(), Step::Settle(at(1, 1, 1)));
        sim.said.clear();
        match sim.engine.found(at(1, 1, 1), found) {
            Settlement::Repeat => sim.said.push("repeat".into()),
            Settlement::Record(recording) => {
                sim.record(recording);
                sim.go();
            }
        }
        assert_eq!(sim.said[0], expect);
    }
}

#[test]
fn a_person_settles_what_nobody_saw_end() {
    for (verdict, expect) in [
        (Verdict::Happened, "1/1/1 → 200 SaidDone"),
        (Verdict::Skip, "1/1/1 → 500 Indeterminate"),
        (Verdict::Allow, "Act { at: Coord { lap: 1, turn: 1, seq: 1 }, again: true }"),
    ] {
        let mut sim = Sim::new(Mode::Act, Approval::Ask);
        sim.prompt("go");
        sim.go();
        sim.reply(&[BASH], Finish::Calls);
        sim.go();
        sim.prepared(at(1, 1, 1));
        sim.decide(at(1, 1, 1), Verdict::Allow, None);
        sim.begin(at(1, 1, 1));
        let Settlement::Record(asked) = sim.engine.found(at(1, 1, 1), Found::Unknown) else {
            panic!("a person is there to be asked");
        };
        sim.record(asked);
        sim.said.clear();
        let recording = sim.engine.decided(&word("p1.1.1.again1", verdict, None)).unwrap();
        sim.record(recording);
        sim.go();
        assert_eq!(sim.said[0], expect);
    }
}

#[test]
fn an_abort_settles_everything_and_the_next_prompt_is_taken() {
    let mut sim = Sim::new(Mode::Act, Approval::Ask);
    sim.prompt("one");
    sim.prompt("two");
    sim.go();
    sim.reply(&[BASH, READ], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    let abort = sim.engine.abort("enough", Writer::Client).unwrap();
    sim.record(abort);
    assert!(sim.engine.abort("enough", Writer::Client).is_none());
    sim.go();
    check(
        &sim,
        expect![[r#"
        AskModel { lap: 1, turn: 1, messages: 1 }
        Prepare(Coord { lap: 1, turn: 1, seq: 1 })
        1/1/1 → 499 NotPerformed
        1/1/2 → 499 NotPerformed
        end 1 499 enough
        AskModel { lap: 2, turn: 1, messages: 5 }"#]],
    );
}

/// A run whose only command began under somebody who can be asked, and was not seen to end.
fn cut_off() -> Sim {
    let mut sim = Sim::new(Mode::Act, Approval::Ask);
    sim.prompt("go");
    sim.go();
    sim.reply(&[BASH], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    sim.decide(at(1, 1, 1), Verdict::Allow, None);
    sim.begin(at(1, 1, 1));
    sim
}

fn found(sim: &mut Sim, found: Found) {
    match sim.engine.found(at(1, 1, 1), found) {
        Settlement::Repeat => sim.said.push("repeat".into()),
        Settlement::Record(recording) => sim.record(recording),
    }
}

#[test]
fn a_word_about_one_beginning_says_nothing_about_the_next() {
    let mut sim = cut_off();
    found(&mut sim, Found::Unknown);
    sim.decide(at(1, 1, 1), Verdict::Allow, None);
    assert_eq!(sim.go(), Step::Act { at: at(1, 1, 1), again: true });
    sim.begin(at(1, 1, 1));
    assert_eq!(sim.go(), Step::Settle(at(1, 1, 1)), "cut off again: it is not simply run again");
    found(&mut sim, Found::Unknown);
    assert_eq!(sim.go(), Step::Await(at(1, 1, 1)));
    assert_eq!(
        sim.engine.op(at(1, 1, 1)).unwrap().settling.as_ref().unwrap().id.0,
        "p1.1.1.again2"
    );
}

#[test]
fn a_read_only_driver_performs_nothing_that_another_was_allowed() {
    let mut sim = Sim::new(Mode::Act, Approval::Ask);
    sim.prompt("go");
    sim.go();
    sim.reply(&[WRITE], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    sim.decide(at(1, 1, 1), Verdict::Allow, None);
    sim.drive(Mode::ReadOnly, Approval::Ask);
    sim.said.clear();
    sim.go();
    assert_eq!(sim.said[0], "1/1/1 → 403 NotPerformed");

    for (disk, expect) in [
        (Found::NotDone, "1/1/1 → 403 NotPerformed"),
        (Found::Unknown, "1/1/1 → 500 Indeterminate"),
        (Found::Done, "1/1/1 → 200 FoundDone"),
    ] {
        let mut sim = cut_off();
        sim.drive(Mode::ReadOnly, Approval::Ask);
        sim.said.clear();
        found(&mut sim, disk);
        assert_eq!(sim.said[0], expect);
    }
}

#[test]
fn a_stopped_loop_performs_nothing_that_began_before_a_crash() {
    for (disk, expect) in [
        (Found::NotDone, "1/1/1 → 499 NotPerformed"),
        (Found::Unknown, "1/1/1 → 500 Indeterminate"),
    ] {
        let mut sim = cut_off();
        found(&mut sim, Found::Unknown);
        let abort = sim.engine.abort("enough", Writer::Client).unwrap();
        sim.record(abort);
        assert_eq!(sim.go(), Step::Settle(at(1, 1, 1)), "it no longer waits for a word");
        sim.said.clear();
        found(&mut sim, disk);
        assert_eq!(sim.said[0], expect);
    }
}

#[test]
fn a_question_of_an_earlier_driver_is_answered_by_the_gates_of_this_one() {
    for (approval, expect) in [
        (Approval::Ask, "Await(Coord { lap: 1, turn: 1, seq: 1 })"),
        (Approval::Yolo, "Act { at: Coord { lap: 1, turn: 1, seq: 1 }, again: false }"),
        (Approval::Nobody, "1/1/1 → 403 NotPerformed"),
    ] {
        let mut sim = Sim::new(Mode::Act, Approval::Ask);
        sim.prompt("go");
        sim.go();
        sim.reply(&[BASH], Finish::Calls);
        sim.go();
        sim.prepared(at(1, 1, 1));
        sim.drive(Mode::Act, approval);
        sim.said.clear();
        sim.go();
        assert_eq!(sim.said[0], expect);
    }
}

#[test]
fn a_fork_shares_what_was_said_but_not_what_waits_nor_words_given_for_its_parent() {
    let mut sim = Sim::new(Mode::Act, Approval::Ask);
    sim.prompt("one");
    sim.prompt("two");
    sim.go();
    sim.reply(&[BASH], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    let mut all = word("p1.1.1", Verdict::Allow, None);
    all.remember = Remember::Run;
    let recording = sim.engine.decided(&all).unwrap();
    sim.record(recording);
    sim.begin(at(1, 1, 1));
    sim.settle(at(1, 1, 1), Status::OK);
    let mut fork = Engine::fold(&sim.facts);
    let drive = sim.facts[1].body.clone();
    let n = fork.last_n() + 1;
    fork.apply(&Fact { run: RunId::new(2, 2), n, at: n, engine: VERSION.into(), body: drive });
    assert_eq!(fork.items(), sim.engine.items());
    assert_eq!(fork.queued_laps(), 0);
    assert!(fork.lap().unwrap().is_inherited() && fork.remembered.is_empty());
}

/// What may happen next, drawn at random; what does not fit the moment is left out.
#[derive(Debug, Clone)]
enum Happening {
    Reply(Vec<u8>, bool),
    Fault,
    Steer,
    Abort,
    Prompt,
    Word(Verdict),
    Status(u16),
    Crash(Found),
    Drive(bool, u8),
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        4 => (prop::collection::vec(0u8..5, 0..5), any::<bool>()).prop_map(|(c, cut)| Happening::Reply(c, cut)),
        1 => Just(Happening::Fault),
        1 => Just(Happening::Steer),
        1 => Just(Happening::Abort),
        1 => Just(Happening::Prompt),
        3 => prop::sample::select(vec![Verdict::Allow, Verdict::Refuse, Verdict::Cancel, Verdict::Happened, Verdict::Skip]).prop_map(Happening::Word),
        1 => (any::<bool>(), 0u8..3).prop_map(|(act, who)| Happening::Drive(act, who)),
        6 => prop::sample::select(vec![200u16, 404, 409, 500]).prop_map(Happening::Status),
        1 => prop::sample::select(vec![Found::Done, Found::NotDone, Found::Unknown]).prop_map(Happening::Crash),
    ]
}

/// An effect is about to be performed: somebody's own word stands behind this very beginning, the
/// driver may act, and nobody stopped the loop.
fn check_leave_to_act(sim: &Sim, at: Coord) {
    assert_eq!(sim.engine.drive.as_ref().unwrap().mode, Mode::Act, "{at} under read-only");
    assert!(!sim.engine.lap().unwrap().is_aborted(), "{at} after an abort");
    let is_begin = |fact: &Fact| matches!(&fact.body, Body::Begin(begin) if begin.at == at);
    let since = sim.facts.iter().rposition(is_begin).map_or(0, |last| last + 1);
    let allowed = sim.facts[since..].iter().any(
        |fact| matches!(&fact.body, Body::Decision(d) if d.at == at && d.verdict == Verdict::Allow),
    );
    assert!(allowed, "{at} without a word of its own");
}

fn happen(sim: &mut Sim, happening: &Happening) {
    let step = sim.go();
    if let Step::Act { at, .. } = &step {
        check_leave_to_act(sim, *at);
    }
    match (happening, step) {
        (Happening::Reply(calls, cut), Step::AskModel { .. }) => {
            let calls: Vec<(&str, &str)> = calls
                .iter()
                .map(|c| [READ, BASH, WRITE, ("nonsense", "{}"), ("bash", "{")][*c as usize])
                .collect();
            let finish = match (*cut, calls.is_empty()) {
                (true, _) => Finish::Length,
                (false, true) => Finish::Stop,
                (false, false) => Finish::Calls,
            };
            sim.reply(&calls, finish);
        }
        (Happening::Fault, Step::AskModel { .. }) => {
            let fault = sim.engine.faulted("cut", "the stream was cut", 1);
            sim.record(fault);
        }
        (Happening::Steer, _) => {
            let recording = sim.engine.steer("words", Writer::Client).unwrap_or_default();
            sim.record(recording);
        }
        (Happening::Abort, _) => {
            let recording = sim.engine.abort("enough", Writer::Client).unwrap_or_default();
            sim.record(recording);
        }
        (Happening::Prompt, _) => sim.prompt("more"),
        (Happening::Drive(act, who), _) => {
            let mode = if *act { Mode::Act } else { Mode::ReadOnly };
            let approval = [Approval::Ask, Approval::Yolo, Approval::Nobody][*who as usize];
            sim.drive(mode, approval);
        }
        (Happening::Word(verdict), Step::Await(at)) => {
            let op = sim.engine.op(at).unwrap();
            let open = op.settling.as_ref().or(op.proposal.as_ref()).unwrap();
            let word = word(&open.id.0, *verdict, Some("words"));
            match sim.engine.decided(&word) {
                Ok(recording) => sim.record(recording),
                Err(error) => assert!(matches!(error, DecideError::Unfit { .. }), "{error}"),
            }
        }
        (_, Step::Prepare(at)) => sim.prepared(at),
        (Happening::Crash(_), Step::Act { at, .. }) => sim.begin(at),
        (Happening::Status(status), Step::Act { at, .. }) => {
            sim.begin(at);
            sim.settle(at, Status(*status));
        }
        (Happening::Status(status), Step::Read(ats)) => {
            ats.iter().for_each(|at| sim.settle(*at, Status(*status)));
        }
        (Happening::Crash(found), Step::Settle(at)) => match sim.engine.found(at, *found) {
            Settlement::Record(recording) => sim.record(recording),
            Settlement::Repeat => {
                sim.begin(at);
                sim.settle(at, Status::OK);
            }
        },
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn whatever_happens_the_fold_is_the_state_messages_never_change_and_every_call_has_its_result(
        happenings in prop::collection::vec(happening(), 1..60),
        ask in any::<bool>(),
    ) {
        let approval = if ask { Approval::Ask } else { Approval::Yolo };
        let mut sim = Sim::new(Mode::Act, approval);
        sim.prompt("go");
        let mut before: Vec<Item> = Vec::new();
        for happening in &happenings {
            happen(&mut sim, happening);
            prop_assert!(sim.engine.items().starts_with(&before), "a message changed");
            before = sim.engine.items().to_vec();
        }
        prop_assert_eq!(&Engine::fold(&sim.facts), &sim.engine);
        for n in 0..sim.facts.len() {
            let folded = Engine::fold(&sim.facts[..n]);
            let _ = folded.step();
        }
        check_every_call_is_answered(&sim);
    }
}

/// In the transcript, each call is followed by exactly one result before anything else is said.
fn check_every_call_is_answered(sim: &Sim) {
    let open = sim.engine.lap().is_some_and(Lap::has_open_ops);
    let mut owed: Vec<&str> = Vec::new();
    for item in sim.engine.items() {
        match item {
            Item::Assistant { calls, .. } => {
                assert!(owed.is_empty(), "unanswered: {owed:?}");
                owed = calls.iter().map(|call| call.id.as_str()).collect();
            }
            Item::Result { call, .. } => {
                assert_eq!(owed.first().copied(), Some(call.as_str()), "out of order");
                owed.remove(0);
            }
            Item::User(_) => assert!(owed.is_empty(), "unanswered: {owed:?}"),
        }
    }
    assert!(owed.is_empty() || open);
}
