//! Commands that a person sent to the background: their loop waits for them, and what one changed is an op
//! of its own, told as words.

use super::*;
use cairn_surface::Toolbox;
use expect_test::expect;

/// The op's command goes on in the background, where it may.
pub(super) fn is_sent(sim: &mut Sim, at: Coord) -> bool {
    let op = sim.engine.op(at).unwrap();
    let is_command = op.intent.op == Some(OpName::Exec) && op.intent.of.is_none();
    let Some(allowed) =
        sim.engine.op_in_run(at).unwrap().allow_in_background().filter(|_| is_command)
    else {
        return false;
    };
    sim.record(allowed);
    let layers = vec![SandboxLayer::Overlay];
    let running = Outcome { status: Status::RUNNING, layers, ..outcome(at) };
    let body = performed_fact(&sim.engine, running);
    sim.record(Recording::of(body));
    true
}

/// The first command in the background comes to this end.
pub(super) fn is_over(sim: &mut Sim, state: StreamState) {
    let first = sim.engine.streams().next();
    if let Some(at) = first {
        sim.record(Recording::of(Body::Stream(Stream { state, ..Stream::lost(at) })));
    }
}

/// A driver whose commands run over an overlay.
pub(super) fn overlaid(approval: Approval, rules: &[&str]) -> Drive {
    let policy = Policy { overlay: true, ..policy::of(rules) };
    Drive { policy, ..drive(Mode::Act, approval) }
}

/// A command that was sent to the background while it ran, by a driver with these rules.
fn sent(approval: Approval, rules: &[&str]) -> Sim {
    let mut sim = Sim::new(Mode::Act, approval);
    sim.record(Recording::of(Body::Drive(overlaid(approval, rules))));
    sim.prompt("go");
    sim.go();
    sim.reply(&[BASH], Finish::Calls);
    assert_eq!(sim.go(), Step::Prepare(at(1, 1, 1)));
    sim
}

/// What it changed when it is over.
pub(super) fn changed(path: &str) -> Prepared {
    let after = FileState::of_file(ContentRef::of(b"new"), 0o644);
    let changes = vec![Change::between(path.to_owned(), None, Some(after))];
    Prepared { changes, shown: "diff".into(), label: "a".into(), ..Prepared::default() }
}

pub(super) fn prepare(sim: &mut Sim, at: Coord, prepared: &Prepared) {
    let recording = sim.engine.op_in_run(at).unwrap().judge_prepared(prepared);
    sim.record(recording);
}

// keeps: sent-to-background
#[test]
fn a_loop_waits_for_what_was_sent_and_the_model_hears_how_it_came_out() {
    let mut sim = sent(Approval::Ask, &[]);
    assert!(is_sent(&mut sim, at(1, 1, 1)));
    sim.go();
    sim.reply(&[], Finish::Stop);
    assert_eq!(sim.go(), Step::Linger);
    is_over(&mut sim, StreamState::Exited);
    assert_eq!(sim.go(), Step::Prepare(at(1, 2, 1)), "it is an op of the newest turn");
    let intent = sim.engine.op(at(1, 2, 1)).unwrap().intent.clone();
    assert_eq!((intent.of, intent.tool.as_str()), (Some(at(1, 1, 1)), "bash"));
    prepare(&mut sim, at(1, 2, 1), &changed("a"));
    assert_eq!(sim.go(), Step::Await(at(1, 2, 1)));
    sim.decide(at(1, 2, 1), Verdict::Allow, None);
    assert_eq!(sim.go(), Step::Act { at: at(1, 2, 1), again: false });
    sim.begin(at(1, 2, 1));
    sim.settle(at(1, 2, 1), Status::OK);
    let told = Item::Over { row: at(1, 1, 1), content: ContentRef::of(b"result") };
    assert_eq!(sim.engine.items().last(), Some(&told));
    assert!(matches!(sim.go(), Step::AskModel { turn: 3, .. }));
    sim.reply(&[], Finish::Stop);
    sim.go();
    check(
        &sim,
        expect![[r#"
            AskModel { lap: 1, turn: 1, messages: 1 }
            Prepare(Coord { lap: 1, turn: 1, seq: 1 })
            1/1/1 → 102 Performed
            AskModel { lap: 1, turn: 2, messages: 3 }
            Linger
            Prepare(Coord { lap: 1, turn: 2, seq: 1 })
            Await(Coord { lap: 1, turn: 2, seq: 1 })
            Act { at: Coord { lap: 1, turn: 2, seq: 1 }, again: false }
            1/2/1 → 200 Performed
            AskModel { lap: 1, turn: 3, messages: 6 }
            end 1 200
            Idle"#]],
    );
}

// keeps: sent-to-background
#[test]
fn a_stopped_loop_waits_for_nothing_and_a_steered_one_goes_on() {
    let mut sim = sent(Approval::Ask, &[]);
    is_sent(&mut sim, at(1, 1, 1));
    sim.go();
    sim.reply(&[], Finish::Stop);
    assert_eq!(sim.go(), Step::Linger);
    let steer = sim.engine.lap().unwrap().steer("meanwhile", Writer::Client, None).unwrap();
    sim.record(steer);
    assert!(matches!(sim.go(), Step::AskModel { turn: 3, .. }));
    sim.reply(&[], Finish::Stop);
    assert_eq!(sim.go(), Step::Linger);
    let abort = sim.engine.lap().unwrap().abort("enough", Writer::Client).unwrap();
    sim.record(abort);
    assert_eq!(sim.go(), Step::Idle);
    assert_eq!(sim.engine.ended().unwrap().status, Status::CANCELLED);
}

// keeps: sent-to-background
#[test]
fn a_loop_that_cannot_go_on_still_asks_about_what_was_sent() {
    let mut sim = sent(Approval::Ask, &[]);
    is_sent(&mut sim, at(1, 1, 1));
    sim.go();
    let fault = sim.engine.lap().unwrap().faulted("cut", "the stream was cut", 1);
    sim.record(fault);
    assert_eq!(sim.go(), Step::Linger);
    is_over(&mut sim, StreamState::Exited);
    assert_eq!(sim.go(), Step::Prepare(at(1, 1, 2)));
    prepare(&mut sim, at(1, 1, 2), &Prepared::default());
    sim.go();
    sim.settle(at(1, 1, 2), Status::OK);
    assert_eq!(sim.go(), Step::Idle);
    assert_eq!(sim.engine.ended().unwrap().why, "the stream was cut");
}

/// What becomes of changes of a command that a person allowed before it ran.
#[track_caller]
fn check_covered(path: &str, rules: &[&str], expected: Option<Status>) {
    let mut sim = sent(Approval::Ask, &[&["ask exec x"], rules].concat());
    sim.prepared(at(1, 1, 1));
    assert_eq!(sim.go(), Step::Await(at(1, 1, 1)));
    assert!(
        sim.engine.op_in_run(at(1, 1, 1)).unwrap().allow_in_background().is_none(),
        "nobody allowed it yet"
    );
    sim.decide(at(1, 1, 1), Verdict::Allow, None);
    sim.go();
    assert!(is_sent(&mut sim, at(1, 1, 1)));
    is_over(&mut sim, StreamState::Exited);
    assert_eq!(sim.go(), Step::Prepare(at(1, 1, 2)));
    prepare(&mut sim, at(1, 1, 2), &changed(path));
    let step = sim.go();
    let status = sim.engine.op(at(1, 1, 2)).unwrap().status();
    assert_eq!(status, expected, "{step:?}");
    assert_eq!(step == Step::Act { at: at(1, 1, 2), again: false }, expected.is_none());
}

// keeps: sent-to-background
#[test]
fn a_word_on_a_command_covers_what_it_changed_as_where_it_is_waited_for() {
    check_covered("a", &[], None);
    check_covered("a", &["deny edit a"], Some(Status::REFUSED));
    check_covered(".git/hooks/pre-commit", &[], Some(Status::REFUSED));
}

// keeps: sent-to-background
#[test]
fn what_began_and_was_cut_off_is_finished_and_not_run_again() {
    let mut sim = sent(Approval::Yolo, &[]);
    is_sent(&mut sim, at(1, 1, 1));
    is_over(&mut sim, StreamState::Exited);
    sim.go();
    prepare(&mut sim, at(1, 1, 2), &changed("a"));
    assert_eq!(sim.go(), Step::Act { at: at(1, 1, 2), again: false });
    let begin = Begin {
        at: at(1, 1, 2),
        changes: changed("a").changes,
        again: false,
        told: None,
        ran: None,
    };
    sim.record(Recording::of(Body::Begin(begin)));
    sim.record(Recording::of(Body::Drive(overlaid(Approval::Yolo, &[]))));
    assert_eq!(sim.go(), Step::Settle(at(1, 1, 2)));
    assert_eq!(
        sim.engine.op_in_run(at(1, 1, 2)).unwrap().settle_found(Found::NotDone, "what"),
        Settlement::Finish
    );
}

#[test]
fn a_fork_waits_for_nothing_of_its_parents() {
    let mut sim = sent(Approval::Ask, &[]);
    is_sent(&mut sim, at(1, 1, 1));
    let n = sim.engine.last_n() + 1;
    let body = Body::Drive(overlaid(Approval::Ask, &[]));
    let fact = Fact { run: RunId::new(2, 2), n, at: n, engine: VERSION.into(), body };
    sim.engine.apply(&fact);
    assert!(!sim.engine.lap_in_run().unwrap().lingers());
    assert_eq!(sim.engine.streams().count(), 0);
}

#[test]
fn a_call_of_a_tool_is_counted_once_and_neither_steers_nor_earlier_ops_discard_what_it_changed() {
    let mut sim = sent(Approval::Ask, &[]);
    let calls = [("bash".to_owned(), 1)].into();
    let budgets = Budgets { calls, ..Budgets::default() };
    let drive = Drive { budgets, ..overlaid(Approval::Ask, &[]) };
    sim.record(Recording::of(Body::Drive(drive)));
    is_sent(&mut sim, at(1, 1, 1));
    sim.go();
    sim.reply(&[WRITE], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 2, 1));
    sim.go();
    sim.decide(at(1, 2, 1), Verdict::Refuse, None);
    is_over(&mut sim, StreamState::Exited);
    assert_eq!(sim.go(), Step::Prepare(at(1, 2, 2)));
    prepare(&mut sim, at(1, 2, 2), &changed("a"));
    let steer = sim.engine.lap().unwrap().steer("words", Writer::Client, None).unwrap();
    sim.record(steer);
    assert_eq!(sim.go(), Step::Await(at(1, 2, 2)));
}

/// Answers every hook with nothing, and says who was asked about what.
fn go_asking(sim: &mut Sim, asked: &mut Vec<(Coord, HookEvent)>) -> Step {
    loop {
        match sim.go() {
            Step::Hook(ask) => {
                asked.extend(ask.at.map(|at| (at, ask.event)));
                let recording =
                    sim.engine.hooked(&ask, HookSays::default(), 1, &Toolbox::default());
                sim.record(recording);
            }
            Step::Conclude(at) => {
                let Concluded { outcome, .. } =
                    sim.engine.op_in_run(at).unwrap().concluded().unwrap();
                sim.record(Recording::of(Body::Outcome(outcome)));
            }
            step => return step,
        }
    }
}

// keeps: sent-to-background
#[test]
fn hooks_are_asked_about_the_command_before_it_ran_and_about_its_changes_from_the_question_on() {
    let plan = |event: &HookEvent| HookPlan {
        event: *event,
        name: "hook".into(),
        tools: vec!["bash".into()],
    };
    let hooks = HookEvent::ALL.iter().map(plan).collect();
    let mut sim = Sim::new(Mode::Act, Approval::Ask);
    let drive = Drive { hooks, ..overlaid(Approval::Ask, &[]) };
    sim.record(Recording::of(Body::Drive(drive)));
    sim.prompt("go");
    let mut asked = Vec::new();
    go_asking(&mut sim, &mut asked);
    sim.reply(&[BASH], Finish::Calls);
    let (row, changes) = (at(1, 1, 1), at(1, 1, 2));
    assert_eq!(go_asking(&mut sim, &mut asked), Step::Prepare(row));
    assert!(is_sent(&mut sim, row));
    is_over(&mut sim, StreamState::Exited);
    assert_eq!(go_asking(&mut sim, &mut asked), Step::Prepare(changes));
    let prepared = changed("a");
    while let Some(ask) = sim.engine.op_in_run(changes).unwrap().hook_before_question(&prepared) {
        asked.push((changes, ask.event));
        // No other call is made of what a command did.
        let says = HookSays { input: Some(BASH.1.into()), ..HookSays::default() };
        let recording = sim.engine.hooked(&ask, says, 1, &Toolbox::default());
        sim.record(recording);
    }
    prepare(&mut sim, changes, &prepared);
    assert_eq!(go_asking(&mut sim, &mut asked), Step::Await(changes));
    sim.decide(changes, Verdict::Allow, None);
    assert_eq!(go_asking(&mut sim, &mut asked), Step::Act { at: changes, again: false });
    sim.begin(changes);
    super::hooks::performed_as(&mut sim, changes, Status::OK);
    go_asking(&mut sim, &mut asked);
    let of = |about: Coord| -> Vec<HookEvent> {
        asked.iter().filter(|(at, _)| *at == about).map(|(_, event)| *event).collect()
    };
    assert_eq!(of(row), [HookEvent::PreToolUse, HookEvent::PostToolUse]);
    let from_the_question_on = [
        HookEvent::PermissionRequest,
        HookEvent::Notification,
        HookEvent::Decided,
        HookEvent::Accepting,
        HookEvent::PostToolUse,
    ];
    assert_eq!(of(changes), from_the_question_on);
}
