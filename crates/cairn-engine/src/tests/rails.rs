//! Which loops are ended for getting nowhere, and which go on.

use super::*;
use crate::*;
use cairn_types::*;

/// One turn: its calls, and what became of each.
type Turn<'a> = &'a [(&'a str, u16, &'a str)];

/// Plays turns until the loop ends; says in which it did, and by which rail.
fn check(what: &str, turns: &[Turn<'_>], expected: Option<(u32, Rail)>) {
    let mut sim = Sim::new(Mode::Act, Approval::Yolo);
    let caps = Caps { turns: 100, ops: 3, cost: None };
    sim.record(Recording::of(Body::Drive(Drive { caps, ..drive(Mode::Act, Approval::Yolo) })));
    sim.prompt("go");
    let mut ended = None;
    for (turn, ops) in (1..).zip(turns) {
        sim.go();
        let calls: Vec<(&str, &str)> = ops.iter().map(|(args, ..)| ("read", *args)).collect();
        sim.reply(&calls, Finish::Calls);
        for (seq, (_, status, result)) in (1..).zip(ops.iter()) {
            let result = ContentRef::of(result.as_bytes());
            sim.settle_with(at(1, turn, seq), Status(*status), result, Vec::new());
        }
        sim.go();
        ended = sim.engine.ended().map(|end| (turn, end.rail, end.status));
        if ended.is_some() {
            break;
        }
    }
    let expected = expected.map(|(turn, rail)| (turn, Some(rail), Status::CANCELLED));
    assert_eq!(ended, expected, "{what}");
    assert_eq!(Engine::fold(&sim.facts), sim.engine, "{what}");
}

const A: &str = r#"{"path":"a"}"#;
const B: &str = r#"{"path":"b"}"#;
const C: &str = r#"{"path":"c"}"#;
const D: &str = r#"{"path":"d"}"#;
const E: &str = r#"{"path":"e"}"#;

// keeps: rails-end
#[test]
fn the_same_calls_with_the_same_results_are_a_cycle_and_other_results_are_work() {
    let same: Turn<'_> = &[(A, 200, "x")];
    check("four times the same is no end", &[same; 4], None);
    check("five times the same is", &[same; 5], Some((5, Rail::Cycle)));
    let (b, c, d, e): (Turn<'_>, Turn<'_>, Turn<'_>, Turn<'_>) =
        (&[(B, 200, "x")], &[(C, 200, "x")], &[(D, 200, "x")], &[(E, 200, "x")]);
    check("two in turn", &[same, b].repeat(5), Some((8, Rail::Cycle)));
    check("three in turn", &[same, b, c].repeat(5), Some((11, Rail::Cycle)));
    check("four in turn", &[same, b, c, d].repeat(5), Some((14, Rail::Cycle)));
    check("five in turn are no cycle", &[same, b, c, d, e].repeat(8), None);
    check("a cycle that is left", &[same, same, same, same, b, same, same, same, same], None);
    let results: Vec<String> = (0..30).map(|n| n.to_string()).collect();
    let changing: Vec<[(&str, u16, &str); 1]> =
        results.iter().map(|result| [(A, 200, result.as_str())]).collect();
    let changing: Vec<Turn<'_>> = changing.iter().map(|turn| &turn[..]).collect();
    check("the same call with other results", &changing, None);
}

// keeps: rails-end
#[test]
fn three_turns_in_a_row_that_could_not_act_end_a_loop_and_a_clean_one_resets() {
    let turn = |status, n| [(A, status, n)];
    for status in [400, 408, 410, 413, 415, 422, 429, 500] {
        let (x, y, z) = (turn(status, "1"), turn(status, "2"), turn(status, "3"));
        check(&status.to_string(), &[&x, &y, &z], Some((3, Rail::Strikes)));
        let clean = turn(200, "4");
        check(&format!("{status}, reset"), &[&x, &y, &clean, &z, &x, &clean, &y], None);
    }
    for status in [403, 404, 409, 416, 499, 501] {
        // As many as are no cycle yet: what is cancelled is all the same.
        let turns: Vec<_> = (0..4).map(|n| n.to_string()).collect();
        let turns: Vec<_> = turns.iter().map(|n| [(A, status, n.as_str())]).collect();
        let turns: Vec<Turn<'_>> = turns.iter().map(|turn| &turn[..]).collect();
        check(&format!("{status} does not strike"), &turns, None);
    }
    let mixed: Turn<'_> = &[(A, 200, "1"), (B, 422, "2")];
    check("one call of several", &[mixed; 3], Some((3, Rail::Strikes)));
}

/// A loop whose model asks for the same command in every turn; somebody does something about it.
fn asked_for(times: u32, mut each: impl FnMut(&mut Sim, Coord)) -> Option<End> {
    let mut sim = Sim::new(Mode::Act, Approval::Ask);
    let caps = Caps { turns: 100, ops: 3, cost: None };
    sim.record(Recording::of(Body::Drive(Drive { caps, ..drive(Mode::Act, Approval::Ask) })));
    sim.prompt("go");
    for turn in 1..=times {
        sim.go();
        if sim.engine.lap().is_none() {
            break;
        }
        sim.reply(&[BASH], Finish::Calls);
        sim.go();
        sim.prepared(at(1, turn, 1));
        sim.go();
        each(&mut sim, at(1, turn, 1));
    }
    sim.go();
    assert_eq!(Engine::fold(&sim.facts), sim.engine);
    sim.engine.ended().cloned()
}

// keeps: rails-end
#[test]
fn what_a_person_refuses_and_what_a_crash_left_unknown_never_strikes() {
    let refused = asked_for(9, |sim, at| sim.decide(at, Verdict::Refuse, None));
    assert_eq!(refused, None);
    let unknown = asked_for(4, |sim, at| {
        sim.decide(at, Verdict::Allow, None);
        sim.begin(at);
        let op = sim.engine.op(at).unwrap().clone();
        sim.record(Recording::indeterminate(&op));
    });
    assert_eq!(unknown, None);
    let allowed = asked_for(9, |sim, at| {
        sim.decide(at, Verdict::Allow, None);
        sim.begin(at);
        sim.settle(at, Status::OK);
    });
    assert_eq!(allowed.and_then(|end| end.rail), Some(Rail::Cycle));
}

// keeps: rails-end
#[test]
fn what_the_policy_refuses_strikes_only_when_it_is_asked_for_in_circles() {
    let refused = |commands: &dyn Fn(u32) -> String| {
        let mut sim = Sim::new(Mode::Act, Approval::Yolo);
        sim.drive_by(Mode::Act, Approval::Yolo, &["deny exec"]);
        sim.prompt("go");
        for turn in 1..=5 {
            sim.go();
            let args = serde_json::json!({ "command": commands(turn) }).to_string();
            sim.reply(&[("bash", &args)], Finish::Calls);
            sim.go();
        }
        let refused = sim.said.iter().filter(|said| said.contains("→ 403")).count();
        assert_eq!(refused, 5, "{:?}", sim.said);
        sim.engine.ended().and_then(|end| end.rail)
    };
    // The fifth turn is also this driver's last, which is another rail.
    assert_eq!(refused(&|_| "x".to_owned()), Some(Rail::Cycle));
    assert_eq!(refused(&|turn| format!("x {turn}")), Some(Rail::Turns));
}

// keeps: rails-end
#[test]
fn words_of_a_person_are_another_beginning() {
    let mut turns = 0;
    let steered = asked_for(9, |sim, at| {
        sim.decide(at, Verdict::Allow, None);
        sim.begin(at);
        sim.settle(at, Status::OK);
        turns += 1;
        if turns == 4 {
            let steer = sim.engine.lap().unwrap().steer("once more", Writer::Client, None).unwrap();
            sim.record(steer);
        }
    });
    assert_eq!(steered.and_then(|end| end.rail), Some(Rail::Cycle));
    assert_eq!(turns, 9, "four, and five more");
}

// keeps: rails-end
#[test]
fn a_result_that_is_pointed_at_and_an_output_that_names_its_row_are_the_same_result() {
    let settle = |sim: &mut Sim, turn: u32| {
        let (own, output) = (Hash::of(b"long"), Hash::of(b"printed"));
        let result = ContentRef::of(format!("see row {turn}").as_bytes());
        let kept = ContentRef::of(b"printed");
        sim.settle_as(at(1, turn, 1), |outcome| {
            outcome.result = result;
            outcome.own = Some(own);
            outcome.status = if turn == 1 { Status::OK } else { Status::UNCHANGED };
        });
        sim.settle_as(at(1, turn, 2), |outcome| {
            outcome.result = result;
            outcome.output = Some(CommandOutput { bytes: 7, hash: output, kept });
        });
    };
    let mut sim = Sim::new(Mode::Act, Approval::Yolo);
    let caps = Caps { turns: 100, ops: 3, cost: None };
    sim.record(Recording::of(Body::Drive(Drive { caps, ..drive(Mode::Act, Approval::Yolo) })));
    sim.prompt("go");
    for turn in 1..=5 {
        sim.go();
        sim.reply(&[READ, READ], Finish::Calls);
        settle(&mut sim, turn);
    }
    sim.go();
    assert_eq!(sim.engine.ended().and_then(|end| end.rail), Some(Rail::Cycle));
}
