//! What must hold whatever happens.

use super::*;
use crate::*;
use cairn_types::*;
use proptest::prelude::*;

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
    Drive(u8, u8, u8),
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        4 => (prop::collection::vec(0u8..5, 0..5), any::<bool>()).prop_map(|(c, cut)| Happening::Reply(c, cut)),
        1 => Just(Happening::Fault),
        1 => Just(Happening::Steer),
        1 => Just(Happening::Abort),
        1 => Just(Happening::Prompt),
        3 => prop::sample::select(vec![Verdict::Allow, Verdict::Refuse, Verdict::Cancel, Verdict::Happened, Verdict::Skip]).prop_map(Happening::Word),
        1 => (0u8..4, 0u8..3, 0u8..4).prop_map(|(mode, who, rules)| Happening::Drive(mode, who, rules)),
        6 => prop::sample::select(vec![200u16, 404, 409, 500]).prop_map(Happening::Status),
        1 => prop::sample::select(vec![Found::Done, Found::NotDone, Found::Partly, Found::Unknown]).prop_map(Happening::Crash),
    ]
}

/// An effect is about to be performed: somebody's own word stands behind this very beginning, the
/// driver may act, and nobody stopped the loop.
fn check_leave_to_act(sim: &Sim, at: Coord) {
    assert!(sim.engine.drive.as_ref().unwrap().mode.may_act(), "{at} under read-only");
    assert!(!sim.engine.lap().unwrap().is_aborted(), "{at} after an abort");
    let is_begin = |fact: &Fact| matches!(&fact.body, Body::Begin(begin) if begin.at == at);
    let since = sim.facts.iter().rposition(is_begin).map_or(0, |last| last + 1);
    let allowed = sim.facts[since..].iter().any(
        |fact| matches!(&fact.body, Body::Decision(d) if d.at == at && d.verdict == Verdict::Allow),
    );
    assert!(allowed, "{at} without a word of its own");
}

/// Another driver, with a mode, an approval and rules of its own.
fn drive_anew(sim: &mut Sim, mode: u8, who: u8, rules: u8) {
    let modes = [Mode::ReadOnly, Mode::Plan, Mode::Act, Mode::AcceptEdits];
    let approval = [Approval::Ask, Approval::Yolo, Approval::Nobody][who as usize];
    let rules: &[&str] = match rules {
        0 => &[],
        1 => &["allow exec x", "ask read a"],
        2 => &["deny edit a"],
        _ => &["deny read a", "allow *"],
    };
    let calls = [("bash".to_owned(), 2), ("read".to_owned(), 3)].into();
    let budgets = match mode {
        2 => Budgets { calls, ..Budgets::default() },
        _ => Budgets::default(),
    };
    let drive = drive(modes[mode as usize], approval);
    let drive = Drive { policy: super::policy::of(rules), budgets, ..drive };
    sim.record(Recording::of(Body::Drive(drive)));
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
        (Happening::Drive(mode, who, rules), _) => drive_anew(sim, *mode, *who, *rules),
        (Happening::Word(verdict), Step::Await(at)) => {
            let op = sim.engine.op(at).unwrap();
            let open = op.settling.as_ref().or(op.proposal.as_ref()).unwrap();
            let word = word(&open.id.0, *verdict, Some("words"));
            match sim.engine.decided(&word, 0) {
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
        (Happening::Crash(found), Step::Settle(at)) => match sim.engine.found(at, *found, "what") {
            Settlement::Record(recording) => sim.record(recording),
            Settlement::Repeat => {
                sim.begin(at);
                sim.settle(at, Status::OK);
            }
            Settlement::Finish => match sim.engine.found(at, Found::Done, "what") {
                Settlement::Record(recording) => sim.record(recording),
                other => panic!("what was finished is done, not {other:?}"),
            },
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
        check_decisions_again(&sim);
    }
}

/// Every recorded decision, made again from the facts before it, is the same.
fn check_decisions_again(sim: &Sim) {
    let mut engine = Engine::default();
    for fact in &sim.facts {
        if let Body::Decision(decision) = &fact.body {
            let again = engine.decides_again(decision).unwrap();
            assert_eq!(again, decision.gates, "{}", decision.at);
        }
        engine.apply(fact);
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
            Item::User { .. } => assert!(owed.is_empty(), "unanswered: {owed:?}"),
        }
    }
    assert!(owed.is_empty() || open);
}
