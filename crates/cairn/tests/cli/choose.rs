//! An edit is taken hunk by hunk, or with another text, in one decision: at a terminal, from another one, by
//! a program; and the same comes out after a crash.

use crate::bench_world::{Bench, Done, done, size};
use crate::survive::{changing_calls, strace};
use crate::terminal::Terminal;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

fn numbers() -> String {
    (1..=30).map(|n| format!("{n}\n")).collect()
}

fn with(text: &str, edits: &[(&str, &str)]) -> String {
    edits.iter().fold(text.to_owned(), |text, (from, to)| {
        text.replace(&format!("\n{from}\n"), &format!("\n{to}\n"))
    })
}

const ALL: [(&str, &str); 3] = [("2", "two"), ("15", "fifteen"), ("28", "twenty-eight")];

/// A model that reads a file and changes it in three places; afterwards it changes it once more, which
/// it may only if it knows what stands there.
fn three_hunks() -> Bench {
    let bench = Bench::new(json!([
        {"calls": [{"tool": "read", "args": {"path": "src/a.txt"}}]},
        {"calls": [{"tool": "write", "args": {"path": "src/a.txt", "content": with(&numbers(), &ALL)}}]},
        {"calls": [{"tool": "edit", "args": {"path": "src/a.txt", "old": "30\n", "new": "thirty\n"}}]},
        {"say": "done"},
    ]));
    bench.temp.write("src/a.txt", numbers());
    bench
}

/// What the model was last told of a call.
fn last_told(bench: &Bench, request: usize) -> String {
    let request = bench.requests()[request].clone();
    let told = request["messages"].as_array().unwrap().iter().rev().find(|m| m["role"] == "tool");
    told.unwrap()["content"].as_str().unwrap().to_owned()
}

fn facts(bench: &Bench, kind: &str) -> Vec<Value> {
    let facts = bench.cairn(&["log", "--facts", "--json"]).out;
    let facts = facts.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    facts.filter(|fact| fact["kind"] == kind).map(|fact| fact["body"].clone()).collect()
}

// keeps: choose-hunks
#[test]
fn a_person_takes_one_hunk_of_three_at_the_terminal() {
    let bench = three_hunks();
    let mut terminal = Terminal::open(&bench, bench.command(&["run", "work"]));
    let shown = terminal.until("r refuse with words: ");
    assert!(shown.contains("? 1/2/1 edit src/a.txt (+3 -3)"), "{shown}");
    assert!(shown.contains("@@ -1,5 +1,5 @@ item 1") && shown.contains("c choose, e edit"));
    terminal.keys("c\n");
    let first = terminal.until("q back: ");
    assert!(first.contains("item 1 of 3: src/a.txt lines 2-2, +1 −1"), "{first}");
    assert!(first.contains("+two") && !first.contains("+fifteen"), "{first}");
    terminal.keys("y\n");
    terminal.until("q back: ");
    terminal.keys("q\n");
    terminal.until("r refuse with words: ");
    terminal.keys("c\n");
    assert!(terminal.until("q back: ").contains("item 1 of 3"));
    terminal.keys("n\n");
    assert!(terminal.until("q back: ").contains("item 2 of 3"));
    terminal.keys("y\n");
    assert!(terminal.until("q back: ").contains("item 3 of 3"));
    terminal.keys("d\n");
    let after = terminal.until("r refuse with words: ");
    assert!(after.contains("person:tester took item 2 of 3"), "{after}");
    assert!(after.contains("+fifteen") && !after.contains("+two"), "{after}");
    let expected = with(&numbers(), &[("15", "fifteen")]);
    assert_eq!(bench.temp.read("src/a.txt"), expected);
    terminal.keys("y\n");
    terminal.until("done: 4 turns");
    assert_eq!(terminal.code(), Some(0));
    assert_eq!(bench.temp.read("src/a.txt"), expected.replace("30\n", "thirty\n"));
    let told = last_told(&bench, 2);
    assert!(
        told.starts_with("updated src/a.txt in part: the person left out 2 of 3 hunks."),
        "{told}"
    );
    assert!(told.contains("-two\n+2\n") && !told.contains("fifteen\n+"), "{told}");

    // Whatever looks at the row shows what was written.
    let log = bench.cairn(&["log"]).out;
    assert!(log.contains("1/2/1  person:tester took item 2 of 3"), "{log}");
    let row = bench.cairn(&["show", "1/2/1"]).out;
    assert!(row.contains("item 3: src/a.txt lines 28-28, +1 −1"), "{row}");
    assert!(row.contains("took item 2 of 3") && row.contains("+fifteen"), "{row}");
    let diff = bench.cairn(&["diff", "1/2/1"]).out;
    assert!(diff.contains("+fifteen") && !diff.contains("+two"), "{diff}");
    assert_eq!(bench.cairn(&["verify"]).code, 0);
    for before in [expected, numbers()] {
        assert_eq!(bench.cairn(&["undo"]).code, 0);
        assert_eq!(bench.temp.read("src/a.txt"), before);
    }
}

/// A run that waits for a word on the question of `three_hunks`.
fn waiting(bench: &Bench) -> std::process::Child {
    let run = bench.command(&["run", "--await", "work"]).stderr(Stdio::null()).spawn().unwrap();
    question(bench, "p1.2.1");
    run
}

// keeps: choose-hunks
#[test]
fn another_terminal_takes_items_by_number_and_what_does_not_fit_records_nothing() {
    let bench = three_hunks();
    let mine = bench.temp.path().join("mine");
    std::fs::write(&mine, "mine\n").unwrap();
    let mine = mine.to_str().unwrap();
    let run = waiting(&bench);
    let open = bench.cairn(&["decide", "p1.2.1"]).out;
    assert!(open.contains("item 2  src/a.txt lines 15-15, +1 −1"), "{open}");
    assert!(open.contains("@@ -12,7 +12,7 @@ item 2"), "{open}");
    let json = bench.cairn(&["decide", "p1.2.1", "--json"]).out;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["by_item"], &json["label"]),
        (&json!(true), &json!("edit src/a.txt (+3 -3)"))
    );
    assert_eq!(json["items"][1]["label"], "src/a.txt lines 15-15, +1 −1");
    assert_eq!(json["items"][1]["change"]["path"], "src/a.txt");
    let check = |args: &[&str], code: i32, why: &str| {
        let said = bench.cairn(&[&["decide", "p1.2.1"], args].concat());
        assert_eq!(said.code, code, "{args:?}: {said:?}");
        assert!(said.err.contains(why), "{args:?}: {}", said.err);
    };
    let text = |path: &str| format!("{path}={mine}");
    check(&["allow", "--items", "1,4"], 1, "400: p1.2.1 has no item 4; it has 3");
    check(&["refuse", "--items", "1"], 1, "400: items and texts go with allow, not with refuse");
    check(&["allow", "--text", &text("b.txt")], 1, "400: p1.2.1 writes no file b.txt");
    check(
        &["allow", "--items", "2", "--text", &text("src/a.txt")],
        1,
        "400: there is a text for src/a.txt, and its item 1 is left out",
    );
    check(&["allow", "--text", "src/a.txt"], 2, "write PATH=FILE");
    check(&["allow", "--text", "src/a.txt=nothing"], 2, "nothing cannot be read");
    check(
        &["allow", "--text", "a=-", "--text", "b=-"],
        2,
        "only one --text can be read from stdin",
    );
    check(&["allow", "--items", "two"], 2, "invalid value 'two'");
    assert!(facts(&bench, "decision").is_empty());
    check(&["allow", "--items", "3,1"], 0, "");
    check(&["allow", "--items", "2"], 1, "409: p1.2.1 was decided already: allow by person:tester");
    question(&bench, "p1.3.1");
    check_last(&bench, run);
    assert_eq!(
        bench.temp.read("src/a.txt"),
        with(&numbers(), &[("2", "two"), ("28", "twenty-eight")]).replace("30\n", "thirty\n")
    );
    let items = &facts(&bench, "decision")[0]["items"];
    assert_eq!(items[1], json!({"item": 2, "accepted": false}));
}

fn question(bench: &Bench, id: &str) {
    for _ in 0..6000 {
        if bench.cairn(&["decide", "--json"]).out.contains(id) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{id} is never asked");
}

/// Allows the last edit; the run ends well.
fn check_last(bench: &Bench, run: std::process::Child) {
    assert_eq!(bench.cairn(&["decide", "p1.3.1", "allow"]).code, 0);
    let ended: Done = done(run.wait_with_output().unwrap());
    assert_eq!(ended.code, 0, "{ended:?}");
}

// keeps: choose-hunks
#[test]
fn of_two_who_take_different_items_at_once_exactly_one_is_heard() {
    for _ in 0..size("CAIRN_CHOICES", 3) {
        let bench = three_hunks();
        let run = waiting(&bench);
        let start = |items| {
            bench.command(&["decide", "p1.2.1", "allow", "--items", items]).spawn().unwrap()
        };
        let both = ["1", "3"].map(start).map(|child| done(child.wait_with_output().unwrap()));
        let firsts: Vec<usize> = (0..2).filter(|n| both[*n].code == 0).collect();
        assert_eq!(firsts.len(), 1, "{both:?}");
        assert!(both[1 - firsts[0]].err.contains("409: p1.2.1 was decided already"), "{both:?}");
        question(&bench, "p1.3.1");
        let edit = if firsts[0] == 0 { ("2", "two") } else { ("28", "twenty-eight") };
        assert_eq!(bench.temp.read("src/a.txt"), with(&numbers(), &[edit]));
        check_last(&bench, run);
    }
}

/// An editor that does this with the file it is given, after it has looked at what it was given.
fn editor(bench: &Bench, does: &str) -> String {
    let script = bench.temp.path().join("editor.sh");
    let seen = bench.temp.path().join("seen");
    let look =
        format!("stat -c '%a' \"$1\" \"${{1%/*}}\" > {0}; echo \"$1\" >> {0}", seen.display());
    // Read and not executed: what was just written may still be open in somebody's child, and is busy then.
    std::fs::write(&script, format!("{look}\n{does}\n")).unwrap();
    format!("sh {}", script.display())
}

// keeps: choose-hunks
#[test]
fn a_text_is_changed_in_the_persons_editor_and_an_editor_that_fails_changes_nothing() {
    let bench = three_hunks();
    let editor_is = editor(&bench, "exit 3");
    let mut run = bench.command(&["run", "work"]);
    run.env("VISUAL", &editor_is).env("TMPDIR", bench.temp.path());
    let mut terminal = Terminal::open(&bench, run);
    terminal.until("r refuse with words: ");
    terminal.keys("e\n");
    let said = terminal.until("r refuse with words: ");
    assert!(said.contains("failed: exit status: 3; nothing is decided"), "{said}");
    editor(&bench, "true");
    terminal.keys("e\n");
    let said = terminal.until("r refuse with words: ");
    assert!(said.contains("no text was changed; nothing is decided"), "{said}");
    assert!(facts(&bench, "decision").is_empty());
    assert_eq!(bench.temp.read("src/a.txt"), numbers());
    editor(&bench, "sed -i s/^two$/zwei/ \"$1\"");
    terminal.keys("e\n");
    let after = terminal.until("r refuse with words: ");
    assert!(after.contains("changed the text of src/a.txt") && after.contains("+zwei"), "{after}");
    let seen = std::fs::read_to_string(bench.temp.path().join("seen")).unwrap();
    let seen: Vec<&str> = seen.lines().collect();
    assert_eq!(seen[..2], ["600", "700"]);
    assert!(seen[2].ends_with("-a.txt") && !std::path::Path::new(seen[2]).exists());
    assert!(!std::path::Path::new(seen[2]).parent().unwrap().exists());
    let expected = with(&numbers(), &ALL).replace("two", "zwei");
    assert_eq!(bench.temp.read("src/a.txt"), expected);
    terminal.keys("y\n");
    terminal.until("done: 4 turns");
    assert_eq!(terminal.code(), Some(0));
    let told = last_told(&bench, 2);
    assert!(told.starts_with("updated src/a.txt with a text that the person changed."), "{told}");
    assert!(told.contains("-two\n+zwei\n"), "{told}");
    assert!(bench.cairn(&["log"]).out.contains("person:tester changed the text of src/a.txt"));
    let row = bench.cairn(&["show", "1/2/1", "--json"]).out;
    let row: Value = serde_json::from_str(&row).unwrap();
    assert_eq!(row["decisions"][0]["texts"][0], json!({"path": "src/a.txt", "text": expected}));
    assert_eq!(bench.cairn(&["verify"]).code, 0);
}

// keeps: choose-hunks
#[test]
fn several_texts_are_edited_one_after_the_other_and_an_interrupt_is_the_editors() {
    let bench = patched();
    let opened = bench.temp.path().join("opened");
    let note = format!("echo \"${{1##*/}}\" >> {}", opened.display());
    let mut run = bench.command(&["run", "work"]);
    // A shell that is just starting another program may miss an interrupt; one that becomes it does not.
    run.env("EDITOR", editor(&bench, &format!("{note}\nexec sleep 60")));
    let mut terminal = Terminal::open(&bench, run);
    terminal.until("r refuse with words: ");
    terminal.keys("e\n");
    while !opened.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    terminal.keys("\x03");
    assert!(terminal.until("r refuse with words: ").contains("nothing is decided"));
    std::fs::remove_file(&opened).unwrap();
    let key = format!("sk-{}", "a1B2c3D4".repeat(5));
    editor(&bench, &format!("{note}\ncase \"$1\" in *b.txt) echo {key} > \"$1\";; esac"));
    terminal.keys("e\n");
    terminal.until("done: 3 turns");
    assert_eq!(terminal.code(), Some(0));
    let opened = std::fs::read_to_string(opened).unwrap();
    assert_eq!(opened, "proposed-a.txt\nproposed-b.txt\nproposed-d.txt\n");
    // A text is a file's content and stays exact; what is told of it has no key in it.
    assert_eq!(bench.temp.read("b.txt"), format!("{key}\n"));
    assert_eq!(bench.temp.read("a.txt"), with(&numbers(), &ALL));
    let told = last_told(&bench, 2);
    assert!(told.contains("updated b.txt with a text that the person changed"), "{told}");
    assert!(!told.contains(&key), "{told}");
    let texts = &facts(&bench, "decision")[0]["texts"];
    assert_eq!((&texts[0]["path"], texts.as_array().unwrap().len()), (&json!("b.txt"), 1));
}

// keeps: choose-hunks
#[test]
fn a_text_in_an_editor_is_gone_after_its_run_was_ended_and_not_before() {
    let bench = three_hunks();
    let opened = bench.temp.path().join("opened");
    let note = format!("echo \"$1\" > {0}.part; mv {0}.part {0}", opened.display());
    let mut run = bench.command(&["run", "work"]);
    run.env("EDITOR", editor(&bench, &format!("{note}\nexec sleep 60")));
    let mut terminal = Terminal::open(&bench, run);
    terminal.until("r refuse with words: ");
    terminal.keys("e\n");
    while !opened.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let text = std::fs::read_to_string(&opened).unwrap();
    let text = std::path::Path::new(text.trim());
    let elsewhere = || bench.cairn(&["run", "--new-session", "--read-only", "something else"]);
    elsewhere();
    assert!(text.exists(), "an editor has it");
    terminal.end();
    elsewhere();
    assert!(!text.exists() && !text.parent().unwrap().exists());
}

/// A model that changes one file in three places, another in one, makes a third and removes a fourth, all
/// by one patch.
fn patched() -> Bench {
    let hunk = |n: u32, to: &str| format!("@@\n {}\n-{n}\n+{to}\n {}\n", n - 1, n + 1);
    let patch = format!(
        "*** Begin Patch\n*** Update File: a.txt\n{}{}{}*** Update File: b.txt\n@@\n-old\n+new\n*** Add File: c/d.txt\n+d\n*** Delete File: e.txt\n*** End Patch",
        hunk(2, "two"),
        hunk(15, "fifteen"),
        hunk(28, "twenty-eight"),
    );
    let read = |path: &str| json!({"tool": "read", "args": {"path": path}});
    let bench = Bench::new(json!([
        {"calls": [read("a.txt"), read("b.txt"), read("e.txt")]},
        {"calls": [{"tool": "edit", "args": {"patch": patch}}]},
        {"say": "done"},
    ]));
    bench.temp.write("a.txt", numbers());
    bench.temp.write("b.txt", "old\n");
    bench.temp.write("e.txt", "e\n");
    bench
}

/// What a program takes of that: the middle hunk of `a.txt`, a text of its own for `b.txt`, and that
/// `e.txt` goes; `c/d.txt` is left out.
fn taken() -> Value {
    json!({"type": "decide", "proposal": "p1.2.1", "verdict": "allow", "items": [2, 4, 6],
        "texts": [{"path": "b.txt", "text": "newer"}]})
}

/// One process, replaced after one step; it is answered when it asks. Whether the run goes on.
fn step(bench: &Bench, args: &[&str]) -> Vec<Value> {
    let mut command = bench.command(&[&["run", "--json", "--steps", "1"], args].concat());
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut events = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if event["type"] == "proposal/opened" {
            // The process that puts the question first may be gone already.
            let _ = writeln!(stdin, "{}", taken()).and_then(|()| stdin.flush());
        }
        events.push(event);
    }
    child.wait().unwrap();
    events
}

/// A run whose question was decided by a process that is gone.
fn decided() -> Bench {
    let bench = patched();
    let mut events = step(&bench, &["work"]);
    while !events.iter().any(|event| event["type"] == "proposal/decided") {
        assert_eq!(events.last().unwrap()["status"], "paused", "{events:#?}");
        events = step(&bench, &["-c"]);
    }
    assert_eq!(bench.temp.read("a.txt"), numbers());
    bench
}

fn is_as_chosen(bench: &Bench, told: &str) {
    assert_eq!(bench.temp.read("a.txt"), with(&numbers(), &[("15", "fifteen")]));
    assert_eq!(bench.temp.read("b.txt"), "newer");
    assert!(!bench.file("c").exists() && !bench.file("e.txt").exists());
    assert_eq!(last_told(bench, bench.requests().len() - 1), told);
    let outcomes = facts(bench, "outcome");
    let last = outcomes.last().unwrap();
    assert_eq!((&last["status"], outcomes.len()), (&json!(200), 4), "{last}");
    let paths: Vec<_> =
        last["changes"].as_array().unwrap().iter().map(|change| change["path"].clone()).collect();
    assert_eq!(paths, ["a.txt", "b.txt", "e.txt"]);
    assert_eq!(facts(bench, "decision").len(), 1);
    assert_eq!(bench.cairn(&["verify"]).code, 0);
}

const GO_ON: [&str; 3] = ["run", "--json", "-c"];

// keeps: choose-hunks
#[test]
fn killed_after_the_decision_at_any_moment_the_same_comes_out() {
    let bench = decided();
    assert_eq!(bench.cairn(&GO_ON).code, 0);
    let told = last_told(&bench, bench.requests().len() - 1);
    let lines: Vec<&str> = told.lines().filter(|line| line.contains("the person")).collect();
    assert_eq!(
        lines,
        [
            "updated a.txt in part: the person left out 2 of 3 hunks. From what was proposed to what stands there now:",
            "updated b.txt with a text that the person changed. From what was proposed to what stands there now:",
            "c/d.txt was not created: the person left this out",
        ]
    );
    assert!(told.contains("-new\n+newer\n\\ No newline at end of file\n"), "{told}");
    assert!(told.ends_with("removed e.txt"), "{told}");
    is_as_chosen(&bench, &told);
    let calls = changing_calls(&decided, &GO_ON);
    let wanted = usize::try_from(size("CAIRN_CHOICE_POINTS", 12)).unwrap().min(calls.len());
    let (mut points, mut settled) = (0, 0);
    for point in 0..wanted {
        let (name, when) = &calls[point * calls.len() / wanted];
        let bench = decided();
        let rule = format!("inject={name}:signal=SIGKILL:when={when}");
        let mut child = strace(&bench, &GO_ON, &rule);
        child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
        points += usize::from(!child.wait().unwrap().success());
        let last = bench.cairn(&GO_ON);
        assert!(last.code == 0 || last.err.contains("nothing left to do"), "{last:?}");
        is_as_chosen(&bench, &told);
        let found = |outcome: &Value| outcome["settled"] == "found-done";
        settled += facts(&bench, "outcome").iter().filter(|outcome| found(outcome)).count();
    }
    println!("{points} crash points of {}, {settled} found done", calls.len());
    assert!(points * 10 >= wanted * 8, "only {points} of {wanted} calls were cut");
}

// keeps: choose-hunks
#[test]
fn a_word_that_does_not_fit_is_answered_with_400_and_the_question_stands() {
    let bench = patched();
    let mut talk = bench.talk(&["run", "--json", "work"]);
    let open = talk.until("proposal/opened");
    assert_eq!((&open["by_item"], open["items"].as_array().unwrap().len()), (&json!(true), 6));
    let labels: Vec<&str> = open["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["label"].as_str().unwrap())
        .collect();
    assert_eq!(labels[3..], ["b.txt lines 1-1, +1 −1", "create c/d.txt (+1)", "remove e.txt (-1)"]);
    let check = |talk: &mut crate::bench_world::Talk, more: Value, why: &str| {
        let mut word = json!({"type": "decide", "proposal": "p1.2.1", "verdict": "allow"});
        word.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        talk.say(word);
        let notice = talk.until("notice");
        assert!(notice["text"].as_str().unwrap().starts_with(why), "{more}: {notice}");
    };
    check(&mut talk, json!({"items": []}), "400: no item of p1.2.1 is taken");
    check(&mut talk, json!({"items": [7]}), "400: p1.2.1 has no item 7; it has 6");
    check(&mut talk, json!({"remember": "run", "until": 5}), "400: until 5 is in the past");
    check(
        &mut talk,
        json!({"texts": [{"path": "e.txt", "text": ""}]}),
        "400: p1.2.1 writes no file e.txt",
    );
    talk.say(taken());
    let said = talk.until("proposal/decided");
    assert_eq!(said["items"][4], json!({"item": 5, "accepted": false}));
    assert_eq!(said["texts"], json!(["b.txt"]));
    let began = talk.until("op/began");
    assert_eq!(began["changes"].as_array().unwrap().len(), 3);
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(facts(&bench, "decision").len(), 1);
}

// keeps: choose-hunks
#[test]
fn a_command_is_allowed_as_a_whole() {
    let bench = Bench::new(json!([
        {"calls": [{"tool": "bash", "args": {"command": "touch x"}}]},
        {"say": "done"},
    ]));
    let mut talk = bench.talk(&["run", "--json", "work"]);
    assert_eq!(talk.until("proposal/opened")["by_item"], false);
    talk.say(json!({"type": "decide", "proposal": "p1.1.1", "verdict": "allow", "items": [2]}));
    let notice = talk.until("notice")["text"].clone();
    assert_eq!(notice, "400: p1.1.1 has no item 2; it has 1");
    talk.say(json!({"type": "decide", "proposal": "p1.1.1", "verdict": "allow", "items": [1]}));
    assert_eq!(talk.result()["status"], "done");
    assert!(bench.file("x").exists());
}

// keeps: choose-hunks
#[test]
fn a_text_that_was_written_for_another_file_than_is_there_now_is_not_written() {
    let edit = json!({"path": "a.txt", "old": "1\n2\n", "new": "one\n2\n"});
    let bench = Bench::new(json!([
        {"calls": [{"tool": "read", "args": {"path": "a.txt"}}]},
        {"calls": [{"tool": "edit", "args": edit}]},
        {"say": "done"},
    ]));
    // What is asked before it begins has the change prepared anew.
    bench.own("cairn.toml", "[[hooks.Accepting]]\ncommand = \"true\"\n");
    bench.temp.write("a.txt", numbers());
    let mut talk = bench.talk(&["run", "--json", "work"]);
    talk.until("proposal/opened");
    let theirs = with(&numbers(), &[("28", "somebody else's")]);
    bench.temp.write("a.txt", &theirs);
    let mine = with(&numbers(), &[("1", "mine")]);
    talk.say(json!({"type": "decide", "proposal": "p1.2.1", "verdict": "allow",
        "texts": [{"path": "a.txt", "text": mine}]}));
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(bench.temp.read("a.txt"), theirs, "nothing of theirs is lost");
    assert!(last_told(&bench, 2).contains("no longer what was shown"), "{}", last_told(&bench, 2));
}
