//! A word that takes a part of a proposal, or gives another text: all of it fits, or nothing happens.

use super::*;

fn file(text: &str) -> FileState {
    FileState::of_file(ContentRef::of(text.as_bytes()), 0o644)
}

/// An edit with two hunks in `a`, a file that moves from `old` to `new`, and one that goes.
fn edit() -> Prepared {
    let change = |path: &str, before: Option<&str>, after: Option<&str>| {
        Change::between(path.into(), before.map(file), after.map(file))
    };
    let part = |label: &str, path: &str, from: Option<&str>| Part {
        label: label.into(),
        path: path.into(),
        from: from.map(str::to_owned),
    };
    Prepared {
        changes: vec![
            change("a", Some("1"), Some("2")),
            change("new", None, Some("x")),
            change("old", Some("x"), None),
            change("gone", Some("y"), None),
        ],
        shown: "the diff".into(),
        label: "edit a, new and gone".into(),
        parts: vec![
            part("a lines 1-2, +1 −1", "a", None),
            part("a lines 9-9, +1 −0", "a", None),
            part("create new (+1)", "new", Some("old")),
            part("remove gone (-1)", "gone", None),
        ],
        ..Prepared::default()
    }
}

const PATCH: (&str, &str) = ("edit", r#"{"patch":"*** Begin Patch\n*** End Patch"}"#);

/// A run whose model wants this done, and somebody is asked.
fn asked(call: (&str, &str), prepared: &Prepared) -> Sim {
    let mut sim = Sim::replied(Mode::Act, Approval::Ask, &[call], Finish::Calls);
    for (path, hash) in [("a", "1"), ("old", "x"), ("gone", "y")] {
        sim.engine.model_view.seen.insert(path.into(), Hash::of(hash.as_bytes()));
    }
    sim.go();
    let recording = sim.engine.op_in_run(at(1, 1, 1)).unwrap().judge_prepared(prepared);
    sim.record(recording);
    sim
}

fn says(items: Option<&[u32]>, texts: &[&str]) -> Word {
    let text = |path: &&str| NewText { path: (*path).to_owned(), text: "mine".to_owned() };
    Word {
        items: items.map(<[u32]>::to_vec),
        texts: texts.iter().map(text).collect(),
        ..word("p1.1.1", Verdict::Allow, None)
    }
}

#[test]
fn an_edit_is_proposed_part_by_part_and_the_rules_see_every_path_of_it() {
    let sim = asked(PATCH, &edit());
    let proposal = sim.engine.open_question().unwrap();
    let items: Vec<_> = proposal.items.iter().map(|i| (i.item, i.label.as_str())).collect();
    assert_eq!(items[1..3], [(2, "a lines 9-9, +1 −0"), (3, "create new (+1)")]);
    assert_eq!((proposal.line(), proposal.by_item), ("edit a, new and gone", true));
    assert_eq!(proposal.paths(), ["a", "new", "old", "gone"]);
}

// keeps: choose-hunks
#[test]
fn a_word_is_taken_with_its_items_and_texts_or_not_at_all() {
    let sim = asked(PATCH, &edit());
    let check = |word: Word, expected: &str| {
        let came = match sim.engine.decided(&word, 10) {
            Err(refused) => refused.to_string(),
            Ok(recording) => match &recording.facts[..] {
                [Body::Decision(decision)] => {
                    let taken = decision.items.iter().filter(|choice| choice.accepted);
                    let taken: Vec<u32> = taken.map(|choice| choice.item).collect();
                    let texts: Vec<&str> = decision.texts.iter().map(|t| &*t.path).collect();
                    assert!(decision.texts.iter().all(|t| t.content == ContentRef::of(b"mine")));
                    format!("takes {taken:?} with {texts:?}, choice {}", decision.is_choice())
                }
                other => format!("{other:?}"),
            },
        };
        assert_eq!(came, expected, "{word:?}");
    };
    check(says(None, &[]), "takes [1, 2, 3, 4] with [], choice false");
    check(says(Some(&[4, 3, 2, 1]), &[]), "takes [1, 2, 3, 4] with [], choice false");
    check(says(Some(&[2]), &[]), "takes [2] with [], choice true");
    check(says(None, &["a"]), "takes [1, 2, 3, 4] with [\"a\"], choice true");
    check(says(Some(&[1, 2]), &["a"]), "takes [1, 2] with [\"a\"], choice true");
    check(says(Some(&[3]), &["new"]), "takes [3] with [\"new\"], choice true");
    check(says(Some(&[]), &[]), "400: no item of p1.1.1 is taken; to leave all of it, refuse");
    check(says(Some(&[1, 5]), &[]), "400: p1.1.1 has no item 5; it has 4");
    check(says(Some(&[0]), &[]), "400: p1.1.1 has no item 0; it has 4");
    check(says(Some(&[1]), &["a"]), "400: there is a text for a, and its item 2 is left out");
    check(
        says(Some(&[1, 2]), &["new"]),
        "400: there is a text for new, and its item 3 is left out",
    );
    check(says(None, &["b"]), "400: p1.1.1 writes no file b");
    check(says(None, &["gone"]), "400: p1.1.1 writes no file gone");
    check(says(None, &["old"]), "400: p1.1.1 writes no file old");
    check(says(None, &["a", "a"]), "400: there are two texts for a");
    let mut refuses = says(Some(&[1]), &[]);
    refuses.verdict = Verdict::Refuse;
    check(refuses, "400: items and texts go with allow, not with refuse");
    let mut long = says(None, &["a"]);
    long.texts[0].text = "x".repeat((16 << 20) + 1);
    check_too_long(&sim, &long);
    let kept = |until| Word { remember: Remember::Run, until: Some(until), ..says(None, &[]) };
    check(kept(10), "400: until 10 is in the past");
    check(kept(11), "takes [1, 2, 3, 4] with [], choice false");
}

#[test]
fn what_is_left_out_of_an_edit_is_asked_about_no_longer() {
    for (items, expected) in
        [(&[2][..], Step::Act { at: at(1, 1, 1), again: false }), (&[2, 4], Step::Idle)]
    {
        let mut sim = asked(PATCH, &edit());
        let recording = sim.engine.decided(&says(Some(items), &[]), 0).unwrap();
        let Body::Decision(decision) = &recording.facts[0] else { panic!("{recording:?}") };
        assert_eq!(decision.also, if items.len() == 1 { vec!["a"] } else { vec!["a", "gone"] });
        sim.record(recording);
        // Whoever goes on forbids what was left out the first time.
        sim.drive_by(Mode::Act, Approval::Ask, &["deny edit gone"]);
        let step = match sim.go() {
            Step::AskModel { .. } => Step::Idle,
            step => step,
        };
        assert_eq!(step, expected, "{:?}", sim.said);
    }
}

fn check_too_long(sim: &Sim, word: &Word) {
    let refused = sim.engine.decided(word, 0).unwrap_err().to_string();
    assert_eq!(refused, "400: the text for a has 16777217 bytes, more than 16777216");
}

#[test]
fn what_is_no_edit_is_allowed_as_a_whole() {
    let moved = Prepared { parts: Vec::new(), ..edit() };
    for (call, prepared) in [(BASH, Prepared::default()), (MOVE, moved)] {
        let sim = asked(call, &prepared);
        let decide = |word: &Word| sim.engine.decided(word, 0).map_err(|e| e.to_string());
        let whole = "400: p1.1.1 is allowed or refused as a whole".to_owned();
        assert_eq!(decide(&says(None, &["a"])).unwrap_err(), whole);
        let all: Vec<u32> =
            sim.engine.open_question().unwrap().items.iter().map(|item| item.item).collect();
        assert!(decide(&says(Some(&all), &[])).is_ok());
        if all.len() > 1 {
            assert_eq!(decide(&says(Some(&[1]), &[])).unwrap_err(), whole);
        }
        assert!(decide(&says(Some(&[9]), &[])).unwrap_err().starts_with("400: p1.1.1 has no item"));
    }
}

#[test]
fn what_became_of_an_interrupted_op_is_not_remembered_for_others() {
    let mut sim = asked(BASH, &Prepared::default());
    sim.decide(at(1, 1, 1), Verdict::Allow, None);
    sim.begin(at(1, 1, 1));
    let Settlement::Record(question) =
        sim.engine.op_in_run(at(1, 1, 1)).unwrap().settle_found(Found::Unknown, "x")
    else {
        panic!("nobody is asked");
    };
    sim.record(question);
    let again = || word("p1.1.1.again1", Verdict::Allow, None);
    let told = [
        Word { remember: Remember::Always, ..again() },
        Word { until: Some(99), ..again() },
        Word { rule: Some("exec".into()), ..again() },
    ];
    for kept in told {
        let refused = sim.engine.decided(&kept, 0).unwrap_err().to_string();
        assert_eq!(refused, "400: what became of p1.1.1.again1 cannot be remembered for others");
    }
    assert!(sim.engine.decided(&again(), 0).is_ok());
}

#[test]
fn what_a_person_chose_and_is_found_done_is_told_as_it_was_worked_out() {
    let mut sim = asked(PATCH, &edit());
    let recording = sim.engine.decided(&says(Some(&[2]), &[]), 0).unwrap();
    sim.record(recording);
    let told = ContentRef::of(b"in part");
    let changes = edit().changes[..1].to_vec();
    let begin = Begin { at: at(1, 1, 1), changes, again: false, told: Some(told), ran: None };
    sim.record(Recording::of(Body::Begin(begin)));
    let Settlement::Record(found) =
        sim.engine.op_in_run(at(1, 1, 1)).unwrap().settle_found(Found::Done, "")
    else {
        panic!("it is not settled");
    };
    let [Body::Outcome(outcome)] = &found.facts[..] else { panic!("{found:?}") };
    assert_eq!((outcome.result, outcome.settled), (told, Settled::FoundDone));
    sim.record(found);
    assert_eq!(sim.engine.model_view.seen["a"], Hash::of(b"2"));
    assert_eq!(sim.engine.model_view.seen["gone"], Hash::of(b"y"));
}
