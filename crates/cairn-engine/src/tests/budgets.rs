//! What a run may use up: calls of a tool, and time.

use super::*;
use crate::*;
use cairn_types::*;

fn driven(budgets: Budgets) -> Sim {
    let mut sim = Sim::new(Mode::Act, Approval::Yolo);
    let caps = Caps { turns: 100, ops: 10, cost: None };
    let drive = Drive { caps, budgets, ..drive(Mode::Act, Approval::Yolo) };
    sim.record(Recording::of(Body::Drive(drive)));
    sim.prompt("go");
    sim.go();
    sim
}

fn calls(most: &[(&str, u64)], on_exceeded: Exceeded) -> Budgets {
    let calls = most.iter().map(|(tool, most)| ((*tool).to_owned(), *most)).collect();
    Budgets { calls, on_exceeded, ..Budgets::default() }
}

/// What the model was told of the op.
fn told(sim: &Sim, at: Coord) -> (Status, ContentRef) {
    let outcome = sim.facts.iter().find_map(|fact| match &fact.body {
        Body::Outcome(outcome) if outcome.at == at => Some(outcome),
        _ => None,
    });
    outcome.map(|outcome| (outcome.status, outcome.result)).unwrap()
}

// keeps: call-budgets
#[test]
fn reads_side_by_side_are_counted_one_by_one_whatever_the_model_calls_the_tool() {
    let mut sim = driven(calls(&[("read", 2)], Exceeded::Block));
    let other = ("read_file", r#"{"path":"b"}"#);
    sim.reply(&[READ, other, READ, WRITE], Finish::Calls);
    assert_eq!(sim.go(), Step::Read(vec![at(1, 1, 1), at(1, 1, 2)]));
    sim.settle(at(1, 1, 1), Status::OK);
    sim.settle(at(1, 1, 2), Status::NOT_FOUND);
    assert_eq!(sim.go(), Step::Prepare(at(1, 1, 4)));
    let words = "refused: this run may call read 2 times, and has";
    assert_eq!(told(&sim, at(1, 1, 3)), (Status::LIMIT, ContentRef::of(words.as_bytes())));
    let by = sim.facts.iter().find_map(|fact| match &fact.body {
        Body::Decision(decision) if decision.at == at(1, 1, 3) => Some(decision.by.to_string()),
        _ => None,
    });
    assert_eq!(by.as_deref(), Some("gate:budget"));
}

// keeps: call-budgets
#[test]
fn a_call_that_was_refused_is_none_and_a_fork_has_its_own() {
    let mut sim = driven(calls(&[("bash", 1), ("read", 5)], Exceeded::Steer));
    sim.reply(&[("bash", "{"), BASH], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 2));
    assert_eq!(sim.go(), Step::Act { at: at(1, 1, 2), again: false });
    sim.begin(at(1, 1, 2));
    sim.settle(at(1, 1, 2), Status::OK);
    sim.go();
    sim.reply(&[BASH], Finish::Calls);
    sim.go();
    let words = "refused: this run may call bash once, and has; left are read 5 times, and tools \
                 without a number";
    assert_eq!(told(&sim, at(1, 2, 1)), (Status::LIMIT, ContentRef::of(words.as_bytes())));
    let mut fork = Engine::fold(&sim.facts);
    let drive = sim.engine.driving.drive.clone().unwrap();
    let n = fork.last_n() + 1;
    let body = Body::Drive(drive);
    fork.apply(&Fact { run: RunId::new(2, 2), n, at: n, engine: VERSION.into(), body });
    assert_eq!(fork.totals.calls_of("bash"), 0);
}

// keeps: time-cap
#[test]
fn time_is_counted_while_it_works_and_not_while_nobody_drives_or_a_person_is_waited_for() {
    const MINUTE: u64 = 60_000;
    let one = || Budgets { minutes: Some(1), ..Budgets::default() };
    let by_person = || {
        let by = By::Person("someone".into());
        Body::Decision(Decision::new(at(1, 1, 1), Verdict::Allow, by, Vec::new()))
    };
    let body = Drive { budgets: one(), ..drive(Mode::Act, Approval::Yolo) };
    let body = Body::Drive(body);
    let begin = Body::Begin(Begin {
        at: at(1, 1, 1),
        changes: Vec::new(),
        again: false,
        told: None,
        ran: None,
    });
    for (what, paused_by, expected) in [
        ("worked", begin, Some(Rail::Time)),
        ("waited for a person", by_person(), None),
        ("nobody drove", body, None),
    ] {
        let mut sim = driven(one());
        sim.reply(&[READ], Finish::Calls);
        let n = sim.engine.last_n() + 1;
        let at_ms = n + MINUTE;
        let run = RunId::new(1, 1);
        sim.engine.apply(&Fact { run, n, at: at_ms, engine: VERSION.into(), body: paused_by });
        let outcome = {
            let mut scratch = driven(one());
            scratch.reply(&[READ], Finish::Calls);
            scratch.settle(at(1, 1, 1), Status::OK);
            scratch.facts.pop().unwrap()
        };
        sim.engine.apply(&Fact { n: n + 1, at: at_ms + 1, ..outcome });
        let ended = match sim.engine.step() {
            Step::Record(recording) => recording.facts.iter().find_map(|body| match body {
                Body::End(end) => end.rail,
                _ => None,
            }),
            other => panic!("{what}: {other:?}"),
        };
        assert_eq!(ended, expected, "{what}");
    }
}

// keeps: duplicates
#[test]
fn a_pure_call_is_made_once_and_answered_from_then_on() {
    let list = ("todo", r#"{"items":[{"text":"a","state":"active"}]}"#);
    let other = ("todo", r#"{"items":[{"text":"a","state":"done"}]}"#);
    let mut sim = Sim::replied(Mode::Act, Approval::Yolo, &[list], Finish::Calls);
    sim.go();
    sim.settle(at(1, 1, 1), Status::OK);
    sim.go();
    sim.reply(&[list, other, READ], Finish::Calls);
    assert_eq!(sim.go(), Step::Read(vec![at(1, 2, 2), at(1, 2, 3)]), "{:?}", sim.said);
    let made = sim.facts.iter().rev().find_map(|fact| match &fact.body {
        Body::Decision(decision) => Some((decision.at, decision.verdict, decision.by.clone())),
        _ => None,
    });
    assert_eq!(made, Some((at(1, 2, 1), Verdict::Skip, By::Gate(Gate::Duplicate))));
    assert!(sim.said.contains(&"1/2/1 → 200 NotPerformed".to_owned()), "{:?}", sim.said);
    // What reads, and what failed, is done again.
    sim.settle(at(1, 2, 2), Status::FAILED);
    sim.settle(at(1, 2, 3), Status::OK);
    sim.go();
    sim.reply(&[other, READ], Finish::Calls);
    assert_eq!(sim.go(), Step::Read(vec![at(1, 3, 1), at(1, 3, 2)]));
}
