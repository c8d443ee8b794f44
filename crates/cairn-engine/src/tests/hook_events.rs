//! Hooks around questions, failures, senseless calls and turns: who is asked, in which order, and what
//! an answer comes to.

use super::hooks::*;
use super::*;
use cairn_surface::Toolbox;
use expect_test::expect;

pub(super) const AT: Coord = Coord { lap: 1, turn: 1, seq: 1 };

/// A run whose driver has these hooks and asks a person, and whose model replied like this.
fn asking(hooks: &[&str], calls: &[(&str, &str)]) -> Sim {
    driven(Approval::Ask, &[], hooks, calls)
}

fn driven(approval: Approval, rules: &[&str], hooks: &[&str], calls: &[(&str, &str)]) -> Sim {
    let mut sim = Sim::new(Mode::Act, approval);
    drive_hooked(&mut sim, approval, hooks);
    if let (Body::Drive(drive), false) = (sim.facts.last().unwrap().body.clone(), rules.is_empty())
    {
        let policy = super::policy::of(rules);
        sim.record(Recording::of(Body::Drive(Drive { policy, ..drive })));
    }
    sim.prompt("go");
    sim.go();
    sim.reply(calls, Finish::Calls);
    sim
}

fn shown(removed: u64) -> Prepared {
    let removed = Removed { files: removed, ..Removed::default() };
    Prepared { shown: "what".into(), label: "what".into(), removed, ..Prepared::default() }
}

/// Goes on, preparing as the runtime does, until a hook is asked or something else is wanted.
pub(super) fn next(sim: &mut Sim, prepared: &Prepared) -> Result<HookAsk, Step> {
    loop {
        match sim.go() {
            Step::Hook(ask) => {
                sim.said.pop();
                return Ok(ask);
            }
            Step::Prepare(at) => {
                sim.said.pop();
                if let Some(ask) = sim.engine.op_in_run(at).unwrap().hook_before_question(prepared)
                {
                    return Ok(ask);
                }
                let recording = sim.engine.op_in_run(at).unwrap().judge_prepared(prepared);
                sim.record(recording);
            }
            step => return Err(step),
        }
    }
}

/// Answers whoever is asked next, who must be this one: `PermissionRequest p`.
fn hear(sim: &mut Sim, who: &str, says: HookSays) {
    let ask = next(sim, &shown(0)).unwrap_or_else(|step| panic!("{who}: {step:?}"));
    let again = if ask.again { " again" } else { "" };
    assert_eq!(format!("{} {}{again}", ask.event, ask.name), who);
    let recording = sim.engine.hooked(&ask, says, 1, &Toolbox::default());
    sim.record(recording);
    assert_eq!(Engine::fold(&sim.facts).step(), sim.engine.step());
}

/// What is wanted when no hook is asked any longer.
fn wanted(sim: &mut Sim) -> Step {
    next(sim, &shown(0)).expect_err("a hook is asked")
}

pub(super) fn says_yes() -> HookSays {
    HookSays { word: Some(HookWord::Allow), ..nothing() }
}

fn adds(text: &str) -> HookSays {
    HookSays { context: vec![text.into()], ..nothing() }
}

fn stops(why: &str) -> HookSays {
    HookSays { stop: Some(why.into()), ..nothing() }
}

fn questions(sim: &Sim) -> usize {
    sim.facts.iter().filter(|fact| matches!(fact.body, Body::Proposal(_))).count()
}

const ASKED: [&str; 3] =
    ["PreToolUse a bash", "PermissionRequest p bash read", "PermissionRequest q bash"];

// keeps: hook-questions
#[test]
fn before_a_person_is_asked_every_hook_is_and_a_no_beats_a_yes() {
    let mut sim = asking(&ASKED, &[BASH]);
    hear(&mut sim, "PreToolUse a", nothing());
    hear(&mut sim, "PermissionRequest p", nothing());
    hear(&mut sim, "PermissionRequest q", nothing());
    assert_eq!((wanted(&mut sim), questions(&sim)), (Step::Await(AT), 1));

    let mut sim = asking(&ASKED, &[BASH]);
    hear(&mut sim, "PreToolUse a", nothing());
    hear(&mut sim, "PermissionRequest p", says_yes());
    hear(&mut sim, "PermissionRequest q", nothing());
    assert_eq!((wanted(&mut sim), questions(&sim)), (Step::Act { at: AT, again: false }, 0));
    assert_eq!(sim.engine.op(AT).unwrap().decision().unwrap().by, By::Gate(Gate::Hooks));

    let mut sim = asking(&ASKED, &[BASH]);
    hear(&mut sim, "PreToolUse a", nothing());
    hear(&mut sim, "PermissionRequest p", says_yes());
    hear(&mut sim, "PermissionRequest q", block("never"));
    wanted(&mut sim);
    assert!(sim.said.contains(&"1/1/1 → 403 NotPerformed".to_owned()), "{:#?}", sim.said);
    assert_eq!(gates_of(&sim, AT), "writer pass, mode pass, hooks refuse");

    // A look that is asked about, too.
    let mut sim = driven(Approval::Ask, &["ask read a"], &ASKED, &[READ]);
    hear(&mut sim, "PermissionRequest p", nothing());
    assert_eq!((wanted(&mut sim), questions(&sim)), (Step::Await(AT), 1));
}

// keeps: hook-questions
#[test]
fn where_nobody_would_be_asked_no_hook_is_and_a_yes_beats_no_rule() {
    let hooks = &ASKED[1..2];
    for (approval, rules, is_asked) in [
        (Approval::Ask, &[][..], true),
        (Approval::Ask, &["allow exec *"], false),
        (Approval::Ask, &["deny exec *"], false),
        (Approval::Ask, &["ask exec *"], true),
        (Approval::Yolo, &[], false),
        (Approval::Nobody, &[], false),
    ] {
        let mut sim = driven(approval, rules, hooks, &[BASH]);
        let asked = next(&mut sim, &shown(0)).is_ok();
        assert_eq!(asked, is_asked, "{approval:?} {rules:?}");
    }
    // Where it is asked, a yes counts only where no rule speaks and little is removed.
    let own = ("write", r#"{"path":".cairn/hooks.toml","content":"x"}"#);
    for (call, rules, removed, is_done) in [
        (BASH, &[][..], 0, true),
        (BASH, &["ask exec *"], 0, false),
        (BASH, &[], 1000, false),
        (own, &[], 0, false),
    ] {
        let plan = format!("PermissionRequest p {}", call.0);
        let mut sim = driven(Approval::Ask, rules, &[&plan], &[call]);
        let ask = next(&mut sim, &shown(removed)).unwrap();
        let recording = sim.engine.hooked(&ask, says_yes(), 1, &Toolbox::default());
        sim.record(recording);
        let step = next(&mut sim, &shown(removed)).unwrap_err();
        let expected = if is_done { Step::Act { at: AT, again: false } } else { Step::Await(AT) };
        assert_eq!(step, expected, "{call:?} {rules:?} {removed}");
    }
}

// keeps: hook-changes
#[test]
fn an_op_that_is_changed_before_the_question_passes_every_gate_again_once() {
    let other = r#"{"command":"y"}"#;
    let mut sim = asking(&ASKED[..2], &[BASH]);
    hear(&mut sim, "PreToolUse a", nothing());
    hear(
        &mut sim,
        "PermissionRequest p",
        HookSays { word: Some(HookWord::Allow), ..change(other) },
    );
    assert_eq!(sim.engine.op(AT).unwrap().intent.target, "y");
    hear(&mut sim, "PreToolUse a again", nothing());
    // The yes that came with the change is one to what it was changed to.
    assert_eq!(wanted(&mut sim), Step::Act { at: AT, again: false });

    let mut sim = asking(&ASKED[..2], &[BASH]);
    hear(&mut sim, "PreToolUse a", nothing());
    hear(&mut sim, "PermissionRequest p", change(other));
    hear(&mut sim, "PreToolUse a again", nothing());
    hear(&mut sim, "PermissionRequest p again", change(r#"{"command":"z"}"#));
    wanted(&mut sim);
    assert!(sim.said.contains(&"1/1/1 → 403 NotPerformed".to_owned()), "{:#?}", sim.said);

    // What one changed, another does not change again before the question.
    let mut sim = asking(&ASKED[..2], &[BASH]);
    hear(&mut sim, "PreToolUse a", change(other));
    hear(&mut sim, "PreToolUse a again", nothing());
    hear(&mut sim, "PermissionRequest p again", change(r#"{"command":"z"}"#));
    wanted(&mut sim);
    assert!(sim.said.contains(&"1/1/1 → 403 NotPerformed".to_owned()), "{:#?}", sim.said);
}

// keeps: hook-words
#[test]
fn a_yes_to_one_op_is_none_to_what_another_hook_makes_of_it() {
    let hooks = ["PreToolUse a bash", "PreToolUse b bash"];
    let mut sim = asking(&hooks, &[BASH]);
    hear(&mut sim, "PreToolUse a", says_yes());
    hear(&mut sim, "PreToolUse b", change(r#"{"command":"y"}"#));
    hear(&mut sim, "PreToolUse a again", nothing());
    hear(&mut sim, "PreToolUse b again", nothing());
    assert_eq!(wanted(&mut sim), Step::Await(AT));
}

// keeps: hook-accepting
#[test]
fn whoever_allowed_a_change_a_hook_may_still_keep_it_from_beginning() {
    let hooks = ["Accepting v bash write read"];
    for (approval, rules) in [
        (Approval::Ask, &[][..]),
        (Approval::Ask, &["allow exec *"]),
        (Approval::Yolo, &[]),
        (Approval::Nobody, &["allow exec *"]),
    ] {
        for vetoes in [false, true] {
            let mut sim = driven(approval, rules, &hooks, &[BASH]);
            if approval == Approval::Ask && rules.is_empty() {
                assert_eq!(wanted(&mut sim), Step::Await(AT));
                sim.decide(AT, Verdict::Allow, None);
            }
            hear(&mut sim, "Accepting v", if vetoes { block("frozen") } else { nothing() });
            let step = wanted(&mut sim);
            let refused = sim.said.contains(&"1/1/1 → 403 NotPerformed".to_owned());
            assert_eq!(refused, vetoes, "{:#?}", sim.said);
            assert_eq!(step == Step::Act { at: AT, again: false }, !vetoes);
            assert!(!sim.facts.iter().any(|fact| matches!(fact.body, Body::Begin(_))));
        }
    }
    // Looks and what was refused begin nothing.
    let mut sim = driven(Approval::Yolo, &[], &hooks, &[READ]);
    assert_eq!(wanted(&mut sim), Step::Read(vec![AT]));
    let mut sim = asking(&hooks, &[BASH]);
    wanted(&mut sim);
    sim.decide(AT, Verdict::Refuse, None);
    assert!(matches!(wanted(&mut sim), Step::AskModel { .. }));
}

// keeps: hook-questions
#[test]
fn a_question_is_told_once_it_is_put_and_the_word_on_it_once_it_is_given() {
    let hooks = ["Notification n", "Decided d bash", "Accepting v bash"];
    let mut sim = asking(&hooks, &[BASH]);
    // None of them can say anything that counts.
    let loud = HookSays { stop: Some("x".into()), ..block("no") };
    hear(&mut sim, "Notification n", loud.clone());
    assert_eq!((wanted(&mut sim), questions(&sim)), (Step::Await(AT), 1));
    sim.decide(AT, Verdict::Allow, Some("go on"));
    hear(&mut sim, "Decided d", loud);
    hear(&mut sim, "Accepting v", nothing());
    assert_eq!(wanted(&mut sim), Step::Act { at: AT, again: false });

    // The word does not wait for who is told of the question.
    let mut sim = asking(&hooks, &[BASH]);
    assert_eq!(next(&mut sim, &shown(0)).unwrap().event, HookEvent::Notification);
    sim.decide(AT, Verdict::Refuse, Some("not that"));
    hear(&mut sim, "Decided d", nothing());
    assert!(matches!(wanted(&mut sim), Step::AskModel { .. }));
    assert!(sim.said.contains(&"1/1/1 → 403 NotPerformed".to_owned()), "{:#?}", sim.said);

    // Where there is no question nobody is told of one.
    let mut sim = driven(Approval::Yolo, &[], &hooks[..2], &[BASH]);
    assert_eq!(wanted(&mut sim), Step::Act { at: AT, again: false });
}

// keeps: hook-failures
#[test]
fn what_failed_is_looked_at_by_other_hooks_than_what_succeeded() {
    let hooks = ["PostToolUse s bash", "PostToolUseFailure f bash"];
    for (status, who) in [
        (Status::OK, "PostToolUse s"),
        (Status::FAILED, "PostToolUseFailure f"),
        (Status::NOT_FOUND, "PostToolUseFailure f"),
    ] {
        let mut sim = driven(Approval::Yolo, &[], &hooks, &[BASH]);
        wanted(&mut sim);
        sim.begin(AT);
        performed_as(&mut sim, AT, status);
        hear(&mut sim, who, adds("more"));
        assert_eq!(wanted(&mut sim), Step::Conclude(AT));
        let Concluded { outcome, added: after, .. } =
            sim.engine.op_in_run(AT).unwrap().concluded().unwrap();
        assert_eq!((outcome.status, after.len()), (status, 1));
    }
}

// keeps: hook-unknown
#[test]
fn a_call_that_makes_no_sense_is_answered_or_meant_or_told_more_about() {
    let hooks =
        ["UnknownTool u", "UnknownTool w", "PreToolUse a bash", "PostToolUseFailure f bash"];
    let (odd, broken) = (("shell_exec", r#"{"cmd":"x"}"#), ("bash", "{"));
    // Nobody has anything to say.
    let mut sim = driven(Approval::Yolo, &[], &hooks, &[odd, broken]);
    for _ in 0..2 {
        hear(&mut sim, "UnknownTool u", nothing());
        hear(&mut sim, "UnknownTool w", nothing());
    }
    sim.go();
    check(
        &sim,
        expect![[r#"
            AskModel { lap: 1, turn: 1, messages: 1 }
            1/1/1 → 501 NotPerformed
            1/1/2 → 400 NotPerformed
            AskModel { lap: 1, turn: 2, messages: 4 }"#]],
    );
    // One gives the result.
    let mut sim = driven(Approval::Yolo, &[], &hooks, &[odd]);
    hear(&mut sim, "UnknownTool u", instead("there is none"));
    sim.go();
    assert!(sim.said.contains(&"1/1/1 → 200 NotPerformed".to_owned()), "{:#?}", sim.said);
    // One says what was meant: that passes the gates as anything else does.
    let meant = HookSays { tool: Some("bash".into()), ..change(r#"{"command":"y"}"#) };
    let mut sim = driven(Approval::Ask, &[], &hooks, &[odd]);
    hear(&mut sim, "UnknownTool u", meant.clone());
    hear(&mut sim, "PreToolUse a", nothing());
    assert_eq!((wanted(&mut sim), questions(&sim)), (Step::Await(AT), 1));
    assert_eq!(sim.engine.op(AT).unwrap().intent.tool, "bash");
    let mut sim = driven(Approval::Yolo, &["deny exec *"], &hooks, &[odd]);
    hear(&mut sim, "UnknownTool u", meant);
    hear(&mut sim, "PreToolUse a", nothing());
    sim.go();
    assert!(sim.said.contains(&"1/1/1 → 403 NotPerformed".to_owned()), "{:#?}", sim.said);
    // What is meant makes no sense either: then nobody is asked again.
    let mut sim = driven(Approval::Yolo, &[], &hooks, &[odd]);
    hear(&mut sim, "UnknownTool u", HookSays { tool: Some("bash".into()), ..change("{}") });
    sim.go();
    assert!(sim.said.contains(&"1/1/1 → 400 NotPerformed".to_owned()), "{:#?}", sim.said);
    // One adds something.
    let mut sim = driven(Approval::Yolo, &[], &hooks[..1], &[odd]);
    hear(&mut sim, "UnknownTool u", adds("use bash"));
    assert_eq!(wanted(&mut sim), Step::Conclude(AT));
    let Concluded { outcome, added: after, .. } =
        sim.engine.op_in_run(AT).unwrap().concluded().unwrap();
    assert_eq!((outcome.status, after.len()), (Status::NOT_IMPLEMENTED, 1));
    // A reply that was cut is nobody's mistake.
    let mut sim = Sim::new(Mode::Act, Approval::Yolo);
    drive_hooked(&mut sim, Approval::Yolo, &hooks);
    sim.prompt("go");
    sim.go();
    sim.reply(&[odd], Finish::Length);
    assert!(matches!(wanted(&mut sim), Step::AskModel { .. }));
}

// keeps: hook-turns
#[test]
fn turns_are_told_before_and_after_and_may_be_refused_added_to_or_stopped() {
    let hooks = ["SessionStart g", "UserPromptSubmit u", "TurnStart s", "TurnEnd e", "Stop z"];
    let started = || {
        let mut sim = Sim::new(Mode::Act, Approval::Yolo);
        drive_hooked(&mut sim, Approval::Yolo, &hooks);
        sim.prompt("go");
        hear(&mut sim, "SessionStart g", nothing());
        hear(&mut sim, "UserPromptSubmit u", nothing());
        sim
    };
    let mut sim = started();
    hear(&mut sim, "TurnStart s", adds("be brief"));
    wanted(&mut sim);
    sim.reply(&[READ], Finish::Calls);
    wanted(&mut sim);
    sim.settle(AT, Status::OK);
    hear(&mut sim, "TurnEnd e", adds("one"));
    hear(&mut sim, "TurnStart s", nothing());
    wanted(&mut sim);
    sim.reply(&[], Finish::Stop);
    hear(&mut sim, "TurnEnd e", nothing());
    hear(&mut sim, "Stop z", nothing());
    wanted(&mut sim);
    check(
        &sim,
        expect![[r#"
            AskModel { lap: 1, turn: 1, messages: 2 }
            Read([Coord { lap: 1, turn: 1, seq: 1 }])
            1/1/1 → 200 Performed
            AskModel { lap: 1, turn: 2, messages: 5 }
            end 1 200
            Idle"#]],
    );

    // A refused turn is not asked for, and what was said stays said.
    let mut sim = started();
    hear(&mut sim, "TurnStart s", block("too long"));
    wanted(&mut sim);
    assert_eq!(sim.said, ["end 1 403 a hook refused turn 1: s", "Idle"]);
    assert_eq!(sim.engine.items().len(), 1);

    for end in [false, true] {
        let mut sim = started();
        hear(&mut sim, "TurnStart s", if end { nothing() } else { stops("late") });
        if end {
            wanted(&mut sim);
            sim.reply(&[], Finish::Stop);
            hear(&mut sim, "TurnEnd e", stops("late"));
        }
        wanted(&mut sim);
        let last = "end 1 499 a hook stopped the work: late".to_owned();
        assert!(sim.said.contains(&last), "{:#?}", sim.said);
    }
}

/// A run in which every hook is asked about everything.
fn everything() -> Sim {
    let tools = "bash read";
    let plans: Vec<String> =
        HookEvent::ALL.iter().map(|event| format!("{event} h {tools}")).collect();
    let plans: Vec<&str> = plans.iter().map(String::as_str).collect();
    let mut sim = Sim::new(Mode::Act, Approval::Ask);
    drive_hooked(&mut sim, Approval::Ask, &plans);
    sim.prompt("go");
    for reply in [&[BASH, ("nonsense", "{}")][..], &[BASH], &[]] {
        let step = until_wanted(&mut sim);
        assert!(matches!(step, Step::AskModel { .. }), "{step:?}");
        sim.reply(reply, if reply.is_empty() { Finish::Stop } else { Finish::Calls });
        loop {
            match until_wanted(&mut sim) {
                Step::Await(at) => sim.decide(at, Verdict::Allow, None),
                Step::Act { at, .. } => {
                    sim.begin(at);
                    performed_as(
                        &mut sim,
                        at,
                        if at.turn == 1 { Status::OK } else { Status::FAILED },
                    );
                }
                Step::Conclude(at) => sim.settle(at, Status::OK),
                _ => break,
            }
        }
    }
    sim
}

fn until_wanted(sim: &mut Sim) -> Step {
    loop {
        match next(sim, &shown(0)) {
            Err(step) => return step,
            Ok(ask) => {
                let recording = sim.engine.hooked(&ask, nothing(), 1, &Toolbox::default());
                sim.record(recording);
            }
        }
    }
}

// keeps: hook-facts
#[test]
fn at_every_event_what_was_said_is_a_fact_and_is_not_asked_again_after_a_crash_at_any_fact() {
    let sim = everything();
    let said = |facts: &[Fact]| -> Vec<(HookEvent, Option<Coord>)> {
        let said = facts.iter().filter_map(|fact| match &fact.body {
            Body::Hook(one) => Some((one.event, one.at)),
            _ => None,
        });
        said.collect()
    };
    for event in HookEvent::ALL {
        assert!(said(&sim.facts).iter().any(|(said, _)| *said == event), "{event} was never asked");
    }
    for n in 1..=sim.facts.len() {
        let engine = Engine::fold(&sim.facts[..n]);
        let ask = match engine.step() {
            Step::Hook(ask) => Some(ask),
            Step::Prepare(at) => engine.op_in_run(at).unwrap().hook_before_question(&shown(0)),
            _ => None,
        };
        let Some(ask) = ask else { continue };
        let since_reply =
            sim.facts[..n].iter().rposition(|fact| matches!(fact.body, Body::Reply(_)));
        let from = if ask.at.is_some() { 0 } else { since_reply.unwrap_or(0) };
        let twice = said(&sim.facts[from..n]).contains(&(ask.event, ask.at));
        assert!(!twice, "{ask:?} was asked twice after {n} facts");
    }
}

// keeps: hook-chain
#[test]
fn after_an_abort_at_any_fact_no_hook_is_asked_about_that_loop() {
    let sim = everything();
    for n in 3..=sim.facts.len() {
        let mut cut = Sim {
            engine: Engine::fold(&sim.facts[..n]),
            facts: sim.facts[..n].to_vec(),
            said: Vec::new(),
        };
        let abort = cut.engine.lap().and_then(|lap| lap.abort("enough", Writer::Client));
        let Some(abort) = abort else {
            continue;
        };
        cut.record(abort);
        loop {
            match cut.go() {
                Step::Hook(ask) => {
                    assert_eq!(ask.event, HookEvent::SessionEnd, "after {n} facts");
                    break;
                }
                Step::Conclude(at) => cut.settle(at, Status::OK),
                Step::Settle(at) => {
                    match cut.engine.op_in_run(at).unwrap().settle_found(Found::Unknown, "what") {
                        Settlement::Record(recording) => cut.record(recording),
                        other => panic!("{other:?}"),
                    }
                }
                step => panic!("after {n} facts: {step:?}"),
            }
        }
    }
}
