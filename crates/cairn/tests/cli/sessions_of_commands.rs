//! Twenty sessions of a coding agent, command by command, over copies of small projects: who works so is asked
//! about what changes and about nothing else.

use crate::bench_world::{Bench, Talk};
use crate::overlay::{bash, decide};
use cairn_text::shell::{Denies, Pattern, denies, parse};
use cairn_types::{CommandLine, Joint, Simple};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// All sessions and the projects that they work on.
#[derive(Deserialize)]
struct Sessions {
    projects: BTreeMap<String, Project>,
    sessions: Vec<Session>,
}

#[derive(Deserialize)]
struct Project {
    setup: Vec<String>,
}

#[derive(Deserialize)]
struct Session {
    name: String,
    project: String,
    commands: Vec<Labelled>,
}

/// A command and what it does.
#[derive(Deserialize)]
struct Labelled {
    command: String,
    changes: bool,
    network: bool,
    needs: Option<String>,
}

/// What came of a session.
#[derive(Default)]
struct Counted {
    commands: usize,
    questions: usize,
    wrong: Vec<String>,
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sandbox")
}

#[allow(clippy::disallowed_methods, reason = "a test asks where the person's programs are")]
fn real(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Gives a command the programs of whoever runs the tests, and none of their settings.
pub fn at_home(bench: &Bench, command: &mut std::process::Command) {
    command
        .env("PATH", real("PATH"))
        .env("HOME", real("HOME"))
        .env("XDG_CONFIG_HOME", bench.temp.path().join(".config"));
}

/// Whether a program of this name is on the path.
pub fn is_there(program: &str) -> bool {
    std::env::split_paths(&real("PATH")).any(|folder| folder.join(program).is_file())
}

/// Copies a project and makes it what its set-up says.
#[allow(clippy::disallowed_methods, reason = "the test is the person who had the project before")]
pub fn lay_out(project: &str, setup: &[String], to: &Path) {
    let script = format!("set -e\ncp -R \"$1\"/. .\n{}", setup.join("\n"));
    let done = std::process::Command::new("bash")
        .args(["-c", &script, "setup"])
        .arg(data().join("projects").join(project))
        .current_dir(to)
        .output()
        .unwrap();
    assert!(done.status.success(), "{project}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Makes a project of these what it is at the beginning of every session, in a workspace.
pub fn project(name: &str, to: &Path) {
    lay_out(name, &read().projects[name].setup, to);
}

fn read() -> Sessions {
    let text = std::fs::read_to_string(data().join("sessions.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// What stands beneath a folder: every path with its size, mode and time. Without what the program keeps aside.
pub fn standing(folder: &Path) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path == folder.join(".cairn") {
                continue;
            }
            let found = path.symlink_metadata().unwrap();
            // A directory's time tells only of what is told anyway.
            let (time, ns, size) = match found.is_dir() {
                true => (0, 0, 0),
                false => (found.mtime(), found.mtime_nsec(), found.len()),
            };
            all.insert(format!("{} {:o} {size} {time}.{ns}", path.display(), found.mode()));
            if found.is_dir() {
                folders.push(path);
            }
        }
    }
    all
}

/// Follows a run, saying yes to everything but hosts; what is asked, by its turn, and what stood on the disk then.
pub fn follow(talk: &mut Talk, root: &Path) -> BTreeMap<usize, Vec<Value>> {
    let mut asked: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    let mut before = standing(root);
    loop {
        let event = talk.next("result");
        match event["type"].as_str() {
            Some("op/requested") => before = standing(root),
            Some("proposal/opened") => {
                assert_eq!(standing(root), before, "it reached the disk unasked: {event}");
                asked.entry(turn(&event)).or_default().push(event.clone());
                // Nothing beyond this machine is asked for.
                let is_network = event["kind"] == "network";
                decide(talk, &event, if is_network { "refuse" } else { "allow" });
            }
            Some("result") => {
                assert_eq!(event["status"], "done", "{event}");
                return asked;
            }
            _ => {}
        }
    }
}

/// The turn that an op belongs to; every command is a turn.
fn turn(event: &Value) -> usize {
    let at = event["op_at"].as_str().unwrap();
    at.split('/').nth(1).unwrap().parse().unwrap()
}

fn run(sessions: &Sessions, session: &Session, skipped: &mut BTreeSet<String>) -> Counted {
    let is_here = |one: &&Labelled| one.needs.as_deref().is_none_or(is_there);
    let (here, missing): (Vec<&Labelled>, Vec<&Labelled>) =
        session.commands.iter().partition(is_here);
    skipped.extend(missing.iter().filter_map(|one| one.needs.clone()));
    let mut replies: Vec<Value> = here.iter().map(|one| bash(&one.command)).collect();
    replies.push(json!({"say": "done"}));
    let bench = Bench::confined(json!(replies));
    let root = bench.temp.workspace();
    lay_out(&session.project, &sessions.projects[&session.project].setup, &root);
    let mut command = bench.command(&["run", "--json", "--max-turns", "100", "work"]);
    at_home(&bench, &mut command);
    let mut talk = Talk::with(&mut command);
    let asked = follow(&mut talk, &root);
    let mut counted = Counted { commands: here.len(), ..Counted::default() };
    for (n, one) in here.iter().enumerate() {
        let questions = asked.get(&(n + 1)).map_or(0, Vec::len);
        counted.questions += questions;
        if questions != usize::from(one.changes) && !one.network {
            let said = talk
                .seen
                .iter()
                .find(|event| event["type"] == "op/settled" && turn(event) == n + 1);
            let said = said.map(|event| format!("{} {}", event["status"], event["text"]));
            let shown = asked.get(&(n + 1)).map(|all| all[0]["shown"].clone());
            counted.wrong.push(format!(
                "{}: {}\n  {questions} questions, changes: {}\n  {said:?}\n  {shown:?}",
                session.name, one.command, one.changes
            ));
        }
    }
    counted
}

// keeps: few-questions
#[test]
fn twenty_sessions_ask_about_what_changes_and_about_nothing_else() {
    let sessions = read();
    assert_eq!(sessions.sessions.len(), 20);
    let mut skipped = BTreeSet::new();
    let mut all = Counted::default();
    for session in &sessions.sessions {
        let one = run(&sessions, session, &mut skipped);
        all.commands += one.commands;
        all.questions += one.questions;
        all.wrong.extend(one.wrong);
    }
    let skipped: Vec<String> = skipped.into_iter().collect();
    println!(
        "20 sessions, {} commands, {} questions, skipped: {}",
        all.commands,
        all.questions,
        if skipped.is_empty() { "none".to_owned() } else { skipped.join(", ") }
    );
    assert!(all.wrong.is_empty(), "{}", all.wrong.join("\n"));
    assert!(all.questions * 4 <= all.commands, "{} of {}", all.questions, all.commands);
}

// keeps: few-questions
#[test]
fn rules_that_deny_other_programs_find_nothing_in_what_an_agent_runs() {
    let sessions = read();
    // What a program is fed is not known from its words, and is no matter of options.
    let unfed = |simple: Simple| Simple { redirects: Vec::new(), joint: Joint::Then, ..simple };
    let commands = sessions.sessions.iter().flat_map(|session| &session.commands);
    let known = commands.filter_map(|one| match parse(&one.command) {
        CommandLine::Known(line) => Some(CommandLine::Known(line.into_iter().map(unfed).collect())),
        CommandLine::Unsure { .. } => None,
    });
    let known: Vec<CommandLine> = known.collect();
    assert!(known.len() > 100, "{}", known.len());
    for rule in ["shutdown *", "mkfs *", "dd *", "git push --force *"] {
        let pattern = Pattern::parse(rule).unwrap();
        let found: Vec<_> =
            known.iter().filter(|line| denies(&pattern, line) != Denies::No).collect();
        assert!(found.is_empty(), "{rule}: {found:#?}");
    }
}
