//! `cairn sessions`: what the list says, and what a person does with a whole session.

use crate::bench_world::{Bench, Done};
use crate::terminal::Terminal;
use serde_json::{Value, json};
use std::path::Path;

fn json_lines(done: &Done) -> Vec<Value> {
    done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn listed(bench: &Bench) -> Vec<Value> {
    json_lines(&bench.cairn(&["sessions", "--json"]))
}

fn write(path: &str) -> Value {
    json!({"calls": [{"tool": "write", "args": {"path": path, "content": "é\n"}}]})
}

// keeps: log-shows
#[test]
fn the_list_says_what_each_run_was_asked_and_what_it_came_to() {
    let bench = Bench::new(json!([write("a"), {"say": "done"}]));
    let first = ["run", "--yolo", "--name", "look", "look around\nand about"];
    assert_eq!(bench.cairn(&first).code, 0);
    assert_eq!(bench.cairn(&["run", "--max-turns", "1", "--yolo", "write a"]).code, 4);
    let [session] = &listed(&bench)[..] else { panic!("one session") };
    assert_eq!(session["runs"].as_array().unwrap().len(), 2);
    let (second, first) = (&session["runs"][0], &session["runs"][1]);
    assert_eq!((&first["task"], &first["name"]), (&json!("look around"), &json!("look")));
    assert_eq!((&first["status"], &first["turns"]), (&json!("done"), &json!(2)));
    assert_eq!(first["model"], "openai/test");
    assert_eq!((&second["status"], &second["task"]), (&json!("limit"), &json!("write a")));
    assert!(session["last_at"].as_u64() >= second["created_at"].as_u64());

    let renamed = bench.cairn(&["sessions", "rename", "look", "the parser"]);
    assert_eq!(renamed.code, 0, "{}", renamed.err);
    let list = bench.cairn(&["sessions"]).out;
    let expect = ["the parser", "2 runs", "done", "limit", "(look) look around", "openai/test"];
    for expect in expect {
        assert!(list.contains(expect), "{expect} in {list}");
    }
    assert!(!list.contains("and about"), "only a task's first line: {list}");
    assert!(bench.cairn(&["verify", "the parser"]).out.starts_with("UNANCHORED"));
    let unnamed = bench.cairn(&["sessions", "rename", "the parser", "", "--json"]);
    assert_eq!(json_lines(&unnamed)[0]["name"], Value::Null);
    assert_eq!(bench.cairn(&["verify", "the parser"]).code, 2);
}

// keeps: log-shows
#[test]
fn a_run_at_work_is_listed_with_who_drives_it_and_its_session_is_not_deleted() {
    let bench = Bench::new(json!([
        {"calls": [{"tool": "bash", "args": {"command": "sleep 30"}}]},
        {"say": "slept"},
    ]));
    let mut talk = bench.talk(&["run", "--yolo", "--json", "sleep"]);
    talk.until("op/began");
    let session = listed(&bench).remove(0);
    let run = &session["runs"][0];
    assert_eq!(run["status"], "running", "{run}");
    assert!(run["driven_by"].as_str().unwrap().starts_with("pid "), "{run}");
    let id = session["session"].as_str().unwrap();
    let refused = bench.cairn(&["sessions", "delete", id, "--yes"]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("is being driven by pid "), "{}", refused.err);
    talk.child.kill().unwrap();
    talk.child.wait().unwrap();
    assert_eq!(listed(&bench)[0]["runs"][0]["status"], "paused");
    assert_eq!(bench.cairn(&["sessions", "delete", id, "--yes"]).code, 0);
    assert!(listed(&bench).is_empty());
}

// keeps: search-finds
#[test]
fn words_are_found_in_prompts_replies_and_names_with_their_addresses() {
    let bench = Bench::new(json!([{"say": "The Needle is under the bed."}]));
    bench.cairn(&["run", "look for it"]);
    bench.cairn(&["run", "--name", "needles", "where is the needle?"]);
    bench.cairn(&["run", "third"]);
    let found = json_lines(&bench.cairn(&["sessions", "search", "needle", "--json"]));
    let (last, places) = found.split_last().unwrap();
    let kinds: Vec<&str> = places.iter().map(|place| place["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["reply", "name", "reply", "prompt", "reply"], "newest first");
    assert_eq!((&last["found"], &last["runs"]), (&json!(5), &json!(3)), "{last}");
    assert_eq!((&last["texts"], &last["complete"]), (&json!(6), &json!(true)));
    let address = places[4]["address"].as_str().unwrap();
    assert_eq!(places[4]["snippet"], "The Needle is under the bed.");
    let shown = bench.cairn(&["show", address]);
    assert!(shown.out.contains("The Needle is under the bed."), "{shown:?}");
    let shown = bench.cairn(&["show", places[3]["address"].as_str().unwrap()]);
    assert_eq!(shown.code, 0, "{}", shown.err);

    let said = bench.cairn(&["sessions", "search", "WHERE", "is"]).out;
    assert!(said.contains("1 place; looked at 6 texts"), "{said}");
    let few = json_lines(&bench.cairn(&["sessions", "search", "needle", "--limit", "2", "--json"]));
    assert_eq!((few.len(), &few[2]["complete"]), (3, &json!(false)));
    assert_eq!(json_lines(&bench.cairn(&["sessions", "search", "n.edle", "--json"])).len(), 1);
    assert_eq!(bench.cairn(&["sessions", "search", " "]).code, 2);
}

// keeps: deleted-whole
#[test]
fn a_deleted_session_leaves_the_others_verifiable_and_takes_only_its_own() {
    let bench = Bench::new(json!([write("same"), {"say": "one"}, write("same"), {"say": "two"}]));
    assert_eq!(bench.cairn(&["run", "--yolo", "first"]).code, 0);
    assert_eq!(bench.cairn(&["run", "--yolo", "--new-session", "second secret"]).code, 0);
    let [second, first] = &listed(&bench)[..] else { panic!("two sessions") };
    let (first, second) = (first["session"].as_str().unwrap(), second["session"].as_str().unwrap());
    let nobody = bench.cairn(&["sessions", "delete", second]);
    assert_eq!(nobody.code, 2);
    assert!(nobody.err.contains("--yes"), "{}", nobody.err);
    let mut terminal = Terminal::open(&bench, bench.command(&["sessions", "delete", second]));
    terminal.until("y yes, n no: ");
    terminal.keys("n\n");
    terminal.until("nothing is deleted");
    assert_eq!(terminal.code(), Some(3));
    let mut terminal = Terminal::open(&bench, bench.command(&["sessions", "delete", second]));
    terminal.until("y yes, n no: ");
    terminal.keys("y\n");
    terminal.until("is deleted: 1 runs");
    assert_eq!(terminal.code(), Some(0));
    assert_eq!(bench.cairn(&["verify", first]).code, 0);
    assert_eq!(bench.cairn(&["verify", second]).code, 2);
    assert_eq!(bench.cairn(&["log", first]).code, 0, "what both named is still there");
    let shown = bench.cairn(&["diff", "--run", first]);
    assert!(shown.out.contains("+é"), "{shown:?}");
    let files: Vec<Vec<u8>> =
        walk(&bench.temp.home()).iter().map(|file| std::fs::read(file).unwrap()).collect();
    let secret = b"second secret";
    assert!(!files.iter().any(|file| file.windows(secret.len()).any(|part| part == secret)));
    assert_eq!(bench.cairn(&["gc"]).code, 0);
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[allow(clippy::disallowed_methods, reason = "the second verifier is a program of its own")]
fn second_opinion(bundle: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/verify.py");
    let output = std::process::Command::new("python3").arg(script).arg(bundle).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

// keeps: carried-whole
#[test]
fn a_session_goes_on_in_another_home_and_both_verifiers_say_who_signed_what() {
    let here = Bench::new(json!([write("a"), {"say": "done here"}]));
    assert_eq!(here.cairn(&["run", "--yolo", "begin"]).code, 0);
    let file = here.temp.path().join("session.cairn");
    let file = file.to_str().unwrap();
    let exported = here.cairn(&["sessions", "export", "-o", file]);
    assert_eq!(exported.code, 0, "{}", exported.err);
    assert_eq!(here.cairn(&["sessions", "export", "-o", file]).code, 2, "it exists already");
    let anchor = exported.out.lines().find_map(|line| line.strip_prefix("anchor ")).unwrap();

    // A script counts the turns that were; two were elsewhere.
    let there = Bench::new(json!([write("a"), {"say": "-"}, write("b"), {"say": "done there"}]));
    let lost = there.cairn(&["sessions", "import", file, "--root", "/no/such/folder"]);
    assert_eq!(lost.code, 2, "{}", lost.err);
    let imported = there.cairn(&["sessions", "import", file, "--root", "."]);
    assert_eq!(imported.code, 0, "{}", imported.err);
    assert!(imported.out.contains("signed by another home"), "{}", imported.out);
    let again = there.cairn(&["sessions", "import", file]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("is here already"), "{}", again.err);
    let said = there.cairn(&["verify", "--anchor", anchor]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("signed by another home"), "{}", said.out);

    let run = listed(&there)[0]["runs"][0].clone();
    assert_eq!((&run["imported"], &run["status"]), (&json!(true), &json!("done")));
    let run = run["run"].as_str().unwrap();
    let undo = there.cairn(&["undo", "--run", run]);
    assert_eq!(undo.code, 2);
    assert!(undo.err.contains("changed elsewhere"), "{}", undo.err);
    let unasked = there.cairn(&["run", "--yolo", "-c", "go on"]);
    assert_eq!(unasked.code, 2);
    assert!(unasked.err.contains("--resume"), "{}", unasked.err);
    let went_on = there.cairn(&["run", "--yolo", "--resume", run, "go on"]);
    assert_eq!((went_on.code, went_on.out.as_str()), (0, "done there\n"), "{}", went_on.err);
    let asked = there.requests()[0]["messages"].to_string();
    assert!(asked.contains("begin") && asked.contains("done here"), "it knows what was: {asked}");

    let bundle = there.temp.path().join("both.cairn");
    let bundle = bundle.to_str().unwrap();
    let written = there.cairn(&["bundle", "-o", bundle]);
    assert_eq!(written.code, 0, "{}", written.err);
    assert!(second_opinion(bundle).starts_with("UNANCHORED"), "{}", second_opinion(bundle));
    let said = there.cairn(&["verify", bundle, "--json"]);
    let signers = json_lines(&said)[0]["signers"].clone();
    assert_eq!(signers.as_array().unwrap().len(), 2, "{signers}");
    assert_ne!(signers[0]["public_key"], signers[1]["public_key"]);
    let undone = there.cairn(&["undo"]);
    assert_eq!(undone.code, 0, "what was done here can be undone: {}", undone.err);
    assert!(!there.file("b").exists());
    assert_eq!(there.cairn(&["verify"]).code, 0);
}

// keeps: hostile-import
#[test]
fn what_was_allowed_elsewhere_is_asked_again_here_and_nothing_runs_by_itself() {
    let here = Bench::new(json!([write("a"), write("b"), {"say": "done here"}]));
    let mut talk = here.talk(&["run", "--json", "write both"]);
    let first = talk.until("proposal/opened");
    talk.say(
        json!({"type": "decide", "proposal": first["proposal"], "verdict": "allow", "remember": "run"}),
    );
    assert_eq!(talk.result()["status"], "done");
    let file = here.temp.path().join("session.cairn");
    let file = file.to_str().unwrap();
    assert_eq!(here.cairn(&["sessions", "export", "-o", file]).code, 0);
    let past = json!({"say": "-"});
    let there = Bench::new(json!([past, past, past, write("c"), {"say": "done there"}]));
    assert_eq!(there.cairn(&["sessions", "import", file, "--root", ".", "--json"]).code, 0);
    assert_eq!(std::fs::read_dir(there.temp.workspace()).unwrap().count(), 0);
    let run = listed(&there)[0]["runs"][0]["run"].as_str().unwrap().to_owned();
    let went_on = there.cairn(&["run", "--resume", &run, "write c"]);
    assert_eq!(went_on.code, 5, "nobody was asked, so it is refused: {}", went_on.err);
    assert!(!there.file("c").exists());
}

// keeps: hostile-import
#[test]
fn an_imported_loop_that_was_not_finished_waits_and_goes_on_in_a_fork_when_a_person_says_so() {
    let script = json!([write("a"), {"calls": [{"tool": "bash", "args": {"command": "touch b"}}]}, {"say": "finished"}]);
    let (here, there) = (Bench::new(script.clone()), Bench::new(script));
    let mut talk = here.talk(&["run", "--json", "write a and b"]);
    let edit = talk.until("proposal/opened");
    talk.say(json!({"type": "decide", "proposal": edit["proposal"], "verdict": "allow"}));
    talk.until("proposal/opened");
    // Cut off while a command waits for its word.
    talk.child.kill().unwrap();
    talk.child.wait().unwrap();
    let file = here.temp.path().join("session.cairn");
    let file = file.to_str().unwrap();
    assert_eq!(here.cairn(&["sessions", "export", "-o", file]).code, 0);

    assert_eq!(there.cairn(&["sessions", "import", file, "--root", "."]).code, 0);
    let run = listed(&there)[0]["runs"][0].clone();
    assert_eq!((&run["status"], &run["imported"]), (&json!("paused"), &json!(true)));
    assert!(there.model.requests().is_empty(), "nobody said that it should go on");
    assert_eq!(there.cairn(&["verify"]).code, 0);
    let run = run["run"].as_str().unwrap();
    let went_on = there.cairn(&["run", "--resume", run]);
    assert_eq!(went_on.code, 5, "the command is asked about again: {}", went_on.err);
    assert!(!there.file("b").exists() && !there.file("a").exists());
    let first = there.requests()[0]["messages"].to_string();
    assert!(first.contains("write a and b") && !first.contains("touch b"), "{first}");
    let runs = listed(&there)[0]["runs"].as_array().unwrap().clone();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0]["parent"]["run"], run, "the imported run itself is as it was");
    assert_eq!(there.cairn(&["verify"]).code, 0);
}

fn copy(from: &Path, to: &Path) {
    for file in walk(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(&file, target).unwrap();
    }
}

// keeps: deleted-whole
#[test]
fn a_deletion_that_is_killed_deleted_all_or_nothing_and_can_be_done_again() {
    let bench = Bench::new(json!([
        {"calls": [{"tool": "bash", "args": {"command": "seq 1 200000"}}]},
        {"say": "done"},
    ]));
    assert_eq!(bench.cairn(&["run", "--yolo", "stays"]).code, 0);
    assert_eq!(bench.cairn(&["run", "--yolo", "--new-session", "goes"]).code, 0);
    let goes = listed(&bench)[0]["session"].as_str().unwrap().to_owned();
    let (mut whole, mut gone) = (0, 0);
    for moment in 0..16 {
        let home = bench.temp.path().join(format!("home-{moment}"));
        copy(&bench.temp.home(), &home);
        let cairn = |args: &[&str]| {
            let mut command = bench.command(args);
            command.env("CAIRN_HOME", &home);
            command
        };
        let mut child = cairn(&["sessions", "delete", &goes, "--yes"]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(moment));
        child.kill().unwrap();
        child.wait().unwrap();
        let done = |args: &[&str]| crate::bench_world::done(cairn(args).output().unwrap());
        let left = json_lines(&done(&["sessions", "--json"]));
        for session in &left {
            let verified = done(&["verify", session["session"].as_str().unwrap()]);
            assert_eq!(verified.code, 0, "{verified:?}");
        }
        match left.len() {
            2 => {
                whole += 1;
                assert_eq!(done(&["sessions", "delete", &goes, "--yes"]).code, 0);
            }
            _ => {
                gone += 1;
                assert_eq!(left.len(), 1);
            }
        }
        assert_eq!(done(&["gc"]).code, 0);
        assert_eq!(std::fs::read_dir(home.join("heads")).unwrap().count(), 1);
        assert_eq!(done(&["log", left.last().unwrap()["session"].as_str().unwrap()]).code, 0);
    }
    println!("killed 16 times: {whole} times nothing, {gone} times all was deleted");
}

// keeps: log-shows, delta, rows-are-entries
#[test]
fn what_others_changed_is_shown_as_a_row_of_the_run_and_of_its_forks() {
    let bench = Bench::new(json!([
        {"calls": [{"tool": "write", "args": {"path": "f", "content": "one\n"}}]},
        {"say": "done"},
        {"calls": [{"tool": "read", "args": {"path": "f"}}]},
        {"say": "done"},
        {"say": "another way"},
    ]));
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    std::thread::sleep(std::time::Duration::from_millis(60));
    bench.temp.write("f", "two\n");
    assert_eq!(bench.cairn(&["run", "--yolo", "-c", "go on"]).code, 0);
    let log = bench.cairn(&["log"]).out;
    assert!(log.contains("  changes/1  edit f [file]\n"), "{log}");
    let lines = bench.cairn(&["log", "--json"]).out;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let addresses = lines.iter().map(|line| line["address"].as_str().unwrap());
    let (run, places): (Vec<&str>, Vec<&str>) =
        addresses.map(|one| one["log://".len()..].split_once('/').unwrap()).unzip();
    assert_eq!(places, ["1/1/1", "changes/1", "2/1/1"]);
    let run = run[0].to_owned();
    let noticed = json!([{"path": "f", "source": "file", "kind": "modified", "edits": 1}]);
    let brief = |noticed: &Value| {
        let one = &noticed[0];
        json!([{"path": one["path"], "source": one["source"], "kind": one["kind"], "edits": one["edits"]}])
    };
    assert_eq!((brief(&lines[1]["noticed"]), &lines[1]["status"]), (noticed.clone(), &Value::Null));
    let told = "f: edited on disk\n1\ttwo";
    let shown = bench.cairn(&["show", "changes/1"]).out;
    assert!(shown.contains("changes/1  edit f [file]\n") && shown.contains(told), "{shown}");
    let listed = bench.cairn(&["show", &format!("log://{run}")]).out;
    assert!(listed.contains(&format!("log://{run}/changes/1  edit f [file]\n")), "{listed}");
    let result = bench.cairn(&["show", "changes/1#result"]).out;
    assert!(result.ends_with(told), "{result}");
    let json = |args: &[&str]| -> Value {
        serde_json::from_str(&bench.cairn(&[&["show", "--json"], args].concat()).out).unwrap()
    };
    let object = json(&[&format!("log://{run}/changes/1")]);
    let keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["address", "session", "run", "row", "at", "noticed", "result", "facts"]);
    assert_eq!((&object["row"], brief(&object["noticed"])), (&json!("changes/1"), noticed));
    assert_eq!(object["result"], result);
    assert_eq!(object["facts"][0]["kind"], "delta");
    assert_eq!(json(&[&format!("log://{run}")])["changes"][0]["row"], "changes/1");
    let read = bench.cairn(&["op", "read", &format!("log:///{run}/changes/1")]);
    assert!(read.out.contains("f: edited on disk"), "{read:?}");
    for (address, why) in [
        ("changes/2", "there is no row changes/2 in that run"),
        ("changes/1#input", "row changes/1 has no #input"),
        ("changes", "is not an address"),
    ] {
        let refused = bench.cairn(&["show", address]);
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.err.contains(why), "{address}: {}", refused.err);
    }
    let forked = bench.cairn(&["fork", "--yolo", "another way"]);
    assert_eq!(forked.code, 0, "{forked:?}");
    let of_fork = json(&["changes/1"]);
    assert_ne!(of_fork["run"], object["run"]);
    assert_eq!(of_fork["facts"], object["facts"]);
    assert_eq!(bench.cairn(&["verify"]).code, 0);
}
