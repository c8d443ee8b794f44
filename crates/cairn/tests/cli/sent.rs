//! A command that a person sends to the background while it runs over an overlay: it keeps its overlay, and
//! what it changed is asked about when it ends.

use crate::bench_world::{Bench, Done, Talk};
use crate::overlay::{bash, decide, facts, project, statuses};
use crate::terminal::Terminal;
use serde_json::{Value, json};

/// A command that tells when it has begun, and ends when a file says so that is written outside.
const WAITS: &str =
    "echo mine > a.txt; echo begun; until grep -q go flag; do sleep 0.01; done; echo ended";

fn call(tool: &str, args: Value) -> Value {
    json!({"calls": [{"tool": tool, "args": args}]})
}

/// A project whose model runs a command that waits, and then replies like this.
fn waiting(replies: &[Value]) -> Bench {
    let replies = [&[bash(WAITS)], replies].concat();
    let bench = Bench::confined(json!(replies));
    bench.temp.write("a.txt", "one\n");
    bench.temp.write("flag", "wait\n");
    bench.temp.write(".ignore", "flag\n");
    bench
}

fn printed(talk: &mut Talk, text: &str) {
    while !talk.until("op/output")["text"].as_str().unwrap().contains(text) {}
}

/// Drives it with these arguments until its command runs, and sends that to the background.
fn send(bench: &Bench, args: &[&str]) -> Talk {
    let mut talk = bench.talk(&[&["run", "--json"], args, &["work"]].concat());
    printed(&mut talk, "begun");
    talk.say(json!({"type": "background"}));
    let settled = talk.until("op/settled");
    assert_eq!((&settled["op_at"], &settled["status"]), (&json!("1/1/1"), &json!(102)));
    talk
}

fn go(bench: &Bench) {
    bench.temp.write("flag", "go\n");
}

/// The texts of the last message that the model was sent when it was asked for the n-th time.
fn heard(bench: &Bench, n: usize) -> String {
    let request = bench.requests()[n - 1].clone();
    let last = request["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["role"], "user", "{last}");
    last["content"].to_string()
}

fn notices(talk: &Talk) -> Vec<String> {
    let all = talk.seen.iter().filter(|event| event["type"] == "notice");
    all.map(|event| event["text"].as_str().unwrap().to_owned()).collect()
}

/// Everything that is recorded of the run holds together.
fn is_sound(bench: &Bench) {
    let Done { code, out, err } = bench.cairn(&["verify"]);
    assert_eq!(code, 0, "{out}{err}");
    let Done { code, out, err } = bench.cairn(&["policy", "replay"]);
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(layers_left(bench), 0);
}

fn layers_left(bench: &Bench) -> usize {
    std::fs::read_dir(bench.temp.home().join("overlays")).map_or(0, Iterator::count)
}

// keeps: sent-to-background
#[test]
fn the_model_goes_on_and_what_the_command_changed_is_asked_about_when_it_ends() {
    let bench = waiting(&[
        call("write", json!({"path": "b.txt", "content": "beside\n"})),
        call("read", json!({"path": "log:///1/1/1#output"})),
        json!({"say": "meanwhile"}),
        json!({"say": "done"}),
    ]);
    let mut talk = send(&bench, &["--mode", "accept-edits"]);
    talk.until("op/settled");
    let read = talk.until("op/settled");
    assert_eq!(read["text"], "1\tbegun\nrunning");
    let listed: Value = serde_json::from_str(&bench.cairn(&["ps", "--json"]).out).unwrap();
    assert_eq!(listed["row"], "1/1/1");
    talk.until("notice");
    assert!(notices(&talk).concat().contains("waiting for 1/1/1"), "{:?}", notices(&talk));
    assert_eq!(bench.temp.read("a.txt"), "one\n");
    go(&bench);
    let ended = talk.until("op/ended");
    assert_eq!((&ended["op_at"], &ended["exit"]), (&json!("1/1/1"), &json!(0)));
    let asked = talk.until("op/requested");
    assert_eq!((&asked["op_at"], &asked["of"]), (&json!("1/4/1"), &json!("1/1/1")));
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(bench.temp.read("a.txt"), "mine\n");
    assert_eq!(bench.temp.read("b.txt"), "beside\n");
    assert_eq!(statuses(&bench), [102, 201, 200, 200]);
    let told = heard(&bench, 5);
    let begins = "log:///1/1/1, which was sent to the background, is over:";
    for part in [begins, "begun", "ended", "exit=0", "kept: changed a.txt"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    is_sound(&bench);
    assert_eq!(bench.cairn(&["ps"]).out, "no command runs in the background of any run\n");
    let undone = bench.cairn(&["undo", "1/4/1"]);
    assert_eq!(bench.temp.read("a.txt"), "one\n", "{undone:?}");
}

// keeps: sent-to-background
#[test]
fn the_question_is_the_one_of_the_foreground_and_a_no_discards_it() {
    let shown = |is_sent: bool| {
        let bench = waiting(&[json!({"say": "meanwhile"}), json!({"say": "done"})]);
        let mut talk = match is_sent {
            true => send(&bench, &[]),
            false => {
                let mut talk = bench.talk(&["run", "--json", "work"]);
                printed(&mut talk, "begun");
                talk
            }
        };
        go(&bench);
        let question = talk.until("proposal/opened");
        decide(&mut talk, &question, "refuse");
        assert_eq!(talk.result()["status"], "done");
        assert_eq!(bench.temp.read("a.txt"), "one\n");
        is_sound(&bench);
        (question, bench)
    };
    let ((waited, _), (sent, bench)) = (shown(false), shown(true));
    for part in ["shown", "kind", "offers"] {
        assert_eq!(waited[part], sent[part], "{part}");
    }
    let told = heard(&bench, 3);
    assert!(told.contains("refused by the person") && told.contains("ended"), "{told}");
    assert_eq!(statuses(&bench), [102, 403]);
}

// keeps: sent-to-background
#[test]
fn what_was_changed_meanwhile_is_a_conflict_whoever_changed_it() {
    let check = |meanwhile: &[Value], by_person: bool, expected: &str| {
        let replies = [meanwhile, &[json!({"say": "meanwhile"}), json!({"say": "done"})]].concat();
        let bench = waiting(&replies);
        let mut talk = send(&bench, &["--yolo"]);
        for _ in meanwhile {
            let settled = talk.until("op/settled");
            assert_eq!(settled["status"], 200, "{settled}");
        }
        if by_person {
            bench.temp.write("a.txt", expected);
        }
        talk.until("notice");
        go(&bench);
        let settled = talk.until("op/settled");
        assert_eq!(settled["status"], 409, "{settled}");
        assert_eq!(talk.result()["status"], "done");
        assert_eq!(bench.temp.read("a.txt"), expected);
        let told = bench.requests().pop().unwrap()["messages"].to_string();
        assert!(told.contains("a.txt was changed outside"), "{told}");
        is_sound(&bench);
    };
    check(&[], true, "theirs\n");
    check(&[bash("echo ours > a.txt")], false, "ours\n");
    let edit = [
        call("read", json!({"path": "a.txt"})),
        call("edit", json!({"path": "a.txt", "old": "one", "new": "edited"})),
    ];
    check(&edit, false, "edited\n");
    // Other commands look at the folders meanwhile, and change other things.
    check(&[bash("echo x > x"), bash("echo ours > a.txt"), bash("cat x")], false, "ours\n");
}

// keeps: sent-to-background
#[test]
fn what_changed_nothing_is_not_asked_about_and_its_time_still_counts() {
    let check = |command: &str, timeout: u64, status: u64, part: &str| {
        let args = json!({"command": command, "timeout_ms": timeout});
        let replies = json!([call("bash", args), {"say": "meanwhile"}, {"say": "done"}]);
        let bench = Bench::confined(replies);
        bench.temp.write("a.txt", "one\n");
        bench.temp.write(".gitignore", "out\n");
        bench.temp.write("flag", "wait\n");
        bench.temp.write(".ignore", "flag\n");
        let talk = send(&bench, &[]);
        go(&bench);
        assert_eq!(talk.result()["status"], "done");
        assert!(facts(&bench, "proposal").is_empty());
        assert_eq!(statuses(&bench), [102, status], "{command}");
        let told = heard(&bench, 3);
        assert!(told.contains(part), "{part}: {told}");
        assert_eq!(bench.temp.read("a.txt"), "one\n");
        is_sound(&bench);
    };
    let until = "echo begun; until grep -q go flag; do sleep 0.01; done";
    check(&format!("{until}; exit 3"), 60_000, 200, "exit=3");
    check(&format!("{until}; echo built > out"), 60_000, 200, "exit=0");
    check("echo two > a.txt; echo begun; sleep 60", 500, 408, "timed out");
}

// keeps: sent-to-background
#[test]
fn a_yes_to_the_command_itself_covers_what_it_changed() {
    let bench = waiting(&[json!({"say": "meanwhile"}), json!({"say": "done"})]);
    let mut talk = bench.talk(&["run", "--json", "--ask", "exec", "work"]);
    let question = talk.until("proposal/opened");
    assert_eq!(question["kind"], "exec");
    decide(&mut talk, &question, "allow");
    printed(&mut talk, "begun");
    talk.say(json!({"type": "background"}));
    go(&bench);
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(facts(&bench, "proposal").len(), 1);
    assert_eq!(bench.temp.read("a.txt"), "mine\n");
    assert_eq!(statuses(&bench), [102, 200]);
    is_sound(&bench);
}

// keeps: sent-to-background
#[test]
fn the_model_ends_it_by_removing_its_row() {
    let bench = waiting(&[
        call("remove", json!({"path": "log:///1/1/1"})),
        call("read", json!({"path": "log:///1/1/1#output"})),
        json!({"say": "done"}),
    ]);
    let talk = send(&bench, &["--yolo"]);
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(statuses(&bench), [102, 200, 200]);
    assert_eq!(facts(&bench, "stream")[0]["state"], "removed");
    assert_eq!(bench.temp.read("a.txt"), "one\n");
    is_sound(&bench);
}

// keeps: sent-to-background
#[test]
fn stopping_the_work_discards_it_and_says_so() {
    let bench = waiting(&[json!({"say": "meanwhile"})]);
    let mut talk = send(&bench, &["--yolo"]);
    talk.until("notice");
    talk.say(json!({"type": "abort"}));
    let ended = talk.until("op/ended");
    assert_eq!(ended["state"], "stopped");
    assert_eq!(ended["why"], "nothing of what it changed is kept");
    assert_eq!(talk.result()["exit_code"], 3);
    assert_eq!(bench.temp.read("a.txt"), "one\n");
    is_sound(&bench);
}

// keeps: sent-to-background
#[test]
fn what_its_driver_took_with_it_is_told_as_lost() {
    let kill = |talk: &mut Talk| {
        talk.child.kill().unwrap();
        talk.child.wait().unwrap();
    };
    let lost = "what it changed is lost with the program that held it";
    // While it ran.
    let bench = waiting(&[json!({"say": "meanwhile"}), json!({"say": "done"})]);
    let mut talk = send(&bench, &["--yolo"]);
    talk.until("notice");
    kill(&mut talk);
    let done = bench.cairn(&["run", "--continue", "--yolo"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(heard(&bench, 3).contains(lost), "{}", heard(&bench, 3));
    assert_eq!((bench.temp.read("a.txt"), statuses(&bench)), ("one\n".into(), vec![102, 410]));
    assert_eq!(facts(&bench, "stream")[0]["state"], "lost");
    is_sound(&bench);
    // While it was asked about.
    let bench = waiting(&[json!({"say": "meanwhile"}), json!({"say": "done"})]);
    let mut talk = send(&bench, &[]);
    go(&bench);
    talk.until("proposal/opened");
    kill(&mut talk);
    let done = bench.cairn(&["run", "--continue", "--yolo"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(heard(&bench, 3).contains(lost), "{}", heard(&bench, 3));
    assert_eq!((bench.temp.read("a.txt"), statuses(&bench)), ("one\n".into(), vec![102, 410]));
    is_sound(&bench);
}

// keeps: sent-to-background, money-reserved
#[test]
fn a_loop_that_cannot_afford_to_ask_again_does_not_wait_for_what_is_lost() {
    let usage = json!({"input": 1000, "output": 100});
    let slow = json!({"say": "a b c d e f g h", "pace_ms": 60_000, "usage": usage});
    let bench = Bench::confined(json!([
        {"calls": bash(WAITS)["calls"], "usage": usage}, slow, {"say": "done"},
    ]));
    bench.own(
        "cairn.toml",
        "[models.\"openai/test\"]\ninput = \"0.1\"\noutput = \"100\"\nmax_output = 400\n",
    );
    bench.temp.write("flag", "wait\n");
    bench.temp.write(".ignore", "flag\n");
    let mut talk = send(&bench, &["--yolo", "--max-cost", "5"]);
    talk.until("turn/asked");
    talk.child.kill().unwrap();
    talk.child.wait().unwrap();
    let args = ["run", "-c", "--yolo", "--max-cost", "0.0001"];
    let mut resumed = bench.command(&args).spawn().unwrap();
    let began = std::time::Instant::now();
    let code = loop {
        match resumed.try_wait().unwrap() {
            Some(status) => break status.code(),
            None if began.elapsed().as_secs() > 60 => {
                resumed.kill().unwrap();
                panic!("it waits for nothing");
            }
            None => std::thread::sleep(std::time::Duration::from_millis(20)),
        }
    };
    assert_eq!(code, Some(4));
    assert_eq!(facts(&bench, "stream")[0]["state"], "lost");
    assert_eq!(facts(&bench, "end")[0]["rail"], "cost");
    is_sound(&bench);
}

/// Changes, makes and removes many files and replaces an ignored folder, once it may.
const MUCH: &str = "echo begun; until grep -q go flag; do sleep 0.01; done; rm -r target; mkdir target; \
    for n in $(seq 80); do echo new >> kept/$n; echo new > made-$n; echo new > target/$n; done";

fn much() -> Bench {
    let bench = Bench::confined(json!([bash(MUCH), {"say": "meanwhile"}, {"say": "done"}]));
    bench.temp.write("flag", "wait\n");
    bench.temp.write(".ignore", "flag\n");
    bench.temp.write(".gitignore", "target/\n");
    for n in 1..=80 {
        bench.temp.write(&format!("kept/{n}"), "old\n");
        bench.temp.write(&format!("target/{n}"), "old\n");
    }
    bench
}

/// Whether all of it is as the command left it; otherwise all of it must be as before.
#[track_caller]
fn is_all_new(bench: &Bench) -> bool {
    let read = |path: String| std::fs::read_to_string(bench.file(&path)).ok();
    let is_new = |n: u32| {
        let kept = read(format!("kept/{n}")).unwrap() == "old\nnew\n";
        let (made, built) = (read(format!("made-{n}")), read(format!("target/{n}")).unwrap());
        assert_eq!((made.is_some(), built == "new\n"), (kept, kept), "{n}");
        kept
    };
    let new = (1..=80).filter(|n| is_new(*n)).count();
    assert!(new == 0 || new == 80, "{new} of 80");
    new == 80
}

// keeps: sent-to-background, overlay-crash
#[test]
fn what_it_changed_lands_whole_or_not_at_all_wherever_its_driver_is_killed() {
    let mut ends = std::collections::BTreeSet::new();
    for (n, moment) in ["op/ended", "proposal/decided", "op/began", "op/began"].iter().enumerate() {
        let bench = much();
        let mut talk = send(&bench, &["--yolo"]);
        go(&bench);
        talk.until(moment);
        std::thread::sleep(std::time::Duration::from_millis(n as u64));
        talk.child.kill().unwrap();
        talk.child.wait().unwrap();
        let done = bench.cairn(&["run", "--continue", "--yolo"]);
        assert!(done.code == 0 || done.err.contains("nothing left to do"), "{done:?}");
        let statuses = statuses(&bench);
        let is_new = is_all_new(&bench);
        assert_eq!(statuses, [102, if is_new { 200 } else { 410 }], "{moment}");
        ends.insert(is_new);
        is_sound(&bench);
        if is_new {
            assert_eq!(bench.cairn(&["undo"]).code, 0);
            assert!(!is_all_new(&bench));
        }
    }
    assert!(ends.contains(&true), "what began is finished");
}

// keeps: sent-to-background
#[test]
fn several_are_sent_and_each_is_settled_by_itself() {
    let waits = |change: &str| {
        bash(&format!("{change}; echo begun; until grep -q go flag; do sleep 0.01; done"))
    };
    let bench = Bench::confined(json!([
        waits("echo one > one; echo one > both"),
        waits("echo two > two"),
        waits("echo three > three; echo three > both"),
        bash("echo beside > beside"),
        {"say": "meanwhile"},
        {"say": "heard"}, {"say": "heard"}, {"say": "heard"}, {"say": "heard"},
    ]));
    bench.temp.write("flag", "wait\n");
    bench.temp.write(".ignore", "flag\n");
    let mut talk = send(&bench, &["--yolo"]);
    for _ in 0..2 {
        printed(&mut talk, "begun");
        talk.say(json!({"type": "background"}));
        assert_eq!(talk.until("op/settled")["status"], 102);
    }
    assert_eq!(bench.cairn(&["ps", "--json"]).out.lines().count(), 3);
    talk.until("notice");
    go(&bench);
    assert_eq!(talk.result()["status"], "done");
    let mut statuses = statuses(&bench);
    assert_eq!(statuses[..4], [102, 102, 102, 200]);
    statuses[4..].sort_unstable();
    assert_eq!(statuses[4..], [200, 200, 409], "two of them made the same file");
    for made in ["two", "beside", "both"] {
        assert!(bench.file(made).exists(), "{made}");
    }
    assert_ne!(bench.file("one").exists(), bench.file("three").exists());
    is_sound(&bench);
}

// keeps: sent-to-background
#[test]
fn much_output_is_kept_and_read_under_both_rows() {
    let much =
        "echo begun; until grep -q go flag; do sleep 0.01; done; seq 100000; echo mine > a.txt";
    let bench = Bench::confined(json!([
        bash(much), {"say": "meanwhile"},
        call("read", json!({"path": "log:///1/1/1#output", "first": 100_000})),
        call("read", json!({"path": "log:///1/2/1#output", "first": 100_000})),
        {"say": "done"},
    ]));
    bench.temp.write("flag", "wait\n");
    bench.temp.write(".ignore", "flag\n");
    let mut talk = send(&bench, &["--yolo"]);
    talk.until("notice");
    go(&bench);
    assert_eq!(talk.result()["status"], "done");
    let told = heard(&bench, 3);
    assert!(told.contains("log:///1/1/1#output") && told.contains("exit=0"), "{told}");
    is_sound(&bench);
    assert!(statuses(&bench)[2..].iter().all(|status| *status < 400));
    let shown = bench.cairn(&["show", "1/1/1#output"]).out;
    assert!(shown.contains("\n99999\n"), "{}", &shown[..200.min(shown.len())]);
    assert_eq!(shown, bench.cairn(&["show", "1/2/1#output"]).out);
}

// keeps: sent-to-background
#[test]
fn what_cannot_be_sent_is_answered_with_a_sentence_and_goes_on() {
    let check = |level: &'static str, expected: &str| {
        let mut bench = waiting(&[json!({"say": "done"})]);
        bench.level = level;
        let mut talk = bench.talk(&["run", "--json", "--yolo", "work"]);
        printed(&mut talk, "begun");
        talk.say(json!({"type": "background"}));
        let said = talk.until("notice")["text"].as_str().unwrap().to_owned();
        assert!(said.contains(expected), "{said}");
        go(&bench);
        assert_eq!(talk.result()["status"], "done");
        assert_eq!(bench.temp.read("a.txt"), "mine\n");
        assert_eq!(statuses(&bench), [200]);
    };
    check("open", "1/1/1 works on the files themselves and not over an overlay");
    let command = WAITS.replace("echo mine > a.txt; ", "");
    let bench = Bench::confined(json!([call("env", json!({"command": command})), {"say": "done"}]));
    bench.temp.write("flag", "wait\n");
    bench.temp.write(".ignore", "flag\n");
    let mut talk = bench.talk(&["run", "--json", "work"]);
    talk.until("op/requested");
    let said = loop {
        talk.say(json!({"type": "background"}));
        let said = talk.until("notice")["text"].as_str().unwrap().to_owned();
        if !said.contains("no command is being waited for") {
            break said;
        }
    };
    assert!(said.contains("1/1/1 keeps nothing of what it changes"), "{said}");
    go(&bench);
    assert_eq!(talk.result()["status"], "done");
    let bench = project(&["echo two > a.txt"]);
    let mut talk = bench.talk(&["run", "--json", "work"]);
    let question = talk.until("proposal/opened");
    talk.say(json!({"type": "background"}));
    let said = talk.until("notice")["text"].as_str().unwrap().to_owned();
    assert!(said.contains("no command is being waited for"), "{said}");
    decide(&mut talk, &question, "allow");
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(bench.temp.read("a.txt"), "two\n");
}

// keeps: sent-to-background
#[test]
fn a_fork_has_nothing_of_its_parents_in_the_background() {
    let bench = waiting(&[json!({"say": "meanwhile"}), json!({"say": "done"})]);
    let mut talk = send(&bench, &["--yolo"]);
    talk.until("notice");
    let forked = bench.cairn(&["fork", "--at", "1/1"]);
    assert_eq!(forked.code, 0, "{forked:?}");
    go(&bench);
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(bench.temp.read("a.txt"), "mine\n");
    is_sound(&bench);
}

// keeps: sent-to-background
#[test]
fn ctrl_z_sends_the_running_command_to_the_background() {
    let bench = waiting(&[json!({"say": "meanwhile"}), json!({"say": "all is done"})]);
    let mut terminal = Terminal::open(&bench, bench.command(&["run", "work"]));
    terminal.until("1/1/1 is still running; Ctrl-Z sends it to the background");
    terminal.keys("\x1a");
    terminal.until("→ 102");
    terminal.until("it goes on in the background");
    terminal.until("meanwhile");
    terminal.until("waiting for 1/1/1");
    go(&bench);
    let shown = terminal.until("r refuse with words: ");
    assert!(shown.contains("+mine"), "{shown}");
    terminal.keys("y\n");
    terminal.until("all is done");
    terminal.until("done: 3 turns");
    assert_eq!(bench.temp.read("a.txt"), "mine\n");
    assert_eq!(statuses(&bench), [102, 200]);
}

/// An interactive shell in the project, and the program's name for it.
fn shell(bench: &Bench) -> (Terminal, String) {
    let run = bench.command(&[]);
    let program = run.get_program().to_str().unwrap().to_owned();
    #[allow(clippy::disallowed_methods, reason = "tests start a shell")]
    let mut shell = std::process::Command::new("bash");
    shell.args(["--norc", "--noprofile", "-i"]).env("PS1", "shell: ");
    shell.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut terminal = Terminal::open(bench, shell);
    terminal.until("shell: ");
    (terminal, program)
}

// keeps: sent-to-background
#[test]
fn ctrl_z_that_sends_a_command_leaves_the_rest_of_the_pipeline_running() {
    let bench = waiting(&[json!({"say": "meanwhile"}), json!({"say": "all is done"})]);
    let (mut terminal, program) = shell(&bench);
    terminal.keys(&format!("{program} run --yolo work | cat\n"));
    terminal.until("1/1/1 is still running; Ctrl-Z sends it to the background");
    terminal.keys("\x1a");
    terminal.until("waiting for 1/1/1");
    go(&bench);
    terminal.until("all is done");
    terminal.until("shell: ");
    terminal.keys("exit\n");
    assert_eq!(bench.temp.read("a.txt"), "mine\n");
}

// keeps: sent-to-background
#[test]
fn ctrl_z_suspends_the_program_where_nothing_can_be_sent_and_it_resumes() {
    let bench = project(&["echo two > a.txt"]);
    let (mut terminal, program) = shell(&bench);
    terminal.keys(&format!("{program} run work\n"));
    terminal.until("r refuse with words: ");
    terminal.keys("\x1a");
    terminal.until("Stopped");
    terminal.until("shell: ");
    terminal.keys("fg\n");
    terminal.until("r refuse with words: ");
    terminal.keys("y\n");
    terminal.until("done: 2 turns");
    assert_eq!(bench.temp.read("a.txt"), "two\n");
    terminal.until("shell: ");
    terminal.keys("exit\n");
}
