//! How often the gates are asked about one op: once as requested, once prepared, and again for every cause.

use super::hooks::{answer, change, drive_hooked, nothing};
use super::*;

const OP: Coord = Coord { lap: 1, turn: 1, seq: 1 };

/// A run under these rules whose model wants to write `a`.
fn writes(approval: Approval, rules: &[&str]) -> Sim {
    let mut sim = Sim::new(Mode::Act, approval);
    sim.drive_by(Mode::Act, approval, rules);
    sim.prompt("go");
    sim.go();
    sim.reply(&[WRITE], Finish::Calls);
    sim
}

/// The prepared effect of writing this path.
fn effect(path: &str) -> Prepared {
    let change = Change::between(path.into(), None, None);
    Prepared { changes: vec![change], shown: "what".into(), ..Prepared::default() }
}

fn prepare(sim: &mut Sim) {
    let recording = sim.engine.op_in_run(OP).unwrap().judge_prepared(&effect("a"));
    sim.record(recording);
}

/// What happens between a decision and the beginning, and how often the gates were asked in all.
#[track_caller]
fn check_count(sim: &Sim, now: &Prepared, expected: u64) -> Option<Recording> {
    let refused = sim.engine.op_in_run(OP).unwrap().refusal_before_acting(now);
    assert_eq!(sim.engine.driving().gate_evaluations(), expected, "{:#?}", sim.said);
    refused
}

const ACT: Step = Step::Act { at: OP, again: false };

#[test]
fn the_gates_are_asked_twice_about_an_ordinary_edit() {
    let mut granted = writes(Approval::Ask, &["allow edit a"]);
    assert_eq!(granted.go(), Step::Prepare(OP));
    prepare(&mut granted);
    assert_eq!(granted.go(), ACT);
    assert_eq!(check_count(&granted, &effect("a"), 2), None);

    let mut held = writes(Approval::Ask, &[]);
    assert_eq!(held.go(), Step::Prepare(OP));
    prepare(&mut held);
    assert_eq!(held.go(), Step::Await(OP));
    held.decide(OP, Verdict::Allow, None);
    assert_eq!(held.go(), ACT);
    assert_eq!(check_count(&held, &effect("a"), 2), None);
}

#[test]
fn the_gates_are_asked_about_a_read_once() {
    let mut sim = Sim::replied(Mode::Act, Approval::Ask, &[READ], Finish::Calls);
    assert_eq!(sim.go(), Step::Read(vec![OP]));
    assert_eq!(sim.engine.driving().gate_evaluations(), 1);
}

#[test]
fn the_gates_are_asked_again_when_a_hook_changed_the_op() {
    let mut sim = writes(Approval::Yolo, &[]);
    assert_eq!(sim.go(), Step::Prepare(OP));
    prepare(&mut sim);
    assert_eq!(sim.go(), ACT);
    drive_hooked(&mut sim, Approval::Yolo, &["PreToolUse h write"]);
    answer(&mut sim, change(r#"{"path":"b","content":"c"}"#));
    let before = sim.engine.driving().gate_evaluations();
    assert_eq!(answer(&mut sim, nothing()), Step::Prepare(OP));
    assert!(sim.engine.driving().gate_evaluations() > before);
}

#[test]
fn the_gates_are_asked_again_when_files_changed() {
    let mut sim = writes(Approval::Ask, &["allow edit a"]);
    sim.go();
    prepare(&mut sim);
    sim.go();
    // Prepared again, the edit would write another file; beside that, naming it in the decision asks once more.
    let refused = check_count(&sim, &effect("b"), 3).expect("no rule allows the other file");
    assert!(matches!(&refused.facts[..], [Body::Outcome(of)] if of.status == Status::CONFLICT));
}

#[test]
fn the_gates_are_asked_again_when_a_rule_was_added_while_the_question_was_open() {
    let mut sim = writes(Approval::Ask, &[]);
    sim.go();
    prepare(&mut sim);
    assert_eq!(sim.go(), Step::Await(OP));
    sim.drive_by(Mode::Act, Approval::Ask, &["deny edit a"]);
    sim.go();
    assert!(sim.said.contains(&"1/1/1 → 403 NotPerformed".to_owned()), "{:#?}", sim.said);
}

#[test]
fn the_gates_are_asked_again_when_the_mode_was_narrowed() {
    for mode in [Mode::ReadOnly, Mode::Plan] {
        let mut sim = writes(Approval::Ask, &[]);
        sim.go();
        prepare(&mut sim);
        sim.decide(OP, Verdict::Allow, None);
        assert_eq!(sim.go(), ACT);
        sim.drive(mode, Approval::Ask);
        sim.go();
        assert!(sim.said.contains(&"1/1/1 → 403 NotPerformed".to_owned()), "{:#?}", sim.said);
    }
}

#[test]
fn the_gates_are_asked_again_when_a_remembered_answer_has_expired() {
    let mut sim = Sim::new(Mode::Act, Approval::Ask);
    sim.prompt("go");
    sim.go();
    sim.reply(&[WRITE, WRITE], Finish::Calls);
    sim.go();
    prepare(&mut sim);
    sim.go();
    let mut said = word("p1.1.1", Verdict::Allow, None);
    // The facts that follow: this decision, the beginning, the outcome, and the decision on the second edit.
    let until = sim.engine.last_n() + 4;
    (said.remember, said.rule, said.until) = (Remember::Run, Some("edit a".into()), Some(until));
    let recording = sim.engine.decided(&said, 0).unwrap();
    sim.record(recording);
    sim.go();
    sim.begin(OP);
    sim.settle(OP, Status::OK);
    let second = at(1, 1, 2);
    assert_eq!(sim.go(), Step::Prepare(second));
    let granted = sim.engine.op_in_run(second).unwrap().judge_prepared(&effect("a"));
    assert!(matches!(&granted.facts[..], [Body::Decision(of)] if of.by == By::Remembered));
    sim.record(granted);
    assert_eq!(sim.go(), Step::Prepare(second), "the answer expired with the decision's time");
}

#[test]
fn the_gates_are_asked_again_when_a_budget_is_used_up() {
    let mut sim = writes(Approval::Ask, &[]);
    sim.go();
    prepare(&mut sim);
    sim.decide(OP, Verdict::Allow, None);
    assert_eq!(sim.go(), ACT);
    let calls = [("write".to_owned(), 0)].into_iter().collect();
    let budgets = Budgets { calls, ..Budgets::default() };
    sim.record(Recording::of(Body::Drive(Drive { budgets, ..drive(Mode::Act, Approval::Ask) })));
    sim.go();
    let refused = format!("1/1/1 → {} NotPerformed", Status::LIMIT);
    assert!(sim.said.contains(&refused), "{:#?}", sim.said);
}
