//! What the engine says to do, turn by turn.

use super::*;
use crate::*;
use cairn_types::*;
use expect_test::expect;

#[test]
fn reads_run_side_by_side_and_effects_one_after_the_other() {
    let mut sim = Sim::replied(Mode::Act, Approval::Yolo, &[READ, READ, BASH], Finish::Calls);
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
    let mut sim = Sim::replied(Mode::Act, Approval::Ask, &[WRITE, BASH, READ], Finish::Calls);
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
    assert_eq!(sim.engine.items().last(), Some(&Item::words(ContentRef::of(b"rather not"))));
}

#[test]
fn the_first_word_on_a_proposal_wins_and_a_word_on_something_else_is_refused() {
    let mut sim = Sim::replied(Mode::Act, Approval::Ask, &[BASH], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    let mut stale = word("p1.1.1", Verdict::Allow, None);
    stale.shown_hash = Some(Hash::of(b"something else"));
    assert!(matches!(sim.engine.decided(&stale, 0), Err(DecideError::Stale(_))));
    let unfit = sim.engine.decided(&word("p1.1.1", Verdict::Happened, None), 0);
    assert!(matches!(unfit, Err(DecideError::Unfit { .. })));
    sim.decide(at(1, 1, 1), Verdict::Allow, None);
    let second = sim.engine.decided(&word("p1.1.1", Verdict::Refuse, None), 0);
    assert!(matches!(second, Err(DecideError::Decided { verdict: Verdict::Allow, .. })));
    let none = sim.engine.decided(&word("p1.1.9", Verdict::Allow, None), 0);
    assert!(matches!(none, Err(DecideError::NoSuchProposal(_))));
}

#[test]
fn an_answer_for_the_whole_run_covers_its_kind_only() {
    let mut sim = Sim::replied(Mode::Act, Approval::Ask, &[BASH, BASH, WRITE], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    let mut all = word("p1.1.1", Verdict::Allow, None);
    all.remember = Remember::Run;
    let recording = sim.engine.decided(&all, 0).unwrap();
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
    let steer = sim.engine.lap().unwrap().steer("stop that", Writer::Client, None).unwrap();
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
        let mut sim = Sim::replied(mode, approval, &[BASH], Finish::Calls);
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
        let by = if approval == Approval::Nobody { By::Nobody } else { By::Gate(Gate::Mode) };
        assert_eq!(refusal, Some(by));
    }
}

#[test]
fn caps_end_the_loop_and_cut_the_reply() {
    let mut sim = Sim::new(Mode::Act, Approval::Yolo);
    sim.prompt("go");
    for turn in 1..=5 {
        sim.go();
        // Results differ from turn to turn, and only the last reply has too many calls.
        let calls = if turn == 5 { 4 } else { 3 };
        sim.reply(&[READ; 4][..calls], Finish::Calls);
        sim.go();
        let result = ContentRef::of(turn.to_string().as_bytes());
        (1..=3).for_each(|seq| sim.settle_with(at(1, turn, seq), Status::OK, result, Vec::new()));
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

/// A loop under a cap of 2 dollars whose replies cost so much each and want to go on.
fn under_a_cap(costs: &[Option<u64>]) -> Sim {
    let mut sim = Sim::new(Mode::Act, Approval::Yolo);
    sim.drive_with(Mode::Act, Approval::Yolo, Some(PicoUsd(2_000_000_000_000)));
    sim.prompt("go");
    for (turn, cost) in (1..).zip(costs) {
        sim.go();
        sim.reply_for(&[READ], Finish::Calls, cost.map(PicoUsd));
        sim.go();
        sim.settle(at(1, turn, 1), Status::OK);
    }
    sim.said.clear();
    sim.go();
    sim
}

#[test]
fn a_loop_that_has_cost_its_cap_ends_before_the_model_is_asked_again() {
    const DOLLAR: u64 = 1_000_000_000_000;
    check(&under_a_cap(&[Some(DOLLAR)]), expect!["AskModel { lap: 1, turn: 2, messages: 3 }"]);
    let mut sim = under_a_cap(&[Some(DOLLAR), Some(DOLLAR)]);
    check(
        &sim,
        expect![[r#"
            end 1 429 the loop has cost $2.000000; its cap is $2.000000
            Idle"#]],
    );
    // The next loop has the cap to itself; an answer that ends it is never too much.
    sim.prompt("once more");
    sim.said.clear();
    sim.go();
    sim.reply_for(&[], Finish::Stop, Some(PicoUsd(9 * DOLLAR)));
    sim.go();
    check(
        &sim,
        expect![[r#"
            AskModel { lap: 2, turn: 1, messages: 6 }
            end 2 200
            Idle"#]],
    );
    assert_eq!(sim.engine.totals().cost(), Some(PicoUsd(11 * DOLLAR)));
    assert_eq!(Engine::fold(&sim.facts), sim.engine);
}

#[test]
fn a_higher_cap_goes_on_in_the_same_loop_and_what_nobody_counted_does_not() {
    const DOLLAR: u64 = 1_000_000_000_000;
    let mut sim = under_a_cap(&[Some(DOLLAR)]);
    sim.reply_for(&[READ], Finish::Calls, Some(PicoUsd(3 * DOLLAR)));
    sim.go();
    sim.settle(at(1, 2, 1), Status::OK);
    // A crash here; the next driver brings more money, or no cap at all.
    for cap in [Some(PicoUsd(5 * DOLLAR)), None] {
        let mut richer =
            Sim { engine: Engine::fold(&sim.facts), facts: sim.facts.clone(), said: Vec::new() };
        richer.drive_with(Mode::Act, Approval::Yolo, cap);
        assert_eq!(richer.go(), Step::AskModel { lap: 1, turn: 3, messages: 6 });
    }
    check(
        &under_a_cap(&[None]),
        expect![[r#"
            end 1 429 nobody knows what turn 1 cost, so the cap of $2.000000 cannot be kept
            Idle"#]],
    );
}

#[test]
fn a_provider_that_claims_absurd_amounts_does_not_make_them_small() {
    let mut sim = under_a_cap(&[Some(u64::MAX)]);
    sim.prompt("once more");
    sim.go();
    sim.reply_for(&[READ], Finish::Calls, Some(PicoUsd(u64::MAX)));
    sim.go();
    sim.settle(at(2, 1, 1), Status::OK);
    sim.said.clear();
    sim.go();
    assert!(
        sim.said[0].starts_with("end 2 429 the loop has cost $18446744.073709"),
        "{:?}",
        sim.said
    );
    assert_eq!(sim.engine.totals().cost(), Some(PicoUsd(u64::MAX)));
}

#[test]
fn a_reply_cut_at_its_length_performs_nothing() {
    let mut sim = Sim::replied(Mode::Act, Approval::Yolo, &[BASH, READ], Finish::Length);
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
fn an_abort_settles_everything_and_the_next_prompt_is_taken() {
    let mut sim = Sim::new(Mode::Act, Approval::Ask);
    sim.prompt("one");
    sim.prompt("two");
    sim.go();
    sim.reply(&[BASH, READ], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    let abort = sim.engine.lap().unwrap().abort("enough", Writer::Client).unwrap();
    sim.record(abort);
    assert!(sim.engine.lap().unwrap().abort("enough", Writer::Client).is_none());
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
