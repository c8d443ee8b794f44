//! Interactions: who is asked, what answers, and what the agent hears.

use super::*;
use expect_test::expect;

const ASK: (&str, &str) = ("ask_user", r#"{"question":"which?","options":["red","blue"]}"#);
const PLAN: (&str, &str) = ("present_plan", r#"{"plan":"1. do it"}"#);

/// Puts what the model wants to put to a person.
fn put(sim: &mut Sim, call: (&str, &str)) {
    assert!(matches!(sim.go(), Step::Prepare(_)), "{:?}", sim.said);
    let Ok(Action::Consult(consult)) = cairn_surface::native::parse(call.0, call.1).action else {
        panic!("{call:?}")
    };
    let open = sim.engine.lap().unwrap().ops.iter().find(|op| op.status().is_none()).unwrap();
    let recording = sim.engine.op_in_run(open.intent.at).unwrap().put_to_person(&consult);
    sim.record(recording);
    assert!(matches!(sim.go(), Step::Await(_)), "{:?}", sim.said);
}

fn put_to(mode: Mode, approval: Approval, call: (&str, &str)) -> Sim {
    let mut sim = Sim::replied(mode, approval, &[call], Finish::Calls);
    put(&mut sim, call);
    sim.said.clear();
    sim
}

fn texts(sim: &Sim) -> Vec<ContentRef> {
    sim.engine
        .items()
        .iter()
        .filter_map(|item| match item {
            Item::Result { content, .. } => Some(*content),
            Item::User { text, .. } => Some(*text),
            Item::Assistant { .. }
            | Item::News(_)
            | Item::FoldedNews { .. }
            | Item::Over { .. }
            | Item::Ended(_) => None,
        })
        .collect()
}

// keeps: interactions
#[test]
fn an_answer_is_the_ops_result_and_a_fold_of_the_facts_comes_to_the_same_at_every_one() {
    let mut sim = put_to(Mode::ReadOnly, Approval::Ask, ASK);
    let question = sim.engine.open_question().unwrap().clone();
    assert_eq!(question.kind, ProposalKind::Question);
    let options: Vec<&str> = question.items.iter().map(|item| item.label.as_str()).collect();
    assert_eq!(options, ["red", "blue"]);
    assert_eq!(question.shown, ContentRef::of(b"which?\n  1 red\n  2 blue"));
    sim.decide(at(1, 1, 1), Verdict::Answer, Some("green"));
    sim.go();
    check(
        &sim,
        expect![[r#"
            1/1/1 → 200 Performed
            AskModel { lap: 1, turn: 2, messages: 3 }"#]],
    );
    assert_eq!(texts(&sim), [ContentRef::of(b"go"), ContentRef::of(b"green")]);
    for n in 1..sim.facts.len() {
        let mut folded =
            Sim { engine: Engine::fold(&sim.facts[..n]), ..Sim::new(Mode::Act, Approval::Ask) };
        let step = folded.go();
        assert!(
            !matches!(step, Step::Act { .. } | Step::Read(_)),
            "after fact {n} something is performed: {step:?}"
        );
    }
}

// keeps: interactions
#[test]
fn where_nobody_can_answer_the_agent_is_told_so_and_goes_on() {
    let nobody = |flags: Flags, approval: Approval| {
        let mut sim = Sim::new(Mode::Act, approval);
        sim.record(Recording::of(Body::Drive(Drive { flags, ..drive(Mode::Act, approval) })));
        sim.prompt("go");
        sim.go();
        sim.reply(&[ASK], Finish::Calls);
        sim.go();
        sim
    };
    let none = Flags::default();
    for (flags, approval) in [
        (none, Approval::Nobody),
        (none, Approval::Yolo),
        (Flags { no_interaction: true, someone: true, ..none }, Approval::Ask),
        (Flags { no_proposals: true, someone: true, ..none }, Approval::Ask),
    ] {
        let sim = nobody(flags, approval);
        assert_eq!(sim.said[1], "1/1/1 → 403 NotPerformed", "{flags:?} {approval:?}");
        assert!(sim.said[2].starts_with("AskModel"), "{:?}", sim.said);
        let by = sim.facts.iter().find_map(|fact| match &fact.body {
            Body::Decision(decision) => Some(decision.by.clone()),
            _ => None,
        });
        assert_eq!(by, Some(By::Gate(Gate::Proposal)), "that is no want of approval");
    }
    // Whoever allowed everything beforehand is still asked what only they know.
    let someone = Flags { someone: true, ..none };
    let mut sim = Sim::new(Mode::Act, Approval::Yolo);
    sim.record(Recording::of(Body::Drive(Drive {
        flags: someone,
        ..drive(Mode::Act, Approval::Yolo)
    })));
    sim.prompt("go");
    sim.go();
    sim.reply(&[ASK], Finish::Calls);
    put(&mut sim, ASK);
}

// keeps: plans
#[test]
fn an_approved_plan_widens_the_mode_as_far_as_it_may_and_nothing_else_does() {
    for (mode, chosen, expected) in [
        (Mode::Plan, None, Mode::Act),
        (Mode::Plan, Some(Mode::AcceptEdits), Mode::AcceptEdits),
        (Mode::Plan, Some(Mode::Plan), Mode::Plan),
        (Mode::Act, None, Mode::Act),
        (Mode::Act, Some(Mode::AcceptEdits), Mode::AcceptEdits),
        (Mode::AcceptEdits, Some(Mode::Act), Mode::Act),
    ] {
        let mut sim = put_to(mode, Approval::Ask, PLAN);
        let word = Word { mode: chosen, ..word("p1.1.1", Verdict::Allow, None) };
        let recording = sim.engine.decided(&word, 0).unwrap();
        sim.record(recording);
        assert_eq!(sim.engine.driving().terms().mode, expected, "{mode:?} {chosen:?}");
        sim.go();
        assert_eq!(sim.said[0], "1/1/1 → 200 Performed");
        sim.reply(&[BASH], Finish::Calls);
        let acts = matches!(sim.go(), Step::Prepare(_));
        assert_eq!(acts, expected.may_act(), "{mode:?} {chosen:?}");
        // The next driver's mode is its own.
        sim.drive(Mode::Plan, Approval::Ask);
        assert_eq!(sim.engine.driving().terms().mode, Mode::Plan);
    }
    let narrow = |most: Option<Mode>, mode: Mode, chosen: Option<Mode>| {
        let mut sim = Sim::new(mode, Approval::Ask);
        let drive = Drive { after_plan: most, ..drive(mode, Approval::Ask) };
        sim.record(Recording::of(Body::Drive(drive)));
        sim.prompt("go");
        sim.go();
        sim.reply(&[PLAN], Finish::Calls);
        put(&mut sim, PLAN);
        let word = Word { mode: chosen, ..word("p1.1.1", Verdict::Allow, None) };
        let recording = sim.engine.decided(&word, 0).map_err(|e| e.to_string())?;
        sim.record(recording);
        Ok::<Mode, String>(sim.engine.driving().terms().mode)
    };
    assert_eq!(narrow(Some(Mode::Plan), Mode::Plan, None), Ok(Mode::Plan));
    assert_eq!(narrow(Some(Mode::Act), Mode::Plan, Some(Mode::Act)), Ok(Mode::Act));
    assert_eq!(narrow(None, Mode::ReadOnly, None), Ok(Mode::ReadOnly));
    for (most, mode, chosen) in [
        (Some(Mode::Act), Mode::Plan, Mode::AcceptEdits),
        (Some(Mode::Plan), Mode::Plan, Mode::Act),
        (None, Mode::ReadOnly, Mode::Act),
    ] {
        let refused = narrow(most, mode, Some(chosen)).unwrap_err();
        assert!(refused.starts_with("400: a plan does not widen"), "{refused}");
    }
}

// keeps: plans
#[test]
fn a_plan_is_revised_by_a_persons_words_and_a_rejected_one_leaves_all_as_it_was() {
    let mut sim = put_to(Mode::Plan, Approval::Ask, PLAN);
    sim.decide(at(1, 1, 1), Verdict::Refuse, Some("smaller"));
    sim.go();
    check(
        &sim,
        expect![[r#"
            1/1/1 → 200 Performed
            AskModel { lap: 1, turn: 2, messages: 4 }"#]],
    );
    assert_eq!(texts(&sim)[2], ContentRef::of(b"smaller"), "their words follow the result");
    let mut sim = put_to(Mode::Plan, Approval::Ask, PLAN);
    sim.decide(at(1, 1, 1), Verdict::Refuse, None);
    sim.go();
    assert_eq!(sim.said[0], "1/1/1 → 403 Performed");
    assert_eq!(sim.engine.driving().terms().mode, Mode::Plan);
}

// keeps: interactions
#[test]
fn a_word_that_answers_something_else_is_not_taken() {
    for (call, verdict, words, mode, remember) in [
        (ASK, Verdict::Allow, None, None, Remember::Once),
        (ASK, Verdict::Answer, None, None, Remember::Once),
        (ASK, Verdict::Answer, Some(" "), None, Remember::Once),
        (ASK, Verdict::Answer, Some("red"), None, Remember::Always),
        (ASK, Verdict::Answer, Some("red"), Some(Mode::Act), Remember::Once),
        (ASK, Verdict::Happened, None, None, Remember::Once),
        (PLAN, Verdict::Answer, Some("yes"), None, Remember::Once),
        (PLAN, Verdict::Allow, None, None, Remember::Run),
        (PLAN, Verdict::Refuse, None, Some(Mode::Act), Remember::Once),
        (PLAN, Verdict::Skip, None, None, Remember::Once),
    ] {
        let sim = put_to(Mode::Act, Approval::Ask, call);
        let said = Word { mode, remember, ..word("p1.1.1", verdict, words) };
        let refused = sim.engine.decided(&said, 0).unwrap_err();
        assert!(matches!(refused, DecideError::Unfit { .. }), "{said:?}: {refused}");
    }
    let mut sim = Sim::replied(Mode::Act, Approval::Ask, &[BASH], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    for said in [
        word("p1.1.1", Verdict::Answer, Some("yes")),
        Word { mode: Some(Mode::AcceptEdits), ..word("p1.1.1", Verdict::Allow, None) },
    ] {
        assert!(sim.engine.decided(&said, 0).is_err(), "{said:?}");
    }
}

// keeps: interactions
#[test]
fn a_rule_a_hook_and_an_abort_hold_for_questions_too() {
    let mut sim = Sim::new(Mode::Act, Approval::Ask);
    sim.drive_by(Mode::Act, Approval::Ask, &["deny consult"]);
    sim.prompt("go");
    sim.go();
    sim.reply(&[ASK], Finish::Calls);
    sim.go();
    assert_eq!(sim.said[1], "1/1/1 → 403 NotPerformed");
    let mut sim = put_to(Mode::Act, Approval::Ask, ASK);
    let stop = sim.engine.lap().unwrap().abort("enough", Writer::Client).unwrap();
    sim.record(stop);
    sim.go();
    check(
        &sim,
        expect![[r#"
            1/1/1 → 499 NotPerformed
            end 1 499 enough
            Idle"#]],
    );
}

// keeps: plans
#[test]
fn what_was_written_before_the_answer_was_known_is_not_done_after_it() {
    for (call, verdict, words) in
        [(PLAN, Verdict::Allow, None), (ASK, Verdict::Answer, Some("red"))]
    {
        let mut sim = Sim::replied(Mode::Plan, Approval::Ask, &[call, BASH, READ], Finish::Calls);
        put(&mut sim, call);
        sim.decide(at(1, 1, 1), verdict, words);
        sim.said.clear();
        assert_eq!(sim.go(), Step::Read(vec![at(1, 1, 3)]), "{:?}", sim.said);
        assert_eq!(sim.said[1], "1/1/2 → 499 NotPerformed");
    }
}
