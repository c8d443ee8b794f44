//! Runs that are cut off anywhere and go on: replaced after every step, killed at random, killed at
//! every system call that changes something.

use crate::bench_world::{Bench, Dice, done, size};
use cairn_store::{Access, Options, Store};
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

/// Turns with effects that show when they happen twice or by halves, reads between them, outputs too
/// long for memory, one that compresses and one that does not, and a command in the background.
fn work() -> Value {
    let append = |k: usize| json!({"tool": "bash", "args": {"command": format!("echo {k} >> done.txt; echo said {k}")}});
    let write = |k: usize| json!({"tool": "write", "args": {"path": format!("made/{k}.txt"), "content": format!("{k}\n")}});
    let print = |command: &str| json!({"tool": "bash", "args": {"command": command}});
    json!([
        {"say": "one", "calls": [append(1)]},
        {"say": "two", "calls": [write(2), {"tool": "read", "args": {"path": "made/2.txt"}}, {"tool": "read", "args": {"path": "nothing"}}]},
        {"say": "three", "calls": [append(3), write(3), append(4)]},
        {"say": "four", "calls": [{"tool": "edit", "args": {"path": "made/2.txt", "old": "2", "new": "22"}}]},
        {"say": "five", "calls": [{"tool": "nonsense", "args": {}}, append(5)]},
        {"say": "six", "calls": [{"tool": "move", "args": {"from": "made", "to": "moved/all"}}]},
        {"say": "seven", "calls": [{"tool": "remove", "args": {"path": "moved"}}]},
        {"say": "eight", "calls": [print("seq 1 50000 > numbers; cat numbers"), print("seq 1 150000 | gzip -n > packed; cat packed"), {"tool": "bash", "args": {"command": "sleep 7700", "background": true}}]},
        {"say": "all done"},
    ])
}

const WORK: [&str; 4] = ["run", "--yolo", "--json", "work"];
const APPENDS: [&str; 4] = ["1", "3", "4", "5"];

// keeps: no-state-but-facts
#[test]
fn a_run_whose_process_is_replaced_after_every_step_sends_the_model_the_same_bytes() {
    let bench = Bench::new(work());
    assert_eq!(bench.cairn(&WORK).code, 0);
    let undisturbed = bench.model.requests();
    std::fs::remove_dir_all(bench.temp.workspace()).unwrap();
    std::fs::create_dir(bench.temp.workspace()).unwrap();

    let other_home = bench.temp.path().join("other-home");
    let step = |args: &[&str]| {
        let mut command = bench.command(&["run", "--yolo", "--json", "--steps", "1"]);
        command.args(args).env("CAIRN_HOME", &other_home);
        let done = done(command.output().unwrap());
        let result: Value = serde_json::from_str(done.out.lines().last().unwrap()).unwrap();
        (result["status"].as_str().unwrap().to_owned(), done)
    };
    let mut processes = 1;
    let (mut status, mut last) = step(&["work"]);
    while status == "paused" {
        (status, last) = step(&["-c"]);
        processes += 1;
        assert!(processes < 100, "{last:?}");
    }
    assert_eq!(status, "done", "{last:?}");
    assert!(processes >= 20, "only {processes} steps");
    let replaced = &bench.model.requests()[undisturbed.len()..];
    assert_eq!(replaced.len(), undisturbed.len());
    // What ended with a process is told; nothing else differs.
    let lost = r#",{"role":"user","content":"log:///1/8/3 is over: ended when the program was interrupted; its output is not known"}"#;
    let mut told = 0;
    for (a, b) in undisturbed.iter().zip(replaced) {
        let b = String::from_utf8_lossy(b);
        told += b.matches(lost).count();
        assert_eq!(String::from_utf8_lossy(a), b.replace(lost, ""));
    }
    assert_eq!(told, 1);
}

/// A run that is cut off again and again, and what was acknowledged meanwhile.
struct Cut<'a> {
    bench: &'a Bench,
    acknowledged: HashMap<u64, String>,
}

impl Cut<'_> {
    fn args(&self) -> Vec<&'static str> {
        let began = self.bench.cairn(&["log"]).code == 0;
        if began {
            vec!["run", "--yolo", "--json", "-c"]
        } else {
            vec!["run", "--yolo", "--json", "work"]
        }
    }

    fn take(&mut self, events: &str) {
        // The last line may be cut; every whole one was told after it was durable.
        for event in events.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            if let Some(cursor) = event["cursor"].as_u64() {
                self.acknowledged.insert(cursor, event["type"].as_str().unwrap().to_owned());
            }
        }
    }

    /// Starts or continues the run and kills it after a while; whether it was still alive then.
    fn kill_after(&mut self, wait: Duration) -> bool {
        let mut child = self.bench.command(&self.args()).stderr(Stdio::null()).spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        let events = std::thread::spawn(move || {
            let mut events = Vec::new();
            out.read_to_end(&mut events).unwrap();
            String::from_utf8_lossy(&events).into_owned()
        });
        std::thread::sleep(wait);
        let alive = child.try_wait().unwrap().is_none();
        child.kill().unwrap();
        child.wait().unwrap();
        self.take(&events.join().unwrap());
        alive
    }

    /// Lets it go on to the end, then checks everything that must hold.
    fn finish_and_check(mut self) {
        let last = self.bench.cairn(&self.args());
        self.take(&last.out);
        let ended = last.err.contains("nothing left to do");
        assert!(last.code == 0 || ended, "{last:?}");

        let facts = self.bench.cairn(&["log", "--facts", "--json"]).out;
        let facts: Vec<Value> =
            facts.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let numbers: Vec<u64> = facts.iter().map(|fact| fact["n"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (1..=facts.len() as u64).collect::<Vec<_>>());
        for (cursor, kind) in &self.acknowledged {
            let fact = &facts[usize::try_from(*cursor).unwrap() - 1];
            assert_eq!(
                event_of(fact["kind"].as_str().unwrap()),
                kind,
                "fact {cursor} was told as something else"
            );
        }
        self.check_effects(&facts);
        self.check_every_call_is_answered();
        self.check_receipts(&facts);
        self.check_outputs(&facts);
    }

    /// Every output that a fact names can be read, and every command in the background has an end.
    fn check_outputs(&self, facts: &[Value]) {
        let store = Store::open(&Options::new(self.bench.temp.home(), Access::ReadOnly)).unwrap();
        for kept in facts.iter().map(|fact| &fact["body"]["output"]["kept"]) {
            if let Some(hash) = kept["hash"].as_str() {
                let content = store.content(&hash.parse().unwrap()).unwrap();
                assert_eq!(Some(content.len() as u64), kept["bytes"].as_u64());
            }
        }
        assert_eq!(std::fs::read_dir(store.spool()).map_or(0, Iterator::count), 0);
        let of_kind = |kind: &'static str| facts.iter().filter(move |fact| fact["kind"] == kind);
        let begun = of_kind("outcome").filter(|fact| fact["body"]["status"] == 102).count();
        assert_eq!(begun, of_kind("stream").count());
    }

    fn check_effects(&self, facts: &[Value]) {
        let done = std::fs::read_to_string(self.bench.file("done.txt")).unwrap_or_default();
        let kind = |kind: &'static str| facts.iter().filter(move |fact| fact["kind"] == kind);
        for append in APPENDS {
            let command = format!("echo {append} >>");
            let is_it = |fact: &&Value| fact["body"]["target"].as_str().unwrap().contains(&command);
            let at = &kind("intent").find(is_it).unwrap()["body"]["at"];
            let outcome = &kind("outcome").find(|fact| fact["body"]["at"] == *at).unwrap()["body"];
            let times = done.lines().filter(|line| *line == append).count();
            let settled =
                (outcome["status"].as_u64().unwrap(), outcome["settled"].as_str().unwrap());
            match settled {
                (200, "performed") => assert_eq!(times, 1, "{at} {outcome}"),
                (500, "indeterminate") => assert!(times <= 1, "{at} {outcome}"),
                // After an effect that nobody saw end, the rest of that reply is not performed.
                (499, "not-performed") => assert_eq!(times, 0, "{at} {outcome}"),
                other => panic!("{at} is {other:?}"),
            }
        }
        for (tool, status) in [("move", 201), ("remove", 200)] {
            let at = &kind("intent").find(|f| f["body"]["tool"] == tool).unwrap()["body"]["at"];
            let outcome = kind("outcome").find(|fact| fact["body"]["at"] == *at).unwrap();
            // What was found done after a crash is only known to be done.
            let known = [json!(status), json!(200)];
            assert!(known.contains(&outcome["body"]["status"]), "{outcome}");
        }
        assert!(!self.bench.file("made").exists() && !self.bench.file("moved").exists());
        let outcomes: Vec<&str> =
            kind("outcome").map(|fact| fact["body"]["at"].as_str().unwrap()).collect();
        let intents: Vec<&str> =
            kind("intent").map(|fact| fact["body"]["at"].as_str().unwrap()).collect();
        assert_eq!(outcomes, intents, "every op has exactly one outcome, in order");
    }

    fn check_every_call_is_answered(&self) {
        let requests = self.bench.requests();
        let messages = requests.last().unwrap()["messages"].as_array().unwrap().clone();
        let calls = messages.iter().filter_map(|m| m["tool_calls"].as_array()).flatten();
        let called: Vec<&Value> = calls.map(|call| &call["id"]).collect();
        let answered: Vec<&Value> =
            messages.iter().filter(|m| m["role"] == "tool").map(|m| &m["tool_call_id"]).collect();
        assert_eq!(called, answered);
    }

    fn check_receipts(&self, facts: &[Value]) {
        let database = self.bench.temp.home().join("cairn.db");
        #[allow(clippy::disallowed_methods, reason = "the test looks at the database from outside")]
        let db = rusqlite::Connection::open(database).unwrap();
        let whole: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(whole, "ok");
        let run = facts[0]["run"].as_str().unwrap();
        let sql = "SELECT fact_n FROM receipts WHERE run = ? ORDER BY fact_n";
        let mut receipts = db.prepare(sql).unwrap();
        let receipts: Vec<u64> =
            receipts.query_map([run], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let outcomes: Vec<u64> = facts
            .iter()
            .filter(|fact| fact["kind"] == "outcome")
            .map(|fact| fact["n"].as_u64().unwrap())
            .collect();
        assert_eq!(
            receipts, outcomes,
            "every outcome has its receipt and every receipt its outcome"
        );
    }
}

/// The event that tells a fact of this kind.
fn event_of(kind: &str) -> &'static str {
    match kind {
        "run" => "run/started",
        "drive" => "run/driven",
        "prompt" => "prompt/taken",
        "ask" => "turn/asked",
        "reply" => "turn/replied",
        "intent" => "op/requested",
        "decision" => "proposal/decided",
        "begin" => "op/began",
        "outcome" => "op/settled",
        "stream" => "op/ended",
        "delta" => "world/changed",
        "end" => "loop/ended",
        other => panic!("no event tells {other}"),
    }
}

// keeps: survives-kill
#[test]
fn kill_at_random_moments_loses_no_acknowledged_fact_and_repeats_no_effect() {
    let wanted = size("CAIRN_KILLS", 20);
    let mut dice = Dice::new(size("CAIRN_SEED", 7));
    let mut kills = 0;
    while kills < wanted {
        let bench = Bench::new(work());
        let mut cut = Cut { bench: &bench, acknowledged: HashMap::new() };
        // Several kills in one run: also of a process that was settling an earlier kill.
        for _ in 0..4 {
            if cut.kill_after(Duration::from_micros(dice.below(120_000))) {
                kills += 1;
            }
        }
        cut.finish_and_check();
    }
    println!("{kills} kills");
}

const CHANGING: &str = "write,pwrite64,writev,fsync,fdatasync,syncfs,rename,renameat,renameat2,linkat,ftruncate,unlink,unlinkat,mkdir,mkdirat,openat2,fchmodat,utimensat,symlinkat";

/// Every changing call of an undisturbed run: its name, and which of that name it is in its thread.
/// How often an output is read, and so told, differs; what counts is what every run has.
pub fn changing_calls(bench: &dyn Fn() -> Bench, args: &[&str]) -> Vec<(String, u64)> {
    let runs: Vec<_> = (0..3).map(|_| counted_calls(&bench(), args)).collect();
    let least = |name: &String| runs.iter().map(|run| run.get(name).copied().unwrap_or(0)).min();
    let calls = runs[0]
        .keys()
        .flat_map(|name| (1..=least(name).unwrap_or(0)).map(move |k| (name.clone(), k)));
    calls.collect()
}

/// How often the busiest thread of an undisturbed run makes each changing call.
fn counted_calls(bench: &Bench, args: &[&str]) -> BTreeMap<String, u64> {
    let log = bench.temp.path().join("strace.log");
    let undisturbed = strace(bench, args, &format!("trace={CHANGING}")).wait_with_output().unwrap();
    assert!(undisturbed.status.success());
    let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
    for line in std::fs::read_to_string(log).unwrap().lines() {
        // `PID name(…) = …`; what is resumed was counted when it began.
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let name = call.trim_start().split('(').next().unwrap_or_default();
        if CHANGING.split(',').any(|known| known == name) {
            *counts.entry((name.to_owned(), thread.to_owned())).or_default() += 1;
        }
    }
    let mut most: BTreeMap<String, u64> = BTreeMap::new();
    for ((name, _), count) in counts {
        let most = most.entry(name).or_default();
        *most = count.max(*most);
    }
    most
}

#[allow(clippy::disallowed_methods, reason = "tests start the program under strace")]
pub fn strace(bench: &Bench, args: &[&str], rule: &str) -> std::process::Child {
    let log = bench.temp.path().join("strace.log");
    let run = bench.command(&[]);
    let mut command = std::process::Command::new("strace");
    command.args(["-f", "-qq", "--detach-on=execve", "-o"]).arg(log).args(["-e", rule]);
    if rule.starts_with("inject") {
        command.args(["-e", &format!("trace={CHANGING}")]);
    }
    command.arg(run.get_program()).args(args);
    command.env_clear().envs(run.get_envs().filter_map(|(k, v)| Some((k, v?))));
    command.current_dir(bench.temp.workspace()).stdin(Stdio::null()).stderr(Stdio::null());
    command.stdout(Stdio::piped()).spawn().unwrap()
}

// keeps: survives-crash-points
#[test]
fn a_crash_at_any_changing_system_call_loses_nothing_and_repeats_nothing() {
    let calls = changing_calls(&|| Bench::new(work()), &WORK);
    assert!(calls.len() >= 100, "only {} changing calls", calls.len());
    let wanted = usize::try_from(size("CAIRN_CRASH_POINTS", 12)).unwrap().min(calls.len());
    let mut points = 0;
    for point in 0..wanted {
        let (name, when) = &calls[point * calls.len() / wanted];
        let bench = Bench::new(work());
        let rule = format!("inject={name}:signal=SIGKILL:when={when}");
        let mut child = strace(&bench, &WORK, &rule);
        let mut events = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut events).unwrap();
        let events = String::from_utf8_lossy(&events);
        let cut_off = !child.wait().unwrap().success();
        let mut cut = Cut { bench: &bench, acknowledged: HashMap::new() };
        cut.take(&events);
        cut.finish_and_check();
        // The last few of a name may not come in every run.
        points += usize::from(cut_off);
    }
    println!("{points} crash points of {}", calls.len());
    assert!(points * 10 >= wanted * 9, "only {points} of {wanted} calls were cut");
}

// keeps: policy-rules
#[test]
fn half_a_change_that_is_forbidden_by_now_is_left_and_told() {
    let bench = || {
        let copy = json!({"tool": "copy", "args": {"from": "old", "to": "new"}});
        let bench = Bench::new(json!([{"calls": [copy]}, {"say": "done"}]));
        for path in ["old/1", "old/2", "old/3"] {
            bench.temp.write(path, path);
        }
        bench
    };
    let mut halves = 0;
    for (name, when) in changing_calls(&bench, &WORK) {
        if !matches!(name.as_str(), "renameat2" | "linkat" | "utimensat") {
            continue;
        }
        let bench = bench();
        let rule = format!("inject={name}:signal=SIGKILL:when={when}");
        let cut_off = !strace(&bench, &WORK, &rule).wait().unwrap().success();
        let there = || ["new/1", "new/2", "new/3"].map(|path| bench.file(path).exists());
        let before = there();
        let begun = bench.cairn(&["log", "--facts", "--json"]).out.contains("\"begin\"");
        if !cut_off || !begun || before.iter().all(|one| *one == before[0]) {
            continue;
        }
        halves += 1;
        let done = bench.cairn(&["run", "--yolo", "-c", "--deny", "edit new/**"]);
        assert_eq!(done.code, 0, "{}", done.err);
        assert_eq!(there(), before, "{name} {when}: nothing more is made, and nothing taken away");
        let row = bench.cairn(&["log", "--json"]).out;
        let row: Value = serde_json::from_str(row.lines().next().unwrap()).unwrap();
        assert_eq!(row["status"], 500, "{row}");
        let told = bench.requests().last().unwrap().to_string();
        assert!(told.contains("It was not finished: refused: the policy forbids it"), "{told}");
        let made = before.iter().filter(|one| **one).count();
        let shown = bench.cairn(&["diff"]).out;
        assert_eq!(shown.matches("+++ ").count(), made, "what was made is told: {shown}");
    }
    assert!(halves > 0, "no crash came between two files");
}

/// A run that made, moved and removed files.
fn moved() -> Bench {
    let bench = Bench::new(json!([
        {"calls": [
            {"tool": "write", "args": {"path": "new/b", "content": "b\n"}},
            {"tool": "move", "args": {"from": "old", "to": "new/old"}},
            {"tool": "remove", "args": {"path": "gone"}},
        ]},
        {"say": "done"},
    ]));
    for path in ["old/1", "old/2", "gone"] {
        bench.temp.write(path, path);
    }
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    bench
}

/// Cuts the undo of that off at several moments, each with a home of its own, and has it checked.
fn cut_undo_off(check: impl Fn(&Bench)) {
    let calls = changing_calls(&moved, &["undo"]);
    let wanted = usize::try_from(size("CAIRN_UNDO_POINTS", 12)).unwrap().min(calls.len());
    let mut points = 0;
    for point in 0..wanted {
        let (name, when) = &calls[point * calls.len() / wanted];
        let bench = moved();
        let rule = format!("inject={name}:signal=SIGKILL:when={when}");
        points += usize::from(!strace(&bench, &["undo"], &rule).wait().unwrap().success());
        check(&bench);
        assert_eq!(bench.cairn(&["verify"]).code, 0, "{name} {when}");
    }
    println!("{points} undo crash points of {}", calls.len());
    assert!(points * 10 >= wanted * 8, "only {points} of {wanted} calls were cut");
}

fn is_all_back(bench: &Bench) {
    for path in ["old/1", "old/2", "gone"] {
        assert_eq!(bench.temp.read(path), path);
    }
    assert!(!bench.file("new").exists());
}

// keeps: one-driver
#[test]
fn an_undo_cut_off_anywhere_is_finished_by_the_next() {
    cut_undo_off(|bench| {
        let again = bench.cairn(&["undo"]);
        // What was recorded as done is not done again.
        assert!(again.code == 0 || again.err.contains("not undone already"), "{again:?}");
        is_all_back(bench);
    });
}

// keeps: undo-after-gc
#[test]
fn an_undo_cut_off_before_gc_is_finished_whole_or_did_not_begin() {
    let ends = [Cell::new(0), Cell::new(0)];
    cut_undo_off(|bench| {
        std::thread::sleep(Duration::from_millis(5));
        let freed = bench.cairn(&["gc", "--keep-days", "0", "--yes"]);
        assert_eq!(freed.code, 0, "{}", freed.err);
        let again = bench.cairn(&["undo"]);
        let is_freed = again.out.contains("gone cannot go back: its former content was freed");
        ends[usize::from(is_freed)].update(|n| n + 1);
        if is_freed {
            assert_eq!(again.code, 1, "{again:?}");
            assert_eq!(bench.temp.read("new/old/1"), "old/1");
            assert!(!bench.file("old").exists() && !bench.file("gone").exists());
        } else {
            assert!(again.code == 0 || again.err.contains("not undone already"), "{again:?}");
            is_all_back(bench);
        }
    });
    assert!(ends.iter().all(|n| n.get() > 0), "both ends are seen: {ends:?}");
}

#[test]
fn a_second_driver_is_told_who_holds_the_run() {
    let bench = Bench::new(
        json!([{"calls": [{"tool": "bash", "args": {"command": "sleep 2"}}]}, {"say": "ok"}]),
    );
    let mut first = bench.talk(&["run", "--yolo", "--json", "work"]);
    first.until("op/began");
    let second = bench.cairn(&["run", "--yolo", "-c", "me too"]);
    assert_eq!(second.code, 1);
    let holder = format!("pid {}", first.child.id());
    assert!(second.err.contains(&holder), "{}", second.err);
    assert_eq!(first.result()["status"], "done");
    assert_eq!(bench.cairn(&["run", "--yolo", "-c", "now me"]).code, 1, "the script has ended");
}

// keeps: survives-power-cut
#[test]
#[allow(clippy::disallowed_methods, reason = "the proof is a program of its own")]
fn a_power_cut_loses_no_acknowledged_fact() {
    let project = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let proof = std::process::Command::new("python3")
        .arg(project.join("tools/power_cut.py"))
        .args(["--cuts", "3", "--bin", env!("CARGO_BIN_EXE_cairn"), "--work"])
        .arg(std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("power"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[proof.stdout, proof.stderr].concat()).into_owned();
    match proof.status.code() {
        Some(0) => assert!(said.contains("3 cuts, 0 acknowledged facts lost"), "{said}"),
        // Only root may mount an image; the sentence says so.
        Some(77) => println!("{said}"),
        code => panic!("{code:?}: {said}"),
    }
}
