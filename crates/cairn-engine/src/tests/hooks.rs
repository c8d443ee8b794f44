//! Hooks: who is asked when, and what their answers come to.

use super::*;
use crate::reach::Reach;
use cairn_surface::Toolbox;
use expect_test::expect;

/// A driver with these hooks: `PreToolUse a bash`, `Stop b`.
pub(super) fn drive_hooked(sim: &mut Sim, approval: Approval, hooks: &[&str]) {
    let plan = |text: &&str| {
        let mut words = text.split(' ');
        let (event, name) = (words.next().unwrap().parse().unwrap(), words.next().unwrap());
        HookPlan { event, name: name.into(), tools: words.map(str::to_owned).collect() }
    };
    let hooks = hooks.iter().map(plan).collect();
    sim.record(Recording::of(Body::Drive(Drive { hooks, ..drive(Mode::Act, approval) })));
}

pub(super) fn hooked(hooks: &[&str], calls: &[(&str, &str)]) -> Sim {
    let mut sim = Sim::new(Mode::Act, Approval::Yolo);
    drive_hooked(&mut sim, Approval::Yolo, hooks);
    sim.prompt("go");
    sim.go();
    sim.reply(calls, Finish::Calls);
    sim
}

/// Answers what is asked now.
pub(super) fn answer(sim: &mut Sim, says: HookSays) -> Step {
    let Step::Hook(ask) = sim.go() else { panic!("no hook is asked: {:#?}", sim.said) };
    sim.said.pop();
    let again = if ask.again { " again" } else { "" };
    sim.said.push(format!("{} {}{again}", ask.event, ask.name));
    let recording = sim.engine.hooked(&ask, says, 1, &Toolbox::default());
    sim.record(recording);
    let step = sim.engine.step();
    // A fold of the facts alone comes to the same.
    assert_eq!(Engine::fold(&sim.facts).step(), step);
    step
}

pub(super) fn nothing() -> HookSays {
    HookSays::default()
}

pub(super) fn block(why: &str) -> HookSays {
    HookSays { block: Some(why.into()), ..nothing() }
}

pub(super) fn change(input: &str) -> HookSays {
    HookSays { input: Some(input.into()), ..nothing() }
}

pub(super) fn instead(text: &str) -> HookSays {
    HookSays { substitute: Some(text.into()), ..nothing() }
}

fn performed(sim: &mut Sim, at: Coord) {
    performed_as(sim, at, Status::OK);
}

pub(super) fn performed_as(sim: &mut Sim, at: Coord, status: Status) {
    let outcome = Outcome { status, ..outcome(at) };
    let body = performed_fact(&sim.engine, outcome);
    sim.record(Recording::of(body));
}

pub(super) fn gates_of(sim: &Sim, at: Coord) -> String {
    let gates = sim.facts.iter().rev().find_map(|fact| match &fact.body {
        Body::Decision(decision) if decision.at == at => Some(decision.gates.clone()),
        _ => None,
    });
    let said = |gate: &GateVerdict| format!("{} {}", gate.gate, gate.verdict);
    gates.unwrap().iter().map(said).collect::<Vec<_>>().join(", ")
}

const PRE: [&str; 2] = ["PreToolUse a bash", "PreToolUse b bash read"];

// keeps: hook-chain
#[test]
fn hooks_are_asked_in_order_and_the_first_refusal_ends_it() {
    let mut sim = hooked(&PRE, &[BASH]);
    answer(&mut sim, nothing());
    answer(&mut sim, block("never"));
    sim.go();
    check(
        &sim,
        expect![[r#"
            AskModel { lap: 1, turn: 1, messages: 1 }
            PreToolUse a
            PreToolUse b
            1/1/1 → 403 NotPerformed
            AskModel { lap: 1, turn: 2, messages: 3 }"#]],
    );
    assert_eq!(gates_of(&sim, at(1, 1, 1)), "writer pass, mode pass, hooks refuse");

    let mut sim = hooked(&PRE, &[BASH]);
    answer(&mut sim, block("never"));
    assert!(matches!(sim.engine.step(), Step::Record(_)));
}

// keeps: hook-chain
#[test]
fn a_refusal_beats_a_result_and_a_result_ends_the_chain_and_is_still_looked_at() {
    let mut sim = hooked(&PRE, &[BASH]);
    answer(&mut sim, instead("cached"));
    answer(&mut sim, block("never"));
    sim.go();
    assert!(sim.said.contains(&"1/1/1 → 403 NotPerformed".to_owned()), "{:#?}", sim.said);

    let mut sim = hooked(&[PRE[0], "PostToolUse p bash"], &[BASH]);
    answer(&mut sim, instead("cached"));
    let step = answer(&mut sim, instead("cached, cut"));
    assert_eq!(step, Step::Conclude(at(1, 1, 1)));
    assert_eq!(gates_of(&sim, at(1, 1, 1)), "writer pass, mode pass, hooks answer");
    let Concluded { outcome, result, added: after } =
        sim.engine.op_in_run(at(1, 1, 1)).unwrap().concluded().unwrap();
    assert_eq!((outcome.status, outcome.settled), (Status::OK, Settled::NotPerformed));
    assert_eq!((result, after.len()), (ContentRef::of(b"cached, cut"), 0));
}

// keeps: hook-changes
#[test]
fn a_changed_op_passes_every_gate_again_and_a_second_change_is_refused() {
    let other = r#"{"command":"y"}"#;
    let mut sim = hooked(&PRE, &[BASH]);
    answer(&mut sim, change(other));
    assert_eq!(sim.engine.op(at(1, 1, 1)).unwrap().intent.target, "y");
    answer(&mut sim, nothing());
    answer(&mut sim, nothing());
    let step = answer(&mut sim, nothing());
    assert_eq!(step, Step::Prepare(at(1, 1, 1)));
    check(
        &sim,
        expect![[r#"
            AskModel { lap: 1, turn: 1, messages: 1 }
            PreToolUse a
            PreToolUse b
            PreToolUse a again
            PreToolUse b again"#]],
    );

    let mut sim = hooked(&PRE, &[BASH]);
    for says in [change(other), nothing(), nothing(), change(r#"{"command":"z"}"#)] {
        answer(&mut sim, says);
    }
    sim.go();
    assert!(sim.said.contains(&"1/1/1 → 403 NotPerformed".to_owned()), "{:#?}", sim.said);

    // What makes no sense is not done.
    let mut sim = hooked(&PRE[..1], &[BASH]);
    answer(&mut sim, change(r#"{"comand":1}"#));
    sim.go();
    assert!(sim.said.contains(&"1/1/1 → 400 NotPerformed".to_owned()), "{:#?}", sim.said);
}

// keeps: hook-changes
#[test]
fn a_yes_to_one_op_is_none_to_what_a_later_drivers_hook_makes_of_it() {
    let mut sim = Sim::replied(Mode::Act, Approval::Ask, &[BASH], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    sim.decide(at(1, 1, 1), Verdict::Allow, None);
    drive_hooked(&mut sim, Approval::Ask, &PRE[..1]);
    answer(&mut sim, change(r#"{"command":"y"}"#));
    assert_eq!(answer(&mut sim, nothing()), Step::Prepare(at(1, 1, 1)));
    // One that is not changed is asked about, too, before what was allowed is done.
    let mut sim = Sim::replied(Mode::Act, Approval::Ask, &[BASH], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    sim.decide(at(1, 1, 1), Verdict::Allow, None);
    drive_hooked(&mut sim, Approval::Ask, &PRE[..1]);
    assert_eq!(answer(&mut sim, nothing()), Step::Act { at: at(1, 1, 1), again: false });
}

// keeps: hook-chain
#[test]
fn reads_are_asked_about_one_by_one_and_still_done_side_by_side() {
    let other = ("read", r#"{"path":"b"}"#);
    let mut sim = hooked(&["PreToolUse a read", "PostToolUse p read"], &[READ, other]);
    answer(&mut sim, nothing());
    let step = answer(&mut sim, nothing());
    assert_eq!(step, Step::Read(vec![at(1, 1, 1), at(1, 1, 2)]));
    performed(&mut sim, at(1, 1, 1));
    performed(&mut sim, at(1, 1, 2));
    let added = HookSays { context: vec!["more".into()], ..nothing() };
    assert_eq!(answer(&mut sim, added), Step::Conclude(at(1, 1, 1)));
    let Concluded { result, added: after, .. } =
        sim.engine.op_in_run(at(1, 1, 1)).unwrap().concluded().unwrap();
    assert_eq!(result, ContentRef::of(b"result"));
    assert_eq!(after, [ContentRef::of(b"a hook adds:\nmore")]);
    sim.settle(at(1, 1, 1), Status::OK);
    assert_eq!(answer(&mut sim, nothing()), Step::Conclude(at(1, 1, 2)));
}

// keeps: hook-words
#[test]
fn a_hooks_yes_counts_only_where_no_rule_speaks_and_its_question_counts_everywhere() {
    let yes = HookSays { word: Some(HookWord::Allow), ..nothing() };
    let asks = HookSays { word: Some(HookWord::Ask), ..nothing() };
    let own = ("write", r#"{"path":".cairn/hooks.toml","content":"x"}"#);
    for (call, tool, rules, says, expected) in [
        (BASH, "bash", &[][..], &yes, "policy pass, budget pass, duplicate pass, proposal pass"),
        (BASH, "bash", &[], &nothing(), "policy ask, budget pass, duplicate pass, proposal hold"),
        (
            BASH,
            "bash",
            &["ask exec *"],
            &yes,
            "policy ask, budget pass, duplicate pass, proposal hold",
        ),
        (BASH, "bash", &["deny exec *"], &yes, "policy refuse"),
        (
            BASH,
            "bash",
            &["allow exec *"],
            &asks,
            "policy ask, budget pass, duplicate pass, proposal hold",
        ),
        (own, "write", &[], &yes, "policy ask, budget pass, duplicate pass, proposal hold"),
    ] {
        let mut sim = Sim::new(Mode::Act, Approval::Ask);
        let plan =
            HookPlan { event: HookEvent::PreToolUse, name: "a".into(), tools: vec![tool.into()] };
        sim.record(Recording::of(Body::Drive(Drive {
            hooks: vec![plan],
            policy: super::policy::of(rules),
            ..drive(Mode::Act, Approval::Ask)
        })));
        sim.prompt("go");
        sim.go();
        sim.reply(&[call], Finish::Calls);
        answer(&mut sim, says.clone());
        let op = sim.engine.op_in_run(at(1, 1, 1)).unwrap();
        let leave = op.leave(&Reach::default());
        let said: Vec<String> =
            leave.gates()[3..].iter().map(|g| format!("{} {}", g.gate, g.verdict)).collect();
        assert_eq!(said.join(", "), expected, "{rules:?} {says:?}");
        if let gates::Leave::Granted(_, by) = leave {
            assert_eq!(by, By::Gate(Gate::Hooks), "the log says whose word it was");
        }
    }
}

// keeps: hook-prompts
#[test]
fn a_refused_prompt_never_reaches_the_model_and_what_is_added_stands_after_it() {
    let mut sim = Sim::new(Mode::Act, Approval::Yolo);
    drive_hooked(&mut sim, Approval::Yolo, &["SessionStart s", "UserPromptSubmit u"]);
    sim.prompt("secret");
    answer(&mut sim, HookSays { context: vec!["hello".into()], ..nothing() });
    answer(&mut sim, block("no secrets"));
    sim.go();
    assert!(sim.engine.items().is_empty());
    sim.prompt("go");
    answer(&mut sim, HookSays { context: vec!["branch main".into()], ..nothing() });
    sim.go();
    check(
        &sim,
        expect![[r#"
            SessionStart s
            UserPromptSubmit u
            end 1 403 a hook refused the prompt: u
            Idle
            UserPromptSubmit u
            AskModel { lap: 2, turn: 1, messages: 2 }"#]],
    );
    let words: Vec<&Item> = sim.engine.items().iter().collect();
    let said = |text: &[u8]| Item::words(ContentRef::of(text));
    assert_eq!(words, [&said(b"go"), &said(b"a hook adds:\nbranch main")]);
}

// keeps: hook-stop
#[test]
fn hooks_keep_a_loop_going_three_times_and_no_more() {
    let mut sim = hooked(&["Stop s", "SessionEnd e"], &[READ]);
    sim.go();
    sim.settle(at(1, 1, 1), Status::OK);
    for _ in 0..3 {
        sim.go();
        sim.reply(&[], Finish::Stop);
        answer(&mut sim, block("the tests fail"));
    }
    sim.go();
    sim.reply(&[], Finish::Stop);
    answer(&mut sim, nothing());
    sim.go();
    check(
        &sim,
        expect![[r#"
            AskModel { lap: 1, turn: 1, messages: 1 }
            Read([Coord { lap: 1, turn: 1, seq: 1 }])
            1/1/1 → 200 Performed
            AskModel { lap: 1, turn: 2, messages: 3 }
            Stop s
            AskModel { lap: 1, turn: 3, messages: 6 }
            Stop s
            AskModel { lap: 1, turn: 4, messages: 9 }
            Stop s
            AskModel { lap: 1, turn: 5, messages: 12 }
            end 1 200
            SessionEnd e
            Idle"#]],
    );
}

// keeps: hook-facts
#[test]
fn what_a_hook_said_is_not_asked_again_after_a_crash_at_any_fact() {
    let mut sim = hooked(&[PRE[0], PRE[1], "PostToolUse p bash", "Stop s"], &[BASH]);
    answer(&mut sim, change(r#"{"command":"y"}"#));
    for _ in 0..3 {
        answer(&mut sim, nothing());
    }
    sim.go();
    sim.prepared(at(1, 1, 1));
    sim.go();
    sim.begin(at(1, 1, 1));
    performed(&mut sim, at(1, 1, 1));
    answer(&mut sim, nothing());
    for n in 1..=sim.facts.len() {
        let engine = Engine::fold(&sim.facts[..n]);
        let Step::Hook(ask) = engine.step() else { continue };
        let said = |fact: &Fact| match &fact.body {
            Body::Hook(one) => {
                (one.event, &one.name, one.at, one.again)
                    == (ask.event, &ask.name, ask.at, ask.again)
            }
            _ => false,
        };
        assert!(!sim.facts[..n].iter().any(said), "{ask:?} was asked twice");
    }
    // What a hook was asked about and never said is asked again.
    let asked = sim.facts.iter().filter(|fact| matches!(fact.body, Body::Hook(_))).count();
    assert_eq!(asked, 5);
}

// keeps: hook-facts
#[test]
fn what_began_before_a_hook_was_there_is_neither_repeated_nor_finished_past_it() {
    let change = Change {
        path: "a".into(),
        kind: ChangeKind::Created,
        before: None,
        after: None,
        ignored: false,
        precious: Vec::new(),
        counts_as: Vec::new(),
    };
    for (hook, rules) in [
        ("PreToolUse h bash write", &["deny exec *", "deny edit"][..]),
        ("Accepting h bash write", &[]),
    ] {
        for (call, changes) in [(BASH, vec![]), (WRITE, vec![change.clone()])] {
            let mut sim = Sim::replied(Mode::Act, Approval::Yolo, &[call], Finish::Calls);
            sim.go();
            sim.prepared(at(1, 1, 1));
            let begin = Begin { at: at(1, 1, 1), changes, again: false, told: None, ran: None };
            sim.record(Recording::of(Body::Begin(begin.clone())));
            drive_hooked(&mut sim, Approval::Yolo, &[hook]);
            let mut with_rules = sim.engine.driving.drive.clone().unwrap();
            with_rules.policy = super::policy::of(rules);
            sim.record(Recording::of(Body::Drive(with_rules)));
            let refused = sim
                .engine
                .op_in_run(at(1, 1, 1))
                .unwrap()
                .refusal_before_acting(&Prepared::default())
                .unwrap();
            let Some(Body::Outcome(outcome)) = refused.facts.last() else { panic!("{refused:?}") };
            let known = !begin.changes.is_empty();
            let expected = if known { Settled::NotPerformed } else { Settled::Indeterminate };
            assert_eq!(outcome.settled, expected, "{hook} {}", call.0);
            if known {
                let found =
                    sim.engine.op_in_run(at(1, 1, 1)).unwrap().settle_found(Found::Partly, "");
                assert!(matches!(found, Settlement::Record(_)), "{hook}: {found:?}");
            }
        }
    }
}

// keeps: hook-prompts
#[test]
fn a_prompt_that_its_guard_did_not_pass_is_never_heard() {
    // Stopped instead of refused.
    let mut sim = Sim::new(Mode::Act, Approval::Yolo);
    drive_hooked(&mut sim, Approval::Yolo, &["UserPromptSubmit u"]);
    sim.prompt("secret");
    answer(&mut sim, HookSays { stop: Some("no".into()), ..nothing() });
    sim.go();
    assert!(sim.engine.items().is_empty(), "{:?}", sim.engine.items());
    // Aborted while the guard was being asked.
    sim.prompt("secret");
    let stop = sim.engine.lap().unwrap().abort("enough", Writer::Client).unwrap();
    sim.record(stop);
    sim.go();
    assert!(sim.engine.items().is_empty(), "{:?}", sim.engine.items());
    // Aborted after it had passed: that was said.
    sim.prompt("fine");
    answer(&mut sim, nothing());
    let stop = sim.engine.lap().unwrap().abort("enough", Writer::Client).unwrap();
    sim.record(stop);
    sim.go();
    assert_eq!(sim.engine.items().len(), 1);
}
