//! Commands over an overlay: a person is asked about what one changed, and only their word makes it count.
//! What is left of one that was cut off is looked at in `overlay_cut`.

use crate::bench_world::{Bench, Talk};
use crate::terminal::Terminal;
use serde_json::{Value, json};

pub fn bash(command: &str) -> Value {
    json!({"calls": [{"tool": "bash", "args": {"command": command}}]})
}

/// A command that prints and changes something that is asked about.
pub const CHANGE: &str = "echo seen; echo two > a.txt; mkdir -p d && echo new > d/b.txt";

/// A model that runs these commands, one a turn, in a project with `a.txt`.
pub fn project(commands: &[&str]) -> Bench {
    let mut replies: Vec<Value> = commands.iter().map(|command| bash(command)).collect();
    replies.push(json!({"say": "done"}));
    let bench = Bench::confined(json!(replies));
    bench.temp.write("a.txt", "one\n");
    bench
}

/// What the model was told of its last call before it was asked for the n-th time.
pub fn told(bench: &Bench, n: usize) -> String {
    let request = bench.requests()[n - 1].clone();
    let messages = request["messages"].as_array().unwrap();
    let last = messages.iter().rev().find(|message| message["role"] == "tool").unwrap();
    last["content"].as_str().unwrap().to_owned()
}

/// The bodies of a run's facts of this kind.
pub fn facts(bench: &Bench, kind: &str) -> Vec<Value> {
    let facts = bench.cairn(&["log", "--facts", "--json"]).out;
    let facts = facts.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    facts.filter(|fact| fact["kind"] == kind).map(|fact| fact["body"].clone()).collect()
}

pub fn statuses(bench: &Bench) -> Vec<u64> {
    facts(bench, "outcome").iter().map(|outcome| outcome["status"].as_u64().unwrap()).collect()
}

/// Says yes or no to what is asked.
pub fn decide(talk: &mut Talk, question: &Value, verdict: &str) {
    talk.say(json!({"type": "decide", "proposal": question["proposal"], "verdict": verdict,
        "shown_hash": question["shown_hash"]}));
}

/// What the session's first receipt says.
fn receipt(bench: &Bench) -> Value {
    let file = bench.temp.path().join("bundle");
    assert_eq!(bench.cairn(&["bundle", "-o", file.to_str().unwrap()]).code, 0);
    let bundle = std::fs::read_to_string(file).unwrap();
    let mut lines = bundle.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.find(|line| line["type"] == "receipt").unwrap()["payload"].clone()
}

fn is_unchanged(bench: &Bench) {
    assert_eq!(bench.temp.read("a.txt"), "one\n");
    assert!(!bench.file("d").exists());
}

fn is_changed(bench: &Bench) {
    assert_eq!(bench.temp.read("a.txt"), "two\n");
    assert_eq!(bench.temp.read("d/b.txt"), "new\n");
}

// keeps: overlay-asked
#[test]
fn what_a_command_changed_is_shown_and_lands_after_a_yes() {
    let bench = project(&[CHANGE]);
    let mut talk = bench.talk(&["run", "--json", "work"]);
    let question = talk.until("proposal/opened");
    let shown = question["shown"].as_str().unwrap();
    for part in ["echo two > a.txt", "-one\n+two\n", "d/b.txt", "+new\n"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    is_unchanged(&bench);
    decide(&mut talk, &question, "allow");
    assert_eq!(talk.result()["status"], "done");
    is_changed(&bench);
    let told = told(&bench, 2);
    assert!(told.contains("seen\n") && told.contains("kept: changed a.txt, new d/b.txt"), "{told}");
}

// keeps: overlay-asked, clean-screen
#[test]
fn a_script_with_a_nul_is_shown_to_a_person_as_text() {
    let script = "printf '#!/bin/sh\\0\\nrm x\\n' > run.sh";
    let bench = project(&[script, "printf '\\0\\1\\2' > data"]);
    let mut terminal = Terminal::open(&bench, bench.command(&["run", "work"]));
    let shown = terminal.until("r refuse with words: ");
    assert!(shown.contains("+rm x") && shown.contains("+#!/bin/sh\u{fffd}"), "{shown}");
    terminal.keys("y\n");
    let shown = terminal.until("r refuse with words: ");
    assert!(shown.contains("data, binary, 3 bytes"), "{shown}");
    terminal.keys("n\n");
    terminal.until("done: 3 turns");
    let diff = bench.cairn(&["diff"]);
    assert!(diff.out.contains("+rm x"), "{diff:?}");
}

// keeps: overlay-asked
#[test]
fn a_person_at_a_terminal_is_shown_the_diff_of_what_a_command_changed() {
    let bench = project(&["cat a.txt", CHANGE, CHANGE]);
    let mut terminal = Terminal::open(&bench, bench.command(&["run", "work"]));
    let shown = terminal.until("r refuse with words: ");
    for part in ["echo two > a.txt", "-one", "+two", "+new"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    terminal.keys("n\n");
    terminal.until("r refuse with words: ");
    is_unchanged(&bench);
    terminal.keys("y\n");
    terminal.until("done: 4 turns");
    is_changed(&bench);
    assert_eq!(statuses(&bench), [200, 403, 200]);
}

// keeps: overlay-asked
#[test]
fn after_a_no_nothing_is_kept_and_the_model_is_told_what_was_printed() {
    let bench = project(&[CHANGE]);
    let mut talk = bench.talk(&["run", "--json", "work"]);
    let question = talk.until("proposal/opened");
    decide(&mut talk, &question, "refuse");
    assert_eq!(talk.result()["status"], "done");
    is_unchanged(&bench);
    assert_eq!(statuses(&bench), [403]);
    let told = told(&bench, 2);
    assert!(
        told.contains("seen\n") && told.contains("nothing of what it changed is kept"),
        "{told}"
    );
}

// keeps: overlay-asked, nobody-refuses
#[test]
fn with_nobody_to_ask_commands_run_and_only_their_changes_are_refused() {
    let bench = project(&["cat a.txt", CHANGE, "cat a.txt; ls d"]);
    let done = bench.cairn(&["run", "work"]);
    assert_eq!(done.code, 5, "{}", done.err);
    is_unchanged(&bench);
    assert_eq!(statuses(&bench), [200, 403, 200]);
    assert!(told(&bench, 2).contains("one\n"), "{}", told(&bench, 2));
    let refused = told(&bench, 3);
    assert!(
        refused.contains("seen\n") && refused.contains("nothing of what it changed is kept"),
        "{refused}"
    );
    assert!(told(&bench, 4).contains("one\n"), "the next command sees what stands");
}

// keeps: overlay-asked
#[test]
fn what_is_accepted_beforehand_lands_with_its_layers_named_and_is_undone() {
    let bench = project(&[CHANGE]);
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!(done.code, 0, "{}", done.err);
    is_changed(&bench);
    let layers = &facts(&bench, "outcome")[0]["layers"];
    assert!(layers.as_array().unwrap().len() > 1, "{layers}");
    assert!(layers.as_array().unwrap().contains(&json!("overlay")), "{layers}");
    assert!(bench.cairn(&["show", "1/1/1"]).out.contains(", overlay"), "the row names them");
    let receipt = receipt(&bench);
    assert_eq!(&receipt["layers"], layers);
    let paths = receipt["file_refs"].as_array().unwrap().iter().map(|one| &one["path"]);
    assert_eq!(paths.collect::<Vec<_>>(), ["a.txt", "d", "d/b.txt"]);
    assert_eq!(bench.cairn(&["verify"]).code, 0);
    let undone = bench.cairn(&["undo"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    is_unchanged(&bench);
    assert_eq!(bench.cairn(&["redo"]).code, 0);
    is_changed(&bench);
}

// keeps: overlay-asked
#[test]
fn what_git_ignores_lands_unasked_and_what_nobody_could_build_again_does_not() {
    let build = "mkdir -p target && echo object > target/o && echo built";
    let bench = project(&[build, "echo key > .env", "rm -rf target"]);
    bench.temp.write(".gitignore", "target\n.env\n");
    bench.temp.write(".git/HEAD", "ref: refs/heads/main\n");
    std::fs::create_dir_all(bench.file(".git/objects")).unwrap();
    std::fs::create_dir_all(bench.file(".git/refs")).unwrap();
    let done = bench.cairn(&["run", "work"]);
    assert_eq!(statuses(&bench), [200, 403, 200], "{done:?}");
    assert!(!bench.file(".env").exists() && !bench.file("target").exists());
    assert!(told(&bench, 2).contains("kept: what git ignores"), "{}", told(&bench, 2));
    assert_eq!(bench.cairn(&["undo"]).code, 0);
    assert_eq!(bench.temp.read("target/o"), "object\n");
}

// keeps: overlay-asked, policy-modes
#[test]
fn a_mode_means_for_a_commands_changes_what_it_means_for_edits() {
    let check = |mode: &str, expected: [u64; 3], lands: bool| {
        let bench = project(&["echo x > src.txt", "echo x > .envrc", "cat a.txt"]);
        let done = bench.cairn(&["run", "--mode", mode, "work"]);
        assert_eq!(statuses(&bench), expected, "{mode}: {}", done.err);
        assert_eq!(bench.file("src.txt").exists(), lands, "{mode}");
        assert!(!bench.file(".envrc").exists(), "{mode}");
    };
    check("accept-edits", [200, 403, 200], true);
    check("act", [403, 403, 200], false);
    check("read-only", [403, 403, 403], false);
}

// keeps: overlay-asked, policy-rules
#[test]
fn rules_about_files_hold_for_what_commands_change_and_rules_about_commands_before_they_run() {
    let check = |flags: &[&str], command: &str, expected: (u64, bool, bool)| {
        let bench = project(&[command]);
        bench.temp.write("change", "echo two > a.txt; echo it ran\n");
        let done = bench.cairn(&[&["run"], flags, &["work"]].concat());
        let lands = bench.temp.read("a.txt") == "two\n";
        // What it prints is told if it ran.
        let ran = told(&bench, 2).contains("it ran");
        assert_eq!((statuses(&bench)[0], lands, ran), expected, "{flags:?}: {}", done.err);
    };
    // No word of it says what it will change.
    let command = "sh change";
    check(&["--yolo"], command, (200, true, true));
    check(&["--yolo", "--deny", "edit a.txt"], command, (403, false, true));
    check(&["--yolo", "--deny", "edit b.txt"], command, (200, true, true));
    check(&["--deny", "edit *.txt", "--mode", "accept-edits"], command, (403, false, true));
    check(&["--allow", "edit a.txt"], command, (200, true, true));
    check(&["--allow", "edit b.txt"], command, (403, false, true));
    check(&["--ask", "edit a.txt", "--mode", "accept-edits"], command, (403, false, true));
    let plain = "cat a.txt && echo it ran";
    check(&["--ask", "exec cat *"], plain, (403, false, false));
    check(&["--deny", "exec cat *", "--yolo"], plain, (403, false, false));
    check(&[], plain, (200, false, true));
}

// keeps: overlay-asked, policy-rules
#[test]
fn rules_about_files_hold_for_what_git_ignores() {
    let check = |flags: &[&str], expected: u64| {
        let bench = project(&["sh clean"]);
        bench.temp.write(".gitignore", "target\n");
        bench.temp.write("clean", "rm -rf target\n");
        bench.temp.write("target/in/o", "object\n");
        bench.cairn(&[&["run"], flags, &["work"]].concat());
        assert_eq!(statuses(&bench), [expected], "{flags:?}");
        assert_eq!(bench.file("target/in/o").exists(), expected != 200, "{flags:?}");
    };
    check(&[], 200);
    for rule in ["edit target/**", "edit target", "kill target", "write"] {
        check(&["--yolo", "--deny", rule], 403);
        check(&["--ask", rule], 403);
    }
    check(&["--deny", "edit src/**"], 200);
}

// keeps: overlay-asked
#[test]
fn a_command_that_a_rule_asks_about_is_asked_about_before_it_runs() {
    let bench = project(&["touch a.txt b.txt; echo it ran"]);
    let mut talk = bench.talk(&["run", "--json", "--ask", "exec touch *", "work"]);
    let question = talk.until("proposal/opened");
    let ran = talk.seen.iter().any(|event| event["type"] == "op/output");
    assert!(!ran && question["shown"].as_str().unwrap().contains("touch a.txt"), "{question}");
    decide(&mut talk, &question, "allow");
    assert_eq!(talk.result()["status"], "done");
    assert!(bench.file("b.txt").exists());
    assert_eq!(facts(&bench, "proposal").len(), 1, "the yes to the command is enough");
}
