//! Commands over an overlay that are cut off, outlived or overtaken: nothing of theirs lands unasked, and
//! nothing of anybody else's is lost.

use crate::bench_world::{Bench, Talk};
use crate::overlay::{CHANGE, decide, facts, project, statuses, told};
use serde_json::{Value, json};

/// Waits until the command has printed this.
fn printed(talk: &mut Talk, text: &str) {
    while !talk.until("op/output")["text"].as_str().unwrap().contains(text) {}
}

/// A command that tells when it has begun, and ends when a file says so that is written outside.
const WAITS: &str = "echo mine > a.txt; echo begun; until grep -q go flag; do sleep 0.01; done";

// keeps: overlay-conflicts
#[test]
fn what_somebody_else_changed_while_a_command_ran_is_a_conflict_and_stands() {
    let bench = project(&[WAITS]);
    bench.temp.write("flag", "wait\n");
    let mut talk = bench.talk(&["run", "--json", "--yolo", "work"]);
    printed(&mut talk, "begun");
    bench.temp.write("a.txt", "theirs\n");
    bench.temp.write("flag", "go\n");
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(bench.temp.read("a.txt"), "theirs\n");
    assert_eq!(statuses(&bench), [409]);
    let told = told(&bench, 2);
    assert!(told.contains("begun") && told.contains("a.txt"), "{told}");
}

// keeps: overlay-conflicts
#[test]
fn what_somebody_else_changed_while_the_question_was_open_is_a_conflict_and_stands() {
    let check = |path: &str, expected: (u64, &str)| {
        let bench = project(&[CHANGE]);
        let mut talk = bench.talk(&["run", "--json", "work"]);
        let question = talk.until("proposal/opened");
        bench.temp.write(path, "theirs\n");
        decide(&mut talk, &question, "allow");
        assert_eq!(talk.result()["status"], "done");
        assert_eq!(bench.temp.read(path), "theirs\n");
        assert_eq!((statuses(&bench)[0], bench.temp.read("a.txt").as_str()), expected, "{path}");
        assert_eq!(bench.file("d/b.txt").exists(), expected.0 == 200 || path == "d/b.txt");
    };
    check("a.txt", (409, "theirs\n"));
    check("d/b.txt", (409, "one\n"));
    check("else.txt", (200, "two\n"));
}

// keeps: overlay-conflicts
#[test]
fn a_command_of_which_everything_was_left_out_in_the_end_is_done_without_beginning() {
    let bench = project(&["echo ran >> target/prod.env; cat target/prod.env"]);
    bench.temp.write(".gitignore", "target/\n");
    bench.temp.write("target/prod.env", "old\n");
    let mut talk = bench.talk(&["run", "--json", "work"]);
    let question = talk.until("proposal/opened");
    bench.temp.write("target/prod.env", "theirs\n");
    decide(&mut talk, &question, "allow");
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(bench.temp.read("target/prod.env"), "theirs\n");
    let said = told(&bench, 2);
    assert!(said.contains("old\nran\nexit=0\nnot kept: target/prod.env"), "{said}");
    assert!(!said.contains("kept: new") && !said.contains("kept: changed"), "{said}");
    // What has no beginning cannot be run again after a crash.
    assert!(facts(&bench, "begin").is_empty());
    assert_eq!(facts(&bench, "outcome")[0]["exit"], 0);
    assert_eq!(bench.cairn(&["verify"]).code, 0);
}

// keeps: overlay-asked
#[test]
fn nothing_is_kept_of_a_command_whose_time_was_up() {
    let bench = Bench::confined(json!([
        {"calls": [{"tool": "bash", "args": {"command": "echo two > a.txt; echo begun; sleep 60", "timeout_ms": 400}}]},
        {"say": "done"},
    ]));
    bench.temp.write("a.txt", "one\n");
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!(bench.temp.read("a.txt"), "one\n", "{done:?}");
    let told = told(&bench, 2);
    assert!(
        told.contains("begun") && told.contains("nothing of what it changed is kept"),
        "{told}"
    );
    assert!(statuses(&bench)[0] >= 400);
    assert!(facts(&bench, "proposal").is_empty() && facts(&bench, "begin").is_empty());
}

// keeps: overlay-asked
#[test]
fn nothing_is_kept_of_a_command_that_was_aborted() {
    let bench = project(&["echo two > a.txt; echo begun; sleep 60"]);
    let mut talk = bench.talk(&["run", "--json", "--yolo", "work"]);
    printed(&mut talk, "begun");
    talk.say(json!({"type": "abort"}));
    assert_eq!(talk.result()["exit_code"], 3);
    assert_eq!(bench.temp.read("a.txt"), "one\n");
    assert!(facts(&bench, "begin").is_empty());
    assert_eq!(layers_left(&bench), 0);
}

/// How many layers of commands lie in the home.
fn layers_left(bench: &Bench) -> usize {
    std::fs::read_dir(bench.temp.home().join("overlays")).map_or(0, Iterator::count)
}

/// Kills the driver where it asks what this gives, and says what it asked.
fn killed_at_the_question(bench: &Bench) -> Value {
    let mut talk = bench.talk(&["run", "--json", "work"]);
    let question = talk.until("proposal/opened");
    talk.child.kill().unwrap();
    talk.child.wait().unwrap();
    question
}

// keeps: overlay-asked, questions-survive
#[test]
fn a_question_whose_driver_was_killed_is_put_again_and_lands_only_after_a_yes() {
    let bench = project(&[CHANGE]);
    let first = killed_at_the_question(&bench);
    assert_eq!(bench.temp.read("a.txt"), "one\n");
    let mut talk = bench.talk(&["run", "--json", "-c"]);
    let again = talk.until("proposal/opened");
    assert_eq!((&again["shown"], &again["shown_hash"]), (&first["shown"], &first["shown_hash"]));
    assert_eq!(bench.temp.read("a.txt"), "one\n");
    decide(&mut talk, &again, "allow");
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(bench.temp.read("a.txt"), "two\n");
    assert_eq!(bench.cairn(&["verify"]).code, 0);
    assert_eq!(layers_left(&bench), 0, "what the killed driver left is cleared up");
}

// keeps: overlay-asked, questions-survive
#[test]
fn a_question_that_would_show_something_else_by_now_is_put_afresh() {
    let bench = project(&["cat a.txt > b.txt"]);
    let first = killed_at_the_question(&bench);
    bench.temp.write("a.txt", "theirs\n");
    let run = first["run"].as_str().unwrap();
    let mut talk = bench.talk(&["run", "--json", "--resume", run]);
    let mut again = talk.until("proposal/opened");
    while again["shown_hash"] == first["shown_hash"] {
        again = talk.until("proposal/opened");
    }
    assert!(again["shown"].as_str().unwrap().contains("+theirs"), "{again}");
    // A word on what was shown before is no word on this.
    decide(&mut talk, &first, "allow");
    talk.until("notice");
    assert!(!bench.file("b.txt").exists());
    decide(&mut talk, &again, "allow");
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(bench.temp.read("b.txt"), "theirs\n");
}

// keeps: overlay-asked, questions-survive
#[test]
fn a_question_left_open_is_refused_where_nobody_is_and_lands_with_yolo() {
    for (args, code, text) in
        [(&["run", "-c"][..], 5, "one\n"), (&["run", "--yolo", "-c"][..], 0, "two\n")]
    {
        let bench = project(&[CHANGE]);
        killed_at_the_question(&bench);
        let done = bench.cairn(args);
        assert_eq!(
            (done.code, bench.temp.read("a.txt").as_str()),
            (code, text),
            "{args:?}: {}",
            done.err
        );
    }
}

// keeps: overlay-asked, overlay-conflicts
#[test]
fn of_two_open_questions_about_one_file_the_second_yes_is_a_conflict() {
    let bench = project(&["echo two > a.txt"]);
    let other = project(&["echo three > a.txt"]);
    let mut first = bench.talk(&["run", "--json", "work"]);
    let asked = first.until("proposal/opened");
    // Another run of the same home in the same project, with a model of its own.
    let mut command = bench.command(&["run", "--json", "work"]);
    let mut second = Talk::with(command.env("OPENAI_BASE_URL", other.model.url()));
    let asked_too = second.until("proposal/opened");
    assert!(asked_too["shown"].as_str().unwrap().contains("-one\n+three\n"), "{asked_too}");
    decide(&mut first, &asked, "allow");
    assert_eq!(first.result()["status"], "done");
    decide(&mut second, &asked_too, "allow");
    assert_eq!(second.result()["status"], "done");
    assert_eq!(bench.temp.read("a.txt"), "two\n", "what was accepted first stands");
    let told = told(&other, 2);
    assert!(told.contains("a.txt") && !told.contains("kept: "), "{told}");
}
