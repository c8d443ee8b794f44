//! What programs are told with `--json` is all that people are told, and the documents know every code.

use crate::bench_world::Bench;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

const DOCUMENT: &str = include_str!("../../../../docs/json.md");

fn one(bench: &Bench, args: &[&str]) -> Value {
    let done = bench.cairn(&[args, &["--json"]].concat());
    assert_eq!(done.code, 0, "{args:?}: {}", done.err);
    assert_eq!(done.out.lines().count(), 1, "{args:?}: {}", done.out);
    serde_json::from_str(&done.out).unwrap()
}

fn worked() -> Bench {
    let bench = Bench::new(json!([
        {"reasoning": "hm", "say": "Looking.", "calls": [
            {"tool": "read", "args": {"path": "a.txt"}},
            {"tool": "edit", "args": {"path": "a.txt", "old": "hello", "new": "goodbye"}},
            {"tool": "bash", "args": {"command": "echo out; exit 3"}}]},
        {"say": "Done.", "usage": {"input": 100, "output": 7}},
    ]));
    bench.temp.write("a.txt", "hello\n");
    assert_eq!(bench.cairn(&["run", "--yolo", "--name", "bye", "say goodbye"]).code, 0);
    bench
}

// keeps: json-complete
#[test]
fn rows_turns_loops_and_runs_are_shown_to_programs_with_all_that_people_see() {
    let bench = worked();
    let row = one(&bench, &["show", "1/1/2"]);
    let outcome = &row["outcome"];
    let receipt = outcome["receipt"]["id"].as_str().unwrap();
    let human = bench.cairn(&["show", "1/1/2"]).out;
    assert!(
        human.contains(receipt) && human.contains(outcome["receipt"]["hash"].as_str().unwrap())
    );
    assert!(human.contains(outcome["result"].as_str().unwrap()));
    assert!(human.contains(outcome["changes"][0]["diff"].as_str().unwrap()));
    assert!(outcome["changes"][0]["diff"].as_str().unwrap().contains("-hello\n+goodbye\n"));
    assert_eq!((&row["tool"], &row["effect"]), (&json!("edit"), &json!("world")));
    assert_eq!(row["input"]["old"], "hello");
    assert_eq!(row["decisions"][0]["verdict"], "allow");
    assert!(row["decisions"][0]["gates"].as_array().is_some_and(|gates| !gates.is_empty()));
    assert_eq!((&row["began"][0]["again"], &row["stream"]), (&json!(false), &Value::Null));
    assert_eq!(row["facts"].as_array().unwrap().len(), 4);
    let run = row["run"].as_str().unwrap();
    assert_eq!(row["address"], format!("log://{run}/1/1/2"));

    let turn = one(&bench, &["show", "1/1"]);
    assert_eq!((&turn["text"], &turn["reasoning"]), (&json!("Looking."), &json!("hm")));
    assert_eq!(
        (&turn["calls"][2]["row"], &turn["calls"][2]["tool"]),
        (&json!("1/1/3"), &json!("bash"))
    );
    assert_eq!(turn["calls"][2]["input"]["command"], "echo out; exit 3");
    let output = one(&bench, &["show", "1/1/3#output"]);
    assert_eq!((&output["text"], &output["bytes"]), (&json!("out\n"), &json!(4)));
    assert_eq!(one(&bench, &["show", "1/1#reasoning"])["text"], "hm");

    let lap = one(&bench, &["show", &format!("log://{run}/1")]);
    assert_eq!((&lap["prompt"], &lap["end"]["status"]), (&json!("say goodbye"), &json!(200)));
    let rows = lap["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[2]["exit"]), (3, &json!(3)));
    for line in bench.cairn(&["show", "1"]).out.lines() {
        let (address, what) = line.split_once("  ").unwrap();
        let same = rows.iter().find(|row| row["address"] == address).unwrap();
        let (tool, target) = (same["tool"].as_str().unwrap(), same["target"].as_str().unwrap());
        assert_eq!(what, format!("{tool} {target}"));
    }
    let whole = one(&bench, &["show", &format!("log://{run}")]);
    assert_eq!((&whole["name"], &whole["loops"][0]), (&json!("bye"), &lap));
}

// keeps: json-complete
#[test]
fn settings_and_keys_are_told_to_programs_with_what_they_mean_and_never_the_key() {
    let bench = Bench::new(json!([]));
    let (some, all) = (one(&bench, &["config"]), one(&bench, &["config", "--all"]));
    let human = bench.cairn(&["config", "--all"]).out;
    for (name, said) in all.as_object().unwrap() {
        assert_eq!(
            some.get(name).map(|s| &s["value"]),
            Some(&said["value"]).filter(|v| !v.is_null())
        );
        for part in ["kind", "who", "docs"] {
            let part = said[part].as_str().unwrap();
            assert!(human.contains(part), "{name}: {part}");
        }
    }
    assert_eq!(all["model"]["env"], "CAIRN_MODEL");
    assert_eq!(all["providers.*.base_url"]["value"], Value::Null);
    let list = bench.cairn(&["login", "--list", "--json"]);
    let key: Value = serde_json::from_str(&list.out).unwrap();
    let expected = json!({"provider": "openai", "from": "environment", "variable": "OPENAI_API_KEY", "stored": false});
    assert_eq!(key, expected);
    assert_eq!(bench.cairn(&["login", "openai", "--json"]).code, 2, "only a list is told so");
}

/// The first cells of a section's table.
fn listed(section: &str) -> BTreeSet<u16> {
    let text = DOCUMENT.split(&format!("\n## {section}\n")).nth(1).unwrap();
    let text = text.split("\n## ").next().unwrap();
    let cells = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next());
    cells.filter_map(|cell| cell.parse().ok()).collect()
}

fn sources(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let text = |path: std::path::PathBuf| match path.is_dir() {
        true => sources(&path),
        false => std::fs::read_to_string(path).unwrap(),
    };
    entries.map(text).collect()
}

/// The numbers that stand right after this in some text.
fn after(text: &str, before: &str) -> BTreeSet<u16> {
    let digits = |rest: &str| rest.split(|c: char| !c.is_ascii_digit()).next().map(str::to_owned);
    text.split(before).skip(1).filter_map(|rest| digits(rest)?.parse().ok()).collect()
}

// keeps: json-complete
#[test]
fn the_document_lists_every_status_exit_code_and_fault_there_is() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let of_crate =
        |entry: std::io::Result<std::fs::DirEntry>| sources(&entry.unwrap().path().join("src"));
    let all: String = std::fs::read_dir(crates).unwrap().map(of_crate).collect();
    let statuses = after(&all, "Status(");
    assert!(statuses.len() > 15);
    assert_eq!(listed("Statuses"), statuses);

    let codes = listed("Exit codes");
    let help = Bench::new(json!([])).cairn(&["--help"]).out;
    let help = help.split("Exit codes: ").nth(1).unwrap();
    let told: BTreeSet<u16> =
        help.split(", ").filter_map(|part| part.split(' ').next()?.parse().ok()).collect();
    assert_eq!(told, codes);
    let src = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    for pattern in
        ["ExitCode::from(", "process::exit(", "Verdict::Refuted => ", "Verdict::Unverifiable => "]
    {
        let used = after(&src, pattern);
        assert!(used.is_subset(&codes), "{pattern}: {used:?}");
    }
    for status in ["done", "failed", "cancelled", "limit", "approval-needed", "paused"] {
        let used = after(&src, &format!("(\"{status}\", "));
        assert!(used.is_subset(&codes), "{status}: {used:?}");
    }

    let faults = include_str!("../../../cairn-provider/src/fault.rs");
    let faults = faults.split("\nclasses! {").nth(1).unwrap().split("\n}").next().unwrap();
    for word in faults.split("=> \"").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(DOCUMENT.contains(&format!("`{word}`")), "{word}");
    }
    let refusals = include_str!("../../../cairn-engine/src/admit.rs");
    for code in after(refusals, "#[error(\"") {
        assert!(DOCUMENT.contains(&format!("| `{code}` | ")), "{code}");
    }
}

// keeps: json-complete
#[test]
fn the_document_says_what_every_command_prints_for_programs() {
    let bench = Bench::new(json!([]));
    let commands = |args: &[&str]| -> Vec<String> {
        let help = bench.cairn(&[args, &["--help"]].concat()).out;
        let Some(list) = help.split("Commands:\n").nth(1) else { return Vec::new() };
        let list = list.split("\n\n").next().unwrap().lines();
        let names = list.filter_map(|line| line.split_whitespace().next());
        names.filter(|name| *name != "help").map(str::to_owned).collect()
    };
    let mut seen = 0;
    for command in commands(&[]) {
        let mut paths = vec![vec![command.clone()]];
        paths.extend(commands(&[&command]).into_iter().map(|sub| vec![command.clone(), sub]));
        for path in paths {
            let args: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
            if bench.cairn(&args).out.lines().any(|line| line.trim().starts_with("--json")) {
                seen += 1;
                let name = format!("`cairn {}", path.join(" "));
                assert!(
                    DOCUMENT.contains(&format!("{name}`"))
                        || DOCUMENT.contains(&format!("{name} --list`")),
                    "{name}"
                );
            }
        }
    }
    assert!(seen > 15, "{seen}");
}
