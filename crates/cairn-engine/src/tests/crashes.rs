//! What becomes of an op that began and was not seen to end, and of words under another driver.

use super::*;
use crate::*;
use cairn_types::*;

#[test]
fn an_op_that_began_and_was_not_seen_to_end_is_never_repeated_by_itself() {
    for (approval, found, expect) in [
        (Approval::Yolo, Found::Unknown, "1/1/1 → 500 Indeterminate"),
        (Approval::Nobody, Found::Unknown, "1/1/1 → 500 Indeterminate"),
        (Approval::Yolo, Found::Done, "1/1/1 → 200 FoundDone"),
        (Approval::Yolo, Found::NotDone, "repeat"),
        (Approval::Nobody, Found::Partly, "finish"),
        (Approval::Ask, Found::Unknown, "Await(Coord { lap: 1, turn: 1, seq: 1 })"),
    ] {
        let mut sim = Sim::replied(Mode::Act, Approval::Yolo, &[BASH], Finish::Calls);
        sim.go();
        sim.prepared(at(1, 1, 1));
        sim.begin(at(1, 1, 1));
        sim.drive(Mode::Act, approval);
        sim.said.clear();
        assert_eq!(sim.go(), Step::Settle(at(1, 1, 1)));
        sim.said.clear();
        match sim.engine.op_in_run(at(1, 1, 1)).unwrap().settle_found(found, "what") {
            Settlement::Repeat => sim.said.push("repeat".into()),
            Settlement::Finish => sim.said.push("finish".into()),
            Settlement::Record(recording) => {
                sim.record(recording);
                sim.go();
            }
        }
        assert_eq!(sim.said[0], expect);
    }
}

#[test]
fn a_command_that_ran_and_left_nothing_to_make_is_done_and_never_run_again() {
    for (approval, mode) in [
        (Approval::Yolo, Mode::Act),
        (Approval::Ask, Mode::Act),
        (Approval::Nobody, Mode::ReadOnly),
    ] {
        let mut sim = Sim::replied(Mode::Act, Approval::Yolo, &[BASH], Finish::Calls);
        sim.go();
        sim.prepared(at(1, 1, 1));
        let layers = vec![SandboxLayer::Overlay];
        let mut recording = Recording::default();
        let told = Some(recording.keep("printed"));
        let ran = Some(Ran { exit: Some(3), output: None, layers: layers.clone() });
        let (at, changes) = (at(1, 1, 1), Vec::new());
        recording.facts.push(Body::Begin(Begin { at, changes, again: false, told, ran }));
        sim.record(recording);
        sim.drive(mode, approval);
        assert_eq!(sim.go(), Step::Settle(at));
        let Settlement::Record(settled) =
            sim.engine.op_in_run(at).unwrap().settle_found(Found::Unknown, "what")
        else {
            panic!("it is run again");
        };
        let Some(Body::Outcome(outcome)) = settled.facts.last() else { panic!("{settled:?}") };
        assert_eq!((outcome.status, outcome.settled), (Status::OK, Settled::FoundDone));
        assert_eq!((outcome.exit, &outcome.layers), (Some(3), &layers));
        assert_eq!(Some(outcome.result), told);
    }
}

#[test]
fn a_person_settles_what_nobody_saw_end() {
    for (verdict, expect) in [
        (Verdict::Happened, "1/1/1 → 200 SaidDone"),
        (Verdict::Skip, "1/1/1 → 500 Indeterminate"),
        (Verdict::Allow, "Act { at: Coord { lap: 1, turn: 1, seq: 1 }, again: true }"),
    ] {
        let mut sim = Sim::replied(Mode::Act, Approval::Ask, &[BASH], Finish::Calls);
        sim.go();
        sim.prepared(at(1, 1, 1));
        sim.decide(at(1, 1, 1), Verdict::Allow, None);
        sim.begin(at(1, 1, 1));
        let Settlement::Record(asked) =
            sim.engine.op_in_run(at(1, 1, 1)).unwrap().settle_found(Found::Unknown, "what")
        else {
            panic!("a person is there to be asked");
        };
        sim.record(asked);
        sim.said.clear();
        let recording = sim.engine.decided(&word("p1.1.1.again1", verdict, None), 0).unwrap();
        sim.record(recording);
        sim.go();
        assert_eq!(sim.said[0], expect);
    }
}

/// A run whose only command began under somebody who can be asked, and was not seen to end.
fn cut_off() -> Sim {
    let mut sim = Sim::replied(Mode::Act, Approval::Ask, &[BASH], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    sim.decide(at(1, 1, 1), Verdict::Allow, None);
    sim.begin(at(1, 1, 1));
    sim
}

fn found(sim: &mut Sim, found: Found) {
    match sim.engine.op_in_run(at(1, 1, 1)).unwrap().settle_found(found, "what") {
        Settlement::Repeat => sim.said.push("repeat".into()),
        Settlement::Finish => sim.said.push("finish".into()),
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
    assert_eq!(sim.engine.op(at(1, 1, 1)).unwrap().doubt().unwrap().question.id.0, "p1.1.1.again2");
}

#[test]
fn a_read_only_driver_performs_nothing_that_another_was_allowed() {
    let mut sim = Sim::replied(Mode::Act, Approval::Ask, &[WRITE], Finish::Calls);
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

/// A run that was cut off in the middle of changing two files, allowed by this.
fn half_done(approval: Approval) -> Sim {
    let change = |path: &str| Change::between(path.into(), None, None);
    let prepared = Prepared { changes: vec![change("a"), change("b")], ..Prepared::default() };
    let mut sim = Sim::replied(Mode::Act, approval, &[WRITE], Finish::Calls);
    sim.go();
    let recording = sim.engine.op_in_run(at(1, 1, 1)).unwrap().judge_prepared(&prepared);
    sim.record(recording);
    if approval == Approval::Ask {
        sim.decide(at(1, 1, 1), Verdict::Allow, None);
    }
    let changes = prepared.changes;
    sim.record(Recording::of(Body::Begin(Begin {
        at: at(1, 1, 1),
        changes,
        again: false,
        told: None,
        ran: None,
    })));
    sim
}

#[test]
fn half_a_change_is_finished_only_where_the_gates_of_today_do_not_refuse_it() {
    let left = "1/1/1 → 500 Indeterminate";
    for (before, mode, rules, expect) in [
        (Approval::Yolo, Mode::Act, &[][..], "finish"),
        (Approval::Yolo, Mode::Act, &["ask edit b"], "finish"),
        (Approval::Yolo, Mode::Act, &["deny edit b"], left),
        (Approval::Yolo, Mode::Act, &["deny read b"], left),
        (Approval::Yolo, Mode::Act, &["deny edit c"], "finish"),
        (Approval::Yolo, Mode::Act, &["operator: ask edit b"], left),
        (Approval::Yolo, Mode::ReadOnly, &[], left),
        (Approval::Ask, Mode::Act, &["operator: ask edit b"], "finish"),
        (Approval::Ask, Mode::Act, &["operator: deny edit b"], left),
    ] {
        for now in [Approval::Ask, Approval::Nobody] {
            let mut sim = half_done(before);
            sim.drive_by(mode, now, rules);
            sim.said.clear();
            found(&mut sim, Found::Partly);
            assert_eq!(sim.said[0], expect, "{before:?} {mode:?} {rules:?}");
            let Some(Body::Decision(decision)) = sim.facts.iter().rev().nth(1).map(|f| &f.body)
            else {
                continue;
            };
            assert_eq!(decision.verdict, Verdict::Refuse);
            let kept = sim.facts.len() - 2;
            let again = Engine::fold(&sim.facts[..kept])
                .op_in_run(decision.at)
                .ok()
                .and_then(|op| op.gates_again(decision));
            assert_eq!(again.as_ref(), Some(&decision.gates), "and is decided again the same");
        }
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
        let abort = sim.engine.lap().unwrap().abort("enough", Writer::Client).unwrap();
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
        let mut sim = Sim::replied(Mode::Act, Approval::Ask, &[BASH], Finish::Calls);
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
    let recording = sim.engine.decided(&all, 0).unwrap();
    sim.record(recording);
    sim.begin(at(1, 1, 1));
    sim.settle(at(1, 1, 1), Status::RUNNING);
    let mut fork = Engine::fold(&sim.facts);
    let drive = sim.facts[1].body.clone();
    let n = fork.last_n() + 1;
    fork.apply(&Fact { run: RunId::new(2, 2), n, at: n, engine: VERSION.into(), body: drive });
    assert_eq!(fork.items(), sim.engine.items());
    assert_eq!(fork.queued_laps(), 0);
    assert_eq!((sim.engine.streams().count(), fork.streams().count()), (1, 0));
    sim.record(Recording::of(Body::Stream(Stream::lost(at(1, 1, 1)))));
    assert_eq!(sim.engine.streams().count(), 0);
    assert!(fork.lap().unwrap().is_inherited() && fork.driving.answers.is_empty());
}

#[test]
fn a_command_in_the_background_is_known_from_its_start_and_its_end_counts_once() {
    let mut sim = super::hooks::hooked(&["PostToolUse a bash"], &[BASH]);
    sim.go();
    sim.begin(at(1, 1, 1));
    super::hooks::performed_as(&mut sim, at(1, 1, 1), Status::RUNNING);
    let running = |sim: &Sim| Engine::fold(&sim.facts).streams().count();
    assert_eq!(running(&sim), 1, "a driver that dies here leaves it behind");
    sim.record(Recording::of(Body::Stream(Stream::lost(at(1, 1, 1)))));
    super::hooks::answer(&mut sim, super::hooks::nothing());
    sim.settle(at(1, 1, 1), Status::RUNNING);
    assert_eq!(running(&sim), 0, "its end came before its row was settled");
}

// keeps: questions-survive
#[test]
fn a_question_that_one_drivers_rules_answered_is_put_anew_where_anothers_ask() {
    let mut sim = Sim::replied(Mode::Act, Approval::Ask, &[BASH], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    sim.drive_by(Mode::Act, Approval::Ask, &["allow exec *"]);
    assert_eq!(sim.go(), Step::Act { at: at(1, 1, 1), again: false });
    sim.drive_by(Mode::Act, Approval::Ask, &[]);
    assert_eq!(sim.go(), Step::Prepare(at(1, 1, 1)));
    sim.prepared(at(1, 1, 1));
    assert_eq!(sim.go(), Step::Await(at(1, 1, 1)));
    sim.decide(at(1, 1, 1), Verdict::Allow, None);
    assert_eq!(sim.go(), Step::Act { at: at(1, 1, 1), again: false });
}

/// A command that may have reached hosts, and what it came to.
fn reached(changes: &[&str], wanted: &[&str]) -> (Sim, Prepared) {
    let mut sim = Sim::new(Mode::Act, Approval::Ask);
    let policy =
        Policy { overlay: true, ..super::policy::of(&["allow exec[effect=network,host=a.org]"]) };
    sim.record(Recording::of(Body::Drive(Drive { policy, ..drive(Mode::Act, Approval::Ask) })));
    sim.prompt("go");
    sim.go();
    sim.reply(&[BASH], Finish::Calls);
    let at = at(1, 1, 1);
    assert_eq!(sim.go(), Step::Prepare(at));
    sim.record(Recording::of(Body::Reach(Reach {
        at,
        hosts: sim.engine.op_in_run(at).unwrap().host_access(),
    })));
    let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    let changes = changes.iter().flat_map(|path| super::sent::changed(path).changes).collect();
    let wanted = owned(wanted);
    (sim, Prepared { changes, shown: "what".into(), wanted, ..Prepared::default() })
}

// keeps: network-asked
#[test]
fn a_command_that_may_have_reached_hosts_is_not_run_again_by_itself_wherever_it_was_cut_off() {
    let (at, lost) = (at(1, 1, 1), "1/1/1 → 500 Indeterminate");
    let check = |changes: &[&str], wanted: &[&str], words: &[Verdict], expected: &str| {
        let (mut sim, prepared) = reached(changes, wanted);
        if !changes.is_empty() || !wanted.is_empty() {
            let recording = sim.engine.op_in_run(at).unwrap().judge_prepared(&prepared);
            sim.record(recording);
        }
        words.iter().for_each(|word| sim.decide(at, *word, None));
        sim.drive_by(Mode::Act, Approval::Ask, &[]);
        sim.said.clear();
        sim.go();
        assert_eq!(sim.said[0], expected, "{changes:?} {wanted:?} {words:?}");
        sim
    };
    // While it ran, before anything was made of it.
    check(&[], &[], &[], lost);
    // While a person was asked what of it to keep, and after they said.
    check(&["a"], &[], &[], lost);
    check(&["a"], &[], &[Verdict::Allow], lost);
    // While a person was asked which other hosts it may reach: a yes lets it run again.
    let waits = format!("{:?}", Step::Await(at));
    for (word, expected) in
        [(Verdict::Refuse, lost.to_owned()), (Verdict::Allow, format!("{:?}", Step::Prepare(at)))]
    {
        let mut sim = check(&["a"], &["b.org"], &[], &waits);
        sim.said.clear();
        sim.decide(at, word, None);
        sim.go();
        assert_eq!(sim.said[0], expected);
    }
    check(&["a"], &["b.org"], &[Verdict::Refuse], lost);
    // The loop is stopped while that question is open.
    let mut sim = check(&["a"], &["b.org"], &[], &waits);
    let abort = sim.engine.lap().unwrap().abort("enough", Writer::Client).unwrap();
    sim.record(abort);
    sim.said.clear();
    sim.go();
    assert_eq!(sim.said[0], lost);
}

// keeps: network-asked
#[test]
fn what_reached_hosts_and_began_is_made_of_what_it_came_to() {
    let (mut sim, prepared) = reached(&["a"], &[]);
    let at = at(1, 1, 1);
    let recording = sim.engine.op_in_run(at).unwrap().judge_prepared(&prepared);
    sim.record(recording);
    sim.decide(at, Verdict::Allow, None);
    let begin = Begin { at, changes: prepared.changes, again: false, told: None, ran: None };
    sim.record(Recording::of(Body::Begin(begin)));
    sim.drive(Mode::Act, Approval::Yolo);
    assert_eq!(sim.go(), Step::Settle(at));
    assert_eq!(
        sim.engine.op_in_run(at).unwrap().settle_found(Found::NotDone, "what"),
        Settlement::Finish
    );
}
