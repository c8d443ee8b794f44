//! How a turn ends on a text surface, when a claim of success counts, and what becomes of ops whose end was not
//! written.

use super::*;
use cairn_surface::Toolbox;
use expect_test::expect;

const DONE: (&str, &str) = ("send", r#"{"status":200,"text":"done"}"#);
const GIVEN_UP: (&str, &str) = ("send", r#"{"status":422,"text":"cannot be done"}"#);
const GOING_ON: (&str, &str) = ("send", r#"{"status":102,"text":"reading"}"#);

/// A run on a text surface whose model replied like this.
fn replied(surface: Surface, calls: &[(&str, &str)]) -> Sim {
    let mut sim = Sim::on(surface, Mode::AcceptEdits, Approval::Yolo);
    sim.prompt("go");
    sim.go();
    sim.reply(calls, Finish::Stop);
    sim
}

/// The status that an op is settled with when it says what it says.
fn said(sim: &Sim, at: Coord) -> Status {
    sim.engine.op(at).unwrap().intent.says.unwrap()
}

// keeps: surface-end
#[test]
fn a_text_surface_goes_on_until_its_end_is_said() {
    let mut sim = replied(Surface::Tags, &[GOING_ON]);
    sim.go();
    sim.settle(at(1, 1, 1), Status::RUNNING);
    sim.go();
    sim.reply(&[DONE], Finish::Stop);
    sim.go();
    sim.settle(at(1, 2, 1), Status::OK);
    sim.go();
    check(
        &sim,
        expect![[r#"
            AskModel { lap: 1, turn: 1, messages: 1 }
            Read([Coord { lap: 1, turn: 1, seq: 1 }])
            1/1/1 → 102 Performed
            AskModel { lap: 1, turn: 2, messages: 3 }
            Read([Coord { lap: 1, turn: 2, seq: 1 }])
            1/2/1 → 200 Performed
            end 1 200
            Idle"#]],
    );
}

#[test]
fn what_cannot_be_done_ends_the_loop_as_that() {
    let mut sim = replied(Surface::Heredoc, &[GIVEN_UP]);
    sim.go();
    let status = said(&sim, at(1, 1, 1));
    sim.settle(at(1, 1, 1), status);
    sim.go();
    assert_eq!(sim.engine.ended().unwrap().status, Status::UNPROCESSABLE);
}

// keeps: surface-silence
#[test]
fn replies_that_ask_for_nothing_end_a_text_loop_at_the_third() {
    for surface in [Surface::Tags, Surface::Heredoc, Surface::Envelope] {
        let mut sim = replied(surface, &[]);
        for _ in 0..2 {
            assert!(matches!(sim.go(), Step::AskModel { .. }), "{surface}");
            sim.reply(&[], Finish::Stop);
        }
        sim.go();
        let end = sim.engine.ended().unwrap();
        assert_eq!((end.status, end.rail), (Status::CANCELLED, Some(Rail::Strikes)), "{surface}");
        assert_eq!(
            end.why,
            "3 turns in a row came to nothing; the last asked for nothing that could be read"
        );
    }
}

// keeps: false-success
#[test]
fn a_claim_of_success_beside_a_change_that_failed_does_not_count_wherever_it_stands() {
    for (calls, claim, change) in [
        ([WRITE, DONE], at(1, 1, 2), at(1, 1, 1)),
        // What stands before the change is judged after it.
        ([DONE, WRITE], at(1, 1, 1), at(1, 1, 2)),
    ] {
        let mut sim = replied(Surface::Tags, &calls);
        assert_eq!(sim.go(), Step::Prepare(change));
        sim.prepared(change);
        sim.settle(change, Status::CONFLICT);
        assert!(matches!(sim.go(), Step::AskModel { turn: 2, .. }));
        let settled = format!("{claim} → 409 NotPerformed");
        assert!(sim.said.contains(&settled), "{:?}", sim.said);
        assert!(sim.engine.ended().is_none());
        assert_eq!(Engine::fold(&sim.facts), sim.engine);
    }
}

#[test]
fn a_claim_of_success_counts_where_only_a_look_failed_or_nothing_did() {
    for (first, status) in [(READ, Status::NOT_FOUND), (READ, Status::OK), (WRITE, Status::OK)] {
        let mut sim = replied(Surface::Heredoc, &[first, DONE]);
        if let Step::Prepare(change) = sim.go() {
            sim.prepared(change);
            sim.go();
        }
        sim.settle(at(1, 1, 1), status);
        assert_eq!(sim.go(), Step::Read(vec![at(1, 1, 2)]));
        sim.settle(at(1, 1, 2), Status::OK);
        assert_eq!(sim.go(), Step::Idle);
    }
}

// keeps: false-success
#[test]
fn a_claim_of_success_beside_what_could_not_be_read_or_was_not_given_does_not_count() {
    let call = |(name, args): (&str, &str)| Call {
        id: name.to_owned(),
        name: name.to_owned(),
        args: ContentRef::of(args.as_bytes()),
    };
    let mut sim = Sim::on(Surface::Tags, Mode::Act, Approval::Yolo);
    sim.prompt("go");
    sim.go();
    let problems = Some(ContentRef::of(b"[]"));
    let reply = Reply { calls: vec![call(DONE)], problems, ..Reply::default() };
    let recording = replied_by_calls(&sim.engine, reply, &[DONE.1]);
    sim.record(recording);
    assert!(matches!(sim.go(), Step::AskModel { turn: 2, .. }));
    assert!(sim.said.contains(&"1/1/1 → 409 NotPerformed".to_owned()), "{:?}", sim.said);

    let mut sim = Sim::begun(Mode::Act, Approval::Yolo, |run| {
        (run.surface, run.view) = (Surface::Tags, View::Packet);
        run.given = vec!["read".to_owned(), "send".to_owned()];
    });
    sim.prompt("go");
    sim.go();
    sim.reply(&[WRITE, DONE], Finish::Stop);
    assert!(matches!(sim.go(), Step::AskModel { turn: 2, .. }));
    assert!(sim.said.contains(&"1/1/1 → 403 NotPerformed".to_owned()), "{:?}", sim.said);
    assert!(sim.said.contains(&"1/1/2 → 409 NotPerformed".to_owned()), "{:?}", sim.said);
}

// keeps: unclosed-op
#[test]
fn a_last_word_that_was_cut_is_none() {
    for (finish, status) in [(Finish::Length, Some(422)), (Finish::Stop, None)] {
        let mut sim = Sim::on(Surface::Heredoc, Mode::Act, Approval::Yolo);
        sim.prompt("go");
        sim.go();
        let args = ContentRef::of(DONE.1.as_bytes());
        let call = Call { id: "1".to_owned(), name: DONE.0.to_owned(), args };
        let reply = Reply { finish, calls: vec![call], ..Reply::default() };
        let marks = Marks { unclosed: true, ..Marks::default() };
        let recording = sim.engine.lap_in_run().unwrap().replied_in(
            reply,
            &[(DONE.1, marks)],
            &Toolbox::default(),
        );
        sim.record(recording);
        let problem = sim.engine.op(at(1, 1, 1)).unwrap().intent.problem.as_ref();
        assert_eq!(problem.map(|problem| problem.status.0), status, "{finish:?}");
    }
}

// keeps: small-looks
#[test]
fn a_small_model_sees_what_it_changed_before_it_can_say_that_it_is_done() {
    let mut sim = Sim::begun(Mode::AcceptEdits, Approval::Yolo, |run| {
        (run.surface, run.view, run.small) = (Surface::Tags, View::Packet, true);
    });
    sim.prompt("go");
    sim.go();
    sim.reply(&[WRITE, DONE], Finish::Stop);
    sim.go();
    sim.prepared(at(1, 1, 1));
    sim.go();
    sim.settle(at(1, 1, 1), Status::OK);
    assert!(matches!(sim.go(), Step::AskModel { turn: 2, .. }));
    sim.reply(&[DONE], Finish::Stop);
    assert_eq!(sim.go(), Step::Read(vec![at(1, 2, 1)]));
    sim.settle(at(1, 2, 1), Status::OK);
    assert_eq!(sim.go(), Step::Idle);
}

/// A reply of one write whose end was not written, and a read behind it or not.
fn unclosed(approval: Approval, is_last: bool, finish: Finish) -> Sim {
    let mut sim = Sim::on(Surface::Tags, Mode::AcceptEdits, approval);
    sim.prompt("go");
    sim.go();
    let calls: &[(&str, &str)] = if is_last { &[READ, WRITE] } else { &[WRITE, READ] };
    let reply = Reply {
        finish,
        calls: (1..)
            .zip(calls)
            .map(|(n, (name, args)): (u32, _)| Call {
                id: n.to_string(),
                name: (*name).to_owned(),
                args: ContentRef::of(args.as_bytes()),
            })
            .collect(),
        ..Reply::default()
    };
    let marks = |(name, args): &(&'static str, &'static str)| {
        (
            *args,
            Marks {
                unclosed: *name == "write",
                repairs: vec!["closed".to_owned()],
                ..Marks::default()
            },
        )
    };
    let marked: Vec<(&str, Marks)> = calls.iter().map(marks).collect();
    let recording =
        sim.engine.lap_in_run().unwrap().replied_in(reply, &marked, &Toolbox::default());
    sim.record(recording);
    sim
}

// keeps: unclosed-op
#[test]
fn an_op_without_an_end_is_refused_where_it_stood_last_or_was_cut_and_asked_about_otherwise() {
    for (is_last, finish) in [(true, Finish::Stop), (false, Finish::Length)] {
        let mut sim = unclosed(Approval::Yolo, is_last, finish);
        sim.go();
        let write = at(1, 1, if is_last { 2 } else { 1 });
        let op = sim.engine.op(write).unwrap();
        assert_eq!(op.intent.problem.as_ref().unwrap().status, Status::UNPROCESSABLE);
        assert_eq!(op.intent.repairs, ["closed"]);
    }
    // Where somebody can be asked, they are, although edits are accepted.
    let mut sim = unclosed(Approval::Ask, false, Finish::Stop);
    assert_eq!(sim.go(), Step::Prepare(at(1, 1, 1)));
    sim.prepared(at(1, 1, 1));
    assert_eq!(sim.go(), Step::Await(at(1, 1, 1)));
    sim.decide(at(1, 1, 1), Verdict::Allow, None);
    assert_eq!(sim.go(), Step::Act { at: at(1, 1, 1), again: false });
    // Where everything was allowed beforehand and nobody is there, it is not done.
    let mut sim = unclosed(Approval::Yolo, false, Finish::Stop);
    sim.go();
    sim.prepared(at(1, 1, 1));
    assert_eq!(sim.engine.op(at(1, 1, 1)).unwrap().status(), Some(Status::REFUSED));
}

#[test]
fn what_a_hook_makes_of_an_op_is_still_one_without_an_end() {
    let mut sim = unclosed(Approval::Yolo, false, Finish::Stop);
    // What follows it is no surer than it is.
    assert!(sim.engine.op(at(1, 1, 2)).unwrap().intent.unclosed);
    super::hooks::drive_hooked(&mut sim, Approval::Yolo, &["PreToolUse guard write"]);
    super::hooks::answer(&mut sim, super::hooks::change(r#"{"path":"a","content":"other"}"#));
    let op = sim.engine.op(at(1, 1, 1)).unwrap();
    assert!(op.intent.unclosed && op.intent.surface == Surface::Tags);
}

// keeps: envelope-end
#[test]
fn the_envelope_asks_for_the_answer_after_its_last_word_or_its_last_step() {
    let plain = |sim: &Sim| {
        let asked = sim.facts.iter().rev().find_map(|fact| match &fact.body {
            Body::Ask(ask) => Some(ask.plain),
            _ => None,
        });
        asked.unwrap()
    };
    let mut sim = replied(Surface::Envelope, &[READ]);
    sim.go();
    sim.settle(at(1, 1, 1), Status::OK);
    sim.go();
    assert!(!plain(&sim));
    let last = Reply { is_final: true, ..Reply::default() };
    let recording = sim.engine.lap_in_run().unwrap().replied_in(last, &[], &Toolbox::default());
    sim.record(recording);
    assert!(matches!(sim.go(), Step::AskModel { .. }) && plain(&sim));
    sim.reply(&[], Finish::Stop);
    assert_eq!(sim.go(), Step::Idle);
    assert_eq!(sim.engine.ended().unwrap().status, Status::OK);

    let mut sim = Sim::on(Surface::Envelope, Mode::Act, Approval::Yolo);
    sim.record(Recording::of(Body::Drive(Drive {
        caps: Caps { turns: 20, ops: 3, cost: None },
        ..drive(Mode::Act, Approval::Yolo)
    })));
    sim.prompt("go");
    for turn in 1..=6 {
        sim.go();
        assert!(!plain(&sim), "{turn}");
        sim.reply(&[("read", &format!(r#"{{"path":"{turn}"}}"#))], Finish::Stop);
        sim.go();
        sim.settle(at(1, turn, 1), Status::OK);
    }
    sim.go();
    assert!(plain(&sim));
}

#[test]
fn what_was_not_given_is_not_called() {
    let mut sim = Sim::begun(Mode::Act, Approval::Yolo, |run| run.given = vec!["read".to_owned()]);
    sim.prompt("go");
    sim.go();
    sim.reply(&[BASH, READ], Finish::Calls);
    let problem = sim.engine.op(at(1, 1, 1)).unwrap().intent.problem.clone().unwrap();
    assert_eq!(problem.status, Status::REFUSED);
    assert!(sim.engine.op(at(1, 1, 2)).unwrap().intent.problem.is_none());
}
