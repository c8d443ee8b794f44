//! What words skip: ops that have not begun, of which a command that ran over an overlay is none.

use super::sent::{changed, overlaid, prepare};
use super::*;
use expect_test::expect;

/// A reply with two commands that run over an overlay, the first of which is about to.
fn two_commands(approval: Approval) -> Sim {
    let mut sim = Sim::new(Mode::Act, approval);
    sim.record(Recording::of(Body::Drive(overlaid(approval, &[]))));
    sim.prompt("go");
    sim.go();
    sim.reply(&[BASH, BASH], Finish::Calls);
    assert_eq!(sim.go(), Step::Prepare(at(1, 1, 1)));
    sim
}

fn steer(sim: &mut Sim, begun: Option<Coord>) {
    let recording = sim.engine.lap().unwrap().steer("words", Writer::Client, begun).unwrap();
    sim.record(recording);
}

fn finish(sim: &mut Sim) {
    assert_eq!(sim.go(), Step::Act { at: at(1, 1, 1), again: false });
    sim.begin(at(1, 1, 1));
    sim.settle(at(1, 1, 1), Status::OK);
    sim.go();
}

// keeps: steering
#[test]
fn words_while_a_command_runs_let_it_be_asked_about_and_skip_what_follows() {
    let mut sim = two_commands(Approval::Ask);
    steer(&mut sim, Some(at(1, 1, 1)));
    assert_eq!(sim.go(), Step::Prepare(at(1, 1, 1)), "also after a crash, by running it again");
    prepare(&mut sim, at(1, 1, 1), &changed("a"));
    assert_eq!(sim.go(), Step::Await(at(1, 1, 1)));
    sim.decide(at(1, 1, 1), Verdict::Allow, None);
    finish(&mut sim);
    check(
        &sim,
        expect![[r#"
            AskModel { lap: 1, turn: 1, messages: 1 }
            Prepare(Coord { lap: 1, turn: 1, seq: 1 })
            Prepare(Coord { lap: 1, turn: 1, seq: 1 })
            Await(Coord { lap: 1, turn: 1, seq: 1 })
            Act { at: Coord { lap: 1, turn: 1, seq: 1 }, again: false }
            1/1/1 → 200 Performed
            1/1/2 → 499 NotPerformed
            AskModel { lap: 1, turn: 2, messages: 5 }"#]],
    );
}

// keeps: steering
#[test]
fn words_withdraw_no_question_about_what_a_command_changed_and_no_yes_to_it() {
    for says in [Approval::Ask, Approval::Yolo] {
        let mut sim = two_commands(says);
        prepare(&mut sim, at(1, 1, 1), &changed("a"));
        steer(&mut sim, Some(at(1, 1, 1)));
        if says == Approval::Ask {
            assert_eq!(sim.go(), Step::Await(at(1, 1, 1)));
            sim.decide(at(1, 1, 1), Verdict::Allow, None);
        }
        finish(&mut sim);
        assert!(matches!(sim.go(), Step::AskModel { turn: 2, .. }));
        assert_eq!(sim.engine.op(at(1, 1, 1)).unwrap().status(), Some(Status::OK));
        assert_eq!(sim.engine.op(at(1, 1, 2)).unwrap().status(), Some(Status::CANCELLED));
    }
}

// keeps: steering
#[test]
fn words_skip_a_command_that_has_not_begun_and_withdraw_the_question_about_an_edit() {
    let mut sim = two_commands(Approval::Ask);
    steer(&mut sim, None);
    assert!(matches!(sim.go(), Step::AskModel { turn: 2, .. }));
    sim.reply(&[WRITE], Finish::Calls);
    assert_eq!(sim.go(), Step::Prepare(at(1, 2, 1)));
    sim.prepared(at(1, 2, 1));
    assert_eq!(sim.go(), Step::Await(at(1, 2, 1)));
    steer(&mut sim, None);
    assert!(matches!(sim.go(), Step::AskModel { turn: 3, .. }));
}

#[test]
fn a_stop_reaches_a_command_that_words_did_not_skip() {
    let mut sim = two_commands(Approval::Ask);
    steer(&mut sim, Some(at(1, 1, 1)));
    let abort = sim.engine.lap().unwrap().abort("enough", Writer::Client).unwrap();
    sim.record(abort);
    assert_eq!(sim.go(), Step::Idle);
    assert_eq!(sim.engine.ended().unwrap().status, Status::CANCELLED);
}
