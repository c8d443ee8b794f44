//! What the model has seen: files are edited only as they were seen, and nothing is told twice.

use super::*;
use crate::*;
use cairn_types::*;

fn state(content: &str) -> FileState {
    FileState::of_file(ContentRef::of(content.as_bytes()), 0o644)
}

/// An edit of `a` from one content to another, prepared.
fn edit(before: Option<&str>) -> Prepared {
    let change = Change::between("a".into(), before.map(state), Some(state("new")));
    Prepared {
        changes: vec![change],
        shown: "diff".into(),
        label: "edit a".into(),
        removed: Removed::default(),
        parts: Vec::new(),
        fresh: before.map(|text| format!("a:\n1\t{text}")).into_iter().collect(),
        wanted: Vec::new(),
    }
}

/// A run that has read `a` as `seen`, if at all, and now wants to write it.
fn wants_to_write(seen: Option<&str>) -> Sim {
    let mut sim = Sim::replied(Mode::Act, Approval::Yolo, &[READ, WRITE], Finish::Calls);
    sim.go();
    let seen =
        seen.map(|text| Seen { path: "a".into(), hash: Hash::of(text.as_bytes()), part: false });
    sim.settle_with(at(1, 1, 1), Status::OK, ContentRef::of(b"1\ta"), seen.into_iter().collect());
    sim.go();
    sim
}

fn last_told(recording: &Recording) -> String {
    recording.contents.last().map(|c| String::from_utf8_lossy(c).into_owned()).unwrap_or_default()
}

#[test]
fn a_file_is_edited_only_by_a_model_that_has_seen_it_as_it_is() {
    for (seen, is, expect) in [
        (Some("x"), Some("x"), "allowed"),
        (None, None, "allowed"),
        (None, Some("x"), "not done: a was not read in this run. It is:\na:\n1\tx"),
        (
            Some("x"),
            Some("y"),
            "not done: a is not as it was when it was read. It is now:\na:\n1\ty",
        ),
    ] {
        let mut sim = wants_to_write(seen);
        let recording = sim.engine.op_in_run(at(1, 1, 2)).unwrap().judge_prepared(&edit(is));
        let said = match &recording.facts[..] {
            [Body::Decision(_)] => "allowed".to_owned(),
            _ => last_told(&recording),
        };
        assert_eq!(said, expect);
        sim.record(recording);
    }
}

#[test]
fn a_refusal_that_shows_the_file_is_as_good_as_having_read_it() {
    let mut sim = wants_to_write(None);
    let refused = sim.engine.op_in_run(at(1, 1, 2)).unwrap().judge_prepared(&edit(Some("x")));
    sim.record(refused);
    sim.go();
    sim.reply(&[WRITE], Finish::Calls);
    sim.go();
    let allowed = sim.engine.op_in_run(at(1, 2, 1)).unwrap().judge_prepared(&edit(Some("x")));
    assert!(matches!(&allowed.facts[..], [Body::Decision(_)]), "{allowed:?}");
}

#[test]
fn what_an_op_wrote_has_been_seen() {
    let mut sim = wants_to_write(None);
    let made = sim.engine.op_in_run(at(1, 1, 2)).unwrap().judge_prepared(&edit(None));
    sim.record(made);
    sim.go();
    let change = edit(None).changes[0].clone();
    sim.begin(at(1, 1, 2));
    sim.settle(at(1, 1, 2), Status::CREATED);
    if let Some(Fact { body: Body::Outcome(outcome), .. }) = sim.facts.last_mut() {
        outcome.changes.push(change);
    }
    sim.engine = Engine::fold(&sim.facts);
    sim.go();
    sim.reply(&[WRITE], Finish::Calls);
    sim.go();
    let mut again = edit(Some("new"));
    again.changes[0].after = Some(state("newer"));
    let allowed = sim.engine.op_in_run(at(1, 2, 1)).unwrap().judge_prepared(&again);
    assert!(matches!(&allowed.facts[..], [Body::Decision(_)]), "{allowed:?}");
}

#[test]
fn a_result_in_view_is_pointed_at_and_a_short_one_is_told_again() {
    let long = ContentRef::of(&[b'x'; 500]);
    let mut sim = Sim::replied(Mode::Act, Approval::Yolo, &[READ], Finish::Calls);
    sim.go();
    assert_eq!(sim.engine.model_view().same_as_in_view(&long, Surface::Native), None);
    sim.settle_with(at(1, 1, 1), Status::OK, long, Vec::new());
    assert_eq!(
        sim.engine.model_view().same_as_in_view(&long, Surface::Native).as_deref(),
        Some("unchanged: the same as log:///1/1/1")
    );
    assert_eq!(
        sim.engine.model_view().same_as_in_view(&ContentRef::of(b"result"), Surface::Native),
        None
    );
    sim.reply(&[READ], Finish::Calls);
    sim.settle(at(1, 2, 1), Status::OK);
    assert_eq!(
        sim.engine.model_view().same_as_in_view(&ContentRef::of(b"result"), Surface::Native),
        None,
        "shorter than its address"
    );
}

#[test]
fn a_result_that_instructions_follow_is_in_view_by_its_own_part() {
    let (own, whole) = (ContentRef::of(&[b'x'; 500]), ContentRef::of(&[b'x'; 600]));
    let mut sim = Sim::replied(Mode::Act, Approval::Yolo, &[READ], Finish::Calls);
    sim.go();
    let told = Seen { path: "d/AGENTS.md".into(), hash: Hash::of(b"text"), part: false };
    assert!(!sim.engine.model_view().has_seen(&told));
    sim.settle_with(at(1, 1, 1), Status::OK, whole, vec![told.clone()]);
    if let Some(Fact { body: Body::Outcome(outcome), .. }) = sim.facts.last_mut() {
        outcome.own = Some(own.hash);
    }
    sim.engine = Engine::fold(&sim.facts);
    assert_eq!(
        sim.engine.model_view().same_as_in_view(&own, Surface::Native).as_deref(),
        Some("unchanged: the same as log:///1/1/1")
    );
    assert_eq!(sim.engine.model_view().same_as_in_view(&whole, Surface::Native), None);
    assert!(sim.engine.model_view().has_seen(&told));
    let changed = Seen { hash: Hash::of(b"other"), ..told };
    assert!(!sim.engine.model_view().has_seen(&changed));
}

#[test]
fn a_part_of_a_file_that_changed_does_not_stand_for_the_rest() {
    let mut sim = wants_to_write(Some("x"));
    let (path, hash) = ("a".to_owned(), Hash::of(b"y"));
    let part = Seen { path, hash, part: true };
    assert!(!sim.engine.model_view().has_seen(&part));
    let refused = sim.engine.op_in_run(at(1, 1, 2)).unwrap().judge_prepared(&edit(Some("y")));
    assert!(last_told(&refused).contains("is not as it was"), "{refused:?}");
    sim.reply(&[READ], Finish::Calls);
    sim.settle_with(at(1, 2, 1), Status::OK, ContentRef::of(b"1\ty"), vec![part.clone()]);
    assert!(!sim.engine.model_view().has_seen(&part), "only a part of it was shown again");
}

#[test]
fn what_was_moved_is_known_only_if_it_was_known_before() {
    for (seen, known) in [(Some("x"), true), (None, false)] {
        let mut sim = Sim::replied(Mode::Act, Approval::Yolo, &[READ, MOVE], Finish::Calls);
        sim.go();
        let seen = seen.map(|text: &str| Seen {
            path: "a".into(),
            hash: Hash::of(text.as_bytes()),
            part: false,
        });
        let seen: Vec<Seen> = seen.into_iter().collect();
        sim.settle_with(at(1, 1, 1), Status::OK, ContentRef::of(b"1\tx"), seen);
        sim.go();
        sim.prepared(at(1, 1, 2));
        sim.begin(at(1, 1, 2));
        sim.settle(at(1, 1, 2), Status::OK);
        if let Some(Fact { body: Body::Outcome(outcome), .. }) = sim.facts.last_mut() {
            outcome.changes.push(Change::between("b".into(), None, Some(state("x"))));
        }
        let engine = Engine::fold(&sim.facts);
        let moved = Seen { path: "b".into(), hash: Hash::of(b"x"), part: false };
        assert_eq!(engine.model_view().has_seen(&moved), known);
    }
}
