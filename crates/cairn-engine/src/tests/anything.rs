//! What must hold whatever happens.

use super::*;
use crate::*;
use cairn_surface::Toolbox;
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
    Drive(u8, u8, u8, bool),
    Hook(u8),
    Sent,
    Over(StreamState),
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        4 => (prop::collection::vec(0u8..5, 0..5), any::<bool>()).prop_map(|(c, cut)| Happening::Reply(c, cut)),
        1 => Just(Happening::Fault),
        1 => Just(Happening::Steer),
        1 => Just(Happening::Abort),
        1 => Just(Happening::Prompt),
        4 => Just(Happening::Sent),
        2 => prop::sample::select(vec![StreamState::Exited, StreamState::TimedOut, StreamState::Removed, StreamState::Lost]).prop_map(Happening::Over),
        3 => prop::sample::select(vec![Verdict::Allow, Verdict::Refuse, Verdict::Cancel, Verdict::Happened, Verdict::Skip]).prop_map(Happening::Word),
        1 => (0u8..4, 0u8..3, 0u8..4, any::<bool>()).prop_map(|(mode, who, rules, hooks)| Happening::Drive(mode, who, rules, hooks)),
        8 => (0u8..16).prop_map(Happening::Hook),
        6 => prop::sample::select(vec![200u16, 404, 409, 500]).prop_map(Happening::Status),
        1 => prop::sample::select(vec![Found::Done, Found::NotDone, Found::Partly, Found::Unknown]).prop_map(Happening::Crash),
    ]
}

/// An effect is about to be performed: somebody's own word stands behind this very beginning, the
/// driver may act, and nobody stopped the loop.
fn check_leave_to_act(sim: &Sim, at: Coord) {
    assert!(sim.engine.driving.drive.as_ref().unwrap().mode.may_act(), "{at} under read-only");
    assert!(!sim.engine.lap().unwrap().is_aborted(), "{at} after an abort");
    let is_begin = |fact: &Fact| matches!(&fact.body, Body::Begin(begin) if begin.at == at);
    let since = sim.facts.iter().rposition(is_begin).map_or(0, |last| last + 1);
    let allowed = sim.facts[since..].iter().any(
        |fact| matches!(&fact.body, Body::Decision(d) if d.at == at && d.verdict == Verdict::Allow),
    );
    assert!(allowed, "{at} without a word of its own");
    let guards = [HookEvent::PreToolUse, HookEvent::PermissionRequest, HookEvent::Accepting];
    let vetoed = sim.facts.iter().any(|fact| match &fact.body {
        Body::Hook(one) => {
            one.at == Some(at) && guards.contains(&one.event) && one.answer.block.is_some()
        }
        _ => false,
    });
    assert!(!vetoed, "{at} against a hook's no");
}

/// Another driver, with a mode, an approval and rules of its own.
fn drive_anew(sim: &mut Sim, (mode, who, rules): (u8, u8, u8), hooked: bool) {
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
    let hooks = if hooked { everywhere() } else { Vec::new() };
    let drive = Drive { policy: super::policy::of(rules), budgets, hooks, ..drive };
    sim.record(Recording::of(Body::Drive(drive)));
}

/// Two hooks at every event.
fn everywhere() -> Vec<HookPlan> {
    let tools = || vec!["bash".to_owned(), "read".to_owned(), "write".to_owned()];
    let plan = |event, name: &str| HookPlan { event, name: name.into(), tools: tools() };
    HookEvent::ALL.iter().flat_map(|event| [plan(*event, "a"), plan(*event, "b")]).collect()
}

/// What a hook may say, most often nothing.
fn says(n: u8) -> HookSays {
    let text = || Some("text".to_owned());
    match n {
        0 => HookSays { block: text(), ..HookSays::default() },
        1 => HookSays { substitute: text(), ..HookSays::default() },
        2 => HookSays { input: Some(BASH.1.into()), ..HookSays::default() },
        3 => {
            let (tool, input) = (Some("bash".into()), Some(BASH.1.into()));
            HookSays { tool, input, word: Some(HookWord::Allow), ..HookSays::default() }
        }
        4 => HookSays { context: vec!["text".into()], ..HookSays::default() },
        5 => HookSays { word: Some(HookWord::Allow), ..HookSays::default() },
        6 => HookSays { word: Some(HookWord::Ask), ..HookSays::default() },
        7 => HookSays { stop: text(), ..HookSays::default() },
        _ => HookSays::default(),
    }
}

fn hear(sim: &mut Sim, ask: &HookAsk, n: u8) {
    let recording = sim.engine.hooked(ask, says(n), 1, &Toolbox::default());
    sim.record(recording);
}

fn happen(sim: &mut Sim, happening: &Happening) {
    let step = sim.go();
    assert!(step != Step::Linger || sim.engine.streams().next().is_some(), "it waits for nothing");
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
            let fault = sim.engine.lap().unwrap().faulted("cut", "the stream was cut", 1);
            sim.record(fault);
        }
        (Happening::Steer, step) => {
            let begun = match step {
                Step::Prepare(at) | Step::Await(at) => Some(at),
                _ => None,
            };
            let lap = sim.engine.lap();
            let steer = lap.and_then(|lap| lap.steer("words", Writer::Client, begun));
            sim.record(steer.unwrap_or_default());
        }
        (Happening::Abort, _) => {
            let abort = sim.engine.lap().and_then(|lap| lap.abort("enough", Writer::Client));
            sim.record(abort.unwrap_or_default());
        }
        (Happening::Prompt, _) => sim.prompt("more"),
        (Happening::Drive(mode, who, rules, hooks), _) => {
            drive_anew(sim, (*mode, *who, *rules), *hooks);
        }
        (Happening::Sent, Step::Prepare(at)) if super::sent::is_sent(sim, at) => {}
        (Happening::Over(state), _) => super::sent::is_over(sim, *state),
        (Happening::Hook(n), Step::Hook(ask)) => hear(sim, &ask, *n),
        (Happening::Hook(n), Step::Prepare(at)) => prepare(sim, at, *n),
        (_, Step::Conclude(at)) => {
            let Concluded { outcome, .. } = sim.engine.op_in_run(at).unwrap().concluded().unwrap();
            sim.record(Recording::of(Body::Outcome(outcome)));
        }
        (Happening::Word(verdict), Step::Await(at)) => {
            let op = sim.engine.op(at).unwrap();
            let open = op.newest_question().unwrap();
            let word = word(&open.id.0, *verdict, Some("words"));
            match sim.engine.decided(&word, 0) {
                Ok(recording) => sim.record(recording),
                Err(error) => assert!(matches!(error, DecideError::Unfit { .. }), "{error}"),
            }
        }
        (_, Step::Prepare(at)) => prepare(sim, at, 9),
        (Happening::Crash(_), Step::Act { at, .. }) => sim.begin(at),
        (Happening::Status(status), Step::Act { at, .. }) => {
            sim.begin(at);
            super::hooks::performed_as(sim, at, Status(*status));
        }
        (Happening::Status(status), Step::Read(ats)) => {
            ats.iter().for_each(|at| super::hooks::performed_as(sim, *at, Status(*status)));
        }
        (Happening::Crash(found), Step::Settle(at)) => settle(sim, at, *found),
        _ => {}
    }
}

/// It is found out what an op would do; the hook that is asked then says this.
fn prepare(sim: &mut Sim, at: Coord, n: u8) {
    match sim.engine.op_in_run(at).unwrap().hook_before_question(&Prepared::default()) {
        Some(ask) => hear(sim, &ask, n),
        None => sim.prepared(at),
    }
}

/// It is found out what became of an op.
fn settle(sim: &mut Sim, at: Coord, found: Found) {
    match sim.engine.op_in_run(at).unwrap().settle_found(found, "what") {
        Settlement::Record(recording) => sim.record(recording),
        Settlement::Repeat => {
            sim.begin(at);
            sim.settle(at, Status::OK);
        }
        Settlement::Finish => {
            match sim.engine.op_in_run(at).unwrap().settle_found(Found::Done, "what") {
                Settlement::Record(recording) => sim.record(recording),
                other => panic!("what was finished is done, not {other:?}"),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn whatever_happens_the_fold_is_the_state_messages_never_change_and_every_call_has_its_result(
        happenings in prop::collection::vec(happening(), 1..60),
        ask in any::<bool>(), hooks in any::<bool>(),
    ) {
        let mut sim = Sim::new(Mode::Act, Approval::Yolo);
        drive_anew(&mut sim, (2, u8::from(!ask), 0), hooks);
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
        check_order(&sim);
    }
}

/// Every recorded decision, made again from the facts before it, is the same.
fn check_decisions_again(sim: &Sim) {
    let mut engine = Engine::default();
    for fact in &sim.facts {
        if let Body::Decision(decision) = &fact.body {
            let again =
                engine.op_in_run(decision.at).ok().and_then(|op| op.gates_again(decision)).unwrap();
            assert_eq!(again, decision.gates, "{}", decision.at);
        }
        engine.apply(fact);
    }
}

/// Every fact may follow those before it. One that is left out, recorded twice, too early or too late is noticed where
/// what follows depends on it.
fn check_order(sim: &Sim) {
    let bodies: Vec<&Body> = sim.facts.iter().map(|fact| &fact.body).collect();
    assert_eq!(first_misplaced(&bodies), None);
    for (n, body) in bodies.iter().enumerate() {
        let is_ended = |at: Coord| {
            let mut later = bodies[n..].iter();
            later.any(|body| matches!(body, Body::Outcome(outcome) if outcome.at == at))
        };
        let without = || [&bodies[..n], &bodies[n + 1..]].concat();
        let twice = || [&bodies[..=n], &bodies[n..]].concat();
        let illegal = match body {
            Body::Run(_) | Body::Prompt(_) | Body::Outcome(_) | Body::Ask(_) | Body::Reply(_) => {
                Some(twice())
            }
            Body::Intent(intent) if is_only_intent(&bodies, intent.at) => {
                is_ended(intent.at).then(without)
            }
            // A beginning before the decision that allows it.
            Body::Begin(begin) if !is_begun(&bodies[..n], begin.at) => {
                let allowed = bodies[..n].iter().position(|body| decides(body, begin.at));
                allowed.map(|first| {
                    let mut early = without();
                    early.insert(first, body);
                    early
                })
            }
            _ => None,
        };
        if let Some(facts) = illegal {
            assert!(first_misplaced(&facts).is_some(), "{n}: {body:?}");
        }
        if is_over(&bodies[n..], body) {
            let late = [&bodies[..], &[body]].concat();
            assert!(first_misplaced(&late).is_some(), "{n}, once more at the end: {body:?}");
        }
        if let Some(at) = acted_on(&bodies, body) {
            let is_begin = |body: &&&Body| matches!(body, Body::Begin(begin) if begin.at == at);
            let never_begun: Vec<&Body> =
                bodies.iter().filter(|body| !is_begin(body)).copied().collect();
            assert!(first_misplaced(&never_begun).is_some(), "{n}, without a beginning: {body:?}");
        }
    }
}

/// Whether what a fact is about is over by the end of these facts: its op, its turn or its loop.
fn is_over(from_it_on: &[&Body], body: &Body) -> bool {
    let mut later = from_it_on.iter();
    match body {
        Body::Stream(_) | Body::Hook(_) => false,
        Body::Ask(_) | Body::Reply(_) => {
            later.any(|body| matches!(body, Body::Reply(_) | Body::End(_)))
        }
        Body::End(_) => true,
        body => body.op().is_some_and(|at| {
            later.any(|body| matches!(body, Body::Outcome(outcome) if outcome.at == at))
        }),
    }
}

/// The op of which this is the outcome, where it changed something outside the store and began once.
fn acted_on(bodies: &[&Body], body: &Body) -> Option<Coord> {
    let Body::Outcome(outcome) = body else { return None };
    let at = outcome.at;
    let is_change = |body: &&Body| matches!(body, Body::Intent(intent) if intent.at == at && intent.effect > Effect::Read);
    let is_direct = outcome.settled != Settled::NotPerformed
        && outcome.letter.is_none()
        && !outcome.ran_over_overlay();
    let is_stored = !outcome.changes.is_empty() && outcome.changes.iter().all(Change::is_stored);
    let acted = is_direct && !is_stored && bodies.iter().any(is_change) && is_begun(bodies, at);
    acted.then_some(at)
}

fn first_misplaced(bodies: &[&Body]) -> Option<MisplacedFact> {
    let mut order = FactOrder::default();
    bodies.iter().find_map(|body| {
        let misplaced = order.check_next(body).err();
        order.advance(body);
        misplaced
    })
}

fn is_only_intent(bodies: &[&Body], at: Coord) -> bool {
    let is_of_op = |body: &&&Body| matches!(body, Body::Intent(intent) if intent.at == at);
    bodies.iter().filter(is_of_op).count() == 1
}

fn is_begun(before: &[&Body], at: Coord) -> bool {
    before.iter().any(|body| matches!(body, Body::Begin(begin) if begin.at == at))
}

fn decides(body: &Body, at: Coord) -> bool {
    matches!(body, Body::Decision(decision) if decision.at == at && decision.hosts.is_empty())
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
            Item::User { .. }
            | Item::News(_)
            | Item::FoldedNews { .. }
            | Item::Over { .. }
            | Item::Ended(_) => {
                assert!(owed.is_empty(), "unanswered: {owed:?}")
            }
        }
    }
    assert!(owed.is_empty() || open);
}
