//! What somebody does outside once a command's changes were read, while a person is still asked about
//! them: it is never put away.

use crate::overlay::{Form, Place, When, picture};
use cairn_types::Action;
use cairn_world::overlay::{Found, Scratch};
use cairn_world::{Acting, Performed, Prepared, Probe, Settings, World, inverse};
use expect_test::{Expect, expect};
use tokio_util::sync::CancellationToken;

/// A large file, ignored files and directories, and an ordinary directory with an ignored file in it.
const FILL: &str = "mkdir .git; touch .git/HEAD; printf 'out/\\n*.log\\n' > .gitignore; head -c 9000000 /dev/zero > big; \
                    mkdir -p out/deep d; echo 1 > out/1; echo 2 > out/deep/2; echo s > s; echo l > d/l.log";

/// When somebody acts outside.
#[derive(Debug, Clone, Copy)]
enum Late {
    BeforeStaging,
    AfterStaging,
}

fn world(place: &Place) -> World {
    World::new(place.workspace(), Settings::new("/bin/sh".into(), Vec::new()))
}

/// Makes what was found count, as nobody did before.
fn act(place: &Place, found: Found) -> Performed {
    let prepared = Prepared::from(found);
    let cancel = &CancellationToken::new();
    let acting = Acting { row: "log:///1/2/3", cancel, on_output: &mut |_| {} };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let action = Action::Kill { path: "any".into() };
    runtime.block_on(world(place).act(&action, &prepared, acting))
}

fn told(place: &Place, (scratch, mut found): (&Scratch, Found), outside: (&str, Late)) -> String {
    if matches!(outside.1, Late::BeforeStaging) {
        place.outside(outside.0);
    }
    let left_out = match place.stage(scratch, &mut found) {
        Ok(left_out) => left_out.join(", "),
        Err(refusal) => return format!("{refusal}"),
    };
    if matches!(outside.1, Late::AfterStaging) {
        place.outside(outside.0);
    }
    let done = act(place, found);
    let made: Vec<&str> = done.changes.iter().map(|change| change.path.as_str()).collect();
    let left_out = if left_out.is_empty() { left_out } else { format!("; left out {left_out}") };
    format!("{} {}{}{left_out}", done.status, done.text, made.join(" "))
}

/// What becomes of a command's changes when somebody does something outside before they are staged, and
/// after that. What was done outside stands in any case.
#[track_caller]
fn check(command: &str, outside: &str, expected: Expect) {
    let mut all = Vec::new();
    for late in [Late::BeforeStaging, Late::AfterStaging] {
        let mut place = Place::new(Form::Namespace, FILL);
        let scratch = place.run(command, "", When::After);
        let found = place.read(&scratch).unwrap();
        let before = picture(&place.lower());
        let got = told(&place, (&scratch, found), (outside, late));
        let now = picture(&place.lower());
        let mut theirs = Place::new(Form::Namespace, FILL);
        theirs.outside(outside);
        theirs.rest();
        for (path, what) in picture(&theirs.lower()) {
            if before.get(&path) != Some(&what) {
                assert!(now.get(&path) == Some(&what), "{late:?}: {path} was lost: {got}");
            }
        }
        all.push(got);
    }
    all.dedup();
    expected.assert_eq(&all.join("\n"));
}

// keeps: overlay-conflicts
#[test]
fn what_others_edit_while_a_person_is_asked_is_not_put_away() {
    let both = "echo c >> big; echo c >> out/1; echo c >> s";
    check(both, "true", expect!["200 big out/1 s"]);
    check(
        both,
        "echo o >> big",
        expect![[r#"
        big was changed outside since the command ran; nothing of what it changed is kept
        409 big changed since it was looked at; nothing was written"#]],
    );
    check(
        both,
        "echo o >> out/1",
        expect![[r#"
        200 big s; left out out/1 (changed outside meanwhile)
        409 out/1 changed since it was looked at; nothing was written"#]],
    );
    check(
        "echo c >> out/1",
        "echo o >> out/1",
        expect![[r#"
        200 ; left out out/1 (changed outside meanwhile)
        409 out/1 changed since it was looked at; nothing was written"#]],
    );
    check(
        "echo c >> big",
        "printf x | dd of=big conv=notrunc 2>/dev/null",
        expect![[r#"
        big was changed outside since the command ran; nothing of what it changed is kept
        409 big changed since it was looked at; nothing was written"#]],
    );
    check(
        "rm -r out; echo c >> s",
        "echo o > out/new",
        expect![[r#"
        200 s; left out out (changed outside meanwhile)
        409 out changed since it was looked at; nothing was written"#]],
    );
    check(
        "rm -r out; mkdir out; echo n > out/n",
        "rm -r out; mkdir out; echo o > out/o",
        expect![[r#"
            200 ; left out out (changed outside meanwhile)
            409 out changed since it was looked at; nothing was written"#]],
    );
    check(
        "rm -r d",
        "echo o >> d/l.log",
        expect![[r#"
        d/l.log was changed outside since the command ran; nothing of what it changed is kept
        409 d/l.log changed since it was looked at; nothing was written"#]],
    );
    check(
        "echo n > n.log",
        "echo o > n.log",
        expect![[r#"
        200 ; left out n.log (changed outside meanwhile)
        409 n.log changed since it was looked at; nothing was written"#]],
    );
}

#[test]
fn what_was_edited_deep_in_a_directory_that_goes_whole_is_seen_before_it_goes() {
    let mut place = Place::new(Form::Namespace, FILL);
    let scratch = place.run("rm -r out; echo c >> s", "", When::After);
    let found = place.read(&scratch).unwrap();
    let got = told(&place, (&scratch, found), ("echo o >> out/deep/2", Late::BeforeStaging));
    expect!["200 s; left out out (changed outside meanwhile)"].assert_eq(&got);
    assert_eq!(picture(&place.lower())["out/deep/2"], "file 644 \"2\\no\\n\"");
}

#[test]
fn an_edit_whose_time_was_set_back_is_seen_all_the_same() {
    let mut place = Place::new(Form::Namespace, FILL);
    let scratch = place.run("echo c >> big", "", When::After);
    let found = place.read(&scratch).unwrap();
    let outside =
        "touch -r big t; printf x | dd of=big conv=notrunc 2>/dev/null; touch -r t big; rm t";
    let got = told(&place, (&scratch, found), (outside, Late::BeforeStaging));
    expect!["big was changed outside since the command ran; nothing of what it changed is kept"]
        .assert_eq(&got);
}

#[test]
fn after_a_crash_an_edited_thing_is_not_taken_for_what_was_there_and_an_undo_is() {
    let mut place = Place::new(Form::Namespace, FILL);
    let scratch = place.run("echo c >> big; rm -r out", "", When::After);
    let mut found = place.read(&scratch).unwrap();
    place.stage(&scratch, &mut found).unwrap();
    let world = world(&place);
    assert_eq!(world.probe(&found.changes), Probe::NotDone);
    let before = picture(&place.lower());
    let made = place.commit(&found).unwrap();
    assert_eq!(world.probe(&made), Probe::Done);
    let back: Vec<_> = made.iter().map(inverse).collect();
    world.apply(&back, &|_| None).unwrap();
    let shown = |picture: std::collections::BTreeMap<String, String>| {
        picture.into_iter().filter(|(path, _)| !path.starts_with(".cairn")).collect::<Vec<_>>()
    };
    assert!(shown(picture(&place.lower())) == shown(before));
    assert_eq!(world.probe(&found.changes), Probe::NotDone);
    place.outside("echo o >> big");
    assert_eq!(world.probe(&found.changes), Probe::Neither);
}
