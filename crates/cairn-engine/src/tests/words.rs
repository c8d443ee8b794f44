//! Words for whoever listens: when they are the last of their loop.

use super::hooks::{answer, block, hooked};
use super::*;

const LAST: (&str, &str) = ("send", r#"{"text":"all done","status":200}"#);
const GIVEN_UP: (&str, &str) = ("send", r#"{"text":"I give up","status":499}"#);

fn steer(sim: &mut Sim) {
    let recording = sim.engine.lap().unwrap().steer("wait", Writer::Client, None).unwrap();
    sim.record(recording);
}

fn replied(calls: &[(&str, &str)]) -> Sim {
    Sim::replied(Mode::Act, Approval::Yolo, calls, Finish::Calls)
}

// keeps: last-word
#[test]
fn the_last_word_ends_its_loop_with_its_status() {
    for (call, status) in [(LAST, Status::OK), (GIVEN_UP, Status::CANCELLED)] {
        let mut sim = replied(&[call]);
        assert_eq!(sim.go(), Step::Read(vec![at(1, 1, 1)]));
        sim.settle(at(1, 1, 1), status);
        assert_eq!(sim.go(), Step::Idle);
        assert_eq!(sim.engine.ended().unwrap().status, status);
    }
}

// keeps: last-word
#[test]
fn a_last_word_that_was_skipped_was_not_said() {
    let mut sim = replied(&[READ, LAST]);
    steer(&mut sim);
    assert!(matches!(sim.go(), Step::AskModel { turn: 2, .. }), "{:?}", sim.said);
    assert_eq!(sim.engine.op(at(1, 1, 2)).unwrap().status(), Some(Status::CANCELLED));
}

// keeps: last-word
#[test]
fn what_is_said_after_the_last_word_and_before_its_loop_ends_is_heard() {
    let mut sim = replied(&[LAST, WRITE]);
    sim.go();
    sim.settle(at(1, 1, 1), Status::OK);
    steer(&mut sim);
    assert!(matches!(sim.go(), Step::AskModel { turn: 2, .. }), "within the turn: {:?}", sim.said);

    let mut sim = replied(&[LAST]);
    sim.go();
    sim.settle(at(1, 1, 1), Status::OK);
    steer(&mut sim);
    assert!(matches!(sim.go(), Step::AskModel { turn: 2, .. }), "after it: {:?}", sim.said);
}

// keeps: last-word
#[test]
fn a_hook_that_keeps_a_loop_from_ending_is_asked_about_the_last_word() {
    let mut sim = hooked(&["Stop s"], &[LAST]);
    sim.go();
    sim.settle(at(1, 1, 1), Status::OK);
    answer(&mut sim, block("run the tests first"));
    assert!(matches!(sim.go(), Step::AskModel { turn: 2, .. }), "{:?}", sim.said);
}
