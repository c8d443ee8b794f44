//! Going on with a run: elsewhere, at an open question, as a fork, beside others.

use crate::bench_world::Bench;
use crate::survive::{changing_calls, strace};
use serde_json::{Value, json};
use std::io::Read;

fn bash(command: &str) -> Value {
    json!({"calls": [{"tool": "bash", "args": {"command": command}}]})
}

/// A run that was killed while it waited for an answer; gives its id.
fn killed_at_a_question(bench: &Bench) -> String {
    let mut talk = bench.talk(&["run", "--json", "work"]);
    let question = talk.until("proposal/opened");
    talk.child.kill().unwrap();
    talk.child.wait().unwrap();
    question["run"].as_str().unwrap().to_owned()
}

#[test]
fn a_run_that_stopped_at_its_cap_says_so_when_there_is_nothing_to_go_on_with() {
    let bench = Bench::new(json!([bash("true"), {"say": "ok"}]));
    assert_eq!(bench.cairn(&["run", "--yolo", "--max-turns", "1", "work"]).code, 4);
    let capped = bench.cairn(&["run", "-c", "--yolo"]);
    assert_eq!(capped.code, 2, "{capped:?}");
    assert!(capped.err.contains(" stopped at its cap ("), "{}", capped.err);
    assert!(!capped.err.contains("nothing left to do"), "{}", capped.err);
    assert_eq!(bench.cairn(&["run", "-c", "--yolo", "go on"]).code, 0);
    let done = bench.cairn(&["run", "-c", "--yolo"]);
    assert!(done.err.contains(" has nothing left to do; give it a task"), "{}", done.err);
}

// keeps: resumes-in-place
#[test]
fn a_run_goes_on_with_its_own_model_whatever_a_file_says_and_with_another_where_it_is_named() {
    let bench = Bench::new(json!([{"say": "1"}, {"say": "2"}, {"say": "3"}, {"say": "4"}]));
    bench.own("cairn.toml", "model = \"openai/of-the-file\"\n");
    let check = |args: &[&str], variable: Option<&str>, expected: &str| {
        let mut command = bench.command(&[&["run", "--yolo"], args].concat());
        command.env_remove("CAIRN_MODEL");
        command.envs(variable.map(|model| ("CAIRN_MODEL", model)));
        let done = command.output().unwrap();
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(told.contains(&format!("model {expected},")), "{args:?}: {told}");
    };
    check(&["--model", "openai/own", "one"], None, "openai/own");
    check(&["-c", "two"], None, "openai/own");
    check(&["-c", "three"], Some("openai/of-the-variable"), "openai/of-the-variable");
    check(&["-c", "--model", "openai/named", "four"], None, "openai/named");
}

// keeps: resumes-in-place
#[test]
fn a_run_goes_on_in_its_own_folder_wherever_it_is_called_from() {
    let bench = Bench::new(json!([bash("touch made"), {"say": "ok"}]));
    let run = killed_at_a_question(&bench);
    let elsewhere = bench.temp.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let resumed = bench
        .command(&["run", "--yolo", "--resume", &run])
        .current_dir(&elsewhere)
        .output()
        .unwrap();
    assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
    assert!(bench.file("made").exists() && !elsewhere.join("made").exists());
    let wrong = bench.cairn(&[
        "run",
        "--yolo",
        "--resume",
        &run,
        "--cwd",
        elsewhere.to_str().unwrap(),
        "more",
    ]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("leave out --cwd"), "{}", wrong.err);
}

// keeps: questions-survive
#[test]
fn a_question_survives_a_kill_and_is_put_again() {
    let bench = Bench::new(json!([bash("touch made"), {"say": "ok"}]));
    killed_at_a_question(&bench);
    let mut talk = bench.talk(&["run", "--json", "-c"]);
    let again = talk.until("proposal/opened");
    assert!(again["shown"].as_str().unwrap().contains("touch made"), "{again}");
    talk.say(json!({"type": "decide", "proposal": again["proposal"], "verdict": "allow", "shown_hash": again["shown_hash"]}));
    assert_eq!(talk.result()["status"], "done");
    assert!(bench.file("made").exists());
}

// keeps: questions-survive
#[test]
fn a_question_left_open_is_answered_by_yolo_and_refused_by_nobody() {
    for (args, code, made) in
        [(&["run", "--yolo", "-c"][..], 0, true), (&["run", "-c"][..], 5, false)]
    {
        let bench = Bench::new(json!([bash("touch made"), {"say": "ok"}]));
        killed_at_a_question(&bench);
        let done = bench.cairn(args);
        assert_eq!(
            (done.code, bench.file("made").exists()),
            (code, made),
            "{args:?}: {}",
            done.err
        );
    }
}

// keeps: questions-survive
#[test]
fn what_is_no_longer_what_was_shown_is_not_done() {
    let bench = Bench::new(json!([read_and_edit(), {"say": "ok"}]));
    bench.temp.write("a.txt", "one\n");
    let mut talk = bench.talk(&["run", "--json", "work"]);
    let question = talk.until("proposal/opened");
    bench.temp.write("a.txt", "one\nand more\n");
    talk.say(json!({"type": "decide", "proposal": question["proposal"], "verdict": "allow"}));
    let settled = talk.until("op/settled");
    assert_eq!(settled["status"], 409, "{settled}");
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(bench.temp.read("a.txt"), "one\nand more\n");
}

/// A call that reads a file and one that edits it.
fn read_and_edit() -> serde_json::Value {
    json!({"calls": [
        {"tool": "read", "args": {"path": "a.txt"}},
        {"tool": "edit", "args": {"path": "a.txt", "old": "one", "new": "two"}},
    ]})
}

// keeps: survives-kill
#[test]
fn a_command_cut_off_twice_is_asked_about_twice() {
    let bench = Bench::new(json!([bash("echo x >> count; sleep 60"), {"say": "ok"}]));
    let began = |times: usize| {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while std::fs::read_to_string(bench.file("count")).unwrap_or_default().lines().count()
            < times
        {
            assert!(std::time::Instant::now() < deadline, "it never ran");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    };
    let mut first = bench.talk(&["run", "--yolo", "--json", "work"]);
    began(1);
    first.child.kill().unwrap();
    first.child.wait().unwrap();

    let mut second = bench.talk(&["run", "--json", "-c"]);
    let question = second.until("proposal/opened");
    assert_eq!(question["kind"], "indeterminate");
    second.say(json!({"type": "decide", "proposal": question["proposal"], "verdict": "allow"}));
    began(2);
    second.child.kill().unwrap();
    second.child.wait().unwrap();

    let third = bench.cairn(&["run", "--yolo", "-c"]);
    assert_eq!(third.code, 0, "{}", third.err);
    assert_eq!(std::fs::read_to_string(bench.file("count")).unwrap(), "x\nx\n");
    let told = bench.requests().pop().unwrap()["messages"].take();
    assert!(
        told[3]["content"].as_str().unwrap().contains("may or may not have happened"),
        "{told}"
    );
}

// keeps: forks-share
#[test]
fn a_fork_with_a_prompt_of_its_own_leaves_its_parents_task() {
    let bench = Bench::new(json!([bash("echo one >> log"), {"say": "as you now say"}]));
    bench.temp.write("log", "");
    let events = bench.events(&["run", "--yolo", "--json", "--max-turns", "1", "the old task"]);
    let fork = bench
        .cairn(&["fork", "--run", events[0]["run"].as_str().unwrap(), "--at", "1/1", "--json"])
        .out;
    let fork: Value = serde_json::from_str(&fork).unwrap();
    let done =
        bench.cairn(&["run", "--yolo", "--resume", fork["run"].as_str().unwrap(), "a new task"]);
    assert_eq!((done.code, done.out.as_str()), (0, "as you now say\n"), "{}", done.err);
    let asked = bench.requests().pop().unwrap()["messages"].as_array().unwrap().clone();
    assert_eq!(asked.last().unwrap()["content"], "a new task");
    assert_eq!(bench.requests().len(), 2, "the old task was not worked on");
    assert_eq!(bench.temp.read("log"), "one\n");
}

// keeps: gc
#[test]
fn gc_leaves_a_run_alone_that_is_being_driven() {
    let bench = Bench::new(json!([bash("sleep 1"), {"say": "still here"}]));
    let mut talk = bench.talk(&["run", "--yolo", "--json", "work"]);
    talk.until("op/began");
    let freed: Value =
        serde_json::from_str(&bench.cairn(&["gc", "--keep-days", "0", "--json"]).out).unwrap();
    assert_eq!(freed["contents"], 0, "{freed}");
    assert_eq!(talk.result()["answer"], "still here");
}

// keeps: clean-screen
#[test]
fn log_and_show_draw_no_control_characters_either() {
    let bench = Bench::new(json!([
        {"say": "\u{1b}[31mred", "calls": [{"tool": "\u{1b}]0;pwned\u{7}\u{1b}[2Jx", "args": {"\u{1b}[2J": 1}}]},
        {"say": "ok"},
    ]));
    let events = bench.events(&["run", "--yolo", "--json", "work"]);
    let run = events[0]["run"].as_str().unwrap();
    for args in [
        &["log"][..],
        &["log", "--facts"],
        &["show", &format!("log://{run}")],
        &["show", &format!("log://{run}/1/1/1")],
    ] {
        let out = bench.cairn(args).out;
        assert!(out.contains("pwned") && !out.contains(['\u{1b}', '\u{7}']), "{args:?}: {out:?}");
    }
}

// keeps: steering
#[test]
fn a_line_that_is_not_utf8_is_left_out_and_the_client_stays() {
    use std::io::Write;
    let bench = Bench::new(json!([bash("touch made"), {"say": "ok"}]));
    let mut talk = bench.talk(&["run", "--json", "work"]);
    let question = talk.until("proposal/opened");
    talk.stdin.as_mut().unwrap().write_all(b"{\"type\":\"steer\",\"text\":\"caf\xe9\"}\n").unwrap();
    assert!(talk.until("notice")["text"].as_str().unwrap().contains("not UTF-8"));
    talk.say(json!({"type": "decide", "proposal": question["proposal"], "verdict": "allow"}));
    assert_eq!(talk.result()["status"], "done");
    assert!(bench.file("made").exists());
}

// keeps: bad-input
#[test]
fn a_configuration_that_is_no_file_is_named_not_waited_for() {
    let bench = Bench::new(json!([{"say": "ok"}]));
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        bench.file("cairn.toml"),
        rustix::fs::Mode::from_raw_mode(0o644),
    )
    .unwrap();
    let done = bench.cairn(&["run", "work"]);
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("cairn.toml") && done.err.contains("not a file"), "{}", done.err);
}

// keeps: no-key-in-log
#[test]
fn a_command_sees_a_secret_only_when_the_user_names_it() {
    let bench = Bench::new(json!([bash("env"), {"say": "ok"}]));
    let folder = bench.temp.path().join(".config/cairn");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("cairn.toml"), "pass_env = [\"MY_TOKEN\", \"PLAIN\"]\n").unwrap();
    let mut command = bench.command(&["run", "--yolo", "work"]);
    command.env("MY_TOKEN", "t-named").env("OTHER_TOKEN", "t-other").env("PLAIN", "p");
    assert!(command.output().unwrap().status.success());
    let told = bench.requests()[1]["messages"][3]["content"].as_str().unwrap().to_owned();
    assert!(told.contains("MY_TOKEN=t-named") && told.contains("PLAIN=p"), "{told}");
    assert!(!told.contains("t-other") && !told.contains("sk-secret-key"), "{told}");
}

// keeps: questions-survive
#[test]
fn a_question_that_shows_what_is_no_longer_so_is_put_afresh() {
    let remove = json!({"calls": [{"tool": "remove", "args": {"path": "a.txt"}}]});
    let bench = Bench::new(json!([remove, {"say": "ok"}]));
    bench.temp.write("a.txt", "one\n");
    killed_at_a_question(&bench);
    bench.temp.write("a.txt", "one\nand more\n");
    let mut talk = bench.talk(&["run", "--json", "-c"]);
    let again = talk.until("proposal/opened");
    assert_eq!(again["proposal"], "p1.1.1.2", "{again}");
    assert!(again["shown"].as_str().unwrap().contains("13 bytes"), "{again}");
    talk.say(json!({"type": "decide", "proposal": "p1.1.1", "verdict": "allow"}));
    assert!(talk.until("notice")["text"].as_str().unwrap().starts_with("404"));
    talk.say(json!({"type": "decide", "proposal": again["proposal"], "verdict": "allow", "shown_hash": again["shown_hash"]}));
    assert_eq!(talk.result()["status"], "done");
    assert!(!bench.file("a.txt").exists());
}

#[test]
fn an_edit_held_while_its_file_changed_is_refused_with_the_file_as_it_now_is() {
    let bench = Bench::new(json!([read_and_edit(), {"say": "ok"}]));
    bench.temp.write("a.txt", "one\n");
    killed_at_a_question(&bench);
    bench.temp.write("a.txt", "one\nand more\n");
    let talk = bench.talk(&["run", "--json", "-c"]);
    assert_eq!(talk.result()["status"], "done");
    let told = bench.requests().pop().unwrap()["messages"].take().to_string();
    assert!(told.contains("is not as it was when it was read"), "{told}");
    assert!(told.contains("and more"), "{told}");
    assert_eq!(bench.temp.read("a.txt"), "one\nand more\n");
}

// keeps: resumes-in-place
#[test]
fn a_run_goes_on_with_its_own_model_unless_another_is_named() {
    let bench = Bench::new(json!([{"say": "one"}, {"say": "two"}]));
    let run = |args: &[&str]| {
        let output = bench.command(args).env_remove("CAIRN_MODEL").output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    assert_eq!(run(&["run", "--model", "openai/chosen", "work"]).1, "one\n");
    let (code, out, err) = run(&["run", "-c", "more"]);
    assert_eq!((code, out.as_str()), (Some(0), "two\n"), "{err}");
    assert!(bench.requests().iter().all(|request| request["model"] == "chosen"));
    let (code, _, err) = run(&["run", "another"]);
    assert_eq!(code, Some(2));
    assert!(err.contains(".config/cairn/cairn.toml"), "{err}");
}

// keeps: log-shows
#[test]
fn the_log_shows_words_given_with_a_refusal_and_what_was_not_seen_to_end() {
    let bench = Bench::new(json!([bash("touch made"), bash("touch began; sleep 60")]));
    let mut talk = bench.talk(&["run", "--json", "work"]);
    let question = talk.until("proposal/opened");
    talk.say(json!({"type": "decide", "proposal": question["proposal"], "verdict": "refuse", "words": "rather not"}));
    let question = talk.until("proposal/opened");
    talk.say(json!({"type": "decide", "proposal": question["proposal"], "verdict": "allow"}));
    talk.until("op/began");
    talk.child.kill().unwrap();
    talk.child.wait().unwrap();
    let log = bench.cairn(&["log"]).out;
    assert!(log.contains("1/1/1  > rather not"), "{log}");
    assert!(log.contains("touch began; sleep 60  → began, its end was not seen"), "{log}");
    let run = question["run"].as_str().unwrap();
    let row = bench.cairn(&["show", &format!("log://{run}/1/1/1")]).out;
    assert!(row.contains("with the words: rather not") && row.contains("person:tester"), "{row}");
}

fn has_ended(bench: &Bench) -> bool {
    let facts = bench.cairn(&["log", "--facts", "--json"]).out;
    facts.lines().any(|line| serde_json::from_str::<Value>(line).unwrap()["kind"] == "end")
}

// keeps: end-shown
#[test]
fn an_end_that_a_kill_kept_from_being_shown_is_shown_by_the_next_and_only_once() {
    const WORK: [&str; 2] = ["run", "work"];
    const ANSWER: &str = "the answer is 42";
    let bench = || Bench::new(json!([{"say": ANSWER}]));
    let calls = changing_calls(&bench, &WORK);
    let (mut shown_again, mut shown_before) = (0, 0);
    for (name, when) in calls.iter().filter(|(name, _)| ["write", "ftruncate"].contains(&&**name)) {
        let bench = bench();
        let rule = format!("inject={name}:signal=SIGKILL:when={when}");
        let mut child = strace(&bench, &WORK, &rule);
        let mut printed = String::new();
        child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        child.wait().unwrap();
        if !bench.temp.home().join("cairn.db").exists() || !has_ended(&bench) {
            continue;
        }
        let asked = bench.requests().len();
        let next = bench.cairn(&["run", "-c"]);
        if next.code == 2 {
            assert!(printed.contains(ANSWER), "{name} {when}: {next:?}");
            shown_before += 1;
            continue;
        }
        assert_eq!((next.code, next.out.trim_end()), (0, ANSWER), "{name} {when}: {next:?}");
        assert!(next.err.contains("done: 1 turn,"), "{name} {when}: {next:?}");
        assert_eq!(bench.requests().len(), asked, "the model is not asked again");
        let third = bench.cairn(&["run", "-c"]);
        assert_eq!(third.code, 2, "{name} {when}: {third:?}");
        assert!(third.err.contains("nothing left to do"), "{name} {when}: {third:?}");
        shown_again += 1;
    }
    println!("{shown_again} ends were shown again, {shown_before} had been shown");
    assert!(shown_again >= 2, "only {shown_again} kills fell between the end and what shows it");
}

// keeps: end-shown
#[test]
fn programs_are_told_an_end_again_with_its_answer_receipts_and_result() {
    let bench = Bench::new(json!([bash("touch x"), {"say": "the answer is 42"}]));
    let first = bench.events(&["run", "--json", "--yolo", "work"]);
    let lock =
        std::fs::read_dir(bench.temp.home().join("leases")).unwrap().flatten().find(|file| {
            file.file_name().to_string_lossy().starts_with(first[0]["run"].as_str().unwrap())
        });
    // What a driver that was killed leaves.
    let lock = lock.unwrap().path();
    let holder = std::fs::read_to_string(&lock).unwrap();
    assert_eq!(holder.lines().count(), 1, "an end that was shown leaves no note: {holder}");
    std::fs::write(&lock, format!("{holder}the end is not shown yet\n")).unwrap();
    let again = bench.events(&["run", "--json", "-c"]);
    let of = |events: &[Value], kind: &str| {
        events.iter().filter(|event| event["type"] == kind).cloned().collect::<Vec<_>>()
    };
    assert_eq!(of(&again, "loop/ended").len(), 1, "{again:?}");
    assert!(of(&again, "op/began").is_empty(), "the last turn had no op: {again:?}");
    let (first, again) = (of(&first, "result"), of(&again, "result"));
    for field in ["status", "exit_code", "answer", "turns", "cost", "usage"] {
        assert_eq!(first[0][field], again[0][field], "{field}");
    }
    assert_eq!(again[0]["answer"], "the answer is 42");
    assert!(again[0]["anchor"].is_string(), "{again:?}");
    assert_eq!(bench.cairn(&["verify"]).code, 0);
}
